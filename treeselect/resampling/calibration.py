"""Calibration of predictions of held-out rows, in groups and overall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import OptionError, quoted
from treeselect.models.recalibration import Recalibration, recalibrate
from treeselect.resampling.agreement import wilson_of_share
from treeselect.resampling.held_out import HeldOut
from treeselect.resampling.quantile_groups import quantile_groups

if TYPE_CHECKING:
    import pandas as pd

MIDDLE = (0.1, 0.9)
"""Quantiles of the residuals that bound their central 80%."""

_LEAST_MEAN = 1e-6
"""Replaces predicted means of 0, which have no logarithm."""


def calibration_table(held: HeldOut, n_groups: int) -> pd.DataFrame:
    """One row per group (see ``Performance.calibration``).

    Raises
    ------
    OptionError
        For a survival response.
    """
    import pandas as pd

    if held.family.has_times:
        raise OptionError(
            "`calibration()` needs predictions on the scale of the response.\n"
            f"  Found: family {quoted(held.family.name)}, whose predictions are relative risks."
            " `fit.risk_groups()` compares predicted and observed survival."
        )
    if not held.classes:
        return pd.DataFrame(_groups_of_numbers(held, n_groups))
    parts = []
    for number, label in positive_classes(held):
        happened, probability = (held.y == number), probability_of(held, number)
        rows = pd.DataFrame(_groups_of_shares(held, happened, probability, n_groups))
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


def recalibration(held: HeldOut) -> Recalibration | None:
    """Calibration slope and intercept: the response regressed on the linear predictor. None for
    survival, and for more than two classes, which have no single linear predictor."""
    if held.family.has_times or held.predicted.ndim == 2:
        return None
    with np.errstate(divide="ignore"):
        known = held.family.link(held.predicted)
    known = np.where(np.isfinite(known), known, held.family.link(np.array(_LEAST_MEAN)))
    mass = held.mass * held.like_rows() / held.mass.sum()
    return recalibrate(held.family.name, held.y, known, mass)


def _groups_of_shares(
    held: HeldOut, happened: BoolArray, probability: FloatArray, n_groups: int
) -> dict[str, Any]:
    groups = _members(quantile_groups(probability, held.mass, n_groups))
    predicted, observed, n = _means(held, groups, probability, happened.astype(np.float64))
    low, high = wilson_of_share(observed, n)
    return _columns(held, groups, predicted, observed, low, high)


def _groups_of_numbers(held: HeldOut, n_groups: int) -> dict[str, Any]:
    from scipy import stats

    groups = _members(quantile_groups(held.predicted, held.mass, n_groups))
    predicted, observed, n = _means(held, groups, held.predicted, held.y)
    spread = [
        np.sqrt(np.average((held.y[own] - mean) ** 2, weights=held.mass[own]))
        for own, mean in zip(groups, observed, strict=True)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):  # one row has no standard error
        error = np.where(n > 1, np.array(spread) / np.sqrt(n - 1), np.nan)
        half = stats.t.ppf(0.975, np.maximum(n - 1, 1e-9)) * error
    found = _columns(held, groups, predicted, observed, observed - half, observed + half)
    residual = held.y - held.predicted
    ends = [
        np.quantile(residual[own], MIDDLE, weights=held.mass[own], method="inverted_cdf")
        for own in groups
    ]
    low, high = np.array(ends).T
    return found | {"residual": observed - predicted, "residual_low": low, "residual_high": high}


def _members(group: IntArray) -> list[IntArray]:
    return [np.flatnonzero(group == g) for g in range(int(group.max()) + 1)]


def _means(
    held: HeldOut, groups: list[IntArray], predicted: FloatArray, observed: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean prediction, mean response and effective number of rows of each group."""
    means = [
        [np.average(values[own], weights=held.mass[own]) for own in groups]
        for values in (predicted, observed)
    ]
    return np.array(means[0]), np.array(means[1]), np.array([held.like_rows(own) for own in groups])


def _columns(
    held: HeldOut,
    groups: list[IntArray],
    predicted: FloatArray,
    observed: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> dict[str, Any]:
    return {
        "group": np.arange(1, len(groups) + 1),
        "n": np.array([held.mass[own].sum() for own in groups]),
        "predicted": predicted,
        "observed": observed,
        "ci_low": low,
        "ci_high": high,
    }
