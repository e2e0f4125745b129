"""Tables as pairs of a head and how the cell of a row is printed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from treeselect.printing import numbers

Record = Mapping[Hashable, Any]
"""A row of a frame."""

Cell = str | Callable[[Record], str]
"""The name of a column, whose values are printed as they are, or a function of a row."""


def table(
    found: pd.DataFrame, columns: Iterable[tuple[str, Cell]]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    heads, cells = zip(*columns, strict=True)
    rows = tuple(
        tuple(str(row[cell]) if isinstance(cell, str) else cell(row) for cell in cells)
        for row in found.to_dict("records")
    )
    return heads, rows


def number(name: str, form: str) -> Cell:
    return lambda row: numbers.number_text(row[name], form)


def count(name: str) -> Cell:
    return lambda row: numbers.count_text(row[name])


def decimal(name: str, places: int, missing: str | None = None, sign: str = "") -> Cell:
    return lambda row: numbers.decimal_text(row[name], places, sign, missing)


def interval(
    low: str, high: str, form: str = "", missing: str = "–", *, places: int = 2, sign: str = ""
) -> Cell:
    """An interval, in some format or with so many decimals."""
    return lambda row: numbers.interval_text(
        row[low], row[high], form or numbers.decimal_form(places, sign), missing
    )


def yes(name: str) -> Cell:
    return lambda row: "yes" if row[name] else "no"
