"""Which cells are numbers, and how their points align."""

from __future__ import annotations

import pytest

from treeselect.printing.columns import column_of, set_cell

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
    column = column_of(cells)
    assert column.is_number == (padded is not None)
    assert [set_cell(column, cell) for cell in cells] == (padded or cells)
