"""Interaction of two groups: the part of their joint effect that is not additive."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray


def beyond_both(mean: FloatArray, share: FloatArray, sizes: tuple[int, int]) -> FloatArray:
    """The joint effect less the best sum of an effect of each, by least squares over the cells of
    the grid with the shares of their rows.

    Parameters
    ----------
    mean : ndarray of float, shape (n_points, n_outputs)
        At all pairs of points, those of the first group slowest.
    share : ndarray of float, shape (n_points,)
        Summing to 1.
    sizes : tuple of two ints
        Points of each group.

    Returns
    -------
    ndarray of float, shape (n_points, n_outputs)
    """
    n, m = sizes
    first, second = np.divmod(np.arange(n * m), m)
    each = np.zeros((n * m, n + m))
    each[np.arange(n * m), first] = 1.0
    each[np.arange(n * m), n + second] = 1.0
    root = np.sqrt(share)[:, np.newaxis]
    sums = each @ np.linalg.lstsq(each * root, mean * root, rcond=None)[0]
    return np.asarray(mean - sums)


def strength(mean: FloatArray, share: FloatArray, sizes: tuple[int, int]) -> tuple[float, float]:
    """How much of the joint effect no sum of two effects has. Parameters as of :func:`beyond_both`.

    Returns
    -------
    strength : float
        Root of its share of the variance of the joint effect, from 0 to 1.
    size : float
        Its root mean square, on the scale of `mean`: what tells among pairs of which the effects
        differ in size. Of several outputs the root of the sum of the squares.
    """
    centred = mean - share @ mean
    total = float((share @ centred**2).sum())
    beyond = float((share @ beyond_both(mean, share, sizes) ** 2).sum())
    nothing = 1e-20 * float((share @ mean**2).sum())  # what rounding leaves
    if min(total, beyond) <= nothing:
        return 0.0, 0.0
    return min(1.0, float(np.sqrt(beyond / total))), float(np.sqrt(beyond))
