"""Random small data for the engine's tests."""

import numba
import numpy as np
from hypothesis import strategies as st
from naive import Rows, Stream, mean_rows

from treeselect.engine.columns import MAX_BINS, OTHER, BinnedData, bin_columns, bin_edges
from treeselect.engine.forest.bagging import ALL_ROWS, Forest, bagged_forest
from treeselect.engine.tree.nodes import Nodes
from treeselect.engine.tree.target import (
    MEAN,
    NEWTON,
    VECTOR,
    Target,
    class_target,
    mean_target,
    newton_target,
    vector_target,
)
from treeselect.engine.tree.workspace import UNBOUNDED, Growth

EVERYTHING = 1_000
FULL = Growth(UNBOUNDED, 1, EVERYTHING, 0.0)
"""Trees that grow as far as they can."""


def from_python(kernel):
    """A kernel that only kernels call, for Python to call."""
    return numba.njit(error_model="numpy")(kernel.py_func)


def assert_same(one, other):
    """Arrays that are equal, one by one: nodes of trees, for example."""
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def binned(x, groups=None, max_bins=MAX_BINS) -> BinnedData:
    """Numbers, shape (n_rows, n_columns), each a group of its own unless groups are given."""
    columns = [np.ascontiguousarray(column) for column in np.asarray(x).T]
    edges = [bin_edges(column, max_bins) for column in columns]
    own = np.arange(len(columns)) if groups is None else np.asarray(groups)
    return bin_columns(columns, edges, [0] * len(columns), own)


def make_data(columns, factors, groups) -> BinnedData:
    """Binned data whose codes are the given small integers; 0 is missing."""
    data = bin_columns(
        [np.asarray(c, dtype=np.uint8 if max(c, default=0) < 256 else np.uint16) for c in columns],
        [None] * len(columns), [int(max(c, default=0)) for c in columns], np.asarray(groups),
    )  # fmt: skip
    return data._replace(is_factor=np.asarray(factors, dtype=np.bool_))


@st.composite
def problems(draw, max_rows=120):
    """Data, integer gradients and weights; with missing values, factors, groups and copies."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, max_rows))
    n_columns = draw(st.integers(1, 11))
    columns = []
    for j in range(n_columns):
        if j and rng.random() < 0.25:
            columns.append(columns[int(rng.integers(j))].copy())  # an exact copy ties
        else:
            n_codes = int(rng.choice([1, 2, 3, 8, 200, 5000]))
            columns.append(rng.integers(int(rng.random() < 0.6), n_codes + 1, size=n))
    factors = rng.random(n_columns) < 0.4
    narrow = np.array([max(c) < 256 for c in columns])
    for j in np.flatnonzero(factors & narrow & (rng.random(n_columns) < 0.3)):
        columns[j] = np.where(rng.random(n) < 0.3, OTHER, columns[j])
    groups = np.sort(rng.integers(0, n_columns, size=n_columns))
    groups = np.unique(groups, return_inverse=True)[1]
    gradient = rng.integers(-4, 5, size=n)
    weight = rng.integers(0, 4, size=n)
    weight[int(rng.integers(n))] = 1
    return make_data(columns, factors, groups), gradient, weight, rng


def both_targets(kind, gradient, weight, rng) -> tuple[Target, Rows]:
    """A target of any kind, and the same for the naive twin."""
    if kind == MEAN:
        return mean_target(gradient.astype(float)), mean_rows(gradient, weight)
    n = len(gradient)
    if kind == NEWTON:
        curvature = rng.integers(0, 4, size=n)
        curvature[np.argmax(weight)] = 1
        target = newton_target(gradient.astype(float), curvature.astype(float))
        zero = np.zeros(n, dtype=np.int64)
        return target, Rows(kind, gradient * weight, curvature * weight, zero, weight)
    n_classes = int(rng.integers(2, 6))
    if kind == VECTOR:
        several = rng.integers(-4, 5, size=(n, n_classes))
        zero = np.zeros(n, dtype=np.int64)
        rows = Rows(kind, several * weight[:, np.newaxis], zero, zero, weight, n_classes)
        return vector_target(several.astype(float)), rows
    label = rng.integers(0, n_classes, size=n)
    target = class_target(label, n_classes)._replace(kind=kind)
    return target, Rows(kind, weight, np.zeros(n, dtype=np.int64), label, weight, n_classes)


def grow_forest(
    data, target, weight=None, growth=FULL, n_trees=1, sampling=ALL_ROWS, *, seed=1, rank=None,
    **options,
) -> Forest:  # fmt: skip
    """A forest; all rows count once, ties are won in the order of the groups."""
    return bagged_forest(
        data, target, np.ones(data.n_rows, dtype=np.int64) if weight is None else weight,
        n_trees=n_trees, growth=growth, sampling=sampling, seed=seed,
        rank=np.arange(data.n_groups) if rank is None else rank, **options,
    )  # fmt: skip


def grow_target(
    data, target, weight, growth, penalty=None, is_open=None, rank=None, seed=0
) -> Nodes:
    """One tree on all rows, as the ensembles grow it."""
    return grow_forest(
        data, target, weight, growth, seed=seed, rank=rank, penalty=penalty, is_open=is_open,
        shared=True,
    ).trees.nodes  # fmt: skip


def grow_fast(data, gradient, weight, growth, penalty=None, is_open=None, rank=None) -> Nodes:
    """One tree on integer gradients."""
    target = mean_target(gradient.astype(float))
    return grow_target(data, target, weight, growth, penalty, is_open, rank)


def bag_of(seed, weight, sampling):
    """The naive twin of drawing a bag: whole groups, of single rows if there are none."""
    if sampling.groups is not None and len(set(sampling.groups[weight > 0])) > 1:
        groups = np.where(weight > 0, sampling.groups, -1)
        names = list(dict.fromkeys(groups[weight > 0].tolist()))
        drawn = bag_of(seed, np.ones(len(names)), sampling._replace(groups=None))
        return sum(n * (groups == name) for n, name in zip(drawn, names, strict=True))
    stream, rows = Stream(int(seed)), np.flatnonzero(weight)
    size = max(round(sampling.share * len(rows)), 1)
    counts = np.zeros(len(weight), dtype=np.int64)
    if sampling.replace:
        for _ in range(size):
            counts[rows[stream.below(len(rows))]] += 1
        return counts
    for r in range(size):
        other = r + stream.below(len(rows) - r)
        rows[r], rows[other] = rows[other], rows[r]
        counts[rows[r]] = 1
    return counts
