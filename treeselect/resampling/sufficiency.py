"""Whether a set is sufficient: whether any larger set predicts better, by tests that count the
search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from treeselect.algorithms.method import Method
from treeselect.algorithms.search.exchanging import sure_rows, usual_trees
from treeselect.algorithms.search.judging import Judge, rows_to_judge
from treeselect.algorithms.task import Step, Task, ranked_step, step_of_size, step_within
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.linear.additive import fit_additive
from treeselect.engine.linear.additive_search import exchanged
from treeselect.engine.linear.score_test import score_test
from treeselect.engine.splitting.candidates import can_split
from treeselect.engine.survival.times import STRATUM

LEVEL = 0.032
"""Level of the test of single effects that a set is sufficient."""

_TIMES = 4
"""Times as small is the level of the test of sets that the search found."""

_WIDER = 1.5
"""Variance of the statistic of Clark and West if nothing is added, at most: it is then degenerate,
and wider than normal."""

_AHEAD = 3
"""Larger sets that a set is tested against, the next ones on the path."""

_NEGLIGIBLE = 0.005
"""Share of what a set explains that is not worth another unit."""

_TRIED = 3
"""Units that are tried for removal, those needed least."""


class Sufficient(NamedTuple):
    """The smallest sufficient set of a path.

    Attributes
    ----------
    step : Step
    steps : tuple of Step
        The path, up to a few steps beyond, with `step` in the place of that of its size.
    p_values : ndarray of float, shape (step.size + 1,)
        By size, of the hypothesis that no larger set predicts better; NaN for sizes not tested.
    """

    step: Step
    steps: tuple[Step, ...]
    p_values: FloatArray


def sufficient_step(task: Task, method: Method, path: Iterator[Step]) -> Sufficient:
    """The first set along a path that no larger set beats, without units that it can do without.

    Sets are tested in order of size against the next three sizes. A set is also sufficient if none
    of these explains more by a two-hundredth of what it explains itself. Where none is sufficient,
    it is the last. From the first sufficient set units are removed again as long as what is left is
    sufficient: a path may have taken up one early that another made redundant.

    Parameters
    ----------
    task : Task
    method : Method
        If it can predict from any set, sizes that the path skips are cut from the next larger step,
        and units may be removed; otherwise only sets of the path are considered.
    path : iterator of Step
        That of the method; not followed further than needed.
    """
    tests, keep, steps = Sufficiency(task), task.problem.groups.keep, [next(path)]
    cuts = method.predicts_any_set

    def reaches(size: int) -> bool:
        while steps[-1].size < size and (step := next(path, None)) is not None:
            steps.append(step)
        return steps[-1].size >= size

    p_values, size = np.full(len(keep) + 1, np.nan), steps[0].size
    while True:
        found = step_of_size(steps, size, keep) if cuts else step_within(steps, size)
        reaches(size + _AHEAD)
        larger = [step.selected for step in steps if size < step.size <= size + _AHEAD]
        if found.size == size:
            p_values[size] = tests.p_value(found.selected, larger)
            if p_values[size] > LEVEL or tests.is_nearly_best(found.selected, larger):
                break
        if not reaches(size + 1):
            break
        size += 1
    selected, p_value = found.selected, p_values[found.size]
    while p_value > LEVEL and cuts and (less := tests.reduced(selected, keep)) is not None:
        selected, p_value = less
        p_values[selected.sum()] = p_value
    if selected is not found.selected:
        worth = np.zeros(len(selected))
        worth[selected] = tests.rises_without(selected)
        tuning = next((step.tuning for step in steps if step.size == selected.sum()), np.nan)
        found = method.step_of_set(task, ranked_step(tuning, selected, worth, np.nan))
    others = [step for step in steps if step.size != found.size]
    along = tuple(sorted([*others, found], key=lambda step: step.size))
    return Sufficient(found, along, p_values[: found.size + 1])


class Sufficiency:
    """Tests that no larger set predicts better, for the sets of one task.

    Parameters
    ----------
    task : Task
    """

    def __init__(self, task: Task) -> None:
        problem = task.problem
        rows = task.once(rows_to_judge, sure_rows(task))
        own = rows.weights
        n_trees = task.n_judge_trees or usual_trees(len(rows.places))
        self._judge = task.once(Judge, n_trees, "sure", sure_rows(task))
        self._family = problem.family
        self._loss = self._family.loss.of(problem.y[rows.places], own.values)
        base = problem.constant(task.weight)[rows.places]
        self._base = base.reshape(len(rows.places), -1)
        self._able = can_split(rows.data, (own.values > 0).astype(np.int64))
        stratum = problem.y[rows.places, STRATUM] if self._family.has_times else np.zeros(1)
        self._strata = stratum.astype(np.int64) if np.ptp(stratum) > 0 else None
        self._clusters = own.blocks if own.blocks is not None else own.error_groups

    def p_value(self, selected: BoolArray, larger: Sequence[BoolArray]) -> float:
        """P-value of the hypothesis that no larger set predicts better: that of the score test,
        unless this is above the level, and the search found a set that rejects it. On noise it is
        thus nearly uniform.

        Parameters
        ----------
        selected : ndarray of bool, shape (n_groups,)
        larger : sequence of ndarray of bool
            Larger sets that the search found.
        """
        p_value = self.of_units(selected)
        if p_value > LEVEL:
            found = min((self._of_larger(selected, other) for other in larger), default=1.0)
            p_value = found if found <= LEVEL else p_value
        return p_value

    def is_nearly_best(self, selected: BoolArray, larger: Sequence[BoolArray]) -> bool:
        """Whether no larger set explains more by a two-hundredth of what this one explains."""
        own, whole = self._judge.error(selected), self._judge.error(np.zeros_like(selected))
        least = min([own, *map(self._judge.error, larger)])
        return own - least <= _NEGLIGIBLE * (whole - own)

    def reduced(self, selected: BoolArray, keep: BoolArray) -> tuple[BoolArray, float] | None:
        """The set without one unit that is not needed, with its p-value; None if all are."""
        units = np.flatnonzero(selected)
        rises = np.where(keep[units], np.inf, self.rises_without(selected))
        best = None
        for unit in units[np.argsort(rises, kind="stable")][:_TRIED].tolist():
            if keep[unit]:
                continue
            rest = exchanged(selected, unit, None)
            if self._of_larger(rest, selected) <= LEVEL:
                continue
            p_value = self.p_value(rest, [selected])
            if p_value > LEVEL and (best is None or p_value > best[1]):
                best = rest, p_value
        return best

    def rises_without(self, selected: BoolArray) -> FloatArray:
        """How much worse the judge finds a set without each of its units, shape (n_selected,)."""
        units = np.flatnonzero(selected).tolist()
        return np.array(
            [self._judge.rise(selected, exchanged(selected, g, None))[0] for g in units]
        )

    def of_units(self, selected: BoolArray) -> float:
        """P-value of the score test that no unit adds to an additive model of a set and its trees
        (``score_test.score_test``)."""
        inside = np.flatnonzero(selected).tolist()
        others = np.flatnonzero(~selected & self._able).tolist()
        fit = fit_additive(
            self._judge.columns, inside, self._loss, self._base,
            has_constant=self._family.loss.has_constant, ridges=[1.0],
        )  # fmt: skip
        return score_test(
            self._judge.columns, inside, fit, self._loss, others,
            explained=self._judge.of_trees(selected),
            strata=self._strata, clusters=self._clusters,
        ).p_value  # fmt: skip

    def _of_larger(self, selected: BoolArray, larger: BoolArray) -> float:
        return self.of_set(selected, larger) * _TIMES

    def of_set(self, selected: BoolArray, larger: BoolArray) -> float:
        """P-value of the test that a larger set predicts no better out of bag, multiplied by the
        number of sets that could have been found (Bonferroni).

        The statistic is that of Clark and West (2007) for nested models, the mean of ``(y - f0)
        (f1 - f0)``. Of a set with t more units than the smaller one, the level is halved t - 1
        times.
        """
        smaller = self._judge.residuals(selected)
        gained = smaller - self._judge.residuals(larger)
        mean, error = self._judge.mean((smaller * gained).sum(axis=1))
        z = mean / error if error > 0 else 0.0
        n_more = int(larger.sum() - selected.sum())
        n_others = int((~selected & self._able).sum())
        log_sets = scipy.special.gammaln([n_others + 1, n_more + 1, max(n_others - n_more, 0) + 1])
        log_count = log_sets[0] - log_sets[1] - log_sets[2] + (n_more - 1) * np.log(2)
        log_p = scipy.stats.norm.logsf(z / np.sqrt(_WIDER)) + log_count
        return float(np.exp(min(log_p, 0.0)))


def sufficient_words(p_values: FloatArray) -> str:
    """How the number of units was chosen, in words, by the p-values of the sizes up to it."""
    p_value, size = float(p_values[-1]), len(p_values) - 1
    if np.isnan(p_value) or p_value <= LEVEL:
        return "no larger set on the path predicts notably better"
    set_of = "no set predicts better than none" if size == 0 else "no larger set predicts better"
    return f"{set_of} (p = {p_value:.2f}, counting the search)"
