"""Grow one tree, depth first, on packed moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine._types import BoolArray, FloatArray, Int32Array, IntArray
from treeselect.engine.cache import kernel
from treeselect.engine.histograms import (
    SMALL_NODE,
    add_block,
    add_column,
    add_small_column,
    list_present,
)
from treeselect.engine.moments import moment_gradient, moment_weight
from treeselect.engine.penalty import penalised_gain
from treeselect.engine.random import random_below
from treeselect.engine.splitting import best_factor_split, best_number_split, partition

LEAF = -1
"""Column of a node that is not split."""


class Growth(NamedTuple):
    """How a tree may grow.

    Attributes
    ----------
    max_depth : int
        Greatest depth of a leaf, the root being 0.
    min_weight : int
        Least weight (rows, counting copies) of a leaf.
    n_candidates : int
        Groups tried at a node, drawn at random without replacement; all of them if this is at
        least their number. A group that is constant in the node uses up its place.
    min_gain : float
        A split must be worth more than this, in units of the gain (see ``penalty``).
    """

    max_depth: int
    min_weight: int
    n_candidates: int
    min_gain: float


class Nodes(NamedTuple):
    """Nodes of one or more trees, as parallel arrays of shape (n_nodes,).

    Children stand side by side: the right child of a node is ``left + 1``. Numbers of nodes are
    relative to the tree's first node. A leaf has column -1 and left 0.

    Attributes
    ----------
    column, code, missing_left, left
        The split (see ``splitting.goes_left``).
    value : float
        Weighted mean of the target over the rows of the node.
    gain : float
        Unpenalised gain of the split, 0 for a leaf.
    weight : int
        Weight of the node's rows.
    """

    column: Int32Array
    code: IntArray
    missing_left: BoolArray
    left: Int32Array
    value: FloatArray
    gain: FloatArray
    weight: IntArray


def empty_nodes(capacity: int) -> Nodes:
    """Room for `capacity` nodes. Zeroed, so that unused entries never differ between runs."""
    return Nodes(
        column=np.zeros(capacity, dtype=np.int32),
        code=np.zeros(capacity, dtype=np.int64),
        missing_left=np.zeros(capacity, dtype=np.bool_),
        left=np.zeros(capacity, dtype=np.int32),
        value=np.zeros(capacity),
        gain=np.zeros(capacity),
        weight=np.zeros(capacity, dtype=np.int64),
    )


class Workspace(NamedTuple):
    """Memory that one thread needs to grow trees, reused from tree to tree."""

    moments: IntArray
    rows: np.ndarray
    spare: np.ndarray
    histogram: IntArray
    present: IntArray
    order: Int32Array
    stack: IntArray


def workspace(n_rows: int, n_groups: int) -> Workspace:
    """Memory for data of `n_rows` rows and `n_groups` groups."""
    return Workspace(
        moments=np.zeros(n_rows, dtype=np.int64),
        rows=np.zeros(n_rows, dtype=np.uint32),
        spare=np.zeros(n_rows, dtype=np.uint32),
        histogram=np.zeros(8 * 256, dtype=np.int64),
        present=np.zeros(256, dtype=np.int64),
        order=np.arange(n_groups, dtype=np.int32),
        # Depth first, a stack never holds more than one waiting node per level, plus its children.
        stack=np.zeros((n_rows + 2, 4), dtype=np.int64),
    )


@kernel
def grow_tree(data, n_in, shift, unit, growth, penalty, is_open, rank, state, work, nodes, first):
    """Grow one tree on the rows ``work.rows[:n_in]`` with moments ``work.moments``.

    Parameters
    ----------
    data : BinnedData
    n_in, shift, unit : int, int, float
        Rows in the bag and their packing.
    growth : Growth
    penalty : SplitPenalty
    is_open : ndarray of bool, shape (n_groups,)
        Groups that are free; a group is opened (set to True) by its first split.
    rank : ndarray of int64, shape (n_groups,)
        Which of two unopened groups wins a tie: the lower rank. An open one always wins.
    state : ndarray of uint64, shape (1,)
        Random stream, used where candidates are drawn.
    work : Workspace
    nodes : Nodes
        Written from position `first` on; must have room for ``2 * n_in - 1`` nodes.

    Returns
    -------
    int
        Number of nodes of the tree.
    """
    total = np.int64(0)
    for r in range(n_in):
        total += work.moments[work.rows[r]]
    tree_weight = moment_weight(total, shift)
    to_gain = 1.0 / (unit * unit * tree_weight)
    n_nodes = 1
    work.stack[0, 0] = 0
    work.stack[0, 1] = 0
    work.stack[0, 2] = n_in
    work.stack[0, 3] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = work.stack[waiting, 0]
        begin = work.stack[waiting, 1]
        end = work.stack[waiting, 2]
        depth = work.stack[waiting, 3]
        total = np.int64(0)
        for r in range(begin, end):
            total += work.moments[work.rows[r]]
        weight = moment_weight(total, shift)
        at = first + node
        nodes.column[at] = LEAF
        nodes.code[at] = 0
        nodes.missing_left[at] = False
        nodes.left[at] = 0
        nodes.value[at] = moment_gradient(total, shift) / unit / weight
        nodes.gain[at] = 0.0
        nodes.weight[at] = weight
        if depth >= growth.max_depth or weight < 2 * growth.min_weight:
            continue
        column, code, missing_left, gain = find_split(
            data, begin, end, total, shift, to_gain, growth, penalty, is_open, rank, state, work
        )
        if column < 0:
            continue
        middle = partition(
            data.codes[column], code, missing_left, data.is_factor[column],
            work.rows, work.spare, begin, end,
        )  # fmt: skip
        is_open[data.group_of[column]] = True
        nodes.column[at] = column
        nodes.code[at] = code
        nodes.missing_left[at] = missing_left
        nodes.left[at] = n_nodes
        nodes.gain[at] = gain
        for side in (1, 0):
            work.stack[waiting, 0] = n_nodes + side
            work.stack[waiting, 1] = middle if side == 1 else begin
            work.stack[waiting, 2] = end if side == 1 else middle
            work.stack[waiting, 3] = depth + 1
            waiting += 1
        n_nodes += 2
    return n_nodes


@kernel
def find_split(
    data, begin, end, total, shift, to_gain, growth, penalty, is_open, rank, state, work
):
    """Best split of the node ``work.rows[begin:end]`` among its candidate groups.

    Returns (column, code, missing_left, unpenalised gain); column -1 if no split is worth more
    than ``growth.min_gain``.
    """
    best_column = -1
    best_code = np.int64(0)
    best_missing_left = False
    best_gain = 0.0
    best_worth = growth.min_gain
    n_groups = data.group_start.shape[0] - 1
    small = end - begin <= SMALL_NODE
    all_groups = growth.n_candidates >= n_groups
    n_candidates = n_groups if all_groups else growth.n_candidates
    block = -1
    for c in range(n_candidates):
        if not all_groups:
            other = c + random_below(state, n_groups - c)
            work.order[c], work.order[other] = work.order[other], work.order[c]
        group = c if all_groups else work.order[c]
        for j in range(data.group_start[group], data.group_start[group + 1]):
            offset = 0
            if small:
                n_present = add_small_column(
                    data.codes[j], work.moments, work.rows, begin, end, work.histogram, work.present
                )
            else:
                if all_groups:
                    # All columns are scored in order: their histograms come eight at a time.
                    offset = 256 * (j & 7)
                    if j >> 3 != block:
                        block = j >> 3
                        work.histogram[:] = 0
                        add_block(
                            data.blocks[block], work.moments, work.rows, begin, end, work.histogram
                        )
                else:
                    add_column(data.codes[j], work.moments, work.rows, begin, end, work.histogram)
                n_present = list_present(work.histogram, offset, data.n_codes[j], work.present)
            if n_present > 1:
                if data.is_factor[j]:
                    gain, code, missing_left = best_factor_split(
                        work.histogram, offset, work.present, n_present, total, shift,
                        growth.min_weight,
                    )  # fmt: skip
                else:
                    gain, code, missing_left = best_number_split(
                        work.histogram, offset, work.present, n_present, total, shift,
                        growth.min_weight,
                    )  # fmt: skip
                if code >= 0:
                    gain *= to_gain
                    worth = penalised_gain(gain, penalty.scale[j], penalty.cost[j], is_open[group])
                    if worth > best_worth or (
                        worth == best_worth
                        and best_column >= 0
                        and _wins_tie(group, data.group_of[best_column], is_open, rank)
                    ):
                        best_worth = worth
                        best_gain = gain
                        best_column = j
                        best_code = code
                        best_missing_left = missing_left
            if small or not all_groups:
                for t in range(n_present):
                    work.histogram[work.present[t]] = 0
    if not small and all_groups:
        work.histogram[:] = 0
    return best_column, best_code, best_missing_left, best_gain


@kernel
def _wins_tie(group, holder, is_open, rank):
    """Whether `group` takes a tie from `holder`: open before closed, then by rank."""
    if is_open[group] != is_open[holder]:
        return is_open[group]
    return rank[group] < rank[holder]
