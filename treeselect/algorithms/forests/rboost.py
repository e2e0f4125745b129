"""RBoost: boosted random trees that share one set of used terms."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from treeselect.algorithms.forests.scoring import (
    Criterion,
    Gain,
    Ties,
    held_shares,
    score_of,
    screened,
)
from treeselect.algorithms.options import (
    MOST_DEPTH,
    MOST_UNITS,
    choice,
    flag,
    integer,
    number,
    refuse_together,
)
from treeselect.algorithms.references import Reference
from treeselect.algorithms.search.revision import DrawnMethod
from treeselect.algorithms.task import Step, Task, step_of_gains
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.data.targets import class_target, copies
from treeselect.engine.ensembles.boosting import Boosting, boost
from treeselect.engine.ensembles.forests import ALL_ROWS, bagged_forest
from treeselect.engine.ensembles.prediction import predict_mean
from treeselect.engine.ensembles.reweighting import reweight
from treeselect.engine.growing.growth import BEST_FIRST, BREADTH_FIRST, UNBOUNDED, Growth
from treeselect.engine.growing.nodes import group_gains
from treeselect.engine.losses import GradientOnly
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import largest_in_row
from treeselect.engine.splitting.candidates import n_able
from treeselect.engine.splitting.penalty import SplitPenalty
from treeselect.errors import MethodError

Form = Literal["auto", "reweighting", "gradient"]

_GRADIENT_DEPTH = 4
_GRADIENT_RATE = 0.1


@dataclass(frozen=True, kw_only=True)
class RBoost(DrawnMethod):
    """Regularised boosted random trees (RBoost).

    As :class:`RRF`, but trees are boosted: each tree is grown on a bootstrap sample drawn with
    weights that increase where earlier trees were wrong.

    Parameters
    ----------
    lam : float, optional
        Coefficient lambda from 0 to 1, as for :class:`RRF`; the paper uses 0.5. If None, `k`
        decides.
    n_trees : int
        Trees, 1 to 1,000,000. More trees use more terms.
    mtry : int, optional
        Number of terms not yet in use that are tried at a node. The default is the square root of
        the number of terms, rounded up.
    max_depth : int, optional
        Maximum depth. By default, trees are fully grown, or to depth 4 in the gradient form.
    criterion : {"entropy", "gini"}
        Impurity of classes in the reweighting form. The gradient form uses the sum of squares.
    gain : {"decrease", "uncentred"}
        What `lam` multiplies, as for :class:`RRF`.
    ties : {"used", "random"}
        Which of equal splits is made, as for :class:`RRF`; the gradient form has ``"used"`` only.
    form : {"auto", "reweighting", "gradient"}
        ``"reweighting"``: AdaBoost, for classes without an offset. ``"gradient"``: gradient
        boosting with a learning rate of 0.1, also for numeric, count and survival responses (Cox's
        partial likelihood). ``"auto"``: reweighting where possible, otherwise gradient.
    screen, prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, if entropy is combined with the un-centred gain or the
        gradient form with random ties, or if the reweighting form is used for a response without
        classes or with an offset.

    Notes
    -----
    Algorithm 2 of [1]_ with boosted random trees. A fully grown tree makes no error on the weighted
    rows it was grown on, which would end AdaBoost at once. Each tree is therefore grown on a
    bootstrap sample with as many draws as there are rows, copies included. Its error is computed
    over all rows, and the weights are reset to their initial values where that error is 0 or no
    better than chance (SAMME [2]_). A row of weight 2 and two copies of a row are drawn equally
    often, but not in the same draws. Costs are powers of the coefficient, a group (``groups=``)
    counts as one term, and sets of a path (``lam=None``) give way to larger ones, as in
    :class:`RRF`. The training scores of a path are out of bag, those of forests of 100 trees on its
    sets; that of a given `lam` is of the ensemble on its own rows.

    References
    ----------
    .. [1] H. Deng, G. Runger (2012). Feature selection via regularized trees. IJCNN 2012.
    .. [2] J. Zhu, H. Zou, S. Rosset, T. Hastie (2009). Multi-class AdaBoost. Statistics and Its
       Interface 2, 349-360.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="rboost", k=3, n_trees=20, seed=1)
    >>> fit.k
    3
    """

    lam: float | None = field(default=None, metadata=number(least=0.0, most=1.0))
    n_trees: int = field(default=100, metadata=integer(least=1))
    mtry: int | None = field(default=None, metadata=integer(least=1, limit=MOST_UNITS))
    max_depth: int | None = field(default=None, metadata=integer(least=1, limit=MOST_DEPTH))
    criterion: Criterion = field(default="entropy", metadata=choice("entropy", "gini"))
    gain: Gain = field(default="decrease", metadata=choice("decrease", "uncentred"))
    ties: Ties = field(default="used", metadata=choice("used", "random"))
    form: Form = field(default="auto", metadata=choice("auto", "reweighting", "gradient"))
    screen: bool = field(default=True, metadata=flag())

    name: ClassVar[str] = "rboost"
    title: ClassVar[str] = "Regularised boosted trees (RBoost)"
    references: ClassVar[tuple[Reference, ...]] = (
        Reference(
            ("H. Deng", "G. Runger"),
            2012,
            "Feature selection via regularized trees",
            book="IJCNN 2012",
        ),
    )
    tuning_name: ClassVar[str] = "lam"
    splits_exactly: ClassVar[bool] = True
    scores_out_of_bag: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_together(self, criterion="entropy", gain="uncentred", way='Use `criterion="gini"`.')
        refuse_together(self, form="gradient", ties="random", way='Use `ties="used"`.')

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units along an increasing coefficient (see ``Method.path``)."""
        problem = task.problem
        can_reweight = problem.splits_classes
        if self.form == "reweighting" and not can_reweight:
            raise MethodError(
                '`form="reweighting"` needs a response with classes and no offset.\n'
                '  Use `form="gradient"`.'
            )
        by_weights = can_reweight and self.form != "gradient"
        grow = self._reweighted if by_weights else self._by_gradient

        held = held_shares(task) if self.screen else None

        def try_at(lam: float) -> Step:
            return grow(task, lam, held)

        if self.lam is not None:
            return self.path_of(try_at, try_at(self.lam), task)
        steps = self.path_of(try_at, None, task)
        return tuple(
            dataclasses.replace(step, train_score=score_of(task, step.selected)) for step in steps
        )

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether training scores are out of bag: they are for a path, or for refined sets."""
        return self.lam is None or super().tells_out_of_bag

    def _growth(self, n_groups: int) -> Growth:
        return Growth(
            max_depth=self.max_depth or UNBOUNDED,
            min_weight=1,
            n_candidates=self.mtry or int(np.ceil(np.sqrt(n_groups))),
            min_gain=0.0,
            all_open=True,
            order=BREADTH_FIRST,
            random_ties=self.ties == "random",
        )

    def _penalty(self, problem: Problem, lam: float, held: FloatArray | None) -> SplitPenalty:
        ids, scale = problem.groups.ids, screened(lam**problem.groups.costs, held)
        return SplitPenalty(scale[ids], np.zeros(len(ids)), uncentred=self.gain == "uncentred")

    def _reweighted(self, task: Task, lam: float, held: FloatArray | None) -> Step:
        problem, weight, seed = task.problem, task.weight, task.seed
        data, groups, family = problem.exact or problem.data, problem.groups, problem.family
        label, n_classes = problem.y.astype(np.int64), family.n_classes
        target = class_target(label, n_classes, entropy=self.criterion == "entropy")
        growth, penalty = self._growth(n_able(data, weight)), self._penalty(problem, lam, held)
        rows = np.flatnonzero(weight > 0)
        n_draws = int(copies(weight).sum())  # number of rows, copies included
        boosting = start = np.asarray(weight, dtype=np.float64) / weight.sum()
        is_open, gains = groups.keep.copy(), np.zeros(data.n_groups)
        rank = groups.ranks(seed)
        votes = np.zeros((len(label), n_classes))
        for round_ in range(self.n_trees):
            rng = np.random.default_rng(stream_seed(seed, "bag", round_))
            drawn = rng.multinomial(n_draws, boosting[rows] / boosting[rows].sum())
            counts = np.zeros(len(label), dtype=np.int64)
            counts[rows] = drawn
            tree = bagged_forest(
                data, target, counts, n_trees=1, growth=growth,
                seed=stream_seed(seed, "tree", round_), rank=rank,
                sampling=ALL_ROWS, penalty=penalty, is_open=is_open, shared=True,
            )  # fmt: skip
            gains += group_gains(tree, data)[0]
            guess = largest_in_row(predict_mean(tree, data))
            new = reweight(boosting, guess != label, n_classes, start=start)
            votes[np.arange(len(label)), guess] += new.vote
            boosting = new.weight
        total = votes.sum(axis=1, keepdims=True)
        share = np.where(total > 0, votes / np.where(total > 0, total, 1.0), 1 / n_classes)
        fitted = share[:, 1] if n_classes == 2 else share
        return _step(problem, weight, lam, gains, fitted, held)

    def _by_gradient(self, task: Task, lam: float, held: FloatArray | None) -> Step:
        problem, weight, seed = task.problem, task.weight, task.seed
        data, groups, loss = problem.exact or problem.data, problem.groups, problem.family.loss
        depth = self.max_depth or _GRADIENT_DEPTH
        growth = self._growth(n_able(data, weight))._replace(
            max_depth=depth, order=BEST_FIRST, max_leaves=2 ** min(depth, 20)
        )
        found = boost(
            data, loss if loss.needs_curvature else GradientOnly(loss), problem.y, weight,
            problem.constant(weight),
            Boosting(self.n_trees, _GRADIENT_RATE, growth), seed=seed, rank=groups.ranks(seed),
            is_open=groups.keep.copy(), penalty=self._penalty(problem, lam, held),
        )  # fmt: skip
        gains = group_gains(found.trees, data).sum(axis=0)
        return _step(problem, weight, lam, gains, problem.family.mean(found.eta), held)


def _step(
    problem: Problem,
    weight: WeightArray,
    lam: float,
    gains: FloatArray,
    fitted: FloatArray,
    held: FloatArray | None,
) -> Step:
    rows = weight > 0
    score = problem.family.score(problem.y[rows], fitted[rows], weight[rows])
    return step_of_gains(lam, gains, problem.groups.keep, score, held)
