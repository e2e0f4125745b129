"""Brier scores of predicted survival, with inverse-probability-of-censoring weights."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.survival.concordance import inverse_of_observation
from treeselect.engine.survival.curves import SurvivalCurve, censoring_curve
from treeselect.engine.survival.times import EVENT, START, STOP
from treeselect.errors import DataError


def brier_scores(
    y: FloatArray,
    survival: FloatArray,
    times: FloatArray,
    weight: WeightArray,
    *,
    censoring: SurvivalCurve | None = None,
) -> FloatArray:
    """Mean squared difference at each time between survival and its prediction, shape (n_times,).

    Who is censored before a time is left out; the others count one over the probability of being
    still under observation, at their event or at the time.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    survival : ndarray of float64, shape (n_rows, n_times)
        Predicted probabilities of no event until the times.
    times : ndarray of float64, shape (n_times,)
    weight : ndarray, shape (n_rows,)
        At least 0.
    censoring : SurvivalCurve, optional
        Of other rows, by ``curves.censoring_curve``; that of these by default. After its last time
        it is what it was there.

    Raises
    ------
    DataError
        If a row with weight was not under observation from the beginning.

    Notes
    -----
    E. Graf, C. Schmoor, W. Sauerbrei, M. Schumacher (1999), Statistics in Medicine 18, 2529-2545.
    """
    if (y[weight > 0, START] >= 0).any():
        raise DataError(
            "Brier scores can't be computed with delayed entry.\n"
            "  Found: rows whose observation began after time 0.\n"
            "  Concordance allows delayed entry."
        )
    curve = censoring_curve(y, weight) if censoring is None else censoring
    stop = y[:, STOP, np.newaxis]
    over = (stop <= times) & (y[:, EVENT, np.newaxis] > 0)
    of_cases = inverse_of_observation(curve, y[:, STOP])[:, np.newaxis] * over
    of_others = inverse_of_observation(curve, times) * (stop > times)
    squares = of_cases * survival**2 + of_others * (1.0 - survival) ** 2
    return np.asarray(np.average(squares, axis=0, weights=weight))


def integrated_brier_score(scores: FloatArray, times: FloatArray) -> float:
    """Mean of Brier scores over the time from the first to the last of at least two rising times,
    by trapezes."""
    return float(np.trapezoid(scores, times) / (times[-1] - times[0]))
