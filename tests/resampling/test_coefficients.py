"""Measures of coefficients over resamples, by hand and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.resampling.coefficient_stability import coefficient_spread


def test_measures_by_hand():
    """Four resamples: selected in two, once unknown."""
    estimate = np.array([[3.0], [0.0], [np.nan], [1.0]])
    in_model = np.array([[True], [False], [False], [True]])
    found = coefficient_spread(estimate, in_model, np.array([2.0]))
    assert found.n.tolist() == [3]
    assert found.rmsd[0] == pytest.approx(np.sqrt((1 + 4 + 1) / 3))
    assert found.conditional_mean[0] == 2.0
    assert (found.median[0], found.low[0], found.high[0]) == pytest.approx((1.0, 0.05, 2.9))


def test_measures_of_many_are_those_of_each():
    rng = np.random.default_rng(3)
    in_model = rng.random((40, 5)) < [1.0, 0.9, 0.5, 0.1, 0.0]
    estimate = np.where(in_model, rng.normal(size=(40, 5)), 0.0)
    full = np.array([0.5, -1.0, 2.0, 0.1, 3.0])
    found = coefficient_spread(estimate, in_model, full)
    for j in range(5):
        values = estimate[:, j]
        squares = [(b - full[j]) ** 2 for b in values]
        assert found.rmsd[j] == pytest.approx(np.sqrt(sum(squares) / len(squares)))
        inside = values[in_model[:, j]]
        mean = inside.mean() if len(inside) else np.nan
        assert found.conditional_mean[j] == pytest.approx(mean, nan_ok=True)
        expected = np.quantile(values, [0.025, 0.5, 0.975])
        assert (found.low[j], found.median[j], found.high[j]) == pytest.approx(tuple(expected))


def test_what_no_resample_tells_is_missing():
    nothing = np.full((3, 2), np.nan)
    found = coefficient_spread(nothing, np.isfinite(nothing), np.array([1.0, np.nan]))
    assert found.n.tolist() == [0, 0]
    for values in (found.rmsd, found.conditional_mean, found.low, found.median, found.high):
        assert np.isnan(values).all()
    alone = coefficient_spread(np.zeros((3, 1)), np.zeros((3, 1), dtype=bool), np.array([np.nan]))
    assert np.isnan(alone.rmsd[0])
    assert alone.median[0] == 0.0
