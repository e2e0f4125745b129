"""The score test: its statistic against linear regressions, its level and power on simulations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm

from treeselect.designs.families import BINOMIAL, GAUSSIAN
from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.linear.additive import AdditiveColumns, fit_additive, score_test


def columns_of(x):
    columns = list(x.T)
    data = bin_columns(
        columns, [bin_edges(c) for c in columns], [0] * x.shape[1], np.arange(x.shape[1])
    )
    return AdditiveColumns(data, np.ones(len(x), dtype=np.int64))


def outcome(x, y, inside=(), family=GAUSSIAN, **options):
    columns = columns_of(x)
    loss = family.loss.of(y, columns.weight)
    base = np.full((len(y), 1), family.loss.constant(y, columns.weight))
    fit = fit_additive(columns, list(inside), loss, base, ridges=[1.0])
    others = [j for j in range(x.shape[1]) if j not in inside]
    return score_test(columns, list(inside), fit, loss, others, **options), columns, fit


def test_evidence_is_that_of_the_score_test_of_a_linear_model():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    y = 0.2 * x[:, 1] + rng.standard_normal(300)
    found, columns, _ = outcome(x, y)
    own = columns.group(1)[0][0]  # normal scores
    r = np.corrcoef(own, y)[0, 1]
    statistic = len(y) * r**2 * (1 - 1 / len(y))
    assert found.evidence[1] == pytest.approx(-scipy.stats.chi2.logsf(statistic, 1), rel=1e-6)


def test_evidence_beside_others_is_that_of_a_logistic_model():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((600, 2))
    y = (rng.random(600) < 1 / (1 + np.exp(-x[:, 0] - 0.4 * x[:, 1]))).astype(float)
    found, columns, _ = outcome(x, y, [0], BINOMIAL)
    inside = np.column_stack([np.ones(600), columns.group(0)[0].T, columns.group(1)[0][0]])
    wald = sm.Logit(y, inside).fit(disp=0).tvalues[-1] ** 2
    assert found.evidence[0] == pytest.approx(-scipy.stats.chi2.logsf(wald, 1), rel=0.15)


def test_nothing_to_add_has_p_value_one():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((50, 1))
    assert outcome(x, x[:, 0], [0])[0].p_value == 1


def p_values(n_sets, n, p, *, clusters=False, counted=None):
    found = []
    for seed in range(n_sets):
        rng = np.random.default_rng(1_000 + seed)
        x = rng.standard_normal((n, p))
        if clusters:
            own = np.arange(n) % (n // 4)
            x = x[own]
            y = rng.standard_normal(n // 4)[own] + 0.3 * rng.standard_normal(n)
            found.append(outcome(x, y, clusters=own if counted else None)[0].p_value)
            continue
        y = x[:, 0] ** 2 + rng.standard_normal(n)
        found.append(outcome(x, y, [0])[0].p_value)
    return np.array(found)


def test_p_values_are_uniform_beside_a_term_that_matters():
    found = p_values(60, 120, 6)
    assert scipy.stats.kstest(found, "uniform").pvalue > 0.01


def test_clusters_are_counted_and_not_their_rows():
    assert np.median(p_values(15, 200, 4, clusters=True, counted=True)) > 0.2
    assert np.median(p_values(15, 200, 4, clusters=True, counted=False)) < 0.05


def test_one_strong_and_many_weak_effects_are_seen():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((300, 16))
    one = 0.25 * x[:, 0] + rng.standard_normal(300)
    many = x @ np.full(16, 0.11) + rng.standard_normal(300)
    assert outcome(x, one)[0].p_value < 0.01
    assert outcome(x, many)[0].p_value < 0.01
    bent = np.abs(x[:, 0]) * 0.6 + rng.standard_normal(300)
    assert outcome(x, bent)[0].p_value < 0.01


def test_what_trees_explain_is_no_evidence():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((400, 3))
    y = x[:, 0] + 0.5 * x[:, 1] + 0.1 * rng.standard_normal(400)
    told = 0.5 * x[:, [1]]
    assert outcome(x, y, [0])[0].p_value < 1e-4
    assert outcome(x, y, [0], explained=told)[0].p_value > 0.01


def test_strata_are_permuted_apart():
    rng = np.random.default_rng(5)
    stratum = np.repeat([0.0, 1.0], 100)
    x = rng.standard_normal((200, 1)) + stratum[:, np.newaxis]
    y = stratum + 0.1 * rng.standard_normal(200)
    assert outcome(x, y)[0].p_value < 0.01
    assert outcome(x, y, strata=stratum)[0].p_value > 0.001


def test_the_same_in_any_order_of_columns():
    rng = np.random.default_rng(6)
    x = rng.standard_normal((150, 5))
    y = 0.2 * x[:, 2] + rng.standard_normal(150)
    first = outcome(x, y)[0]
    second = outcome(x[:, ::-1], y)[0]
    assert first.p_value == second.p_value
    assert first.evidence == pytest.approx(second.evidence[::-1])
