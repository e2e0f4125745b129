"""What trees are grown on: means, Newton steps or classes, packed so that sums are exact.

A gradient and a weight are in one 64-bit integer, ``moment = (rint(g * w * unit) << shift) + w``:
one addition per row and column carries both sums. `shift` leaves room for the whole weight in the
low bits, `unit` is a power of two that uses the rest. Sums of integers do not depend on order:
equal columns tie exactly, and the answer is the same for any number of threads. The rounding is at
most 2**-(53 - log2 n) of the mean gradient per row; sums stay below 2**53 so that they are exact as
floats too. Curvatures are whole multiples of a unit of their own, in a second integer. Classes have
the weight of the row in the place of the gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import AnyArray, FloatArray, IntArray, UInt8Array, WeightArray
from treeselect.engine.compiling import inner

MEAN, NEWTON, GINI, ENTROPY, VECTOR = 0, 1, 2, 3, 4
"""Kinds of target: ask the functions below, or the properties of a target."""

MOST_CLASSES = 255


@inner
def has_pairs(kind):
    """Whether a cell of a histogram has two integers, the moment and the curvature."""
    return kind == NEWTON


@inner
def has_classes(kind):
    """Whether rows have labels; shares of classes are predicted."""
    return (kind == GINI) | (kind == ENTROPY)


@inner
def is_vector(kind):
    """Whether rows have several gradients."""
    return kind == VECTOR


@inner
def has_outputs(kind):
    """Whether a cell has an integer for each output: of classes, and of several gradients."""
    return kind >= GINI


class Target(NamedTuple):
    """The target of each row, as the kernels take it; arrays that a kind has no use for are empty.
    ``MEAN`` splits by the decrease of the sum of squares of `gradient`; ``NEWTON`` by that of the
    quadratic approximation of a loss, of `gradient` and `curvature` (a mean with real weights ``w``
    is ``gradient = w * y``, ``curvature = w``); ``GINI`` and ``ENTROPY`` of these impurities of
    `label`, real weights being in `curvature`; ``VECTOR`` of the sum of squares of several
    gradients, row after row. `n_classes` counts the outputs of a tree. Properties are what the
    functions of their names tell kernels of a kind."""

    kind: int
    gradient: FloatArray
    curvature: FloatArray
    label: UInt8Array
    n_classes: int

    @property
    def has_pairs(self) -> bool:
        return bool(has_pairs.py_func(self.kind))

    @property
    def has_classes(self) -> bool:
        return bool(has_classes.py_func(self.kind))

    @property
    def is_vector(self) -> bool:
        return bool(is_vector.py_func(self.kind))

    @property
    def has_outputs(self) -> bool:
        return bool(has_outputs.py_func(self.kind))


def mean_target(y: FloatArray) -> Target:
    """Trees for the mean of `y`; rows are weighted by whole numbers."""
    return Target(MEAN, y, np.empty(0), np.empty(0, dtype=np.uint8), 1)


def vector_target(y: FloatArray) -> Target:
    """Trees for the mean of several columns at once, shape (n_rows, n_outputs), at least two."""
    flat = np.ascontiguousarray(y, dtype=np.float64).ravel()
    return Target(VECTOR, flat, np.empty(0), np.empty(0, dtype=np.uint8), y.shape[1])


def newton_target(gradient: FloatArray, curvature: FloatArray) -> Target:
    """Trees for Newton steps: `gradient` is minus the first, `curvature` the second derivative."""
    return Target(NEWTON, gradient, curvature, np.empty(0, dtype=np.uint8), 1)


def weighted_mean_target(y: FloatArray, weight: FloatArray) -> Target:
    """Trees for the mean of `y` under real weights of rows, which are scaled to mean 1. The gain is
    then, as for whole weights, the decrease per unit of weight."""
    return target_of_steps(y, np.ones_like(y), weight)


def class_target(
    label: AnyArray, n_classes: int, *, entropy: bool = False, weight: FloatArray | None = None
) -> Target:
    """Trees for the shares of classes, under real weights of rows if there are any."""
    weights = np.ones(len(label)) if weight is None else weight
    kind = ENTROPY if entropy else GINI
    return Target(kind, np.empty(0), weights, np.asarray(label, dtype=np.uint8), n_classes)


def target_of_classes(
    y: AnyArray, n_classes: int, weight: WeightArray, *, entropy: bool = False
) -> Target:
    """Trees for the shares of classes under weights of either kind."""
    real = None if are_copies(weight) else np.asarray(weight, dtype=np.float64)
    return class_target(y, n_classes, entropy=entropy, weight=real)


def are_copies(weight: WeightArray) -> bool:
    """Whether weights are copies of rows: whole numbers are, others are relative to each other."""
    return weight.dtype.kind in "iu"


def relative(weight: WeightArray) -> FloatArray:
    """Real weights in units of their mean."""
    return np.asarray(weight / weight[weight > 0].mean())


def copies(weight: WeightArray) -> IntArray:
    """How often each row counts: whole weights are copies; real ones stand in the target, and the
    row counts once, or not at all."""
    if are_copies(weight):
        return np.asarray(weight, dtype=np.int64)
    return (weight > 0).astype(np.int64)


def target_of_mean(y: FloatArray, weight: WeightArray) -> Target:
    """Trees for the mean of `y` under weights of either kind."""
    if are_copies(weight):
        return mean_target(y)
    return weighted_mean_target(y, np.asarray(weight, dtype=np.float64))


def target_of_steps(gradient: FloatArray, curvature: FloatArray, weight: WeightArray) -> Target:
    """Trees for Newton steps under weights of either kind."""
    if are_copies(weight):
        return newton_target(gradient, curvature)
    scaled = relative(weight)
    return newton_target(gradient * scaled, curvature * scaled)


def target_of(truth: FloatArray, weight: WeightArray) -> Target:
    """Trees for the means of one column or several, shape (n_rows, n_outputs); with several,
    relative weights multiply the rows."""
    if truth.shape[1] == 1:
        return target_of_mean(np.ascontiguousarray(truth[:, 0]), weight)
    if are_copies(weight):
        return vector_target(truth)
    return vector_target(truth * relative(weight)[:, np.newaxis])


class Packing(NamedTuple):
    """How the rows of a tree are packed: the kind and number of outputs of its target, its number
    of rows, the low bits that hold the weight, units per gradient (or per weight of a class) and
    per curvature, and the factor from packed units to the gain (decrease per unit of the tree's
    weight)."""

    kind: int
    n_classes: int
    n_in: int
    shift: int
    unit: float
    second_unit: float
    to_gain: float


LEAST_UNITS = 2.0**18
"""Units of the largest value from which on each row is rounded by itself."""


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
def in_units(value, w, unit, as_copies):
    """A value that counts `w` times in whole units: so many times what it is once, so that rows of
    one value have one mean, or where the units are too large for that, rounded as a whole."""
    return np.int64(w * np.rint(value * unit) if as_copies else np.rint(value * w * unit))


@inner
def pack_values(values, weight, counts, unit, shift, as_copies, packed):
    """Pack the values of each row with its weight in the bag."""
    n_rows = weight.shape[0]
    if values.shape[0] == n_rows:
        for i in range(n_rows):
            w = weight[i] * counts[i]
            packed[i] = (in_units(values[i], w, unit, as_copies) << shift) + w
        return
    size = values.shape[0] // n_rows
    for i in range(n_rows):
        w = weight[i] * counts[i]
        for at in range(i * size, (i + 1) * size):
            packed[at] = (in_units(values[at], w, unit, as_copies) << shift) + w


@inner
def pack_rows(target, weight, counts, moments, second, rows):
    """Pack the rows of a bag, each of which counts ``weight * counts`` times, into `moments` and,
    for curvatures or several gradients, `second`; `rows` receives their numbers, rising. Returns
    the :class:`Packing`."""
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
    as_copies = largest * unit >= LEAST_UNITS
    pack_values(values, weight, counts, unit, shift, as_copies,
                second if is_vector(target.kind) else moments)  # fmt: skip
    second_unit = 1.0
    if has_pairs(target.kind):
        largest = largest_value(target.curvature, weight, counts)
        second_unit = unit_for(largest * total, 52)
        as_copies = largest * second_unit >= LEAST_UNITS
        for i in range(n_rows):
            w = weight[i] * counts[i]
            second[i] = in_units(target.curvature[i], w, second_unit, as_copies)
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
