"""Forests: trees on bootstrap samples of the rows, independent or one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, UInt64Array, WeightArray
from treeselect.engine.columns import BinnedData
from treeselect.engine.compiling import inner, kernel
from treeselect.engine.random import draw_bag, tree_seeds
from treeselect.engine.threads import each, n_parts
from treeselect.engine.tree.best_first import grow_best_first
from treeselect.engine.tree.bounds import start_bounds
from treeselect.engine.tree.in_order import grow_in_order, score_column
from treeselect.engine.tree.node import gather_rows, sum_rows
from treeselect.engine.tree.nodes import (
    Trees,
    check_data,
    check_growth,
    check_target,
    check_weight,
    empty_nodes,
    give_back,
    join_trees,
    more_room,
    nodes_from,
)
from treeselect.engine.tree.target import Target, pack_rows
from treeselect.engine.tree.used_groups import (
    Opening,
    SplitPenalty,
    no_penalty,
    open_used,
    price_list,
    reset_prices,
)
from treeselect.engine.tree.workspace import (
    BEST_FIRST,
    Growth,
    Job,
    LeafTable,
    Workspace,
    carries,
    ground_of,
    leaf_table,
    workspace,
)

_ROOM = 400_000
"""Nodes for which a chunk of trees has room at first (about 16 MB), unless it can't need it: memory
that small forests ask for and do not use stays with the process, a piece of it for each thread."""

_MOST_ROOM = 2**26
"""Nodes up to which the room grows at once; then eightfold: what millions of trees would take is
more than there is, and they can be stopped."""


class Sampling(NamedTuple):
    """How the bag of a tree is drawn from the distinct rows of positive weight: a share of them, in
    (0, 1], at least one. A row takes all its copies along, and where there are `groups` of rows
    whole groups are drawn: of what belongs together, no part is in the bag and another out of it,
    which would make the out-of-bag error a training error."""

    replace: bool = True
    share: float = 1.0
    groups: IntArray | None = None


BOOTSTRAP = Sampling()
ALL_ROWS = Sampling(replace=False)


class Bags(NamedTuple):
    """The bags of some trees, with the random stream of each. `in_rows` are the distinct rows of
    positive weight, those of a group side by side; `start`, (n_groups + 1,), tells where each group
    begins and is empty without groups."""

    in_rows: IntArray
    start: IntArray
    replace: bool
    share: float
    seeds: UInt64Array


class Forest(NamedTuple):
    """Trees, what they were grown on, and how their bags are drawn again; `weight` counts copies of
    rows."""

    trees: Trees
    data: BinnedData
    target: Target
    weight: IntArray
    bags: Bags
    seed: int
    n_threads: int = 1

    def joined(self, other: Forest) -> Forest:
        """With the trees of another one of the same data; neither is of use afterwards."""
        seeds = np.concatenate([self.bags.seeds, other.bags.seeds])
        trees = join_trees([self.trees, other.trees], taken=True)
        bags = self.bags._replace(seeds=seeds)
        return self._replace(trees=trees, bags=bags)


def bags_of(weight: WeightArray, sampling: Sampling, seeds: UInt64Array) -> Bags:
    """The bags of trees with these streams, from the rows of positive weight."""
    rows = np.flatnonzero(weight).astype(np.int64)
    start = np.zeros(0, dtype=np.int64)
    if sampling.groups is not None:
        rows, start = _beside_each_other(rows, sampling.groups[rows])
    return Bags(rows, start, sampling.replace, sampling.share, seeds)


def _beside_each_other(rows: IntArray, groups: IntArray) -> tuple[IntArray, IntArray]:
    """Rows by groups and where each group begins; as they are if groups make no difference."""
    names, first, number = np.unique(groups, return_index=True, return_inverse=True)
    if len(names) in (1, len(rows)):
        return rows, np.zeros(0, dtype=np.int64)
    place = np.argsort(np.argsort(first))[number]
    start = np.concatenate([[0], np.cumsum(np.bincount(place))]).astype(np.int64)
    return rows[np.argsort(place, kind="stable")], start


@inner
def draw(bags, tree, state, counts, spare):
    """Draw the bag of a tree into `counts`, from its own stream, which is then in `state`."""
    state[0] = bags.seeds[tree]
    draw_bag(state, bags.in_rows, bags.start, bags.replace, bags.share, counts, spare)


@kernel
def redraw(bags, tree, state, counts, spare):
    """Write how often each row is in the bag of a tree."""
    draw(bags, tree, state, counts, spare)


def drawn(bags: Bags, tree: int, n_rows: int) -> IntArray:
    """How often each row is in the bag of a tree."""
    counts, spare = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=np.uint32)
    redraw(bags, tree, np.zeros(1, dtype=np.uint64), counts, spare)
    return counts


@inner
def has_room(bags, work, nodes, at):
    """Whether another tree may begin at a node: there is room, and no other thread has ended the
    growth."""
    return nodes.column.shape[0] - at >= 2 * bags.in_rows.shape[0] and work.stop[0] == 0


@inner
def start_tree(job, bags, opening, work, tree):
    """Draw and pack the bag of a tree: its ground, and its own opening."""
    draw(bags, tree, work.state, work.counts, work.spare)
    pack = pack_rows(job.target, job.weight, work.counts, work.moments, work.second, work.rows)
    for g in range(opening.is_open.shape[0]):
        work.is_open[g] = opening.is_open[g]
    if not opening.stays:
        reset_prices(opening.prices)
    own = Opening(opening.prices, work.is_open, opening.rank, opening.stays)
    return ground_of(job, pack), own


@inner
def end_tree(job, opening, own, nodes, n_nodes):
    """Open the groups that a tree has used, as far as they stay open after it."""
    if job.growth.opens_late:
        open_used(nodes, n_nodes, own, job.data)
    if opening.stays:
        for g in range(opening.is_open.shape[0]):
            opening.is_open[g] = own.is_open[g]


@kernel
def grow_trees_in_order(job, bags, opening, work, trees):
    """As :func:`grow_bagged_trees`, for trees that do not grow best first."""
    start = trees.start
    for i in range(bags.seeds.shape[0]):
        if not has_room(bags, work, trees.nodes, start[i]):
            return i
        ground, own = start_tree(job, bags, opening, work, i)
        nodes = nodes_from(trees.nodes, start[i])
        n_nodes = grow_in_order(ground, own, work, nodes)
        start[i + 1] = start[i] + n_nodes
        end_tree(job, opening, own, nodes, n_nodes)
    return bags.seeds.shape[0]


@kernel
def grow_trees_best_first(job, bags, opening, work, table, trees):
    """As :func:`grow_bagged_trees`, for trees that grow best first."""
    start = trees.start
    for i in range(bags.seeds.shape[0]):
        if not has_room(bags, work, trees.nodes, start[i]):
            return i
        ground, own = start_tree(job, bags, opening, work, i)
        nodes = nodes_from(trees.nodes, start[i])
        n_nodes = grow_best_first(ground, own, work, table, nodes)
        start[i + 1] = start[i] + n_nodes
        end_tree(job, opening, own, nodes, n_nodes)
    return bags.seeds.shape[0]


def grow_bagged_trees(
    job: Job, bags: Bags, opening: Opening, work: Workspace, table: LeafTable, trees: Trees
) -> int:
    """Grow one tree per bag, from ``start[0]`` on, until the room in `trees` may not suffice;
    returns how many. If `opening` stays it is changed to the groups that they have used. Two
    kernels, as most calls need only one, which is half as much to compile."""
    if job.growth.order == BEST_FIRST:
        return int(grow_trees_best_first(job, bags, opening, work, table, trees))
    return int(grow_trees_in_order(job, bags, opening, work, trees))


def bagged_forest(
    data: BinnedData,
    target: Target,
    weight: IntArray,
    *,
    n_trees: int,
    growth: Growth,
    seed: int,
    rank: IntArray,
    sampling: Sampling = BOOTSTRAP,
    penalty: SplitPenalty | None = None,
    is_open: BoolArray | None = None,
    shared: bool = False,
    n_threads: int = 1,
) -> Forest:
    """Forest of trees, each with a stream of its own, grown on bags of the distinct rows. `rank`
    tells which of two groups wins a tie. With `shared` trees grow one after the other, a group that
    one has opened is free for those after it, and `is_open` is changed. A DataError for arrays of
    another type, length or order, and for values that can't be."""
    is_open = np.zeros(data.n_groups, dtype=np.bool_) if is_open is None else is_open
    penalty = no_penalty(len(data.codes)) if penalty is None else penalty
    check_data(data)
    check_target(target, data.n_rows)
    check_weight(weight, data.n_rows)
    check_growth(growth, data, rank, is_open, penalty)
    bags = bags_of(weight, sampling, tree_seeds(seed, n_trees))
    opening = Opening(price_list(penalty, data, is_open), is_open, rank, shared)
    job, stop = Job(data, target, weight, growth), np.zeros(1, dtype=np.int64)
    cells = float(len(data.codes)) * len(bags.in_rows) * n_trees
    n_chunks = 1 if shared else min(n_parts(n_threads, cells), n_trees)
    parts = [bags._replace(seeds=own) for own in np.array_split(bags.seeds, n_chunks)]
    grown = each(lambda part: _grow_chunk(job, part, opening, stop), parts, cells, stop)
    return Forest(join_trees(grown, taken=True), data, target, weight, bags, seed, n_threads)


def _grow_chunk(job: Job, bags: Bags, opening: Opening, stop: IntArray) -> Trees:
    """One tree per bag; fewer if another thread sets `stop`."""
    data, target, weight, growth = job
    n_in, seeds, prices = len(bags.in_rows), bags.seeds, opening.prices
    work = workspace(data, target, weight, stop, carried=carries(data, target, growth))
    table = leaf_table(data, target, growth, n_in if growth.order == BEST_FIRST else 0)
    # Each thread has prices of its own, which the trees change.
    opening = opening._replace(prices=prices._replace(price=prices.price.copy()))
    largest = 2 * n_in  # a tree of leaves with one row each
    nodes = empty_nodes(max(largest, min(_ROOM, len(seeds) * largest)), target.n_classes)
    start = np.zeros(len(seeds) + 1, dtype=np.int64)
    done = 0
    while done < len(seeds) and not stop[0]:
        if done:  # the room did not suffice: trees of a forest are of about the same size
            used = int(start[done])
            expected = min(int(1.1 * len(seeds) / done * used), max(_MOST_ROOM, 8 * used))
            nodes = more_room(nodes, used, expected + largest)
        rest, trees = bags._replace(seeds=seeds[done:]), Trees(nodes, start[done:])
        done += grow_bagged_trees(job, rest, opening, work, table, trees)
    give_back(nodes, int(start[done]))
    return Trees(nodes, start[: done + 1])


def first_gains(data: BinnedData, target: Target, weight: IntArray, growth: Growth) -> FloatArray:
    """Gain of the best split of all rows on each column, shape (n_columns,), under the least weight
    and curvature of a leaf of `growth`; 0 if there is none."""
    check_data(data)
    check_target(target, data.n_rows)
    check_weight(weight, data.n_rows)
    work = workspace(data, target, weight)
    work.counts[:] = 1
    gains = np.zeros(len(data.codes))
    score_first_splits(Job(data, target, weight, growth), work, gains)
    return gains


@kernel
def score_first_splits(job, work, gains):
    """Write the gains of :func:`first_gains`."""
    pack = pack_rows(job.target, job.weight, work.counts, work.moments, work.second, work.rows)
    ground = ground_of(job, pack)
    sum_rows(pack, work, 0, pack.n_in, work.total)
    start_bounds(work.bounds)
    gather_rows(pack, work, 0, pack.n_in)
    for j in range(gains.shape[0]):
        gain, code, _ = score_column(ground, work, work.total, 0, j, 0.0, 0, pack.n_in)
        if code >= 0:
            gains[j] = gain
