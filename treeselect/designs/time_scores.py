"""Scores of times to an event, by their names: concordance, Brier score, deviance."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from treeselect.arguments.checks import is_one_of
from treeselect.arguments.scalars import described
from treeselect.designs.families import (
    COX,
    EXPLAINED,
    HARRELL_WORDS,
    SHARE,
    Family,
    concordance_index,
)
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.survival.concordance import uno_concordance
from treeselect.engine.survival.curves import censoring_curve
from treeselect.engine.survival.explained import brier_explained, deviance_explained
from treeselect.engine.survival.times import START
from treeselect.errors import OptionError, did_you_mean, near

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
    kind : Kind
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

        Raises
        ------
        OptionError
            If it has to estimate the censoring, and entry is delayed.
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
    """A family of times with its score replaced by the one with this name.

    Raises
    ------
    OptionError
        If there is none.
    """
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
