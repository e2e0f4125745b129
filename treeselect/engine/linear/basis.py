"""Basis functions of binned columns: penalised splines of numbers, effects of levels.

Every function is a function of one column's code, so that it is a small table.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from treeselect.engine.arrays import FloatArray, Int8Array, WeightArray
from treeselect.engine.columns import OTHER, BinnedData
from treeselect.engine.tree.target import are_copies

_HINGES = 5
"""Most hinges of a number."""

_FARTHEST = 2.5
"""Normal scores are clipped there."""

_LIGHT = 0.1
"""Penalty of linear parts and levels, relative to that of hinges."""

_MOST_LEVELS = 50
"""Levels of a factor, the most frequent ones, that have an effect of their own."""

_NO_BEND = 1e-9
"""Variance of a hinge that is rounding, relative to that of the scores."""

_TOGETHER = 250
"""Groups whose functions are made at once."""


class Basis(NamedTuple):
    """The basis functions of a group of columns: tables of values by code, (n_codes, n_functions),
    of weighted mean 0 over the rows; for each function its penalty, relative to that of a hinge,
    and the sign that its coefficient must have, if any."""

    columns: tuple[int, ...]
    tables: tuple[FloatArray, ...]
    penalty: FloatArray
    direction: FloatArray

    def of(self, data: BinnedData) -> FloatArray:
        """Values for all rows, shape (n_functions, n_rows)."""
        both = zip(self.columns, self.tables, strict=True)
        parts = [table.T[:, data.column(j)] for j, table in both]
        return np.concatenate([np.empty((0, data.n_rows)), *parts])


def bases_of(data: BinnedData, groups: Sequence[int], weight: FloatArray) -> list[Basis]:
    """Basis functions of the columns of each group; rows of weight 0 are ignored. A number has the
    normal scores of its ranks, clipped, an indicator of missing values, whose effect is shrunk the
    more the fewer there are, and hinges of the scores at up to five quantiles, none where
    predictions must be monotone; a factor an indicator of each of the 50 most frequent levels,
    missing included."""
    start, total = data.group_start, weight.sum()
    members = [range(int(start[g]), int(start[g + 1])) for g in groups]
    least = np.where(data.is_factor, OTHER + 1, 0)
    share = {
        j: np.bincount(data.column(j), weight, max(data.n_codes[j], least[j])) / total
        for j in itertools.chain(*members)
    }
    numbers = [j for j in share if not data.is_factor[j]]
    found = dict(zip(numbers, _of_numbers([share[j] for j in numbers]), strict=True))
    found |= {j: _of_factor(share[j]) for j in share if data.is_factor[j]}
    return [_joined(own, found, data.monotone) for own in members]


def _joined(
    members: Sequence[int], found: Mapping[int, tuple[FloatArray, FloatArray]], monotone: Int8Array
) -> Basis:
    """The functions of the columns of a group together."""
    columns, tables, penalties, directions = [], [], [np.empty(0)], [np.empty(0)]
    for j in members:
        table, penalty = found[j]
        sign = float(monotone[j]) if len(monotone) else 0.0
        if sign:
            table, penalty = table[:, penalty < 1], penalty[penalty < 1]
        if table.shape[1]:
            columns.append(j)
            tables.append(table)
            penalties.append(penalty)
            directions.append(np.append(sign, np.zeros(len(penalty) - 1)))
    return Basis(
        tuple(columns), tuple(tables), np.concatenate(penalties), np.concatenate(directions)
    )


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


def _of_numbers(shares: Sequence[FloatArray]) -> list[tuple[FloatArray, FloatArray]]:
    """Normal scores, missing indicator and hinges by code, and their penalties, from the shares of
    the codes of each number; see :func:`bases_of`."""
    n_codes = [len(own) for own in shares]
    share = np.zeros((len(shares), max(n_codes, default=1)))
    for row, own in zip(share, shares, strict=True):
        row[: len(own)] = own
    known, missing = share.copy(), share[:, 0]
    known[:, 0] = 0.0
    total, n_values = known.sum(axis=1, keepdims=True), (known > 0).sum(axis=1)
    relative = known / np.maximum(total, 1e-300)
    rank = np.cumsum(relative, axis=1) - relative / 2
    score = np.clip(scipy.special.ndtri(np.clip(rank, 1e-9, 1 - 1e-9)), -_FARTHEST, _FARTHEST)
    score -= np.einsum("jc,jc->j", relative, score)[:, np.newaxis]
    score[:, 0] = 0.0
    squares = np.einsum("jc,jc->j", known, score**2)
    score /= np.sqrt(np.where(n_values > 1, squares, 1.0))[:, np.newaxis]
    absent = 2.0 * ((np.arange(share.shape[1]) == 0) - missing[:, np.newaxis])
    n_hinges = np.clip(n_values - 2, 0, _HINGES)
    hinges = np.zeros((*score.shape, _HINGES))
    for n in np.unique(n_hinges[n_hinges > 0]).tolist():
        here = n_hinges == n
        knots = scipy.special.ndtri(np.arange(1, n + 1) / (n + 1))
        hinges[here, :, :n] = np.maximum(score[here, :, np.newaxis] - knots, 0.0)
    hinges[:, 0] = 0.0
    hinges -= np.einsum("jc,jch->jh", relative, hinges)[:, np.newaxis]
    hinges[:, 0] = 0.0
    slope = np.einsum("jc,jch->jh", known * score, hinges)
    hinges -= score[:, :, np.newaxis] * slope[:, np.newaxis]
    # A hinge below all scores is a straight line.
    bends = np.einsum("jc,jch->jh", known, hinges**2) > _NO_BEND
    tables = np.concatenate([score[:, :, np.newaxis], absent[:, :, np.newaxis], hinges], axis=2)
    used = np.column_stack([n_values > 1, (missing > 0) & (n_values > 0), bends])
    penalty = np.array([_LIGHT, _LIGHT, *np.ones(_HINGES)])
    return [(tables[j, :n][:, used[j]], penalty[used[j]]) for j, n in enumerate(n_codes)]


class AdditiveColumns:
    """The basis functions of all groups for some rows, made when they are needed; weights, above 0,
    that are whole numbers are copies of rows, others are relative."""

    def __init__(self, data: BinnedData, weight: WeightArray) -> None:
        self._data = data
        self.weight = weight.astype(np.float64)
        self.are_copies = are_copies(weight)
        if not self.are_copies:
            self.weight /= self.weight.mean()
        self._known: dict[int, tuple[FloatArray, Basis]] = {}
        self._products: dict[tuple[int, int], FloatArray] = {}

    def group(self, group: int) -> tuple[FloatArray, Basis]:
        """Values of the functions of a group, shape (n_functions, n_rows), and the functions."""
        return self.each([group])[0]

    def each(self, groups: Sequence[int]) -> list[tuple[FloatArray, Basis]]:
        """The same of some groups; many together take far less time."""
        new = [g for g in groups if g not in self._known]
        for at in range(0, len(new), _TOGETHER):
            some = new[at : at + _TOGETHER]
            for g, basis in zip(some, bases_of(self._data, some, self.weight), strict=True):
                self._known[g] = basis.of(self._data), basis
        return [self._known[g] for g in groups]

    def shapes(self, groups: Sequence[int]) -> list[tuple[int, int]]:
        """Number of functions of each group that are lightly penalised (a slope, or effects of
        levels), and of all."""
        penalties = [basis.penalty for _, basis in self.each(groups)]
        return [(int((penalty < 1).sum()), len(penalty)) for penalty in penalties]

    def groups(self, groups: Sequence[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values of the functions of some groups, their penalties and directions."""
        parts = self.each(groups)
        values = [np.empty((0, len(self.weight))), *(values for values, _ in parts)]
        penalty = [np.empty(0), *(basis.penalty for _, basis in parts)]
        direction = [np.empty(0), *(basis.direction for _, basis in parts)]
        return np.concatenate(values), np.concatenate(penalty), np.concatenate(direction)

    def products(self, groups: Sequence[int]) -> FloatArray:
        """Weighted products of the functions of some groups; those of two groups are kept."""
        parts = [values for values, _ in self.each(groups)]
        ends = np.cumsum([0, *map(len, parts)]).tolist()
        found = np.empty((ends[-1], ends[-1]))
        own = [slice(*pair) for pair in itertools.pairwise(ends)]
        for i, g in enumerate(groups):
            for j, h in enumerate(groups[: i + 1]):
                if (g, h) not in self._products:
                    self._products[g, h] = (parts[i] * self.weight) @ parts[j].T
                found[own[i], own[j]] = block = self._products[g, h]
                found[own[j], own[i]] = block.T
        return found
