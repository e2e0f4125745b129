"""Values of the factors of a formula, row by row; missing wherever one of their columns is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.errors import DataError, in_row, listing, quoted, said_by
from treeselect.formula import columns_of, run_trusted, transform
from treeselect.formulas.computing import ComputationError, Learner, UnorderedError, value_of
from treeselect.formulas.terms import (
    Call,
    Code,
    Column,
    Contrast,
    Factor,
    Node,
    Transform,
    nodes,
    variables,
)
from treeselect.frames.values import LARGEST_WHOLE, Labels, Numbers, read_column, to_series


@dataclass(frozen=True, slots=True)
class Basis:
    """Several numeric columns, such as those of a spline, and names that tell them apart."""

    fields: tuple[str, ...]
    columns: tuple[FloatArray, ...]


Values = Numbers | Labels | Basis


def evaluate(
    factor: Factor, columns: Mapping[str, Numbers | Labels], state: dict[str, Any]
) -> Values:
    """Values of a factor, from its variables.

    The expression is evaluated only in rows where none of its columns is missing: formulaic's own
    transforms either drop the other rows or fail because of them. `state` is what transforms such
    as ``scale`` learned; filled if empty, else replayed."""
    if factor.is_plain:
        return columns[factor.name]
    if isinstance(factor.node, Transform) and factor.node.function == "C":
        return _categorical(factor, factor.node, columns, state)
    return _values(factor, factor.node, columns, state)


def as_factor(values: Numbers | Labels, wanted: tuple[Any, ...] | None = None) -> Labels:
    """``C(x)``: the distinct values as levels; or the wanted levels, all others missing."""
    labels = values if isinstance(values, Labels) else _levels_of(values)
    if wanted is None:
        return labels
    number = {level: code for code, level in enumerate(wanted)}
    lookup = np.array([*(number.get(level, -1) for level in labels.levels), -1])
    return Labels(lookup[labels.codes], wanted, declared=True)


def _levels_of(column: Numbers) -> Labels:
    known = ~np.isnan(column.values)
    levels, codes = np.unique(column.values[known], return_inverse=True)
    small = bool(np.all(np.abs(levels) < LARGEST_WHOLE))
    if column.is_bool or (column.is_integer and small):  # labels as users and formulaic write them
        levels = levels.astype(bool if column.is_bool else int)
    full = np.full(len(column.values), -1, dtype=np.int32)
    full[known] = codes
    return Labels(full, tuple(levels.tolist()))


def _categorical(
    factor: Factor, node: Transform, columns: Mapping[str, Numbers | Labels], state: dict[str, Any]
) -> Labels:
    """``C(inner, contrasts, levels=...)``; contrasts have no meaning for trees."""
    wanted: Any = node.option("levels")
    values = _values(factor, node.argument, columns, state)
    if isinstance(values, Basis):
        raise DataError(
            f"The term {quoted(factor.name)} must have a single column inside `C()`.\n"
            f"  Found: {len(values.fields)}."
        )
    labels = as_factor(values, wanted)
    if not state.get("fitted"):
        _check_base(factor, node, labels)
    state["fitted"] = True
    return labels


def _check_base(factor: Factor, node: Transform, labels: Labels) -> None:
    """The reference of a treatment contrast must be a level, or a linear refit would fail."""
    contrast = node.option("contrasts")
    if not isinstance(contrast, Contrast) or "reatment" not in contrast.name:
        return
    for reference in contrast.constants:
        if reference not in labels.levels:
            raise DataError(
                f"The reference level in {quoted(factor.name)} must be one of the levels.\n"
                f"  Found: {reference!r}. Levels: {listing(labels.levels)}."
            )


def _values(
    factor: Factor, node: Node, columns: Mapping[str, Numbers | Labels], state: dict[str, Any]
) -> Values:
    match node:
        case Column(name) | Call("I", (Column(name),)):
            return columns[name]
    used = {name: columns[name] for name in variables(node)}
    missing = missing_rows(used)
    if missing.all():
        # Nothing to compute from, or to learn from.
        return Numbers(np.full(len(missing), np.nan))
    known = np.flatnonzero(~missing) if missing.any() else None
    n_known = len(missing) if known is None else len(known)
    _check_cost(factor, node, n_known)
    rows = {name: _rows_of(column, known) for name, column in used.items()}
    try:
        found = compute(node, rows, state)
    except UnorderedError as error:
        problem, way = error.args
        raise DataError(f"{problem}\n  Found: {quoted(factor.name)}.\n  {way}") from None
    except ComputationError as error:
        raise DataError(f"Can't compute the term {quoted(factor.name)}.\n  {error}") from None
    except MemoryError:
        raise
    except Exception as error:
        raise _not_computed(factor, error, rows, state) from error
    _check_length(factor, found, n_known)
    return _spread_values(found, factor, node, known, missing)


LARGEST_BASIS = 50_000_000
"""Most values of one term that is several columns, 0.4 GB."""


def _check_cost(factor: Factor, node: Node, n_rows: int) -> None:
    """Refuse what would fill the memory, before it does."""
    if not isinstance(node, Transform):
        return
    knots: Any = node.option("knots") or ()
    wanted: Any = node.option("df") or node.option("degree") or 0
    n_columns = max(int(wanted), len(knots)) + 4
    if n_columns * n_rows > LARGEST_BASIS:
        raise DataError(
            f"The term {quoted(factor.name)} must have at most {LARGEST_BASIS:,} values.\n"
            f"  Found: about {n_columns:,} columns of {n_rows:,} rows. Use fewer degrees of"
            " freedom: trees need no fine basis."
        )


def compute(node: Node, rows: Mapping[str, Numbers | Labels], state: dict[str, Any]) -> Values:
    """Values of an expression on rows without missing values."""
    if isinstance(node, Code):
        environment = {name: to_series(column) for name, column in rows.items()}
        found, categorical = columns_of(run_trusted(node, environment, state))
        return _values_of_columns(found, node.text, categorical=categorical)
    values: Values = value_of(node, rows, _learner(state))
    return values


def _learner(state: dict[str, Any]) -> Learner:
    """Hands transforms to formulaic, with what they learned before."""

    def learn(node: Transform, argument: Numbers | Labels) -> Values:
        if isinstance(argument, Labels) and node.function != "hashed":
            raise ComputationError(
                f"{quoted(node.function)} needs numbers. Found: text or categories"
                f" ({listing(argument.levels, 3)})."
            )
        found, _ = columns_of(transform(node, to_series(argument), state))
        if node.function == "hashed":
            n_levels: Any = node.option("levels")
            codes = np.asarray(found[""], dtype=np.int32)
            return Labels(codes, tuple(range(n_levels)), declared=True)
        return _values_of_columns(found, node.text, categorical=False)

    return learn


def _values_of_columns(found: Mapping[str, Any], name: str, *, categorical: bool) -> Values:
    if list(found) == [""]:
        column = _read(found[""], name)
        return as_factor(column) if categorical else column
    arrays = (np.asarray(values, dtype=np.float64) for values in found.values())
    return Basis(tuple(found), tuple(arrays))


def _check_length(factor: Factor, values: Values, n_rows: int) -> None:
    arrays: tuple[Any, ...] = values.columns if isinstance(values, Basis) else ()
    if not isinstance(values, Basis):
        arrays = (values.codes if isinstance(values, Labels) else values.values,)
    lengths = [np.size(array) for array in arrays]
    if not lengths or any(length != n_rows for length in lengths):
        raise DataError(
            f"The term {quoted(factor.name)} must give one value per row, {n_rows}.\n"
            f"  Found: {', '.join(map(str, lengths)) or 'none'}."
        )


def _spread_values(
    values: Values, factor: Factor, node: Node, known: NDArray[np.int64] | None, missing: BoolArray
) -> Values:
    if isinstance(values, Labels):
        codes = _spread(values.codes, known, missing, -1)
        return Labels(codes, values.levels, values.declared, values.ordered)
    allows_nan = isinstance(node, Transform) and node.option("extrapolation") == "na"
    columns = [values.values] if isinstance(values, Numbers) else list(values.columns)
    for column in columns:
        _check_finite(column, factor, known, allows_nan=allows_nan)
    full = [_spread(column, known, missing, np.nan) for column in columns]
    if isinstance(values, Basis):
        return Basis(values.fields, tuple(full))
    return Numbers(full[0], is_bool=values.is_bool, is_integer=values.is_integer)


def has_learned(factor: Factor, state: Mapping[str, Any]) -> bool:
    """Whether there is something to replay for each of a factor's transforms."""
    return all(
        node.text in state
        for node in nodes(factor.node)
        if isinstance(node, Transform) and node.function not in ("C", "hashed")
    )


def missing_rows(columns: Mapping[str, Numbers | Labels]) -> BoolArray:
    """Rows in which one of the columns is missing."""
    each = [np.isnan(c.values) if isinstance(c, Numbers) else c.codes < 0 for c in columns.values()]
    return np.asarray(np.logical_or.reduce(each))


def _rows_of(column: Numbers | Labels, known: NDArray[np.int64] | None) -> Numbers | Labels:
    if known is None:
        return column
    if isinstance(column, Labels):
        return dataclasses.replace(column, codes=column.codes[known])
    return dataclasses.replace(column, values=column.values[known])


def _read(values: Any, name: str) -> Numbers | Labels:
    """One column of results in the internal form."""
    import pandas as pd

    series = pd.Series(values).reset_index(drop=True)
    if series.dtype == object:
        series = series.infer_objects()
    if not pd.api.types.is_numeric_dtype(series.dtype):
        return read_column(series, name)
    whole = bool(pd.api.types.is_integer_dtype(series.dtype))
    return Numbers(
        np.array(series.to_numpy(), dtype=np.float64),
        is_bool=bool(pd.api.types.is_bool_dtype(series.dtype)),
        is_integer=whole,
    )


def _spread(
    values: NDArray[Any], known: NDArray[np.int64] | None, missing: BoolArray, fill: float
) -> NDArray[Any]:
    """Values of the known rows at their places among all rows."""
    if known is None:
        return values
    full = np.full(len(missing), fill, dtype=values.dtype if fill == -1 else np.float64)
    full[known] = values
    return full


def _check_finite(
    values: FloatArray, factor: Factor, known: NDArray[np.int64] | None, *, allows_nan: bool
) -> None:
    bad = np.isinf(values) if allows_nan else ~np.isfinite(values)
    if not bad.any():
        return
    at = int(np.flatnonzero(bad)[0])
    row = at if known is None else int(known[at])
    learns = any(isinstance(node, Transform | Code) for node in nodes(factor.node))
    if bad.all() and learns:
        way = "Is the column constant? Then it can't be scaled: leave the term out."
    else:
        way = "Change the expression (`log1p(x)` is finite at 0) or the data."
    raise DataError(
        f"The term {quoted(factor.name)} must be finite wherever its columns are not missing.\n"
        f"  Found: {values[at]} {in_row(row, int(bad.sum()))}\n"
        f"  {way}"
    )


def _not_computed(
    factor: Factor, error: Exception, rows: Mapping[str, Numbers | Labels], state: Mapping[str, Any]
) -> DataError:
    problem = f"Can't compute the term {quoted(factor.name)}."
    node = factor.node
    outside = (
        "beyond upper and/or lower bounds" in str(error)
        or "ExtrapolationError" in type(error).__name__
    )
    if not (outside and isinstance(node, Transform)):
        return DataError(f"{problem}\n  {said_by(error)}")
    low, high = (float(state[node.text][f"{end}_bound"]) for end in ("lower", "upper"))
    call = node.text.replace(", extrapolation='raise'", "").removesuffix(")")
    said = [
        problem,
        f"Found: values beyond the range of the spline, {low:g} to {high:g}.",
        "Choose in the formula and refit: "
        f"`{call}, extrapolation='extend')` continues its polynomials, as R does;"
        " 'clip' uses the values at the ends, 'zero' a basis of zeros, 'na' makes these values"
        " missing.",
    ]
    match node.argument:
        case Column(name):
            said.append(
                "To predict from this fit, restrict the column:"
                f" `data[{name!r}] = data[{name!r}].clip({low!r}, {high!r})`."
            )
    return DataError("\n  ".join(said))
