"""Strength of association of two columns, from 0 to 1: one measure for each pair of types."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treeselect.designs.modeldata import ModelData
from treeselect.engine.arrays import FloatArray, IntArray


class Coded(NamedTuple):
    """A column as codes: of a number the rank of its value among the distinct values, of a factor its
    level; -1 where it is missing."""

    codes: IntArray
    is_factor: bool


def coded_number(values: FloatArray) -> Coded:
    """A number as codes; NaN is missing."""
    codes = np.full(len(values), -1, dtype=np.int64)
    known = ~np.isnan(values)
    codes[known] = np.unique(values[known], return_inverse=True)[1]
    return Coded(codes, False)


def association(first: Coded, second: Coded, weight: FloatArray) -> float:
    """Strength in [0, 1] of the association of two columns, over the rows where neither is missing;
    0 if one of them is constant.

    For two numbers the absolute Spearman rank correlation (1904); for a number and a factor
    Pearson's correlation ratio (1905), the square root of the proportion of the variance of the
    ranks between the levels; for two factors Cramer's V (1946)."""
    rows = (first.codes >= 0) & (second.codes >= 0) & (weight > 0)
    if not rows.any():
        return 0.0
    a, b, own = first.codes[rows], second.codes[rows], weight[rows].astype(np.float64)
    if first.is_factor and second.is_factor:
        return _cramers_v(a, b, own)
    if first.is_factor:
        return _correlation_ratio(a, _ranks(b, own), own)
    if second.is_factor:
        return _correlation_ratio(b, _ranks(a, own), own)
    return _correlation(_ranks(a, own), _ranks(b, own), own)


def _ranks(codes: IntArray, weight: FloatArray) -> FloatArray:
    """Mid-rank of each row, counted by weight, up to a constant."""
    at = np.bincount(codes, weight)
    return np.asarray((np.cumsum(at) - at / 2)[codes])


def _correlation(a: FloatArray, b: FloatArray, weight: FloatArray) -> float:
    a, b = a - np.average(a, weights=weight), b - np.average(b, weights=weight)
    spread = (weight @ a**2) * (weight @ b**2)
    return min(abs(float(weight @ (a * b))) / float(np.sqrt(spread)), 1.0) if spread > 0 else 0.0


def _standardised(codes: IntArray, weight: FloatArray) -> FloatArray:
    """Centred ranks of a number, times square roots of the weights, of length 1; 0 if it is
    constant."""
    ranks = _ranks(codes, weight.astype(np.float64))
    centred = (ranks - np.average(ranks, weights=weight)) * np.sqrt(weight)
    length = float(np.sqrt(centred @ centred))
    return centred / length if length > 0 else np.zeros(len(centred))


def _correlation_ratio(level: IntArray, values: FloatArray, weight: FloatArray) -> float:
    centred = values - np.average(values, weights=weight)
    total = float(weight @ centred**2)
    of_level = np.bincount(level, weight)
    sums = np.bincount(level, weight * centred)
    between = float((sums[of_level > 0] ** 2 / of_level[of_level > 0]).sum())
    return float(np.sqrt(min(between / total, 1.0))) if total > 0 else 0.0


def _cramers_v(a: IntArray, b: IntArray, weight: FloatArray) -> float:
    n_levels = int(b.max()) + 1
    table = np.bincount(a * n_levels + b, weight, (int(a.max()) + 1) * n_levels)
    table = table.reshape(-1, n_levels) / weight.sum()
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    fewest = min(table.shape)
    if fewest < 2:
        return 0.0
    chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(np.sqrt(min(((table - chance) ** 2 / chance).sum() / (fewest - 1), 1.0)))


_MEASURES = ("Spearman", "correlation ratio", "Cramer's V")
"""By the number of factors among two terms."""


class Associations:
    """Strength of association of terms and units in the data of a fit: of those with several columns
    the strongest of their columns', 0 of a factor that is entirely missing. Each column is coded
    once, when it is first needed."""

    def __init__(self, data: ModelData) -> None:
        data.check_data()
        self._arrays = data.arrays
        self._weight = data.weight.astype(np.float64)
        self._coded: dict[int, Coded] = {}
        self._columns: dict[str, list[int]] = {}
        self._between: dict[frozenset[str], float] = {}
        for j, term in enumerate(data.arrays.column_names):
            self._columns.setdefault(term, []).append(j)

    def terms(self, term: str, other: str) -> tuple[str, float]:
        """Name of the measure and strength in [0, 1] of two terms."""
        first, second = (self._columns.get(name, []) for name in (term, other))
        n_factors = sum(not own or self._column(own[0]).is_factor for own in (first, second))
        return _MEASURES[n_factors], self._strongest(first, second)

    def units(self, unit: str, other: str) -> float:
        """Strength in [0, 1] of two units."""
        pair = frozenset((unit, other))
        if pair not in self._between:
            groups = self._arrays.groups
            first, second = (
                np.flatnonzero(groups.ids == groups.names.index(name)).tolist()
                for name in (unit, other)
            )
            self._between[pair] = self._strongest(first, second)
        return self._between[pair]

    def similarity(self) -> FloatArray:
        """Strengths of all pairs of units, in their order, shape (n_groups, n_groups)."""
        return self.among(self._arrays.groups.names)

    def among(self, units: Sequence[str]) -> FloatArray:
        """The same for some units, in the order given, shape (n_units, n_units), with ones on the
        diagonal. Numbers without missing values are compared all at once."""
        groups = self._arrays.groups
        number = {name: g for g, name in enumerate(groups.names)}
        place = {number[unit]: i for i, unit in enumerate(units)}
        columns = [j for j, g in enumerate(groups.ids.tolist()) if g in place]
        own = np.array([place[g] for g in np.asarray(groups.ids)[columns].tolist()], dtype=np.int64)
        order = np.argsort(own, kind="stable")
        there, first = np.unique(own[order], return_index=True)
        found = np.zeros((len(units), len(units)))
        if len(there):
            between = self._between_columns(columns)[np.ix_(order, order)]
            strongest = np.maximum.reduceat(np.maximum.reduceat(between, first, 0), first, 1)
            found[np.ix_(there, there)] = strongest
        np.fill_diagonal(found, 1.0)
        return found

    def _between_columns(self, columns: Sequence[int]) -> FloatArray:
        """Strengths of all pairs of these columns, as :func:`association` gives them."""
        n = len(columns)
        rows = self._weight > 0
        weight = self._weight[rows]
        coded = [self._column(j) for j in columns]
        whole = np.array(
            [not c.is_factor and bool((c.codes[rows] >= 0).all()) for c in coded], dtype=bool
        )
        together = np.flatnonzero(whole)
        found = np.zeros((n, n))
        if len(together):
            scaled = np.array([_standardised(coded[j].codes[rows], weight) for j in together])
            strength = np.minimum(np.abs(scaled @ scaled.T), 1.0)
            found[np.ix_(together, together)] = strength
        alone = np.flatnonzero(~whole)
        for place, i in enumerate(alone):
            for j in (*together, *alone[place + 1 :]):
                found[i, j] = found[j, i] = association(coded[i], coded[j], self._weight)
        return found

    def _strongest(self, first: Sequence[int], second: Sequence[int]) -> float:
        pairs = itertools.product(first, second)
        strengths = (association(self._column(a), self._column(b), self._weight) for a, b in pairs)
        return max(strengths, default=0.0)

    def _column(self, j: int) -> Coded:
        if j not in self._coded:
            column = self._arrays.columns[j]
            if self._arrays.n_levels[j] is None:
                self._coded[j] = coded_number(column)
            else:  # 0 is missing, 255 none of the column's levels
                self._coded[j] = Coded(column.astype(np.int64) - 1, True)
        return self._coded[j]
