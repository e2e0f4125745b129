"""Additive models of binned columns: penalised splines of numbers, effects of levels.

Every basis function is a function of one column's code, so that it is a small table, and an
additive model is one value per code and column.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.data.binning import OTHER, BinnedData
from treeselect.engine.data.targets import are_copies
from treeselect.engine.row_losses import RowLoss

_HINGES = 5
"""Most hinges of a number."""

_FARTHEST = 2.5
"""Normal scores are clipped there."""

_LIGHT = 0.1
"""Penalty of linear parts and levels, relative to that of hinges."""

_MOST_LEVELS = 50
"""Levels of a factor, the most frequent ones, that have an effect of their own."""

RIDGES = (1.0, 10.0, 100.0, 1000.0)
"""Penalties that out-of-sample errors choose from."""

MOST_LEVERAGE = 0.95
"""Most leverage of a row that is left out: its own prediction is not known any better."""

_STEPS, _HALVINGS, _NEAR = 50, 20, 1e-4

_SLACK = 1e-9
"""Share of their mean that is added to the diagonal elements of a matrix, so that it has an inverse
where columns are combinations of others."""


class Basis(NamedTuple):
    """The basis functions of a group of columns.

    Attributes
    ----------
    columns : tuple of int
        Column of each table.
    tables : tuple of ndarray of float, shape (n_codes, n_functions)
        Values by code; weighted mean 0 over the rows.
    penalty : ndarray of float, shape (n_functions_of_all_tables,)
        Relative to that of a hinge.
    direction : ndarray of float, shape (n_functions_of_all_tables,)
        Sign that a coefficient must have, if it has one; 0 elsewhere.
    """

    columns: tuple[int, ...]
    tables: tuple[FloatArray, ...]
    penalty: FloatArray
    direction: FloatArray

    def of(self, data: BinnedData, rows: IntArray | slice = slice(None)) -> FloatArray:
        """Values for some rows, shape (n_functions, n_rows)."""
        parts = [
            table.T[:, data.column(j)[rows]]
            for j, table in zip(self.columns, self.tables, strict=True)
        ]
        n_rows = len(np.arange(data.n_rows)[rows])
        return np.concatenate(parts) if parts else np.empty((0, n_rows))


def basis_of(data: BinnedData, group: int, weight: FloatArray) -> Basis:
    """Basis functions of the columns of a group.

    A number has the normal scores of its ranks, clipped at 2.5, an indicator of missing values, and
    hinges of the scores at up to five quantiles, orthogonal to the scores; where predictions must
    be monotone, no hinges. A factor has an indicator of each of the 50 most frequent levels,
    missing included.

    Parameters
    ----------
    weight : ndarray of float, shape (n_rows,)
        Rows of weight 0 are ignored.
    """
    columns, tables, penalties, directions = [], [], [], []
    for j in range(int(data.group_start[group]), int(data.group_start[group + 1])):
        n_codes = int(max(data.n_codes[j], OTHER + 1 if data.is_factor[j] else 0))
        share = np.bincount(data.column(j), weight, n_codes) / weight.sum()
        sign = float(data.monotone[j]) if len(data.monotone) else 0.0
        is_factor = data.is_factor[j]
        table, penalty = _of_factor(share) if is_factor else _of_number(share.tobytes())
        if sign:
            table, penalty = table[:, penalty < 1], penalty[penalty < 1]
        if table.shape[1]:
            columns.append(j)
            tables.append(table)
            penalties.append(penalty)
            directions.append(np.append(sign, np.zeros(len(penalty) - 1)))
    none = np.empty(0)
    return Basis(
        tuple(columns), tuple(tables),
        np.concatenate([none, *penalties]), np.concatenate([none, *directions]),
    )  # fmt: skip


def _of_factor(share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Indicators of the levels, less their shares; the variance of all together is that of as many
    standardised columns as there are differences."""
    levels = np.flatnonzero(share > 0)
    if len(share) > OTHER:
        levels = levels[levels != OTHER]
    n_present = int((share > 0).sum())
    if n_present < 2:
        return np.empty((len(share), 0)), np.empty(0)
    levels = levels[np.argsort(-share[levels], kind="stable")][:_MOST_LEVELS]
    table = np.zeros((len(share), len(levels)))
    table[levels, np.arange(len(levels))] = 1.0
    table -= share[levels]
    variance = float((share @ table**2).sum()) / (n_present - 1)
    return table / np.sqrt(variance), np.full(len(levels), _LIGHT)


@lru_cache(maxsize=64)
def _of_number(shares: bytes) -> tuple[FloatArray, FloatArray]:
    """Normal scores, missing indicator and hinges by code, from the shares of codes as bytes; see
    :func:`basis_of`. They are kept, since columns of distinct values share them."""
    share = np.frombuffer(shares)
    parts, penalty = [np.empty((len(share), 0))], []
    known = share.copy()
    known[0] = 0.0
    total, n_values = known.sum(), int((known > 0).sum())
    if n_values > 1:
        rank = (np.cumsum(known) - known / 2) / total
        score = np.clip(scipy.special.ndtri(np.clip(rank, 1e-9, 1 - 1e-9)), -_FARTHEST, _FARTHEST)
        score = score - (known / total) @ score
        score[0] = 0.0
        score /= np.sqrt(known @ score**2)
        parts.append(score[:, np.newaxis])
        penalty.append(_LIGHT)
    if 0 < share[0] < 1:
        missing = (np.arange(len(share)) == 0) - share[0]
        parts.append(missing[:, np.newaxis] / np.sqrt(share[0] * (1 - share[0])))
        penalty.append(_LIGHT)
    n_hinges = min(_HINGES, n_values - 2)
    if n_hinges > 0:
        knots = scipy.special.ndtri(np.arange(1, n_hinges + 1) / (n_hinges + 1))
        hinges = np.maximum(score[:, np.newaxis] - knots, 0.0)
        hinges[0] = 0.0
        hinges -= (known / total) @ hinges
        hinges[0] = 0.0
        hinges -= np.outer(score, (known * score) @ hinges)
        parts.append(hinges)
        penalty += [1.0] * n_hinges
    return np.hstack(parts), np.array(penalty)


class AdditiveColumns:
    """The basis functions of all groups for some rows, made when they are needed.

    Parameters
    ----------
    data : BinnedData
    weight : ndarray, shape (n_rows,)
        Above 0; whole numbers are copies of rows, others are relative.
    """

    def __init__(self, data: BinnedData, weight: WeightArray) -> None:
        self._data = data
        self.weight = weight.astype(np.float64)
        self.are_copies = are_copies(weight)
        if not self.are_copies:
            self.weight /= self.weight.mean()
        self._known: dict[int, tuple[FloatArray, Basis]] = {}

    def group(self, group: int) -> tuple[FloatArray, Basis]:
        """Values of the functions of a group, shape (n_functions, n_rows), and the functions."""
        if group not in self._known:
            basis = basis_of(self._data, group, self.weight)
            self._known[group] = basis.of(self._data), basis
        return self._known[group]

    def shape(self, group: int) -> tuple[int, int]:
        """Number of functions of a group that are lightly penalised (a slope, or effects of
        levels), and of all."""
        penalty = self.group(group)[1].penalty
        return int((penalty < 1).sum()), len(penalty)

    def groups(self, groups: Sequence[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values of the functions of some groups, their penalties and directions."""
        parts = [self.group(g) for g in groups]
        values = [np.empty((0, len(self.weight))), *(values for values, _ in parts)]
        penalty = [np.empty(0), *(basis.penalty for _, basis in parts)]
        direction = [np.empty(0), *(basis.direction for _, basis in parts)]
        return np.concatenate(values), np.concatenate(penalty), np.concatenate(direction)


@dataclass(frozen=True, slots=True)
class AdditiveFit:
    """A penalised additive generalised linear model.

    Attributes
    ----------
    coef : ndarray of float, shape (n_functions, n_outputs)
    constant : ndarray of float, shape (n_outputs,)
        0 where the loss has none.
    eta : ndarray of float, shape (n_rows, n_outputs)
        Linear predictor, base included.
    outside : ndarray of float, shape (n_rows, n_outputs)
        The same for rows that the model was not fitted to: one Newton step without the row, or the
        fold, from the fit (approximate leave-one-out; Beirami et al. 2017).
    effects_outside : ndarray of float, shape (n_groups, n_rows, n_outputs)
        The part of each group in `outside`.
    error : float
        Mean loss of `outside`.
    has_constant : bool
    """

    coef: FloatArray
    constant: FloatArray
    eta: FloatArray
    outside: FloatArray
    effects_outside: FloatArray
    error: float
    has_constant: bool = True


def fit_additive(
    columns: AdditiveColumns,
    groups: Sequence[int],
    loss: RowLoss,
    base: FloatArray,
    *,
    has_constant: bool = True,
    folds: IntArray | None = None,
    ridges: Sequence[float] = RIDGES,
) -> AdditiveFit:
    """Fit a penalised additive model by Newton steps, at the ridge of least error outside.

    Parameters
    ----------
    loss : RowLoss
        Loss of the rows.
    base : ndarray of float, shape (n_rows, n_outputs)
        Linear predictor of the constant model, offset included.
    """
    x, penalty, direction = columns.groups(groups)
    kept = np.ones(len(x), dtype=np.bool_)
    while True:
        found, coef = None, np.zeros((kept.sum() + has_constant, base.shape[1]))
        own, own_penalty = x[kept], penalty[kept]
        if has_constant:
            own = np.concatenate([np.ones((1, x.shape[1])), own])
            own_penalty = np.concatenate([np.zeros(1), own_penalty])
        for ridge in sorted(ridges, reverse=True) if len(groups) else [0.0]:
            coef = _newton(columns.weight, own, ridge * own_penalty, loss, base, coef)
            eta = base + own.T @ coef
            steps = _steps_outside(columns, own, ridge * own_penalty, loss, eta, folds)
            outside = eta - (own[:, :, np.newaxis] * steps).sum(axis=0)
            error = float(np.average(loss.value(_flat(outside)), weights=columns.weight))
            if found is None or error < found.error:
                every = np.zeros((len(x), base.shape[1]))
                every[kept] = coef[int(has_constant) :]
                constant = coef[0] if has_constant else np.zeros(base.shape[1])
                moved = np.zeros((len(x), *eta.shape))
                moved[kept] = own[int(has_constant) :, :, np.newaxis] * steps[int(has_constant) :]
                effects = x[:, :, np.newaxis] * every[:, np.newaxis] - moved
                ends = np.cumsum([0, *(len(columns.group(g)[0]) for g in groups)])
                by_group = np.array([effects[a:b].sum(axis=0) for a, b in itertools.pairwise(ends)])
                found = AdditiveFit(every, constant, eta, outside, by_group, error, has_constant)
        assert found is not None
        wrong = (direction[:, np.newaxis] * found.coef < 0).any(axis=1)
        if not wrong.any():
            return found
        kept &= ~wrong  # what must not fall, and would, stays level


def _newton(
    weight: FloatArray,
    x: FloatArray,
    penalty: FloatArray,
    loss: RowLoss,
    base: FloatArray,
    coef: FloatArray,
) -> FloatArray:
    """Coefficients of least penalised loss, from some that are near: Newton steps, of one output
    after the other, halved as long as they do not lower the loss."""

    def objective(some: FloatArray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            value = weight @ loss.value(_flat(base + x.T @ some))
        return float(value + (penalty @ some**2).sum() / 2)

    least = objective(coef)
    for _ in range(_STEPS if len(x) else 0):
        moved = 0.0
        for k in range(coef.shape[1]):
            down, curvature = derivatives(loss, base + x.T @ coef)
            gram = (x * (weight * curvature[:, k])) @ x.T + np.diag(penalty)
            gram[np.diag_indices(len(gram))] += _SLACK * np.trace(gram) / len(gram) + 1e-12
            right = x @ (weight * down[:, k]) - penalty * coef[:, k]
            step = np.zeros_like(coef)
            step[:, k] = scipy.linalg.solve(gram, right, assume_a="pos", check_finite=False)
            for _ in range(_HALVINGS):
                there = objective(coef + step)
                if there <= least:
                    coef, least = coef + step, there
                    moved = max(moved, float(np.abs(x.T @ step[:, k]).max()))
                    break
                step /= 2
        if moved < _NEAR:
            break
    return coef


def _steps_outside(
    columns: AdditiveColumns,
    x: FloatArray,
    penalty: FloatArray,
    loss: RowLoss,
    eta: FloatArray,
    folds: IntArray | None,
) -> FloatArray:
    """By how much each coefficient is lower without each row, or its fold, shape (n_functions,
    n_rows, n_outputs); see :class:`AdditiveFit`."""
    weight, steps = columns.weight, np.zeros((len(x), *eta.shape))
    down, curvature = derivatives(loss, eta)
    for k in range(eta.shape[1]) if len(x) else ():
        weighted = x * (weight * curvature[:, k])
        gram = weighted @ x.T + np.diag(penalty + 1e-12)
        gram[np.diag_indices(len(gram))] += _SLACK * np.trace(gram) / len(gram)
        if folds is None:
            solved = np.linalg.solve(gram, x)
            once = np.ones_like(weight) if columns.are_copies else weight
            leverage = np.minimum((x * solved).sum(axis=0) * curvature[:, k] * once, MOST_LEVERAGE)
            steps[:, :, k] = solved * (once * down[:, k] / (1 - leverage))
            continue
        for fold in np.unique(folds):
            out = folds == fold
            rest = gram - weighted[:, out] @ x[:, out].T
            step = np.linalg.solve(rest, x[:, out] @ (weight[out] * down[out, k]))
            steps[:, out, k] = step[:, np.newaxis]
    return steps


_LEAST_CURVATURE = 1e-5


def derivatives(loss: RowLoss, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minus the gradient, and the curvature, at least a little; shape (n_rows, n_outputs)."""
    down, curvature = loss.derivatives(_flat(eta))
    return down.reshape(eta.shape), np.maximum(curvature.reshape(eta.shape), _LEAST_CURVATURE)


def _flat(eta: FloatArray) -> FloatArray:
    """Linear predictors as losses take them."""
    return eta[:, 0] if eta.shape[1] == 1 else eta
