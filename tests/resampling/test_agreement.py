"""Intervals of proportions whose trials come in clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from treeselect.resampling.agreement import clustered_interval, wilson_interval


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
    # 95 %, within three standard errors of 2,000 draws and what the approximation costs
    assert 0.93 < ((low <= 0.6) & (high >= 0.6)).mean() < 0.99
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
