"""The first split on each column against its naive twin."""

from __future__ import annotations

import naive
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import both_targets, problems

from treeselect.engine.forest.bagging import first_gains
from treeselect.engine.tree.target import GINI, MEAN, NEWTON
from treeselect.engine.tree.workspace import Growth


@given(problems(), st.sampled_from([MEAN, NEWTON, GINI]), st.integers(1, 5))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_each_column_has_the_gain_of_its_best_split(problem, kind, min_weight):
    data, gradient, weight, rng = problem
    target, rows = both_targets(kind, gradient, weight, rng)
    growth = Growth(1, min_weight, 1, 0.0)
    gains = first_gains(data, target, weight, growth)
    inside = weight > 0
    size = rows.gradient[inside].sum() if kind == GINI else weight.sum()
    for j, gain in enumerate(gains):
        codes, is_factor = data.column(j)[inside], bool(data.is_factor[j])
        best = naive.best_split(codes, rows.take(inside), growth, is_factor=is_factor)
        # The kernel adds in packed units, so that the quotient may differ in its last bits.
        np.testing.assert_allclose(gain, best.gain / size, rtol=1e-12, atol=1e-12)
