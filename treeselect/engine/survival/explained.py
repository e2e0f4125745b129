"""What a model of times to an event explains: proportions of the Brier score and the deviance.

Both compare with the model without predictors, of the same strata, and are 0 for it.
"""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.row_losses import explicable
from treeselect.engine.survival.concordance import inverse_of_observation
from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.curves import Baseline, SurvivalCurve, breslow, censoring_curve
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM
from treeselect.errors import DataError

# --- brier scores of predicted survival, with inverse-probability-of-censoring weights ---------


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


# --- what a model of times to an event explains ------------------------------------------------

_AT_ONCE = 1_000_000
"""So many predicted probabilities are in memory at a time."""

_NOTHING = 1e-12
"""Deviance per row that is left by rounding where nothing can be told."""


def brier_explained(
    y: FloatArray, eta: FloatArray, weight: WeightArray, training: WeightArray, times: FloatArray
) -> float:
    """One less the ratio of two integrated Brier scores: of the survival that is predicted, and of
    that without predictors (Graf et al. 1999, who take Kaplan and Meier's curve for it).

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
        None of the rows with a weight entered late.
    eta : ndarray of float64, shape (n_rows,)
        Logarithms of the relative risks.
    weight, training : ndarray, shape (n_rows,)
        Of the rows that are predicted, and of those that the model was fitted to, which tell the
        baseline hazard by Breslow's estimate, of each stratum, and the censoring. A stratum without
        any of these has no hazard.
    times : ndarray of float64, shape (n_times,)
        Rising. The scores are integrated over them by trapezes; one alone is the score there.

    Returns
    -------
    float
        NaN if the model without predictors has no error.
    """
    told = weight > 0
    censoring = censoring_curve(y, training)
    found = [
        _integrated(y[told], one[told], weight[told], breslow(y, one, training), censoring, times)
        for one in (eta, np.zeros(len(eta)))
    ]
    return 1 - found[0] / found[1] if found[1] > 0 else float("nan")


def _integrated(
    y: FloatArray,
    eta: FloatArray,
    weight: WeightArray,
    baseline: Baseline,
    censoring: SurvivalCurve,
    times: FloatArray,
) -> float:
    stratum = y[:, STRATUM].astype(np.int64)[:, np.newaxis]
    scores = []
    for part in np.array_split(times, min(len(times), 1 + len(y) * len(times) // _AT_ONCE)):
        survival = baseline.survival(part, stratum, eta[:, np.newaxis])
        scores.append(brier_scores(y, survival, part, weight, censoring=censoring))
    found = np.concatenate(scores)
    return integrated_brier_score(found, times) if len(times) > 1 else float(found[0])


def deviance_explained(y: FloatArray, eta: FloatArray, weight: WeightArray) -> float:
    """One less the ratio of two deviances of the partial likelihood: at `eta`, and where all risks
    are equal. Risk sets are those of the rows with a weight.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    eta : ndarray of float64, shape (n_rows,)
        Logarithms of the relative risks.
    weight : ndarray, shape (n_rows,)

    Returns
    -------
    float
        NaN if there is no event with others at risk.
    """
    part = weight > 0
    if not part.any():
        return float("nan")
    rows, own = CoxRows(y[part], weight[part]), weight[part]
    without = explicable(rows, np.zeros(len(own)), own)
    if without <= _NOTHING:
        return float("nan")
    return 1 - explicable(rows, eta[part], own) / without
