"""Factors by ordered levels: one split may send several levels to one side.

Levels are put in the order of the mean response of their rows, once, before any tree grows; the
factor is then split as a number. For the mean of one response no set of levels is better at the
root than the first ones in this order (Fisher 1958); deeper, and for several responses, which are
ordered along their first principal component (Coppersmith, Hong and Hosking 1999), it is a choice
that does well (Wright and König 2019).

The mean of a level is drawn towards the mean of all by a few rows of it, so that levels of one or
two rows stand in the middle instead of at the ends, where they would be split off first. Only the
rows with positive weight are looked at: in a fold, its own.
"""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import AnyArray, FloatArray, UInt8Array
from treeselect.engine.data.binning import OTHER, BinnedData, pack_blocks
from treeselect.engine.rounding import falling, first_largest
from treeselect.errors import DataError

PRIOR = 10.0
"""Rows of the mean of all that each level is mixed with."""


def learn_order(
    data: BinnedData, y: FloatArray, weight: AnyArray, prior: float = PRIOR
) -> UInt8Array:
    """The new code of each code of the factors.

    Parameters
    ----------
    data : BinnedData
    y : ndarray of float64, shape (n_rows,) or (n_rows, n_outputs)
        Response; for classes a column of 0 and 1 for each.
    weight : ndarray, shape (n_rows,)
        At least 0, some positive.
    prior : float
        Rows that each level's mean is drawn towards the mean of all by, at least 0.

    Returns
    -------
    ndarray of uint8, shape (n_columns, 256)
        ``new[j, code]``. Missing stays 0, and numbers stay as they are. So do factors of more
        levels than codes, which are several columns: there is no order among these.

    Raises
    ------
    DataError
        If `prior` is negative or not finite.
    """
    if not 0 <= prior < np.inf:
        raise DataError(f"`prior` must be a number of rows, at least 0.\n  Found: {prior}.")
    new = np.tile(np.arange(256, dtype=np.uint8), (len(data.codes), 1))
    response = y.reshape(len(y), -1)
    for j in np.flatnonzero(_can_be_ordered(data)):
        score = _scores(data.codes[j], int(data.n_codes[j]), response, weight, prior)
        new[j, 1 + falling(-score)] = np.arange(1, len(score) + 1)
    return new


def order_levels(data: BinnedData, new: UInt8Array) -> BinnedData:
    """The same rows with ordered factors, which are numbers to the trees.

    Parameters
    ----------
    data : BinnedData
        The data that the order was learned from, or others binned in the same way.
    new : ndarray of uint8, shape (n_columns, 256)
        From :func:`learn_order`.
    """
    is_ordered = _can_be_ordered(data)
    codes = data.codes.copy()
    for j in np.flatnonzero(is_ordered):
        codes[j] = new[j, codes[j]]
    return data._replace(
        codes=codes, blocks=pack_blocks(codes), is_factor=data.is_factor & ~is_ordered
    )


def _can_be_ordered(data: BinnedData) -> AnyArray:
    return data.is_factor & (data.n_codes <= OTHER) & (data.wide_at < 0)


def _scores(
    codes: UInt8Array, n_codes: int, response: FloatArray, weight: AnyArray, prior: float
) -> FloatArray:
    """Where each level stands, shape (n_codes - 1,); levels without rows at the mean of all."""
    known = codes > 0
    size = np.bincount(codes[known], weight[known], n_codes)[1:]
    sums = np.stack(
        [np.bincount(codes[known], (weight * own)[known], n_codes)[1:] for own in response.T],
        axis=1,
    )
    everywhere = sums.sum(axis=0) / max(size.sum(), 1e-300)
    rows = (size + prior)[:, np.newaxis]
    centred = (sums + prior * everywhere) / np.where(rows > 0, rows, 1.0) - everywhere
    centred[size == 0] = 0.0
    if centred.shape[1] == 1:
        return np.asarray(centred[:, 0])
    scatter = (centred * size[:, np.newaxis]).T @ centred
    direction = np.linalg.eigh(scatter)[1][:, -1]
    # Either direction will do; one that does not hang on the machine's.
    return np.asarray(centred @ (direction * np.sign(direction[first_largest(np.abs(direction))])))
