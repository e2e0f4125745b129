"""What is missing, from what is known: the joint normal distribution of coded columns.

Numbers enter as normal scores, factors as indicators of their levels but the most frequent one;
of factors times numbers both do, and their products are those of what is imputed.
Means and covariances are the maximum-likelihood estimates from incomplete rows, by the EM algorithm
(Little and Rubin 2019, section 11.2), with as many pseudo-rows without correlation as there are
dimensions. The response has no part in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray, WeightArray
from treeselect.errors import OptionError

MOST_DIMENSIONS = 400
"""Numbers and levels that an imputer can hold."""

_MOST_LEVELS = 20
"""Levels of a factor that are imputed, the most frequent ones."""

_MOST_KNOTS = 200
_MOST_ROUNDS = 100
_TOLERANCE = 1e-4
_JITTER = 1e-9
_HUGE = 1e300


def _are_tame(*arrays: FloatArray) -> bool:
    return all(bool((np.abs(array) < _HUGE).all()) for array in arrays)


class Margin(NamedTuple):
    """One column: of a number distinct values and their normal scores, both increasing; of a factor
    the codes of its levels, the most frequent first, and no scores. Without values it is left as it
    is."""

    values: FloatArray
    scores: FloatArray

    @property
    def size(self) -> int:
        return min(len(self.scores), 1) if len(self.scores) else max(len(self.values) - 1, 0)

    def holds(self, n_levels: int | None) -> bool:
        """Whether it can be that of a column with this number of levels."""
        values, scores = self
        n = 0 if n_levels is not None else values.size
        if values.ndim != 1 or scores.shape != (n,) or not _are_tame(values, scores):
            return False
        rises = bool((np.diff(values) > 0).all() and (np.diff(scores) > 0).all())
        return rises if n_levels is None else set(values) <= set(range(1, n_levels + 1))

    def coded(self, column: NDArray[Any]) -> FloatArray:
        """The column in the dimensions, shape (n_rows, size); NaN where it is missing."""
        if len(self.scores):
            return np.interp(column, self.values, self.scores)[:, np.newaxis]
        found = (column[:, np.newaxis] == self.values[1:]).astype(np.float64)
        found[column == 0] = np.nan
        return found

    def filled(self, column: NDArray[Any], expected: FloatArray) -> NDArray[Any]:
        """The column with its missing values replaced: by the value of the expected score, or the
        most probable level."""
        if len(self.scores):
            return np.where(
                np.isnan(column), np.interp(expected[:, 0], self.scores, self.values), column
            )
        if not len(self.values):
            return column
        shares = np.column_stack([1 - expected.sum(axis=1), expected])
        likely = self.values[shares.argmax(axis=1)].astype(column.dtype)
        return np.where(column == 0, likely, column)


@dataclass(frozen=True, slots=True)
class Imputer:
    """Regression imputation: each missing value is the one expected from the known values of its
    row."""

    margins: tuple[Margin, ...]  # one for each part
    mean: FloatArray  # (n_dimensions,)
    covariance: FloatArray  # (n_dimensions, n_dimensions)
    blocks: tuple[Block, ...] = ()  # all columns; a file need not have them

    __repr__ = brief

    def only(self, columns: BoolArray) -> Imputer:
        """The same of some columns, those of terms, from which each other is then expected."""
        begin = np.cumsum([0, *(_width(*block) for block in self.blocks)])[:-1]
        parts = np.repeat(columns[begin], [(n is not None) + k for n, k in self.blocks])
        own = np.repeat(parts, [margin.size for margin in self.margins])
        kept, blocks = compress(self.margins, parts), compress(self.blocks, columns[begin])
        return Imputer(
            tuple(kept), self.mean[own], self.covariance[np.ix_(own, own)], tuple(blocks)
        )

    @property
    def is_sound(self) -> bool:
        """Whether it can be that of its columns: a file may be hostile."""
        n, covariance, levels = len(self.mean), self.covariance, _levels(self.blocks)
        margins = zip(self.margins, levels, strict=False)
        return (
            len(self.margins) == len(levels)
            and all(margin.holds(most) for margin, most in margins)
            and self.mean.shape == (sum(margin.size for margin in self.margins),)
            and covariance.shape == (n, n)
            and n <= MOST_DIMENSIONS
            and _are_tame(self.mean, covariance)
            and bool((covariance == covariance.T).all())
            and (n == 0 or float(np.linalg.eigvalsh(covariance).min()) > -_JITTER / 10)
        )

    def fill(self, columns: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
        """The columns without missing values."""
        if not columns:
            return ()
        parts = _parts(columns, self.blocks)
        z = _dimensions(self.margins, parts)
        expected = expect(z, self.mean, self.covariance, np.zeros(len(z)))[0]
        each = np.split(expected, np.cumsum([margin.size for margin in self.margins])[:-1], axis=1)
        known = zip(self.margins, parts, each, strict=True)
        filled = iter([margin.filled(part, own) for margin, part, own in known])
        found: list[NDArray[Any]] = []
        for n, k in self.blocks:
            own = list(islice(filled, (n is not None) + k))
            found += _multiplied(own, n) if n and k else own
        return tuple(found)


# --- Factors, numbers, and products of them, of which the factor and the numbers are imputed -----

Block = tuple[int | None, int]
"""Number of levels, None without a factor, and how many numbers there are: of one column, or of a
product, which has a column for each level and number. Its parts are the code of the level and the
numbers. A factor whose levels are 0 is left as it is."""


def _width(n: int | None, k: int) -> int:
    return k * (n or 1) if k else 1


def _levels(blocks: Sequence[Block]) -> list[int | None]:
    return [own for n, k in blocks for own in [*[n] * (n is not None), *[None] * k]]


def _parts(columns: Iterable[NDArray[Any]], blocks: Sequence[Block]) -> list[NDArray[Any]]:
    each, found = iter(columns), []
    for n, k in blocks:
        own = list(islice(each, _width(n, k)))
        found += _divided(own, n, k) if n and k else own
    return found


def _divided(columns: list[FloatArray], n: int, k: int) -> list[NDArray[Any]]:
    """The code is 0 where the level is missing, or a product with 0."""
    each = np.stack(columns).reshape(n, k, -1)
    here = (each != 0).any(axis=1)
    return [np.where(here.sum(axis=0) == 1, here.argmax(axis=0) + 1, 0), *each.sum(axis=0)]


def _multiplied(parts: list[NDArray[Any]], n: int) -> list[FloatArray]:
    code, *numbers = parts
    lost = [np.where((code == 0) & (number != 0), np.nan, 0.0) for number in numbers]
    pairs = list(zip(numbers, lost, strict=True))
    return [np.where(code == c, x, rest) for c in range(1, n + 1) for x, rest in pairs]


def learn_imputer(
    columns: Sequence[NDArray[Any]], blocks: tuple[Block, ...], weight: WeightArray
) -> Imputer:
    """Learn from the rows with a weight."""
    rows = np.flatnonzero(weight)
    mass = weight[rows].astype(np.float64)
    own = _parts((column[rows] for column in columns), blocks)
    margins = tuple(
        _number(part, mass) if n is None else _factor(part, mass, n)
        for part, n in zip(own, _levels(blocks), strict=True)
    )
    n_dimensions = sum(margin.size for margin in margins)
    if n_dimensions > MOST_DIMENSIONS:
        raise OptionError(
            f'`missing="impute"` needs at most {MOST_DIMENSIONS} numbers and levels of factors in'
            f" the candidate terms.\n  Found: {n_dimensions:,}. Leave terms out, select with"
            ' `missing="level"`, or give imputed frames as a list.'
        )
    return Imputer(margins, *estimate(_dimensions(margins, own), mass, n_dimensions), blocks)


def _dimensions(margins: Sequence[Margin], columns: Sequence[NDArray[Any]]) -> FloatArray:
    return np.hstack([m.coded(column) for m, column in zip(margins, columns, strict=True)])


def _number(column: FloatArray, mass: FloatArray) -> Margin:
    known = ~np.isnan(column)
    values, at = np.unique(column[known], return_inverse=True)
    counts = np.bincount(at, mass[known], len(values))
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), _JITTER)
    if len(values) > _MOST_KNOTS:
        # both neighbours, so that the knots of -x are those of x
        grid = np.round(np.linspace(middle[0], middle[-1], _MOST_KNOTS // 2), 9)
        sides = [np.searchsorted(np.round(middle, 9), grid, side) for side in ("left", "right")]
        few = np.union1d(sides[0], sides[1] - 1)
        values, middle = values[few], middle[few]
    return Margin(values, np.array([NormalDist().inv_cdf(share) for share in middle.tolist()]))


def _factor(column: NDArray[Any], mass: FloatArray, n_levels: int) -> Margin:
    counts = np.bincount(column, mass) if n_levels else np.zeros(1)
    counts[0] = 0
    order = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
    return Margin(order[counts[order] > 0].astype(np.float64), np.empty(0))


def estimate(z: FloatArray, mass: FloatArray, n_prior: float) -> tuple[FloatArray, FloatArray]:
    """Means and covariances of rows with missing values (NaN): EM, until no mean or covariance
    moves by more than a ten-thousandth of its scale."""
    total = mass.sum()
    known = ~np.isnan(z)
    seen = np.maximum(mass @ known, _JITTER)
    mean = mass @ np.where(known, z, 0.0) / seen
    spread = np.maximum(mass @ np.where(known, (z - mean) ** 2, 0.0) / seen, _JITTER)
    covariance, scale = np.diag(spread), np.sqrt(spread)
    for _ in range(_MOST_ROUNDS):
        filled, rest = expect(z, mean, covariance, mass)
        new = mass @ filled / total
        away = filled - new
        raw = ((away.T * mass) @ away + rest) / total
        raw = (total / 2 * (raw + raw.T) + n_prior * np.diag(np.diag(raw))) / (total + n_prior)
        moved = max(
            np.abs((new - mean) / scale).max(initial=0.0),
            np.abs((raw - covariance) / np.outer(scale, scale)).max(initial=0.0),
        )
        mean, covariance = new, raw
        if moved < _TOLERANCE:
            break
    return mean, covariance


def expect(
    z: FloatArray, mean: FloatArray, covariance: FloatArray, mass: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The rows with what is expected from the known values of each, and the sum of the covariances
    of what is missing, by mass."""
    filled, rest = z.copy(), np.zeros_like(covariance)
    odd = np.flatnonzero(np.isnan(z).any(axis=1))
    if not len(odd):
        return filled, rest
    patterns, place = np.unique(~np.isnan(z[odd]), axis=0, return_inverse=True)
    for i, known in enumerate(patterns):
        rows, gaps = odd[place.ravel() == i], ~known
        inside = covariance[np.ix_(known, known)] + _JITTER * np.eye(int(known.sum()))
        slopes = np.linalg.solve(inside, covariance[np.ix_(known, gaps)])
        filled[np.ix_(rows, gaps)] = mean[gaps] + (z[np.ix_(rows, known)] - mean[known]) @ slopes
        left = covariance[np.ix_(gaps, gaps)] - covariance[np.ix_(gaps, known)] @ slopes
        rest[np.ix_(gaps, gaps)] += mass[rows].sum() * left
    return filled, rest
