"""A tree that grows best first, its columns shared between threads; none of them wide."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.targets import Target
from treeselect.engine.growing.best_first import Children, advance, score_blocks, start_tree
from treeselect.engine.growing.growth import Ground, Job, Workspace
from treeselect.engine.growing.leaf_table import LeafTable
from treeselect.engine.growing.nodes import Nodes
from treeselect.engine.splitting.penalty import Opening
from treeselect.engine.splitting.scans import Rule, Scratch, scratch


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
        growth = job.growth
        rule = Rule(growth.min_weight, growth.min_curvature * pack.second_unit)
        ground = Ground(job.data, pack, rule, growth)
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
