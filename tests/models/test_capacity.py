"""Forests whose capacity is chosen out of bag: noise does not improve them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import treeselect
from treeselect.designs.weights import RowWeights
from treeselect.engine.forest.out_of_bag import cut_back, mean_errors_by_size
from treeselect.models.capacity import Grower, cut_forest, sizes_of_nodes, trees_needed, truth_of

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
    problem, weight = fit.data.design.problem, fit.data.design.weight
    ranks = problem.groups.ranks(1)
    return Grower(
        problem.data,
        truth_of(problem, weight),
        fit.data.design.row_weights,
        problem.family,
        1,
        ranks,
    )


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


def test_no_other_size_has_less_out_of_bag_error(fitted):
    grower = grower_of(fitted)
    found = cut_forest(grower, n_trees=20, n_candidates=6)
    forest = grower.grow(20, 6, "first")
    for size in sizes_of_nodes(int(grower.weight.sum())):
        cut = forest._replace(trees=cut_back(forest.trees, size))
        mean = mean_errors_by_size(cut, [1], grower.truth, grower.weight)[0]
        assert mean >= np.nanmean(found.errors) - 1e-12


def test_sizes_fall_by_halves_down_to_every_node():
    assert sizes_of_nodes(100) == [50, 25, 12, 1]
    assert sizes_of_nodes(10) == [1]


ROWS = 100_000


def needed(variance, most=200, n_rows=ROWS, weights=None):
    """Trees for errors of 0 and 2, whose standard error is ``n_rows ** -0.5``."""
    errors = np.tile([0.0, 2.0], n_rows // 2)
    weights = (
        RowWeights(np.ones(n_rows, dtype=np.int64), are_copies=True) if weights is None else weights
    )
    return trees_needed(errors, np.full(n_rows, variance), weights, most)


def test_a_forest_has_as_many_trees_as_its_error_needs():
    assert needed(100 * 0.1 * ROWS**-0.5) == 100
    assert needed(98 * 0.1 * ROWS**-0.5) == 100
    assert needed(101 * 0.1 * ROWS**-0.5) == 105
    assert needed(1.0) == 200
    assert needed(1.0, most=7) == 7


def test_short_data_have_all_trees():
    assert needed(0.0) == 25
    assert needed(0.0, n_rows=1000) == 200


def test_copies_of_rows_count():
    copies = RowWeights(np.full(ROWS, 4, dtype=np.int64), are_copies=True)
    assert needed(50 * 0.1 * ROWS**-0.5, weights=copies) == 100  # half the standard error
    scaled = RowWeights(np.full(ROWS, 4.0), are_copies=False)
    assert needed(50 * 0.1 * ROWS**-0.5, weights=scaled) == 50


def test_unknown_errors_take_all_trees():
    weights = RowWeights(np.ones(ROWS, dtype=np.int64), are_copies=True)
    missing = np.full(ROWS, np.nan)
    assert trees_needed(missing, missing, weights, 200) == 200
