"""Shadow features: all that tells something is confirmed, and nothing else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import treeselect
from treeselect import Boruta
from treeselect.algorithms.boruta import adjusted, with_shadows
from treeselect.errors import MethodError
from treeselect.families import POISSON, multinomial

FEW = {"n_trees": 50, "max_rounds": 25}


@pytest.fixture(scope="module")
def linear():
    """A number with a copy and a factor matter, six columns are noise."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(400, 7)), columns=["a", *(f"n{j}" for j in range(6))])
    data["copy"] = data["a"]
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=400)
    data["y"] = 2 * data["a"] + 3 * (data["site"] == "York") + rng.normal(size=400)
    return data


def problem_of(data, **arguments):
    k = max(1, len(arguments.get("keep", ())))
    fit = treeselect.select(
        "y ~ .", data, method="boruta", seed=1, k=k, n_trees=2, max_rounds=1, **arguments
    )
    return fit.design.problem_for(fit.chosen_method), fit.design.weight


@pytest.mark.parametrize("kind", ["permutation", "unbiased", "mdi"])
@pytest.mark.parametrize("correction", ["bonferroni", "bh"])
def test_all_that_matters_is_confirmed_copies_too(linear, kind, correction):
    method = Boruta(level=0.01, kind=kind, correction=correction, **FEW)
    fit = treeselect.select("y ~ .", linear, method=method, seed=1)
    assert set(fit.selected) == {"a", "copy", "site"}


def test_every_family_and_an_offset(linear):
    problem, weight = problem_of(linear)
    names = np.array(problem.groups.names)
    y = linear["y"].to_numpy()
    classes = np.searchsorted(np.quantile(y, [0.3, 0.6]), y).astype(float)
    counts = np.random.default_rng(0).poisson(np.exp(y / 3)).astype(float)
    known = 2 * linear["a"].to_numpy()
    everything, rest = {"a", "copy", "site"}, {"site"}
    for response, family, offset, expected in (
        (classes, multinomial(3), None, everything),
        (counts, POISSON, None, everything),
        (y, problem.family, known, rest),
    ):
        here = dataclasses.replace(problem, y=response, family=family, offset=offset)
        (step,) = Boruta(level=0.01, **FEW).path(here, weight, max_size=9, seed=2)
        assert set(names[step.selected]) == expected


def test_of_noise_nothing_is_confirmed():
    confirmed = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data = pd.DataFrame(rng.normal(size=(150, 8)), columns=list("abcdefgh"))
        data["y"] = rng.normal(size=150)
        problem, weight = problem_of(data)
        method = Boruta(level=0.01, n_trees=30, max_rounds=20)
        confirmed += method.path(problem, weight, max_size=8, seed=seed)[-1].size
    assert confirmed <= 1


def test_the_path_goes_by_p_values_and_levels_cut_it(linear):
    problem, weight = problem_of(linear)
    names = np.array(problem.groups.names)
    steps = Boruta(**FEW).path(problem, weight, max_size=9, seed=2)
    assert [step.size for step in steps] == list(range(10))
    assert set(names[steps[3].selected]) == {"a", "copy", "site"}
    tunings = [step.tuning for step in steps[1:]]
    assert tunings == sorted(tunings)
    assert tunings[2] < 0.01 < tunings[3]


def test_shadows_are_shuffled_as_units_among_the_rows_with_weight(linear):
    groups = {"both": ["a", "site"]}
    problem, _ = problem_of(linear.drop(columns="copy"), groups=groups)
    weight = (np.arange(400) % 4 > 0).astype(np.int64)
    found = with_shadows(problem, weight, 5)
    n, p = len(problem.groups.names), len(problem.data.codes)
    assert found.data.n_groups == 2 * n
    np.testing.assert_array_equal(found.data.codes[:p], problem.data.codes)
    shadow = found.data.codes[p:]
    np.testing.assert_array_equal(shadow[:, weight == 0], problem.data.codes[:, weight == 0])
    own = problem.data.group_of == problem.groups.names.index("both")
    pairs, moved = problem.data.codes[own], shadow[own]
    assert (pairs != moved).any()
    inside = weight > 0
    assert sorted(map(tuple, pairs[:, inside].T)) == sorted(map(tuple, moved[:, inside].T))
    others = shadow[~own][:2]
    assert (np.argsort(others[0]) != np.argsort(others[1])).any()


def test_p_values_are_adjusted():
    p = binom.sf(np.array([9, 8, 5, 2]) - 1, 10, 0.5)
    np.testing.assert_allclose(adjusted(p, "bonferroni"), np.minimum(4 * p, 1))
    np.testing.assert_allclose(adjusted(p, "bh")[0], 4 * p[0])
    assert (adjusted(p, "bh") <= adjusted(p, "bonferroni")).all()


def test_kept_units_are_always_in(linear):
    problem, weight = problem_of(linear, keep=["n0"])
    steps = Boruta(**FEW).path(problem, weight, max_size=3, seed=2)
    assert [step.size for step in steps] == [1, 2, 3]
    assert all(step.selected[problem.groups.keep].all() for step in steps)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"level": 0.0}, "`level` of Boruta must be .* or None"),
        ({"max_rounds": 0}, "`max_rounds`"),
        ({"correction": "holm"}, "'bonferroni' or 'bh'"),
        ({"kind": "z"}, "'mdi'"),
    ],
)
def test_options_are_checked_when_built(options, says):
    with pytest.raises(MethodError, match=says):
        Boruta(**options)
