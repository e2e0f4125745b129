"""Tables of texts, and names in sentences."""

from __future__ import annotations

from treeselect.printing import enumeration
from treeselect.reports.parts import Mark, Table, bars


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


def test_rows_are_ranked_by_each_column():
    rows = (
        ("b", "1,200", "0.10 to 0.20", ""), ("A", "∞", "–0.30 to 0.10", "z"),
        ("c", "<0.001", "", "y"), ("c", "", "0.20 to 0.40", "x"),
    )  # fmt: skip
    table = Table(("term", "n", "interval", "words"), rows)
    by_column = [[dict(row)[i] for row in table.ranks] for i in range(4)]
    assert by_column == [[1, 0, 2, 3], [1, 0, 2, 3], [1, 2, 3, 0], [3, 2, 1, 0]]
    assert Table(("n", "term"), (("3", "b"), ("2", "a"))).ranks == (((1, 1),), ((1, 0),))


def test_bars_are_shares_of_the_longest():
    assert bars([0.5, 0.25, -0.01]) == (Mark(1.0), Mark(0.5), Mark(0.0))
    assert bars([0.0]) == (Mark(0.0),)
    assert bars([]) == ()


def test_only_tables_between_a_list_and_a_matrix_are_made_into_blocks():
    assert [Table(("x",) * n, ()).stacks for n in (2, 3, 4, 12, 13)] == [
        False, False, True, True, False,
    ]  # fmt: skip
