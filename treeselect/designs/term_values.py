"""Values of all terms of a formula, or one error with all that stands in their way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treeselect.designs.column_problems import identifier_problems, without_columns
from treeselect.designs.evaluation import Values, evaluate
from treeselect.errors import DataError, joined
from treeselect.formulas.terms import ParsedFormula
from treeselect.frames.values import Labels, Numbers, read_column, read_plain_numbers

if TYPE_CHECKING:
    import pandas as pd


def read_terms(
    formula: ParsedFormula, frame: pd.DataFrame, also: Sequence[DataError] = ()
) -> tuple[dict[str, Numbers | Labels], dict[str, dict[str, Any]], dict[str, Values]]:
    """Columns behind the terms, what their transforms learned, and values of their factors.

    Parameters
    ----------
    formula : ParsedFormula
    frame : pandas.DataFrame
    also : sequence of DataError
        Problems that are known already, of the response for example.

    Raises
    ------
    DataError
        If there are any problems; it lists all of them.
    """
    columns: dict[str, Numbers | Labels] = {}
    errors = list(also)
    unusable: list[str] = []
    names = list(dict.fromkeys(v for term in formula.terms for v in term.variables))
    plain = read_plain_numbers(frame, names)
    for name in names:
        try:
            columns[name] = plain[name] if name in plain else read_column(frame[name], name)
        except DataError as error:
            errors.append(error)
            unusable.append(name)
    factors = {f.name: f for term in formula.terms for f in term.factors}
    state: dict[str, dict[str, Any]] = {name: {} for name in factors}
    values: dict[str, Values] = {}
    for name, factor in factors.items():
        if columns.keys() >= set(factor.variables):
            try:
                values[name] = evaluate(factor, columns, state[name])
            except DataError as error:
                errors.append(error)
    problems, suspects = identifier_problems(formula, values)
    if errors or problems:
        way = without_columns(formula, [*unusable, *suspects])
        raise joined([*errors, *problems], "`data`", *way)
    return columns, state, values
