"""Sizes of a path: those that it has, those that it skips, and sets cut to a size."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from treeselect.algorithms.shared.base import Step, empty_step, shares
from treeselect.engine.arrays import BoolArray
from treeselect.engine.rounding import falling


def skipped_sizes(path: Sequence[Step]) -> list[int]:
    """Sizes between the first and the last step that no step has."""
    sizes = {step.size for step in path}
    return [size for size in range(min(sizes), max(sizes)) if size not in sizes]


def step_within(path: Sequence[Step], size: int) -> Step:
    """The last step of at most `size` units; the first one if all have more."""
    return next((step for step in reversed(path) if step.size <= size), path[0])


def step_of_size(path: Sequence[Step], size: int, keep: BoolArray) -> Step:
    """The step with `size` units; if the path skips this size, the next larger step, cut.

    Units are cut by increasing importance in the weighted ensemble; those forced in are never cut.
    If the path ends before `size`, its last step.
    """
    step = next((s for s in path if s.size >= size), path[-1])
    if step.size <= size:
        return step
    if size == 0:
        return empty_step(len(keep))
    worth = np.where(keep, np.inf, np.where(step.selected, step.importance, -np.inf))
    chosen = falling(worth)[:size]
    selected = np.zeros_like(step.selected)
    selected[chosen] = True
    importance = shares(np.where(selected, step.importance, 0.0))
    return dataclasses.replace(  # what was said and seen is of the larger set
        step, selected=selected, importance=importance, cut_from=step.size, notes=(), trace=None
    )
