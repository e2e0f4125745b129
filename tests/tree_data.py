"""Random small data for the engine's tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from treeselect.engine.binning import OTHER, BinnedData, bin_columns
from treeselect.engine.growing import Nodes, empty_nodes, grow_tree, workspace
from treeselect.engine.moments import pack_moments
from treeselect.engine.penalty import no_penalty

SHIFT = 20
UNIT = 1.0


def make_data(columns, factors, groups) -> BinnedData:
    """Binned data whose codes are the given small integers; 0 is missing."""
    data = bin_columns(
        [np.asarray(c, dtype=np.uint8) for c in columns],
        [None] * len(columns),
        [int(max(c, default=0)) for c in columns],
        np.asarray(groups),
    )
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
            n_codes = int(rng.choice([1, 2, 3, 8, 200]))
            columns.append(rng.integers(int(rng.random() < 0.6), n_codes + 1, size=n))
    factors = rng.random(n_columns) < 0.4
    for j in np.flatnonzero(factors & (rng.random(n_columns) < 0.3)):
        columns[j] = np.where(rng.random(n) < 0.3, OTHER, columns[j])
    groups = np.sort(rng.integers(0, n_columns, size=n_columns))
    groups = np.unique(groups, return_inverse=True)[1]
    gradient = rng.integers(-4, 5, size=n)
    weight = rng.integers(0, 4, size=n)
    weight[int(rng.integers(n))] = 1
    return make_data(columns, factors, groups), gradient, weight, rng


def grow_fast(data, gradient, weight, growth, penalty=None, is_open=None, rank=None) -> Nodes:
    """The kernel, called as the ensembles call it, on integer gradients."""
    work = workspace(data.n_rows, data.n_groups)
    nodes = empty_nodes(2 * data.n_rows)
    n_in = pack_moments(
        gradient.astype(float), weight, np.ones_like(weight), SHIFT, UNIT, work.moments, work.rows
    )
    n_nodes = grow_tree(
        data,
        n_in,
        SHIFT,
        UNIT,
        growth,
        penalty or no_penalty(len(data.codes)),
        np.zeros(data.n_groups, dtype=np.bool_) if is_open is None else is_open,
        np.arange(data.n_groups) if rank is None else rank,
        np.zeros(1, dtype=np.uint64),
        work,
        nodes,
        0,
    )
    return Nodes(*(a[:n_nodes] for a in nodes))
