"""Where the effects of the selected terms are read: points of their shapes, ends of their steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.designs.columns import TermSpec
from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.data.binning import MAX_BINS, OTHER
from treeselect.engine.rounding import at_least, falling
from treeselect.models.probing import Probes, TermProbe
from treeselect.resampling.fit import LEVELS, NONE, QUARTILES, RANGE, VALUES, Contrast
from treeselect.results.curves import MISSING, value_text
from treeselect.results.interactions import pair_points
from treeselect.results.shapes import (
    MOST_LEVELS,
    MOST_ROWS,
    coded_rows,
    columns_of,
    number_behind,
    points_of,
    sample_rows,
)

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class Points:
    """Where effects are read, and what is read of them.

    Attributes
    ----------
    terms : tuple of str
        Selected ones, most important first.
    probes : Probes
        Of each.
    along : tuple of (ndarray of float, or None)
        Of each term that goes along a number: its value at the points of the shape, missing where
        the number is.
    is_factor : tuple of bool
    contrasts : tuple of Contrast
    ends : ndarray of int64, shape (n_contrasts, 2)
        Where start and end of each stand among the ends of all terms; -1 if there is no step.
    """

    terms: tuple[str, ...]
    probes: Probes
    along: tuple[FloatArray | None, ...]
    is_factor: tuple[bool, ...]
    contrasts: tuple[Contrast, ...]
    ends: IntArray


@dataclass(frozen=True, slots=True)
class _Step:
    """A step between two rows of the data, which stand for its ends."""

    name: str
    start: str = ""
    end: str = ""
    rows: tuple[int, ...] = ()


def effect_points(result: Fit, most: int | None = None) -> Points:
    """Where the effects of the selected terms are read, or of the most important of them.

    Raises
    ------
    DataError
        If the model was saved without its data.
    """
    sample = sample_rows(result, MOST_ROWS)
    weight, terms = result.design.weight.astype(np.float64), result.selected[:most]
    grids = [points_of(result, sample, term) for term in terms]
    found = [_steps(result, term, weight) for term in terms]
    end_rows = [[row for step in steps for row in step.rows] for _, steps in found]
    points = [np.array([*grid, *ends]) for (grid, _), ends in zip(grids, end_rows, strict=True)]
    rows = np.concatenate([sample.rows, *points]).astype(np.int64)
    first = len(sample.rows)
    probes = []
    for term, (grid, share), own, (values, _) in zip(terms, grids, points, found, strict=True):
        at = np.arange(first, first + len(own))
        first += len(own)
        probes.append(
            TermProbe(
                columns=columns_of(result, term),
                grid=at[: len(grid)],
                ends=at[len(grid) :],
                share=share,
                by_level=values is None,
            )
        )
    own_weight = np.where(np.arange(len(rows)) < len(sample.rows), weight[rows], 0.0)
    return Points(
        terms=terms,
        probes=Probes(
            coded_rows(result, rows), rows, own_weight, tuple(probes), pair_points(result)
        ),
        along=tuple(
            None if values is None else values[grid]
            for (values, _), (grid, _) in zip(found, grids, strict=True)
        ),
        is_factor=tuple(result.design.spec[t].kind == "factor" for t in terms),
        contrasts=tuple(
            Contrast(number, step.name, step.start, step.end)
            for number, (_, steps) in enumerate(found)
            for step in steps
        ),
        ends=_pairs([step for _, steps in found for step in steps]),
    )


def _pairs(steps: list[_Step]) -> IntArray:
    """Numbers of the ends of each step, two by two."""
    pairs, n = [], 0
    for step in steps:
        pairs.append((n, n + 1) if step.rows else (-1, -1))
        n += len(step.rows)
    return np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)


def _steps(result: Fit, term: str, weight: FloatArray) -> tuple[FloatArray | None, list[_Step]]:
    """The number that a term goes along, of all rows, if there is one; and its steps."""
    spec, columns = result.design.spec[term], columns_of(result, term)
    own = [result.design.arrays.columns[j] for j in columns]
    if spec.kind == "factor":
        return None, _level_steps(spec, own, weight)
    every = np.arange(len(weight))
    values = number_behind(result, term, every)
    if values is None and len(own) == 1:
        values = own[0]
    if values is None:
        return None, [_Step(NONE)]
    known = ~np.isnan(values) & ~np.isnan(np.column_stack(own)).any(axis=1)
    values = np.where(known, values, np.nan)
    return values, [_number_step(values, known, weight, spec.kind == "logical")]


# --- numbers -----------------------------------------------------------------------------------


def _number_step(values: FloatArray, known: BoolArray, weight: FloatArray, is_bool: bool) -> _Step:
    """From the lower to the upper quartile; of two values, and where the quartiles are the same,
    from the least to the largest."""
    rows = np.flatnonzero(known)
    order = rows[np.argsort(values[rows], kind="stable")]
    distinct = np.unique(values[rows])
    if len(distinct) < 2:
        return _Step(NONE)
    low, high = quartile_rows(values[order], weight[order])
    start, end, name = order[low], order[high], QUARTILES
    if len(distinct) == 2 or values[start] == values[end]:
        start, end = order[0], order[-1]
        name = VALUES if len(distinct) == 2 else RANGE
    texts = _two_texts(float(values[start]), float(values[end]), is_bool)
    return _Step(name, *texts, (int(start), int(end)))


def quartile_rows(values: FloatArray, weight: FloatArray) -> tuple[int, int]:
    """Places of the quartiles among sorted values: the least value that a quarter of the weight is
    not above, and the largest that a quarter is not below."""
    total = weight.sum()
    below, above = np.cumsum(weight), np.cumsum(weight[::-1])
    low = int(np.argmax(at_least(below, total / 4)))
    high = len(values) - 1 - int(np.argmax(at_least(above, total / 4)))
    return low, high


def _two_texts(start: float, end: float, is_bool: bool) -> tuple[str, str]:
    """Two different values in as few digits as tell them apart, four at least."""
    if is_bool:
        return str(bool(start)), str(bool(end))
    for digits in range(4, 17):
        texts = f"{start:.{digits}g}", f"{end:.{digits}g}"
        if texts[0] != texts[1]:
            break
    if digits == 4:
        return value_text(start), value_text(end)
    return texts


# --- levels ------------------------------------------------------------------------------------


def _level_steps(spec: TermSpec, columns: list[AnyArray], weight: FloatArray) -> list[_Step]:
    """From the most frequent level to each of the others, of many the most frequent hundred, and to
    what is missing."""
    level = _level_numbers(columns)
    names = _level_names(spec)
    share = np.asarray(np.bincount(level + 1, weight, len(names) + 1), dtype=np.float64)
    known = np.flatnonzero(share[1:] > 0)
    order = known[falling(share[1:][known])]
    if not len(order) or (len(order) == 1 and share[0] == 0):
        return [_Step(NONE)]
    first = np.full(len(names) + 1, -1)
    there = np.flatnonzero(weight > 0)[::-1]
    first[level[there] + 1] = there
    reference = int(order[0])
    others = sorted(order[1:MOST_LEVELS].tolist())
    others += [-1] if share[0] > 0 else []
    return [
        _Step(
            LEVELS,
            names[reference],
            names[other] if other >= 0 else MISSING,
            (int(first[reference + 1]), int(first[other + 1])),
        )
        for other in others
    ]


def _level_numbers(columns: list[AnyArray]) -> IntArray:
    """Number of the level of each row, -1 where it is missing."""
    found = np.full(len(columns[0]), -1, dtype=np.int64)
    for i, column in enumerate(columns):
        inside = (column > 0) & (column != OTHER)
        found[inside] = i * MAX_BINS + column[inside].astype(np.int64) - 1
    return found


def _level_names(spec: TermSpec) -> list[str]:
    factors = [spec.factors[i].levels or () for i in spec.order]
    if spec.combinations is None:
        return [value_text(level) for level in factors[0]]
    return [
        ":".join(value_text(factors[i][at]) for i, at in enumerate(one))
        for one in spec.combinations
    ]
