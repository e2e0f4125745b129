"""mRMR: maximum relevance to the response, minimum redundancy among selected terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.ending import RefinedMethod
from treeselect.algorithms.shared.information import (
    mutual_information,
    response_cells,
    row_mass,
    unit_cells,
)
from treeselect.algorithms.shared.options import (
    check_choice,
    check_integer,
    check_number,
    refuse_costs,
)
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.scoring import score_of
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import FloatArray
from treeselect.engine.rounding import falling

Scheme = Literal["difference", "quotient"]

_LEAST = 1e-3
"""Lower bound of the redundancy by which a relevance is divided."""


@dataclass(frozen=True, kw_only=True)
class MRMR(RefinedMethod):
    """Minimum redundancy, maximum relevance (mRMR).

    Terms enter one at a time. The next term maximises its mutual information with the response
    relative to its mean mutual information with the terms already selected. Only single terms and
    pairs of terms are evaluated, so terms that are informative only jointly are missed.

    Parameters
    ----------
    threshold : float, optional
        Least value of the criterion, in nats (for the quotient, a ratio): the path ends before the
        first term below it. If None, `k` decides.
    scheme : {"difference", "quotient"}
        Whether the redundancy is subtracted from the relevance or divides it (MID and MIQ of
        [1]_).
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
    The columns of a term, or of a group (``groups=``), are used jointly. Each mutual information is
    reduced by its expectation under independence, ``(cells_x - 1) (cells_y - 1) / (2 n)``;
    otherwise terms with many cells would be favoured. Classes are used as they are; numeric and
    count responses are binned like the terms. With an offset, and for right-censored times, the
    negative gradient at the null model replaces the response; for times, these are the martingale
    residuals, within strata. The tuning parameter of a step is the least value of the criterion so
    far, and the importance of a term is its relevance. Terms forced in enter first. The training
    score is the out-of-bag score of a forest of 100 trees on the terms of the step, grown like the
    final model. Constant terms never enter.

    References
    ----------
    .. [1] H. Peng, F. Long, C. Ding (2005). Feature selection based on mutual information criteria
       of max-dependency, max-relevance, and min-redundancy. IEEE Transactions on Pattern Analysis
       and Machine Intelligence 27, 1226-1238.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    threshold: float | None = None
    scheme: Scheme = "difference"
    n_bins: int = 10

    name: ClassVar[str] = "mrmr"
    title: ClassVar[str] = "Minimum redundancy, maximum relevance (mRMR)"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("H. Peng", "F. Long", "C. Ding"),
            2005,
            "Feature selection based on mutual information criteria of max-dependency,"
            " max-relevance, and min-redundancy",
            journal="IEEE TPAMI",
            volume="27",
            pages="1226-1238",
        ),
    )
    tuning_name: ClassVar[str] = "threshold"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True
    left_out: ClassVar[str] = "the others are constant"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self, "threshold", optional=True)
        check_choice(self, "scheme", ("difference", "quotient"))
        check_integer(self, "n_bins", least=2, most=100)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units, one more at a time (see ``Method.path``)."""
        groups = task.problem.groups
        refuse_costs(self, groups)
        n, n_kept = len(groups.names), int(groups.keep.sum())
        longest = n if self.threshold is not None else self.longest(task)
        relevance, order, values = self._order(task, longest)

        def step_of_first(size: int, tuning: float) -> Step:
            selected = np.isin(np.arange(n), order[:size])
            score = score_of(task, selected)
            return ranked_step(tuning, selected, relevance, score)

        least = np.minimum.accumulate(np.array([np.inf, *values]))
        if self.threshold is not None:
            passed = int((least[1:] >= self.threshold).sum())
            step = step_of_first(n_kept + passed, self.threshold)
            return self.path_at(step, task)
        steps = [step_of_first(n_kept + i, float(tuning)) for i, tuning in enumerate(least)]
        return self.path_along(steps, task)

    def _order(self, task: Task, longest: int) -> tuple[FloatArray, list[int], list[float]]:
        """Relevance of each unit, the units in order of entry, and the criterion at each entry."""
        problem, groups = task.problem, task.problem.groups
        rows, mass = row_mass(task.weights)
        cells = [
            unit_cells(problem.data, g, rows, mass, self.n_bins) for g in range(len(groups.names))
        ]
        response = response_cells(problem, task.weight, rows, mass, self.n_bins)
        relevance = np.array([mutual_information(c, response, mass) for c in cells])
        can_enter = np.array([c.max() > 0 for c in cells]) & ~groups.keep
        ranks, order = groups.ranks(task.seed), np.flatnonzero(groups.keep).tolist()
        redundancy = np.zeros(len(cells))
        for g in order:
            redundancy += [mutual_information(c, cells[g], mass) for c in cells]
        values: list[float] = []
        while can_enter.any() and len(order) < longest:
            criterion = self._criterion(relevance, redundancy / max(len(order), 1), bool(order))
            criterion[~can_enter] = -np.inf
            g = int(falling(criterion, ranks)[0])
            order.append(g)
            values.append(float(criterion[g]))
            can_enter[g] = False
            for i in np.flatnonzero(can_enter):
                redundancy[i] += mutual_information(cells[i], cells[g], mass)
        return relevance, order, values

    def _criterion(self, relevance: FloatArray, redundancy: FloatArray, some: bool) -> FloatArray:
        if self.scheme == "difference" or not some:
            return relevance - redundancy
        return np.asarray(relevance / np.maximum(redundancy, _LEAST))
