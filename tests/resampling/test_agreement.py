"""The stability index in which units that are alike stand for each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeselect.errors import StabilityError
from treeselect.resampling.agreement import correlated_index, stability_index


def index_by_matrices(z, c):
    """Sechidis and others (2020), written as it stands: 1 - tr(C S) / tr(C S0)."""
    d = z.shape[1]
    s = np.cov(z.T.astype(float), ddof=1).reshape(d, d)
    sizes = z.sum(axis=1)
    k, k2 = sizes.mean(), (sizes**2).mean()
    s0 = np.full((d, d), (k2 - k) / (d**2 - d) - k**2 / d**2)
    np.fill_diagonal(s0, k / d * (1 - k / d))
    return 1 - np.trace(c @ s) / np.trace(c @ s0)


@given(
    arrays(bool, st.tuples(st.integers(2, 9), st.integers(2, 6))),
    st.lists(st.floats(0, 0.9), min_size=15, max_size=15),
)
@settings(derandomize=True)
def test_the_index_is_its_definition(selected, strengths):
    d = selected.shape[1]
    alike = np.eye(d)
    rows, columns = np.triu_indices(d, 1)
    alike[rows, columns] = alike[columns, rows] = strengths[: len(rows)]
    found = correlated_index(selected, alike)
    if selected.all() or not selected.any():
        assert np.isnan(found)
        return
    assert found == pytest.approx(min(index_by_matrices(selected, alike), 1.0), abs=1e-9)


@given(arrays(bool, st.tuples(st.integers(2, 9), st.integers(2, 6))))
@settings(derandomize=True)
def test_units_that_are_not_alike_leave_the_index_of_nogueira(selected):
    expected = stability_index(selected)[0]
    found = correlated_index(selected, np.eye(selected.shape[1]))
    assert found == pytest.approx(expected, nan_ok=True)


def test_of_two_copies_it_does_not_matter_which_comes():
    """By hand: sex always, age or its copy, never the fourth."""
    selected = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    alike = np.eye(4)
    alike[1, 2] = alike[2, 1] = 1.0
    assert stability_index(selected)[0] == 0.0
    assert correlated_index(selected, alike) == 1.0


def test_it_is_not_defined_where_all_sets_say_the_same():
    selected = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]], dtype=bool)
    assert np.isnan(correlated_index(selected, np.ones((3, 3))))
    assert np.isnan(correlated_index(np.ones((4, 3), dtype=bool), np.eye(3)))
    assert np.isnan(correlated_index(np.zeros((4, 1), dtype=bool), np.eye(1)))


def test_one_unit_that_comes_and_goes():
    selected = np.array([[1], [0], [1], [0]], dtype=bool)
    assert correlated_index(selected, np.eye(1)) == pytest.approx(stability_index(selected)[0])


def test_it_needs_two_resamples():
    with pytest.raises(StabilityError, match="at least two resamples"):
        correlated_index(np.ones((1, 3), dtype=bool), np.eye(3))
