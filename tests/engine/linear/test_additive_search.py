"""Searches for sets that an additive model fits best, against all sets of a size."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.linear.additive import AdditiveColumns
from treeselect.engine.linear.additive_search import (
    AdditiveSearch,
    counted_error,
    folds_of_clusters,
)


def columns_of(x):
    """Additive columns of some numbers, shape (n_rows, n_columns)."""
    values = list(x.T)
    edges = [bin_edges(column) for column in values]
    data = bin_columns(values, edges, [0] * len(values), np.arange(len(values)))
    return AdditiveColumns(data, np.ones(len(x), dtype=np.int64))


def search_of(x, y, fixed=(), candidates=None, clusters=None):
    fixed = np.isin(np.arange(x.shape[1]), fixed)
    candidates = np.arange(x.shape[1]) if candidates is None else np.asarray(candidates)
    folds = None if clusters is None else folds_of_clusters(clusters)
    return AdditiveSearch(columns_of(x), y[:, np.newaxis], fixed, candidates, folds)


def members(selected):
    return np.flatnonzero(selected).tolist()


def test_the_error_is_that_of_generalised_cross_validation():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 3))
    y = x[:, 0] + rng.standard_normal(80)
    columns = columns_of(x)
    values, penalty, _ = columns.groups([0, 2])

    def error(ridge):
        hat = values.T @ np.linalg.solve(values @ values.T + ridge * np.diag(penalty), values)
        hat += 1 / 80
        return ((y - hat @ y) ** 2).sum() / (80 - 3 * np.trace(hat)) ** 2

    expected = min(error(ridge) for ridge in (1.0, 10.0, 100.0, 1000.0))
    assert counted_error(columns, [0, 2], y[:, np.newaxis], 3.0) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_of_all_sets_is_found(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((150, 9))
    y = x[:, 0] + x[:, 1] ** 2 + 0.5 * x[:, 2] + 0.5 * rng.standard_normal(150)
    search = search_of(x, y)
    for size in (1, 2, 3, 4):
        sets = [np.isin(np.arange(9), one) for one in itertools.combinations(range(9), size)]
        best = min(sets, key=search.error)
        assert members(search.best_of_size(size)) == members(best)


def test_an_exchange_replaces_what_entered_first():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((300, 6))
    y = x[:, 0] + x[:, 1]
    x[:, 4] = y + 0.6 * rng.standard_normal(300)  # alone better than either
    search = search_of(x, y + 0.3 * rng.standard_normal(300))
    assert members(search.best_of_size(1)) == [4]
    assert members(search.best_of_size(2)) == [0, 1]


def test_fixed_groups_stay_and_only_candidates_enter():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((200, 5))
    y = x[:, 0] + x[:, 1] + 0.5 * rng.standard_normal(200)
    search = search_of(x, y, fixed=[4], candidates=[4, 1, 2, 3])
    assert members(search.best_of_size(2)) == [1, 4]
    assert search.best_of_size(5) is None  # there are four


def test_constant_groups_never_enter():
    rng = np.random.default_rng(6)
    x = np.column_stack([np.ones(100), rng.standard_normal(100)])
    search = search_of(x, x[:, 1] + rng.standard_normal(100), fixed=[0])
    assert members(search.best_of_size(2)) == [0, 1]
    assert search_of(x, x[:, 1], candidates=[0]).best_of_size(1) is None


def test_what_explains_nothing_is_no_set():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((400, 5))
    search = search_of(x, np.sign(x[:, 0] * x[:, 1]))
    assert search.best_of_size(2) is None


def test_column_order_does_not_matter():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((120, 12))
    y = x[:, :4] @ [1, 0.5, 0.3, 0.2] + rng.standard_normal(120)
    order = rng.permutation(12)
    place = np.argsort(order)
    for size in (2, 5):
        first = search_of(x, y).best_of_size(size)
        second = search_of(x[:, order], y, candidates=place).best_of_size(size)
        assert sorted(order[members(second)].tolist()) == members(first)


def test_what_only_tells_clusters_apart_is_not_found():
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(12), 20)
    level = rng.standard_normal(12)
    x = rng.standard_normal((240, 4))
    x[:, 3] = rng.standard_normal(12)[clusters]  # differs between clusters only
    y = 0.3 * x[:, 0] + level[clusters] + 0.3 * rng.standard_normal(240)
    assert members(search_of(x, y).best_of_size(1)) == [3]
    assert members(search_of(x, y, clusters=clusters).best_of_size(1)) == [0]
