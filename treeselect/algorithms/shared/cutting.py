"""Sets of a path that give way to larger ones, cut to their size.

The first units of a path over a rising coefficient are the best of a few drawn at random: as long
as none is in use, none competes. The most important units of a larger set are often better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from treeselect.algorithms.shared.base import Step, best_of_each_size, ranked_step
from treeselect.algorithms.shared.exchanging import usual_trees
from treeselect.algorithms.shared.judged_rows import rows_to_judge
from treeselect.algorithms.shared.judging import Judge
from treeselect.algorithms.shared.scoring import score_of
from treeselect.algorithms.shared.sizes import step_of_size
from treeselect.algorithms.shared.task import Task
from treeselect.designs.nouns import noun_of
from treeselect.engine.rounding import at_least, falling

_ROWS = 10_000
"""Most rows on which sets are compared."""


def with_cuts(task: Task, steps: Sequence[Step]) -> tuple[Step, ...]:
    """A path whose sets give way to larger ones, cut to their size, that are clearly better.

    Of each size that is wanted, or below it was found, the first set (if there is none, the next
    larger one, cut) competes with all sets of at least that size, cut to their most important
    units. It gives way to the best of those that cost no more, and whose out-of-bag error is lower
    by more than the standard error of the difference (see ``Judge.rise``), with forests of 100
    trees, down to 30 on more than 3,000 rows.

    Parameters
    ----------
    task : Task
    steps : sequence of Step
        All that were found, in any order.

    Returns
    -------
    tuple of Step
        In order of increasing size, at most one of each.
    """
    groups, of_size = task.problem.groups, best_of_each_size(steps)
    keep = groups.keep
    own = [of_size[size] for size in sorted(of_size)]
    most = min(task.max_size, own[-1].size)
    wanted = range(int(keep.sum()) + 1, most + 1)
    sizes = wanted if task.every_size else [n for n in wanted if n in of_size or n == most]
    n_rows = len(task.once(rows_to_judge, _ROWS).places)
    judge = Judge(task, usual_trees(n_rows), "cut", _ROWS)
    for size in sizes:
        start = step_of_size(own, size, keep)
        cuts = [(step_of_size([step], size, keep), step) for step in steps if step.size >= size]
        budget = groups.costs[start.selected].sum()
        cuts = [pair for pair in cuts if at_least(budget, groups.costs[pair[0].selected].sum())]
        judge.learn([start.selected, *(cut.selected for cut, _ in cuts)])
        better = [pair for pair in cuts if _is_better(judge, pair[0], start)]
        if better:
            errors = np.array([judge.error(cut.selected) for cut, _ in better])
            cut, whole = better[falling(-errors)[0]]
            of_size[size] = _replaced(task, cut, whole, start)
    return tuple(of_size[size] for size in sorted(of_size))


def _is_better(judge: Judge, one: Step, other: Step) -> bool:
    rise, spread = judge.rise(other.selected, one.selected)
    return rise < -spread


def _replaced(task: Task, cut: Step, whole: Step, before: Step) -> Step:
    """The step of a set that replaces another, with the out-of-bag score of a forest on it."""
    score = score_of(task, cut.selected)
    step = ranked_step(cut.tuning, cut.selected, cut.importance, score)
    if whole.size == cut.size:
        return step
    one, own = (
        ("the most important one", "the one")
        if cut.size == 1
        else (f"the {cut.size} most important", f"the {cut.size}")
    )
    where = (
        "the path has at this size" if before.cut_from is None else f"cut from {before.cut_from}"
    )
    note = (
        f"Cut from {whole.size} {noun_of(task.problem.groups.terms)}: forests on {one} have a lower"
        f" out-of-bag error than on {own} {where}."
    )
    return dataclasses.replace(step, notes=(note,))
