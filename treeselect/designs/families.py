"""Families of responses: loss, score and scale of prediction."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from treeselect.arguments.checks import described, is_one_of
from treeselect.engine.arrays import AnyArray, FloatArray, WeightArray
from treeselect.engine.losses import (
    LogisticLoss,
    Loss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
    poisson_mean,
)
from treeselect.engine.rounding import levels
from treeselect.engine.survival.concordance import uno_concordance
from treeselect.engine.survival.cox import CoxLoss
from treeselect.engine.survival.curves import censoring_curve
from treeselect.engine.survival.explained import brier_explained, deviance_explained
from treeselect.engine.survival.times import START
from treeselect.errors import OptionError, did_you_mean, near

_NEAR_CERTAIN = 1e-6
"""Probabilities are kept this far from 0 and 1 before their log-odds are taken."""


UNBOUNDED = (-math.inf, math.inf)
SHARE = (0.0, 1.0)
EXPLAINED = (-math.inf, 1.0)
"""Bounds of scores: none, those of proportions, and those of the proportion explained, which may be
negative."""

AfterTraining = Callable[[FloatArray, FloatArray, WeightArray, WeightArray], float]


@dataclass(frozen=True, slots=True)
class Family:
    """A family of responses.

    Attributes
    ----------
    name : str
        ``"gaussian"``, ``"binomial"``, ``"multinomial"``, ``"poisson"`` or ``"cox"``.
    loss : Loss
        What boosting and the sparse forest minimise.
    score_name : str
        Score by which models are compared; greater is better.
    score : callable
        ``score(y, prediction, weight)``; the prediction is on the response's scale.
    null_score : float
        Score of a constant prediction.
    mean : callable
        From the linear predictor to the response's scale.
    link : callable
        Its inverse.
    has_classes : bool
        Whether the response has classes, whose labels are predicted too.
    n_classes : int
        Their number; 0 for numbers.
    score_needs_variation : bool
        Whether the score is defined only for rows whose response varies.
    has_times : bool
        Whether the response is times to an event, whose mean is not modelled.
    score_words : str
        What the score is, a sentence; empty where its name says so.
    score_bounds : (float, float)
        Least and greatest value that the score can have; infinite where none is known.
    score_after : callable or None
        ``score_after(y, prediction, weight, training)``: the same score for held-out rows, if it
        also uses the training rows; `score` takes the scored rows as training rows.
    min_leaf : int
        Least weight of a leaf of refitted boosted trees: 5 for numbers, 10 for probabilities.
    """

    name: str
    loss: Loss
    score_name: str
    score: Callable[[FloatArray, FloatArray, WeightArray], float]
    null_score: float
    mean: Callable[[FloatArray], FloatArray]
    link: Callable[[FloatArray], FloatArray]
    min_leaf: int
    has_classes: bool
    n_classes: int = 0
    score_needs_variation: bool = True
    has_times: bool = False
    score_words: str = ""
    score_bounds: tuple[float, float] = UNBOUNDED
    score_after: AfterTraining | None = None

    def held_out_score(
        self, y: FloatArray, prediction: FloatArray, weight: WeightArray, training: WeightArray
    ) -> float:
        """Score of the rows with positive weight, for a model fitted to the rows with positive
        weight in `training`; all arrays have all rows."""
        if self.score_after is not None:
            return self.score_after(y, prediction, weight, training)
        rows = weight > 0
        return self.score(y[rows], prediction[rows], weight[rows])


def r_squared(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Proportion of the weighted variance explained; negative if worse than the mean. NaN if all
    values with positive weight are equal."""
    y, prediction, weight = _with_weight(y, prediction, weight)
    if _is_constant(y):
        return float("nan")
    # As scikit-learn computes it, to the last bit, whose metrics take a second to import.
    truth, own = y[:, np.newaxis], weight[:, np.newaxis]
    left = np.sum(own * (truth - prediction.reshape(-1, 1)) ** 2, axis=0)
    mean = np.average(truth, axis=0, weights=weight)
    whole = np.sum(own * (truth - mean) ** 2, axis=0)
    if left[0] == 0:
        return 1.0
    return float(1 - left[0] / whole[0]) if whole[0] != 0 else 0.0


def area_under_curve(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Area under the ROC curve; NaN if only one class has positive weight, or a prediction is
    missing. Predictions that differ only by rounding error are ties."""
    y, prediction, weight = _with_weight(y, prediction, weight)
    if np.isnan(prediction).any() or _is_constant(y):
        return float("nan")
    # As scikit-learn computes it, to the last bit, whose metrics take a second to import.
    level = levels(prediction)
    order = np.argsort(-level, kind="stable")
    is_event, weight = (y[order] == y.max()).astype(np.float64), weight[order]
    last = np.append(np.flatnonzero(np.diff(level[order])), len(order) - 1)
    hits = np.cumsum(is_event * weight, dtype=np.float64)[last]
    alarms = np.cumsum((1 - is_event) * weight, dtype=np.float64)[last]
    if len(last) > 2:
        corners = np.append(
            True, np.append((np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0), True)
        )
        hits, alarms = hits[corners], alarms[corners]
    hits, alarms = np.append(0.0, hits), np.append(0.0, alarms)
    return float(np.trapezoid(hits / hits[-1], alarms / alarms[-1]))


def class_deviance_explained(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Proportion of the log loss of the class proportions that is explained; `prediction` has a
    column for each class. NaN if only one class has positive weight."""
    from sklearn.metrics import d2_log_loss_score

    y, prediction, weight = _with_weight(y, prediction, weight)
    shares = np.clip(prediction, _NEAR_CERTAIN, None)
    shares /= shares.sum(axis=1, keepdims=True)
    return _scored(d2_log_loss_score, y, shares, weight, labels=np.arange(shares.shape[1]))


def poisson_deviance_explained(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Proportion of the Poisson deviance of the mean that is explained; means are above 0. NaN if
    all counts with positive weight are equal."""
    from sklearn.metrics import d2_tweedie_score

    y, prediction, weight = _with_weight(y, prediction, weight)
    return _scored(d2_tweedie_score, y, np.clip(prediction, _NEAR_CERTAIN, None), weight, power=1)


def concordance_index(y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
    """Harrell's C of relative risks: the share of comparable pairs of rows of a stratum in which
    the row with the earlier event has the higher risk; ties in risk count one half. NaN if there is
    no comparable pair, or a prediction is missing."""
    from treeselect.engine.survival.concordance import concordance

    return concordance(y, prediction, weight).value


def _with_weight(
    y: FloatArray, prediction: FloatArray, weight: WeightArray
) -> tuple[FloatArray, FloatArray, WeightArray]:
    """The rows with positive weight: the others must not even cause rounding errors."""
    rows = weight > 0
    return y[rows], prediction[rows], weight[rows]


def _is_constant(y: FloatArray) -> bool:
    return len(y) == 0 or bool(y.min() == y.max())


def _scored(
    score: Callable[..., Any], y: FloatArray, prediction: AnyArray, weight: WeightArray, **own: Any
) -> float:
    """A score of scikit-learn; NaN if the response does not vary."""
    from sklearn import config_context

    if _is_constant(y):
        return float("nan")
    # A fit computes dozens of scores of our own arrays: they need not be checked again.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return float(score(y, prediction, sample_weight=weight, **own))


def _expit(eta: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.expit(eta))


def _softmax(eta: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.softmax(eta, axis=1))


def _log_shares(shares: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.clip(shares, _NEAR_CERTAIN, 1.0)))


def _log_odds(probability: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.logit(np.clip(probability, _NEAR_CERTAIN, 1 - _NEAR_CERTAIN)))


def _identity(eta: FloatArray) -> FloatArray:
    return eta


GAUSSIAN = Family(
    "gaussian",
    SquaredLoss(),
    "R2",
    r_squared,
    0.0,
    _identity,
    _identity,
    min_leaf=5,
    has_classes=False,
    score_bounds=EXPLAINED,
)
BINOMIAL = Family(
    "binomial",
    LogisticLoss(),
    "AUC",
    area_under_curve,
    0.5,
    _expit,
    _log_odds,
    min_leaf=10,
    has_classes=True,
    n_classes=2,
    score_bounds=SHARE,
)

DEVIANCE_WORDS = (
    "D2: proportion of deviance explained, relative to the best constant for the scored rows; 1 is"
    " perfect, below 0 is worse than that constant."
)

POISSON = Family(
    "poisson",
    PoissonLoss(),
    "D2",
    poisson_deviance_explained,
    0.0,
    poisson_mean,
    np.log,
    min_leaf=5,
    has_classes=False,
    score_words=DEVIANCE_WORDS,
    score_bounds=EXPLAINED,
)


HARRELL_WORDS = (
    "C: Harrell's concordance, the share of comparable pairs of rows (within strata, if any) in"
    " which the row with the earlier event has the higher predicted risk; ties in risk count one"
    " half."
)

COX = Family(
    "cox",
    CoxLoss(),
    "C",
    concordance_index,
    0.5,
    poisson_mean,
    np.log,
    min_leaf=10,
    has_classes=False,
    has_times=True,
    score_words=HARRELL_WORDS,
    score_bounds=SHARE,
)


def multinomial(n_classes: int) -> Family:
    """The family of more than two classes, numbered from 0."""
    return Family(
        "multinomial",
        MultinomialLoss(n_classes),
        "D2",
        class_deviance_explained,
        0.0,
        _softmax,
        _log_shares,
        min_leaf=10,
        has_classes=True,
        n_classes=n_classes,
        score_words=DEVIANCE_WORDS,
        score_bounds=EXPLAINED,
    )


def family_of(name: str, n_classes: int) -> Family:
    """The family of that name, for so many classes (0 for numbers)."""
    if name == "multinomial" and n_classes > 2:
        return multinomial(n_classes)
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
    """A kind of score.

    Attributes
    ----------
    name : str
        In tables.
    words : str
        What it is, a sentence; ``{until}`` stands for the end of its span.
    null : float
        Of the model without predictors.
    bounds : (float, float)
        Least and greatest value.
    score : callable
        ``score(y, risk, weight, training, span)`` of relative risks.
    needs_training : bool
        Whether it needs the training rows; then delayed entry is not allowed.
    needs_pairs : bool
        Whether it needs an event with others at risk.
    """

    name: str
    words: str
    null: float
    bounds: tuple[float, float]
    score: Callable[[FloatArray, FloatArray, WeightArray, WeightArray, Span], float]
    needs_training: bool = False
    needs_pairs: bool = True


@dataclass(frozen=True, slots=True)
class TimeScore:
    """A score of relative risks; greater is better.

    Attributes
    ----------
    key : str
        Its name as an argument.
    span : tuple of float
        The times it covers, if it depends on times.
    """

    key: str
    kind: Kind
    span: Span

    def __call__(self, y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
        """Score of rows that are their own training rows."""
        return self.after(y, prediction, weight, weight)

    def after(
        self, y: FloatArray, prediction: FloatArray, weight: WeightArray, training: WeightArray
    ) -> float:
        """Score of the rows with a weight; NaN where it is not defined, or a prediction is missing.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows, 4)
        prediction : ndarray of float64, shape (n_rows,)
            Relative risks.
        weight, training : ndarray, shape (n_rows,)
            Of the rows to be scored, and of those that the model was fitted to.
        """
        learns = self.kind.needs_training
        part = (weight > 0) | (training > 0) if learns else weight > 0
        y, weight, training = y[part], weight[part], training[part]
        if learns:
            self._check_entries(y)
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
        """What it is, a sentence."""
        return self.kind.words.format(until=f"{self.span[1]:,g}")

    def _check_entries(self, y: FloatArray) -> None:
        n_late = int((y[:, START] >= 0).sum())
        if n_late:
            others = _named(key for key, kind in KINDS.items() if not kind.needs_training)
            raise OptionError(
                f'`scoring="{self.key}"` must not be used with delayed entry: it needs'
                f" inverse-probability-of-censoring weights.\n  Found: {n_late:,}"
                f" row{'s' if n_late > 1 else ''} with a start time. Use {others}, or leave"
                " `scoring` out."
            )


def _log(risk: FloatArray) -> FloatArray:
    return np.asarray(np.log(np.maximum(risk, np.finfo(np.float64).tiny)))


def _harrell(
    y: FloatArray, risk: FloatArray, weight: WeightArray, training: WeightArray, span: Span
) -> float:
    return concordance_index(y, risk, weight)


def _uno(
    y: FloatArray, risk: FloatArray, weight: WeightArray, training: WeightArray, span: Span
) -> float:
    censoring = censoring_curve(y, training)
    return uno_concordance(y, risk, weight, tau=span[1], censoring=censoring).value


def _brier(
    y: FloatArray, risk: FloatArray, weight: WeightArray, training: WeightArray, span: Span
) -> float:
    times = np.unique(np.linspace(*span, N_TIMES))
    return brier_explained(y, _log(risk), weight, training, times)


def _deviance(
    y: FloatArray, risk: FloatArray, weight: WeightArray, training: WeightArray, span: Span
) -> float:
    return deviance_explained(y, _log(risk), weight)


KINDS: dict[str, Kind] = {
    "harrell_c": Kind(COX.score_name, HARRELL_WORDS, 0.5, SHARE, _harrell),
    "uno_c": Kind(
        "Uno's C",
        "Uno's C: the share of comparable pairs of rows (within strata, if any) in which the row"
        " with the earlier event has the higher predicted risk, for events before {until}, the time"
        " by which 90% of the events occur. Each pair is weighted by the inverse squared"
        " probability of being uncensored at that event, estimated from the training rows (Uno et"
        " al. 2011).",
        0.5,
        SHARE,
        _uno,
        needs_training=True,
    ),
    "integrated_brier": Kind(
        "Brier R2",
        "Brier R2: 1 minus the ratio of the integrated Brier score to that of the null model, from"
        " the first event to {until}, the time by which 90% of the events occur (Graf et al. 1999)."
        " The baseline hazard and the inverse-probability-of-censoring weights are estimated from"
        " the training rows. 0 is no better than the null model.",
        0.0,
        EXPLAINED,
        _brier,
        needs_training=True,
        needs_pairs=False,
    ),
    "cox_deviance": Kind(
        "D2",
        "D2: 1 minus the ratio of the partial-likelihood deviance to that of the null model, with"
        " risk sets of the scored rows alone. 0 is no better than the null model.",
        0.0,
        EXPLAINED,
        _deviance,
    ),
}
"""Scores by the names that `scoring` takes."""


def _named(keys: Iterable[str]) -> str:
    """Names in a sentence: ``"a", "b" or "c"``."""
    *first, last = [f'"{key}"' for key in keys]
    return f"{', '.join(first)} or {last}" if first else last


def with_time_score(family: Family, name: object, span: Span) -> Family:
    """A family of times with its score replaced by the one with this name."""
    if not isinstance(name, str) or name not in KINDS:
        close = _close(name) if isinstance(name, str) else []
        elsewhere = "" if close or not _is_elsewhere(name) else _ELSEWHERE
        raise OptionError(
            "`scoring` must be a score of times to an event, or a function `scorer(y_true,"
            f" prediction)`.\n  Found: {described(name)}{elsewhere}."
            f" {did_you_mean(close) if close else f'Use {_named(KINDS)}.'}"
        )
    score = TimeScore(name, KINDS[name], span)
    return dataclasses.replace(
        family,
        score_name=score.kind.name,
        score_words=score.words,
        score_bounds=score.kind.bounds,
        score=score,
        score_after=score.after,
        null_score=score.kind.null,
        score_needs_variation=score.kind.needs_pairs,
    )


_OTHER_NAMES = {
    **dict.fromkeys(("c", "c_index", "c-index", "cindex", "concordance", "harrell"), "harrell_c"),
    **dict.fromkeys(("ibs", "brier", "brier_score", "graf"), "integrated_brier"),
    **dict.fromkeys(("d2", "deviance"), "cox_deviance"),
}
"""What scores are called elsewhere."""


def _close(name: str) -> list[str]:
    """Names of scores that a name may mean."""
    known = _OTHER_NAMES.get(name.lower())
    return near(name, KINDS) if known is None else [known]


_ELSEWHERE = ", a scikit-learn score of classes or numbers"


def _is_elsewhere(name: object) -> bool:
    from sklearn.metrics import get_scorer_names

    return is_one_of(name, get_scorer_names())
