"""The matrix of a linear model: formulaic's columns of the terms of a formula."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.errors import DataError, TreeselectError, listing, quoted, said_by
from treeselect.formula import columns_of, formulaic_matrix, run_trusted, transform
from treeselect.formulas.checks import MOST_PRODUCTS
from treeselect.formulas.computing import value_of
from treeselect.formulas.expressions import Code, Column, Transform
from treeselect.formulas.terms import Factor, Term
from treeselect.frames.values import Labels, Numbers, read_column, to_series

if TYPE_CHECKING:
    import pandas as pd

_MOST_CELLS = 50_000_000
"""Most values of a matrix of a linear model, 0.4 GB."""


def model_matrix(
    text: str,
    frame: pd.DataFrame,
    terms: Sequence[Term],
    *,
    full_rank: bool = False,
) -> pd.DataFrame:
    """What formulaic builds of these terms: the definition of our columns.

    Parameters
    ----------
    text : str
        The formula, for messages.
    frame : pandas.DataFrame
        Rows without missing values in the variables of the terms.
    terms : sequence of Term
    full_rank : bool
        Drop a reference level of each factor, as a linear model with an intercept needs.

    Raises
    ------
    DataError
        If formulaic can't make the columns of these rows.
    """
    matrix, _ = _matrix(text, frame, terms, full_rank=full_rank)
    return matrix.drop(columns="Intercept") if full_rank else matrix


def term_matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term]
) -> tuple[pd.DataFrame, list[int]]:
    """The matrix of a linear model of these terms, and the term of each of its columns.

    Parameters
    ----------
    text, frame, terms
        As in :func:`model_matrix`.

    Returns
    -------
    matrix : pandas.DataFrame
        Of full rank as far as formulaic can tell from the formula; the intercept comes first.
    term_of : list of int, length n_columns
        Number of the term, -1 for the intercept.

    Raises
    ------
    DataError
        If formulaic can't make the columns of these rows.
    """
    import pandas as pd

    if not terms:
        return pd.DataFrame({"Intercept": np.ones(len(frame))}, index=frame.index), [-1]
    matrix, term_of = _matrix(text, frame, terms, full_rank=True)
    try:
        values = np.asarray(matrix, np.float64)
    except ValueError as error:
        raise _not_made(terms, frame, error) from error
    return pd.DataFrame(values, frame.index, list(matrix.columns)), term_of


def _matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term], *, full_rank: bool
) -> tuple[pd.DataFrame, list[int]]:
    import pandas as pd

    names = list(dict.fromkeys(name for term in terms for name in term.variables))
    frame = pd.DataFrame({name: _for_formulaic(frame[name], name) for name in names})
    factors = {f.name: f for term in terms for f in term.factors}
    try:
        values = {name: _for_matrix(f, frame) for name, f in factors.items() if not f.is_plain}
        _check_matrix(terms, frame, values, full_rank=full_rank)
        return formulaic_matrix(text, frame, values, terms, full_rank=full_rank)
    except (TreeselectError, MemoryError):
        raise
    except Exception as error:  # transforms and trusted code can fail in any way
        raise _not_made(terms, frame, error) from error


def _not_made(terms: Sequence[Term], frame: pd.DataFrame, error: Exception) -> DataError:
    return DataError(
        f"Can't build the design matrix of a linear model of {listing(t.name for t in terms)}.\n"
        f"  Complete cases: {len(frame):,}. formulaic says: {said_by(error)}"
    )


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
    found = frame[factor.name] if factor.is_plain else values[factor.name]
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


def _for_matrix(factor: Factor, frame: pd.DataFrame) -> Any:
    """Values of an expression as formulaic's own evaluation would hand them on."""
    columns = {name: frame[name] for name in factor.variables}
    if isinstance(factor.node, Code):
        return run_trusted(factor.node, columns, {})
    read = {name: read_column(column, name) for name, column in columns.items()}

    def learn(node: Transform, argument: Any) -> Any:
        result = transform(node, to_series(argument, frame.index), {})
        if node is factor.node:
            return result
        return Numbers(np.asarray(columns_of(result)[0][""], dtype=np.float64))

    if isinstance(factor.node, Transform) and isinstance(factor.node.argument, Column):
        return transform(factor.node, columns[factor.node.argument.name], {})
    found = value_of(factor.node, read, learn)
    return to_series(found, frame.index) if isinstance(found, Numbers | Labels) else found
