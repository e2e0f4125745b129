"""Words: phrases that the field has a better word for, in whatever a user may read.

The words that treeselect uses are defined in docs/glossary.md.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md", "docs/*.md", "docs/guides/*.md", "docs/methods/*.md", "docs/reference/*.md",
    "vignettes/*.md", "templates/*",
)  # fmt: skip

GONE = """
1 less the ratio
a factor all the same
a response of numbers
A verdict takes
about its mean
alone is on the front
among the first so many
As good or nearly
as many as it finds
beforehand known
bend by themselves
beyond those that are kept
but for one place
by the clock
came in for
can't be given their work
can't be told from
can't be told how many
Can't tell the column
Cite and paste
did not look at
different sets came
does not stand for it
Efron's ties
Expected false ones
goes on where
goes together in the data
greatest shadow
has its way
has no part for
has no power of its own
have no meaning here
have no part for
held in turn
hold a place
holds a place
How close the next sets come
How the search came here
in its stead
in their stead
is no method
it is no model file
its answer will be whole
keeps none of
Kept (k)
kept by request
leaves out 0
lie further apart
look better than they are
look too important
Make numbers of it
may I show it
No known value
no step of the path has
none left out
Nothing is told
Nothing tells whose risk
one standard error to each side
others that came near
outside its bags
page speaks in
paid for as one
Predictions are those of
probability of 1
ranks units by what they tell
Rates become counts again
row of pictures
rows outside the bags
saw columns
score(s) less
scores rows that had no part
selected here, and is not kept
stand for each other
standing for each other
stands on both sides
staying as they are in the data
stood in for
sums of those
taken alike
takes none
tell no other method
tell nothing
tells more than its shuffled
tells nothing
terms of their own
the forest that predicts
the model that predicts
the selection stands on
trees that have not seen
Unseen:
upright line
was asked for
were asked for
What a cut-off
What came together
what is folded
what tells when
What the model has learned
What the selection does to
what they tell apart
what transforms learn
What was asked
What was decided
Which sets came up
who holds
worth opening
""".strip().splitlines()
"""Literal translations, riddles, and names that a term of the field has taken the place of."""


def texts() -> Iterator[tuple[str, str]]:
    """Where a text stands, and the text on one line: all strings of the package, and all pages."""
    for path in sorted((ROOT / "treeselect").rglob("*.py")):
        name = path.relative_to(ROOT)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{name}:{node.lineno}", " ".join(node.value.split())
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            yield str(path.relative_to(ROOT)), " ".join(path.read_text("utf-8").split())


@pytest.fixture(scope="module")
def read() -> list[tuple[str, str]]:
    return list(texts())


def test_phrases_that_are_gone_stay_gone(read):
    assert len(read) > 10_000
    found = [(where, phrase) for where, text in read for phrase in GONE if phrase in text]
    assert found == []


@pytest.mark.parametrize(
    ("text", "bad"),
    [("Kept (k): 4 of 7 terms", True), ("Selected (k): 4 of 7 terms", False)],
)
def test_a_phrase_is_found(text, bad):
    assert any(phrase in text for phrase in GONE) == bad
