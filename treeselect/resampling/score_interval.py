"""A 95% interval of a cross-validated score, from its held-out rows and its folds."""

from __future__ import annotations

import contextlib

import numpy as np

from treeselect.designs.families import Family
from treeselect.designs.response import Response
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.survival.times import EVENT
from treeselect.errors import OptionError

N_DRAWS = 200
"""Bootstrap samples of the held-out rows of a fold."""

_FEWEST_DF = 4.0

_CASES_PER_DF = 10.0


def sampling_error(
    family: Family,
    y: FloatArray,
    predicted: FloatArray,
    train: RowWeights,
    test: RowWeights,
    seed: int,
) -> float:
    """Standard error of the score of given predictions, as other rows might have been held out.

    Parameters
    ----------
    family : Family
    y, predicted : ndarray of float, shape (n_rows, ...)
        Of all rows.
    train, test : RowWeights
        Of all rows: positive for training and for held-out rows.
    seed : int

    Returns
    -------
    float
        Half of the range of the central 68.3% of scores of bootstrap samples of the held-out rows,
        drawn one copy at a time, or in whole clusters: of few rows, some samples hardly vary, and
        the standard deviation of R2 is without bound. NaN if fewer than half of the samples have a
        score.
    """
    rng, rows, found = np.random.default_rng(seed), train.rows, []
    for _ in range(N_DRAWS):
        drawn, weight = _drawn(test, rng)
        every, none = np.concatenate([rows, drawn]), np.zeros_like(weight, shape=len(rows))
        held_out = np.concatenate([none, weight])
        training = np.concatenate([train.values[rows], np.zeros_like(weight)])
        with np.errstate(all="ignore"), contextlib.suppress(OptionError):  # such as of one class
            found.append(family.held_out_score(y[every], predicted[every], held_out, training))
    known = np.array(found)[np.isfinite(found)]
    if 2 * len(known) < N_DRAWS:
        return float("nan")
    low, high = np.quantile(known, [0.1587, 0.8413])
    return float(high - low) / 2


def _drawn(weights: RowWeights, rng: np.random.Generator) -> tuple[IntArray, WeightArray]:
    """Rows of a bootstrap sample, repeated as they are drawn, and their weights."""
    rows, blocks = weights.rows, weights.blocks
    if blocks is None and weights.are_copies and not weights.are_constant:
        share = weights.values[rows] / weights.values.sum()
        copies = rng.multinomial(weights.n_observations, share)
        return rows[copies > 0], copies[copies > 0]
    _, unit = np.unique(rows if blocks is None else blocks[rows], return_inverse=True)
    n_units = int(unit.max()) + 1
    drawn = np.repeat(rows, rng.multinomial(n_units, np.full(n_units, 1 / n_units))[unit])
    return drawn, weights.values[drawn]


def n_cases(response: Response, weights: RowWeights) -> float:
    """Rows that tell most about a score: rows of numbers and counts, of all classes but the
    largest, or events; at most as many as clusters."""
    rows = weights.rows
    copies = weights.values[rows] if weights.are_copies else np.ones(len(rows))
    y, family = response.y[rows], response.family
    if family.has_times:
        found = copies[y[:, EVENT] > 0].sum()
    elif family.has_classes:
        found = copies.sum() - np.bincount(y.astype(np.int64), copies).max()
    else:
        found = copies.sum()
    return float(found if weights.blocks is None else min(found, weights.n_units))


def score_interval(
    scores: FloatArray,
    errors: FloatArray,
    n_cases: float,
    repeats: float,
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """A 95% interval of the mean of scores over folds.

    The variance of the mean is ``max(v, s**2) / K`` for K folds in each repeat. Here v is the mean
    squared standard error of a fold's score, given its model, as from the influence functions of
    [1]_, by the bootstrap; and ``s**2`` is the variance of the scores, to which models that differ
    between folds add. The variation that models of overlapping training rows share is in neither
    [2]_: for it, quantiles are those of t with one degree of freedom for ten cases, at least 4, as
    simulations suggest.

    Parameters
    ----------
    scores, errors : ndarray of float, shape (n_folds,)
        Scores of the folds of all repeats, and their standard errors (:func:`sampling_error`).
    n_cases : float
        See :func:`n_cases`.
    repeats : float
        How often a row is held out.
    bounds : (float, float)
        Of the score. The interval is symmetric on the logit scale between two finite bounds, and on
        that of the logarithm of the distance to a single one.

    Returns
    -------
    (float, float)
        NaN if no fold has a standard error, or all are 0.

    References
    ----------
    .. [1] E. LeDell, M. Petersen, M. van der Laan (2015). Computationally efficient confidence
       intervals for cross-validated area under the ROC curve estimates. Electronic Journal of
       Statistics 9, 1583-1607.
    .. [2] S. Bates, T. Hastie, R. Tibshirani (2024). Cross-validation: what does it estimate and
       how well does it do it? Journal of the American Statistical Association 119, 1434-1445.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.score_interval import score_interval
    >>> found = score_interval(
    ...     np.array([0.7, 0.8, 0.75]), np.full(3, 0.05), 60.0, 1.0, (0.0, 1.0)
    ... )
    >>> print("{:.3f} to {:.3f}".format(*found))
    0.673 to 0.814
    """
    from scipy.special import expit, logit
    from scipy.stats import t

    nothing = (float("nan"), float("nan"))
    known = errors[np.isfinite(errors)]
    if len(known) == 0 or len(scores) < 2:
        return nothing
    mean, within = float(scores.mean()), float((known**2).mean())
    spread = max(float(scores.var(ddof=1)), within)
    error = np.sqrt(spread / len(scores) * max(repeats, 1.0))
    if not error > 0:
        return nothing
    half = float(t.ppf(0.975, max(_FEWEST_DF, n_cases / _CASES_PER_DF)) * error)
    least, most = bounds
    if not least < mean < most:
        return max(mean - half, least), min(mean + half, most)
    if np.isfinite(least) and np.isfinite(most):
        share = (mean - least) / (most - least)
        ends = expit(logit(share) + np.array([-1, 1]) * half / (most - least) / share / (1 - share))
        low, high = least + (most - least) * ends
    elif np.isfinite(most):
        low, high = most - (most - mean) * np.exp(np.array([1, -1]) * half / (most - mean))
    elif np.isfinite(least):
        low, high = least + (mean - least) * np.exp(np.array([-1, 1]) * half / (mean - least))
    else:
        low, high = mean - half, mean + half
    return float(low), float(high)
