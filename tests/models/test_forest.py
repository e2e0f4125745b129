"""The refitted forest."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import statsmodels.api as sm

from treeselect import datasets, select
from treeselect.designs.families import BINOMIAL, GAUSSIAN
from treeselect.designs.weights import row_weights
from treeselect.models.capacity import MIN_LEAF
from treeselect.models.forest import refit_forest


def forest(fit, groups, family=BINOMIAL, n_trees=30, weight=None, y=None):
    problem = fit.data.design.problem
    problem = dataclasses.replace(problem, family=family, y=problem.y if y is None else y)
    weight = fit.data.design.weight if weight is None else weight
    return refit_forest(
        problem, row_weights(weight), np.array(groups, dtype=bool), seed=1, n_trees=n_trees
    )


def test_no_group_gives_the_mean(fitted):
    model = forest(fitted, [0] * 6)
    problem = fitted.data.design.problem
    assert model.trees is None
    assert model.predict(problem) == pytest.approx(problem.y.mean())
    assert not model.importance.any()


def test_importance_is_that_of_the_given_groups(fitted):
    names = fitted.data.design.arrays.groups.names
    wanted = [name in ("signal", "site", "noise") for name in names]
    importance = dict(zip(names, forest(fitted, wanted).importance, strict=True))
    assert importance["signal"] > importance["site"] > 0
    assert importance["colour"] == importance["copy"] == 0


def test_leaves_keep_their_least_weight(fitted):
    for family in (BINOMIAL, GAUSSIAN):
        trees = forest(fitted, [1] * 6, family).trees
        leaves = trees.nodes.column < 0
        assert trees.nodes.weight[leaves].min() >= MIN_LEAF


def test_rows_without_weight_do_not_matter(fitted):
    problem = fitted.data.design.problem
    weight = fitted.data.design.weight.copy()
    weight[::2] = 0
    model = forest(fitted, [1] * 6, weight=weight)
    other = forest(fitted, [1] * 6, weight=weight, y=np.where(weight > 0, problem.y, 1 - problem.y))
    np.testing.assert_array_equal(model.predict(problem), other.predict(problem))


def test_probabilities_are_as_good_as_scikit_learns(fitted):
    """Same task, same settings: the AUC on fresh rows differs by no more than chance."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score

    problem = fitted.data.design.problem
    codes = problem.data.codes.T.astype(float)
    train = np.arange(problem.data.n_rows) % 2 == 0
    model = forest(fitted, [1] * 6, n_trees=300, weight=train.astype(np.int64))
    ours = roc_auc_score(problem.y[~train], model.predict(problem)[~train])
    peer = RandomForestClassifier(300, min_samples_leaf=10, max_features=3, random_state=0)
    peer.fit(codes[train], problem.y[train])
    theirs = roc_auc_score(problem.y[~train], peer.predict_proba(codes[~train])[:, 1])
    assert ours > theirs - 0.02


# --- Forests of times: as wide apart as what they say of new rows ---


def test_risks_of_new_rows_have_the_spread_that_their_times_show():
    every = datasets.simulate_survival(900, seed=3, censored=0.3)
    data, new = every.data[:450], every.data[450:]
    terms = "x01 + x02 + x03 + x04 + x05 + x07 + f01 + f02"
    fit = select(f"Surv(time, event) ~ {terms}", data, method="mrmr", k=8, seed=1)
    eta = np.asarray(fit.predict(new, type="link"))
    slope = sm.PHReg(new["time"], eta, status=new["event"], ties="efron").fit()
    assert abs(slope.params[0] - 1) < 3 * slope.bse[0]
    assert slope.params[0] > 4 * slope.bse[0]


def test_noise_alone_moves_no_risk_far():
    rng = np.random.default_rng(0)
    data = (
        datasets.simulate_survival(300, seed=3)
        .data[["x01"]]
        .assign(x01=rng.normal(size=300), time=rng.exponential(size=300), event=1)
    )
    fit = select("Surv(time, event) ~ x01", data, method="mrmr", k=1, seed=1)
    assert np.std(fit.predict(data, type="link")) < 0.2
