"""Forests whose capacity is chosen out of bag: noise does not improve them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import treeselect
from treeselect.engine.ensembles.cutting import cut_back
from treeselect.models.capacity import cut_forest, sizes_of_nodes, truth_of

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


def test_no_other_size_has_less_out_of_bag_error(fitted):
    problem, weight = fitted.design.problem, fitted.design.weight
    truth = truth_of(problem, weight)
    found = cut_forest(
        problem.data, truth, fitted.design.row_weights, problem.family, n_trees=20, n_candidates=6,
        seed=1, rank=problem.groups.ranks(1),
    )  # fmt: skip
    known = ~np.isnan(found.prediction[:, 0])
    error = ((truth - found.prediction)[known] ** 2).sum(axis=1)
    assert found.error == pytest.approx(np.average(error, weights=weight[known]))
    assert found.size in sizes_of_nodes(int(weight.sum()))
    split = found.trees.nodes.column >= 0
    assert found.trees.nodes.weight[split].min() >= found.size
    again = cut_back(found.trees, found.size)
    np.testing.assert_array_equal(again.start, found.trees.start)


def test_sizes_fall_by_halves_down_to_every_node():
    assert sizes_of_nodes(100) == [50, 25, 12, 1]
    assert sizes_of_nodes(10) == [1]
