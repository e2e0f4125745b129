"""A tree that grows best first, its columns shared between threads; none of them wide."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from treeselect.engine.arrays import BoolArray, IntArray
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.moments import Packing
from treeselect.engine.data.targets import Target
from treeselect.engine.growing.best_first import LeafTable, advance, score_blocks, start_tree
from treeselect.engine.growing.growth import Growth, Workspace
from treeselect.engine.growing.nodes import Nodes
from treeselect.engine.splitting.means import Rule, Scratch, scratch
from treeselect.engine.splitting.penalty import Prices


class SharedTree:
    """Grows trees best first, the columns of each shared between threads."""

    def __init__(self, data: BinnedData, target: Target, table: LeafTable, n_threads: int) -> None:
        n_blocks = len(data.blocks)
        self._edges = np.linspace(0, n_blocks, min(n_threads, n_blocks) + 1).astype(int).tolist()
        self._scratch = [scratch(target.n_classes) for _ in self._edges[1:]]
        self._pool = ThreadPoolExecutor(max(len(self._scratch) - 1, 1))
        self._data, self._table = data, table
        self._ones = np.ones(data.n_rows, dtype=np.int64)

    def __enter__(self) -> SharedTree:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def grow(
        self,
        target: Target,
        weight: IntArray,
        growth: Growth,
        prices: Prices,
        is_open: BoolArray,
        rank: IntArray,
        work: Workspace,
        nodes: Nodes,
        first: int,
    ) -> int:
        """As :func:`grow_best_first`, on all rows with positive weight."""
        data, table = self._data, self._table
        pack, light = start_tree(
            data, target, weight, self._ones, growth, prices, work, table, nodes, first
        )
        rule = Rule(growth.min_weight, growth.min_curvature * pack.second_unit)
        n_leaves, slot, opened, heavy = 1, -1, -1, False
        while True:
            if light or heavy:
                self._score(pack, rule, work, n_leaves - 1, slot, light, heavy)
            slot, light, heavy, opened = advance(
                data, pack, growth, prices, is_open, rank, work, table, nodes, first,
                n_leaves, slot, opened,
            )  # fmt: skip
            if slot < 0:
                return 2 * n_leaves - 1
            n_leaves += 1

    def _score(
        self, pack: Packing, rule: Rule, work: Workspace, last: int, slot: int, light: bool,
        heavy: bool,
    ) -> None:  # fmt: skip
        def score(part: int, scratch: Scratch) -> Any:
            score_blocks(
                self._data, pack, rule, work, scratch, self._table, last, slot, light, heavy,
                self._edges[part], self._edges[part + 1],
            )  # fmt: skip

        others = [
            self._pool.submit(score, part, own)
            for part, own in enumerate(self._scratch[1:], start=1)
        ]
        score(0, self._scratch[0])
        for other in others:
            other.result()
