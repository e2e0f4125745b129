"""The data: baseline tables and associations."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treeselect.designs.modeldata import Associations
from treeselect.engine.rounding import falling
from treeselect.figures.axes import number_text
from treeselect.printing import enumeration
from treeselect.reports.parts import FitMaterial, Section, Table
from treeselect.resampling.agreement import LEAST_ASSOCIATION
from treeselect.resampling.fit import Fit, noun
from treeselect.results import describing
from treeselect.results.curves import level_text
from treeselect.results.summary import rows_note
from treeselect.results.tables import tidy_table

_MOST_SELECTED, _MOST_OTHERS, _MOST = 30, 20, 40
"""Most variables in selected terms, in the folded table of others, and in all."""

_MOST_CELLS = 5_000_000
"""Limit on rows times variables described by default: about a second."""


def data(material: FitMaterial) -> Section | None:
    """Descriptive statistics; None without the data."""
    fit = material.fit
    if not fit.design.has_data:
        return None
    inside = list(fit.variables)
    spec = fit.design.spec  # of the others, those in terms closest to selection first
    every = dict.fromkeys(v for t in tidy_table(fit)["term"] for v in spec[t].term.variables)
    outside = [name for name in every if name not in set(inside)]
    room = max(_MOST_CELLS // len(fit.design.row_weights), 1)
    shown = inside[: min(_MOST_SELECTED, room)]
    n_others = min(_MOST_OTHERS, _MOST - len(shown), room - len(shown))
    table = _baseline(fit, "the selected terms", shown, len(inside))
    others = _baseline(fit, "no selected term", outside[:n_others], len(outside))
    tables = [found for found in (table, others) if found]
    return Section(
        "data",
        "The data",
        lead=_data_lead(fit, tables) if tables else None,
        table=table,
        others=others and replace(others, fold="Variables in other terms"),
        sentences=data_sentences(fit),
    )


def data_sentences(fit: Fit) -> tuple[str, ...]:
    """Rows and columns not used in the selection, and rare levels."""
    word = fit.design.word_for
    rare = [f"{level} of {word(name)} ({n:,})" for name, level, n in describing.rare_levels(fit)]
    said = (
        [f"Levels with fewer than {describing.FEW_ROWS} rows: {enumeration(rare)}."] if rare else []
    )
    return (rows_note(fit), *fit.design.notes, *said)


def _baseline(fit: Fit, terms: str, names: Sequence[str], n_all: int) -> Table | None:
    if not names:
        return None
    found = describing.describe_table(fit, names, most_levels=10)
    width = 1 + found["group"].nunique()  # each line begins with the cell for all rows
    records: list[dict[str, Any]] = found.to_dict("records")  # type: ignore[assignment]
    lines = [records[i : i + width] for i in range(0, len(records), width)]
    rows = [_row(fit.design.word_for(line[0]["variable"]), line) for line in lines]
    by = f", by {fit.design.response.name}" if width > 1 else ""
    heads = [c["group"] if isinstance(c["group"], str) else "All" for c in lines[0]]
    heads = [f"{h} (n\u00a0=\u00a0{c['n_group']:,})" for h, c in zip(heads, lines[0], strict=True)]
    return Table(
        columns=("Variable", *heads),
        rows=tuple(row for row in rows if row),
        more=n_all - len(names),
        caption=f"Variables in {terms}{by}",
    )


def _row(name: str, line: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """A number, or a level; missing values have a row only where there are any."""
    kind, level = line[0]["kind"], line[0]["level"]
    if kind == describing.NUMBERS:
        return (name, *map(_quartiles, line))
    if kind == describing.MISSING and not line[0]["n"]:
        return ()
    text = kind if kind == describing.MISSING else level_text(level)
    return (f"{name}: {text}", *map(_counted, line))


def _counted(cell: dict[str, Any]) -> str:
    """``"466 (36%)"``; only shares of 0 and 1 are shown as 0% and 100%."""
    n, share = cell["n"], cell["share"]
    if not n:
        return "0"
    low = "<1%" if share <= 0.005 else f"{share:.0%}"
    return f"{n:,} ({'>99%' if 0.995 <= share < 1 else low})"


def _quartiles(cell: dict[str, Any]) -> str:
    """``"28 (21 to 39)"``, numbers of three digits, or whole."""
    if not cell["n"]:
        return "–"
    values = (cell[name] for name in ("q25", "median", "q75"))
    rounded = (float(f"{value:.3g}") if abs(value) < 1000 else value for value in values)
    low, middle, high = map(number_text, rounded)
    return f"{middle} ({low}\u00a0to\u00a0{high})"


def _data_lead(fit: Fit, tables: Sequence[Table]) -> str:
    response, weights = fit.design.response, fit.design.row_weights
    by = ""
    if tables and len(tables[0].columns) > 2:
        if response.classes:
            by = f" Columns are the classes of {response.name}."
        elif response.family.has_times:
            by = " Columns separate rows with an event from censored rows."
        else:
            by = f" Columns are thirds of {response.name}, as nearly equal as ties allow."
    said = (
        "Numbers: median (lower to upper quartile). Levels: number of rows (share of the rows with"
        f" a known value). Missing values are counted where there are any.{by}"
    )
    if weights.are_copies:
        copies = " Each row counts as often as its case weight."
        return f"{said}{copies if fit.design.rows.more_copies else ''}"
    return f"{said} Each row counts once, whatever its weight."


# --- associations between selected and nearly selected units in the data ------------------------

_MOST_MEASURED = 20_000_000
"""Limit on rows times pairs that are measured by default: about a second."""


def associations(material: FitMaterial) -> Section | None:
    """Associations in the data; None without these, or of fewer than two units."""
    fit = material.fit
    if not fit.design.has_data:
        return None
    room = max(int((_MOST_MEASURED / len(fit.design.row_weights)) ** 0.5), 2)
    units = describing.near_units(fit, min(describing.MOST_UNITS, room))
    if len(units) < 2:
        return None
    values = Associations(fit.design).among(units)
    pairs = list(itertools.combinations(range(len(units)), 2))
    order = [pairs[at] for at in falling(np.array([values[pair] for pair in pairs]))]
    rows = tuple((units[i], units[j], f"{values[i, j]:.2f}") for i, j in order[:20])
    table = Table((noun(fit, 1).capitalize(), "Other", "Association"), rows, len(order) - len(rows))
    return Section(
        "associations",
        "Associations in the data",
        sub=True,
        lead=_association_lead(fit, units),
        table=table.titled("Associations in the data, strongest first"),
    )


def _association_lead(fit: Fit, units: Sequence[str]) -> str:
    n_selected, nouns = len(fit.groups), noun(fit)
    said = (
        "Associations range from 0 to 1: absolute rank correlation of two numbers, correlation"
        " ratio of the ranks of a number and a factor, Cramér's V of two factors; for"
        f" {nouns} with several columns, the strongest. From {LEAST_ASSOCIATION:g} upwards, {nouns}"
        " can count as interchangeable."
    )
    if len(units) < n_selected:
        return f"{said} Of the {n_selected:,} selected {nouns}, the {len(units)} most important."
    if len(units) == n_selected:
        return f"{said} All are selected."
    return f"{said} Selected {nouns} and the next candidates; `fit.data.neighbours()` has all."
