"""Text that is no factor: identifiers of rows, and numbers stored as text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from treeselect.designs.evaluation import Values
from treeselect.errors import DataError, listing, quoted
from treeselect.formulas.terms import Factor, ParsedFormula
from treeselect.frames.names import formula_name
from treeselect.frames.number_text import NumberText, number_text
from treeselect.frames.values import Labels
from treeselect.shown import shown

IDENTIFIER_LEVELS = 10
"""Text with more levels than this, and than half of its rows, counts as an identifier."""

_DOT = re.compile(r"(?<![\w.`])\.(?![\w.`])")
"""The sign for all columns."""

_MOST_TERMS = 20
"""Most terms of a formula that is written anew."""


def identifier_problems(
    formula: ParsedFormula, values: Mapping[str, Values]
) -> tuple[list[DataError], list[str]]:
    """Errors for text that would fit each row separately as a factor, and its columns."""
    errors: list[DataError] = []
    suspects: list[str] = []
    ids: dict[str, str] = {}
    for factor in {f.name: f for t in formula.terms for f in t.factors if f.is_plain}.values():
        column = values.get(factor.name)  # C(x) would say that it is meant as a factor
        if not isinstance(column, Labels):
            continue
        n_known = int(np.count_nonzero(column.codes >= 0))
        n_levels = len(column.levels)
        if n_levels <= max(IDENTIFIER_LEVELS, n_known / 2):
            continue
        suspects.append(factor.name)
        found = f"{n_levels:,} distinct values in {n_known:,} rows"
        numbers = None if column.declared else number_text(column.levels)
        if numbers is None:
            ids[factor.name] = f"{quoted(factor.name)} has {found}"
        else:
            errors.append(_as_text(factor, numbers, found))
    if ids:
        errors.append(_identifiers(ids))
    return errors, suspects


def _identifiers(found: Mapping[str, str]) -> DataError:
    first = formula_name(next(iter(found)))
    more = f"; and {len(found) - 12} more" if len(found) > 12 else ""
    return DataError(
        f"Text columns with this many values look like identifiers: {listing(found)}.\n"
        f"  Found: {'; '.join(list(found.values())[:12])}{more}.\n"
        f"  If a column is a factor after all, write `C({shown(first)})`."
    )


def _as_text(factor: Factor, numbers: NumberText, found: str) -> DataError:
    example = f"{found}, such as {numbers.example!r}"
    name = factor.name
    ways = f"`data[{name!r}] = {numbers.conversion(name)}`"
    if numbers.codes:
        codes = ", ".join(map(repr, numbers.codes))
        example += f", and {codes}"
        if numbers.is_plain:
            ways = f"`na={{{name!r}: [{codes}]}}`, or {ways}"
    return DataError(
        f"Column {quoted(name)} holds numbers as text.\n  Found: {example}.\n  Convert it: {ways}."
    )


def without_columns(formula: ParsedFormula, names: Sequence[str]) -> tuple[str, ...]:
    """The formula without the terms of these columns, as advice; nothing if it can't be left."""
    if not names:
        return ()
    left = [term for term in formula.terms if not set(term.variables) & set(names)]
    if not left:
        return ()
    text = formula.text.strip()
    gone = [term for term in formula.terms if set(term.variables) & set(names)]
    if _DOT.search(text.partition("~")[2]):
        written = f"{text} {' '.join(f'- {term.text}' for term in gone)}"
        if len(gone) > _MOST_TERMS:
            return ()
    elif len(left) <= _MOST_TERMS and "strata(" not in text:
        written = f"{text.partition('~')[0].strip()} ~ {' + '.join(term.text for term in left)}"
    else:
        return ()
    them = "it" if len(set(names)) == 1 else "them"
    return (f"To leave {them} out: `{shown(written)}`.",)
