"""Each method, asked the same in all ways that ``benchmarks/invariance.py`` knows.

A case that fails is run again by ``python benchmarks/invariance.py --methods NAME --case NUMBER``.
"""

from pathlib import Path

import pytest

from treeselect.algorithms.registry import METHODS

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the repository")


@pytest.mark.parametrize("method", METHODS)
def test_the_same_question_has_the_same_answer(method, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    from invariance import PROPERTIES, outcomes

    number = {"controlburn": 35, "fcbf": 13}.get(method, list(METHODS).index(method))  # is quick
    found = outcomes(1, number, [method])
    assert not [o for o in found if o["differs"]]
    assert len(found) >= len(PROPERTIES) - 3
    assert not any(o["is refused"] for o in found)
