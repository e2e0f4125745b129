"""The refitted forest."""

import dataclasses
import operator

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit

from treeselect import datasets, select
from treeselect.designs.families import BINOMIAL, GAUSSIAN
from treeselect.designs.weights import RowWeights, row_weights
from treeselect.engine.forest.importance import out_of_bag_gains
from treeselect.engine.forest.out_of_bag import cut_back, mean_errors_by_size
from treeselect.engine.tree.nodes import join_trees
from treeselect.engine.tree.target import relative
from treeselect.models.forest import (
    MIN_LEAF,
    Grower,
    cut_forest,
    refit_forest,
    sizes_of_nodes,
    trees_needed,
    truth_of,
)


def forest(fit, groups, family=BINOMIAL, n_trees=30, weight=None, y=None):
    problem = fit.data.design.problem
    problem = dataclasses.replace(problem, family=family, y=problem.y if y is None else y)
    weight = fit.data.design.weight if weight is None else weight
    return refit_forest(
        problem, row_weights(weight), np.array(groups, dtype=bool), seed=1, n_trees=n_trees
    )


def test_groups_leaves_and_weights_of_a_forest(fitted):
    model = forest(fitted, [0] * 6)
    problem = fitted.data.design.problem
    assert model.trees is None
    assert model.predict(problem) == pytest.approx(problem.y.mean())
    assert not model.importance.any()
    names = fitted.data.design.arrays.groups.names
    wanted = [name in ("signal", "site", "noise") for name in names]
    importance = dict(zip(names, forest(fitted, wanted).importance, strict=True))
    assert importance["signal"] > importance["site"] > 0
    assert importance["colour"] == importance["copy"] == 0
    for family in (BINOMIAL, GAUSSIAN):
        trees = forest(fitted, [1] * 6, family).trees
        leaves = trees.nodes.column < 0
        assert trees.nodes.weight[leaves].min() >= MIN_LEAF
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
    x = rng.normal(size=300)
    data = pd.DataFrame({"x01": x, "time": rng.exponential(size=300), "event": 1})
    fit = select("Surv(time, event) ~ x01", data, method="mrmr", k=1, seed=1)
    assert np.std(fit.predict(data, type="link")) < 0.2


# --- Forests whose capacity is chosen out of bag: noise does not improve them ---

NOISE = [f"z{j}" for j in range(5)]


def draw(n, seed):
    """Two classes by a number and a binary column; five columns of noise."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 5)), columns=NOISE)
    data["x"], data["b"] = rng.normal(size=n), rng.integers(2, size=n)
    data["p"] = expit(1.2 - 0.9 * data["x"] - data["b"])
    return data.assign(y=(rng.random(n) < data["p"]).astype(int))


@pytest.fixture(scope="module")
def sets():
    return draw(1500, 1), draw(4000, 2)


def brier(sets, terms):
    train, new = sets
    fit = select("y ~ .", train[["y", *terms]], method="mrmr", k=len(terms), seed=1)
    return float(np.mean((fit.predict(new) - new["p"]) ** 2))


def test_noise_does_not_improve_the_forest(sets):
    assert brier(sets, ["x", "b"]) < brier(sets, ["x", "b", *NOISE])


def grower_of(fit):
    design = fit.data.design
    problem, weights = design.problem, design.row_weights
    truth, ranks = truth_of(problem, design.weight), problem.groups.ranks(1)
    return Grower(problem.data, truth, weights, problem.family, 1, ranks)


@pytest.mark.parametrize("n_trees", [20, 300])
def test_all_trees_grow_to_one_size(fitted, n_trees):
    grower = grower_of(fitted)
    found = cut_forest(grower, n_trees=n_trees, n_candidates=6)
    trees = found.forest.trees
    assert trees.n_trees == len(found.forest.bags.seeds) == n_trees
    assert found.size in sizes_of_nodes(int(grower.weight.sum()))
    split = trees.nodes.column >= 0
    assert trees.nodes.weight[split].min() >= found.size
    again = grower.grown(trees)
    np.testing.assert_array_equal(again.bags.seeds, found.forest.bags.seeds)


def test_trees_that_are_joined_are_not_held_twice(fitted):
    grower = grower_of(fitted)
    first, more = grower.grow(3, 6, "first"), grower.grow(4, 6, "more")
    whole = join_trees([first.trees, more.trees])
    joined = first.joined(more)
    for array, same in zip(joined.trees.nodes, whole.nodes, strict=True):
        np.testing.assert_array_equal(array, same)
    np.testing.assert_array_equal(joined.trees.start, whole.start)
    assert {len(array) for array in more.trees.nodes} == {0}
    assert all(map(operator.is_, joined.trees.nodes, first.trees.nodes))


def test_of_sizes_that_fall_by_halves_none_has_less_out_of_bag_error(fitted):
    grower = grower_of(fitted)
    found = cut_forest(grower, n_trees=20, n_candidates=6)
    forest = grower.grow(20, 6, "first")
    for size in sizes_of_nodes(int(grower.weight.sum())):
        cut = forest._replace(trees=cut_back(forest.trees, size))
        mean = mean_errors_by_size(cut, [1], grower.truth, grower.weight)[0]
        assert mean >= np.nanmean(found.errors) - 1e-12
    assert sizes_of_nodes(100) == [50, 25, 12, 1]
    assert sizes_of_nodes(10) == [1]


ROWS = 100_000


def needed(variance, most=200, n_rows=ROWS, weight=1, unknown=False):
    """Trees for errors of 0 and 2, whose standard error is ``n_rows ** -0.5``."""
    errors = np.full(n_rows, np.nan) if unknown else np.tile([0.0, 2.0], n_rows // 2)
    weights = RowWeights(np.full(n_rows, weight), are_copies=isinstance(weight, int))
    return trees_needed(errors, np.full(n_rows, variance * 0.1 * ROWS**-0.5), weights, most)


def test_forests_of_few_and_many_rows_have_as_many_trees_as_their_error_needs(monkeypatch):
    assert [needed(v) for v in (98, 100, 101, 1e9)] == [100, 100, 105, 200]
    assert needed(1e9, most=7) == 7
    assert (needed(0), needed(0, n_rows=1000)) == (25, 200)  # short data have all trees
    assert needed(50, weight=4) == 100  # copies: half the standard error
    assert needed(50, weight=4.0) == 50
    assert needed(0, unknown=True) == 200
    data = datasets.simulate_friedman(300, seed=1, binary=False).data
    n_trees = []
    for least in (200, 30, 5):
        monkeypatch.setattr("treeselect.models.forest._ROWS_OF_ALL", least * len(data))
        fit = select("y ~ X1 + X2 + X4", data, method="mrmr", k=3, seed=1)
        n_trees.append(fit._fit.model.n_trees)
    assert n_trees[0] == 200 > n_trees[1] >= n_trees[2] >= 30


def test_several_outputs_under_relative_weights_are_weighted_means():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, 800), rng.integers(0, 3, 800)
    data = pd.DataFrame({"x": x, "y": y, "w": np.where(x, 1.7, 0.3)})
    how = {"method": "mrmr", "k": 1, "weights": "w", "weights_kind": "sampling", "resamples": 0}
    problem = select("y ~ x", data, family="multinomial", **how).data.design.problem
    weights = row_weights(relative(data["w"].to_numpy()))
    truth = np.where(x[:, np.newaxis], [0.2, -0.2], [-1.2, 1.2])
    grower = Grower(problem.data, truth, weights, GAUSSIAN, 1, problem.groups.ranks(1))
    grown = cut_forest(grower, n_trees=30, n_candidates=1)
    assert grown.forest.trees.nodes.value[grown.forest.trees.start[:-1]].shape == (30, 2)
    np.testing.assert_allclose(grown.prediction, truth, atol=1e-6)
    spread = np.average((truth - np.average(truth, axis=0, weights=data["w"])) ** 2, axis=0,
                        weights=data["w"])  # fmt: skip
    assert out_of_bag_gains(grown.forest).mean == pytest.approx([spread.sum()], rel=0.05)
