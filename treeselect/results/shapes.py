"""Shapes of terms, and of two together: partial dependence of the final model, in words.

Numbers only; figures are made of them by ``plots`` and ``reports``.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import found_near, is_one_of
from treeselect.designs.evaluation import missing_rows
from treeselect.designs.problem import CodedColumns
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.columns import BinnedData, take_rows
from treeselect.engine.forest import dependence
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, listing, quoted
from treeselect.frames.values import Labels, Numbers, read_column
from treeselect.models.probing import n_outputs_of, scorer_of
from treeselect.printing import decimal_text, significant_text
from treeselect.resampling.agreement import known_quantiles
from treeselect.resampling.fit import LEAST_RESAMPLES, Fit

MOST_ROWS = 1000
"""Rows that effects are averaged over; of more a sample."""

_MOST_POINTS = 40
_PAIR_POINTS = 12
"""Points of the grid of a term alone, and of each of two."""

MOST_LEVELS = 100
"""Levels of a factor that have a point each."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows to average over, binned as the model wants them, with a group for each term."""

    score: Callable[[BinnedData], FloatArray]
    data: BinnedData
    weight: FloatArray
    rows: IntArray
    terms: tuple[str, ...]
    along: Mapping[str, FloatArray]
    # rows that stand at no point of the grid of a term: the model imputes it, or the level is rare
    imputed: Mapping[str, BoolArray]
    rare: Mapping[str, BoolArray]

    def placed(self, terms: Sequence[str], *, rare: bool = True) -> Sample:
        """The rows that stand at a point, or, unless levels may be `rare`, would."""
        kinds = (self.imputed, self.rare)[: 1 + rare]
        gaps = np.logical_or.reduce([kind[term] for kind in kinds for term in terms])
        if not gaps.any() or gaps.all():
            return self
        own = np.flatnonzero(~gaps)
        along = {term: values[own] for term, values in self.along.items()}
        data, weight, rows = take_rows(self.data, own), self.weight[own], self.rows[own]
        return dataclasses.replace(self, data=data, weight=weight, rows=rows, along=along)

    def effect(self, terms: Sequence[str], most: int, placed: Sample) -> dependence.Dependence:
        groups = [self.terms.index(term) for term in terms]
        along = [placed.along.get(term) for term in terms]
        found = dependence.partial_dependence(
            self.score, placed.data, placed.weight, groups, max_points=most, along=along
        )
        if placed is self:
            return found
        mean = dependence.mean_at(self.score, self.data, self.weight, found.columns, found.points)
        return found._replace(mean=mean)


def sample_rows(result: Fit, most: int) -> Sample:
    problem, weight = result.design.problem, result.design.weight  # asks for the data
    rows = np.flatnonzero(weight)
    if len(rows) > most:
        rng = np.random.default_rng(stream_seed(result.seed, "shape"))
        rows = np.sort(rng.choice(rows, most, replace=False))
    arrays, model = result.design.arrays, result.model
    own = np.flatnonzero(model.groups[problem.groups.ids])
    columns = tuple(arrays.columns[j][rows] for j in own)
    data = model.bin(arrays, columns)
    terms = tuple(dict.fromkeys(arrays.column_names[j] for j in own))
    imputed = {term: imputed_rows(result, term)[rows] for term in terms}
    of_column = np.array([terms.index(arrays.column_names[j]) for j in own], dtype=np.int64)
    bins = model.own_bins(arrays)
    if bins is not None:
        of_column = of_column[bins.source]
    data = data._replace(group_of=of_column.astype(data.group_of.dtype))
    along = {term: number_behind(result, term, rows) for term in terms}
    known = {term: number for term, number in along.items() if number is not None}
    mass, rare = weight[rows].astype(np.float64), {}
    for i, term in enumerate(terms):
        level = np.zeros(len(rows), dtype=np.int64)
        if result.design.spec[term].kind == "factor":
            codes = dependence.codes_of(data, np.flatnonzero(data.group_of == i))
            level = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
        rare[term] = np.isin(
            level, np.argsort(-np.bincount(level, mass), kind="stable")[MOST_LEVELS:]
        )
    score = scorer_of(model, data, model.filled(columns))
    return Sample(score, data, mass, rows, terms, known, imputed, rare)


def imputed_rows(result: Fit, term: str) -> BoolArray:
    """Rows of the data in which the final model imputes a term, a missing one."""
    arrays, model = result.design.arrays, result.model
    own = np.flatnonzero(model.groups[arrays.groups.ids])
    columns = tuple(arrays.columns[j] for j in own)
    found = np.zeros(len(columns[0]), dtype=bool)
    if model.imputer is not None:
        for j, before, after in zip(own, columns, model.filled(columns), strict=True):
            if arrays.column_names[j] == term:
                found |= (before != after) & (after == after)  # NaN equals nothing
    return found


def number_behind(result: Fit, term: str, rows: IntArray) -> FloatArray | None:
    """The one number of which a transform, spline or polynomial is a function; else None."""
    spec = result.design.spec
    if spec[term].term.is_plain or spec[term].kind == "factor":
        return None
    variables = spec[term].term.variables
    if len(variables) != 1 or spec.schema[variables[0]] != "number":
        return None
    values = result.design.sources[variables[0]].iloc[rows]
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def points_of(result: Fit, sample: Sample, term: str) -> tuple[IntArray, FloatArray]:
    """The points of a term: rows of the data that stand there, in order, and shares of rows."""
    placed = sample.placed([term])
    rows, place = grid_rows(placed, term, _most_points(result, [term], placed, _MOST_POINTS))
    share = np.bincount(place, placed.weight / placed.weight.sum(), len(rows))
    return rows, np.asarray(share, dtype=np.float64)


def grid_rows(sample: Sample, term: str, most: int) -> tuple[IntArray, IntArray]:
    """Rows that stand at the points of a grid, in order, and the point of each row."""
    columns, points, place = dependence.grid_of(
        sample.data, sample.weight, sample.terms.index(term), most, sample.along.get(term)
    )
    exact = np.flatnonzero((dependence.codes_of(sample.data, columns) == points[place]).all(axis=1))
    first = np.unique(place[exact], return_index=True)[1]
    return sample.rows[exact[first]], place


def columns_of(result: Fit, term: str) -> IntArray:
    names = result.design.arrays.column_names
    return np.array([j for j, name in enumerate(names) if name == term], dtype=np.int64)


def coded_rows(result: Fit, rows: IntArray) -> CodedColumns:
    """Some rows of the coded data, as often as they are named."""
    arrays = result.design.arrays
    return dataclasses.replace(
        arrays,
        columns=tuple(column[rows] for column in arrays.columns),
        binned=take_rows(arrays.binned, rows),
    )


def shape_table(result: Fit, term: str, other: str | None) -> pd.DataFrame:
    """One row per point (see ``ModelView.shape``)."""
    terms = [selected_term(result, *named) for named in given_terms(term, other)]
    if len(set(terms)) < len(terms):
        raise OptionError(f"`other` must not be `term`.\n  Found: {quoted(terms[0])} for both.")
    behind = [set(result.design.spec[name].term.variables) for name in terms]
    shared = sorted(set.intersection(*behind)) if len(terms) == 2 else []
    if shared:
        raise OptionError(
            f"`other` must have other variables than `term`.\n  Found: {listing(shared)} in both."
        )
    sample = sample_rows(result, MOST_ROWS)
    usual = _MOST_POINTS if other is None else _PAIR_POINTS
    placed, part = sample.placed(terms), sample.placed(terms, rare=False)
    found = sample.effect(terms, _most_points(result, terms, placed, usual), placed)
    share = found.share
    words, order = _points_in_words(result, terms, placed, found)
    table: dict[str, Any] = {name: pd.Series(values) for name, values in words.items()}
    table["share"] = share * (placed.weight.sum() / part.weight.sum())
    band = None
    if other is None and result.effect_record is not None:
        band = result.effect_record.band(terms[0])
        band = band if len(band[0]) == len(share) else None
    for k, name in enumerate(output_names(result)):
        mean = found.mean[:, k]
        table[f"mean{name}"] = mean
        if other is None:
            table[f"effect{name}"] = mean - share @ mean
            if band is not None:
                table[f"low{name}"], table[f"high{name}"] = band[0][:, k], band[1][:, k]
        else:
            sizes = int(found.sizes[0]), int(found.sizes[1])
            table[f"interaction{name}"] = dependence.beyond_both(found.mean, share, sizes)[:, k]
    frame = pd.DataFrame(table).iloc[order]
    return frame[frame["share"] > 0].reset_index(drop=True)


def value_column(result: Fit, variable: str) -> str:
    """Column of a shape's table that holds a variable: its name, unless a number has that name."""
    taken = {f"{kind}{name}" for kind in _SHAPE_NUMBERS for name in output_names(result)}
    taken.add("share")
    name = variable
    while name in taken or (name != variable and name in result.variables):
        name += "_value"
    return name


_SHAPE_NUMBERS = ("mean", "effect", "interaction", "low", "high")


def given_terms(term: object, other: object) -> list[tuple[object, str]]:
    """The terms of a shape with the names of the arguments."""
    return [(term, "term"), (other, "other")][: 1 if other is None else 2]


def selected_term(result: Fit, term: object, argument: str) -> str:
    """The selected term that an argument names."""
    if is_one_of(term, result.selected):
        return term
    selected = f"Selected: {listing(result.selected) or 'nothing'}."
    raise OptionError(
        f"`{argument}` must be a selected term.\n{found_near(term, result.selected, selected)}"
    )


def output_names(result: Fit) -> list[str]:
    classes = result.design.response.classes
    return [f"_{label}" for label in classes] if len(classes) > 2 else [""]


def _points_in_words(
    result: Fit, terms: Sequence[str], sample: Sample, found: dependence.Dependence
) -> tuple[dict[str, list[Any]], IntArray]:
    """Labels of the points, and their order: ascending, levels in theirs, missing last."""
    words: dict[str, list[Any]] = {}
    keys: list[FloatArray] = []
    points = np.unravel_index(np.arange(len(found.points)), tuple(found.sizes))
    places = np.unravel_index(found.place, tuple(found.sizes))
    for term, size, point, place in zip(terms, found.sizes, points, places, strict=True):
        is_exact = _stands_at_its_point(sample, term, found, point, place)
        for name, axis in _axes(result, term, sample).items():
            own = _in_words(axis, place, is_exact, int(size))
            words[value_column(result, name)] = [own[p] for p in point]
            keys.append(_order_of(words[value_column(result, name)], axis))
    return words, np.lexsort(keys[::-1])


def _stands_at_its_point(
    sample: Sample, term: str, found: dependence.Dependence, point: IntArray, place: IntArray
) -> BoolArray:
    """Whether each row has the codes of its point in the columns of a term."""
    own = np.flatnonzero(sample.data.group_of == sample.terms.index(term)).tolist()
    at = [int(np.flatnonzero(found.columns == j)[0]) for j in own]
    first = np.unique(point, return_index=True)[1]
    codes = np.column_stack([sample.data.column(j) for j in own])
    return np.asarray((codes == found.points[first][:, at][place]).all(axis=1))


def _axes(result: Fit, term: str, sample: Sample) -> dict[str, Numbers | Labels]:
    """The variables that label the points of a term, or the term itself if it is a product."""
    design = result.design
    columns = [j for j, name in enumerate(design.arrays.column_names) if name == term]
    variables = design.spec[term].term.variables
    is_number = [design.arrays.n_levels[j] is None for j in columns] == [True]
    if is_number and len(variables) > 1:
        return {term: Numbers(design.arrays.columns[columns[0]][sample.rows])}
    parts = {name: read_column(design.sources[name].iloc[sample.rows], name) for name in variables}
    missing = missing_rows(parts)
    return {name: _without(part, missing) for name, part in parts.items()}


def _without(part: Numbers | Labels, missing: BoolArray) -> Numbers | Labels:
    """A term with a missing part is missing as a whole."""
    if isinstance(part, Numbers):
        return dataclasses.replace(part, values=np.where(missing, np.nan, part.values))
    return dataclasses.replace(part, codes=np.where(missing, -1, part.codes))


def _most_points(result: Fit, terms: Sequence[str], sample: Sample, usual: int) -> int:
    """Points for a term: levels are not thinned as numbers are."""
    axes = [axis for term in terms for axis in _axes(result, term, sample).values()]
    levels = [len(axis.levels) for axis in axes if isinstance(axis, Labels)]
    return max([usual, *(min(n + 1, MOST_LEVELS) for n in levels)])


def _in_words(axis: Numbers | Labels, place: IntArray, is_exact: BoolArray, n: int) -> list[Any]:
    """What stands for each of n points: of numbers the mean of the rows there, else their level, or
    levels."""
    if isinstance(axis, Numbers):
        known = is_exact & ~np.isnan(axis.values)
        count = np.bincount(place[known], minlength=n)
        # By a power of two, which rounds nothing: sums of huge numbers are not numbers.
        values = axis.values[known]
        room = 64 if np.abs(values).max(initial=0.0) > 1e280 else 0
        total = np.bincount(place[known], weights=np.ldexp(values, -room), minlength=n)
        means = np.where(count > 0, np.ldexp(total / np.maximum(count, 1), room), np.nan)
        return [None if v != v else bool(v) for v in means] if axis.is_bool else means.tolist()
    known = is_exact & (axis.codes >= 0)
    found: list[list[Any]] = [[] for _ in range(n)]
    for at, code in np.unique(np.column_stack([place[known], axis.codes[known]]), axis=0).tolist():
        found[at].append(axis.levels[code])
    # A product of a level and nothing is the same for all levels.
    return [
        " or ".join(map(str, own)) if len(own) > 1 else own[0] if own else None for own in found
    ]


def _order_of(values: Sequence[Any], axis: Numbers | Labels) -> FloatArray:
    """Keys by which points are sorted."""
    if isinstance(axis, Numbers):
        return np.array(values, dtype=np.float64)
    place = {level: float(k) for k, level in enumerate(axis.levels)}
    return np.array([place.get(value, np.inf) for value in values])


# --- intervals over resamples ---------------------------------------------------------------------


def intervals(values: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Percentiles 2.5 and 97.5 over the resamples, if the value is known in at least 20."""
    count = (~np.isnan(values)).sum(axis=0)
    low, high = np.where(count >= LEAST_RESAMPLES, known_quantiles(values), np.nan)
    return low, high, count.astype(np.int64)


def stacked(parts: Sequence[FloatArray], shape: tuple[int, int]) -> FloatArray:
    return np.stack(parts) if parts else np.empty((0, *shape))


# --- interactions of pairs of terms --------------------------------------------------------------

_MOST_TERMS = 10
_GRID_POINTS = 6
_MOST_ROWS = 200
"""The strengths of all pairs take n (n - 1) / 2 grids: these are coarse, of the first terms."""


def _pairs_of(result: Fit) -> list[tuple[str, str]]:
    """Pairs of the first terms; of terms with a variable in common neither can change alone."""
    spec = result.design.spec
    return [
        (a, b)
        for a, b in itertools.combinations(result.selected[:_MOST_TERMS], 2)
        if set(spec[a].term.variables).isdisjoint(spec[b].term.variables)
    ]


def interaction_table(result: Fit) -> pd.DataFrame:
    """One row per pair of terms (see ``ModelView.interactions``)."""
    pairs = _pairs_of(result)
    strength, size = _strengths(result, pairs).T
    frame = pd.DataFrame({
        "term": [a for a, _ in pairs], "other": [b for _, b in pairs], "strength": strength,
        "size": size,
    })  # fmt: skip
    frame = frame.dropna(subset=["strength"])  # no row has both terms without imputation
    return frame.sort_values("size", ascending=False, kind="stable", ignore_index=True)


def _strengths(result: Fit, pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """Strength and size of the interaction of each pair, shape (n_pairs, 2); NaN if no row has
    both."""
    found = np.full((len(pairs), 2), np.nan)
    if not pairs:
        return found
    sample = sample_rows(result, _MOST_ROWS)
    share, of_term = sample.weight / sample.weight.sum(), {}
    for term in {term for pair in pairs for term in pair}:
        placed, place = sample.placed([term]), np.full(len(sample.rows), -1)
        grid, place[np.isin(sample.rows, placed.rows)] = grid_rows(placed, term, _GRID_POINTS)
        columns = np.flatnonzero(sample.data.group_of == sample.terms.index(term))
        codes = dependence.codes_of(sample.data, columns)[np.searchsorted(sample.rows, grid)]
        of_term[term] = columns, codes, place
    for n, pair in enumerate(pairs):
        (one, first, at_first), (two, second, at_second) = (of_term[term] for term in pair)
        told = np.flatnonzero((at_first >= 0) & (at_second >= 0))
        if not len(told):
            continue
        points = np.hstack(
            [np.repeat(first, len(second), axis=0), np.tile(second, (len(first), 1))]
        )
        at = at_first[told] * len(second) + at_second[told]
        cells = np.bincount(at, share[told] / share[told].sum(), len(points)).astype(np.float64)
        held = cells > 0  # others do not enter the strength, and prediction takes most of the time
        mean = np.zeros((len(points), n_outputs_of(result.model.family)))
        mean[held] = dependence.mean_at(
            sample.score, sample.data, sample.weight, np.concatenate([one, two]), points[held]
        )
        found[n] = dependence.strength(mean, cells, (len(first), len(second)))
    return found


def strength_texts(table: pd.DataFrame) -> list[str]:
    """Size and strength of each pair in words."""
    return [
        f"{significant_text(row['size'], 3)}, strength {decimal_text(row['strength'], 2)}"
        for row in table.to_dict("records")
    ]
