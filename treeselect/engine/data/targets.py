"""What trees are grown on: means, Newton steps or classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import (
    AnyArray,
    FloatArray,
    IntArray,
    UInt8Array,
    WeightArray,
)
from treeselect.engine.cache import inner

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

    ``MEAN`` splits by the decrease of the sum of squares of `gradient`, with whole row weights.
    ``NEWTON`` splits by the decrease of the quadratic approximation of a loss, of `gradient` and
    `curvature` (Friedman, Hastie and Tibshirani 2000); a mean with real weights ``w`` is the case
    ``gradient = w * y``, ``curvature = w``. ``GINI`` and ``ENTROPY`` split by the decrease of
    these impurities of `label`, real weights of rows being in `curvature`. ``VECTOR`` splits by the
    decrease of the sum of squares of several gradients at once, with whole row weights.

    Attributes
    ----------
    kind : int
    gradient : ndarray of float64, shape (n_rows,)
        With several outputs (n_rows * n_outputs,), row after row.
    curvature : ndarray of float64, shape (n_rows,)
        At least 0.
    label : ndarray of uint8, shape (n_rows,)
        Class of each row, from 0.
    n_classes : int
        Outputs of a tree: classes, or gradients of a row; otherwise 1.
    """

    kind: int
    gradient: FloatArray
    curvature: FloatArray
    label: UInt8Array
    n_classes: int

    @property
    def has_pairs(self) -> bool:
        """See the function of this name, which kernels call; so for the others."""
        return bool(has_pairs.py_func(self.kind))

    @property
    def has_classes(self) -> bool:
        """Whether rows have labels."""
        return bool(has_classes.py_func(self.kind))

    @property
    def is_vector(self) -> bool:
        """Whether rows have several gradients."""
        return bool(is_vector.py_func(self.kind))

    @property
    def has_outputs(self) -> bool:
        """Whether it has classes or several gradients."""
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
    """Trees for the mean of `y` under real weights of rows, which are scaled to mean 1.

    The gain is then, as for whole weights, the decrease per unit of weight.
    """
    scaled = weight / np.mean(weight[weight > 0])
    return newton_target(y * scaled, scaled)


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


def target_of(truth: FloatArray, weight: WeightArray) -> Target:
    """Trees for the means of one column or several, shape (n_rows, n_outputs); with several,
    relative weights multiply the rows."""
    if truth.shape[1] == 1:
        return target_of_mean(np.ascontiguousarray(truth[:, 0]), weight)
    if are_copies(weight):
        return vector_target(truth)
    return vector_target(truth * (weight / weight[weight > 0].mean())[:, np.newaxis])
