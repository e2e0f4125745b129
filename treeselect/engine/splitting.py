"""The best split of a node on one column, and the partition of its rows."""

from __future__ import annotations

import numpy as np

from treeselect.engine.binning import OTHER
from treeselect.engine.cache import kernel
from treeselect.engine.moments import moment_gradient, moment_weight


@kernel
def split_gain(left, total, shift, min_weight):
    """Decrease of the sum of squared deviations, in squared packing units; -1 if not allowed.

    ``w_L w_R / w * (mean_L - mean_R)**2``: equal means give exactly 0, which the difference of
    sums of squares would miss by rounding, and a split and its mirror image tie exactly.
    """
    w_left = moment_weight(left, shift)
    w_all = moment_weight(total, shift)
    w_right = w_all - w_left
    if w_left < min_weight or w_right < min_weight:
        return -1.0
    difference = (
        moment_gradient(left, shift) / w_left - moment_gradient(total - left, shift) / w_right
    )
    return difference * difference * (np.float64(w_left) * w_right / w_all)


@kernel
def best_number_split(histogram, offset, present, n_present, total, shift, min_weight):
    """Best "at most c against above c", missing rows on either side.

    Parameters
    ----------
    histogram, offset : ndarray of int64, int
        The column's histogram starts at ``offset``.
    present, n_present : ndarray of int64, int
        Codes that hold rows, in order.
    total : int64
        Sum of the node's moments.
    shift : int
        Packing.
    min_weight : int
        Least weight on each side.

    Returns
    -------
    gain : float
        In squared packing units; 0 if there is no split that gains.
    code : int
        Rows with ``1 <= code of the row <= code`` go left; halfway between the neighbouring
        codes of the node. 0: only the missing rows go left.
    missing_left : bool
        Where missing rows go; where there are none, with the heavier side.
    """
    best_gain = 0.0
    best_code = np.int64(-1)
    best_missing_left = False
    first = 0
    missing = np.int64(0)
    if present[0] == 0:
        missing = histogram[offset]
        first = 1
    left = np.int64(0)
    for t in range(first - 1, n_present - 1):
        code = np.int64(0)
        if t >= first:
            left += histogram[offset + present[t]]
            code = (present[t] + present[t + 1] - 1) // 2
            gain = split_gain(left, total, shift, min_weight)
            if gain > best_gain:
                best_gain = gain
                best_code = code
                w_left = moment_weight(left, shift)
                best_missing_left = missing == 0 and 2 * w_left >= moment_weight(total, shift)
        if missing != 0:
            gain = split_gain(left + missing, total, shift, min_weight)
            if gain > best_gain:
                best_gain = gain
                best_code = code
                best_missing_left = True
    return best_gain, best_code, best_missing_left


@kernel
def best_factor_split(histogram, offset, present, n_present, total, shift, min_weight):
    """Best "level c against the rest"; missing (code 0) is a level like the others, code 255 not.

    Arguments and results as for :func:`best_number_split`; rows of level ``code`` go left.
    """
    best_gain = 0.0
    best_code = -1
    for t in range(n_present):
        code = present[t]
        if code == OTHER:
            break
        gain = split_gain(histogram[offset + code], total, shift, min_weight)
        if gain > best_gain:
            best_gain = gain
            best_code = code
    return best_gain, best_code, best_code == 0


@kernel
def goes_left(code, split_code, missing_left, is_factor):
    """Side of a row: the one rule for growing and for predicting."""
    if is_factor:
        return code == split_code
    if code == 0:
        return missing_left
    return code <= split_code


@kernel
def partition(codes, split_code, missing_left, is_factor, rows, spare, begin, end):
    """Order ``rows[begin:end]`` in place, left rows first, each side in its old order.

    Returns where the right side begins. ``spare`` is working memory of the size of ``rows``.

    ::

        before   begin | l r l l r | end
        after    begin | l l l r r | end
                               ^ returned
    """
    middle = begin
    n_right = 0
    for r in range(begin, end):
        i = rows[r]
        if goes_left(codes[i], split_code, missing_left, is_factor):
            rows[middle] = i
            middle += 1
        else:
            spare[n_right] = i
            n_right += 1
    for r in range(n_right):
        rows[middle + r] = spare[r]
    return middle
