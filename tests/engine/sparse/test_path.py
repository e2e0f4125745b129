"""The best subset against all subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.engine.losses import LogisticLoss, SquaredLoss
from treeselect.engine.sparse.forest import sparse_forest
from treeselect.engine.sparse.path import SubsetValues, best_subset
from treeselect.engine.sparse.weights import TreeColumns

N_GROUPS = 6


def problem(loss, seed, ridge, scale=1.0):
    rng = np.random.default_rng(seed)
    n_rows, n_trees = 80, 15
    X = rng.normal(size=(n_rows, N_GROUPS))
    uses = np.zeros((n_trees, N_GROUPS), dtype=bool)
    leaves, values = [], []
    for t in range(n_trees):
        pair = rng.choice(N_GROUPS, size=int(rng.integers(1, 3)), replace=False)
        uses[t, pair] = True
        leaves.append(((X[:, pair] > 0) @ (2 ** np.arange(len(pair)))).astype(np.uint8))
        unit = scale if loss.is_squared else 1.0
        values.append(unit * rng.normal(size=2 ** len(pair)))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n_rows)
    y = scale * signal if loss.is_squared else (signal > 0).astype(float)
    base = np.full(n_rows, loss.constant(y, np.ones(n_rows)))
    columns = TreeColumns(leaves, values, np.arange(n_rows))
    prices = uses.sum(axis=1).astype(float)
    ridge *= scale**2 if loss.is_squared else 1.0
    return sparse_forest(columns, loss, y, np.ones(n_rows), base, prices, ridge=ridge), uses


def value_of(forest, uses, groups):
    """Least objective with the trees that use no other groups."""
    outside = uses[:, ~groups].any(axis=1).astype(float)
    own = forest.with_prices(outside)
    return own.objective(own.empty()._replace(lam=0.0))


@given(
    loss=st.sampled_from([SquaredLoss(), LogisticLoss()]),
    seed=st.integers(0, 10_000),
    k=st.integers(1, 4),
    kept=st.booleans(),
    ridge=st.sampled_from([0.003, 0.1, 1.0]),
    scale=st.sampled_from([1e-4, 1.0, 1e4]),
)
@settings(deadline=None, derandomize=True, max_examples=60)
def test_no_other_set_is_better(loss, seed, k, kept, ridge, scale):
    forest, uses = problem(loss, seed, ridge, scale)
    keep = np.arange(N_GROUPS) == (5 if kept else -1)
    found = best_subset(SubsetValues(forest, uses), keep, k, [], time_limit=np.inf)
    sets = [np.isin(np.arange(N_GROUPS), s) for s in itertools.combinations(range(N_GROUPS), k)]
    best = min(value_of(forest, uses, s) for s in sets if s[keep].all())
    assert found.gap == 0.0
    assert found.groups[keep].all()
    assert found.groups.sum() <= k
    assert found.value == pytest.approx(best, rel=2e-4)
    assert found.value == pytest.approx(value_of(forest, uses, found.groups), rel=1e-12)
    assert found.bound <= best * (1 + 1e-9)


def test_without_time_the_best_start_comes_with_its_gap():
    forest, uses = problem(SquaredLoss(), 0, 0.01)
    none = np.zeros(N_GROUPS, dtype=bool)
    starts = [np.arange(N_GROUPS) < 2, np.arange(N_GROUPS) > 3]
    found = best_subset(SubsetValues(forest, uses), none, 2, starts[:1], time_limit=0.0)
    values = [value_of(forest, uses, s) for s in starts]
    assert found.value == values[0]
    least = value_of(forest, uses, ~none)
    assert found.gap == pytest.approx(1 - least / found.value)
    long = best_subset(SubsetValues(forest, uses), none, 2, starts, time_limit=np.inf)
    assert long.value <= min(values)
    assert long.gap == 0.0
    assert long.value <= found.value
