"""Survival and cumulative hazards of new rows, at some times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from treeselect.arguments.checks import as_floats, check_choice, finite, values_text
from treeselect.designs.survival import strata_of
from treeselect.engine.arrays import FloatArray
from treeselect.errors import OptionError, quoted

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.designs.modeldata import ModelData
    from treeselect.engine.survival.curves import Baseline

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
    """The times at which a prediction is wanted; None if its type needs none.

    `others` are types that this model has beside the usual ones.

    Raises
    ------
    OptionError
        If `type` is unknown or does not suit the response, or `times` do not suit `type`.
    """
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
    """The times at which a prediction of this type is wanted, rising or not.

    Raises
    ------
    OptionError
        If the response is no times, or `times` are not different numbers from 0 on.
    """
    if fit.baseline is None:
        raise OptionError(
            f"`type={type!r}` needs a time-to-event response, `Surv(time, event)`.\n"
            f"  Found: family {quoted(fit.family)}."
        )
    number = finite(times)
    values = as_floats(times) if number is None else np.array([number], dtype=np.float64)
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
) -> dict[str, list[Any]]:
    """Survival or cumulative hazard of rows with these relative risks, a column for each time.

    Missing where a stratum is missing, and after the last time at which anybody of it was under
    observation: nothing is known of it.
    """
    baseline, known = fit.baseline, fit.design.response.follow_up
    assert baseline is not None
    assert known is not None
    stratum = strata_of(known, fit.design.spec.formula, frame)[:, np.newaxis]
    eta = fit.design.response.family.link(risk)[:, np.newaxis]
    there = np.maximum(stratum, 0)
    found = baseline.cumulative_hazard(times, there, eta)
    if type == "survival":
        found = np.exp(-found)
    seen = (stratum >= 0) & (times <= baseline.until[there])
    found = np.where(seen, found, np.nan)
    return {_name(time): found[:, j].tolist() for j, time in enumerate(times)}


def _name(time: float) -> str:
    """Of the column of a time: digits beyond these are rounding."""
    return f"{abs(time):.12g}"
