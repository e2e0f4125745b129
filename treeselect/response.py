"""The left-hand side: values, classes, family, and the rows that can be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeselect.errors import DataError, FormulaError, NotBuiltError, OptionError, listing, quoted
from treeselect.evaluation import Basis, evaluate
from treeselect.families import BINOMIAL, GAUSSIAN, Family
from treeselect.formula import ParsedFormula
from treeselect.frames import Labels, Numbers, read_column
from treeselect.guard import formula_name

if TYPE_CHECKING:
    import pandas as pd

FAMILIES = ("auto", "gaussian", "binomial", "multinomial", "poisson")


_LARGEST = 1e100
"""Largest response whose squares, and sums of them, are finite numbers."""


@dataclass(frozen=True, slots=True)
class Response:
    """The response of the rows where it is known.

    Attributes
    ----------
    name : str
        The left-hand side.
    y : ndarray of float, shape (n_rows,)
        For two classes the indicator of the second.
    rows : ndarray of int64, shape (n_rows,)
        Rows of the data that are used.
    family : Family
    reason : str
        How the family was found.
    classes : tuple
        The two classes, as the user has them, the positive one last; empty for numbers.
    n_dropped : int
        Rows left out because the response is missing.
    """

    name: str
    y: NDArray[np.float64]
    rows: NDArray[np.int64]
    family: Family
    reason: str
    classes: tuple[Any, ...]
    n_dropped: int


def read_response(
    formula: ParsedFormula, frame: pd.DataFrame, family: str, *, trusted: bool = False
) -> Response:
    """Evaluate the left-hand side and settle the family.

    Text, truth values, categories and numbers that are only 0 and 1 are classes. The positive
    class is 1, True, the last category, else the second in sorted order.

    Raises
    ------
    OptionError
        If `family` is unknown or does not fit the response.
    DataError
        If there is one class only, no variation, or nothing known.
    NotBuiltError
        For more than two classes and for counts.
    """
    if family not in FAMILIES:
        raise OptionError(f"`family` must be one of {listing(FAMILIES)}.\n  Found: {family!r}.")
    if family in ("multinomial", "poisson"):
        raise NotBuiltError(
            f'`family="{family}"` is not built yet.\n  This version has "gaussian" and "binomial":'
            ' counts may be taken as numbers, with `family="gaussian"`, perhaps on the log scale.'
            if family == "poisson"
            else f'`family="{family}"` is not built yet.\n  This version has "gaussian" and'
            ' "binomial": select for one class against the rest, as in `I(y == "a") ~ ...`.'
        )
    term = formula.response
    columns = {name: read_column(frame[name], name, needed=True) for name in term.variables}
    values = evaluate(term.factors[0], columns, {}, trusted=trusted)
    if isinstance(values, Labels):
        return _classes(term.name, values, family)
    if isinstance(values, Basis):
        raise FormulaError(
            f"The response {quoted(term.name)} must be one column.\n  {formula.text}\n"
            f"  Found: {len(values.fields)}. A spline or polynomial belongs on the right."
        )
    return _numbers(term.name, values, family)


def _classes(name: str, labels: Labels, family: str) -> Response:
    if family == "gaussian":
        raise OptionError(
            f'`family="gaussian"` needs a numeric response.\n'
            f"  Found: {quoted(name)} holds text or categories."
        )
    rows = np.flatnonzero(labels.codes >= 0)
    present = np.unique(labels.codes[rows])
    kind = "a category" if labels.declared else "text"
    _check_two(name, [labels.levels[c] for c in present])
    classes = (labels.levels[present[0]], labels.levels[present[-1]])
    y = (labels.codes[rows] == present[-1]).astype(np.float64)
    reason = f"{quoted(name)} is {kind} with two classes"
    return _response(name, y, rows, len(labels.codes), BINOMIAL, reason, classes)


def _numbers(name: str, numbers: Numbers, family: str) -> Response:
    rows = np.flatnonzero(~np.isnan(numbers.values))
    y = numbers.values[rows]
    distinct = np.unique(y)
    if not len(distinct):
        raise DataError(f"The response {quoted(name)} must have known values.\n  Found: none.")
    zero_one = bool(np.isin(distinct, (0.0, 1.0)).all())
    if family == "gaussian" or (family == "auto" and not zero_one):
        if len(distinct) < 2:
            raise DataError(
                f"The response {quoted(name)} must vary.\n  Found: {distinct[0]:g} in every row."
            )
        if np.abs(y).max() > _LARGEST:
            raise DataError(
                f"The response {quoted(name)} must be at most {_LARGEST:g} in absolute value.\n"
                f"  Found: {y[np.argmax(np.abs(y))]:g}. Give it in other units."
            )
        reason = "as asked" if family == "gaussian" else f"{quoted(name)} is numeric"
        return _response(name, y, rows, len(numbers.values), GAUSSIAN, reason, ())
    classes: list[Any] = [bool(v) if numbers.is_bool else _plain(v) for v in distinct]
    _check_two(name, classes)
    reason = (
        f"{quoted(name)} holds truth values"
        if numbers.is_bool
        else f"{quoted(name)} is 0 and 1"
        if zero_one
        else "as asked"
    )
    indicator = (y == distinct[-1]).astype(np.float64)
    return _response(name, indicator, rows, len(numbers.values), BINOMIAL, reason, tuple(classes))


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) else float(value)


def _check_two(name: str, classes: list[Any]) -> None:
    if len(classes) < 2:
        found = f"only {classes[0]!r}" if classes else "no known value"
        raise DataError(
            f"The response {quoted(name)} must have two classes.\n  Found: {found}.\n"
            "  Nothing can explain a response that does not vary: check which rows are in `data`."
        )
    if len(classes) > 2:
        left = name if name.endswith(")") else formula_name(name)
        raise NotBuiltError(
            f"A response with more than two classes is not built yet.\n"
            f"  Found: {quoted(name)} has {len(classes)}: {listing(classes, 6)}.\n"
            f"  Select for one class against the rest: `I({left} == {classes[-1]!r}) ~ ...`."
        )


def _response(
    name: str,
    y: NDArray[np.float64],
    rows: NDArray[np.int64],
    n_rows: int,
    family: Family,
    reason: str,
    classes: tuple[Any, ...],
) -> Response:
    return Response(name, y, rows, family, reason, classes, n_rows - len(rows))
