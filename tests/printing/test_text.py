"""Tables as plain text."""

from __future__ import annotations

from treeselect.printing.text import table_lines

LONG = (
    "How often in the last twelve months have you seen a doctor or another health professional"
    " about your own health?"
)


def test_long_labels_take_several_lines():
    lines = table_lines(("Term", "Importance"), ((LONG, "0.5"), ("age", "12.25")))
    assert max(map(len, lines)) <= 88
    assert lines[3].endswith(" 0.5")
    assert lines[4] == "  professional about your own health?"
    assert lines[5].split() == ["age", "12.25"]


def test_names_are_not_broken():
    name = "x" * 100
    lines = table_lines(("Term", "n"), ((name, "1"), ("a b", "2")))
    assert lines[3].split() == [name, "1"]
    assert lines[4].split() == ["a", "b", "2"]


def test_short_names_stay_on_a_line_in_wide_tables():
    lines = table_lines(("Term", "w" * 90), (("random forest", "1"),))
    assert lines[3].startswith("random forest ")
