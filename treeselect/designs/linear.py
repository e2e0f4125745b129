"""How a linear model takes missing values, and its splines."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_count, described
from treeselect.brief import brief
from treeselect.designs.columns import TermSpec, in_new_data
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.evaluation import (
    LEAST_DISTINCT,
    MOST_DF,
    TermColumns,
    spline_knots,
    term_matrix,
)
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.designs.weights import median
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.errors import DataError, NewDataError, OptionError, listing, quoted, shortened
from treeselect.frames.values import Labels, read_column, recoded, to_series
from treeselect.running.machine import warn

MissingRule = Literal["drop", "indicator"]


@dataclass(frozen=True, slots=True)
class LinearCoding:
    """How a linear model takes missing values: complete cases; or all rows, with a level
    ``(missing)`` for factors, 0 in all columns for those in an expression, and the median of the
    rows for numbers, the last two with an indicator ``missing(x)``. How many degrees of freedom the
    spline of each number has, or those of some terms. And how the response is distributed."""

    missing: MissingRule = "drop"
    splines: int | Mapping[str, int] = 1
    distribution: str = ""  # of the response, if not that of its family


USUAL = LinearCoding()
"""Complete cases, and no splines."""


# --- missing values ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filling:
    """What replaces missing values: by the names of factors whose missing values are a level, the
    last, their levels; of other variables, which have an indicator, a value, and the term to which
    the indicator belongs, the first that reads the variable."""

    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    term_of: Mapping[str, str] = field(default_factory=dict)

    def fill(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The frame without missing values in the variables that are known here."""
        columns = {str(name): frame[name] for name in frame}
        known = {name: (value, ()) for name, value in self.values.items()}
        known |= {name: (levels[-1], levels) for name, levels in self.levels.items()}
        for name in known.keys() & columns.keys():
            columns[name] = _filled(columns[name], name, *known[name])
        return pd.DataFrame(columns, frame.index)

    def indicators(self, frame: pd.DataFrame) -> dict[str, FloatArray]:
        return {name: frame[name].isna().to_numpy().astype(np.float64) for name in self.values}


def _filled(
    series: pd.Series[Any], name: str, value: Any, levels: tuple[Any, ...]
) -> pd.Series[Any]:
    """The column with a value for missing ones; `levels` of a factor come first."""
    column, gaps = read_column(series, name), series.isna().to_numpy(dtype=bool)
    if isinstance(column, Labels):
        every = tuple(dict.fromkeys([*levels, *column.levels, value]))
        codes = np.where(gaps, every.index(value), recoded(column, every))
        column = Labels(
            codes, every, column.declared or bool(levels), column.ordered and not levels
        )
    else:
        column = dataclasses.replace(column, values=np.where(gaps, value, column.values))
    return to_series(column, series.index)


def learn_filling(frame: pd.DataFrame, terms: Sequence[TermSpec], weight: WeightArray) -> Filling:
    """What replaces the missing values of these rows. A factor that all its terms take as it is has
    a level of its own. Numbers take their median. With the first level, expressions of other
    factors can be computed; see :func:`_neutral`."""
    levels: dict[str, tuple[Any, ...]] = {}
    values: dict[str, Any] = {}
    term_of: dict[str, str] = {}
    for name in frame:
        gaps = frame[name].isna().to_numpy(dtype=bool)
        if not gaps.any() or gaps.all():
            continue
        name = str(name)
        column = read_column(frame[name], name)
        own = [spec for spec in terms if name in spec.term.variables]
        parts = [f for spec in own for f in spec.factors if name in f.factor.variables]
        if not isinstance(column, Labels):
            values[name] = median(column.values[~gaps], weight[~gaps])
        elif all(part.factor.is_plain for part in parts):
            occurring = np.unique(column.codes[~gaps])
            found = tuple(column.levels[code] for code in occurring)
            missing = "(missing)"
            while missing in found:
                missing = f"({missing})"
            levels[name] = (*found, missing)
            continue
        else:
            values[name] = column.levels[int(column.codes[~gaps].min())]
        term_of[name] = own[0].term.name
    return Filling(levels, values, term_of)


def filling_words(filling: Filling, frame: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """How missing values of these rows are taken, in sentences; empty if there are none."""
    said = []
    if filling.levels:
        names = ", ".join(labels.get(name, name) for name in filling.levels)
        said.append(f"Those of {names} are a level of the factor.")
    for name, value in filling.values.items():
        is_number = not isinstance(read_column(frame[name], name), Labels)
        are = "0 in all columns of its terms"
        are = f"replaced by the median of the rows ({value:.6g})" if is_number else are
        said.append(f"Those of {labels.get(name, name)} are {are}, with an indicator.")
    return " ".join(said)


# --- Columns of a linear model: of the rows of the fit, and of new rows --------------------------


@dataclass(frozen=True, slots=True)
class LinearColumns:
    """How the columns of a linear model are made: its terms, what replaces their missing values
    (and in a sentence, which may be empty), the columns of the terms, and the variables with an
    indicator with the place of its column."""

    design: DesignSpec
    terms: tuple[str, ...]
    filling: Filling
    columns: TermColumns
    indicators: tuple[tuple[str, int], ...]
    words: str = ""

    __repr__ = brief

    def encode(self, frame: pd.DataFrame) -> FloatArray:
        """Columns of new rows, shape (n_rows, n_columns); NaN in a row with a missing value that
        nothing replaces, or with a level without a coefficient."""
        self.design.encode(frame, self.terms)  # refuses what does not match
        new = _variables(self.design, frame, self.terms)
        markers = self.filling.indicators(new)
        filled = self.filling.fill(new)
        known = filled.notna().all(axis=1).to_numpy(dtype=bool)
        n_columns = len(self.columns.term_of) + len(self.indicators)
        found = np.full((len(new), n_columns), np.nan)
        if not known.any():
            return found
        rows = filled[known].reset_index(drop=True)
        with in_new_data():
            matrix = np.require(self.columns.again(rows), requirements="W")
            outside = self.columns.outside(rows)
        self._check_levels(rows, outside)
        for unknown in outside.values():
            matrix[unknown] = np.nan
        markers = {name: gaps[known] for name, gaps in markers.items()}
        _neutral(matrix, self.design, self.columns, markers)
        for name, place in self.indicators:
            matrix = np.insert(matrix, place, markers[name], axis=1)
        matrix[~np.isfinite(matrix).all(axis=1)] = np.nan
        found[known] = matrix
        return found

    def _check_levels(self, rows: pd.DataFrame, outside: dict[str, BoolArray]) -> None:
        """Refuse levels of the data of the fit that occur in none of the rows of the model."""
        if self.design.new_levels != "error":
            return
        for name, unknown in outside.items():
            if name not in rows:  # an expression: `C(x, levels=...)` leaves levels out on purpose
                continue
            found = rows[name][unknown]
            level, n = found.iloc[0], int((found == found.iloc[0]).sum())
            raise NewDataError(
                f"Column {quoted(name)} must contain only levels with a coefficient.\n"
                f'  Found: "{shortened(str(level))}" in {n} row{"s" if n > 1 else ""}; no row of'
                " the linear model has it.\n"
                '  Combine it with another level; `missing="indicator"` keeps rows with gaps.'
            )


def _neutral(
    matrix: FloatArray, design: DesignSpec, columns: TermColumns, markers: Mapping[str, FloatArray]
) -> None:
    """Set the columns of terms of factors with an indicator to 0 where these are missing."""
    for name in [name for name in markers if design.schema[name] in ("text", "coded")]:
        terms = (() if t < 0 else columns.terms[t].variables for t in columns.term_of)
        own = np.array([name in variables for variables in terms])
        matrix[np.ix_(markers[name] > 0, own)] = 0.0


def linear_matrix(
    data: ModelData, terms: Sequence[str], rows: IntArray, coding: LinearCoding = USUAL
) -> tuple[pd.DataFrame, list[str], IntArray, LinearColumns]:
    """formulaic's full-rank matrix of some terms, with an intercept: of the rows (by their numbers
    among those used) without a missing value in these terms, or of all if missing values are
    replaced, with the levels that occur in them; the term of each column, ``"Intercept"`` for the
    intercept; the numbers of these rows; and the same columns of other rows."""
    specs = [spec for spec in data.spec.terms if spec.term.name in set(terms)]
    chosen = [spec.term for spec in specs]
    variables = list(dict.fromkeys(v for term in chosen for v in term.variables))
    frame = data.sources[variables].iloc[rows].set_axis(rows, axis=0)
    filling, markers, words = Filling(), {}, ""
    if coding.missing == "indicator":
        filling = learn_filling(frame, specs, data.weight[rows])
        markers = filling.indicators(frame)
        words = filling_words(filling, frame, data.labels)
        frame = filling.fill(frame)
    complete = frame.notna().all(axis=1).to_numpy(dtype=bool)
    frame = frame[complete]
    splines = knots_of(data, terms, rows, coding)
    for name in variables:
        if frame[name].dtype == "category":
            frame[name] = frame[name].cat.remove_unused_categories()
    matrix, columns = term_matrix(data.spec.formula.text, frame, chosen, splines)
    markers = {name: gaps[complete] for name, gaps in markers.items()}
    values = np.require(matrix, requirements="W")
    _neutral(values, data.spec, columns, markers)
    matrix = pd.DataFrame(values, matrix.index, matrix.columns)
    names = [term.name for term in chosen]
    term_of = [names[i] if i >= 0 else INTERCEPT for i in columns.term_of]
    places: list[tuple[str, int]] = []
    for name, gaps in markers.items():
        owner, column = filling.term_of[name], f"missing({name})"
        if column in matrix:
            raise DataError(
                f"No column may be called {quoted(column)}, the name of an indicator.\n"
                "  Rename the column."
            )
        place = max((i for i, t in enumerate(term_of) if t == owner), default=len(term_of) - 1) + 1
        matrix.insert(place, column, gaps)
        term_of.insert(place, owner)
        places.append((name, place))
    used = np.isfinite(matrix.to_numpy()).all(axis=1)
    for outside in columns.outside(frame).values():
        used &= ~outside
    matrix = matrix[used]
    how = LinearColumns(data.spec, tuple(names), filling, columns, tuple(places), words)
    return matrix, term_of, matrix.index.to_numpy(dtype=np.int64), how


def read_splines(splines: object, data: ModelData, selected: Sequence[str]) -> Any:
    """Degrees of freedom of splines, checked: a number for all selected numbers, or by term."""
    if not isinstance(splines, Mapping):
        return check_count("splines", splines, least=2, most=MOST_DF)
    by_term = {
        name: check_count(f"splines[{described(name)}]", df, least=2, most=MOST_DF)
        for name, df in splines.items()
    }
    coding = LinearCoding(splines=by_term)
    knots = knots_of(data, selected, np.arange(len(data.weight)), coding)
    for name in by_term:
        if name not in knots:
            why = "is not selected"
            if name in selected:
                why = f"is no single number with {LEAST_DISTINCT} or more well spread values"
            raise OptionError(
                "`splines` must be a number, or name selected terms that are numbers.\n"
                f"  Found: {quoted(str(name))}, which {why}. Selected: {listing(selected)}."
            )
    return by_term


def knots_of(
    data: ModelData, terms: Sequence[str], rows: IntArray, coding: LinearCoding
) -> dict[str, FloatArray]:
    """The knots of each number among some terms that has a spline: quantiles of its known values
    in these rows. Only a term of a single column and factor has one; products bend as these."""
    names, found = data.arrays.column_names, {}
    for j, name in enumerate(names):
        asked = coding.splines
        df = asked.get(name, 1) if isinstance(asked, Mapping) else asked
        is_number = data.arrays.n_levels[j] is None and names.count(name) == 1
        if df < 2 or name not in terms or not is_number or len(data.spec[name].term.factors) > 1:
            continue
        x = data.arrays.columns[j][rows]
        knots = spline_knots(x[~np.isnan(x)], data.weight[rows][~np.isnan(x)], df + 1)
        if len(knots):
            found[name] = knots
    return found


def knots_words(knots: Mapping[str, FloatArray], labels: Mapping[str, str]) -> str:
    """Knots in words: `age` at 4, 22, 35, 54."""
    return "; ".join(
        f"{labels.get(name, name)} at {', '.join(f'{knot:.6g}' for knot in own)}"
        for name, own in knots.items()
    )


def spline_texts(data: ModelData, knots: Mapping[str, FloatArray]) -> dict[str, str]:
    """The splines in a formula, for formulaic and patsy: natural splines with the same knots."""
    written = {spec.term.name: spec.term.factors[0].written for spec in data.spec.terms}
    return {
        name: f"cr({written[name]}, knots={own[1:-1].tolist()}, lower_bound={own[0].item()},"
        f" upper_bound={own[-1].item()}, constraints='center')"
        for name, own in knots.items()
    }


def _variables(design: DesignSpec, frame: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """Variables of some terms in new data, of the types of the data of the fit. Labels that are not
    levels are missing where ``new_levels="missing"``."""
    specs = [design[name] for name in terms]
    used = {v for spec in specs for v in spec.term.variables}
    columns = {name: design.read(frame, name) for name in design.schema if name in used}
    if design.new_levels == "missing":
        for part in (part for spec in specs for part in spec.factors):
            column = columns.get(part.factor.name)
            if part.factor.is_plain and isinstance(column, Labels):
                own, codes = part.levels or (), recoded(column, part.levels or ())
                columns[part.factor.name] = dataclasses.replace(column, codes=codes, levels=own)
    series = {name: to_series(column) for name, column in columns.items()}
    return pd.DataFrame(series, range(len(frame)))


# --- Missing values of terms, and what they cost a linear model ----------------------------------

_SHARE = 0.05
"""A linear model that drops more than this share of the rows gives a warning."""

POOLED = "`select(formula, frames)` selects and pools over imputed data."
"""What can be done about missing values."""

WAYS_OUT = f'`missing="indicator"` uses these rows, with an indicator of missing values; {POOLED}'


@dataclass(frozen=True, slots=True)
class Gaps:
    """Terms with missing values and in how many rows, most first; and in how many of the rows used
    at least one of the terms is missing."""

    counts: tuple[tuple[str, int], ...]
    n_any: int
    n_rows: int

    @property
    def words(self) -> str:
        """Terms with their numbers of missing values: `age` (177), `embarked` (2)."""
        shown = ", ".join(f"{quoted(name)} ({n:,})" for name, n in self.counts[:8])
        return shown + (f" and {len(self.counts) - 8} more" if len(self.counts) > 8 else "")


def missing_terms(data: ModelData, terms: Iterable[str]) -> dict[str, BoolArray]:
    missing = {name: np.zeros(len(data.row_weights), dtype=bool) for name in terms}
    for name, gaps in zip(data.arrays.column_names, data.arrays.gaps, strict=True):
        if name in missing:
            missing[name] |= gaps
    return missing


def gaps_of(data: ModelData, terms: Sequence[str]) -> Gaps:
    used, missing = data.row_weights.used, missing_terms(data, terms)
    counts = {name: int((rows & used).sum()) for name, rows in missing.items()}
    found = sorted(((name, n) for name, n in counts.items() if n), key=lambda pair: -pair[1])
    every = np.logical_or.reduce([*missing.values(), np.zeros(len(used), dtype=bool)])
    return Gaps(tuple(found), int((every & used).sum()), int(used.sum()))


def warn_of_gaps(
    data: ModelData, terms: Sequence[str], call: str, way_out: str = POOLED, *, splits: bool = False
) -> None:
    """Warn if a linear model of these terms drops more than a twentieth of the rows. `call` is the
    user's. A call that `splits` selects again, and so drops the rows of other terms than these."""
    gaps = gaps_of(data, terms)
    if gaps.n_any <= _SHARE * gaps.n_rows:
        return
    is_all = set(terms) == {spec.term.name for spec in data.spec.terms}
    of = "a term" if is_all else "a selected term"
    n_rows = f"{gaps.n_any:,} of {gaps.n_rows:,}"
    drops = f"drops {n_rows} rows, in which {of} is missing."
    if splits:
        drops = (
            f"drops incomplete cases. For the terms of the fit these are {n_rows} rows, in which"
            f" {of} is missing; each split selects its own terms."
        )
    warn(f"`{call}` {drops}\n  Missing values: {gaps.words}.\n  {way_out}")
