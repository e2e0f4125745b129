"""Rows that belong together are drawn and held out together, by all methods.

Forty sites with an effect each, one true variable, and noise that tells sites apart: on rows of
sites that are known it predicts, on others it does not.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import TimeSeriesSplit

import treeselect
from treeselect.algorithms.forests.elimination import out_of_bag_error
from treeselect.algorithms.forests.ranking import with_shadows
from treeselect.algorithms.search.judging import Judge
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
from treeselect.errors import OptionError
from treeselect.models.boosting import hold_rows_out
from treeselect.resampling.folds import split_rows

N_SITES, SIZE = 40, 9
SITE = np.repeat(np.arange(N_SITES), SIZE)
COPIES = 1 + np.arange(len(SITE)) % 3
OF_COPIES = np.repeat(SITE, COPIES)
"""Weights of a task, 2 * SIZE in each site, and the sites of the copies."""


def draw(seed=4):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({f"z{j}": rng.normal(size=N_SITES)[SITE] for j in range(4)})
    data["x"] = rng.normal(size=len(SITE))
    level = 1.5 * rng.normal(size=N_SITES)
    return data.assign(
        y=data["x"] + level[SITE] + rng.normal(size=len(SITE)), site=[f"s{i}" for i in SITE]
    )


@pytest.fixture(scope="module")
def sites():
    return draw()


def select(data, groups="site", **options):
    arguments = {"k": 1, "seed": 1, "progress": False} | options
    return treeselect.select("y ~ . - site", data, fold_groups=groups, **arguments)


# --- what was wrong ----------------------------------------------------------------------------


def test_noise_is_not_kept_by_the_backward_pass(sites):
    every = {"k": None, "method": "rrf", "lam": 1.0, "n_trees": 20, "prune": True}
    assert len(select(sites, None, **every).selected) > 2
    assert select(sites, **every).selected == ("x",)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "exchange"},
        {"method": "controlburn", "forests": 2},
        {"method": "gbfs"},
        {"method": "importance", "kind": "unbiased", "n_trees": 100},
        {"method": "varselrf", "n_trees": 60},
    ],
    ids=lambda options: options["method"],
)
def test_the_true_variable_comes_first(sites, options):
    assert select(sites, **options).selected == ("x",)


def test_boosting_ends_where_it_no_longer_helps_other_sites(sites):
    fit = select(sites, method="mrmr", k=5)
    rounds = fit.refit("boosting").model.fitted.trees.n_trees
    assert (
        rounds
        < select(sites, None, method="mrmr", k=5).refit("boosting").model.fitted.trees.n_trees
    )


def test_the_forest_that_predicts_is_cut_for_other_sites(sites):
    """It knows no more of noise than it can tell new sites."""
    new = draw().assign(**{f"z{j}": draw(9)[f"z{j}"] for j in range(4)})
    apart, together = (select(sites, groups, method="mrmr", k=5) for groups in (None, "site"))
    error = [float(np.mean((fit.predict(new) - new["x"]) ** 2)) for fit in (apart, together)]
    assert error[1] < error[0]


# --- the same answer -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"method": "exchange"},
        {"method": "controlburn", "forests": 1},
        {"method": "gbfs", "max_depth": 2, "prune": False, "n_trees": 40},
        {"method": "rrf", "n_trees": 20},
        {"method": "varselrf", "n_trees": 20},
        {"method": "boruta", "n_trees": 20, "max_rounds": 9, "kind": "permutation"},
    ],
    ids=lambda options: options["method"],
)
def test_groups_of_single_rows_are_no_groups(sites, options):
    own = np.random.default_rng(3).permutation(len(sites))
    plain, alone = (select(sites, g, k=2, **options) for g in (None, own))
    for ours, theirs in zip(plain.search.steps, alone.search.steps, strict=True):
        np.testing.assert_array_equal(ours.selected, theirs.selected)
        np.testing.assert_array_equal(ours.importance, theirs.importance)
    np.testing.assert_array_equal(plain.predict(sites), alone.predict(sites))


def test_names_of_groups_order_of_columns_and_threads_have_no_influence(sites):
    options = {"method": "exchange", "k": 3, "n_trees": 20, "keep": ["z1"]}
    one = select(sites, **options)
    other = select(sites[sites.columns[::-1]], -SITE, n_jobs=2, **options)
    assert one.selected == other.selected
    np.testing.assert_array_equal(one.predict(sites), other.predict(sites))


def test_models_from_files_keep_groups_together(sites, tmp_path):
    fit = select(sites, method="mrmr", k=3)
    expected = fit.refit("forest").predict(sites)
    np.testing.assert_array_equal(expected, fit.predict(sites))
    whole = treeselect.load(fit.save(tmp_path / "whole", include_data=True))
    np.testing.assert_array_equal(whole.refit("forest").predict(sites), expected)
    bare = treeselect.load(fit.save(tmp_path / "bare"))
    np.testing.assert_array_equal(bare.with_data(sites).refit("forest").predict(sites), expected)
    with pytest.raises(OptionError, match="can't be done without the `fold_groups`"):
        bare.with_data(sites.drop(columns="site")).refit("forest")


def test_groups_must_be_known_also_where_no_folds_are_made(sites):
    with pytest.raises(OptionError, match="1 row in which it is missing"):
        select(sites, sites["site"].where(sites.index > 0), method="mrmr")


# --- the parts -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def task(sites):
    fit = select(sites, method="mrmr", weights=COPIES)
    return Task(fit.data.design.problem, fit.data.design.row_weights, max_size=5, seed=1)


def test_standard_errors_are_those_of_sums_over_groups(task):
    judge, none = Judge(task, 20, "judge"), np.zeros(5, dtype=bool)
    one = none.copy()
    one[-1] = True
    rise, spread = judge.rise(none, one)
    difference = judge.errors(one) - judge.errors(none)
    weight = task.weight / task.weight.sum()
    assert rise == pytest.approx(weight @ difference)
    sums = [(weight * (difference - rise))[site == OF_COPIES].sum() for site in range(N_SITES)]
    assert spread == pytest.approx(np.sqrt(np.square(sums).sum()))
    left = np.arange(len(OF_COPIES)) % 17 / 9
    error, standard_error = out_of_bag_error(task.problem, task.weights, task.problem.y - left)
    sums = [(weight * (left**2 - error))[site == OF_COPIES].sum() for site in range(N_SITES)]
    assert standard_error == pytest.approx(np.sqrt(np.square(sums).sum()))


@pytest.mark.parametrize("classes", [False, True])
def test_whole_groups_are_held_out(task, classes):
    problem = task.problem
    if classes:
        rare = (SITE < 3) & (np.arange(len(SITE)) % 2 == 0)
        data = draw().assign(y=rare)
        problem = select(data, method="mrmr", weights=COPIES).data.design.problem
    train, held_out = hold_rows_out(problem, task.weights, seed=4)
    sites = np.unique(OF_COPIES[held_out])
    assert len(held_out) == 2 * SIZE * len(sites)
    assert 7 <= len(sites) <= 9
    assert (train[held_out] == 0).all()
    assert (np.delete(train, held_out) == np.delete(task.weight, held_out)).all()
    if classes:
        assert (sites < 3).sum() == 1


def test_shadows_tell_groups_apart_as_their_units_do(task):
    codes = with_shadows(task.problem, task.weights, 3).data.codes
    names = task.problem.groups.names
    for g, name in enumerate(names):
        for column in (codes[g], codes[len(names) + g]):
            alike = [len(np.unique(column[site == OF_COPIES])) == 1 for site in range(N_SITES)]
            assert all(alike) == (name != "x")
        assert sorted(codes[g]) == sorted(codes[len(names) + g])
        assert (codes[g] != codes[len(names) + g]).any()


def test_all_rows_of_one_group_are_rows(task):
    part = task.weights.of(np.arange(2 * SIZE))
    assert part.groups is not None
    assert part.blocks is None
    assert part.n_units == 2 * SIZE
    assert task.weights.n_units == N_SITES


def test_blocks_of_a_series_are_not_cut_in_two(sites):
    """Training rows of a block that is held out in part are left out."""
    block = np.arange(len(sites)) // 7
    fit = treeselect.select(
        "y ~ x + z1", sites, method="mrmr", k="best", folds=TimeSeriesSplit(4), fold_groups=block,
        seed=1, progress=False,
    )  # fmt: skip
    assert fit.search.scores.scores.shape[0] == 4
    rows = row_weights(np.ones(len(sites), dtype=np.int64))
    folds, problem = fit._fit.choice.folds, fit.data.design.problem
    plain = split_rows(problem, rows, folds, 1)
    for cut, whole in zip(split_rows(problem, rows.in_groups(block), folds, 1), plain, strict=True):
        np.testing.assert_array_equal(cut.test, whole.test)
        gone = np.setdiff1d(whole.train, cut.train)
        assert (block[gone] == block[cut.test[0]]).all()
        assert block[cut.train].max() < block[cut.test].min()
    folds = dataclasses.replace(folds, folds=np.arange(len(sites)) % 2)
    with pytest.raises(OptionError, match="must not divide the clusters"):
        split_rows(problem, rows.in_groups(block), folds, 1)
