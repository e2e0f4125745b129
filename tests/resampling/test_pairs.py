"""Pairs of units: counts, expectation and test against scipy's table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2_contingency

from treeselect.resampling.agreement import co_selection, pairs_of


@given(arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 5))))
@settings(derandomize=True)
def test_pairs_are_those_of_contingency_tables(selected):
    n = len(selected)
    found = pairs_of(selected)
    at = 0
    varying = [g for g in range(selected.shape[1]) if 0 < selected[:, g].sum() < n]
    for place, i in enumerate(varying):
        for j in varying[place + 1 :]:
            a, b = selected[:, i], selected[:, j]
            table = [[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]]
            assert (found.first[at], found.second[at]) == (i, j)
            assert found.together[at] == pytest.approx((a & b).mean())
            assert found.expected[at] == pytest.approx(a.mean() * b.mean())
            assert found.p_value[at] == pytest.approx(chi2_contingency(table).pvalue, abs=1e-9)
            at += 1
    assert at == len(found.first)


def test_signs_by_hand():
    """40 resamples: the first two come together, the third comes where they do not."""
    first = np.arange(40) < 20
    found = pairs_of(np.column_stack([first, first, ~first, np.ones(40, dtype=bool)]))
    assert found.signs(0.01).tolist() == [1, -1, -1]
    assert found.signs(1e-12).tolist() == [0, 0, 0]
    assert found.together.tolist() == [0.5, 0.0, 0.0]


def test_co_selection_by_hand():
    selected = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]], dtype=bool)
    expected = [[0.75, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_array_equal(co_selection(selected), expected)
