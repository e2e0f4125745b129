"""Exchange search: units that are in for units that are not, as long as held-out rows say so."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.exchanging import MARGIN, TREES, Found, Search
from treeselect.algorithms.shared.method import Method
from treeselect.algorithms.shared.options import check_integer, check_number
from treeselect.algorithms.shared.references import Reference, texts
from treeselect.algorithms.shared.scoring import score_outside
from treeselect.algorithms.shared.task import Task


@dataclass(frozen=True, kw_only=True)
class ExchangeSearch(Method):
    """Search for the best set of each size by exchanges, judged on rows outside the bags.

    All other methods go along a path, which never takes back what it took. This one begins with
    the units of most held-out gain in a forest of all, and exchanges members for others as long as
    the out-of-bag error falls by more than a margin.

    Parameters
    ----------
    left : float, optional
        The first size is taken whose set has at most this share of the constant model's out-of-bag
        error, or the last of the path; above 0, at most 1. None: the number of units decides.
    n_trees : int
        Trees of each forest that judges a set, 10 to 1,000,000.
    margin : float
        By how many standard errors of the paired difference an exchange must lower the error, at
        least 0.

    Raises
    ------
    MethodError
        If an option is not in its range.

    Notes
    -----
    A set S is judged by the squared out-of-bag error E(S) of a forest on its units alone, all of
    them tried at each split, that is cut back to the capacity of least out-of-bag error: a column
    of noise does not improve it, as it would a fully grown forest. The error is that of infinitely
    many trees, the variance of their mean being taken off. All sets have the same bags, so that
    E(S) - E(T) is a mean of differences of rows, with their standard error. Of times to an event
    what is predicted is the martingale residual at the null model, within strata.

    A step looks at six units that might come in: those of most held-out gain in a forest on the
    out-of-bag residuals of S, which sees what adds to S also through interactions with its members,
    and in a forest of all units, by turns; and at the members whose removal raises the error least.
    The best three of either make nine exchanges, the best three of which are judged by `n_trees`
    trees; the best is made if it lowers the error by more than `margin` standard errors. Of sets
    that can't be told from the best, by one standard error, the first is the cheapest, then that
    whose units are most informative individually: the sum of their epsilon squared [3]_, for which
    nothing is drawn. The first judgements are made on 25 trees and at most 2,000 rows, the last on
    at most 10,000 rows. A path ends where three further units do not lower the error by as much.

    Where units have prices, gains are divided by them: units are ranked by their gain per price,
    and one comes in for another if it adds more per price to the members that stay.

    What it owes to others: exchanges of members for others are the splicing of [1]_ for linear
    models, and the steps back those of floating search [2]_.

    References
    ----------
    .. [1] J. Zhu, C. Wen, J. Zhu, H. Zhang, X. Wang (2020). A polynomial algorithm for best-subset
       selection problem. PNAS 117(52), 33117-33123.
    .. [2] P. Pudil, J. Novovicova, J. Kittler (1994). Floating search methods in feature selection.
       Pattern Recognition Letters 15(11), 1119-1125.
    .. [3] T. L. Kelley (1935). An unbiased correlation ratio measure. PNAS 21(9), 554-559.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="exchange", k=2, seed=1)
    >>> "sex" in fit.selected
    True
    """

    left: float | None = None
    n_trees: int = TREES
    margin: float = MARGIN

    name: ClassVar[str] = "exchange"
    title: ClassVar[str] = "Exchange search"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("J. Zhu", "C. Wen", "J. Zhu", "H. Zhang", "X. Wang"),
            2020,
            "A polynomial algorithm for best-subset selection problem",
            journal="PNAS",
            volume="117",
            number="52",
            pages="33117-33123",
        ),
    )
    paper: ClassVar[str] = f"treeselect's own method, based on {texts(references)}"
    tuning_name: ClassVar[str] = "left"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True
    left_out: ClassVar[str] = "the others are constant, or do not lower the out-of-bag error"

    def __post_init__(self) -> None:
        check_number(self, "left", above=0.0, most=1.0, optional=True)
        check_integer(self, "n_trees", least=10)
        check_number(self, "margin", least=0.0)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units, a step for each size (see ``Method.path``)."""
        search = Search(task, n_trees=self.n_trees, margin=self.margin)
        start = Found(search.first(int(task.problem.groups.keep.sum())))
        if self.left is not None:
            return (self._step(task, search, self._enough(search, start, self.left), self.left),)
        most = min(task.max_size, search.n_able)
        if task.every_size:
            larger = list(search.growing(start, most, search.best_of_size))
        else:
            larger = [search.best_of_size(most, None)] if most > start.size else []
        first = self._step(task, search, start, np.inf)
        rest = [self._step(task, search, one, search.left(one.selected)) for one in larger]
        return (first, *rest)

    def _enough(self, search: Search, start: Found, left: float) -> Found:
        """The first set that leaves at most this share of the error, or the last one."""
        found = start
        growing = search.growing(start, search.n_able, search.best_of_size)
        while search.left(found.selected) > left and (larger := next(growing, None)) is not None:
            found = larger
        return found

    def _step(self, task: Task, search: Search, found: Found, tuning: float) -> Step:
        selected, predict = found.selected, search.judge.prediction
        score = score_outside(task, selected, lambda: predict(selected))
        step = ranked_step(tuning, selected, search.worth(selected), score)
        if not task.problem.wants_scores:  # in a fold, where nobody reads it
            return step
        return dataclasses.replace(step, trace=search.trace(found))
