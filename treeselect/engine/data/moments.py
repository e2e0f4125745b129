"""A gradient and a weight in one 64-bit integer, so that sums are exact.

``moment = (rint(g * w * unit) << shift) + w``: one integer addition per row and column carries
both sums. `shift` leaves room for the whole weight in the low bits, `unit` is a power of two that
uses the rest. Sums of integers do not depend on order: equal columns tie exactly, and the answer
is the same for any number of threads. The rounding is at most 2**-(53 - log2 n) of the mean
gradient per row; sums stay below 2**53 so that they are exact as floats too. Curvatures are whole
multiples of a unit of their own, in a second integer. Classes have the weight of the row in the
place of the gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.cache import inner
from treeselect.engine.data.targets import has_classes, has_pairs, is_vector


class Packing(NamedTuple):
    """How the rows of a tree are packed.

    Attributes
    ----------
    kind, n_classes : int
        Of the target.
    n_in : int
        Rows in the tree.
    shift : int
        Low bits that hold the weight (rows, counting copies).
    unit : float
        Units per gradient, or per weight of a class.
    second_unit : float
        Units per curvature.
    to_gain : float
        From packed units to the gain: decrease per unit of the tree's weight (copies of rows, or
        the classes' weights).
    """

    kind: int
    n_classes: int
    n_in: int
    shift: int
    unit: float
    second_unit: float
    to_gain: float


@inner
def bits_of(number):
    """Bits that hold a whole number."""
    bits = 0
    while (number >> bits) > 0:
        bits += 1
    return bits


@inner
def unit_for(bound, bits):
    """Power of two by which sums of at most `bound` stay below ``2**bits``."""
    if bound == 0.0:
        return 1.0
    # The square of the unit is a divisor of the gains and must be a finite float.
    exponent = bits - int(np.ceil(np.log2(bound)))
    return 2.0 ** max(min(exponent, 500), -500)


# Rows out of the bag weigh 0 and are reckoned with all the same, which is faster than to ask.


@inner
def largest_value(values, weight, counts):
    """Largest absolute value of the rows in a bag, each of which may have several."""
    n_rows = weight.shape[0]
    largest = 0.0
    if values.shape[0] == n_rows:
        for i in range(n_rows):
            largest = max(largest, abs(values[i]) if weight[i] * counts[i] > 0 else 0.0)
        return largest
    size = values.shape[0] // n_rows
    for i in range(n_rows):
        if weight[i] * counts[i] > 0:
            for at in range(i * size, (i + 1) * size):
                largest = max(largest, abs(values[at]))
    return largest


@inner
def pack_values(values, weight, counts, unit, shift, packed):
    """Pack the values of each row with its weight in the bag."""
    n_rows = weight.shape[0]
    if values.shape[0] == n_rows:
        for i in range(n_rows):
            w = weight[i] * counts[i]
            packed[i] = (np.int64(np.rint(values[i] * w * unit)) << shift) + w
        return
    size = values.shape[0] // n_rows
    for i in range(n_rows):
        w = weight[i] * counts[i]
        for at in range(i * size, (i + 1) * size):
            packed[at] = (np.int64(np.rint(values[at] * w * unit)) << shift) + w


@inner
def pack_rows(target, weight, counts, moments, second, rows):
    """Pack the rows of a bag: a row counts ``weight * counts`` times.

    Fills `moments` and, for curvatures, `second`, both of shape (n_rows,), for rows in the bag
    (with several gradients `second` alone, of shape (n_rows * n_outputs,));
    `rows` receives their numbers in increasing order. Returns the :class:`Packing`.
    """
    n_rows = weight.shape[0]
    total = np.int64(0)
    n = 0
    for i in range(n_rows):
        w = weight[i] * counts[i]
        total += w
        rows[n] = i
        n += w > 0
    labelled = has_classes(target.kind)
    values = target.curvature if labelled else target.gradient
    shift = bits_of(total)
    largest = largest_value(values, weight, counts)
    unit = unit_for(largest * total, min(61 - shift, 52))
    pack_values(values, weight, counts, unit, shift, second if is_vector(target.kind) else moments)
    second_unit = 1.0
    if has_pairs(target.kind):
        second_unit = unit_for(largest_value(target.curvature, weight, counts) * total, 52)
        for i in range(n_rows):
            w = weight[i] * counts[i]
            second[i] = np.int64(np.rint(target.curvature[i] * w * second_unit))
    class_weight = 0
    if labelled:
        for i in range(n_rows):
            class_weight += moments[i] >> shift
    to_gain = 1.0 / class_weight if labelled else second_unit / (unit * unit * total)
    return Packing(target.kind, target.n_classes, n, shift, unit, second_unit, to_gain)


@inner
def moment_weight(moment, shift):
    """Sum of weights in a sum of moments."""
    return moment & ((np.int64(1) << shift) - 1)


@inner
def moment_gradient(moment, shift):
    """Sum of gradients, in packing units, in a sum of moments."""
    return moment >> shift
