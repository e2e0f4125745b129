"""Groups of rows that are cut at quantiles."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.resampling.held_out import quantile_groups


@pytest.mark.parametrize(
    ("values", "weight", "n", "expected"),
    [
        ([3.0, 1.0, 2.0, 4.0], [1, 1, 1, 1], 2, [1, 0, 0, 1]),
        ([3.0, 1.0, 2.0, 4.0], [1, 3, 1, 1], 2, [1, 0, 1, 1]),
        ([0.1 + 0.2, 0.3, 0.3, 0.9], [1, 1, 1, 1], 4, [0, 0, 0, 1]),
        ([5.0, 5.0], [1, 1], 3, [0, 0]),
        ([1.0, 2.0], [1, 1], 20, [0, 1]),
    ],
)
def test_groups_are_cut_at_quantiles_and_ties_stay_together(values, weight, n, expected):
    assert quantile_groups(np.array(values), np.array(weight), n).tolist() == expected
