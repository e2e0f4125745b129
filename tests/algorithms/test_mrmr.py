"""Mutual information and mRMR: scikit-learn's values, known truth, and what options mean."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import MRMR
from treeselect.algorithms.information import coarsened, mutual_information, unit_cells
from treeselect.algorithms.task import Task
from treeselect.designs.families import POISSON, multinomial
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError


@pytest.fixture(scope="module")
def linear():
    """`a` and the factor `site` matter; `near` repeats `a` with little noise; three are noise."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(500, 4)), columns=["a", "n0", "n1", "n2"])
    data["near"] = data["a"] + 0.05 * rng.normal(size=500)
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=500)
    data["y"] = 2 * data["a"] + 2 * (data["site"] == "York") + 0.5 * rng.normal(size=500)
    return data


def problem_of(data, **arguments):
    k = max(1, len(arguments.get("keep", ())))
    fit = treeselect.select("y ~ .", data, method="mrmr", seed=1, k=k, **arguments)
    return fit.data.design.problem_for(fit.search.method), fit.data.design.weight


def test_mutual_information_is_scikit_learns_less_what_is_expected():
    from sklearn.metrics import mutual_info_score

    rng = np.random.default_rng(0)
    x, y = rng.integers(4, size=300), rng.integers(3, size=300)
    copies = rng.integers(1, 4, size=300)
    plain = mutual_info_score(np.repeat(x, copies), np.repeat(y, copies))
    found = mutual_information(x, y, copies * 1.0)
    assert found == pytest.approx(plain - 3 * 2 / (2 * copies.sum()), abs=1e-12)
    independent = [
        mutual_information(*rng.integers(8, size=(2, 400)), np.ones(400)) for _ in range(200)
    ]
    assert abs(np.mean(independent)) < 0.004


def test_bins_have_about_equal_weight_and_missing_values_their_own(mixed):
    values = np.arange(100)
    assert np.bincount(coarsened(values, np.ones(100), 5)).tolist() == [20] * 5
    assert coarsened(np.array([3, 9, 3]), np.ones(3), 5).tolist() == [0, 1, 0]
    fit = treeselect.select("died ~ noise + site", mixed, method="mrmr", k=1, seed=1)
    data, rows = fit.data.design.problem.data, np.arange(len(mixed))
    noise = unit_cells(data, 0, rows, np.ones(len(rows)), 5)
    assert noise.max() == 5
    assert set(noise[mixed["noise"].isna()]) == {0}
    assert unit_cells(data, 1, rows, np.ones(len(rows)), 5).max() == 3


@pytest.mark.parametrize("scheme", ["difference", "quotient"])
def test_what_repeats_waits_and_signal_comes_before_it(linear, scheme):
    problem, weight = problem_of(linear)
    names = np.array(problem.groups.names)
    y = linear["y"].to_numpy(copy=True)  # kernels know arrays that can be written to
    classes = np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(y)).astype(float)
    for response, family in ((y, None), (classes, multinomial(3)), (counts, POISSON)):
        here = dataclasses.replace(problem, y=response, family=family or problem.family)
        steps = MRMR(scheme=scheme).path(Task(here, row_weights(weight), max_size=6, seed=2))
        assert [step.size for step in steps] == list(range(7))
        first, two = (set(names[steps[size].selected]) for size in (1, 2))
        assert first < {"a", "near"}
        assert two == first | {"site"}
        tunings = [step.tuning for step in steps]
        assert tunings == sorted(tunings, reverse=True)


def test_a_threshold_ends_the_path(linear):
    problem, weight = problem_of(linear)
    steps = MRMR().path(Task(problem, row_weights(weight), max_size=6, seed=2))
    for step in steps[1:3]:
        (one,) = MRMR(threshold=step.tuning).path(
            Task(problem, row_weights(weight), max_size=6, seed=2)
        )
        np.testing.assert_array_equal(one.selected, step.selected)


def test_copies_share_places_across_seeds_and_kept_units_are_in(linear):
    problem, weight = problem_of(linear.assign(near=linear["a"]))
    names = np.array(problem.groups.names)
    found = set()
    for seed in range(10):
        found |= set(
            names[
                MRMR().path(Task(problem, row_weights(weight), max_size=1, seed=seed))[1].selected
            ]
        )
    assert found == {"a", "near"}
    kept, weight = problem_of(linear, keep=["n0"])
    steps = MRMR().path(Task(kept, row_weights(weight), max_size=3, seed=2))
    assert [step.size for step in steps] == [1, 2, 3]
    assert all(step.selected[kept.groups.keep].all() for step in steps)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"threshold": "low"}, "`threshold` of MRMR must be .* or None"),
        ({"scheme": "ratio"}, "'difference' or 'quotient'"),
        ({"n_bins": 1}, "`n_bins` .* from 2 to 100"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        MRMR(**options)
