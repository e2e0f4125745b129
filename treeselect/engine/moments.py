"""A gradient and a weight in one 64-bit integer, so that sums are exact.

``moment = (rint(g * w * unit) << shift) + w``: one integer addition per row and column carries
both sums. `shift` leaves room for the whole weight in the low bits, `unit` is a power of two that
uses the rest. Sums of integers do not depend on order: equal columns tie exactly, and the answer
is the same for any number of threads. The rounding is at most 2**-(53 - log2 n) of the mean
gradient per row; sums stay below 2**53 so that they are exact as floats too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine._types import FloatArray, IntArray
from treeselect.engine.cache import kernel


class Packing(NamedTuple):
    """How gradients are packed: low bits for the weight, units per gradient."""

    shift: int
    unit: float


def choose_packing(gradient: FloatArray, total_weight: int) -> Packing:
    """Packing for gradients whose weights sum to `total_weight` (a positive integer).

    Parameters
    ----------
    gradient : ndarray of float, shape (n_rows,)
        Finite.
    total_weight : int
        Sum of the integer weights of a tree's rows.
    """
    shift = int(total_weight).bit_length()
    largest = float(np.max(np.abs(gradient), initial=0.0))
    shift, unit = packing_for(largest, int(total_weight))
    return Packing(int(shift), float(unit))


@kernel
def packing_for(largest, total_weight):
    """Shift and unit for gradients of at most `largest` whose weights sum to `total_weight`."""
    shift = 0
    while (total_weight >> shift) > 0:
        shift += 1
    bound = largest * total_weight
    if bound == 0.0:
        return shift, 1.0
    exponent = min(61 - shift, 52) - int(np.ceil(np.log2(bound)))
    # The square of the unit is a divisor of the gains and must be a finite float.
    return shift, 2.0 ** min(exponent, 500)


@kernel
def pack_moments(gradient, weight, counts, shift, unit, moments, rows):
    """Moments of the rows of a bag; returns how many there are.

    A row counts ``weight * counts`` times. `moments` (n_rows,) is filled for rows in the bag,
    `rows` receives their numbers in increasing order.
    """
    n = 0
    for i in range(gradient.shape[0]):
        w = weight[i] * counts[i]
        if w > 0:
            moments[i] = (np.int64(np.rint(gradient[i] * w * unit)) << shift) + w
            rows[n] = i
            n += 1
    return n


@kernel
def moment_weight(moment, shift):
    """Sum of weights in a sum of moments."""
    return moment & ((np.int64(1) << shift) - 1)


@kernel
def moment_gradient(moment, shift):
    """Sum of gradients, in packing units, in a sum of moments."""
    return moment >> shift


def unpack(moments: IntArray, packing: Packing) -> tuple[FloatArray, IntArray]:
    """Gradient and weight sums of an array of moment sums (for tests and reading)."""
    weight = moments & ((1 << packing.shift) - 1)
    return (moments >> packing.shift) / packing.unit, weight
