"""Grow one tree depth first or breadth first: a node is scored when it is its turn."""

from __future__ import annotations

import numpy as np

from treeselect.engine.columns import OTHER
from treeselect.engine.compiling import inlined, inner
from treeselect.engine.random import random_below
from treeselect.engine.tree.bounds import (
    best_listed_split,
    bounded_value,
    bounds_of,
    dense_split,
    pass_bounds,
    start_bounds,
)
from treeselect.engine.tree.histogram import (
    SMALL_NODE,
    add_block,
    add_byte,
    add_cells,
    add_cells_of_classes,
    add_cells_of_vectors,
    add_column,
    add_words,
    clear,
    list_bytes,
    list_codes,
    list_wide_codes,
    room_of_bytes,
)
from treeselect.engine.tree.node import (
    Question,
    carry_rows,
    gather_rows,
    own_term,
    partition_carried,
    partition_node,
    size_of,
    sum_rows,
    weight_of,
    write_value,
)
from treeselect.engine.tree.nodes import write_leaf, write_split
from treeselect.engine.tree.split_outputs import OutputSums, best_class_split
from treeselect.engine.tree.splits import Listed, best_short_split, ceiling, sums_of_node
from treeselect.engine.tree.target import has_outputs, has_pairs, is_vector
from treeselect.engine.tree.used_groups import (
    draw_candidates,
    least_gain,
    open_group,
    penalised_gain,
    rank_first,
    start_order,
    start_ranks,
    swap,
    wins_tie,
)
from treeselect.engine.tree.workspace import BREADTH_FIRST

CEILED_NODE = 64
"""Up to this many rows the best of all divisions of a node is found out before its columns."""


@inlined
def score_listed(listed, pack, rule, work, total, bounds, least, begin, end):
    """Best split of a node on one column by its codes, of which ``work`` has that of each row. As
    :func:`score_column`; the listed histogram is still to be filled."""
    if listed.n_present < 2:
        return 0.0, np.int64(-1), False
    cells, histogram = work.cells[begin:end], listed.histogram
    moments = work.leaf_moments[begin:end]
    size = pack.n_classes
    if has_outputs(pack.kind):
        if is_vector(pack.kind):
            vectors = work.leaf_second[begin * size : end * size]
            add_cells_of_vectors(cells, vectors, size, histogram)
        else:
            add_cells_of_classes(cells, moments, work.leaf_label[begin:end], size, histogram)
        outputs = OutputSums(pack.kind, size, total, pack.shift, pack.unit)
        score, code, missing_left = best_class_split(listed, outputs, rule, work.scratch, bounds)
    else:
        node = sums_of_node(pack, total, least)
        size = 2 if node.pairs else 1
        add_cells(cells, moments, work.leaf_second[begin : end if node.pairs else begin], histogram)
        if listed.n_present <= 256 and not bounds.applies:
            score, code, missing_left = best_short_split(listed, node, rule, work.scratch)
            return score / size_of(pack, total) * pack.to_gain, code, missing_left
        score, code, missing_left = best_listed_split(listed, node, rule, bounds)
    for t in range(listed.n_present):
        clear(histogram[size * listed.present[t] : size * (listed.present[t] + 1)])
    return score / size_of(pack, total) * pack.to_gain, code, missing_left


@inlined
def list_column(data, work, j, begin, end):
    """List the codes of a node in a column, of bytes or wide."""
    if work.words.shape[0] > 0:
        words, shift = work.words[j >> 3, begin:end], np.uint64(8 * (j & 7))
        return list_bytes(words, shift, work.touched, work.present, work.cells[begin:end])
    rows, cells = work.rows[begin:end], work.cells[begin:end]
    if data.wide_at[j] >= 0:
        return list_wide_codes(data.wide[data.wide_at[j]], rows, work.touched, work.present, cells)
    return list_codes(data.codes[j], rows, work.touched, work.present, cells)


@inlined
def score_column(ground, work, total, number, j, least, begin, end):
    """Best split of the node of some number on one column; the histogram is zero before and after.
    Returns (gain, code, missing_left); code -1 if there is none, or perhaps if it gains less than
    `least`."""
    data, pack, rule = ground.data, ground.pack, ground.rule
    is_wide = data.wide_at[j] >= 0
    histogram = work.histogram
    bounds = bounds_of(data.monotone, work.bounds, pack, number, j)
    is_sparse = end - begin <= SMALL_NODE and 2 * (end - begin) < data.n_codes[j]
    if is_wide or is_sparse or has_outputs(pack.kind):
        n_present = list_column(data, work, j, begin, end)
        listed = Listed(
            histogram[room_of_bytes(pack.kind, pack.n_classes) if is_wide else 0 :], work.present,
            n_present, data.is_factor[j], -1 if is_wide else OTHER,
        )  # fmt: skip
        return score_listed(listed, pack, rule, work, total, bounds, least, begin, end)
    moments = work.leaf_moments[begin:end]
    size = 2 if has_pairs(pack.kind) else 1
    if work.words.shape[0] > 0:
        add_byte(work.words[j >> 3, begin:end], np.uint64(8 * (j & 7)), moments, histogram)
    else:
        seconds = work.leaf_second[begin : end if size == 2 else begin]
        add_column(data.codes[j], work.rows[begin:end], moments, seconds, histogram)
    score, code, missing_left = dense_split(
        histogram, data.n_codes[j], data.is_factor[j], sums_of_node(pack, total, least), rule,
        work.scratch, bounds,
    )  # fmt: skip
    clear(histogram[: size * data.n_codes[j]])
    return score / size_of(pack, total) * pack.to_gain, code, missing_left


@inner
def fill_block(data, pack, work, block, begin, end, histogram):
    """Add the rows of a node to the histograms of eight columns."""
    moments = work.leaf_moments[begin:end]
    if work.words.shape[0] > 0:
        n_columns = min(8, data.codes.shape[0] - 8 * block)
        add_words(work.words[block, begin:end], moments, n_columns, histogram)
        return
    seconds = work.leaf_second[begin : end if has_pairs(pack.kind) else begin]
    add_block(data.blocks[block], work.rows[begin:end], moments, seconds, histogram)


@inlined
def gain_ceiling(ground, work, node, n_candidates, begin, end):
    """Most that a split of a node may gain; infinite where finding it out is not worth its time.
    The rows of the node have been gathered."""
    pack = ground.pack
    if has_outputs(pack.kind) or ground.data.monotone.shape[0] > 0:
        return np.inf
    if end - begin > min(n_candidates, CEILED_NODE):
        return np.inf
    seconds = work.leaf_second[begin : end if node.pairs else begin]
    highest = ceiling(work.leaf_moments[begin:end], seconds, node, work.scratch)
    return highest / size_of(pack, work.total) * pack.to_gain


@inlined
def find_split(ground, opening, work, n_open, n_ranked, number, begin, end):
    """Best split of a node among its candidate groups: (column, code, missing_left, unpenalised
    gain), column -1 if none is worth more than ``growth.min_gain``. With `n_ranked`, the number of
    open groups first in ``work.ranked``, not -1, all groups are tried in the order in which they
    win ties, until a split is the best that there can be: in a node of few rows soon one of many
    columns divides them so."""
    data, pack, growth = ground.data, ground.pack, ground.growth
    total, prices = work.total, opening.prices
    base = own_term(pack, total, prices.level) if prices.uncentred else 0.0
    best_column = -1
    best_code = np.int64(0)
    best_missing_left = False
    best_gain = 0.0
    best_worth = growth.min_gain
    n_ties = 1
    n_groups, n_able = opening.is_open.shape[0], work.order.shape[0]
    size = 2 if has_pairs(pack.kind) else 1
    room = room_of_bytes(pack.kind, pack.n_classes)
    in_blocks = (
        growth.n_candidates >= n_able and end - begin > SMALL_NODE and not has_outputs(pack.kind)
    )
    node = sums_of_node(pack, total, 0.0)
    if work.words.shape[0] == 0:
        gather_rows(pack, work, begin, end)
    n_candidates = n_groups
    if not in_blocks:
        n_candidates = draw_candidates(work, n_open, growth.n_candidates)
    if end - begin < 2:
        return best_column, best_code, best_missing_left, best_gain
    highest = gain_ceiling(ground, work, node, n_candidates, begin, end)
    if highest <= 0.0:  # all rows have the same mean
        return best_column, best_code, best_missing_left, best_gain
    is_ranked = n_ranked >= 0 and highest < np.inf
    # Coins fall for the later one, and open groups come last: see Growth.random_ties.
    by_coins = growth.random_ties and growth.all_open and n_candidates < n_able
    block = -1
    for c in range(n_candidates):
        if is_ranked and c >= n_ranked and best_worth >= highest:
            break
        place = n_candidates - 1 - c if by_coins else c
        group = np.int64(c if in_blocks else work.order[place])
        if is_ranked:
            group = np.int64(work.ranked[c])
        for j in range(data.group_start[group], data.group_start[group + 1]):
            least = max(least_gain(opening, group, j, best_worth) - base, 0.0)
            if in_blocks and data.wide_at[j] < 0:
                # All columns are scored in order: their histograms come eight at a time.
                if j >> 3 != block:
                    block = j >> 3
                    clear(work.histogram[:room])
                    fill_block(data, pack, work, block, begin, end, work.histogram)
                score, code, missing_left = dense_split(
                    work.histogram[256 * size * (j & 7) :], data.n_codes[j],
                    data.is_factor[j], sums_of_node(pack, total, least), ground.rule, work.scratch,
                    bounds_of(data.monotone, work.bounds, pack, number, j),
                )  # fmt: skip
                gain = score / size_of(pack, total) * pack.to_gain
            else:
                gain, code, missing_left = score_column(
                    ground, work, total, number, j, least, begin, end
                )
            if code < 0:
                continue
            worth = penalised_gain(opening, group, j, gain + base)
            better = worth > best_worth
            if worth == best_worth and best_column >= 0:
                if by_coins:
                    better = random_below(work.state, 2) == 0
                elif growth.random_ties:
                    n_ties += 1
                    better = random_below(work.state, n_ties) == 0
                else:
                    better = wins_tie(opening, group, np.int64(data.group_of[best_column]))
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
def grow_in_order(ground, opening, work, nodes):
    """Grow one tree on the packed rows of the workspace, in another order than ``BEST_FIRST``, into
    room for ``2 * n_in - 1`` nodes; returns their number. Groups that it splits on are open
    afterwards, unless they open late."""
    data, pack, growth = ground.data, ground.pack, ground.growth
    n_open = start_order(work, opening.is_open, growth.all_open)
    n_ranked = -1
    if (
        growth.n_candidates >= work.order.shape[0]
        and not growth.random_ties
        and not opening.prices.uncentred
    ):
        n_ranked = start_ranks(work, opening.rank, opening.is_open)
    room = work.waiting.shape[0]
    n_nodes = 1
    n_leaves = 1
    push(work.waiting, 0, 0, 0, pack.n_in, 0)
    start_bounds(work.bounds)
    if work.words.shape[0] > 0:
        carry_rows(data.blocks, work, pack.n_in)
    head, n_waiting = 0, 1  # a ring: nodes from `head` on
    while n_waiting > 0:
        at = (head + n_waiting - 1) % room
        if growth.order == BREADTH_FIRST:
            at = head
            head = (head + 1) % room
        n_waiting -= 1
        node, begin = np.int64(work.waiting[at, 0]), np.int64(work.waiting[at, 1])
        end, depth = np.int64(work.waiting[at, 2]), np.int64(work.waiting[at, 3])
        sum_rows(pack, work, begin, end, work.total)
        weight = weight_of(pack, work.total)
        write_leaf(nodes, node)
        write_value(pack, work.total, nodes.value[node])
        bounded_value(work.bounds, pack.kind, node, nodes.value[node])
        nodes.weight[node] = weight
        if (
            depth >= growth.max_depth
            or weight < max(2 * growth.min_weight, growth.min_split)
            or n_leaves >= growth.max_leaves
            or work.stop[0] != 0
        ):
            continue
        column, code, missing_left, gain = find_split(
            ground, opening, work, n_open, n_ranked, node, begin, end
        )
        if column < 0:
            continue
        if work.words.shape[0] > 0:
            asked = Question(code, missing_left, data.is_factor[column])
            middle = partition_carried(column, asked, work, begin, end)
        else:
            middle = partition_node(data, column, code, missing_left, work, begin, end)
        group = np.int64(data.group_of[column])
        if not growth.opens_late and not opening.is_open[group]:
            if growth.all_open:
                swap(work, n_open, np.int64(work.place[group]))
                n_open += 1
            if n_ranked >= 0:
                rank_first(work.ranked, n_ranked, group)
                n_ranked += 1
            open_group(opening, data, group)
        write_split(nodes, node, column, code, missing_left, n_nodes, gain)
        if data.monotone.shape[0] > 0:
            rows = (begin, middle, end)
            pass_bounds(pack, work, data.monotone[column], node, (code, n_nodes), rows)
        # The left child's turn comes first: at the end of a stack, before the right in a queue.
        left = n_waiting if growth.order == BREADTH_FIRST else n_waiting + 1
        right = 2 * n_waiting + 1 - left
        push(work.waiting, (head + left) % room, n_nodes, begin, middle, depth + 1)
        push(work.waiting, (head + right) % room, n_nodes + 1, middle, end, depth + 1)
        n_waiting += 2
        n_nodes += 2
        n_leaves += 1
    return n_nodes
