"""Predictions of a fit: of frames in memory, and of data that are read in batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
import scipy

from treeselect.algorithms.method import named_model
from treeselect.arguments.checks import (
    as_floats,
    check_choice,
    check_level,
    described,
    finite,
    length,
    numbers_in,
    values_text,
)
from treeselect.designs.modeldata import ModelData
from treeselect.designs.survival import strata_of
from treeselect.designs.weights import check_offset, check_order
from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import select_groups
from treeselect.engine.forest.leaf_values import leaf_quantiles
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import PRECISION, at_least, largest_in_row
from treeselect.engine.survival.curves import Baseline
from treeselect.engine.tree.target import are_copies
from treeselect.errors import DataError, OptionError, quoted
from treeselect.frames.reading import Scan, frame_of_arrow, read_data, scan_of
from treeselect.frames.tables import as_column, as_frame
from treeselect.models.forest import ForestModel, outside_bags
from treeselect.models.stacked import StackedModel, outside_stack
from treeselect.resampling.fit import Fit
from treeselect.running.machine import memory_errors
from treeselect.running.parallel import workers_for


class Wanted(NamedTuple):
    """Arguments of a prediction, as they were given: see :meth:`SelectionResult.predict`."""

    type: str
    offset: Sequence[float] | None = None
    times: object = None
    quantiles: Sequence[float] | None = None
    interval: object = None
    level: object = 0.95


def predict(fit: Fit, new: Any, asked: Wanted) -> Any:
    """See :meth:`SelectionResult.predict`."""
    scan = scan_of(new)
    found = values_of(fit, new, asked) if scan is None else _of_batches(fit, scan, asked)
    if isinstance(found, dict):
        return as_frame(found, new)
    return as_column(found, fit.design.response.name, new)


def _of_batches(fit: Fit, scan: Scan, asked: Wanted) -> Any:
    """The same for data that are read in batches, of which only the columns needed are read."""
    offset = asked.offset
    if offset is not None and length(offset) != scan.n_rows:
        raise OptionError(
            f"`offset` must have one value per row of `new`, {scan.n_rows:,}.\n"
            f"  Found: {described(offset)}."
        )
    formula = fit.design.spec.formula  # strata of times are among its outcomes
    needed = {*fit.variables, *formula.hidden, *formula.outcome_variables}
    columns = [name for name in scan.columns if name in needed]
    columns = columns or scan.columns[:1]  # the constant model needs their lengths only
    parts: list[Any] = []
    for start, table in scan.batches(columns):
        own = None if offset is None else offset[start : start + table.num_rows]
        parts.append(values_of(fit, frame_of_arrow(table), asked._replace(offset=own)))
    if not parts:
        return values_of(fit, frame_of_arrow(scan.schema.empty_table()), asked)
    if isinstance(parts[0], dict):
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return list(chain(*parts)) if asked.type == "class" else np.concatenate(parts)


def values_of(fit: Fit, new: Any, asked: Wanted) -> list[Any] | AnyArray | dict[str, FloatArray]:
    """The values of a column, or columns of them by name."""
    type, offset = asked.type, asked.offset
    at = read_type(fit, type, asked.times, (QUANTILE,))
    shares, level = read_asked(asked)
    response = fit.design.response
    check_order(new, offset=offset)
    frame = read_data(new, fit.design.spec.numbers)
    if shares is not None:
        check_forest(fit, f'type="{QUANTILE}"')
        columns, known = _columns(fit, frame, offset)
        return quantile_columns(fit, columns, known, shares)
    if level is not None:
        check_forest(fit, 'interval="prediction"')
    if type == "link" and fit.model.is_link and not response.family.is_ordered:
        return _table(fit, _linear_predictor(fit, frame, offset))
    mean = _mean(fit, frame, offset)
    if level is not None:
        return interval_columns(fit, mean, level)
    if at is not None:
        return hazards_at(fit, type, frame, mean, at)
    if type == "class":
        chosen = largest_in_row(mean) if mean.ndim == 2 else at_least(mean, 0.5).astype(int)
        return [response.classes[i] for i in chosen] or np.array(response.classes)[:0]
    return _table(fit, mean if type == "response" else response.family.link(mean))


def _table(fit: Fit, values: FloatArray) -> FloatArray | dict[str, FloatArray]:
    if values.ndim == 2:
        return {str(c): values[:, k] for k, c in enumerate(fit.design.response.classes)}
    return values


def _linear_predictor(fit: Fit, frame: pd.DataFrame, offset: Sequence[float] | None) -> FloatArray:
    """That of the model itself, since the link of a probability ends where it is nearly certain; of
    several classes log shares."""
    family = dataclasses.replace(fit.model.family, mean=np.positive)
    model = dataclasses.replace(fit.model, family=family)
    found = _mean(dataclasses.replace(fit, model=model), frame, offset)
    return scipy.special.log_softmax(found, axis=1) if found.ndim == 2 else found


@memory_errors()
def _mean(fit: Fit, frame: pd.DataFrame, offset: Sequence[float] | None) -> FloatArray:
    columns, known = _columns(fit, frame, offset)
    if not columns:
        return fit.model.without_trees(len(frame), known)
    n_threads = workers_for(fit.n_jobs).n_threads
    return fit.model.predict_columns(fit.design.arrays, columns, known, n_threads)


def _columns(
    fit: Fit, frame: pd.DataFrame, offset: Sequence[float] | None
) -> tuple[tuple[AnyArray, ...], FloatArray | None]:
    """The columns of the final model, and the offset."""
    groups, known = fit.model.groups, fit.design.offset_of(frame, offset)
    check_offset(known, np.arange(len(frame)))
    if not groups.any():
        return (), known
    names = fit.design.arrays.groups.terms
    terms = [term for g in np.flatnonzero(groups) for term in names[g]]
    return fit.design.spec.encode(frame, terms), known


# --- quantiles, and intervals of predictions -----------------------------------------------------

QUANTILE = "quantile"
"""Type of prediction that takes `quantiles`."""


def quantile_columns(
    fit: Fit, columns: tuple[AnyArray, ...], offset: FloatArray | None, shares: FloatArray
) -> dict[str, FloatArray]:
    """A column for each share; see :func:`engine.forest.leaf_values.leaf_quantiles`."""
    design, model = fit.design, fit.model
    problem, weights = design.problem.ready(design.row_weights, model.groups)
    if not isinstance(model, ForestModel):
        model = named_model(
            "forest", design.problem, design.row_weights, model.groups,
            seed=stream_seed(fit.seed, "fit"), n_threads=workers_for(fit.n_jobs).n_threads,
            wants_importance=False,
        )  # fmt: skip
    assert model.trees is not None
    known = 0.0 if design.offset is None else design.offset
    y = design.response.y - known
    data, new = select_groups(problem.data, model.groups), model.bin(design.arrays, columns)
    found = leaf_quantiles(model.trees, data, y, weights.values, new, shares)
    if offset is not None:
        found = found + offset[:, np.newaxis]
    return {_name(share): found[:, k] for k, share in enumerate(shares)}


def interval_columns(fit: Fit, mean: FloatArray, level: float) -> dict[str, FloatArray]:
    """``fit``, ``low`` and ``high``: predictions plus quantiles of the out-of-bag residuals."""
    residual, weight = _residuals(fit)
    tail = (1 - level) / 2
    high, low = _bound(residual, weight, 1 - tail), -_bound(-residual, weight, 1 - tail)
    if not np.isfinite(low) or not np.isfinite(high):
        n = len(residual)
        raise OptionError(
            f"`level` is too high for {n:,} out-of-bag residuals.\n"
            f"  Found: {level:g}. With n residuals it can be at most (n - 1) / (n + 1); try"
            f" {int(1000 * (n - 1) / (n + 1)) / 1000:g}."
        )
    return {"fit": mean, "low": mean + low, "high": mean + high}


def _residuals(fit: Fit) -> tuple[FloatArray, WeightArray]:
    """Out-of-bag residuals of the rows that have one, and their weights."""
    design, seed, model = fit.design, stream_seed(fit.seed, "fit"), fit.model
    problem, weights = design.problem.ready(design.row_weights, model.groups)
    found = None
    if isinstance(model, StackedModel):
        found = outside_stack(problem, weights, model, seed)
    elif isinstance(model, ForestModel):
        found = outside_bags(problem, weights, model, seed)
        if found is not None and model.is_link:
            found = found + model.constant[0]
            found = found if design.offset is None else found + design.offset
    if found is None:
        raise OptionError(
            'Can\'t find the bootstrap samples of the final model for `interval="prediction"`:'
            f" {quoted(fit.method)} grew it with a seed of its own.\n"
            '  Use `fit.refit("forest").predict(...)`.'
        )
    known = ~np.isnan(found) & weights.used
    return (design.response.y - found)[known], weights.values[known]


def _bound(residual: FloatArray, weight: WeightArray, share: float) -> float:
    """The least residual below which lies this share of all residuals and of a new one, which may
    be infinite: of n residuals the one of rank ``ceil(share * (n + 1))``. The new residual has the
    weight of a copy, or the mean weight."""
    order = np.argsort(residual, kind="stable")
    one = 1.0 if are_copies(weight) else float(weight.mean())
    below = np.cumsum(weight[order])
    at = int(np.searchsorted(below, share * (below[-1] + one) * (1 - PRECISION)))
    return float(residual[order[at]]) if at < len(order) else np.inf


def check_forest(fit: Fit, argument: str) -> None:
    """Raise an OptionError if the response is no number, or the final model no forest, and a
    DataError without the data: such a fit has no quantiles or intervals."""
    model = fit.model
    if fit.design.response.family.name != "gaussian":
        raise OptionError(
            f"`{argument}` needs a numeric response (family `gaussian`).\n"
            f"  Found: family {quoted(fit.family)}."
        )
    is_known = isinstance(model, ForestModel | StackedModel)
    if not fit.k or (argument != f'type="{QUANTILE}"' and not is_known):
        way = 'Use `fit.refit("stack").predict(...)`.'
        raise OptionError(
            f"`{argument}` needs out-of-bag predictions of the final model.\n"
            f"  Found: {model.description}. {way if fit.k else 'No term was selected.'}"
        )
    if not fit.design.has_data:
        raise DataError(
            f"`{argument}` needs the data of the fit, which were not saved with the model.\n"
            "  Save the model with `include_data=True` (`--include-data`)."
        )


def read_asked(asked: Wanted) -> tuple[FloatArray | None, float | None]:
    """The shares of quantiles and the level of an interval, as far as `predict` is to give them."""
    shares, quantiles = None, asked.quantiles
    if quantiles is not None and asked.type != QUANTILE:
        raise OptionError(
            f"`quantiles` must be left out for `type={asked.type!r}`.\n"
            f'  Use `type="{QUANTILE}"` for quantiles.'
        )
    if asked.type == QUANTILE:
        wanted = (0.05, 0.5, 0.95) if quantiles is None else quantiles
        known = numbers_in([wanted] if finite(wanted) is not None else wanted, lambda q: 0 < q < 1)
        if not known or known != sorted(known) or len({*map(_name, known)}) < len(known):
            raise OptionError(
                "`quantiles` must be increasing numbers above 0 and below 1.\n  Found:"
                f" {described(quantiles)}. Write, for example, `quantiles=(0.05, 0.5, 0.95)`."
            )
        shares = np.array(known)
    level = check_level(asked.level, asked.interval)
    if asked.interval is None:
        return shares, None
    check_choice("interval", asked.interval, ("prediction",))
    if asked.type != "response":
        raise OptionError(
            f"`interval` must be left out for `type={asked.type!r}`.\n"
            "  Prediction intervals are on the scale of the response."
        )
    return shares, level


# --- survival and cumulative hazard --------------------------------------------------------------

HAZARD_TYPES = ("survival", "cumulative_hazard")
"""Predictions that have a column for each time."""

_MOST_TIMES = 10_000


class HasHazard(Protocol):
    """A model of a response, with its baseline hazard if that is times to an event."""

    @property
    def design(self) -> ModelData: ...

    @property
    def family(self) -> str: ...

    @property
    def baseline(self) -> Baseline | None: ...


PREDICTION_TYPES = ("response", "link", "class", *HAZARD_TYPES)

_AS_IN_R = {"lp": "link", "risk": "response", "expected": "cumulative_hazard"}


def read_type(
    fit: HasHazard, type: str, times: object, others: tuple[str, ...] = ()
) -> FloatArray | None:
    """The times at which a prediction is wanted; None if its type needs none. `others` are types
    that this model has beside the usual ones."""
    check_choice("type", type, PREDICTION_TYPES + others, _AS_IN_R)
    if type == "class" and not fit.design.response.classes:
        raise OptionError(
            f'`type="class"` needs a response with classes.\n  Found: family {quoted(fit.family)}.'
        )
    if type in HAZARD_TYPES:
        return read_times(fit, type, times)
    if times is not None:
        raise OptionError(
            f"`times` must be left out for `type={type!r}`.\n"
            '  Use `type="survival"` or `type="cumulative_hazard"` for predictions at times.'
        )
    return None


def read_times(fit: HasHazard, type: str, times: object) -> FloatArray:
    """The times at which a prediction of this type is wanted, rising or not."""
    if fit.baseline is None:
        raise OptionError(
            f"`type={type!r}` needs a time-to-event response, `Surv(time, event)`.\n"
            f"  Found: family {quoted(fit.family)}."
        )
    number = finite(times)
    values = as_floats(times if number is None else [number])
    if times is None or values is None or values.ndim != 1 or not 0 < len(values) <= _MOST_TIMES:
        last = np.nanmax(fit.baseline.until)
        raise OptionError(
            f"`times` must be one or more numbers, at most {_MOST_TIMES:,}, for `type={type!r}`.\n"
            f"  Found: {values_text(times)}. Observation ends at {last:g} in the data of the fit."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        odd = values[~(np.isfinite(values) & (values >= 0))][0]
        raise OptionError(f"`times` must be finite and at least 0.\n  Found: {odd:g}.")
    names, count = np.unique([_name(time) for time in values], return_counts=True)
    if len(names) < len(values):
        raise OptionError(
            "`times` must differ, as each is the name of a column.\n"
            f"  Found: {names[np.argmax(count)]} more than once."
        )
    return values


def hazards_at(
    fit: HasHazard, type: str, frame: pd.DataFrame, risk: FloatArray, times: FloatArray
) -> dict[str, FloatArray]:
    """Survival or cumulative hazard of rows with these relative risks, a column for each time;
    missing where nobody of the stratum is under observation."""
    baseline, stratum, eta, seen = over_time(fit, frame, risk, times)
    found = baseline.cumulative_hazard(times, stratum, eta)
    found = np.where(seen, np.exp(-found) if type == "survival" else found, np.nan)
    return {_name(time): found[:, j] for j, time in enumerate(times)}


def over_time(
    fit: HasHazard, frame: pd.DataFrame, risk: FloatArray, times: FloatArray
) -> tuple[Baseline, IntArray, FloatArray, BoolArray]:
    """The baseline hazard, stratum and linear predictor of each row, shape (n_rows, 1), and whether
    anyone of the stratum is under observation, shape (n_rows, n_times)."""
    baseline, known = fit.baseline, fit.design.response.follow_up
    assert baseline is not None
    assert known is not None
    spec = fit.design.spec
    place = strata_of(known, spec.formula, spec.na.applied(frame, spec.schema))[:, np.newaxis]
    stratum, eta = np.maximum(place, 0), fit.design.response.family.link(risk)[:, np.newaxis]
    return baseline, stratum, eta, (place >= 0) & (times <= baseline.until[stratum])


def _name(number: float) -> str:
    """Of the column of a time or a quantile: digits beyond these are rounding."""
    return f"{abs(number):.12g}"
