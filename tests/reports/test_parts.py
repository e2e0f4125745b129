"""Tables of texts, and names in sentences."""

from __future__ import annotations

from treeselect.printing import enumeration
from treeselect.reports.parts import Table


def test_numbers_are_set_flush_right():
    table = Table(("a", "b", "c", "d"), (("x", "1,234", "0.1 to 0.2", ""), ("y", "-0.5", "", "∞")))
    assert table.numeric == (False, True, False, True)


def test_words():
    assert enumeration(("a",)) == "a"
    assert enumeration(("a", "b")) == "a and b"
    assert enumeration(("a", "b", "c")) == "a, b and c"
    assert enumeration(tuple("abcdefghij")) == "a, b, c, d, e, f, g, h and 2 more"
    long = ("a" * 100, "b" * 100, "c" * 100)
    assert enumeration(long) == f"{long[0]}, {long[1]} and 1 more"
    assert enumeration(("a" * 300, "b")) == f"{'a' * 300} and 1 more"


def test_signs_brackets_and_dashes_are_set_flush_right_with_numbers():
    rows = (("a", "+0.1", "(2.6)", "<0.001", "-0.1 to +0.2"), ("b", "-0.2", "3", "–", ""))
    assert Table(("m", "d", "k", "p", "i"), rows).numeric == (False, True, True, True, False)
