"""How a tree may grow, and the working memory for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    Int32Array,
    IntArray,
    UInt8Array,
    UInt16Array,
    UInt32Array,
    UInt64Array,
    WeightArray,
)
from treeselect.engine.cache import inner
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.moments import Packing
from treeselect.engine.data.targets import Target
from treeselect.engine.splitting.candidates import can_split
from treeselect.engine.splitting.histograms import MOST_CODES, cell_size
from treeselect.engine.splitting.scans import Rule, Scratch, scratch
from treeselect.errors import DataError

DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST = 0, 1, 2
"""Orders in which nodes are split."""

UNBOUNDED = 2**31 - 1


class Growth(NamedTuple):
    """How a tree may grow.

    Attributes
    ----------
    max_depth : int
        Greatest depth of a leaf, the root being 0.
    min_weight : int
        Least weight (rows, counting copies) of a leaf.
    n_candidates : int
        Closed groups tried at a node, drawn at random without replacement; all of them if this is
        at least their number. A group that is constant in the node uses up its place; one that is
        constant in all rows has none.
    min_gain : float
        A split must be worth more than this, in units of the gain (see ``penalty``).
    all_open : bool
        Whether all open groups are tried beside these, as in RRF (Algorithm 1 of Deng and Runger
        2012); otherwise the draw is from all groups, open or not.
    order : int
        ``DEPTH_FIRST``, ``BREADTH_FIRST`` or ``BEST_FIRST``: which node is split next. It matters
        where a split opens a group, and where `max_leaves` ends the growth.
    max_leaves : int
        Most leaves, at least 1.
    min_curvature : float
        Least sum of curvatures of a leaf, for Newton steps; above 0.
    random_ties : bool
        Whether equal splits have equal chances; otherwise an open group wins, then the lower rank.
        Not for ``BEST_FIRST``. Where all open groups are tried and only some of the closed ones, a
        coin decides between each split and the best of those before it, the closed groups being
        first: so it is in the authors' package of regularised random forests, which looks at all
        groups in random order but soon has its fill of closed ones.
    opens_late : bool
        Whether a group that a tree has split on stays closed until the tree is grown, so that each
        of these splits pays for it.
    min_split : int
        Least weight of a node that is split.
    """

    max_depth: int
    min_weight: int
    n_candidates: int
    min_gain: float
    all_open: bool = False
    order: int = DEPTH_FIRST
    max_leaves: int = UNBOUNDED
    min_curvature: float = 1e-9
    random_ties: bool = False
    opens_late: bool = False
    min_split: int = 1


class Job(NamedTuple):
    """What trees are grown on, and how.

    Attributes
    ----------
    data : BinnedData
    target : Target
    weight : ndarray of int64, shape (n_rows,)
        Copies of each row, 0 leaves it out.
    growth : Growth
    """

    data: BinnedData
    target: Target
    weight: IntArray
    growth: Growth


class Ground(NamedTuple):
    """What one tree is grown on, and by which rules.

    Attributes
    ----------
    data : BinnedData
    pack : Packing
        Of the rows of the bag, which a workspace holds.
    rule : Rule
        What each side of a split must have, in packed units.
    growth : Growth
    """

    data: BinnedData
    pack: Packing
    rule: Rule
    growth: Growth


@inner
def ground_of(job, pack):
    """The ground of a tree, whose rows have been packed."""
    growth = job.growth
    rule = Rule(growth.min_weight, growth.min_curvature * pack.second_unit)
    return Ground(job.data, pack, rule, growth)


class Workspace(NamedTuple):
    """Memory that one thread needs to grow trees, reused from tree to tree.

    Attributes
    ----------
    side : ndarray of uint8, shape (n_rows,)
        Where rows go at a split of a wide column; empty where there is none.
    cells : ndarray of uint16, shape (n_rows,)
        Codes of the rows of a node in one column.
    moments, second : ndarray of int64, shape (n_rows,)
        Packed rows; `second` is empty but for Newton steps and several gradients.
    rows, spare : ndarray of uint32, shape (n_rows,)
        Rows of the bag, those of a node beside each other.
    leaf_moments, leaf_second : ndarray of int64, shape (n_rows,)
        Packed rows of one node.
    words : ndarray of uint64, shape (n_blocks, n_rows)
        Blocks of codes of the rows of the bag, those of a node beside each other, where rows are
        carried (see :func:`carries`); else (0, n_rows).
    spare_words : ndarray of uint64, shape (n_rows,)
    label, leaf_label : ndarray of uint8, shape (n_rows,)
        Classes of the rows, and of those of one node; empty where there are none.
    histogram : ndarray of int64
        Room for eight columns, or one if there are classes, and then for a wide one.
    touched, present
        See ``histograms.list_codes``.
    able : ndarray of int32, shape (n_able,)
        Groups that can split, rising.
    order : ndarray of int32, shape (n_able,)
        The same groups: open ones first if all of them are candidates.
    place : ndarray of int32, shape (n_groups,)
        Where each group stands in `order`.
    ranked : ndarray of int32, shape (n_able,)
        The same groups: open ones first, then by rank; see ``candidates.start_ranks``.
    by_rank : ndarray of int32, shape (n_groups,)
        Working memory for `ranked`.
    waiting : ndarray of uint32, shape (n_rows + 2, 4)
        Nodes that are not split yet.
    total : ndarray of int64, shape (max(n_classes, 2),)
        Sums of a node.
    scratch : Scratch
    counts : ndarray of int64, shape (n_rows,)
        How often each row is in the bag.
    is_open : ndarray of bool, shape (n_groups,)
        The open groups of the tree that grows.
    state : ndarray of uint64, shape (1,)
        The tree's random stream.
    stop : ndarray of int64, shape (1,)
        Growth ends early when another thread sets it.
    bounds : ndarray of float64, shape (2 * n_rows, 2)
        Least and greatest value of each node of the tree that grows; (0, 2) without constraints.
    part : ndarray of int64, shape (max(n_classes, 2),)
        Sums of a child.
    value : ndarray of float64, shape (n_classes,)
        Its value.
    """

    side: UInt8Array
    cells: UInt16Array
    moments: IntArray
    second: IntArray
    rows: AnyArray
    spare: AnyArray
    leaf_moments: IntArray
    leaf_second: IntArray
    words: UInt64Array
    spare_words: UInt64Array
    label: AnyArray
    leaf_label: AnyArray
    histogram: IntArray
    touched: UInt64Array
    present: IntArray
    able: Int32Array
    order: Int32Array
    place: Int32Array
    ranked: Int32Array
    by_rank: Int32Array
    waiting: UInt32Array
    total: IntArray
    scratch: Scratch
    counts: IntArray
    is_open: BoolArray
    state: UInt64Array
    stop: IntArray
    bounds: FloatArray
    part: IntArray
    value: FloatArray


_MOST_CARRIED = 4
"""Most blocks of eight columns that rows are carried with."""


def carries(data: BinnedData, target: Target, growth: Growth) -> bool:
    """Whether what belongs to a row moves with it when nodes are split.

    Codes and moments of a node then stand side by side and are read one after the other, while row
    numbers lead all over the memory: with half a million rows that takes several times as long.
    Histograms are the same, and so are the trees.
    """
    return (
        growth.order != BEST_FIRST
        and not (target.has_pairs or target.has_outputs)
        and not len(data.wide)
        and not len(data.monotone)
        and len(data.blocks) <= _MOST_CARRIED
    )


def workspace(
    data: BinnedData,
    target: Target,
    weight: WeightArray,
    stop: IntArray | None = None,
    *,
    carried: bool = False,
) -> Workspace:
    """Memory for trees on the rows with weight; threads that end together share `stop`."""
    if len(data.monotone) and target.n_classes > 2:
        raise DataError(
            "`monotone` must be empty for trees of several outputs, which have no order.\n"
            f"  Found: {target.n_classes} outputs."
        )
    n_rows, n_groups = data.n_rows, data.n_groups
    n_second = n_rows * (target.n_classes if target.is_vector else int(target.has_pairs))
    n_labels = len(target.label)
    size = cell_size(target)
    has_wide = len(data.wide) > 0
    able = np.flatnonzero(can_split(data, weight)).astype(np.int32)
    n_cells = 256 * (1 if target.has_outputs else 8) + (MOST_CODES if has_wide else 0)
    return Workspace(
        side=np.zeros(n_rows if has_wide else 0, dtype=np.uint8),
        cells=np.zeros(n_rows, dtype=np.uint16),
        moments=np.zeros(n_rows, dtype=np.int64),
        second=np.zeros(n_second, dtype=np.int64),
        rows=np.zeros(n_rows, dtype=np.uint32),
        spare=np.zeros(n_rows, dtype=np.uint32),
        leaf_moments=np.zeros(n_rows, dtype=np.int64),
        leaf_second=np.zeros(n_second, dtype=np.int64),
        words=np.zeros((len(data.blocks) if carried else 0, n_rows), dtype=np.uint64),
        spare_words=np.zeros(n_rows if carried else 0, dtype=np.uint64),
        label=target.label,
        leaf_label=np.zeros(n_labels, dtype=np.uint8),
        histogram=np.zeros(n_cells * size, dtype=np.int64),
        touched=np.zeros(1040 if has_wide else 4, dtype=np.uint64),
        present=np.zeros(MOST_CODES + 1 if has_wide else 257, dtype=np.int64),
        able=able,
        order=able.copy(),
        place=np.arange(n_groups, dtype=np.int32),
        ranked=able.copy(),
        by_rank=np.zeros(n_groups, dtype=np.int32),
        waiting=np.zeros((n_rows + 2, 4), dtype=np.uint32),
        total=np.zeros(max(target.n_classes, 2), dtype=np.int64),
        scratch=scratch(target.n_classes),
        counts=np.zeros(n_rows, dtype=np.int64),
        is_open=np.zeros(n_groups, dtype=np.bool_),
        state=np.zeros(1, dtype=np.uint64),
        stop=np.zeros(1, dtype=np.int64) if stop is None else stop,
        bounds=np.zeros((2 * n_rows if len(data.monotone) else 0, 2)),
        part=np.zeros(max(target.n_classes, 2), dtype=np.int64),
        value=np.zeros(target.n_classes),
    )
