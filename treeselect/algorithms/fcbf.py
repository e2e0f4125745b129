"""Fast correlation-based filter: terms that are not redundant with a more relevant one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.ending import RefinedMethod
from treeselect.algorithms.shared.information import Uncertainties, uncertainties
from treeselect.algorithms.shared.options import (
    check_integer,
    check_number,
    refuse_costs,
)
from treeselect.algorithms.shared.orders import first_units
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.scoring import score_of
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import at_least, falling


@dataclass(frozen=True, kw_only=True)
class FCBF(RefinedMethod):
    """Fast correlation-based filter (FCBF): predominant terms, for very many columns.

    Terms are visited in order of decreasing symmetrical uncertainty with the response. Each visited
    term is selected, and every weaker term is removed as redundant if its symmetrical uncertainty
    with the selected term is at least that with the response. Terms are evaluated individually, so
    terms that are informative only jointly are missed.

    Parameters
    ----------
    delta : float, optional
        Least symmetrical uncertainty with the response, 0 to 1: all predominant terms that reach it
        are selected. If None, `k` decides.
    n_bins : int
        Maximum number of bins of a numeric column, 2 to 100, of about equal weight; missing values
        have their own bin.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs` are given.

    Notes
    -----
    Symmetrical uncertainties are those of :class:`CFS`; for right-censored times, with the
    martingale residuals of the null model. They are corrected for the value expected by chance, so
    that about half of the terms without signal have none and never enter, whatever `delta`. The
    path adds predominant terms in order of relevance, after those forced in. It ends when there are
    no more, which may be early; the summary then says so. The tuning parameter of a step is the
    least symmetrical uncertainty with the response among its terms, except those forced in. The
    importance of a term is its own symmetrical uncertainty. Terms forced in are never removed, and
    remove only weaker ones. Training scores are those of :class:`MRMR`. Pairs of terms are computed
    only as needed. A group (``groups=``) counts as one term.

    References
    ----------
    .. [1] L. Yu, H. Liu (2003). Feature selection for high-dimensional data: a fast
       correlation-based filter solution. Proceedings of the 20th International Conference on
       Machine Learning, 856-863.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="fcbf", delta=0.01, seed=1)
    >>> "sex" in fit.selected
    True
    """

    delta: float | None = None
    n_bins: int = 10

    name: ClassVar[str] = "fcbf"
    title: ClassVar[str] = "Fast correlation-based filter (FCBF)"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("L. Yu", "H. Liu"),
            2003,
            "Feature selection for high-dimensional data: a fast correlation-based filter solution",
            book="Proceedings of ICML 20",
            pages="856-863",
        ),
    )
    tuning_name: ClassVar[str] = "delta"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True
    left_out: ClassVar[str] = (
        "by symmetrical uncertainty, the others are irrelevant to the response or redundant"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "delta", least=0.0, most=1.0, optional=True)
        check_integer(self, "n_bins", least=2, most=100)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of predominant units (see ``Method.path``)."""
        problem, seed = task.problem, task.seed
        groups = problem.groups
        refuse_costs(self, groups)
        n, n_kept = len(groups.names), int(groups.keep.sum())
        units = uncertainties(problem, task.weights, self.n_bins)
        relevance = units.relevance()
        ranking = falling(relevance, groups.ranks(seed))
        passed = (relevance > 0) & (relevance >= (self.delta or 0.0)) | groups.keep
        most = n if self.delta is not None else self.longest(task) - n_kept
        order = predominant(units, relevance, ranking[passed[ranking]], groups.keep, most)

        def step_of_first(size: int, tuning: float) -> Step:
            selected = first_units(order, size, n)
            score = score_of(task, selected)
            return ranked_step(tuning, selected, relevance, score)

        if self.delta is not None:
            step = step_of_first(len(order), self.delta)
            return self.path_at(step, task)
        tunings = [np.inf, *relevance[order[n_kept:]]]
        steps = [step_of_first(n_kept + i, float(tuning)) for i, tuning in enumerate(tunings)]
        return self.path_along(steps, task)


def predominant(
    units: Uncertainties, relevance: FloatArray, ranking: IntArray, keep: BoolArray, most: int
) -> IntArray:
    """The units forced in, then the first predominant units, up to the number wanted.

    This is the listing of the paper, except that pairs are evaluated only as needed.

    Parameters
    ----------
    units : Uncertainties
    relevance : ndarray of float, shape (n_groups,)
        Symmetrical uncertainty with the response.
    ranking : ndarray of int64
        Relevant units and those forced in, by decreasing relevance.
    keep : ndarray of bool, shape (n_groups,)
    most : int
        Number of units wanted besides those forced in.
    """
    found: list[int] = []
    left = ranking
    while len(left) and len(found) < most:
        first, left = int(left[0]), left[1:]
        if not keep[first]:
            found.append(first)
        repeated = at_least(units.between(first, left), relevance[left])
        left = left[~repeated | keep[left]]
    return np.array([*np.flatnonzero(keep), *found], dtype=np.int64)
