"""Families of responses: loss, score and scale of prediction."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from treeselect.arguments.checks import found_near, is_one_of
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.losses import (
    LogisticLoss,
    Loss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
    poisson_mean,
)
from treeselect.engine.rounding import levels
from treeselect.engine.survival import curves
from treeselect.engine.survival.cox import CoxLoss
from treeselect.engine.survival.times import START, STRATUM
from treeselect.errors import OptionError

_NEAR_CERTAIN = 1e-6
"""Probabilities are kept this far from 0 and 1 before their log-odds are taken."""


Score = Callable[[FloatArray, FloatArray, WeightArray], float]
"""Of the response, the prediction on its scale, and weights."""

UNBOUNDED = (-math.inf, math.inf)
SHARE = (0.0, 1.0)
EXPLAINED = (-math.inf, 1.0)
"""Bounds of scores: none, those of proportions, and those of the proportion explained, which may be
negative."""


@dataclass(frozen=True, slots=True)
class Family:
    """A family of responses: ``"gaussian"``, ``"binomial"``, ``"multinomial"``, ``"ordinal"``,
    ``"poisson"`` or ``"cox"``."""

    name: str
    loss: Loss  # what boosting and the sparse forest minimise
    mean: Callable[[FloatArray], FloatArray]  # from the linear predictor to the response's scale
    link: Callable[[FloatArray], FloatArray]  # and back
    # Least weight of a leaf of refitted boosted trees: 5 for numbers, 10 for probabilities
    min_leaf: int
    score_name: str  # score by which models are compared, greater is better
    score: Score
    null_score: float  # score of a constant prediction
    score_bounds: tuple[float, float]  # infinite where none is known
    score_words: str = ""  # what the score is, where its name does not say so
    n_classes: int = 0  # 0 if the response has no classes
    is_ordered: bool = False  # whether the order of more than two classes counts
    has_times: bool = False  # times to an event, whose mean is not modelled
    score_needs_variation: bool = True  # whether it is defined only for a response that varies
    # The same score for held-out rows, if it also uses the training rows, whose weights come last;
    # `score` takes the scored rows as training rows
    score_after: Callable[[FloatArray, FloatArray, WeightArray, WeightArray], float] | None = None

    @property
    def has_classes(self) -> bool:
        return self.n_classes > 0

    @property
    def score_compares(self) -> bool:
        """Whether the score only compares predictions with each other, as AUC and C do."""
        return self.null_score == 0.5

    def indicators(self, y: FloatArray) -> FloatArray:
        """More than two classes as numbers whose squared errors are those of the shares of the
        classes, shape (n_rows, n_classes); of ordered ones of the shares up to each class but the
        last, so that they sum to the ranked probability score (Epstein 1969)."""
        own = np.eye(self.n_classes)[y.astype(np.int64)]
        return np.cumsum(own, axis=1)[:, :-1] if self.is_ordered else own

    def shares(self, means: FloatArray, total: float = 1.0) -> FloatArray:
        """Shares of the classes, which sum to `total`, from means of their indicators."""
        return np.diff(means, axis=1, prepend=0.0, append=total) if self.is_ordered else means

    def held_out_score(
        self, y: FloatArray, prediction: FloatArray, weight: WeightArray, training: WeightArray
    ) -> float:
        """Score of the rows with positive weight, for a model fitted to the rows with positive
        weight in `training`; all arrays have all rows."""
        if self.score_after is not None:
            return self.score_after(y, prediction, weight, training)
        rows = weight > 0
        return self.score(y[rows], prediction[rows], weight[rows])


def _of_rows(score: Score) -> Score:
    """A score of the rows with positive weight, as the others must not even cause rounding errors;
    NaN if their responses are equal."""

    @functools.wraps(score)
    def scored(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
        rows = weight > 0
        y = y[rows]
        if not len(y) or y.min() == y.max():
            return float("nan")
        return score(y, prediction[rows], weight[rows])

    return scored


@_of_rows
def r_squared(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Proportion of the weighted variance explained; negative if worse than the mean. NaN if all
    values with positive weight are equal."""
    # As scikit-learn computes it, to the last bit, whose metrics take a second to import.
    truth, own = y[:, np.newaxis], weight[:, np.newaxis]
    left = np.sum(own * (truth - prediction.reshape(-1, 1)) ** 2, axis=0)
    mean = np.average(truth, axis=0, weights=weight)
    whole = np.sum(own * (truth - mean) ** 2, axis=0)
    if left[0] == 0:
        return 1.0
    return float(1 - left[0] / whole[0]) if whole[0] != 0 else 0.0


@_of_rows
def area_under_curve(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Area under the ROC curve; NaN if only one class has positive weight, or a prediction is
    missing. Predictions that differ only by rounding error are ties."""
    if np.isnan(prediction).any():
        return float("nan")
    # As scikit-learn computes it, to the last bit, whose metrics take a second to import.
    level = levels(prediction)
    order = np.argsort(-level, kind="stable")
    is_event, weight = (y[order] == y.max()).astype(np.float64), weight[order]
    last = np.append(np.flatnonzero(np.diff(level[order])), len(order) - 1)
    hits = np.cumsum(is_event * weight, dtype=np.float64)[last]
    alarms = np.cumsum((1 - is_event) * weight, dtype=np.float64)[last]
    if len(last) > 2:
        bends = (np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0)
        corners = np.concatenate([[True], bends, [True]])
        hits, alarms = hits[corners], alarms[corners]
    hits, alarms = np.append(0.0, hits), np.append(0.0, alarms)
    return float(np.trapezoid(hits / hits[-1], alarms / alarms[-1]))


@_of_rows
def class_deviance_explained(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Proportion of the log loss of the class proportions that is explained; `prediction` has a
    column for each class. NaN if only one class has positive weight."""
    shares, label = np.clip(prediction, _NEAR_CERTAIN, None), y.astype(np.int64)
    own = np.take_along_axis(shares / shares.sum(axis=1, keepdims=True), label[:, np.newaxis], 1)
    null = np.bincount(label, weight) / weight.sum()
    return float(1 - weight @ np.log(own[:, 0]) / (weight @ np.log(null[label])))


@_of_rows
def ranked_probability_skill(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """One less the ranked probability score over that of the class proportions; `prediction` has a
    column for each class. NaN if only one class has positive weight."""
    truth = (y[:, np.newaxis] <= np.arange(prediction.shape[1] - 1)).astype(np.float64)
    shares = prediction / prediction.sum(axis=1, keepdims=True)
    left = weight @ (truth - np.cumsum(shares, axis=1)[:, :-1]) ** 2
    whole = weight @ (truth - np.average(truth, axis=0, weights=weight)) ** 2
    return float(1 - left.sum() / whole.sum())


@_of_rows
def poisson_deviance_explained(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Proportion of the Poisson deviance of the mean that is explained; means are above 0. NaN if
    all counts with positive weight are equal."""

    def lost(mean: Any) -> float:
        return float(weight @ (scipy.special.xlogy(y, y / mean) - y + mean))

    return 1 - lost(np.clip(prediction, _NEAR_CERTAIN, None)) / lost(np.average(y, weights=weight))


def concordance_index(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Harrell's C of relative risks: the share of comparable pairs of rows of a stratum in which
    the row with the earlier event has the higher risk; ties in risk count one half. NaN if there is
    no comparable pair, or a prediction is missing."""
    return curves.concordance(y, prediction, weight).value


def _expit(eta: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.expit(eta))


def _softmax(eta: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.softmax(eta, axis=1))


def _log_shares(shares: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.clip(shares, _NEAR_CERTAIN, 1.0)))


def _log(risk: FloatArray) -> FloatArray:
    """Of a risk too small for a number, that of the smallest number."""
    return np.asarray(np.log(np.maximum(risk, np.finfo(np.float64).tiny)))


def _log_odds(probability: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.logit(np.clip(probability, _NEAR_CERTAIN, 1 - _NEAR_CERTAIN)))


def _identity(eta: FloatArray) -> FloatArray:
    return eta


DEVIANCE_WORDS = (
    "D2: proportion of deviance explained, relative to the best constant for the scored rows; 1 is"
    " perfect, below 0 is worse than that constant."
)
RANKED_WORDS = (
    "RPSS: ranked probability skill score, the share of the squared errors of the proportions up to"
    " each class that is explained; 1 is perfect, below 0 is worse than the proportions."
)
HARRELL_WORDS = (
    "C: Harrell's concordance, the share of comparable pairs of rows (within strata, if any) in"
    " which the row with the earlier event has the higher predicted risk; ties in risk count one"
    " half."
)

# fmt: off
GAUSSIAN = Family(
    "gaussian", SquaredLoss(), _identity, _identity, 5, "R2", r_squared, 0.0, EXPLAINED
)
BINOMIAL = Family(
    "binomial", LogisticLoss(), _expit, _log_odds, 10, "AUC", area_under_curve, 0.5, SHARE,
    n_classes=2,
)
POISSON = Family(
    "poisson", PoissonLoss(), poisson_mean, np.log, 5, "D2", poisson_deviance_explained, 0.0,
    EXPLAINED, DEVIANCE_WORDS,
)
COX = Family(
    "cox", CoxLoss(), poisson_mean, _log, 10, "C", concordance_index, 0.5, SHARE, HARRELL_WORDS,
    has_times=True,
)


# fmt: on


def multinomial(n_classes: int, *, ordered: bool = False) -> Family:
    """The family of more than two classes, numbered from 0, perhaps in their order."""
    score, words = ("RPSS", ranked_probability_skill), RANKED_WORDS
    if not ordered:
        score, words = ("D2", class_deviance_explained), DEVIANCE_WORDS
    return Family(
        "ordinal" if ordered else "multinomial", MultinomialLoss(n_classes), _softmax, _log_shares,
        10, *score, 0.0, EXPLAINED, words, n_classes=n_classes, is_ordered=ordered,
    )  # fmt: skip


def family_of(name: str, n_classes: int) -> Family:
    if name in ("multinomial", "ordinal") and n_classes > 2:
        return multinomial(n_classes, ordered=name == "ordinal")
    family = {family.name: family for family in (GAUSSIAN, BINOMIAL, POISSON, COX)}[name]
    if family.n_classes != n_classes:
        raise KeyError(name)
    return family


# --- Scores of times to an event, by their names: concordance, Brier score, deviance -------------

N_TIMES = 100
"""Times at which Brier scores are taken."""

Span = tuple[float, float]
"""From the first event to the time until which 90% of the events are (``FollowUp.span``)."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of score: ``score(y, risk, weight, training, span)`` of relative risks. Its words are
    a sentence, in which ``{until}`` stands for the end of its span; `null` is the score of the
    model without predictors. If it needs the training rows, delayed entry is not allowed; if it
    needs pairs, there must be an event with others at risk."""

    name: str
    words: str
    null: float
    bounds: tuple[float, float]
    score: Callable[[FloatArray, FloatArray, WeightArray, WeightArray, Span], float]
    needs_training: bool = False
    needs_pairs: bool = True


@dataclass(frozen=True, slots=True)
class TimeScore:
    """A score of relative risks by its name as an argument; greater is better."""

    key: str
    kind: Kind
    span: Span

    def __call__(self, y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
        """Score of rows that are their own training rows."""
        return self.after(y, prediction, weight, weight)

    def after(
        self, y: FloatArray, prediction: FloatArray, weight: WeightArray, training: WeightArray
    ) -> float:
        """Score of the rows with a weight by a model fitted to those with a weight in `training`;
        NaN where it is not defined, or a prediction is missing."""
        learns = self.kind.needs_training
        part = (weight > 0) | (training > 0) if learns else weight > 0
        y, weight, training = y[part], weight[part], training[part]
        n_late = int((y[:, START] >= 0).sum())
        if learns and n_late:
            others = _named(key for key, kind in KINDS.items() if not kind.needs_training)
            raise OptionError(
                f'`scoring="{self.key}"` must not be used with delayed entry: it needs'
                f" inverse-probability-of-censoring weights.\n  Found: {n_late:,}"
                f" row{'s' if n_late > 1 else ''} with a start time. Use {others}, or leave"
                " `scoring` out."
            )
        risk = prediction[part]
        if not part.any() or np.isnan(risk).any():
            return float("nan")
        return float(self.kind.score(y, risk, weight, training, self.span))

    @property
    def record(self) -> list[str | bool]:
        """Its entry in a model file: its name, and that this is enough to find it."""
        return [self.key, True]

    @property
    def words(self) -> str:
        return self.kind.words.format(until=f"{self.span[1]:,g}")


def _harrell(y: FloatArray, risk: FloatArray, weight: WeightArray, *_: Any) -> float:
    return concordance_index(y, risk, weight)


def _uno(
    y: FloatArray, risk: FloatArray, weight: WeightArray, training: WeightArray, span: Span
) -> float:
    censoring = curves.censoring_curve(y, training)
    return curves.uno_concordance(y, risk, weight, tau=span[1], censoring=censoring).value


def _brier(
    y: FloatArray, risk: FloatArray, weight: WeightArray, training: WeightArray, span: Span
) -> float:
    # A stratum without training rows has no baseline hazard: its rows are left out.
    weight = weight * np.isin(y[:, STRATUM], y[training > 0, STRATUM])
    given = weight, training, np.unique(np.linspace(*span, N_TIMES))
    return curves.brier_explained(y, _log(risk), *given) if weight.any() else float("nan")


def _deviance(y: FloatArray, risk: FloatArray, weight: WeightArray, *_: Any) -> float:
    return curves.deviance_explained(y, _log(risk), weight)


_UNO_WORDS = (
    "Uno's C: the share of comparable pairs of rows (within strata, if any) in which the row"
    " with the earlier event has the higher predicted risk, for events before {until}, the time"
    " by which 90% of the events occur. Each pair is weighted by the inverse squared"
    " probability of being uncensored at that event, estimated from the training rows (Uno et"
    " al. 2011)."
)
_BRIER_WORDS = (
    "Brier R2: 1 minus the ratio of the integrated Brier score to that of the null model, from"
    " the first event to {until}, the time by which 90% of the events occur (Graf et al. 1999)."
    " The baseline hazard and the inverse-probability-of-censoring weights are estimated from"
    " the training rows. 0 is no better than the null model."
)
_DEVIANCE_WORDS = (
    "D2: 1 minus the ratio of the partial-likelihood deviance to that of the null model, with"
    " risk sets of the scored rows alone. 0 is no better than the null model."
)

KINDS: dict[str, Kind] = {
    "harrell_c": Kind("C", HARRELL_WORDS, 0.5, SHARE, _harrell),
    "uno_c": Kind("Uno's C", _UNO_WORDS, 0.5, SHARE, _uno, needs_training=True),
    "integrated_brier": Kind(
        "Brier R2", _BRIER_WORDS, 0.0, EXPLAINED, _brier, needs_training=True, needs_pairs=False
    ),
    "cox_deviance": Kind("D2", _DEVIANCE_WORDS, 0.0, EXPLAINED, _deviance),
}
"""Scores by the names that `scoring` takes."""


def _named(keys: Iterable[str]) -> str:
    """Names in a sentence: ``"a", "b" or "c"``."""
    *first, last = [f'"{key}"' for key in keys]
    return f"{', '.join(first)} or {last}" if first else last


def with_time_score(family: Family, name: object, span: Span) -> Family:
    """A family of times with its score replaced by the one with this name."""
    if not is_one_of(name, KINDS):
        raise OptionError(
            "`scoring` must be a score of times to an event, or a function `scorer(y_true,"
            f" prediction)`.\n{found_near(name, KINDS, f'Use {_named(KINDS)}.')}"
        )
    kind = KINDS[str(name)]
    score = TimeScore(str(name), kind, span)
    return dataclasses.replace(
        family, score_name=kind.name, score_words=score.words, score_bounds=kind.bounds,
        score=score, score_after=score.after if kind.needs_training else None,
        null_score=kind.null, score_needs_variation=kind.needs_pairs,
    )  # fmt: skip
