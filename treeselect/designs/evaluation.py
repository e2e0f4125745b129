"""Values of the factors of a formula, row by row, missing wherever one of their columns is; for
linear models formulaic's matrix of terms, and splines."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray, WeightArray
from treeselect.engine.rounding import weighted_quantiles
from treeselect.errors import (
    DataError,
    TreeselectError,
    column_code,
    in_row,
    listing,
    literal,
    quoted,
    said_by,
)
from treeselect.formula import (
    FormulaicMatrix,
    columns_of,
    formulaic_matrix,
    run_trusted,
    several_columns,
    transform,
)
from treeselect.formulas.checks import MOST_PRODUCTS
from treeselect.formulas.terms import (
    Call,
    Code,
    Column,
    ComputationError,
    Contrast,
    Factor,
    Node,
    Term,
    Transform,
    UnorderedError,
    in_order,
    nodes,
    value_of,
    variables,
)
from treeselect.frames.values import LARGEST_WHOLE, Labels, Numbers, read_column, recoded, to_series


@dataclass(frozen=True, slots=True)
class Basis:
    """Several numeric columns, such as those of a spline, and names that tell them apart."""

    fields: tuple[str, ...]
    columns: tuple[FloatArray, ...]


Values = Numbers | Labels | Basis


def arrays_of(values: Values) -> tuple[NDArray[Any], ...]:
    """The codes, the numbers, or the columns."""
    if isinstance(values, Basis):
        return values.columns
    return (values.codes if isinstance(values, Labels) else values.values,)


def remade(values: Any, made: Callable[[NDArray[Any]], NDArray[Any]]) -> Any:
    """The same with what is made of each of its arrays."""
    if isinstance(values, Basis):
        return Basis(values.fields, tuple(map(made, values.columns)))
    name = "codes" if isinstance(values, Labels) else "values"
    return dataclasses.replace(values, **{name: made(getattr(values, name))})


def evaluate(
    factor: Factor, columns: Mapping[str, Numbers | Labels], state: dict[str, Any]
) -> Values:
    """Values of a factor, from its variables. The expression is evaluated only in rows where none
    of its columns is missing: formulaic's own transforms either drop the other rows or fail because
    of them. `state` is what transforms such as ``scale`` learned; filled if empty, else
    replayed."""
    if factor.is_plain:
        return columns[factor.name]
    if isinstance(factor.node, Transform) and factor.node.function == "C":
        return _categorical(factor, factor.node, columns, state)
    return _values(factor, factor.node, columns, state)


def as_factor(values: Numbers | Labels, wanted: tuple[Any, ...] | None = None) -> Labels:
    """``C(x)``: the distinct values as levels; or the wanted levels, all others missing."""
    labels = values
    if isinstance(labels, Numbers):
        codes, levels = pd.factorize(labels.values, sort=True)
        small = bool(np.all(np.abs(levels) < LARGEST_WHOLE))
        if labels.is_bool or (labels.is_integer and small):  # as users and formulaic write them
            levels = levels.astype(bool if labels.is_bool else int)
        labels = Labels(codes.astype(np.int32), tuple(levels.tolist()))
    return labels if wanted is None else Labels(recoded(labels, wanted), wanted, declared=True)


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
    labels, contrast = as_factor(values, wanted), node.option("contrasts")
    is_treatment = isinstance(contrast, Contrast) and "reatment" in contrast.name
    if isinstance(contrast, Contrast) and is_treatment and not state.get("fitted"):
        for reference in contrast.constants:  # or a linear refit would fail
            if reference not in labels.levels:
                raise DataError(
                    f"The reference level in {quoted(factor.name)} must be one of the levels.\n"
                    f"  Found: {literal(reference)}. Levels: {listing(labels.levels)}."
                )
    state["fitted"] = True
    return labels


def _values(
    factor: Factor, node: Node, columns: Mapping[str, Numbers | Labels], state: dict[str, Any]
) -> Values:
    match node:
        case Column(name) | Call("I", (Column(name),)):
            return columns[name]
    used = {name: columns[name] for name in variables(node)}
    missing = missing_rows(used)
    if missing.all():  # nothing to compute from, or to learn from
        return Numbers(np.full(len(missing), np.nan))
    known = np.flatnonzero(~missing) if missing.any() else None
    n_known = len(missing) if known is None else len(known)
    _check_cost(factor, node, n_known)
    rows = used
    if known is not None:
        rows = {name: remade(column, lambda own: own[known]) for name, column in used.items()}
    try:
        found = compute(node, in_order(node, rows, state), state)
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
    allows_nan = isinstance(node, Transform) and node.option("extrapolation") == "na"
    for column in () if isinstance(found, Labels) else arrays_of(found):
        _check_finite(column, factor, known, allows_nan=allows_nan)
    fill = -1 if isinstance(found, Labels) else np.nan
    return remade(found, lambda own: _spread(own, known, missing, fill))


LARGEST_BASIS = 50_000_000
"""Most values of one term that is several columns, 0.4 GB."""


def _check_cost(factor: Factor, node: Node, n_rows: int) -> None:
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

    def learn(node: Transform, argument: Numbers | Labels) -> Values:
        """What formulaic's transform makes of a column, with what it learned before."""
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

    values: Values = value_of(node, rows, learn)
    return values


def _values_of_columns(found: Mapping[str, Any], name: str, *, categorical: bool) -> Values:
    if list(found) == [""]:
        column = _read(found[""], name)
        return as_factor(column) if categorical else column
    arrays = (np.asarray(values, dtype=np.float64) for values in found.values())
    return Basis(tuple(found), tuple(arrays))


def _check_length(factor: Factor, values: Values, n_rows: int) -> None:
    lengths = [np.size(array) for array in arrays_of(values)]
    if not lengths or any(length != n_rows for length in lengths):
        raise DataError(
            f"The term {quoted(factor.name)} must give one value per row, {n_rows}.\n"
            f"  Found: {', '.join(map(str, lengths)) or 'none'}."
        )


def learning(factor: Factor) -> set[str]:
    """Texts of a factor's transforms, under which their state is what they learned."""
    return {
        node.text
        for node in nodes(factor.node)
        if isinstance(node, Transform) and node.function not in ("C", "hashed")
    }


def missing_rows(columns: Mapping[Any, Values]) -> BoolArray:
    """Rows in which one of the columns is missing; of several, the first."""
    pairs = ((isinstance(c, Labels), arrays_of(c)[0]) for c in columns.values())
    each = [own < 0 if is_label else np.isnan(own) for is_label, own in pairs]
    return np.asarray(np.logical_or.reduce(each))


def _read(values: Any, name: str) -> Numbers | Labels:
    series = pd.Series(values).reset_index(drop=True)
    if series.dtype == object:
        series = series.infer_objects()
    if not pd.api.types.is_numeric_dtype(series.dtype):
        return read_column(series, name)
    return Numbers(
        np.array(series.to_numpy(), dtype=np.float64),
        is_bool=bool(pd.api.types.is_bool_dtype(series.dtype)),
        is_integer=bool(pd.api.types.is_integer_dtype(series.dtype)),
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
                f" `{column_code(name)} = {column_code(name)}.clip({low!r}, {high!r})`."
            )
    return DataError("\n  ".join(said))


# --- The matrix of a linear model: formulaic's columns of the terms of a formula -----------------

_MOST_CELLS = 50_000_000
"""Most values of a matrix of a linear model, 0.4 GB."""


def model_matrix(
    text: str, frame: pd.DataFrame, terms: Sequence[Term], *, full_rank: bool = False
) -> pd.DataFrame:
    """What formulaic builds of these terms, of rows without missing values: the definition of our
    columns. Full rank drops a reference level of each factor, as for a linear model with an
    intercept."""
    made = _matrix(text, frame, terms, {}, {}, full_rank=full_rank)
    return made.matrix.drop(columns="Intercept") if full_rank else made.matrix


@dataclass(frozen=True, slots=True)
class TermColumns:
    """How the columns of terms of a formula were made from some rows, to make them of others: the
    knots of numbers that have splines, and what the transforms of each factor learned; without
    terms nothing was made."""

    text: str
    terms: tuple[Term, ...]
    splines: Mapping[str, FloatArray]
    state: Mapping[str, Any]
    made: FormulaicMatrix | None

    __repr__ = brief

    @property
    def term_of(self) -> list[int]:
        """The number of the term of each column, -1 for the intercept, which comes first."""
        return [-1] if self.made is None else self.made.term_of

    def again(self, frame: pd.DataFrame) -> FloatArray:
        """The columns of other rows, without missing values in the variables of the terms."""
        if self.made is None:
            return np.ones((len(frame), 1))
        with _making(self.terms, frame):
            return self.made.again(*self._values(frame))

    def _values(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
        return _values_of(frame, self.terms, self.splines, deepcopy(dict(self.state)))

    def outside(self, frame: pd.DataFrame) -> dict[str, BoolArray]:
        """Rows of other data with a value that is none of the levels of a factor, by the factor's
        name; only factors with such rows."""
        if self.made is None:
            return {}
        frame, values = self._values(frame)
        found = {}
        for name, levels in self.made.levels.items():
            series = _column_of(values.get(name, frame.get(name)))
            found[name] = ~series.astype(object).isin(list(levels)).to_numpy(dtype=bool)
        return {name: rows for name, rows in found.items() if rows.any()}


def term_matrix(
    text: str,
    frame: pd.DataFrame,
    terms: Sequence[Term],
    splines: Mapping[str, FloatArray],
    state: Mapping[str, Any] | None = None,
) -> tuple[pd.DataFrame, TermColumns]:
    """The matrix of a linear model of these terms, and how to make the columns of other rows. It is
    of full rank as far as formulaic can tell from the formula. With a `state`, transforms learn
    nothing more."""
    if not terms:
        matrix = pd.DataFrame({"Intercept": np.ones(len(frame))}, index=frame.index)
        return matrix, TermColumns(text, (), splines, {}, None)
    learned = deepcopy(dict(state or {}))
    made = _matrix(text, frame, terms, splines, learned, full_rank=True)
    with _making(terms, frame):
        values = np.asarray(made.matrix, np.float64)
    columns = TermColumns(text, tuple(terms), splines, learned, made.without_rows)
    return pd.DataFrame(values, frame.index, list(made.matrix.columns)), columns


def _matrix(
    text: str,
    frame: pd.DataFrame,
    terms: Sequence[Term],
    splines: Mapping[str, FloatArray],
    state: dict[str, Any],
    *,
    full_rank: bool,
) -> FormulaicMatrix:
    with _making(terms, frame):
        plain, values = _values_of(frame, terms, splines, state)
        _check_matrix(terms, plain, values, full_rank=full_rank)
        return formulaic_matrix(text, plain, values, terms, full_rank=full_rank)


def _values_of(
    frame: pd.DataFrame,
    terms: Sequence[Term],
    splines: Mapping[str, FloatArray],
    state: dict[str, Any],
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Columns of the terms as they are, of types that formulaic knows (it takes `string` and Arrow
    text for numbers), and values of other factors; `state` is filled, or replayed."""
    read = {name: read_column(frame[name], name) for term in terms for name in term.variables}
    columns = {name: to_series(column, frame.index) for name, column in read.items()}
    factors = {f.name: f for term in terms for f in term.factors}
    values: dict[str, Any] = {}
    for name, factor in factors.items():
        if not factor.is_plain:
            values[name] = _for_matrix(factor, read, frame.index, state.setdefault(name, {}))
        if name in splines:
            x = _column_of(values.get(name, columns.get(name))).to_numpy(dtype=np.float64)
            basis = spline_basis(x, splines[name]).T
            values[name] = several_columns({"'" * i: column for i, column in enumerate(basis)})
    # formulaic must not read columns whose values are given.
    plain = {name: column for name, column in columns.items() if name not in values}
    return pd.DataFrame(plain, frame.index), values


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
    series = _column_of(found)
    is_factor = isinstance(node, Transform) and node.function == "C"
    return int(series.nunique()) if is_factor or series.dtype.kind == "O" else 1


def _column_of(values: Any) -> pd.Series[Any]:
    """One column of values of any container; of several, the first."""
    values = getattr(values, "__wrapped__", values)
    if isinstance(values, pd.Series):
        return values
    array = np.asarray(values)
    return pd.Series(array if array.ndim < 2 else array[:, 0])


def _for_matrix(
    factor: Factor, read: Mapping[str, Numbers | Labels], index: Any, state: dict[str, Any]
) -> Any:
    """Values of an expression as formulaic's own evaluation would hand them on; what transforms
    learned goes into `state`, or comes from it."""
    node, rows = factor.node, {name: read[name] for name in factor.variables}
    if isinstance(node, Code):
        return run_trusted(node, {name: to_series(own, index) for name, own in rows.items()}, state)
    inner = node.argument if isinstance(node, Transform) else node
    values: Any = compute(inner, in_order(inner, rows, state), state)
    series = to_series(values, index)
    return transform(node, series, state) if isinstance(node, Transform) else series


# --- Restricted cubic splines of numbers ---------------------------------------------------------

_QUANTILES = {
    3: (0.1, 0.5, 0.9),
    4: (0.05, 0.35, 0.65, 0.95),
    5: (0.05, 0.275, 0.5, 0.725, 0.95),
    6: (0.05, 0.23, 0.41, 0.59, 0.77, 0.95),
    7: (0.025, 0.1833, 0.3417, 0.5, 0.6583, 0.8167, 0.975),
}
"""Quantiles that are knots, by their number (Harrell 2015, Table 2.3)."""

MOST_DF = max(_QUANTILES) - 1
"""Most degrees of freedom of a spline: one less than knots."""

LEAST_DISTINCT = 8
"""Distinct values of a number that is bent."""


def spline_basis(x: FloatArray, knots: FloatArray) -> FloatArray:
    """Restricted cubic splines, linear beyond the knots, shape (n_rows, 1) without knots and
    (n_rows, n_knots - 1) with three or more. The first column is x itself. Harrell (2015),
    Regression Modeling Strategies, equation 2.25, divided by the square of the knots' width."""
    if not len(knots):
        return x[:, np.newaxis]
    width = knots[-1] - knots[0]  # no far or large value is cubed
    z, t = x[:, np.newaxis] / width, knots / width
    cubes = np.maximum(np.minimum(z, t[-1]) - t[:-1], 0.0) ** 3
    bent = cubes[:, :-1] - cubes[:, -1:] * (t[-1] - t[:-2]) / (t[-1] - t[-2])
    bent += np.maximum(z - t[-1], 0.0) * 3 * (t[-1] - t[:-2]) * (t[-2] - t[:-2])
    return np.column_stack([x, width * bent])


def spline_knots(x: FloatArray, weight: WeightArray, n_knots: int) -> FloatArray:
    """Knots at quantiles of known values: `n_knots` of them, fewer where these coincide, none for
    fewer than eight distinct values or if three coincide."""
    if len(np.unique(x)) < LEAST_DISTINCT:
        return np.empty(0)
    for n in range(n_knots, 2, -1):
        knots = weighted_quantiles(x, weight, _QUANTILES[n])
        if len(np.unique(knots)) == n:
            return knots
    return np.empty(0)
