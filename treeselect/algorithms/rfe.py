"""Recursive elimination: the least important units leave, and a new forest judges the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from treeselect.algorithms.shared.base import Step
from treeselect.algorithms.shared.elimination import check_shares, path_of_shares
from treeselect.algorithms.shared.ranking import MeasuredForest, RankingForest
from treeselect.algorithms.shared.references import Reference
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import BoolArray


@dataclass(frozen=True, kw_only=True)
class RecursiveElimination(RankingForest):
    """Recursive feature elimination with random forests (RFE).

    A forest is grown on all terms, the least important are removed, and a new forest is grown on
    the rest, until no term is left. Near-duplicate terms share their importance while all of them
    are present. Of three duplicates, two are removed before weaker terms are at risk, but the last
    two may outlast these.

    Parameters
    ----------
    share : float, optional
        Share of the terms that remains at the end, above 0, at most 1; at least one term. If None,
        `k` decides. ``k="1se"`` then applies by cross-validation the rule that varSelRF [2]_
        applies to the out-of-bag error.
    step : float
        Share of the terms removed at a time, above 0, at most 0.9, while more than 30 remain; then
        terms are removed one at a time.
    kind, n_trees, mtry, max_depth, min_leaf, prune, refine
        As for :class:`ForestImportance`, for each forest.

    Raises
    ------
    MethodError
        If an option is out of range, or if `costs` are given.

    Notes
    -----
    The procedure is that of [1]_, with the importance in a forest in place of the weights of a
    support vector machine. Each forest has its own seed. Terms on which no tree splits are removed
    at once. The training score is the out-of-bag score of a forest of at most 100 trees on the
    terms of the step, grown like the final model. Right-censored times are handled as in
    :class:`ForestImportance`. A group (``groups=``) counts as one term.

    References
    ----------
    .. [1] I. Guyon, J. Weston, S. Barnhill, V. Vapnik (2002). Gene selection for cancer
       classification using support vector machines. Machine Learning 46, 389-422.
    .. [2] R. Diaz-Uriarte, S. Alvarez de Andres (2006). Gene selection and classification of
       microarray data using random forest. BMC Bioinformatics 7, 3.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="rfe", k=3, n_trees=50, seed=1)
    >>> "sex" in fit.selected
    True
    """

    share: float | None = None
    step: float = 0.2
    n_trees: int = 200

    name: ClassVar[str] = "rfe"
    title: ClassVar[str] = "Recursive feature elimination with random forests (RFE)"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("I. Guyon", "J. Weston", "S. Barnhill", "V. Vapnik"),
            2002,
            "Gene selection for cancer classification using support vector machines",
            journal="Machine Learning",
            volume="46",
            pages="389-422",
        ),
    )
    tuning_name: ClassVar[str] = "share"
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_shares(self)

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of the remaining units (see ``Method.path``)."""

        def judge(left: BoolArray) -> MeasuredForest:
            return self.measure(task.seeded("elimination", int(left.sum())), left)

        def score(left: BoolArray) -> float:
            return self.scored(task, left)

        return path_of_shares(self, task, judge, score)
