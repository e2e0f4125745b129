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
from treeselect.engine.columns import BinnedData
from treeselect.engine.compiling import inner
from treeselect.engine.tree.histogram import MOST_CODES, cell_size
from treeselect.engine.tree.target import Packing, Target
from treeselect.engine.tree.used_groups import can_split
from treeselect.errors import DataError

DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST = 0, 1, 2
"""Orders in which nodes are split."""

UNBOUNDED = 2**31 - 1


class Growth(NamedTuple):
    """How a tree may grow.

    - max_depth: of a leaf, the root being 0; max_leaves: at least 1.
    - min_weight, min_curvature: least weight (rows, counting copies) and sum of curvatures of a
      leaf; min_split: least weight of a node that is split.
    - n_candidates: closed groups tried at a node, drawn at random without replacement; all of them
      if this is at least their number. A group that is constant in the node uses up its place; one
      that is constant in all rows has none.
    - min_gain: a split must be worth more, in units of the gain (see ``used_groups``).
    - all_open: whether all open groups are tried beside these, as in RRF (Algorithm 1 of Deng and
      Runger 2012); otherwise the draw is from all groups, open or not.
    - order: ``DEPTH_FIRST``, ``BREADTH_FIRST`` or ``BEST_FIRST``: which node is split next. It
      matters where a split opens a group, and where `max_leaves` ends the growth.
    - random_ties: whether equal splits have equal chances; otherwise an open group wins, then the
      lower rank. Not for ``BEST_FIRST``. Where all open groups are tried and only some of the
      closed ones, a coin decides between each split and the best of those before it, the closed
      groups being first: so it is in the authors' package of regularised random forests, which
      looks at all groups in random order but soon has its fill of closed ones.
    - opens_late: whether a group that a tree has split on stays closed until the tree is grown, so
      that each of these splits pays for it.
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
    """What trees are grown on, and how; `weight`, int64 (n_rows,), counts copies of rows, 0 leaves
    one out."""

    data: BinnedData
    target: Target
    weight: IntArray
    growth: Growth


class Ground(NamedTuple):
    """What one tree is grown on: the packing of its rows, which a workspace holds, and what each
    side of a split must have, in packed units."""

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

    - moments, second: packed rows; `second` is empty but for Newton steps and several gradients.
      label: classes of the rows. leaf_moments, leaf_second, leaf_label: of one node, side by side.
    - rows, spare: rows of the bag, those of a node beside each other. side: where rows go at a
      split of a wide column. cells: codes of the rows of a node in one column.
    - words, (n_blocks, n_rows): blocks of codes, those of a node beside each other, where rows are
      carried (see :func:`carries`); else (0, n_rows). spare_words: as long.
    - histogram: room for eight columns, or one if there are classes, and then for a wide one;
      touched, present: see ``histogram.list_codes``.
    - able: groups that can split, rising; order: the same, open ones first if all of them are
      candidates; place: where each group stands in it; ranked: the same, open ones first, then by
      rank; by_rank: working memory for it (see ``used_groups.start_ranks``).
    - waiting, (n_rows + 2, 4): nodes that are not split yet. total, part: sums of a node and of a
      child; value: that of a child.
    - counts: how often each row is in the bag; is_open: the open groups of the tree that grows;
      state: its random stream; stop: growth ends early when another thread sets it.
    - bounds, (2 * n_rows, 2): least and greatest value of each node; (0, 2) without constraints.
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
    """Whether what belongs to a row moves with it when nodes are split: codes and moments of a node
    then stand side by side, while row numbers lead all over the memory, which takes several times
    as long with half a million rows. The trees are the same."""
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


ENOUGH_ROWS = 1024
"""Rows of a bag from which on histograms are kept: less costs more than it saves."""


MOST_MEMORY = 2**29
"""Most bytes of histograms."""


class LeafTable(NamedTuple):
    """The leaves of a tree that grows best first, at most `n` of them.

    - leaf, (n, 5): number of the node, its first and last row, its depth, and the column of its
      best split, -1 if it has none; worth: of that split; base: the node's own term (see
      ``used_groups``), 0 unless the criterion is un-centred; total: its sums.
    - gain, code, missing_left, (n, n_columns): the best split of each column; gain -1 if there is
      none.
    - histogram, (n, cells of all columns), or (0, 0) if no histograms are kept.
    """

    leaf: IntArray
    worth: FloatArray
    base: FloatArray
    total: IntArray
    gain: FloatArray
    code: AnyArray
    missing_left: BoolArray
    histogram: IntArray


def leaf_table(data: BinnedData, target: Target, growth: Growth, n_rows: int) -> LeafTable:
    """Memory for trees on at most `n_rows` rows: 11 bytes for each leaf and column, so that wide
    data want a bound on the leaves, and histograms up to ``MOST_MEMORY``."""
    n = max(min(growth.max_leaves, n_rows), 1)
    n_columns = len(data.codes)
    width = 256 * 8 * len(data.blocks) * cell_size(target)
    keeps = (
        not target.has_outputs
        and n_rows >= ENOUGH_ROWS
        and growth.n_candidates >= data.n_groups
        and 8 * n * width <= MOST_MEMORY
    )
    return LeafTable(
        leaf=np.zeros((n, 5), dtype=np.int64),
        worth=np.zeros(n),
        base=np.zeros(n),
        total=np.zeros((n, max(target.n_classes, 2)), dtype=np.int64),
        gain=np.zeros((n, n_columns)),
        code=np.zeros((n, n_columns), dtype=np.uint16),
        missing_left=np.zeros((n, n_columns), dtype=np.bool_),
        histogram=np.zeros((n, width) if keeps else (0, 0), dtype=np.int64),
    )


class Scratch(NamedTuple):
    """Working memory for the scan of one column."""

    left: IntArray
    second: IntArray
    gradient: FloatArray
    weight: FloatArray
    score: FloatArray
    cells: IntArray
    sides: FloatArray


def scratch(n_classes: int) -> Scratch:
    """Working memory for `n_classes` classes."""
    return Scratch(
        np.zeros(256, dtype=np.int64), np.zeros(256, dtype=np.int64),
        np.zeros(256), np.zeros(256), np.zeros(256), np.zeros(512, dtype=np.int64),
        np.zeros((4, n_classes)),
    )  # fmt: skip


class Rule(NamedTuple):
    """What each side of a split must have: rows, counting copies, and sum of curvatures, in packed
    units, above 0."""

    min_weight: int
    min_curvature: float
