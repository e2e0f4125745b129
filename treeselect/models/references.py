"""Reference levels of the factors of a linear model, as rows of its table of coefficients."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.designs.columns import TermSpec
from treeselect.designs.labels import term_label
from treeselect.designs.modeldata import ModelData

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Reference:
    """A level with which the others are compared.

    Attributes
    ----------
    column : str
        As its column would be called: ``sex[female]``.
    label : str
        In print: ``sex: female (reference)``.
    """

    column: str
    label: str


def reference_levels(data: ModelData, columns: Collection[str]) -> dict[str, Reference]:
    """The reference level of each factor, by its term.

    Parameters
    ----------
    data : ModelData
    columns : collection of str
        Of the matrix of the linear model, with those that are linear combinations of others.

    Returns
    -------
    dict of str to Reference
        Factors with treatment contrasts, outside interactions, of which one level has no column.
    """
    found = {}
    for spec in data.spec.terms:
        level = _level(spec, columns)
        if level is not None:
            name, label = spec.term.name, term_label(spec.term, data.labels)
            found[name] = Reference(f"{name}[{level}]", f"{label}: {level} (reference)")
    return found


def _level(spec: TermSpec, columns: Collection[str]) -> Any:
    if len(spec.factors) > 1:
        return None
    (own,) = spec.factors
    levels = (False, True) if own.is_bool else own.levels or ()
    without = [level for level in levels if f"{own.factor.name}[T.{level}]" not in columns]
    return without[0] if len(without) == 1 < len(levels) else None


def with_references(table: pd.DataFrame, references: Mapping[str, Reference]) -> pd.DataFrame:
    """The table of coefficients with a row for each reference level, above its term's others.

    The estimate is 0; the rest of the row is missing. With more than two classes, there is a row
    for each class that is compared with the first.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    above: tuple[str, str] | None = None
    for row in table.to_dict("records"):
        term, column = str(row["term"]), str(row["column"])
        before = column[: column.index(f"{term}[")] if f"{term}[" in column else ""
        if term in references and (term, before) != above:
            rows.append(
                dict.fromkeys(map(str, table), np.nan)
                | {"term": term, "column": before + references[term].column, "estimate": 0.0}
            )
        above = (term, before)
        rows.append({str(name): value for name, value in row.items()})
    return pd.DataFrame(rows, columns=list(table)).astype(table.dtypes.to_dict())


def rows_with_references(
    table: pd.DataFrame, references: Mapping[str, Reference], rows: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """The printed rows of a table of coefficients, with those of reference levels."""
    columns = with_references(table, references)["column"]
    labels = {reference.column: reference.label for reference in references.values()}
    own, found = iter(rows), []
    known = set(table["column"])
    for column in columns:
        if column in known:
            found.append(next(own))
            continue
        (name,) = (name for name in labels if column.endswith(name))
        label = column.removesuffix(name) + labels[name]
        found.append((label, *[""] * (len(rows[0]) - 1)))
    return tuple(found)
