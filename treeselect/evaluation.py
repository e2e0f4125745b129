"""Values of the factors of a formula, row by row; missing wherever one of their columns is."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.errors import DataError, listing, quoted
from treeselect.formula import evaluate_expression
from treeselect.frames import Labels, Numbers, read_column
from treeselect.guard import formula_name
from treeselect.terms import Factor

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Basis:
    """Several numeric columns, such as those of a spline.

    Attributes
    ----------
    fields : tuple of str
        By which the columns are told apart.
    columns : tuple of ndarray of float64, each of shape (n_rows,)
        NaN is missing.
    """

    fields: tuple[str, ...]
    columns: tuple[FloatArray, ...]


Values = Numbers | Labels | Basis


def evaluate(
    factor: Factor,
    columns: Mapping[str, Numbers | Labels],
    state: dict[str, Any],
    *,
    trusted: bool = False,
) -> Values:
    """Values of a factor.

    The expression sees only the rows in which all of its columns are known: formulaic's own
    transforms either lose the others or lose everything because of them.

    Parameters
    ----------
    factor : Factor
    columns : mapping
        The factor's variables in their internal form.
    state : dict
        What transforms such as ``scale`` learned; filled if empty, else replayed.
    trusted : bool
        Offer formulaic all its transforms.

    Raises
    ------
    DataError
        If the result is not one value per row, or is not finite where its columns are known.
    """
    if factor.is_plain:
        return columns[factor.name]
    syntax, aliases = factor.syntax()
    called = syntax.func.id if _calls(syntax) else ""  # type: ignore[attr-defined]
    if called == "C":
        return _categorical(factor, syntax, aliases, columns, state, trusted)  # type: ignore[arg-type]
    if called == "I" and isinstance(syntax.args[0], ast.Name):  # type: ignore[attr-defined]
        return columns[factor.variables[0]]
    if called != "hashed":
        _check_comparisons(factor, syntax, aliases, columns)
    return _evaluate_known(factor, factor.name, columns, state, trusted)


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
    if column.is_bool or column.is_integer:  # labels as the user and formulaic write them
        levels = levels.astype(bool if column.is_bool else int)
    full = np.full(len(column.values), -1, dtype=np.int32)
    full[known] = codes
    return Labels(full, tuple(levels.tolist()))


def _calls(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _categorical(
    factor: Factor,
    call: ast.Call,
    aliases: Mapping[str, str],
    columns: Mapping[str, Numbers | Labels],
    state: dict[str, Any],
    trusted: bool,
) -> Labels:
    """``C(inner, contrasts, levels=...)``; contrasts have no meaning for trees."""
    levels = next((k.value for k in call.keywords if k.arg == "levels"), None)
    wanted = None if levels is None else tuple(ast.literal_eval(levels))
    inner = call.args[0]
    values: Values
    if isinstance(inner, ast.Name):
        values = columns[aliases.get(inner.id, inner.id)]
    else:
        _check_comparisons(factor, inner, aliases, columns)
        values = _evaluate_known(factor, _source(inner, aliases), columns, state, trusted)
    if isinstance(values, Basis):
        raise DataError(
            f"The term {quoted(factor.name)} must have one column between the parentheses of `C()`."
            f"\n  Found: {len(values.fields)}."
        )
    labels = as_factor(values, wanted)
    if not state.get("fitted"):
        _check_base(factor, call, labels)
    state["fitted"] = True
    return labels


def _check_base(factor: Factor, call: ast.Call, labels: Labels) -> None:
    """The reference of a treatment contrast must be a level, or a linear refit would fail."""
    given = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "contrasts")]
    contrast = given[0] if given else None
    if not isinstance(contrast, ast.Call) or "reatment" not in ast.unparse(contrast.func):
        return
    for argument in [*contrast.args, *(extra.value for extra in contrast.keywords)]:
        if isinstance(argument, ast.Constant) and argument.value not in labels.levels:
            raise DataError(
                f"The reference level in {quoted(factor.name)} must be a level.\n"
                f"  Found: {argument.value!r}. Levels: {listing(labels.levels)}."
            )


def _source(node: ast.expr, aliases: Mapping[str, str]) -> str:
    """The expression of a part of a syntax tree, odd names in backticks again."""
    text = ast.unparse(node)
    if not aliases:
        return text
    names = "|".join(sorted(aliases, key=len, reverse=True))
    return re.sub(rf"\b({names})\b", lambda found: f"`{aliases[found[0]]}`", text)


def _check_comparisons(
    factor: Factor,
    syntax: ast.expr,
    aliases: Mapping[str, str],
    columns: Mapping[str, Numbers | Labels],
) -> None:
    """Text is compared by the alphabet; categories need an order to be compared by."""
    for node in ast.walk(syntax):
        if not isinstance(node, ast.Compare) or isinstance(node.ops[0], ast.Eq | ast.NotEq):
            continue
        for side in (node.left, *node.comparators):
            name = aliases.get(side.id, side.id) if isinstance(side, ast.Name) else ""
            column = columns.get(name)
            if isinstance(column, Labels) and column.declared and not column.ordered:
                text = formula_name(name)
                raise DataError(
                    f"Can't compare the categories of {quoted(name)}: they have no order.\n"
                    f"  Found: {quoted(factor.name)}.\n"
                    f"  Name the levels, for example `I(({text} == 'a') | ({text} == 'b'))`, or"
                    f" order them: `data[{name!r}].cat.as_ordered()`."
                )


def _evaluate_known(
    factor: Factor,
    expression: str,
    columns: Mapping[str, Numbers | Labels],
    state: dict[str, Any],
    trusted: bool,
) -> Values:
    used = {name: columns[name] for name in factor.variables}
    missing = missing_rows(used)
    known = None if not missing.any() else np.flatnonzero(~missing)
    if missing.all():
        # Nothing to compute from, or to learn from.
        return Numbers(np.full(len(missing), np.nan))
    environment = {name: _for_python(column, known) for name, column in used.items()}
    if expression.startswith("{"):
        expression = expression.strip("{}")
    try:
        found, categorical = evaluate_expression(expression, environment, state, trusted=trusted)
    except Exception as error:
        raise _not_computed(factor, error) from error
    n_known = len(missing) if known is None else len(known)
    if not found or any(len(np.atleast_1d(v)) != n_known for v in found.values()):
        raise DataError(
            f"The term {quoted(factor.name)} must give one value per row, {n_known}.\n"
            f"  Found: {', '.join(str(len(np.atleast_1d(v))) for v in found.values()) or 'none'}."
        )
    allows_nan = "extrapolation='na'" in ast.unparse(factor.syntax()[0])
    if list(found) == [""]:
        column = _read(found[""], factor, categorical=categorical)
        if isinstance(column, Labels):
            return Labels(_spread(column.codes, known, missing, -1), column.levels, column.declared)
        _check_finite(column.values, factor, known, allows_nan=allows_nan)
        values = _spread(column.values, known, missing, np.nan)
        return Numbers(values, is_bool=column.is_bool, is_integer=column.is_integer)
    arrays = []
    for values in found.values():
        array = np.asarray(values, dtype=np.float64)
        _check_finite(array, factor, known, allows_nan=allows_nan)
        arrays.append(_spread(array, known, missing, np.nan))
    return Basis(tuple(found), tuple(arrays))


def missing_rows(columns: Mapping[str, Numbers | Labels]) -> BoolArray:
    """Rows in which one of the columns is missing."""
    each = [np.isnan(c.values) if isinstance(c, Numbers) else c.codes < 0 for c in columns.values()]
    return np.asarray(np.logical_or.reduce(each))


def _for_python(column: Numbers | Labels, known: NDArray[np.int64] | None) -> Any:
    """Known values of the type that the user sees."""
    import pandas as pd

    if isinstance(column, Labels):
        codes = column.codes if known is None else column.codes[known]
        if column.declared and column.ordered:
            kind = pd.CategoricalDtype(list(column.levels), ordered=True)
            return pd.Series(pd.Categorical.from_codes(codes, dtype=kind))
        levels = np.empty(len(column.levels), dtype=object)
        levels[:] = column.levels
        return pd.Series(levels[codes], dtype=object)
    values = column.values if known is None else column.values[known]
    if column.is_bool:
        return pd.Series(values.astype(bool))
    if column.is_integer and np.all(abs(values) < 2**53):
        return pd.Series(values.astype(np.int64))
    return pd.Series(values)


def _read(values: Any, factor: Factor, *, categorical: bool) -> Numbers | Labels:
    """One column of results in the internal form."""
    import pandas as pd

    series = pd.Series(values).reset_index(drop=True)
    if series.dtype == object:
        series = series.infer_objects()
    if categorical:
        return _hashed(series, factor)
    if not pd.api.types.is_numeric_dtype(series.dtype):
        return read_column(series, factor.name, needed=True)
    whole = bool(pd.api.types.is_integer_dtype(series.dtype))
    return Numbers(
        np.array(series.to_numpy(), dtype=np.float64),
        is_bool=bool(pd.api.types.is_bool_dtype(series.dtype)),
        is_integer=whole,
    )


def _hashed(series: Any, factor: Factor) -> Labels:
    """``hashed(x, levels)`` gives numbers below `levels`, all of which are levels."""
    call = factor.syntax()[0]
    assert isinstance(call, ast.Call)
    given = [k.value for k in call.keywords if k.arg == "levels"] or call.args[1:2]
    n_levels = int(ast.literal_eval(given[0]))
    return Labels(series.to_numpy(dtype=np.int32), tuple(range(n_levels)), declared=True)


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
    if bad.all() and _learns(factor):
        way = "Does the column vary? One that is constant has no scale: leave the term out."
    else:
        way = "Change the expression (`log1p(x)` is finite at 0) or the data."
    raise DataError(
        f"The term {quoted(factor.name)} must be finite wherever its columns are known.\n"
        f"  Found: {values[at]} in row {row} (counted from 0), {int(bad.sum())} such"
        f" row{'s' if bad.sum() > 1 else ''} in all.\n"
        f"  {way}"
    )


def _learns(factor: Factor) -> bool:
    return bool(re.search(r"\b(center|scale|standardize|poly|bs|cr|cs|cc)\(", factor.name))


def _not_computed(factor: Factor, error: Exception) -> DataError:
    way = ""
    if "beyond upper and/or lower bounds" in str(error) or "ExtrapolationError" in repr(
        type(error)
    ):
        way = (
            "\n  Say what holds outside of the values that the spline was made from, for example"
            " with `extrapolation='clip'` as a further argument."
        )
    return DataError(
        f"Can't compute the term {quoted(factor.name)}.\n  {type(error).__name__}: {error}{way}"
    )
