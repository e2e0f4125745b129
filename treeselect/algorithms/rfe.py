"""Recursive elimination: the least important units go, and a new forest judges the others."""

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
    """Recursive feature elimination by forests (RFE).

    A forest is grown on all units, the least important ones go, and so on until none is left. Near
    copies share their importance as long as all of them are in: of three, two have gone before
    weaker units are in danger, but the last two may well outlive these.

    Parameters
    ----------
    share : float, optional
        Share of the units that is left at the end, above 0, at most 1; at least one unit. None: the
        number of units decides; ``k="1se"`` is then the choice that varSelRF [2]_ makes by the
        out-of-bag error, by cross-validation.
    step : float
        Share of the units that go at a time, above 0, at most 0.9, as long as more than 30 are
        left; then they go one by one.
    kind, n_trees, mtry, max_depth, min_leaf, prune, refine
        As for :class:`ForestImportance`, of each forest.

    Raises
    ------
    MethodError
        If an option is not in its range, or there are `costs`.

    Notes
    -----
    [1]_ with the importances of forests in place of the weights of a linear machine; each forest
    is grown with seeds of its own. Units that no tree splits on go at once. Training scores are
    out-of-bag scores of a forest of 100 trees on the units of the step, grown as the final one. For
    times to an event forests are those of :class:`ForestImportance`.

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
        """Path of the units that are left (see ``Method.path``)."""

        def judge(left: BoolArray) -> MeasuredForest:
            return self.measure(task.seeded("elimination", int(left.sum())), left)

        def score(left: BoolArray) -> float:
            return self.scored(task, left)

        return path_of_shares(self, task, judge, score)
