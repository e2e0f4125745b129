"""Grow one tree best first: always the leaf whose split is worth most.

Every open leaf keeps the best split of each column, without any price. When a split opens a
group, the leaves that wait look at that group's columns again, and at those of groups that get
cheaper by it: their worth can only rise.

Where all columns are candidates and there are many rows, each leaf keeps its histograms: of two
children only the lighter one is counted, the other one is the difference. What is done for the
columns is done for a range of blocks, so that threads can share a tree; the answer is the same.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from treeselect.engine.columns import BinnedData
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.tree.bounds import (
    bounded_value,
    bounds_of,
    dense_split,
    pass_bounds,
    start_bounds,
)
from treeselect.engine.tree.histogram import clear
from treeselect.engine.tree.in_order import fill_block, score_column
from treeselect.engine.tree.node import (
    gather_rows,
    own_term,
    partition_node,
    size_of,
    sum_rows,
    weight_of,
    write_value,
)
from treeselect.engine.tree.nodes import Nodes, write_leaf, write_split
from treeselect.engine.tree.splits import sums_of_node
from treeselect.engine.tree.target import Target, has_pairs, pack_rows
from treeselect.engine.tree.used_groups import (
    Opening,
    draw_candidates,
    open_group,
    open_used,
    penalised_gain,
    start_order,
    swap,
    wins_tie,
)
from treeselect.engine.tree.workspace import (
    Ground,
    Job,
    LeafTable,
    Scratch,
    Workspace,
    ground_of,
    scratch,
)

NODE, BEGIN, END, DEPTH, BEST = range(5)
"""Columns of ``LeafTable.leaf``."""


CHUNK = 16_384
"""Rows whose moments stay in the cache while block after block is counted."""


class Leaf(NamedTuple):
    """A leaf: the number of its node, its first row and the one behind its last, its depth."""

    node: int
    begin: int
    end: int
    depth: int


class Children(NamedTuple):
    """The leaves that the last split made: the slot of the lighter one, the last that is taken, at
    the start that of the root; that of the other one, -1 at the start, and when there is nothing
    more to split; whether their best splits are to be found; and the group that was opened, -1 if
    it was open before."""

    light: int
    heavy: int
    score_light: bool
    score_heavy: bool
    opened: int


@inner
def root_of(may_be_split):
    """The root, as if it were the last split's only child."""
    return Children(0, -1, may_be_split, False, -1)


@inner
def write_node(ground, prices, work, table, nodes, slot, leaf):
    """Make some rows a leaf; returns whether it may be split. Their sums are in ``table.total``
    already."""
    pack, growth, node = ground.pack, ground.growth, leaf.node
    total = table.total[slot]
    weight = weight_of(pack, total)
    table.leaf[slot, NODE] = node
    table.leaf[slot, BEGIN] = leaf.begin
    table.leaf[slot, END] = leaf.end
    table.leaf[slot, DEPTH] = leaf.depth
    table.leaf[slot, BEST] = -1
    table.worth[slot] = growth.min_gain
    table.base[slot] = own_term(pack, total, prices.level) if prices.uncentred else 0.0
    for j in range(table.gain.shape[1]):
        table.gain[slot, j] = -1.0
    write_leaf(nodes, node)
    write_value(pack, total, nodes.value[node])
    bounded_value(work.bounds, pack.kind, node, nodes.value[node])
    nodes.weight[node] = weight
    least = max(2 * growth.min_weight, growth.min_split)
    return leaf.depth < growth.max_depth and weight >= least


@inner
def score_drawn(ground, work, n_open, table, slot):
    """Best splits of the candidate columns of a leaf, each from a histogram of its own; only of
    the wide ones where histograms are kept."""
    data = ground.data
    node, begin, end = table.leaf[slot, NODE], table.leaf[slot, BEGIN], table.leaf[slot, END]
    gather_rows(ground.pack, work, begin, end)
    n_candidates = draw_candidates(work, n_open, ground.growth.n_candidates)
    only_wide = table.histogram.shape[0] > 0
    for c in range(n_candidates):
        group = work.order[c]
        for j in range(data.group_start[group], data.group_start[group + 1]):
            if only_wide and data.wide_at[j] < 0:
                continue
            gain, code, missing_left = score_column(
                ground, work, table.total[slot], node, j, 0.0, begin, end
            )
            if code >= 0:
                table.gain[slot, j] = gain
                table.code[slot, j] = code
                table.missing_left[slot, j] = missing_left


@kernel
def score_blocks(ground, work, table, children, low, high):
    """Best splits of two leaves on the columns of the blocks from `low` to `high` - 1. The
    histograms of the lighter one are counted; those of the heavier one, which holds their parent's,
    are the difference. The rows of the lighter one have been gathered."""
    data, pack = ground.data, ground.pack
    light, heavy = children.light, children.heavy
    begin, end = table.leaf[light, BEGIN], table.leaf[light, END]
    size = 2 if has_pairs(pack.kind) else 1
    width = 256 * 8 * size
    n_columns = data.codes.shape[0]
    clear(table.histogram[light, width * low : width * high])
    for first in range(begin, end, CHUNK):
        last = min(first + CHUNK, end)
        for block in range(low, high):
            counted = table.histogram[light, width * block : width * (block + 1)]
            fill_block(data, pack, work, block, first, last, counted)
    for block in range(low, high):
        if heavy >= 0:
            counted = table.histogram[light, width * block : width * (block + 1)]
            rest = table.histogram[heavy, width * block : width * (block + 1)]
            for c in range(width):
                rest[c] -= counted[c]
        for side in range(2):
            slot = heavy if side else light
            if slot < 0 or not (children.score_heavy if side else children.score_light):
                continue
            total = table.total[slot]
            to_gain = pack.to_gain
            node_size = size_of(pack, total)
            node = sums_of_node(pack, total, 0.0)
            for j in range(8 * block, min(8 * (block + 1), n_columns)):
                if data.wide_at[j] >= 0:
                    continue
                cell = 256 * size * j
                score, code, missing_left = dense_split(
                    table.histogram[slot, cell : cell + 256 * size], data.n_codes[j],
                    data.is_factor[j], node, ground.rule, work.scratch,
                    bounds_of(data.monotone, work.bounds, pack, table.leaf[slot, NODE], j),
                )  # fmt: skip
                if code >= 0:
                    table.gain[slot, j] = score / node_size * to_gain
                    table.code[slot, j] = code
                    table.missing_left[slot, j] = missing_left


@inner
def choose_best(data, opening, table, slot, first, last):
    """Let the columns ``first:last`` compete with the best split that a leaf has so far."""
    for j in range(first, last):
        gain = table.gain[slot, j]
        if gain < 0:
            continue
        group = np.int64(data.group_of[j])
        worth = penalised_gain(opening, group, j, gain + table.base[slot])
        best = table.leaf[slot, BEST]
        if worth > table.worth[slot] or (
            worth == table.worth[slot]
            and best >= 0
            and wins_tie(opening, group, np.int64(data.group_of[best]))
        ):
            table.worth[slot] = worth
            table.leaf[slot, BEST] = j


@inner
def best_leaf(table, n_leaves):
    """The leaf whose split is worth most, of equals the one that was made first; -1 if none."""
    best = -1
    for slot in range(n_leaves):
        if table.leaf[slot, BEST] >= 0 and (
            best < 0
            or table.worth[slot] > table.worth[best]
            or (
                table.worth[slot] == table.worth[best]
                and table.leaf[slot, NODE] < table.leaf[best, NODE]
            )
        ):
            best = slot
    return best


@inner
def split_leaf(ground, opening, work, table, nodes, slot, n_leaves):
    """Split the leaf of a slot; its heavier child stays there, the lighter one takes the next.
    Returns the :class:`Children`."""
    data, pack = ground.data, ground.pack
    node, depth = table.leaf[slot, NODE], table.leaf[slot, DEPTH] + 1
    begin, end = table.leaf[slot, BEGIN], table.leaf[slot, END]
    column = table.leaf[slot, BEST]
    code, missing_left = np.int64(table.code[slot, column]), table.missing_left[slot, column]
    middle = partition_node(data, column, code, missing_left, work, begin, end)
    left = 2 * n_leaves - 1
    write_split(nodes, node, column, code, missing_left, left, table.gain[slot, column])
    if data.monotone.shape[0] > 0:
        rows = (begin, middle, end)
        pass_bounds(pack, work, data.monotone[column], node, (code, left), rows)
    group = np.int64(data.group_of[column])
    opens = not (opening.is_open[group] or ground.growth.opens_late)
    if opens:
        open_group(opening, data, group)
    light_is_right = np.int64(middle - begin > end - middle)
    light_total = table.total[n_leaves]
    if light_is_right:
        sum_rows(pack, work, middle, end, light_total)
    else:
        sum_rows(pack, work, begin, middle, light_total)
    for k in range(light_total.shape[0]):
        table.total[slot, k] -= light_total[k]
    light, heavy = False, False
    for right in range(2):
        is_light = right == light_is_right
        leaf = Leaf(left + right, middle if right else begin, end if right else middle, depth)
        own = n_leaves if is_light else slot
        may = write_node(ground, opening.prices, work, table, nodes, own, leaf)
        if is_light:
            light = may
        else:
            heavy = may
    return Children(n_leaves, slot, light, heavy, int(group) if opens else -1)


@kernel
def start_tree(job, prices, work, table, nodes):
    """Pack the rows in the bag ``work.counts`` and make them the first leaf; the packing, and the
    root as :class:`Children`."""
    pack = pack_rows(job.target, job.weight, work.counts, work.moments, work.second, work.rows)
    return pack, write_root(ground_of(job, pack), prices, work, table, nodes)


@inner
def write_root(ground, prices, work, table, nodes):
    """Make all rows of the bag the first leaf, and the root the last split's only child."""
    pack = ground.pack
    sum_rows(pack, work, 0, pack.n_in, table.total[0])
    start_bounds(work.bounds)
    rows = Leaf(0, 0, pack.n_in, 0)
    may = write_node(ground, prices, work, table, nodes, 0, rows)
    if may and table.histogram.shape[0] > 0:
        gather_rows(pack, work, 0, pack.n_in)
    return root_of(may)


@kernel
def advance(ground, opening, work, table, nodes, last):
    """Choose the best splits of the leaves that have been scored, then split the best leaf; the
    :class:`Children` of this split, without a heavier one if there was none to split."""
    data, growth, prices = ground.data, ground.growth, opening.prices
    n_leaves, opened = last.light + 1, last.opened
    for other in range(n_leaves):
        # The children look at all columns, the others at those of groups whose price has changed.
        is_new = other == last.heavy or other == last.light
        n_looks = 1
        if not is_new:
            n_looks = 0 if opened < 0 else 1 + prices.start[opened + 1] - prices.start[opened]
        for look in range(n_looks):
            low, high = np.int64(0), data.group_start[-1]
            if not is_new:
                group = opened if look == 0 else prices.group[prices.start[opened] + look - 1]
                low, high = data.group_start[group], data.group_start[group + 1]
            choose_best(data, opening, table, other, low, high)
    slot = -1
    most = min(growth.max_leaves, table.leaf.shape[0])
    if n_leaves < most:
        slot = best_leaf(table, n_leaves)
    if slot < 0:
        if growth.opens_late:
            open_used(nodes, 2 * n_leaves - 1, opening, data)
        return root_of(False)
    made = split_leaf(ground, opening, work, table, nodes, slot, n_leaves)
    if n_leaves + 1 == most:
        made = Children(made.light, made.heavy, False, False, made.opened)
    if (made.score_light or made.score_heavy) and table.histogram.shape[0] > 0:
        gather_rows(ground.pack, work, table.leaf[n_leaves, BEGIN], table.leaf[n_leaves, END])
    return made


@inner
def grow_best_first(ground, opening, work, table, nodes):
    """As ``in_order.grow_in_order``; ``table`` has room for the leaves. Afterwards the rows of the
    leaf in slot s are ``work.rows`` from ``table.leaf[s, BEGIN]`` on."""
    data, all_open = ground.data, ground.growth.all_open
    n_open = start_order(work, opening.is_open, all_open)
    keeps = table.histogram.shape[0] > 0
    n_blocks = data.blocks.shape[0]
    last = write_root(ground, opening.prices, work, table, nodes)
    while True:
        light, heavy = last.light, last.heavy
        if keeps and (last.score_light or last.score_heavy):
            score_blocks(ground, work, table, last, 0, n_blocks)
        if not keeps or data.wide.shape[0] > 0:
            if last.opened >= 0 and all_open:
                swap(work, n_open, np.int64(work.place[last.opened]))
                n_open += 1
            # The left child comes first in the random stream, whichever is the lighter one.
            light_first = np.int64(heavy < 0 or table.leaf[light, NODE] < table.leaf[heavy, NODE])
            for turn in range(2):
                is_light = turn != light_first
                if last.score_light if is_light else last.score_heavy:
                    score_drawn(ground, work, n_open, table, light if is_light else heavy)
        last = advance(ground, opening, work, table, nodes, last)
        if last.heavy < 0:
            return 2 * light + 1
        if work.stop[0] != 0:
            return 2 * last.light + 1


class SharedTree:
    """Grows trees best first, the columns of each shared between threads."""

    def __init__(self, data: BinnedData, target: Target, table: LeafTable, n_threads: int) -> None:
        n_blocks = len(data.blocks)
        self._edges = np.linspace(0, n_blocks, min(n_threads, n_blocks) + 1).astype(int).tolist()
        self._scratch = [scratch(target.n_classes) for _ in self._edges[1:]]
        self._pool = ThreadPoolExecutor(max(len(self._scratch) - 1, 1))
        self._table = table

    def __enter__(self) -> SharedTree:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def grow(self, job: Job, opening: Opening, work: Workspace, nodes: Nodes) -> int:
        """As :func:`grow_best_first`, on all rows with positive weight."""
        work.counts.fill(1)
        pack, last = start_tree(job, opening.prices, work, self._table, nodes)
        ground = ground_of.py_func(job, pack)
        while True:
            if last.score_light or last.score_heavy:
                self._score(ground, work, last)
            light = last.light
            last = advance(ground, opening, work, self._table, nodes, last)
            if last.heavy < 0:
                return int(2 * light + 1)

    def _score(self, ground: Ground, work: Workspace, last: Children) -> None:
        def score(part: int, scratch: Scratch) -> Any:
            score_blocks(
                ground, work._replace(scratch=scratch), self._table, last,
                self._edges[part], self._edges[part + 1],
            )  # fmt: skip

        others = [
            self._pool.submit(score, part, own)
            for part, own in enumerate(self._scratch[1:], start=1)
        ]
        score(0, self._scratch[0])
        for other in others:
            other.result()
