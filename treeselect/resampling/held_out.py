"""Predictions of held-out rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_share, described, finite, numbers_in
from treeselect.designs.families import Family, area_under_curve
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import in_labels
from treeselect.designs.problem import Problem
from treeselect.engine import rounding
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.rounding import at_least
from treeselect.engine.survival.curves import (
    SurvivalCurve,
    breslow,
    censoring_curve,
    efron,
    inverse_of_observation,
    kaplan_meier,
    steps_at,
)
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM
from treeselect.errors import OptionError, quoted
from treeselect.models.linear.statistics import Recalibration, recalibrate
from treeselect.resampling.agreement import known_quantiles, t_quantile, wilson_interval

_AT_ONCE = 1_000_000
"""So many rows times times are in memory at once."""

NO_STRATA = (
    "`folds` must leave training rows of the strata that they hold out.\n"
    "  Found: none in any fold. The baseline hazard of a stratum is estimated from its own rows"
    " alone."
)


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out rows, with predicted and observed responses."""

    # (n,); row number in the data, from 0. A row that is held out several times occurs as often,
    # and so does a row with a frequency weight.
    row: IntArray
    fold: IntArray  # (n,); from 1
    y: FloatArray  # (n,), or (n, 4); as in :class:`treeselect.designs.response.Response`
    # (n,), or (n, n_classes); on the scale of the response: for two classes the probability of the
    # second, for survival the risk relative to the baseline hazard of the fold
    predicted: FloatArray
    weight: FloatArray  # (n,)
    # (n,); weight of a prediction: the case weight, divided among the predictions of the row.
    # Weights that are not copies of rows are scaled to a mean of 1 per row.
    mass: FloatArray
    times: IntArray  # (n,); how often the row is held out
    are_copies: bool  # whether a weight of 2 stands for two rows
    grouped: bool  # whether rows are clustered
    family: Family
    classes: tuple[Any, ...]
    name: str  # of the response, or of the times
    # (n,); number of the cluster, or of the observation if there are none: what is drawn as a whole
    unit: IntArray
    # of times to an event: a time, and (n,) the probability of the event by then; missing where the
    # training rows have none of the stratum
    horizon: float = float("nan")
    event: FloatArray | None = None
    offset: FloatArray | None = None  # (n,); known part of the linear predictor

    @property
    def n_rows(self) -> int:
        """Number of distinct observations."""
        return round(float((1 / self.times).sum()))

    @property
    def is_weighted(self) -> bool:
        """Whether case weights differ and are not copies of rows."""
        return not self.are_copies and bool(np.ptp(self.weight))

    @property
    def counts(self) -> FloatArray:
        """Number of observations that each prediction stands for."""
        return self.mass if self.are_copies else 1 / self.times

    @property
    def units(self) -> IntArray:
        """What is independent, numbered from 0: clusters, or observations if there is only one."""
        is_one = len(np.unique(self.unit)) == 1
        return np.unique(self.row if is_one else self.unit, return_inverse=True)[1]

    @property
    def is_robust(self) -> bool:
        """Whether errors are of sums over units: of clusters, and with weights that are no
        copies."""
        return not self.are_copies or (self.grouped and len(np.unique(self.unit)) > 1)

    @property
    def risk(self) -> FloatArray:
        """Predictions that are comparable between folds: of times the probability of the event."""
        return self.predicted if self.event is None else self.event

    @property
    def hazard(self) -> FloatArray:
        """Cumulative hazard by the horizon: risks that are comparable between folds and strata."""
        return -np.log1p(-np.minimum(self.risk, 1 - 1e-12))

    @property
    def event_words(self) -> str:
        """What has the predicted probability: the positive class, or the event by the horizon."""
        if self.event is not None:
            return f"event by {self.name} = {self.horizon:g}"
        return f"{self.name} = {self.classes[-1]}"

    @property
    def with_risks(self) -> HeldOut:
        """Those of the rows whose risk is known; an OptionError if there are none."""
        known = np.flatnonzero(~np.isnan(self.event)) if self.event is not None else slice(None)
        if not len(self.row[known]):
            raise OptionError(NO_STRATA)
        return self if self.event is None else self.only(known)

    def drawn(self, n: int, seed: int) -> Iterator[FloatArray]:
        """Weights of bootstrap samples of the rows, each copy apart, or of whole clusters if there
        are several."""
        rng, unit = np.random.default_rng(seed), self.units
        size = np.ones(unit.max() + 1)
        if not self.is_robust:
            size = np.round(np.bincount(unit, self.mass))
        n_drawn = round(size.sum())
        for _ in range(n):
            yield (rng.multinomial(n_drawn, size / n_drawn) / size)[unit] * self.mass

    @property
    def drawn_words(self) -> str:
        """What bootstrap samples consist of."""
        return "held-out clusters" if self.grouped else "held-out rows"

    def only(self, rows: IntArray | slice) -> HeldOut:
        """Some of these predictions."""
        own = {
            name: getattr(self, name)[rows]
            for name in ("row", "fold", "y", "predicted", "weight", "mass", "times", "unit")
        }
        event = None if self.event is None else self.event[rows]
        offset = None if self.offset is None else self.offset[rows]
        return dataclasses.replace(self, **own, event=event, offset=offset)

    def table(self) -> pd.DataFrame:
        """See ``Performance.predictions``; always of pandas."""
        columns: dict[str, Any] = {"row": self.row, "fold": self.fold}
        if self.family.has_times:
            columns["start"] = np.maximum(self.y[:, START], 0.0)
            columns["time"], columns["event"] = self.y[:, STOP], self.y[:, EVENT] > 0
        elif self.classes:
            labels = pd.Series(list(self.classes))
            columns["observed"] = labels.iloc[self.y.astype(np.int64)].array
        else:
            columns["observed"] = self.y
        if self.predicted.ndim == 2:
            columns |= {f"predicted_{c}": self.predicted[:, i] for i, c in enumerate(self.classes)}
        else:
            columns["predicted"] = self.predicted
        if self.event is not None:
            columns["probability"] = self.event
        columns["weight"] = self.weight
        return pd.DataFrame(columns).sort_values(["row", "fold"], ignore_index=True)


def gather_held_out(
    here: ModelData,
    tests: Sequence[IntArray],
    predicted: Sequence[FloatArray],
    folds: Sequence[int],
    family: Family,
    *,
    blocks: IntArray | None,
    event: Sequence[FloatArray] | None = None,
    horizon: float = float("nan"),
) -> HeldOut:
    """The predictions of all folds (numbered from 0), of the rows that each holds out (`tests`),
    which may be in clusters (`blocks`). The family has the score of the folds."""
    rows, named = np.concatenate(list(tests)), in_labels(here).response
    weight = here.weight[rows].astype(np.float64)
    _, place, times = np.unique(rows, return_inverse=True, return_counts=True)
    mass = weight / times[place]
    if not here.row_weights.are_copies:
        mass *= len(times) / mass.sum()
    return HeldOut(
        row=here.response.rows[rows],
        fold=np.repeat(np.array(folds) + 1, [len(own) for own in tests]),
        y=here.response.y[rows],
        predicted=np.concatenate(list(predicted)),
        weight=weight,
        mass=mass,
        times=times[place],
        are_copies=here.row_weights.are_copies,
        grouped=blocks is not None,
        family=family,
        classes=here.response.classes,
        name=named.name if named.follow_up is None else named.follow_up.time,
        unit=np.unique(rows if blocks is None else blocks[rows], return_inverse=True)[1],
        horizon=horizon,
        event=None if event is None else np.concatenate(list(event)),
        offset=None if here.offset is None else here.offset[rows],
    )


# --- survival at a time ---------------------------------------------------------------------------


def horizon_of(given: object, here: ModelData, weight: WeightArray) -> float | None:
    """The horizon of times to an event; None for other responses, for which none must be given."""
    if here.response.family.has_times:
        return read_horizon(given, here, weight)
    if given is not None:
        raise OptionError(
            "`horizon` needs a survival response, `Surv(time, event)`.\n"
            f"  Found: family {quoted(here.response.family.name)}. Omit `horizon`."
        )
    return None


def read_horizon(given: object, here: ModelData, weight: WeightArray) -> float:
    """The given time, or else the median time of the events."""
    y, mass = here.response.y[weight > 0], weight[weight > 0]
    if given is None:
        dies = y[:, EVENT] > 0
        return rounding.weighted_median(y[dies, STOP], mass[dies])
    at = finite(given)
    last = float(y[:, STOP].max())
    if at is None or not 0 < at <= last:
        raise OptionError(
            "`horizon` must be a time above 0 at which rows are still under observation.\n"
            f"  Found: {described(given)}. Observation ends at {last:g}."
        )
    return float(at)


def survival_at(
    problem: Problem, training: WeightArray, risk: FloatArray, horizon: float
) -> FloatArray:
    """Survival of all rows at a time, by their relative risks; missing where nobody of the stratum
    is followed so long, or is in the training rows, those with a weight in `training`."""
    eta = problem.family.link(risk)
    baseline = efron(problem.y, eta, training * problem.in_training)
    stratum = problem.y[:, STRATUM].astype(np.int64)
    survival = baseline.survival(np.array(horizon), stratum, eta)
    last = np.zeros(len(baseline.until))
    np.maximum.at(last, stratum, problem.y[:, STOP])
    known = ~np.isnan(baseline.until) & at_least(last, horizon)
    return np.where(known[stratum], survival, np.nan)


def observed_curve(held: HeldOut) -> SurvivalCurve:
    """Kaplan and Meier's estimate; of clusters, and with weights that are no copies, with robust
    errors: those of R's ``survfit(cluster=)``, times n / (n - 1) of n units, and quantiles of t."""
    found = kaplan_meier(held.y, held.mass)
    if not held.is_robust:
        return found
    squares, n = _squares_of_units(held, found)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(squares * n / np.float64(n - 1))
        log = np.log(np.where((found.survival > 0) & (found.survival < 1), found.survival, np.nan))
        half = t_quantile(n) * error / log
    lower, upper = (np.exp(log * np.exp(sign * half)) for sign in (-1, 1))
    error = np.where(found.survival > 0, found.survival * error, np.nan)
    return dataclasses.replace(found, standard_error=error, lower=lower, upper=upper)


def _squares_of_units(held: HeldOut, curve: SurvivalCurve) -> tuple[FloatArray, int]:
    """Sums over units of the squares of what each adds to the logarithm of the survival, shape
    (n_times,), and their number; of single rows the sums in Greenwood's formula."""
    order = np.argsort(held.units, kind="stable")
    begin = np.unique(held.units[order], return_index=True)[1]
    y, mass, n_times = held.y[order], held.mass[order], len(curve.time)
    last = np.searchsorted(curve.time, y[:, STOP])
    first = np.searchsorted(curve.time, y[:, START], side="right")
    left = np.where(curve.survival > 0, curve.at_risk - curve.events, np.inf)
    until = np.append(0.0, np.cumsum(curve.events / curve.at_risk / left))
    own, found = mass * y[:, EVENT] / left[last], []
    for at in np.array_split(np.arange(n_times), 1 + len(y) * n_times // _AT_ONCE):
        lived = np.minimum.outer(last + 1, at + 1), np.minimum.outer(first, at + 1)
        each = np.less_equal.outer(last, at) * own[:, np.newaxis]
        each -= mass[:, np.newaxis] * (until[lived[0]] - until[lived[1]])
        found.append((np.add.reduceat(each, begin) ** 2).sum(axis=0))
    return np.concatenate(found), len(begin)


def survival_steps(curves: Sequence[SurvivalCurve], at: FloatArray) -> FloatArray:
    """Survival at some times and its interval limits, shape (3, n_curves, n_times); missing beyond
    the last time of a curve unless it has reached 0."""
    found = np.full((3, len(curves), len(at)), np.nan)
    for g, curve in enumerate(curves):
        seen = (at <= curve.time[-1]) | (curve.survival[-1] == 0)
        steps = (curve.survival, 1.0), (curve.lower, np.nan), (curve.upper, np.nan)
        for row, (value, before) in zip(found[:, g], steps, strict=True):
            row[seen] = steps_at(curve.time, value, at, before)[seen]
    return found


def excess_events(
    y: FloatArray, eta: FloatArray, training: WeightArray, at: IntArray, mass: FloatArray
) -> float:
    """Logarithm of the observed over the expected number of events, during the follow-up of the
    rows whose strata have training rows: the intercept of a Poisson model with the cumulative
    hazard as exposure (Crowson et al. 2016). The hazard is Breslow's, by which the rows that the
    model was fitted to have as many events as expected, ties or not."""
    baseline = breslow(y, eta, training)
    stratum = y[at, STRATUM].astype(np.int64)
    known = ~np.isnan(baseline.until[stratum])
    at, mass, stratum = at[known], mass[known], stratum[known]
    ends = [baseline.cumulative_hazard(y[at, column], stratum, eta[at]) for column in (STOP, START)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.log((mass @ y[at, EVENT]) / (mass @ (ends[0] - ends[1]))))


# --- calibration of predictions of held-out rows, in groups and overall --------------------------

MIDDLE = (0.1, 0.9)
"""Quantiles of the residuals that bound their central 80%."""

_LEAST_MEAN = 1e-6
"""Replaces predicted means of 0, which have no logarithm."""


def calibration_table(held: HeldOut, n_groups: int) -> pd.DataFrame:
    """One row per group (see ``Performance.calibration``)."""
    held = held.with_risks
    if not held.classes:
        return _in_groups(held, n_groups)
    parts = []
    for number, label in positive_classes(held):
        happened = (held.y == number).astype(np.float64)
        own = dataclasses.replace(held, predicted=probability_of(held, number), y=happened)
        rows = _in_groups(own, n_groups)
        rows.insert(0, "class", pd.Series([label] * len(rows)))
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def positive_classes(held: HeldOut) -> list[tuple[int, Any]]:
    """The classes whose probabilities are assessed, with their numbers: of two the second."""
    numbered = list(enumerate(held.classes))
    return numbered[1:] if len(numbered) == 2 else numbered


def probability_of(held: HeldOut, number: int) -> FloatArray:
    """Predicted probability of a class."""
    return held.predicted if held.predicted.ndim == 1 else held.predicted[:, number]


def recalibration(held: HeldOut, law: Any = None) -> Recalibration | None:
    """Calibration slope and intercept: the response regressed on the linear predictor, of the
    family or of another `law` of statsmodels. None for more than two classes, which have no single
    linear predictor. The relative risks of each fold have their own baseline hazard, and no
    intercept."""
    if held.predicted.ndim == 2:
        return None
    own = linear_predictor(held.family, held.predicted) if law is None else law.link(held.predicted)
    y = held.y.copy()
    if held.family.has_times:  # each fold has its own baseline hazards
        pairs = np.column_stack([held.fold, y[:, STRATUM]])
        y[:, STRATUM] = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
    units = held.units if held.is_robust else None
    return recalibrate(held.family.name, y, own, held.mass, units, law, held.offset)


def mean_outcome(y: FloatArray, mass: FloatArray, horizon: float) -> float:
    """Mean response of some rows; of times the share with the event by the horizon, missing if
    their follow-up ends before."""
    if y.ndim == 1:
        return float(np.average(y, weights=mass))
    return 1 - float(survival_steps([kaplan_meier(y, mass)], np.array([horizon])).flat[0])


def linear_predictor(family: Family, predicted: FloatArray) -> FloatArray:
    """Linear predictor of predictions; of means of 0, that of a very small one."""
    with np.errstate(divide="ignore"):
        known = family.link(predicted)
    return np.where(np.isfinite(known), known, family.link(np.array(_LEAST_MEAN)))


def _in_groups(held: HeldOut, n_groups: int) -> pd.DataFrame:
    """Predicted and observed means of groups of rows, with their intervals; of times shares with
    the event by the horizon; of numbers and counts the residuals, too."""
    members = [held.only(own) for own in quantile_groups(held.risk, held.mass, n_groups)]
    table = {
        "group": np.arange(1, len(members) + 1),
        "n": np.array([own.mass.sum() for own in members]),
        "predicted": np.array([np.average(own.risk, weights=own.mass) for own in members]),
    }
    if held.event is not None:
        curves = [observed_curve(own) for own in members]
        survival, low, high = survival_steps(curves, np.array([held.horizon]))[..., 0]
        table |= {"observed": 1 - survival, "ci_low": 1 - high, "ci_high": 1 - low}
        return pd.DataFrame(table)
    table["observed"] = np.array([np.average(own.y, weights=own.mass) for own in members])
    table["ci_low"], table["ci_high"] = np.array([_mean_interval(own) for own in members]).T
    if held.classes:
        return pd.DataFrame(table)
    table["residual"] = table["observed"] - table["predicted"]
    ends = [
        np.quantile(own.y - own.risk, MIDDLE, weights=own.mass, method="inverted_cdf")
        for own in members
    ]
    table["residual_low"], table["residual_high"] = np.array(ends).T
    return pd.DataFrame(table)


def _mean_interval(held: HeldOut) -> tuple[float, float]:
    """95% interval of the mean response of a group: see ``Performance.calibration``."""
    mean, total = float(np.average(held.y, weights=held.mass)), float(held.mass.sum())
    each = held.mass * (held.y - mean) / total
    n = rows = worth = total
    squares = float(each @ (held.y - mean)) / total
    if held.is_robust:
        sums, sizes = (np.bincount(held.units, own) for own in (each, held.mass))
        n, rows, squares = len(sums), float(held.counts.sum()), float(sums @ sums)
        worth = total**2 / float(sizes @ sizes)
    quantile, variance = t_quantile(n), squares * n / (n - 1) if n > 1 else float("nan")
    if not held.classes and (n <= 1 or held.family.name != "poisson"):
        half = quantile * variance**0.5
        return mean - half, mean + half
    # The number of independent rows of this variance; where none varies, a unit is like a row.
    of_row = mean * (1 - mean) if held.classes else mean
    if np.ptp(held.y) == 0 or (held.classes and not held.is_robust):
        quantile = t_quantile(np.inf)
    else:
        worth = of_row / max(variance, of_row / rows * held.is_robust)
    if held.classes:
        low, high = wilson_interval(np.array(mean), np.array(worth), quantile)
        return float(low), float(high)
    z2 = quantile**2 / worth
    high = mean + z2 / 2 + (mean * z2 + z2**2 / 4) ** 0.5
    return mean**2 / high, high


# --- discrimination between classes on held-out rows: ROC curves, areas, confusion matrices ------


def roc_table(held: HeldOut) -> pd.DataFrame:
    """One row per corner of a curve (see ``Performance.roc``)."""
    from sklearn.metrics import roc_curve

    parts = []
    for number, label in _asked("roc", held):
        happened = held.y == number
        probability = rounding.least_of_equals(probability_of(held, number))
        if not 0 < happened.sum() < len(happened):  # a stopped call may have one class only
            continue
        false, true, cutoff = roc_curve(happened, probability, sample_weight=held.mass)
        rows = {"class": pd.Series([label] * len(cutoff)), "cutoff": cutoff}
        rows |= {"false_positive_rate": false, "true_positive_rate": true}
        parts.append(pd.DataFrame(rows))
    if not parts:
        raise OptionError("`roc()` needs two classes among the held-out rows.\n  Found: one.")
    return pd.concat(parts, ignore_index=True)


def areas(held: HeldOut, number: int) -> tuple[float, float]:
    """Area under the ROC curve of a class: over all predictions together, and the mean of the areas
    of the folds, which compares rows within a fold only. NaN if only one class is present."""
    happened, probability = (held.y == number).astype(np.float64), probability_of(held, number)

    def area(own: BoolArray) -> float:
        return area_under_curve(happened[own], probability[own], held.mass[own])

    own = np.array([area(held.fold == fold) for fold in np.unique(held.fold)])
    known = own[~np.isnan(own)]
    mean = float(known.mean()) if len(known) else float("nan")
    return area(np.ones(len(happened), dtype=bool)), mean


def confusion_table(held: HeldOut, threshold: object = None) -> pd.DataFrame:
    """One row per pair of classes (see ``Performance.confusion``)."""
    _asked("confusion", held)
    cutoff = 0.5 if threshold is None else check_share("threshold", threshold)
    if threshold is not None and held.predicted.ndim == 2:
        raise OptionError(
            f"`threshold` needs a response of two classes.\n  Found: {len(held.classes)} classes."
        )
    n, observed = len(held.classes), held.y.astype(np.int64)
    if held.predicted.ndim == 2:  # as in ``predict(type="class")``
        probable = rounding.largest_in_row(held.predicted)
    else:
        probable = rounding.at_least(held.predicted, cutoff).astype(np.int64)
    counts = np.bincount(observed * n + probable, held.mass, n * n).reshape(n, n)
    labels = pd.Series(list(held.classes))
    true, taken = np.divmod(np.arange(n * n), n)
    table = {"observed": labels.iloc[true].array, "predicted": labels.iloc[taken].array}
    with np.errstate(invalid="ignore"):
        share = counts / counts.sum(axis=1)[:, None]
    return pd.DataFrame(table).assign(n=counts.ravel(), share=share.ravel())


def per_class_table(held: HeldOut) -> pd.DataFrame:
    """One row per class: ``class``, ``n``, ``recall``, ``precision``, and ``area`` under the ROC
    curve of the class against the others over all predictions."""
    n = len(held.classes)
    counts = confusion_table(held)["n"].to_numpy().reshape(n, n)
    right, total, taken = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    table = {"class": pd.Series(list(held.classes)).array, "n": total}
    with np.errstate(invalid="ignore", divide="ignore"):
        table |= {"recall": right / total, "precision": right / taken}
    return pd.DataFrame(table).assign(area=[areas(held, number)[0] for number in range(n)])


def _asked(what: str, held: HeldOut) -> list[tuple[int, Any]]:
    if not held.classes:
        raise OptionError(
            f"`{what}()` needs a response with classes.\n"
            f"  Found: family {quoted(held.family.name)}."
            + ("" if held.family.has_times else " `calibration()` also takes numeric responses.")
        )
    return positive_classes(held)


# --- areas under ROC curves at given times, of times to an event ----------------------------------


def auc_table(held: HeldOut, times: object, seed: int) -> pd.DataFrame:
    """One row per time (see ``Performance.auc``)."""
    if not held.family.has_times:
        raise OptionError("`auc()` needs times to an event; for classes use `roc()`.")
    known = held.with_risks
    if (known.y[:, START] > 0).any():
        raise OptionError(
            "`auc()` needs rows that are under observation from 0 on.\n  Found: late entry, for"
            " which the probability of being under observation is not known."
        )
    last = float(known.y[:, STOP].max())
    at = numbers_in([held.horizon] if times is None else times, lambda time: 0 < time < last)
    if not at:
        raise OptionError(
            "`times` must be numbers above 0 at which rows are still under observation.\n"
            f"  Found: {described(times)}. Observation ends at {last:g}."
        )
    found = uno_areas(known.y, known.risk, known.mass, np.array(at))
    drawn = [uno_areas(known.y, known.risk, mass, np.array(at)) for mass in known.drawn(200, seed)]
    later = np.less.outer(at, known.y[:, STOP])
    sets = ~later & (known.y[:, EVENT] > 0), later
    cases, controls = (own @ known.mass for own in sets)
    is_one = np.minimum(*(own @ known.counts for own in sets)) < 1.5
    low, high = np.where(is_one, np.nan, known_quantiles(np.array(drawn)))
    names = ("time", "cases", "controls", "auc", "ci_low", "ci_high")
    return pd.DataFrame(dict(zip(names, (at, cases, controls, found, low, high), strict=True)))


def uno_areas(
    y: FloatArray, risk: FloatArray, weight: WeightArray, times: FloatArray
) -> FloatArray:
    """Area under the ROC curve between rows with the event by each time and rows that are under
    observation after it; a case is divided by the probability of being still under observation at
    its time, so that rows censored before are made up for (Uno et al. 2007; Hung and Chiang
    2010)."""
    stop, dies = y[:, STOP], y[:, EVENT] > 0
    seen = inverse_of_observation(censoring_curve(y, weight), stop)
    found = []
    for time in times:
        case = dies & at_least(time, stop)
        mass = np.where(case, weight * seen, np.where(stop > time, weight, 0.0))
        found.append(area_under_curve(case.astype(np.float64), risk, mass))
    return np.array(found)


def quantile_groups(values: FloatArray, weight: WeightArray, n_groups: int) -> list[IntArray]:
    """Rows by weighted quantiles, in order; equal values share a group, so there may be fewer."""
    _, place = np.unique(rounding.levels(values), return_inverse=True)
    share = np.bincount(place, weight)
    middle = (np.cumsum(share) - share / 2) / share.sum()
    found = np.minimum((middle * n_groups).astype(np.int64), n_groups - 1)[place]
    return [np.flatnonzero(found == group) for group in np.unique(found)]
