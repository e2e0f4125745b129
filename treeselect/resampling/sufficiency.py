"""Whether a set is sufficient: whether any larger set predicts better, by tests that count the
search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from treeselect.algorithms.shared.judged_rows import rows_to_judge
from treeselect.algorithms.shared.judging import Judge
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray
from treeselect.engine.linear.additive import AdditiveColumns, fit_additive
from treeselect.engine.linear.score_test import score_test
from treeselect.engine.splitting.candidates import can_split
from treeselect.engine.survival.times import STRATUM

LEVEL = 0.04
"""Level of the test that a set is sufficient."""

_SHARE = 0.8
"""Share of the level that the test of single effects spends; the test of sets found by the search
has the rest."""

_WIDER = 1.5
"""Variance of the statistic of Clark and West if nothing is added, at most: it is then degenerate,
and wider than normal."""

_MOST_ROWS, _TREES = 10_000, 100


class Sufficiency:
    """Tests that no larger set predicts better, for the sets of one task.

    Parameters
    ----------
    task : Task
    judge : Judge, optional
        One that knows the sets of a search.
    """

    def __init__(self, task: Task, judge: Judge | None = None) -> None:
        problem = task.problem
        rows = rows_to_judge(task, _MOST_ROWS)
        own = task.weights.of(rows.places)
        self._judge = Judge(task, _TREES, "sure", rows) if judge is None else judge
        self._family = problem.family
        self._columns = AdditiveColumns(rows.data, own.values)
        self._loss = self._family.loss.of(problem.y[rows.places], own.values)
        base = problem.constant(task.weight)[rows.places]
        self._base = base.reshape(len(rows.places), -1)
        self._able = can_split(rows.data, (own.values > 0).astype(np.int64))
        self._strata = problem.y[rows.places, STRATUM] if self._family.has_times else None
        self._clusters = own.blocks if own.blocks is not None else own.error_groups

    def p_value(self, selected: BoolArray, larger: Sequence[BoolArray]) -> float:
        """P-value of the hypothesis that no larger set predicts better.

        Parameters
        ----------
        selected : ndarray of bool, shape (n_groups,)
        larger : sequence of ndarray of bool
            Larger sets that the search found.
        """
        found = [self.of_units(selected) / _SHARE]
        found += [self.of_set(selected, other) / (1 - _SHARE) for other in larger]
        return min(1.0, *found)

    def of_units(self, selected: BoolArray) -> float:
        """P-value of the score test that no unit adds to an additive model of a set and its trees
        (``score_test.score_test``)."""
        inside = np.flatnonzero(selected).tolist()
        others = np.flatnonzero(~selected & self._able).tolist()
        fit = fit_additive(
            self._columns, inside, self._loss, self._base,
            has_constant=self._family.loss.has_constant, ridges=[1.0],
        )  # fmt: skip
        return score_test(
            self._columns, inside, fit, self._loss, others,
            explained=self._judge.of_trees(selected),
            strata=self._strata, clusters=self._clusters,
        ).p_value  # fmt: skip

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
