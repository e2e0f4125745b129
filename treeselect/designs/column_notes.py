"""What readers should know of the columns behind the terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.designs.column_problems import IDENTIFIER_LEVELS
from treeselect.designs.design import CodedColumns
from treeselect.designs.evaluation import Values
from treeselect.errors import listing
from treeselect.formulas.terms import ParsedFormula
from treeselect.frames.values import Labels, Numbers


def column_notes(
    formula: ParsedFormula, values: Mapping[str, Values], coded: CodedColumns
) -> list[str]:
    """Notes on the columns for readers of the summary."""
    varying = {
        name
        for name, column in zip(coded.column_names, coded.columns, strict=True)
        if _varies(column)
    }
    empty, constant, keys = [], [], []
    for term in formula.terms:
        columns = [values[factor.name] for factor in term.factors]
        if any(_is_empty(column) for column in columns):
            empty.append(term.name)
        elif term.name not in varying:
            constant.append(term.name)
        elif term.is_plain and _counts_rows(columns[0]):
            keys.append(term.name)
    notes = []
    if empty:
        notes.append(f"Entirely missing, can't be selected: {listing(empty)}.")
    if constant:
        notes.append(f"Constant, can't be selected: {listing(constant)}.")
    if keys:
        notes.append(
            f"Whole numbers that increase from row to row, perhaps an identifier: {listing(keys)}."
        )
    return notes


def _varies(column: NDArray[Any]) -> bool:
    first = column[0]
    if first != first:  # missing
        return not bool(np.isnan(column).all())
    return not bool((column == first).all())


def _is_empty(values: Values) -> bool:
    if isinstance(values, Labels):
        return not bool((values.codes >= 0).any())
    first = values.values if isinstance(values, Numbers) else values.columns[0]
    return bool(np.isnan(first).all())


def _counts_rows(values: Values) -> bool:
    if not isinstance(values, Numbers) or len(values.values) <= IDENTIFIER_LEVELS:
        return False
    column = values.values
    rises = column[0] < column[1] and bool((column[1:] > column[:-1]).all())
    return rises and bool((column == np.floor(column)).all())
