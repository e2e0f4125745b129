"""HSIC lasso: a sparse non-negative sum of kernels that approximates the response's kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from treeselect.algorithms.filters import joint_cells, row_mass
from treeselect.algorithms.forests.scoring import score_of
from treeselect.algorithms.linear.penalised import of_number, scaling_of
from treeselect.algorithms.options import MOST_UNITS, integer, number, refuse_offset
from treeselect.algorithms.references import CLIMENTE_2019, YAMADA_2014, Reference
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.task import Step, Task, ranked_step
from treeselect.designs.problem import CodedColumns, Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.linear.columns import Number
from treeselect.engine.linear.homotopy import (
    Blocks,
    Homotopy,
    Kernel,
    all_rows,
    inner_products,
    shuffled_blocks,
)
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.engine.threads import one_thread

_MOST_ROWS = 1000
"""Most rows that are all compared with each other, unless `block_size` is given."""

_USUAL_BLOCK = 100
"""Rows of a block, where there are more."""

_AT_ONCE = 64
"""Units whose kernels are compared with the response's at a time."""

_FIRST_UNITS = 512
"""Units whose inner products are computed first; most others never matter."""

_NEAR_END = 0.1
"""Position of a step within its segment of the path, from the end."""


@dataclass(frozen=True, kw_only=True)
class HSICLasso(RefinedMethod):
    """HSIC lasso: a lasso on kernels, for data with few rows.

    Based on the Hilbert-Schmidt independence criterion, it captures any form of marginal
    association, including terms without a mean effect, and avoids redundant terms. Terms that are
    informative only jointly, as in ``a * b > 0``, are missed unless they form one group.

    Parameters
    ----------
    lam : float, optional
        Penalty, above 0; at 1 and above, no term of cost 1 enters. If None, `k` decides.
    block_size : int, optional
        Rows that are compared with each other, at least 5. If None: all rows up to 1,000; beyond,
        blocks of 100, with which time and memory are linear in the number of rows, not quadratic.
    n_shuffles : int
        Number of times the rows are shuffled into blocks, 1 to 10,000.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range, or if an `offset` of a response that is not numeric is given.

    Notes
    -----
    Minimises ``|L - sum_g a_g K_g|^2 / 2 + lam * sum_g cost_g * a_g`` over ``a >= 0``, exactly,
    where K_g and L are the centred kernel matrices of the terms and of the response, each with
    Frobenius norm 1 [1]_. A term of d numeric columns has one Gaussian kernel,
    ``exp(-|x - x'|^2 / (2 d))``, on columns with mean 0 and variance 1. A factor has ``1 / n_c``
    for two rows of the same level c, which n_c rows have, and 0 for others. With several columns,
    these kernels are multiplied, and levels are combined. A missing level is a level. A missing
    number is set to the median, and the kernel of two rows with different missing numbers is 0.
    Classes have the kernel of a factor. Numbers less their offset, counts and, for right-censored
    times, the martingale residuals of the null model, within strata, have that of a number. Offsets
    of other responses than numbers are refused.

    In blocks [2]_, inner products are sums over random blocks of rows. A group (``groups=``) counts
    as one term. A cost shared by several terms is charged to each of them; terms that are free or
    forced in are not penalised. The importance of a term is its a_g. For each size, the path has a
    solution near the end of the first interval of penalties with that size. It ends when no other
    term adds to those selected. Training scores are those of :class:`MRMR`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="hsic_lasso", k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    lam: float | None = field(default=None, metadata=number(above=0.0))
    block_size: int | None = field(default=None, metadata=integer(least=5, most=MOST_UNITS))
    n_shuffles: int = field(default=1, metadata=integer(least=1, most=10000))

    name: ClassVar[str] = "hsic_lasso"
    title: ClassVar[str] = "HSIC lasso"
    references: ClassVar[tuple[Reference, ...]] = (YAMADA_2014,)
    cited: ClassVar[tuple[Reference, ...]] = (YAMADA_2014, CLIMENTE_2019)
    tuning_name: ClassVar[str] = "lam"
    reads_columns: ClassVar[bool] = True
    left_out: ClassVar[str] = "the others do not improve the fit"

    def path(self, task: Task) -> tuple[Step, ...]:
        refuse_offset(self, task.problem)
        keep = task.problem.groups.keep

        def step_at(lam: float, weights: FloatArray) -> Step:
            selected = (weights > 0) | keep
            return ranked_step(lam, selected, weights, score_of(task, selected))

        with one_thread():
            fits = KernelFits(task, self._blocks(task.weights, task.seed))
            if self.lam is not None:
                found = [(self.lam, fits.at(self.lam))]
            else:
                found = fits.path(self.longest(task))
        return self.revised([step_at(*one) for one in found], task)

    def _blocks(self, weights: RowWeights, seed: int) -> Blocks:
        _, mass = row_mass(weights)
        size = self.block_size or (len(mass) if len(mass) <= _MOST_ROWS else _USUAL_BLOCK)
        if size >= len(mass):
            return all_rows(mass)
        seeds = [stream_seed(seed, "blocks", number) for number in range(self.n_shuffles)]
        return shuffled_blocks(mass, size, seeds)


class KernelFits:
    """HSIC lasso of one problem at any penalty."""

    def __init__(self, task: Task, blocks: Blocks) -> None:
        problem, weight = task.problem, task.weight
        assert problem.columns is not None
        rows, mass = row_mass(task.weights)
        groups = problem.groups
        self._blocks, self._keep = blocks, groups.keep
        self._kernels = [
            unit_kernel(problem.columns, g, rows, mass) for g in range(len(groups.names))
        ]
        self._prices = np.where(groups.keep, 0.0, groups.costs)
        response = response_kernel(problem, weight, rows, mass)
        self.relevance, self._norms = self._against(response)
        # Inner products are non-negative: no unit enters at a higher penalty than it would alone.
        free = self._prices == 0
        alone = np.where(free, np.inf, self.relevance / np.where(free, 1.0, self._prices))
        self._alone = np.where(self.relevance > 0, alone, 0.0)
        order = falling(self._alone, groups.ranks(task.seed))
        self._order: IntArray = order[self._alone[order] > 0]

    def gram(self, units: IntArray) -> FloatArray:
        """Inner products of the units' centred matrices of norm 1, shape (n_units, n_units)."""
        found = inner_products([self._kernels[g] for g in units], self._blocks)
        found /= np.outer(self._norms[units], self._norms[units])
        return np.asarray(np.round(found, 12))

    def at(self, lam: float) -> FloatArray:
        """The solution at a penalty, shape (n_groups,)."""
        able = int((self._alone > lam).sum())
        return self._spread(self._homotopy(able).at(lam))

    def path(self, most: int) -> list[tuple[float, FloatArray]]:
        """Penalties and solutions until more than `most` units are selected: the first of each
        size."""
        n_units = min(_FIRST_UNITS, len(self._order))
        while True:
            found = self._path(self._homotopy(n_units), most)
            if n_units == len(self._order):
                break
            lam, weights = found[-1]
            if self._size(weights) > most and lam >= self._alone[self._order[n_units]]:
                break
            n_units = min(4 * n_units, len(self._order))
        first: dict[int, tuple[float, FloatArray]] = {}
        for lam, weights in found:
            first.setdefault(self._size(weights), (lam, weights))
        return list(first.values())

    def _path(self, homotopy: Homotopy, most: int) -> list[tuple[float, FloatArray]]:
        found = [(np.inf, self._spread(homotopy.at(np.inf)))]
        number = 1
        while (segment := homotopy.segment(number)) is not None:
            number += 1
            if segment.high - segment.low <= 1e-12 * segment.high:
                continue
            lam = segment.low + _NEAR_END * (segment.high - segment.low)
            weights = self._spread(homotopy.at(lam))
            found.append((lam, weights))
            if self._size(weights) > most:
                break
        return found

    def _size(self, weights: FloatArray) -> int:
        return int(((weights > 0) | self._keep).sum())

    def _homotopy(self, n_units: int) -> Homotopy:
        """The exact path of the units that could enter first."""
        units = self._order[:n_units]
        return Homotopy(self.gram(units), self.relevance[units], self._prices[units])

    def _spread(self, weights: FloatArray) -> FloatArray:
        """Weights of all units from those of the first ones in order."""
        found = np.zeros(len(self._kernels))
        found[self._order[: len(weights)]] = weights
        return found

    def _against(self, response: Kernel) -> tuple[FloatArray, FloatArray]:
        """Relevance of each unit, and the norm of its centred matrix, 1 for constants."""
        relevance, norms = np.zeros(len(self._kernels)), np.ones(len(self._kernels))
        varying = [g for g, kernel in enumerate(self._kernels) if not kernel.is_constant]
        for first in range(0, 0 if response.is_constant else len(varying), _AT_ONCE):
            units = varying[first : first + _AT_ONCE]
            kernels = [*(self._kernels[g] for g in units), response]
            found = inner_products(kernels, self._blocks)
            norm = np.sqrt(np.diag(found))
            norms[units] = norm[:-1]
            relevance[units] = np.round(found[:-1, -1] / (norm[:-1] * norm[-1]), 12)
        return relevance, norms


def unit_kernel(coded: CodedColumns, group: int, rows: IntArray, mass: FloatArray) -> Kernel:
    share = mass / mass.sum()
    numbers, missing, codes = [], [], []
    for j in np.flatnonzero(coded.groups.ids == group):
        values = coded.columns[j][rows]
        if coded.n_levels[j] is not None:
            codes.append(values.astype(np.int64))
            continue
        filled, *indicator = of_number(values, share) or [np.zeros(len(rows))]
        missing += [column.astype(np.int64) for column in indicator]
        numbers.append(standardised(filled, share))
    varying = [column for column in numbers if column is not None]
    x = np.array(varying).reshape(-1, len(rows)) / np.sqrt(max(len(varying), 1))
    n = len(rows)
    if not codes:
        return Kernel(x, joint_cells(missing, n) if missing else None)
    return Kernel(x, joint_cells([*codes, *missing], n), _scale(joint_cells(codes, n), mass))


def standardised(values: FloatArray, share: FloatArray) -> FloatArray | None:
    """Mean 0 and variance 1; None for a constant."""
    scaling = scaling_of(values, share)
    return None if scaling is None else Number(values, np.nan, *scaling).of(slice(None))


def response_kernel(
    problem: Problem, weight: WeightArray, rows: IntArray, mass: FloatArray
) -> Kernel:
    """The kernel of the response, or of the negative gradient at the null model."""
    if problem.splits_classes:
        labels = joint_cells([problem.y[rows].astype(np.int64)], len(rows))
        return Kernel(np.empty((0, len(rows))), labels, _scale(labels, mass))
    left = problem.gradient(weight)[rows]
    made = standardised(left, mass / mass.sum())
    return Kernel(np.zeros((1, len(rows))) if made is None else made[np.newaxis])


def _scale(labels: IntArray, mass: FloatArray) -> FloatArray:
    """One over the square root of the number of rows with each row's level."""
    return np.asarray(1 / np.sqrt(np.bincount(labels, mass)[labels]))
