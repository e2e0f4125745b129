"""Elimination: the least important units are removed, and the others are judged anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.options import check_number, refuse_costs
from treeselect.algorithms.shared.orders import first_units, ranking
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.splitting.candidates import can_split

_ONE_BY_ONE = 30
"""Number of units from which they are removed one at a time."""


class Judged(Protocol):
    """Importances of the units of a set."""

    @property
    def importance(self) -> FloatArray:
        """Minus infinity for useless units; shape (n_groups,)."""
        ...


J = TypeVar("J", bound=Judged)


class LeavesShare(Protocol):
    """A method that eliminates units until a share is left."""

    @property
    def share(self) -> float | None: ...

    @property
    def step(self) -> float: ...

    def longest(self, task: Task) -> int: ...

    def path_at(self, fixed: Step, task: Task) -> tuple[Step, ...]: ...

    def path_along(self, steps: Sequence[Step], task: Task) -> tuple[Step, ...]: ...


def check_shares(method: LeavesShare) -> None:
    """Raise a MethodError unless `share` and `step` are in range."""
    check_number(method, "share", above=0.0, most=1.0, optional=True)
    check_number(method, "step", above=0.0, most=0.9)


def path_of_shares(
    method: LeavesShare,
    task: Task,
    judge: Callable[[BoolArray], Judged],
    score: Callable[[BoolArray], float],
) -> tuple[Step, ...]:
    """Path of the remaining units (see ``Method.path``).

    Parameters
    ----------
    method : LeavesShare
    task : Task
    judge, score : callable
        The importances of a set's units, and its training score.

    Raises
    ------
    MethodError
        If there are costs.
    """
    groups = task.problem.groups
    refuse_costs(method, groups)
    able = can_split(task.problem.data, task.weight) | groups.keep
    n = int(able.sum())
    if method.share is None:
        last, most = 0, method.longest(task)
    else:
        last = most = max(round(method.share * n), 1)
    last = max(last, int(groups.keep.sum()))

    def next_size(size: int) -> int | None:
        return fewer(size, last, method.step)

    found = eliminate(judge, able, groups.keep, groups.ranks(task.seed), next_size)
    # If no set has the largest size that is wanted, the next larger one is needed.
    sizes = [int(left.sum()) for left, _ in found]
    enough = min((size for size in sizes if size >= most), default=max(sizes))
    steps = []
    for left, judged in reversed(found):
        if left.sum() <= enough:
            is_empty = not (left & ~groups.keep).any()
            tuning = np.inf if is_empty else method.share or float(left.sum()) / n
            steps.append(ranked_step(tuning, left, judged.importance, score(left)))
    if method.share is not None:
        return method.path_at(steps[0], task)
    return method.path_along(steps, task)


def eliminate(
    judge: Callable[[BoolArray], J],
    first: BoolArray,
    keep: BoolArray,
    ranks: IntArray,
    next_size: Callable[[int], int | None],
) -> list[tuple[BoolArray, J]]:
    """Nested sets from the largest on, each with the importances of its units.

    Useless units are removed at once.

    Parameters
    ----------
    judge : callable
        Importances of the units of a set.
    first : ndarray of bool, shape (n_groups,)
        The largest set: units that can split, and those forced in.
    keep : ndarray of bool, shape (n_groups,)
        Units that are never removed.
    ranks : ndarray of int64, shape (n_groups,)
        Order of ties.
    next_size : callable
        Number of remaining units after the next removal; None at the end.
    """
    left = first
    found: list[tuple[BoolArray, J]] = []
    while True:
        judged = judge(left)
        order = ranking(judged.importance, keep, ranks)
        if len(order) < left.sum():
            left = first_units(order, len(order), len(left))
        found.append((left, judged))
        size = next_size(int(left.sum()))
        if size is None:
            return found
        left = first_units(order, size, len(left))


def fewer(size: int, last: int, share: float) -> int | None:
    """Number of units after the next removal: of a share, or of one unit of at most 30; None at the
    end.
    """
    if size <= last:
        return None
    gone = int(share * size) if size > _ONE_BY_ONE else 1
    return max(size - max(gone, 1), min(_ONE_BY_ONE, size - 1), last)
