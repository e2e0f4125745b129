"""The matrix of a linear model: formulaic's columns of the terms of a formula."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.errors import DataError, TreeselectError, listing, quoted, said_by
from treeselect.formula import (
    FormulaicMatrix,
    columns_of,
    formulaic_matrix,
    polynomial,
    run_trusted,
    transform,
)
from treeselect.formulas.checks import MOST_PRODUCTS
from treeselect.formulas.computing import value_of
from treeselect.formulas.terms import Code, Column, Factor, Term, Transform
from treeselect.frames.values import Labels, Numbers, read_column, to_series

if TYPE_CHECKING:
    import pandas as pd

_MOST_CELLS = 50_000_000
"""Most values of a matrix of a linear model, 0.4 GB."""


def model_matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term], *, full_rank: bool = False
) -> pd.DataFrame:
    """What formulaic builds of these terms, of rows without missing values: the definition of our
    columns. Full rank drops a reference level of each factor, as for a linear model with an
    intercept."""
    made, _ = _matrix(text, frame, terms, Recoded(), full_rank=full_rank)
    return made.matrix.drop(columns="Intercept") if full_rank else made.matrix


@dataclass(frozen=True, slots=True)
class Recoded:
    """Ordered factors that do not have treatment contrasts: those that are one column of scores,
    with their levels in order, and those that are orthogonal polynomials."""

    scores: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    polynomials: tuple[str, ...] = ()

    def values(self, frame: pd.DataFrame) -> dict[str, Any]:
        """Values of these factors, for formulaic."""
        found: dict[str, Any] = {}
        for name in self.scores.keys() & set(frame.columns):
            place = {level: float(i) for i, level in enumerate(self.scores[name], start=1)}
            found[name] = frame[name].astype(object).map(place).astype(np.float64)
        for name in self.polynomials:
            if name in frame:
                found[name] = polynomial(frame[name])
        return found


@dataclass(frozen=True, slots=True)
class TermColumns:
    """How the columns of terms of a formula were made from some rows, to make them of others; `state`
    is what the transforms of each factor learned. Without terms nothing was made."""

    text: str
    terms: tuple[Term, ...]
    recoded: Recoded
    state: Mapping[str, Any]
    made: FormulaicMatrix | None

    __repr__ = brief

    def again(self, frame: pd.DataFrame) -> FloatArray:
        """The columns of other rows, without missing values in the variables of the terms."""
        if self.made is None:
            return np.ones((len(frame), 1))
        with _making(self.terms, frame):
            frame, values = self._values(frame)
            return self.made.again(frame.drop(columns=_replaced(frame, values)), values)

    def _values(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
        frame = _variables(frame, self.terms)
        values = _values(self.terms, frame, deepcopy(dict(self.state)))
        return frame, values | self.recoded.values(frame)

    def outside(self, frame: pd.DataFrame) -> dict[str, BoolArray]:
        """Rows of other data with a value that is none of the levels of a factor, by the factor's
        name; only factors with such rows."""
        if self.made is None:
            return {}
        frame, values = self._values(frame)
        found = {}
        for name, levels in self.made.levels.items():
            series = _column_of(
                getattr(given := values.get(name, frame.get(name)), "__wrapped__", given)
            )
            found[name] = ~series.astype(object).isin(list(levels)).to_numpy(dtype=bool)
        found |= {
            name: values[name].isna().to_numpy(dtype=bool)
            for name in self.recoded.scores
            if name in values
        }
        return {name: rows for name, rows in found.items() if rows.any()}


def term_matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term], recoded: Recoded | None = None
) -> tuple[pd.DataFrame, list[int], TermColumns]:
    """The matrix of a linear model of these terms, the term of each of its columns (-1 for the
    intercept, which comes first), and how to make the columns of other rows.

    It is of full rank as far as formulaic can tell from the formula."""
    import pandas as pd

    recoded = Recoded() if recoded is None else recoded
    if not terms:
        matrix = pd.DataFrame({"Intercept": np.ones(len(frame))}, index=frame.index)
        return matrix, [-1], TermColumns(text, (), recoded, {}, None)
    made, state = _matrix(text, frame, terms, recoded, full_rank=True)
    with _making(terms, frame):
        values = np.asarray(made.matrix, np.float64)
    columns = TermColumns(text, tuple(terms), recoded, state, made.without_rows)
    return pd.DataFrame(values, frame.index, list(made.matrix.columns)), made.term_of, columns


def _matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term], recoded: Recoded, *, full_rank: bool
) -> tuple[FormulaicMatrix, dict[str, Any]]:
    frame = _variables(frame, terms)
    state: dict[str, Any] = {}
    with _making(terms, frame):
        values = _values(terms, frame, state) | recoded.values(frame)
        _check_matrix(terms, frame, values, full_rank=full_rank)
        plain = frame.drop(columns=_replaced(frame, values))
        return formulaic_matrix(text, plain, values, terms, full_rank=full_rank), state


def _variables(frame: pd.DataFrame, terms: Sequence[Term]) -> pd.DataFrame:
    """The variables of the terms, of types that formulaic knows."""
    import pandas as pd

    names = list(dict.fromkeys(name for term in terms for name in term.variables))
    return pd.DataFrame({name: _for_formulaic(frame[name], name) for name in names}, frame.index)


def _values(terms: Sequence[Term], frame: pd.DataFrame, state: dict[str, Any]) -> dict[str, Any]:
    """Values of the factors that are no columns; `state` is filled, or replayed."""
    factors = {f.name: f for term in terms for f in term.factors if not f.is_plain}
    return {name: _for_matrix(f, frame, state.setdefault(name, {})) for name, f in factors.items()}


def _replaced(frame: pd.DataFrame, values: Mapping[str, Any]) -> list[str]:
    """Columns that formulaic must not read, because their values are given."""
    return [str(name) for name in frame if name in values]


@contextmanager
def _making(terms: Sequence[Term], frame: pd.DataFrame) -> Iterator[None]:
    """Say that the matrix can't be made: transforms and trusted code can fail in any way."""
    try:
        yield
    except (TreeselectError, MemoryError):
        raise
    except Exception as error:
        names = listing(term.name for term in terms)
        raise DataError(
            f"Can't build the design matrix of a linear model of {names}.\n"
            f"  Complete cases: {len(frame):,}. formulaic says: {said_by(error)}"
        ) from error


def _for_formulaic(series: pd.Series[Any], name: str) -> pd.Series[Any]:
    """A column without missing values, of a type that formulaic knows.

    It takes `string` and Arrow text for numbers and passes them through as they are.
    """
    if isinstance(series.dtype, np.dtype) and series.dtype != object:
        return series
    column = read_column(series, name)
    if isinstance(column, Labels):
        return series if column.declared else series.astype(object)
    return series.astype("bool" if column.is_bool else "int64" if column.is_integer else "float64")


def _check_matrix(
    terms: Sequence[Term], frame: pd.DataFrame, values: Mapping[str, Any], *, full_rank: bool
) -> None:
    """Refuse what formulaic would mix up with its intercept, or fill the memory with."""
    if full_rank and any(f.name == "Intercept" for term in terms for f in term.factors):
        raise DataError(
            "No column may be called `Intercept`, the name of a linear model's intercept.\n"
            "  Rename the column."
        )
    for term in terms:
        n_columns = math.prod(_n_columns(factor, frame, values) for factor in term.factors)
        if n_columns * max(len(frame), 1) > _MOST_CELLS or n_columns > MOST_PRODUCTS:
            raise DataError(
                f"The term {quoted(term.name)} has too many columns for a linear model.\n"
                f"  Found: {n_columns:,} columns of {len(frame):,} rows. Leave the term out, or"
                " write its factors as separate terms."
            )


def _n_columns(factor: Factor, frame: pd.DataFrame, values: Mapping[str, Any]) -> int:
    """How many columns formulaic would make of a factor, at most."""
    node = factor.node
    if isinstance(node, Transform) and node.option("levels") is not None:
        levels: Any = node.option("levels")
        return levels if isinstance(levels, int) else len(levels)
    found = values[factor.name] if factor.name in values else frame[factor.name]
    if isinstance(found, dict):
        return len(found)
    series = _column_of(getattr(found, "__wrapped__", found))
    if isinstance(node, Transform) and node.function == "C":
        return int(series.nunique())
    if series.dtype == "category":
        return len(series.cat.categories)
    return int(series.nunique()) if series.dtype.kind == "O" else 1


def _column_of(values: Any) -> pd.Series[Any]:
    """One column of values of any container; of several, the first."""
    import pandas as pd

    if isinstance(values, pd.Series):
        return values
    array = np.asarray(values)
    return pd.Series(array if array.ndim < 2 else array[:, 0])


def _for_matrix(factor: Factor, frame: pd.DataFrame, state: dict[str, Any]) -> Any:
    """Values of an expression as formulaic's own evaluation would hand them on; what transforms
    learned goes into `state`, or comes from it."""
    columns = {name: frame[name] for name in factor.variables}
    if isinstance(factor.node, Code):
        return run_trusted(factor.node, columns, state)
    read = {name: read_column(column, name) for name, column in columns.items()}

    def learn(node: Transform, argument: Any) -> Any:
        result = transform(node, to_series(argument, frame.index), state)
        if node is factor.node:
            return result
        return Numbers(np.asarray(columns_of(result)[0][""], dtype=np.float64))

    if isinstance(factor.node, Transform) and isinstance(factor.node.argument, Column):
        return transform(factor.node, columns[factor.node.argument.name], state)
    found = value_of(factor.node, read, learn)
    return to_series(found, frame.index) if isinstance(found, Numbers | Labels) else found
