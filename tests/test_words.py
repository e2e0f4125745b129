"""Words of the package and its pages: phrases that are not English of the field, and spelling."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from spellchecker import SpellChecker

from treeselect import SelectionResult
from treeselect.results.views import DataView, ModelView, SearchView

ROOT = Path(__file__).parent.parent
WORDS = ROOT / "docs" / "words.txt"

BANNED = (
    "1 less the ratio", "a choice for me", "a factor all the same", "a response of numbers",
    "A verdict takes", "about its mean", "all that is asked", "alone is on the front",
    "among the first so many", "are asked for by", "are taken alike", "as asked",
    "As good or nearly", "as many as it finds", "asked for by", "beforehand known",
    "bend by themselves", "beyond those that are kept", "but for one place", "by the clock",
    "came in for", "came in its stead", "can't be given their work", "can't be told from",
    "can't be told how many", "Can't tell the column", "Cite and paste", "did not look at",
    "different sets came", "does not stand for it", "Efron's ties", "Expected false ones",
    "goes on where", "goes together in the data", "greatest shadow", "has its way",
    "has no part for", "has no power of its own", "have no meaning here", "have no part for",
    "held in turn", "hold a place", "holds a place", "How close the next sets come",
    "How the search came here", "in its stead", "in their stead", "is no method",
    "it is no model file", "its answer will be whole", "keeps none of", "Kept (k)",
    "kept by request", "leaves out 0", "lets go", "lie further apart", "look better than they are",
    "look too important", "Make numbers of it", "may I show it", "may I show it to someone",
    "No known value", "no step of the path has", "none left out", "Nothing is told",
    "Nothing tells whose risk", "of one owner", "one standard error to each side",
    "others that came near", "outside its bags", "page speaks in", "paid for as one",
    "Predictions are those of", "probability of 1", "ranks units by what they tell",
    "Rates become counts again", "row of pictures", "rows outside the bags",
    "rows that its trees have not seen", "saw columns", "score(s) less",
    "scores rows that had no part", "selected here, and is not kept", "selected units (k)",
    "stable but for", "stand for each other", "standing for each other", "stands on both sides",
    "staying as they are in the data", "stood in for", "sums of those", "taken alike", "takes none",
    "tell no other method", "tell nothing", "tell nothing one by one",
    "tells more than its shuffled", "tells nothing", "terms of their own",
    "the effect about its mean", "the forest that predicts", "the model that predicts",
    "the selection stands on", "trees that have not seen", "Unseen:", "upright line",
    "was asked for", "were asked for", "What a cut-off", "What came together", "what is folded",
    "what tells when", "What the model has learned", "What the selection does to",
    "what they tell apart", "What was asked", "What was decided", "Which sets came up", "who holds",
    "worth opening",
)  # fmt: skip
"""Found nowhere in texts that a user reads, in upper or lower case; spaces may be line breaks."""

_PATTERN = re.compile(
    r"(?<!\w)(?:" + "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in BANNED) + ")",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")


def pages() -> list[Path]:
    """Markdown that people read; pages of the site that are made from vignettes are not sources."""
    found = [*ROOT.glob("*.md")]
    found += [p for p in (ROOT / "docs").glob("*.md")]
    found += [p for name in ("guides", "methods", "reference") for p in sources("docs", name)]
    return [*found, *sources("vignettes")]


def sources(*folder: str) -> list[Path]:
    return sorted(ROOT.joinpath(*folder).glob("*.md"))


def texts_of_code(path: Path) -> Iterator[tuple[int, str]]:
    """Texts and docstrings of a module with their lines; pieces of one f-string are joined."""
    inside: set[ast.AST] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if node in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            inside |= set(ast.walk(node))
            pieces = [v.value if isinstance(v, ast.Constant) else "{}" for v in node.values]
            yield node.lineno, "".join(map(str, pieces))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def prose(path: Path) -> Iterator[str]:
    """Text of a page without code, formulas and addresses."""
    markdown = MarkdownIt("commonmark").enable("table")
    dollarmath_plugin(markdown, allow_digits=False, double_inline=True)
    for block in markdown.parse(path.read_text(encoding="utf-8")):
        yield from (token.content for token in block.children or () if token.type == "text")


def test_no_text_has_a_banned_phrase():
    found = []
    for path in sorted((ROOT / "treeselect").rglob("*.py")):
        for line, text in texts_of_code(path):
            found += [f"{path.name}:{line}: {match[0]!r}" for match in _PATTERN.finditer(text)]
    for path in [*sorted((ROOT / "templates").glob("*.j2")), *pages()]:
        text = path.read_text(encoding="utf-8")
        found += [f"{path.name}: {match[0]!r}" for match in _PATTERN.finditer(text)]
    assert found == []


def lacking(text: str) -> list[str]:
    """Calls that a text tells the reader to make, and no result has."""
    views, found = {"model": ModelView, "search": SearchView, "data": DataView}, []
    for start, chain in re.findall(r"((?<![\w.])fit|(?<=`))((?:\.[a-z_]+)+)\(", text):
        first, *more = chain[1:].split(".")
        at, name = (views[first], more[0]) if more and first in views else (SelectionResult, first)
        of_view = any(hasattr(view, name) for view in views.values())
        if not hasattr(at, name) and (start or of_view):
            found.append(start + chain)
    return found


def test_calls_that_texts_name_exist():
    text = "`.alternatives()` or `fit.model.alternatives()`, `fit.search.alternatives()`"
    assert lacking(text) == [".alternatives", "fit.model.alternatives"]
    paths = sorted((ROOT / "treeselect").rglob("*.py"))
    texts = [(path, text) for path in paths for _, text in texts_of_code(path)]
    texts += [(path, path.read_text("utf-8")) for path in pages()]
    assert {path.name: calls for path, text in texts if (calls := lacking(text))} == {}


def test_prose_is_spelled_and_f_strings_are_read_as_a_whole(tmp_path):
    (tmp_path / "m.py").write_text('x = 1\nf"chosen as {x} ask" "ed"\n"b"\n', encoding="utf-8")
    assert list(texts_of_code(tmp_path / "m.py")) == [(2, "chosen as {} asked"), (3, "b")]
    assert _PATTERN.search("selected As\nasked")
    found = defaultdict(set)
    for path in pages():
        for word in _WORD.findall(" ".join(prose(path))):
            if word.islower() and len(word) > 2:
                found[word.replace("\u2019", "'").removesuffix("'s")].add(path.name)
    own = WORDS.read_text(encoding="utf-8").split()
    assert own == sorted(set(own))
    unknown = SpellChecker(distance=1).unknown(found) - set(own)
    assert {word: sorted(found[word]) for word in sorted(unknown)} == {}


def test_words_that_are_often_misspelled():
    """In code, templates and pages; ``Sigal`` is an author, ``NotIn`` a name of Python's,
    ``sav`` the ending of SPSS files."""
    folders = ["treeselect", "templates", "vignettes", *map(str, pages())]
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", "sigal,notin,sav"]
    command += ["--skip", "*.csv,*.gz,*.html,*/__pycache__", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
