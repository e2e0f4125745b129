"""Sums of moments per code: eight columns at once, or one column."""

from __future__ import annotations

import numpy as np

from treeselect.engine.cache import kernel

_BYTE = np.uint64(255)
_SHIFTS = tuple(np.uint64(8 * k) for k in range(8))

SMALL_NODE = 48
"""Up to this many rows a node lists the codes it touches instead of walking all 255."""


@kernel
def add_block(block, moments, rows, begin, end, histogram):
    """Add the rows ``rows[begin:end]`` of eight columns to their histograms.

    Parameters
    ----------
    block : ndarray of uint64, shape (n_rows,)
        Codes of eight columns.
    moments : ndarray of int64, shape (n_rows,)
    rows : ndarray of uint32
    histogram : ndarray of int64, shape (8 * 256,)
        Histogram of column ``k`` of the block from ``256 * k`` on; added to.
    """
    for r in range(begin, end):
        i = rows[r]
        word = block[i]
        moment = moments[i]
        histogram[word & _BYTE] += moment
        histogram[np.uint64(256) + ((word >> _SHIFTS[1]) & _BYTE)] += moment
        histogram[np.uint64(512) + ((word >> _SHIFTS[2]) & _BYTE)] += moment
        histogram[np.uint64(768) + ((word >> _SHIFTS[3]) & _BYTE)] += moment
        histogram[np.uint64(1024) + ((word >> _SHIFTS[4]) & _BYTE)] += moment
        histogram[np.uint64(1280) + ((word >> _SHIFTS[5]) & _BYTE)] += moment
        histogram[np.uint64(1536) + ((word >> _SHIFTS[6]) & _BYTE)] += moment
        histogram[np.uint64(1792) + ((word >> _SHIFTS[7]) & _BYTE)] += moment


@kernel
def add_column(codes, moments, rows, begin, end, histogram):
    """Add the rows ``rows[begin:end]`` of one column to ``histogram``, shape (256,)."""
    for r in range(begin, end):
        i = rows[r]
        histogram[codes[i]] += moments[i]


@kernel
def add_small_column(codes, moments, rows, begin, end, histogram, present):
    """As :func:`add_column` into a zero histogram; lists the touched codes, in order.

    Returns their number. A moment is never 0 because its weight is positive, so an entry that is
    still 0 has not been touched.
    """
    n = 0
    for r in range(begin, end):
        i = rows[r]
        code = np.int64(codes[i])
        if histogram[code] == 0:
            k = n
            while k > 0 and present[k - 1] > code:
                present[k] = present[k - 1]
                k -= 1
            present[k] = code
            n += 1
        histogram[code] += moments[i]
    return n


@kernel
def list_present(histogram, offset, n_codes, present):
    """List the codes of a histogram that hold rows, in order; returns their number."""
    n = 0
    for code in range(n_codes):
        if histogram[offset + code] != 0:
            present[n] = code
            n += 1
    return n
