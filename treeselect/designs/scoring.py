"""User-defined scores: a scikit-learn scorer or a function instead of the family's score."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.arguments.checks import answer, described, finite, parameters_of
from treeselect.designs.families import KINDS, UNBOUNDED, Family, TimeScore, with_time_score
from treeselect.designs.survival import FollowUp
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.rounding import at_least, largest_in_row, least_of_equals
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM
from treeselect.errors import OptionError, near_or, quoted, said_by
from treeselect.quiet import own_filters

Scoring = str | Callable[..., float] | None

_LEAST_MEAN = 1e-6
"""Mean counts and probabilities of one of several classes are kept this far above 0."""


@dataclass(frozen=True, slots=True)
class CustomScore:
    """A score that replaces the family's: ``score(y, prediction, weight)``."""

    name: str  # for people; whether the user gave it says `by_name`
    # None in a model that was loaded from a file, which holds no functions: the score is NaN
    scorer: Callable[..., Any] | None
    # ``"estimator"`` for ``scorer(estimator, X, y)`` of scikit-learn, ``"prediction"`` for
    # ``scorer(y_true, prediction)``
    style: str
    by_name: bool
    weighted: bool  # whether it takes ``sample_weight``
    n_classes: int  # of the response, 0 for numbers
    is_count: bool  # whether means must be above 0
    # those of :func:`structured`, if the response is times to an event
    time_fields: tuple[str, ...] = ()

    def __call__(self, y: FloatArray, prediction: FloatArray, weight: WeightArray) -> float:
        """Score of the rows with a positive weight; NaN where it is not defined."""
        if self.scorer is None:
            return float("nan")
        rows = weight > 0
        truth: NDArray[Any] = y[rows].astype(np.int64) if self.n_classes else y[rows]
        if self.time_fields:
            truth = structured(truth, self.time_fields)
        known = least_of_equals(self._within_range(prediction[rows]))
        # Some scores of scikit-learn take no weights: equal ones are none, as in its scorers.
        weighs = self.weighted and (self.style == "prediction" or len(np.unique(weight[rows])) > 1)
        extra = {"sample_weight": weight[rows]} if weighs else {}
        given: tuple[Any, ...] = (truth, known)
        try:
            with own_filters():
                # scikit-learn warns where a score is not defined, and gives 0 or NaN.
                warnings.simplefilter("ignore")
                if self.style == "estimator":
                    given = (frozen_model(known, self.n_classes), known, truth)
                return float(self.scorer(*given, **extra))
        except MemoryError:
            raise
        except Exception as error:  # a function of the user's can fail in any way
            raise self._failed(error, truth) from error

    @property
    def record(self) -> list[str | bool]:
        """What a model file says of it: its name, and whether that is enough."""
        return [self.name, self.by_name]

    def _failed(self, error: Exception, truth: NDArray[Any]) -> OptionError:
        """The error for a scorer that fails, with what it says or needs."""
        kind = f"{self.n_classes} classes" if self.n_classes else "a numeric response"
        if self.time_fields:
            kind = "times to an event, which are relative risks"
        way = "Use another score, or leave `scoring` out for the family's default."
        said = said_by(error)
        found = f"which says: {said}"
        if isinstance(error, AttributeError) and "predict_proba" in said:
            found = "which needs class probabilities; the model predicts the mean response."
        elif isinstance(error, AttributeError) and "decision_function" in said:
            found = "which needs `decision_function`; the model predicts probabilities."
            way = "Use a score of probabilities, such as `neg_log_loss`, or leave `scoring` out."
        present = len(np.unique(truth))
        if self.n_classes and present < self.n_classes:
            way = (
                f"These {len(truth)} rows contain {present} of the {self.n_classes} classes: change"
                " `folds`, or use a score that is defined without the others, such as `accuracy`."
            )
        return OptionError(
            f"`scoring` must be a score of the model's predictions for {kind}.\n"
            f"  Found: {quoted(self.name)}, {found}\n  {way}"
        )

    def _within_range(self, prediction: FloatArray) -> FloatArray:
        """Predictions that are probabilities or mean counts, as scikit-learn checks that."""
        if self.is_count:
            return np.asarray(np.clip(prediction, _LEAST_MEAN, None))
        if self.n_classes == 2:
            return np.asarray(np.clip(prediction, 0.0, 1.0))
        if self.n_classes > 2:
            shares = np.clip(prediction, _LEAST_MEAN, None)
            return np.asarray(shares / shares.sum(axis=1, keepdims=True))
        return prediction


_FIELDS: dict[str, tuple[int, type]] = {
    "event": (EVENT, np.bool_),
    "time": (STOP, np.float64),
    "start": (START, np.float64),
    "stratum": (STRATUM, np.int64),
}
"""Column and type of each field of a structured array of times."""

_TIMES = ("event", "time")


def structured(y: FloatArray, fields: tuple[str, ...]) -> NDArray[Any]:
    """Times to an event, shape (n_rows, 4), as scikit-survival has them: one structured array.
    Fields are ``event`` and ``time``; where rows have a start, or strata, also ``start`` (-1 is the
    beginning) and ``stratum``: a score that can't handle these must not ignore them."""
    found = np.empty(len(y), dtype=[(name, _FIELDS[name][1]) for name in fields])
    for name in fields:
        found[name] = y[:, _FIELDS[name][0]]
    return found


@cache
def _frozen_kinds() -> tuple[Any, Any]:
    """Estimators of numbers and of classes that have predicted already, whatever the data."""
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

    class FrozenNumbers(RegressorMixin, BaseEstimator):
        def predict(self, X: Any) -> FloatArray:
            return self.prediction

    class FrozenClasses(ClassifierMixin, BaseEstimator):
        def predict(self, X: Any) -> Any:
            if len(self.classes_) == 2:
                return at_least(self.prediction, 0.5).astype(np.int64)
            return largest_in_row(self.prediction)

        def predict_proba(self, X: Any) -> FloatArray:
            p = self.prediction
            return np.column_stack([1 - p, p]) if len(self.classes_) == 2 else p

    return FrozenNumbers, FrozenClasses


def frozen_model(prediction: FloatArray, n_classes: int) -> Any:
    """Such an estimator. Predictions are mean responses, of two classes the probability of class 1,
    of more a column for each class."""
    numbers, classes = _frozen_kinds()
    model = classes() if n_classes else numbers()
    model.prediction = prediction
    if n_classes:
        model.classes_ = np.arange(n_classes)
    return model


def with_scoring(family: Family, scoring: Scoring, follow_up: FollowUp | None = None) -> Family:
    """The family with its score replaced by the requested one; greater is better. That is the name
    of a scorer of scikit-learn (of times to an event one of ``families.KINDS``), a scorer that
    ``make_scorer`` made, or ``scorer(y_true, prediction, sample_weight=None)``."""
    if scoring is None:
        return family
    if follow_up is not None and not callable(scoring):
        return with_time_score(family, scoring, follow_up.span)
    name, scorer, style = _find(scoring)
    function: Any = answer(scorer, "_score_func") if style == "estimator" else scorer
    takes_weights = "sample_weight" in parameters_of(function)
    fields: tuple[str, ...] = ()
    if family.has_times:
        has_more = follow_up and (follow_up.start is not None or follow_up.strata)
        fields = tuple(_FIELDS) if has_more else _TIMES
    given = name, scorer, style, isinstance(scoring, str), takes_weights
    return _scored(family, CustomScore(*given, family.n_classes, family.name == "poisson", fields))


def with_lost_scoring(family: Family, name: str) -> Family:
    """The family with the name of a score whose function is not here."""
    lost = CustomScore(name, None, "prediction", False, False, family.n_classes, is_count=False)
    return _scored(family, lost)


def is_lost(family: Family) -> bool:
    """Whether the family's score is a function that is not here."""
    return isinstance(family.score, CustomScore) and family.score.scorer is None


def scoring_record(family: Family) -> list[str | bool] | None:
    """Name of the requested score and whether it suffices; None for the family's default."""
    return family.score.record if isinstance(family.score, CustomScore | TimeScore) else None


def _scored(family: Family, score: CustomScore) -> Family:
    return dataclasses.replace(
        family, score_name=score.name, score_words="", score_bounds=UNBOUNDED, score=score,
        score_after=None, null_score=float("nan"), score_needs_variation=False,
    )  # fmt: skip


def _find(scoring: object) -> tuple[str, Callable[..., Any], str]:
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer, get_scorer_names

        names = get_scorer_names()
        if scoring not in names:
            advice = near_or(scoring, names, "Examples: `roc_auc`, `r2`.")
            if scoring in KINDS:
                advice = "That score is for times to an event, `Surv(time, event)`."
            raise _no_scorer(scoring, advice)
        return scoring, get_scorer(scoring), "estimator"
    if not callable(scoring):
        raise _no_scorer(scoring, "")
    inside = answer(scoring, "_score_func")
    own_name = answer(scoring if inside is None else inside, "__name__")
    name = own_name if isinstance(own_name, str) else type(scoring).__name__
    if (finite(answer(scoring, "_sign")) or 1) < 0:
        name = f"neg_{name}"
    return name, scoring, "prediction" if inside is None else "estimator"


def _no_scorer(scoring: object, advice: str) -> OptionError:
    return OptionError(
        "`scoring` must be the name of a scikit-learn scorer, or a function"
        f" `scorer(y_true, prediction)`.\n  Found: {described(scoring)}. {advice}".rstrip()
    )


def check_scoring(family: Family, y: FloatArray, weight: WeightArray) -> None:
    """Raise an OptionError if the score of a constant prediction for these rows fails."""
    rows = np.flatnonzero(weight)
    if family.n_classes:
        shares = np.bincount(y[rows].astype(np.int64), weight[rows], family.n_classes)
        shares = shares / shares.sum()
        mean = shares[1] if family.n_classes == 2 else shares
    else:
        mean = 1.0 if family.has_times else np.average(y[rows], weights=weight[rows])
    family.score(y[rows], np.full((len(rows), *np.shape(mean)), mean), weight[rows])
