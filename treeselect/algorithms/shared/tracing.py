"""A path over the tuning parameter, for methods that grow an ensemble at each value.

The number of units in an ensemble increases with the parameter only roughly, since each
ensemble is grown greedily, so sizes are found by search. Of several values with the same size,
the most regularised is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from treeselect.algorithms.shared.base import Step, best_of_each_size
from treeselect.algorithms.shared.task import Task

_FIRST = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Positions that are always tried."""

_AT_ONCE = 4
"""Positions tried together afterwards, for any number of threads."""

_MOST_TRIALS = 33
_FINEST = 2.0**-8


def trace(
    try_at: Callable[[float], Step],
    task: Task,
    end: Callable[[Sequence[Step]], Sequence[Step]],
) -> tuple[Step, ...]:
    """Steps of sizes up to the largest that is wanted.

    Parameters
    ----------
    try_at : callable
        The step at a position between 0, where only units forced in are selected, and 1, the least
        regularised.
    task : Task
        The search goes on until an ensemble of `max_size` is found, or until the values on both
        sides of it are too close; then the next larger ensemble ends the path.
    end : callable
        Applied to all steps found, before one of each size is kept.

    Returns
    -------
    tuple of Step
        In order of increasing size.
    """
    trials: dict[float, Step] = {}
    with ThreadPoolExecutor(task.n_threads) as pool:
        positions: Sequence[float] = _FIRST
        while positions:
            trials |= zip(positions, pool.map(try_at, positions), strict=True)
            positions = _next_positions(trials, task.max_size, every_size=task.every_size)
    steps = [trials[position] for position in sorted(trials)]
    return rising(end(steps), task.max_size)


def _next_positions(trials: dict[float, Step], max_size: int, *, every_size: bool) -> list[float]:
    """Midpoints of the gaps in which sizes are missing, those around `max_size` first."""
    if len(trials) >= _MOST_TRIALS:
        return []
    found = {step.size for step in trials.values()}
    largest = max(found)
    least = min(found) + 1 if every_size else max_size
    missing = [s for s in range(least, min(max_size, largest) + 1) if s not in found]
    gaps = []
    for low, high in pairwise(sorted(trials)):
        sizes = sorted((trials[low].size, trials[high].size))
        inside = sum(sizes[0] < size < sizes[1] for size in missing)
        if inside and high - low >= 2 * _FINEST:
            holds_last = max_size in missing and sizes[0] < max_size < sizes[1]
            gaps.append((not holds_last, -inside, (low + high) / 2))
    return [middle for _, _, middle in sorted(gaps)[:_AT_ONCE]]


def rising(steps: Sequence[Step], max_size: int) -> tuple[Step, ...]:
    """One step of each size up to `max_size`; if that size is missing, also the next larger one."""
    by_size = best_of_each_size(steps)
    sizes = sorted(by_size)
    kept = [size for size in sizes if size <= max_size]
    if max_size not in by_size:
        kept += [size for size in sizes if size > max_size][:1]
    return tuple(by_size[size] for size in kept)
