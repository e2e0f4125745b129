"""Which cells are numbers, how their points align, and tables as plain text."""

import pytest

from treeselect.printing.text import aligned, table_lines

CASES = [
    # cells, padded cells
    (["1", "10", "9"], ["1", "10", "9"]),
    (["0.5", "12.25", "3"], ["0.5 ", "12.25", "3   "]),
    (["<0.0001", "0.0400", "–"], ["<0.0001", "0.0400", "–"]),
    (["0.1 to 0.2", "-1.25 to 10.5"], ["0.1  to  0.2", "-1.25 to 10.5"]),
    (["-0.5 (0.25)", "1.25 (2)"], ["-0.5  (0.25)", "1.25 (2)   "]),
    (["2", "(1.8)"], ["2", "(1.8)"]),
    (["1,234", "forced in"], ["1,234", "forced in"]),
    (["3 of 3", "12 of 12"], ["3 of  3", "12 of 12"]),
    (["1e-05", "0.5"], ["1e-05", "0.5  "]),
    (["–", "–", ""], ["–", "–", ""]),
    (["age", "sex"], None),
    (["", ""], None),
    (["5 terms", "2"], None),
    (["2020-01-01", "2"], None),
]


@pytest.mark.parametrize(("cells", "padded"), CASES)
def test_numbers_stand_with_their_points_below_each_other(cells, padded):
    assert aligned(cells) == padded


LONG = (
    "How often in the last twelve months have you seen a doctor or another health professional"
    " about your own health?"
)


def test_long_labels_take_several_lines_and_names_are_not_broken():
    lines = table_lines(("Term", "Importance"), ((LONG, "0.5"), ("age", "12.25")))
    assert max(map(len, lines)) <= 88
    assert lines[3].endswith(" 0.5")
    assert lines[4] == "  professional about your own health?"
    assert lines[5].split() == ["age", "12.25"]
    name = "x" * 100
    lines = table_lines(("Term", "n"), ((name, "1"), ("a b", "2")))
    assert lines[3].split() == [name, "1"]
    assert lines[4].split() == ["a", "b", "2"]
    lines = table_lines(("Term", "w" * 90), (("random forest", "1"),))
    assert lines[3].startswith("random forest ")
