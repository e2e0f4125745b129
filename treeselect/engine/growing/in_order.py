"""Grow one tree depth first or breadth first: a node is scored when it is its turn."""

from __future__ import annotations

import numpy as np

from treeselect.engine.cache import inlined, inner
from treeselect.engine.data.binning import OTHER
from treeselect.engine.data.targets import GINI, NEWTON, VECTOR
from treeselect.engine.growing.growth import BREADTH_FIRST
from treeselect.engine.growing.nodes import write_leaf, write_split
from treeselect.engine.random import random_below
from treeselect.engine.splitting.candidates import draw_candidates, start_order, swap, wins_tie
from treeselect.engine.splitting.classes import best_class_split
from treeselect.engine.splitting.histograms import (
    SMALL_NODE,
    add_block,
    add_block_of_pairs,
    add_cells,
    add_cells_of_classes,
    add_cells_of_vectors,
    add_column,
    add_column_of_pairs,
    clear,
    list_codes,
    list_wide_codes,
    room_of_bytes,
)
from treeselect.engine.splitting.means import (
    Rule,
    best_dense_split,
    best_listed_split,
    best_short_split,
)
from treeselect.engine.splitting.node_sums import (
    own_term,
    size_of,
    sum_rows,
    weight_of,
    write_value,
)
from treeselect.engine.splitting.partition import partition_node
from treeselect.engine.splitting.penalty import penalised_gain, take_discounts


@inlined
def gather_rows(pack, work, begin, end):
    """Put what belongs to the rows of a node side by side."""
    for r in range(begin, end):
        i = work.rows[r]
        if pack.kind == VECTOR:
            for k in range(pack.n_classes):
                work.leaf_second[r * pack.n_classes + k] = work.second[i * pack.n_classes + k]
            continue
        work.leaf_moments[r] = work.moments[i]
        if pack.kind == NEWTON:
            work.leaf_second[r] = work.second[i]
        elif pack.kind >= GINI:
            work.leaf_label[r] = work.label[i]


@inlined
def score_listed(
    n_present, histogram, other, is_factor, pack, rule, work, total, begin, end
):  # fmt: skip
    """Best split of a node on one column by its codes, which ``work`` lists and has for each row.

    As :func:`score_column`; `other` is the code that is no level, -1 if there is none.
    """
    if n_present < 2:
        return 0.0, np.int64(-1), False
    cells, present = work.cells[begin:end], work.present
    moments = work.leaf_moments[begin:end]
    size = pack.n_classes
    if pack.kind >= GINI:
        if pack.kind == VECTOR:
            vectors = work.leaf_second[begin * size : end * size]
            add_cells_of_vectors(cells, vectors, size, histogram)
        else:
            add_cells_of_classes(cells, moments, work.leaf_label[begin:end], size, histogram)
        score, code, missing_left = best_class_split(
            histogram, present, n_present, is_factor, other, pack.kind, size, total, pack.shift,
            pack.unit, rule, work.scratch,
        )  # fmt: skip
    else:
        pairs = pack.kind == NEWTON
        size = 2 if pairs else 1
        add_cells(cells, moments, work.leaf_second[begin : end if pairs else begin], histogram)
        if n_present <= 256:
            score, code, missing_left = best_short_split(
                histogram, present, n_present, is_factor, other, pack.kind,
                total[0], total[1], pack.shift, rule, work.scratch,
            )  # fmt: skip
            return score / size_of(pack, total) * pack.to_gain, code, missing_left
        score, code, missing_left = best_listed_split(
            histogram, present, n_present, is_factor, other, pack.kind,
            total[0], total[1], pack.shift, rule,
        )  # fmt: skip
    for t in range(n_present):
        for s in range(size * present[t], size * (present[t] + 1)):
            histogram[s] = 0
    return score / size_of(pack, total) * pack.to_gain, code, missing_left


@inlined
def list_column(data, work, j, begin, end):
    """List the codes of a node in a column, of bytes or wide."""
    rows, cells = work.rows[begin:end], work.cells[begin:end]
    if data.wide_at[j] >= 0:
        return list_wide_codes(data.wide[data.wide_at[j]], rows, work.touched, work.present, cells)
    return list_codes(data.codes[j], rows, work.touched, work.present, cells)


@inlined
def score_column(data, pack, rule, work, total, j, begin, end):
    """Best split of a node on one column; the histogram is zero before and after.

    Returns (gain, code, missing_left); code -1 if there is none.
    """
    is_wide = data.wide_at[j] >= 0
    histogram = work.histogram
    if is_wide or end - begin <= SMALL_NODE or pack.kind >= GINI:
        return score_listed(
            list_column(data, work, j, begin, end),
            histogram[room_of_bytes(pack.kind, pack.n_classes) if is_wide else 0 :],
            np.int64(-1 if is_wide else OTHER), data.is_factor[j], pack, rule, work, total,
            begin, end,
        )  # fmt: skip
    rows = work.rows[begin:end]
    codes = data.codes[j]
    size = 1
    if pack.kind == NEWTON:
        size = 2
        add_column_of_pairs(
            codes, rows, work.leaf_moments[begin:end], work.leaf_second[begin:end], histogram
        )
    else:
        add_column(codes, rows, work.leaf_moments[begin:end], histogram)
    score, code, missing_left = best_dense_split(
        histogram, data.n_codes[j], data.is_factor[j], pack.kind, total[0], total[1],
        pack.shift, rule, work.scratch,
    )  # fmt: skip
    clear(histogram[: size * data.n_codes[j]])
    return score / size_of(pack, total) * pack.to_gain, code, missing_left


@inner
def fill_block(data, pack, work, block, begin, end, histogram):
    """Add the rows of a node to the histograms of eight columns."""
    rows = work.rows[begin:end]
    moments = work.leaf_moments[begin:end]
    if pack.kind == NEWTON:
        seconds = work.leaf_second[begin:end]
        add_block_of_pairs(data.blocks[block], rows, moments, seconds, histogram)
    else:
        add_block(data.blocks[block], rows, moments, histogram)


@inlined
def find_split(data, pack, rule, growth, prices, is_open, rank, state, work, n_open, begin, end):
    """Best split of a node among its candidate groups.

    Returns (column, code, missing_left, unpenalised gain); column -1 if no split is worth more
    than ``growth.min_gain``.
    """
    total = work.total
    base = own_term(pack, total, prices.level) if prices.uncentred else 0.0
    best_column = -1
    best_code = np.int64(0)
    best_missing_left = False
    best_gain = 0.0
    best_worth = growth.min_gain
    n_ties = 1
    n_groups, n_able = is_open.shape[0], work.order.shape[0]
    size = 2 if pack.kind == NEWTON else 1
    room = room_of_bytes(pack.kind, pack.n_classes)
    in_blocks = growth.n_candidates >= n_able and end - begin > SMALL_NODE and pack.kind < GINI
    gather_rows(pack, work, begin, end)
    n_candidates = n_groups
    if not in_blocks:
        n_candidates = draw_candidates(work, n_open, growth.n_candidates, state)
    # Coins fall for the later one, and open groups come last: see Growth.random_ties.
    by_coins = growth.random_ties and growth.all_open and n_candidates < n_able
    block = -1
    for c in range(n_candidates):
        place = n_candidates - 1 - c if by_coins else c
        group = np.int64(c if in_blocks else work.order[place])
        for j in range(data.group_start[group], data.group_start[group + 1]):
            if in_blocks and data.wide_at[j] < 0:
                # All columns are scored in order: their histograms come eight at a time.
                if j >> 3 != block:
                    block = j >> 3
                    clear(work.histogram[:room])
                    fill_block(data, pack, work, block, begin, end, work.histogram)
                score, code, missing_left = best_dense_split(
                    work.histogram[256 * size * (j & 7) :], data.n_codes[j],
                    data.is_factor[j], pack.kind, total[0], total[1], pack.shift, rule,
                    work.scratch,
                )  # fmt: skip
                gain = score / size_of(pack, total) * pack.to_gain
            else:
                gain, code, missing_left = score_column(
                    data, pack, rule, work, total, j, begin, end
                )
            if code < 0:
                continue
            worth = penalised_gain(gain + base, prices.scale[j], prices.price[j], is_open[group])
            better = worth > best_worth
            if worth == best_worth and best_column >= 0:
                if by_coins:
                    better = random_below(state, 2) == 0
                elif growth.random_ties:
                    n_ties += 1
                    better = random_below(state, n_ties) == 0
                else:
                    better = wins_tie(group, np.int64(data.group_of[best_column]), is_open, rank)
            elif better:
                n_ties = 1
            if better:
                best_worth = worth
                best_gain = gain
                best_column = j
                best_code = code
                best_missing_left = missing_left
    if in_blocks:
        clear(work.histogram[:room])
    return best_column, best_code, best_missing_left, best_gain


@inner
def push(waiting, at, node, begin, end, depth):
    """Write a node that waits for its turn."""
    waiting[at, 0] = node
    waiting[at, 1] = begin
    waiting[at, 2] = end
    waiting[at, 3] = depth


@inner
def grow_in_order(data, pack, growth, prices, is_open, rank, state, work, nodes, first, stop):
    """Grow one tree on the rows ``work.rows[:pack.n_in]``.

    Parameters
    ----------
    data : BinnedData
    pack : Packing
        Of the rows in `work`.
    growth : Growth
        Its order must not be ``BEST_FIRST``.
    prices : Prices
        Changed by discounts.
    is_open : ndarray of bool, shape (n_groups,)
        Groups that are free; a group is opened (set to True) by its first split.
    rank : ndarray of int64, shape (n_groups,)
        Which of two closed groups wins a tie: the lower rank. An open one always wins.
    state : ndarray of uint64, shape (1,)
        Random stream, used where candidates are drawn.
    work : Workspace
    nodes : Nodes
        Written from position `first` on; must have room for ``2 * n_in - 1`` nodes.
    stop : ndarray of int64, shape (1,)
        Growth ends early when another thread sets it.

    Returns
    -------
    int
        Number of nodes of the tree.
    """
    rule = Rule(growth.min_weight, growth.min_curvature * pack.second_unit)
    n_open = start_order(work, is_open, growth.all_open)
    room = work.waiting.shape[0]
    n_nodes = 1
    n_leaves = 1
    push(work.waiting, 0, 0, 0, pack.n_in, 0)
    head, n_waiting = 0, 1  # a ring: nodes from `head` on
    while n_waiting > 0:
        at = (head + n_waiting - 1) % room
        if growth.order == BREADTH_FIRST:
            at = head
            head = (head + 1) % room
        n_waiting -= 1
        node, begin = work.waiting[at, 0], work.waiting[at, 1]
        end, depth = work.waiting[at, 2], work.waiting[at, 3]
        sum_rows(pack, work, begin, end, work.total)
        weight = weight_of(pack, work.total)
        write_leaf(nodes, first + node)
        write_value(pack, work.total, nodes.value[first + node])
        nodes.weight[first + node] = weight
        if (
            depth >= growth.max_depth
            or weight < 2 * growth.min_weight
            or n_leaves >= growth.max_leaves
            or stop[0] != 0
        ):
            continue
        column, code, missing_left, gain = find_split(
            data, pack, rule, growth, prices, is_open, rank, state, work, n_open, begin, end
        )
        if column < 0:
            continue
        middle = partition_node(data, column, code, missing_left, work, begin, end)
        group = np.int64(data.group_of[column])
        if not growth.opens_late and not is_open[group]:
            if growth.all_open:
                swap(work, n_open, np.int64(work.place[group]))
                n_open += 1
            take_discounts(prices, data, group)
            is_open[group] = True
        write_split(nodes, first + node, column, code, missing_left, n_nodes, gain)
        # The left child's turn comes first: at the end of a stack, before the right in a queue.
        left = n_waiting if growth.order == BREADTH_FIRST else n_waiting + 1
        right = 2 * n_waiting + 1 - left
        push(work.waiting, (head + left) % room, n_nodes, begin, middle, depth + 1)
        push(work.waiting, (head + right) % room, n_nodes + 1, middle, end, depth + 1)
        n_waiting += 2
        n_nodes += 2
        n_leaves += 1
    return n_nodes
