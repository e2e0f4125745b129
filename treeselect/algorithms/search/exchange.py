"""Exchange search: selected for unselected terms, as long as the out-of-bag error falls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np

from treeselect.algorithms.forests.scoring import score_outside
from treeselect.algorithms.method import Method
from treeselect.algorithms.options import integer, number
from treeselect.algorithms.references import Reference, texts
from treeselect.algorithms.search.exchanging import MARGIN, SURE_ROWS, Found, Search
from treeselect.algorithms.task import Step, Task, ranked_step


@dataclass(frozen=True, kw_only=True)
class ExchangeSearch(Method):
    """Exchange search: swap terms as long as the out-of-bag error falls.

    Methods that follow a path seldom drop a term once it has entered. At each size, exchange search
    starts from the terms that an additive model fits best or, if one of them is better, from the
    terms with the largest held-out gain in a forest of all terms, from those that recursive
    elimination leaves, or from the set of the next smaller size with one more term. It then
    exchanges selected for unselected terms as long as the out-of-bag error falls by more than a
    margin.

    Parameters
    ----------
    left : float, optional
        Select the first set along the path whose out-of-bag error is at most this share of the null
        model's, or the last set; above 0, at most 1. If None, `k` decides.
    n_trees : int, optional
        Trees in each forest that judges a set, 10 to 1,000,000. By default 100 on up to 3,000 rows,
        and on more rows 300,000 divided by their number, at least 30.
    margin : float
        Number of standard errors of the paired difference by which an exchange must lower the
        error, at least 0.

    Raises
    ------
    MethodError
        If an option is out of range.

    Notes
    -----
    The criterion E(S) of a set S is the squared error (for classes, the Brier score) of a model of
    its terms for rows that the model was not fitted to: an additive ridge regression that leaves
    each row out, with a spline of each number, plus a forest of its residuals out of bag,
    multiplied by the number from 0 to 1 of least error. All terms of S are tried at each split, and
    the trees are cut back to the capacity of lowest out-of-bag error, so that a noise column does
    not improve the forest, as it would improve fully grown trees. E(S) is the error of infinitely
    many trees: the variance of their mean is subtracted. All sets share the same bootstrap samples,
    so E(S) - E(T) is a mean of paired differences over rows (with `fold_groups`, over clusters),
    with its standard error. For right-censored times, the forest predicts the martingale residuals
    of the null model, within strata.

    The additive model of each size is found by exchanges, too, at the least error of generalised
    cross-validation with each effective parameter counted three times [4]_. It involves no random
    numbers, so that another seed starts from the same set, unless rows are sampled (beyond 10,000)
    or terms left out (the first terms of the ranking enter, at most 2,000, and a million values in
    all, but at least 60 terms). It isn't used with unequal `costs`, or where it explains nothing.

    Three times as many trees as judge a set, at least 100, rank all terms, since terms that matter
    only together stand out late. Elimination begins with the first 60 terms of this ranking and
    removes a third at a time, those with the lowest held-out gain in a forest of the remaining
    terms. On fewer than 100 rows, it begins with the first 1,000, and what it leaves comes before
    the ranking.

    Each step considers six terms for entry. They are taken alternately from the terms with the
    largest held-out gain in a forest on the out-of-bag residuals of S, which includes gains through
    interactions with terms of S, and from the ranking by the forest of all terms. It also considers
    the selected terms whose removal raises the error least. Each of the best three entries may
    replace two of these, or the term that an additive model needs least beside it, and the best
    three of these are judged by `n_trees` trees. With equal `costs`, an entry must help beside all
    selected terms, by at least half the margin: otherwise it doesn't help without one of them. The
    best exchange is made if it lowers the error by more than `margin` standard errors. Among sets
    within one standard error of the best, the cheapest comes first, then the one whose terms are
    most informative individually: the largest sum of epsilon squared [3]_, which involves no random
    numbers. First judgements use 25 trees and at most 2,000 rows, final ones at most 10,000 rows.
    The path ends when three further terms do not lower the error by more than the margin.

    On more than 3,000 rows, first judgements use 12 trees, and an exchange that they find worse by
    more than one standard error is not judged again. Final judgements then have fewer trees
    (`n_trees`): over streams of random numbers, differences of sets vary as much with 100 trees as
    with 30, because they vary with the capacity that the first trees choose.

    On resamples where tests choose the number of terms, sets are judged by 15 trees on at most
    5,000 rows, three terms are considered for entry, and no exchanges follow (with unequal `costs`,
    six and exchanges as above).

    On more than 20,000 rows, the number of terms (``k="1se"``, ``"best"``) is chosen on rows that
    the search spares. The path is searched for on at most 10,000 rows, stratified by class; for
    each of its sets, a forest of 50 trees fitted to the same rows predicts the others (at most
    100,000), which are scored in as many parts as there are `folds`. One search takes the place of
    one per fold and one on all rows. Cross-validation remains for a splitter such as
    ``folds=StratifiedKFold(5)``, for fold numbers, for ``repeats`` above 1, with `fold_groups`,
    for survival times, and if the searched rows would hold fewer than 500 rows of a class.

    Of more than 10,000 terms (on fewer than 100 rows, a million values), the forests that rank
    terms see those that pass a screen: the terms with the largest gain of a single split of all
    rows or, for interactions with terms of S, of their halves by one of these terms.

    With `costs`, gains are divided by costs: terms are ranked by gain per cost, and one term
    replaces another if it adds more per cost to the remaining terms. A group (``groups=``) counts
    as one term.

    Exchanges correspond to the splicing step of best-subset selection in linear models [1]_ and to
    the backward steps of floating search [2]_.

    References
    ----------
    .. [1] J. Zhu, C. Wen, J. Zhu, H. Zhang, X. Wang (2020). A polynomial algorithm for best-subset
       selection problem. PNAS 117(52), 33117-33123.
    .. [2] P. Pudil, J. Novovicova, J. Kittler (1994). Floating search methods in feature selection.
       Pattern Recognition Letters 15(11), 1119-1125.
    .. [3] T. L. Kelley (1935). An unbiased correlation ratio measure. PNAS 21(9), 554-559.
    .. [4] Y.-J. Kim, C. Gu (2004). Smoothing spline Gaussian regression: more scalable computation
       via efficient approximation. JRSS B 66(2), 337-356.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="exchange", k=2, seed=1)
    >>> "sex" in fit.selected
    True
    """

    left: float | None = field(default=None, metadata=number(above=0.0, most=1.0))
    n_trees: int | None = field(default=None, metadata=integer(least=10))
    margin: float = field(default=MARGIN, metadata=number(least=0.0))

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
    searches_on: ClassVar[int | None] = SURE_ROWS
    left_out: ClassVar[str] = "the others are constant, or do not lower the out-of-bag error"

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units, one step per size (see ``Method.path``)."""
        return tuple(self.steps(task))

    def steps(self, task: Task) -> Iterator[Step]:
        """The steps of the path one by one."""
        search = self._search(task)
        start = Found(search.first(int(task.problem.groups.keep.sum())))
        if self.left is not None:
            yield self._step(task, search, self._enough(search, start, self.left), self.left)
            return
        most = min(task.max_size, search.n_able)
        yield self._step(task, search, start, np.inf)
        larger: Iterable[Found] = ()
        if task.every_size:
            larger = search.growing(start, most, search.best_of_size)
        elif most > start.size:
            larger = (search.best_of_size(most, None),)
        for one in larger:
            yield self._step(task, search, one, search.left(one.selected))

    def step_of_set(self, task: Task, step: Step) -> Step:
        """A step with the score, and the near-equivalent sets, of a set that is not on the path."""
        if not task.problem.wants_scores:
            return step
        search = self._search(task)
        return self._step(task, search, Found(step.selected), search.left(step.selected))

    def _search(self, task: Task) -> Search:
        """The search of a task, with what it has judged."""
        return cast(Search, task.once(Search, self.n_trees, self.margin))

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
        worth = np.ones(len(selected))
        if task.n_judge_trees is None:  # where only sets are needed, nobody asks
            worth = search.worth(selected)
        step = ranked_step(tuning, selected, worth, score)
        if not task.problem.wants_scores:  # not used in folds
            return step
        return dataclasses.replace(step, trace=search.trace(found))
