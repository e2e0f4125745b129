"""The merit by hand, the search against all subsets, known truth, and what options mean."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import CFS
from treeselect.algorithms.filters import MeritSearch
from treeselect.algorithms.information import Uncertainties, uncertainties
from treeselect.algorithms.task import Task
from treeselect.designs.families import POISSON, multinomial
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError


@pytest.fixture(scope="module")
def linear():
    """`a` and the factor `site` matter alike; `near` repeats `a`; three are noise."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(500, 4)), columns=["a", "n0", "n1", "n2"])
    data["near"] = data["a"] + 0.05 * rng.normal(size=500)
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=500)
    data["y"] = data["a"] + 3 * (data["site"] == "York") + 0.5 * rng.normal(size=500)
    return data


def problem_of(data, **arguments):
    k = max(1, len(arguments.get("keep", ())))
    fit = treeselect.select("y ~ .", data, method="cfs", seed=1, k=k, **arguments)
    return fit.data.design.problem_for(fit.search.method), fit.data.design.weight


def tables(problem, weight):
    """Symmetrical uncertainty of each unit with the response, and of each pair."""
    units = uncertainties(problem, row_weights(weight), 10)
    n = len(problem.groups.names)
    return units.relevance(), np.array([units.between(i, np.arange(n)) for i in range(n)])


def merit(units, relevance, pairs):
    """Eq. 1 of the paper, as it stands there."""
    k = len(units)
    mean_response = np.mean([relevance[i] for i in units])
    mean_pairs = np.mean([pairs[i, j] for i, j in itertools.permutations(units, 2)] or [0.0])
    return k * mean_response / np.sqrt(k + k * (k - 1) * mean_pairs)


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_the_best_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(150, 7)), columns=list("abcdefg"))
    data["b"] += data["a"]
    data["y"] = data["a"] + data["b"] + data["c"] - data["d"] + rng.normal(size=150)
    problem, weight = problem_of(data)
    relevance, pairs = tables(problem, weight)
    search = MeritSearch(uncertainties(problem, row_weights(weight), 10), problem.groups, seed, 0.0)
    subsets = [s for k in range(1, 8) for s in itertools.combinations(range(7), k)]
    best = max(subsets, key=lambda s: merit(s, relevance, pairs))
    assert search.best().units == best
    assert search.best().merit == pytest.approx(merit(best, relevance, pairs), abs=1e-10)
    found = search.of_each_size(7)
    assert [len(one.units) for one in found] == list(range(8))
    for one in found[1:]:
        assert one.merit == pytest.approx(merit(one.units, relevance, pairs), abs=1e-10)
        of_size = [s for s in subsets if len(s) == len(one.units)]
        assert one.merit >= 0.97 * max(merit(s, relevance, pairs) for s in of_size)


def test_the_search_looks_past_the_best_unit():
    """`c` is the best alone, `a` and `b` are the best two: from `c` on there is nothing better."""
    a, b, noise = np.random.default_rng(1).integers(2, size=(3, 400))
    response = 2 * a + b
    c = np.where(np.random.default_rng(2).random(400) < 0.9, response, 3 - response)
    units = Uncertainties([a, b, c, noise], response, np.ones(400))
    fit = treeselect.select(
        "y ~ .", pd.DataFrame({**dict.fromkeys("abcd", noise * 1.0), "y": noise * 1.0}),
        method="cfs", k=1, seed=1,
    )  # fmt: skip
    search = MeritSearch(units, fit.data.design.problem.groups, 1, 0.0)
    assert [one.units for one in search.of_each_size(2)][1:] == [(2,), (0, 1)]
    assert search.relevance.argmax() == 2


def test_what_repeats_waits_and_signal_comes_before_it(linear):
    problem, weight = problem_of(linear)
    names = np.array(problem.groups.names)
    y = linear["y"].to_numpy(copy=True)  # kernels know arrays that can be written to
    classes = np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(y)).astype(float)
    for response, family in ((y, None), (classes, multinomial(3)), (counts, POISSON)):
        here = dataclasses.replace(problem, y=response, family=family or problem.family)
        steps = CFS().path(Task(here, row_weights(weight), max_size=6, seed=2))
        assert [step.size for step in steps] == list(range(7))
        two = set(names[steps[2].selected])
        assert two in ({"a", "site"}, {"near", "site"})
        assert set(names[steps[3].selected]) == {"a", "near", "site"}
        tunings = [step.tuning for step in steps]
        assert tunings == sorted(tunings, reverse=True)


def test_a_gain_takes_the_set_of_the_path_that_is_worth_it(linear):
    problem, weight = problem_of(linear)
    relevance, pairs = tables(problem, weight)
    steps = CFS().path(Task(problem, row_weights(weight), max_size=6, seed=2))
    merits = [0.0] + [merit(np.flatnonzero(s.selected), relevance, pairs) for s in steps[1:]]
    chosen = []
    for gain in (1.0, 0.1, 0.0, -0.02, -1.0):
        (one,) = CFS(gain=gain).path(Task(problem, row_weights(weight), max_size=6, seed=2))
        best = int(np.argmax(np.array(merits) - gain * np.arange(7)))
        np.testing.assert_array_equal(one.selected, steps[best].selected)
        chosen.append(one.size)
    assert chosen[0] == 0
    assert chosen[-1] == 6
    assert chosen == sorted(chosen)


def test_copies_share_places_across_seeds_and_kept_units_are_in(linear):
    problem, weight = problem_of(linear.drop(columns="site").assign(near=linear["a"]))
    names = np.array(problem.groups.names)
    found = set()
    for seed in range(10):
        found |= set(
            names[CFS().path(Task(problem, row_weights(weight), max_size=1, seed=seed))[1].selected]
        )
    assert found == {"a", "near"}
    kept, weight = problem_of(linear, keep=["n0", "n1"])
    steps = CFS().path(Task(kept, row_weights(weight), max_size=4, seed=2))
    assert [step.size for step in steps] == [2, 3, 4]
    assert all(step.selected[kept.groups.keep].all() for step in steps)


def test_whole_weights_are_copies_of_rows(linear):
    """The design's bins, which look at distinct rows, tell all values apart here."""
    rounded = linear.round({"a": 0, "near": 0, "n0": 0, "n1": 0, "n2": 0, "y": 1})
    weight = np.random.default_rng(3).integers(0, 4, size=len(rounded))
    copied = rounded.loc[np.repeat(rounded.index, weight)].reset_index(drop=True)
    one = treeselect.select("y ~ .", rounded, method="cfs", k=3, seed=1, weights=weight)
    other = treeselect.select("y ~ .", copied, method="cfs", k=3, seed=1)
    np.testing.assert_array_equal(one.search.step.selected, other.search.step.selected)
    np.testing.assert_allclose(
        [s.tuning for s in one.search.steps], [s.tuning for s in other.search.steps], atol=1e-10
    )
    np.testing.assert_allclose(one.search.step.importance, other.search.step.importance, atol=1e-10)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"gain": "low"}, "`gain` of CFS must be .* or None"),
        ({"n_bins": 1}, "`n_bins` .* from 2 to 100"),
        ({"prune": None}, "`prune` of CFS must be True or False"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        CFS(**options)
