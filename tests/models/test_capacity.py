"""Forests whose capacity is chosen out of bag: noise does not improve them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import treeselect
from treeselect.engine.ensembles.cutting import cut_back
from treeselect.models.capacity import Grower, cut_forest, sizes_of_nodes, truth_of

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


def predicted(sets, terms):
    train, new = sets
    columns = ["y", *terms]
    fit = treeselect.select(
        "y ~ .", train[columns], method="mrmr", k=len(terms), seed=1, progress=False
    )
    return np.asarray(fit.predict(new))


def brier(sets, terms):
    return float(np.mean((predicted(sets, terms) - sets[1]["p"]) ** 2))


def test_noise_does_not_improve_the_forest(sets):
    assert brier(sets, ["x", "b"]) < brier(sets, ["x", "b", *NOISE])


def grower_of(fit):
    problem, weight = fit.design.problem, fit.design.weight
    ranks = problem.groups.ranks(1)
    return Grower(
        problem.data, truth_of(problem, weight), fit.design.row_weights, problem.family, 1, ranks
    )


@pytest.mark.parametrize("n_trees", [20, 300])
def test_all_trees_grow_to_one_size(fitted, n_trees):
    grower = grower_of(fitted)
    found = cut_forest(grower, n_trees=n_trees, n_candidates=6)
    assert found.trees.n_trees == n_trees
    assert found.size in sizes_of_nodes(int(grower.weight.sum()))
    split = found.trees.nodes.column >= 0
    assert found.trees.nodes.weight[split].min() >= found.size
    again = cut_back(found.trees, found.size)
    np.testing.assert_array_equal(again.start, found.trees.start)


def test_no_other_size_has_less_out_of_bag_error(fitted):
    grower = grower_of(fitted)
    found = cut_forest(grower, n_trees=20, n_candidates=6)
    trees = grower.grow(20, 6, "first")
    for size in sizes_of_nodes(int(grower.weight.sum())):
        mean = grower.mean_errors(cut_back(trees, size), "first", [1])[0]
        assert mean >= np.nanmean(found.errors) - 1e-12


def test_sizes_fall_by_halves_down_to_every_node():
    assert sizes_of_nodes(100) == [50, 25, 12, 1]
    assert sizes_of_nodes(10) == [1]
