"""Columns of a linear model: of the rows of the fit, and of new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.brief import brief
from treeselect.designs.encoding import DesignSpec
from treeselect.designs.linear_coding import (
    USUAL,
    Filling,
    LinearCoding,
    filling_words,
    is_ordered,
    learn_filling,
)
from treeselect.designs.matrix import Recoded, TermColumns, term_matrix
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.designs.new_columns import read_learned
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import DataError, NewDataError, quoted
from treeselect.frames.values import Labels, to_series
from treeselect.shown import shown

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class LinearColumns:
    """How the columns of a linear model are made.

    Attributes
    ----------
    design : DesignSpec
    terms : tuple of str
        Terms of the model.
    filling : Filling
        What replaces missing values.
    columns : TermColumns
        The columns of the terms.
    indicators : tuple of (str, int)
        Variables with an indicator, and the place of its column in the matrix.
    words : str
        What replaces missing values, in a sentence; may be empty.
    """

    design: DesignSpec
    terms: tuple[str, ...]
    filling: Filling
    columns: TermColumns
    indicators: tuple[tuple[str, int], ...]
    words: str = ""

    __repr__ = brief

    def encode(self, frame: pd.DataFrame) -> FloatArray:
        """Columns of new rows.

        Returns
        -------
        ndarray of float, shape (n_rows, n_columns)
            NaN in a row with a missing value that nothing replaces, or with a level without a
            coefficient.

        Raises
        ------
        NewDataError
            If the rows do not match the data of the fit.
        """
        self.design.encode(frame, self.terms)  # refuses what does not match
        new = _variables(self.design, frame, self.terms)
        markers = self.filling.indicators(new)
        filled = self.filling.fill(new)
        known = filled.notna().all(axis=1).to_numpy(dtype=bool)
        n_own = 1 if self.columns.made is None else len(self.columns.made.term_of)
        found = np.full((len(new), n_own + len(self.indicators)), np.nan)
        if not known.any():
            return found
        rows = filled[known].reset_index(drop=True)
        try:
            matrix = np.require(self.columns.again(rows), requirements="W")
            outside = self.columns.outside(rows)
        except NewDataError:
            raise
        except DataError as error:
            raise NewDataError(str(error)) from error
        self._check_levels(rows, outside)
        for unknown in outside.values():
            matrix[unknown] = np.nan
        for name, place in self.indicators:
            matrix = np.insert(matrix, place, markers[name][known], axis=1)
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
            level, n = found.iloc[0], len(found)
            raise NewDataError(
                f"Column {quoted(name)} must contain only levels with a coefficient.\n"
                f'  Found: "{shown(str(level))}" in {n} row{"s" if n > 1 else ""}; in the data of'
                " the fit it occurs only in rows that the linear model omits.\n"
                '  Combine it with another level, or refit with `missing="indicator"`.'
            )


def linear_matrix(
    data: ModelData, terms: Sequence[str], rows: IntArray, coding: LinearCoding = USUAL
) -> tuple[pd.DataFrame, list[str], IntArray, LinearColumns]:
    """formulaic's full-rank matrix of some terms, with an intercept.

    Parameters
    ----------
    data : ModelData
    terms : sequence of str
    rows : ndarray of int64
        Numbers of rows among those that are used.
    coding : LinearCoding

    Returns
    -------
    matrix : pandas.DataFrame
        Of the rows without a missing value in these terms, or of all if missing values are
        replaced. A factor's levels are those that occur in them.
    term_of : list of str, length n_columns
        ``"Intercept"`` for the intercept.
    used : ndarray of int64
        Those rows, by their numbers.
    columns : LinearColumns
        The same columns of other rows.

    Raises
    ------
    DataError
        If formulaic can't make the columns.
    """
    specs = [spec for spec in data.spec.terms if spec.term.name in set(terms)]
    chosen = [spec.term for spec in specs]
    variables = list(dict.fromkeys(v for term in chosen for v in term.variables))
    frame = data.sources[variables].iloc[rows].set_axis(rows, axis=0)
    filling, markers, words = Filling(), {}, ""
    if coding.missing == "indicator":
        filling = learn_filling(frame, specs, coding, data.weight[rows])
        markers = filling.indicators(frame)
        words = filling_words(filling, frame)
        frame = filling.declared(filling.fill(frame))
    complete = frame.notna().all(axis=1).to_numpy(dtype=bool)
    frame = frame[complete]
    recoded = _recoded(frame, [f for spec in specs for f in spec.term.factors], coding)
    for name in variables:
        if frame[name].dtype == "category":
            frame[name] = frame[name].cat.remove_unused_categories()
    matrix, number, columns = term_matrix(data.spec.formula.text, frame, chosen, recoded)
    names = [term.name for term in chosen]
    term_of = [names[i] if i >= 0 else INTERCEPT for i in number]
    places: list[tuple[str, int]] = []
    for name, values in markers.items():
        owner, column = filling.term_of[name], f"missing({name})"
        if column in matrix:
            raise DataError(
                f"No column may be called {quoted(column)}, the name of an indicator.\n"
                "  Rename the column."
            )
        place = max((i for i, t in enumerate(term_of) if t == owner), default=len(term_of) - 1) + 1
        matrix.insert(place, column, values[complete])
        term_of.insert(place, owner)
        places.append((name, place))
    used = np.isfinite(matrix.to_numpy()).all(axis=1)
    for outside in columns.outside(frame).values():
        used &= ~outside
    matrix = matrix[used]
    how = LinearColumns(data.spec, tuple(names), filling, columns, tuple(places), words)
    return matrix, term_of, matrix.index.to_numpy(dtype=np.int64), how


def _recoded(frame: pd.DataFrame, factors: Sequence[Any], coding: LinearCoding) -> Recoded:
    """Ordered factors of these rows that do not get treatment contrasts."""
    if coding.ordered == "treatment":
        return Recoded()
    names = dict.fromkeys(f.name for f in factors if f.is_plain and is_ordered(frame[f.name]))
    if coding.ordered == "polynomial":
        return Recoded(polynomials=tuple(names))
    return Recoded(scores={name: tuple(frame[name].cat.categories) for name in names})


def _variables(design: DesignSpec, frame: pd.DataFrame, terms: Sequence[str]) -> pd.DataFrame:
    """Variables of some terms in new data, of the types of the data of the fit.

    Labels that are not levels are missing where ``new_levels="missing"``.
    """
    import pandas as pd

    specs = [design[name] for name in terms]
    used = {v for spec in specs for v in spec.term.variables}
    columns = {
        name: read_learned(frame, name, design.schema[name])
        for name in design.schema
        if name in used
    }
    if design.new_levels == "missing":
        for part in (part for spec in specs for part in spec.factors):
            column = columns.get(part.factor.name)
            if part.factor.is_plain and isinstance(column, Labels):
                columns[part.factor.name] = _known_levels(column, part.levels or ())
    series = {name: to_series(column) for name, column in columns.items()}
    return pd.DataFrame(series, range(len(frame)))


def _known_levels(column: Labels, levels: Sequence[Any]) -> Labels:
    """The same, with labels that are none of the levels missing."""
    known = np.array([*(level in set(levels) for level in column.levels), False])
    codes = np.where(known[column.codes], column.codes, -1)
    return Labels(codes, column.levels, column.declared, column.ordered)
