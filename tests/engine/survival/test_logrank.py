"""The log-rank test: its naive twin, the best cut, and what splits on its scores are."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import given

from treeselect.engine.naive_survival import log_rank_chi_square
from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.logrank import LogRank, best_cut, scores_chi_square
from treeselect.engine.survival.times import EVENT, STOP, as_times


@given(SEEDS)
def test_the_test_is_its_naive_twin(seed):
    y, weight, _ = survival_rows(seed, weights="whole")
    left = np.random.default_rng(seed).random(len(y)) < 0.4
    found = LogRank(y, weight).chi_square(left)
    assert found == pytest.approx(log_rank_chi_square(y, weight, left), rel=1e-9, abs=1e-9)


@given(SEEDS)
def test_the_best_cut_is_the_best_of_all(seed):
    y, weight, eta = survival_rows(seed, n=15, weights="whole")
    column = np.round(eta)
    cut = best_cut(column, y, weight, min_weight=2.0)
    found = {}
    for value in np.unique(column):
        left = column <= value
        if min(weight[left].sum(), weight[~left].sum()) >= 2:
            found[value] = log_rank_chi_square(y, weight, left)
    if not found:
        assert np.isnan(cut.value)
        assert cut.chi_square == 0
    else:
        assert cut.chi_square == pytest.approx(max(found.values()), rel=1e-9, abs=1e-9)
        assert found[cut.value] == pytest.approx(cut.chi_square, rel=1e-9, abs=1e-9)


@given(SEEDS)
def test_the_gain_of_the_mean_of_the_scores_is_their_statistic(seed):
    """Hothorn and Lausen's statistic, times the variance of the scores among all rows of the node:
    a factor that all splits of the node have in common."""
    y, _, eta = survival_rows(seed, n=20)
    weight = np.ones(20)
    scores = LogRank(y, weight).scores()
    node = np.random.default_rng(seed).random(20) < 0.7
    node[:4] = True
    own, left = scores[node], (eta <= np.median(eta))[node]

    def squares(side):
        return float(side.sum() ** 2 / len(side)) if len(side) else 0.0

    gain = squares(own[left]) + squares(own[~left]) - squares(own)
    statistic = scores_chi_square(left, own, weight[node])
    assert gain == pytest.approx(statistic * own.var(ddof=1), rel=1e-8, abs=1e-10)


@given(SEEDS)
def test_the_scores_are_the_numerator_of_the_test(seed):
    y, weight, eta = survival_rows(seed, weights="whole")
    test = LogRank(y, weight)
    scores, left = test.scores(), eta <= np.median(eta)
    excess = 0.0
    for time, stratum in {(t, s) for _, t, e, s in y[weight > 0] if e}:
        inside = (y[:, 0] < time) & (time <= y[:, STOP]) & (y[:, 3] == stratum)
        dies = inside & (y[:, STOP] == time) & (y[:, EVENT] > 0)
        n, m, d = ((weight * part).sum() for part in (inside, inside & left, dies))
        excess += (weight * (dies & left)).sum() - d * m / n
    assert weight[left] @ scores[left] == pytest.approx(excess, abs=1e-9)


def test_where_no_events_tie_the_scores_are_the_martingale_residuals():
    rng = np.random.default_rng(2)
    y = as_times(rng.permutation(30) + 1.0, rng.random(30) < 0.6)
    weight = rng.integers(1, 3, 30).astype(float)
    residuals = CoxRows(y, weight).negative_gradient(np.zeros(30))
    np.testing.assert_allclose(LogRank(y, weight).scores(), residuals, atol=1e-12)
