"""Paired comparison of models: differences of scores in the same folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.rounding import at_least

_ROUNDING = 1e-12
"""Standard error, relative to the mean, that is due to the rounding of equal differences."""


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A mean difference over folds with its interval.

    Attributes
    ----------
    mean, low, high : float
        The mean, and a 95% interval; NaN if the p-value is NaN.
    p_value : float
        P-value of no difference; 1 if all differences are 0. NaN with fewer than two folds, and if
        the differences are equal but not 0, as their variance can't be estimated then.
    """

    mean: float
    low: float
    high: float
    p_value: float


def differences(scores: FloatArray, others: FloatArray) -> FloatArray:
    """Scores minus other scores of the same folds; 0 if they differ by rounding only."""
    same = at_least(scores, others) & at_least(others, scores)
    return np.where(same, 0.0, scores - others)


def test_share(n_train: IntArray, n_test: IntArray) -> float:
    """Ratio of held-out to training rows, ``n_test / n_train``: its mean over the folds, as each
    fold's variance depends on its own."""
    return float(np.mean(n_test / n_train))


def paired_difference(differences: FloatArray, test_share: float) -> PairedDifference:
    """Corrected resampled t interval and test.

    The variance of a mean of J differences is estimated by ``(1 / J + n_test / n_train) s**2``,
    where ``s**2`` is their sample variance, with J - 1 degrees of freedom. Training sets share
    rows, so ``s**2 / J`` would be far too small.

    Parameters
    ----------
    differences : ndarray of float, shape (n_folds,)
        Score of one model minus that of the other, for the folds of all repeats.
    test_share : float
        Of the folds: see :func:`test_share`.

    Returns
    -------
    PairedDifference

    Notes
    -----
    The corrected resampled t test of [1]_, over all folds of repeated cross-validation as in [2]_.
    It approximates the correlation of two folds by ``n_test / (n_test + n_train)``.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52,
       239-281.
    .. [2] R. R. Bouckaert, E. Frank (2004). Evaluating the replicability of significance tests for
       comparing learning algorithms. PAKDD 2004, LNCS 3056, 3-12.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.paired import paired_difference
    >>> found = paired_difference(np.array([0.02, 0.01, 0.03, 0.02, 0.02]), 1 / 4)
    >>> print(f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f}), p = {found.p_value:.3f}")
    0.020 (0.007 to 0.033), p = 0.014
    """
    from scipy.stats import t

    n = len(differences)
    mean = float(differences.mean())
    if n < 2:
        return PairedDifference(mean, float("nan"), float("nan"), float("nan"))
    error = float(np.sqrt((1 / n + test_share) * differences.var(ddof=1)))
    if mean == error == 0:
        return PairedDifference(0.0, 0.0, 0.0, 1.0)
    if error <= _ROUNDING * abs(mean):
        return PairedDifference(mean, float("nan"), float("nan"), float("nan"))
    half = float(t.ppf(0.975, n - 1)) * error
    p_value = float(2 * t.sf(abs(mean) / error, n - 1))
    return PairedDifference(mean, mean - half, mean + half, p_value)
