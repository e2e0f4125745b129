"""FCBF against the pseudo-code of its paper, known truth, early ends, and what options mean."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import FCBF
from treeselect.algorithms.filters import predominant
from treeselect.algorithms.information import Uncertainties, uncertainties
from treeselect.algorithms.task import Task
from treeselect.designs.families import POISSON, multinomial
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError


@pytest.fixture(scope="module")
def linear():
    """`a` and the factor `site` matter; `near` repeats `a`; three are noise."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(500, 4)), columns=["a", "n0", "n1", "n2"])
    data["near"] = data["a"] + 0.2 * rng.normal(size=500)
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=500)
    data["y"] = 2 * data["a"] + 3 * (data["site"] == "York") + 0.5 * rng.normal(size=500)
    return data


def problem_of(data, **arguments):
    k = max(1, len(arguments.get("keep", ())))
    fit = treeselect.select("y ~ .", data, method="fcbf", seed=1, k=k, **arguments)
    return fit.data.design.problem_for(fit.search.method), fit.data.design.weight


def listing(relevance, pairs, delta):
    """The algorithm as the paper lists it, line by line."""
    listed = [i for i in range(len(relevance)) if relevance[i] >= delta]
    listed.sort(key=lambda i: -relevance[i])
    first = listed[0] if listed else None
    while first is not None:
        following = [j for j in listed if listed.index(j) > listed.index(first)]
        for other in following:
            if pairs[first, other] >= relevance[other]:
                listed.remove(other)
        after = [j for j in listed if listed.index(j) > listed.index(first)]
        first = after[0] if after else None
    return listed


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_listing_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 25)) + rng.normal(size=(300, 25))
    response = np.searchsorted([-1, 1], x[:, 0] + x[:, 5] + rng.normal(size=300))
    cells = [np.searchsorted([-2, -0.5, 0.5, 2], column) for column in x.T]
    units = Uncertainties(cells, response, np.ones(300))
    relevance = units.relevance()
    pairs = np.array([units.between(i, np.arange(25)) for i in range(25)])
    nothing = np.zeros(25, dtype=bool)
    for delta in (1e-9, 0.03):
        wanted = listing(relevance, pairs, delta)
        ranking = np.argsort(-relevance, kind="stable")
        ranking = ranking[relevance[ranking] >= delta]
        assert predominant(units, relevance, ranking, nothing, 25).tolist() == wanted
        assert predominant(units, relevance, ranking, nothing, 2).tolist() == wanted[:2]


def test_what_repeats_goes_and_signal_comes_before_noise(linear):
    problem, weight = problem_of(linear)
    names = np.array(problem.groups.names)
    y = linear["y"].to_numpy(copy=True)  # kernels know arrays that can be written to
    classes = np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(y / 2)).astype(float)
    for response, family in ((y, None), (classes, multinomial(3)), (counts, POISSON)):
        here = dataclasses.replace(problem, y=response, family=family or problem.family)
        steps = FCBF().path(Task(here, row_weights(weight), max_size=6, seed=2))
        assert [step.size for step in steps] == list(range(len(steps)))
        assert set(names[steps[2].selected]) == {"a", "site"}
        assert not any("near" in names[step.selected] for step in steps)
        tunings = [step.tuning for step in steps]
        assert tunings == sorted(tunings, reverse=True)
        relevance = uncertainties(here, row_weights(weight), 10).relevance()
        for step in steps[1:]:
            assert step.tuning == relevance[step.selected].min()
            (one,) = FCBF(delta=step.tuning).path(
                Task(here, row_weights(weight), max_size=6, seed=2)
            )
            np.testing.assert_array_equal(one.selected, step.selected)


def test_the_summary_says_where_the_path_ends(linear):
    fit = treeselect.select("y ~ a + near + site", linear, method="fcbf", k=3, seed=1)
    assert fit.k == 2
    said = " ".join(fit.summary().as_text().split())
    assert "enter the path: by symmetrical uncertainty, the others are irrelevant" in said


def test_of_copies_one_is_left_and_kept_units_let_weaker_ones_go(linear):
    problem, weight = problem_of(linear.assign(near=linear["a"]))
    names = np.array(problem.groups.names)
    found = set()
    for seed in range(10):
        steps = FCBF().path(Task(problem, row_weights(weight), max_size=6, seed=seed))
        assert steps[-1].selected[np.isin(names, ["a", "near"])].sum() == 1
        found |= set(names[steps[-1].selected]) & {"a", "near"}
    assert found == {"a", "near"}
    for keep, others in ((["near", "n0"], {"a", "site"}), (["a", "n0"], {"site"})):
        kept, weight = problem_of(linear, keep=keep)
        steps = FCBF().path(Task(kept, row_weights(weight), max_size=6, seed=2))
        assert steps[0].size == 2
        assert all(step.selected[kept.groups.keep].all() for step in steps)
        came = set(names[steps[-1].selected]) - set(keep)
        assert others <= came
        assert "near" not in came


def test_whole_weights_are_copies_of_rows(linear):
    """The design's bins, which look at distinct rows, tell all values apart here."""
    rounded = linear.round({"a": 0, "near": 0, "n0": 0, "n1": 0, "n2": 0, "y": 1})
    weight = np.random.default_rng(3).integers(0, 4, size=len(rounded))
    copied = rounded.loc[np.repeat(rounded.index, weight)].reset_index(drop=True)
    one = treeselect.select("y ~ .", rounded, method="fcbf", delta=0.0, seed=1, weights=weight)
    other = treeselect.select("y ~ .", copied, method="fcbf", delta=0.0, seed=1)
    np.testing.assert_array_equal(one.search.step.selected, other.search.step.selected)
    np.testing.assert_allclose(one.search.step.importance, other.search.step.importance, atol=1e-10)


def test_thousands_of_columns():
    """Pairs are looked at as they are needed: 3000 units have more than four million."""
    rng = np.random.default_rng(2)
    x = rng.integers(4, size=(100, 3000))
    units = Uncertainties(list(x.T), (x[:, 7] + x[:, 11] > 3).astype(int), np.ones(100))
    looked_at = []
    between = units.between
    units.between = lambda unit, others: looked_at.append(len(others)) or between(unit, others)
    relevance = units.relevance()
    ranking = np.argsort(-relevance, kind="stable")
    found = predominant(units, relevance, ranking[relevance[ranking] > 0], x[0] < 0, 10)
    assert set(found[:2]) == {7, 11}
    assert sum(looked_at) < 10 * 3000


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"delta": -0.1}, "`delta` of FCBF must be .* at least 0 and at most 1, or None"),
        ({"n_bins": 1}, "`n_bins` .* from 2 to 100"),
        ({"prune": None}, "`prune` of FCBF must be True or False"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        FCBF(**options)
