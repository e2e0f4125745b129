"""The index in which units that are alike stand for each other; intervals of clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from treeselect.errors import StabilityError
from treeselect.resampling.agreement import (
    clustered_interval,
    correlated_index,
    stability_index,
    wilson_interval,
)


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


# --- proportions whose trials come in clusters ---


def test_clusters_that_agree_are_so_many_trials():
    shares = np.array([[0.5, 1.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0, 0.0]])
    found = clustered_interval(shares, 20)
    np.testing.assert_allclose(found, wilson_interval(np.array([30, 60, 0]), 60))
    assert (found[1][1], found[0][2]) == (1.0, 0.0)


def test_clusters_that_differ_are_fewer_trials():
    """By hand: mean 0.5, variance of the mean 0.01, as of 25 trials; t with two degrees."""
    low, high = clustered_interval(np.array([[0.5 - 0.03**0.5], [0.5], [0.5 + 0.03**0.5]]), 50)
    t = stats.t.ppf(0.975, 2)
    half = t / (1 + t**2 / 25) * (0.01 + t**2 / (4 * 25**2)) ** 0.5
    assert (low[0], high[0]) == pytest.approx((0.5 - half, 0.5 + half))


@pytest.mark.parametrize("spread", [0.0, 0.15])
def test_it_holds_the_mean_of_all_clusters_there_could_be(spread):
    rng = np.random.default_rng(4)
    of_cluster = np.clip(0.6 + spread * rng.normal(size=(5, 2000)), 0, 1)
    low, high = clustered_interval(rng.binomial(40, of_cluster) / 40, 40)
    # 95%, within three standard errors of 2,000 draws and what the approximation costs
    assert 0.93 < ((low <= 0.6) & (high >= 0.6)).mean() < 0.99
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
