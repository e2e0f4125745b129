"""The selected terms and their effects."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.printing import decimal_text, enumeration, interval_text, number_text
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, Mark, Note, Section, Table, bars
from treeselect.results.effects import (
    effect_cells,
    interval_notes,
    main_effects,
    meaning_of_effects,
    scale_of_effects,
)
from treeselect.results.summary import overview_table
from treeselect.results.verdict import BY_REQUEST, could_vary

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

_MOST_OTHERS = 10
"""Terms outside the selection; the frequencies of more are in a table of their own."""


def terms(material: FitMaterial) -> Section:
    """One row for each term."""
    fit = material.fit
    found, left_out = overview_table(fit, MOST_ROWS, _MOST_OTHERS)
    rows = found.to_dict("records")
    columns = _columns(material, found, rows)
    marks = {i: own.marks for i, own in enumerate(columns) if own.marks}
    inside = [bool(row["selected"]) for row in rows]
    table = Table(
        columns=tuple(own.name for own in columns),
        rows=tuple(zip(*(own.cells for own in columns), strict=True)),
        more=left_out,
        marks=marks,
        outside=() if all(inside) else tuple(not own for own in inside),
    )
    caption = "Selected terms, most important first"
    caption += ", and close competitors" if table.outside else ""
    return Section(
        "terms",
        "Selected terms",
        table=table.titled(caption) if table.rows else "None.",
        notes=Note(" ".join(_term_notes(material, found))) if table.rows else None,
    )


Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table: its head, its cells, and pictures beside them."""

    name: str
    cells: tuple[str, ...]
    marks: tuple[Mark | None, ...] = ()


def _columns(material: FitMaterial, found: pd.DataFrame, rows: Sequence[Row]) -> list[_Column]:
    """The columns that apply to this fit, in their order."""
    columns = [_Column("Term", tuple(str(row["term"]) for row in rows))]
    if _is_grouped(found):
        columns.append(_Column("Group", tuple(str(row["group"]) for row in rows)))
    if (found["n_missing"] > 0).any():
        numbers = tuple(number_text(row["n_missing"], ",.0f", "") for row in rows)
        columns.append(_Column("Missing", numbers))
    if material.fit.step.decisions is not None:
        columns.append(_Column("Decision", tuple(str(row["decision"]) for row in rows)))
    columns.append(_importance(rows))
    if _varied(material.fit):
        columns.append(_frequency(rows))
    if material.effects is not None:
        columns.append(_effect_column(material.effects, rows))
    if any(row["substitutes"] for row in rows):
        named = [enumeration(row["substitutes"], 4) if row["substitutes"] else "" for row in rows]
        columns.append(_Column("Substitutes", tuple(named)))
    if (found["cost"] != 1).any():
        columns.append(_Column("Cost", tuple(f"{row['cost']:g}" for row in rows)))
    return columns


def _varied(fit: Fit) -> bool:
    """Whether there are resamples, on which the selection could vary."""
    return fit.resampled is not None and could_vary(fit.resampled)


def _importance(rows: Sequence[Row]) -> _Column:
    """Empty for terms outside the selection, which are not in the final model, and for the second
    and further terms of a group."""
    seen: set[str] = set()
    shown = []
    for row in rows:
        shown.append(bool(row["selected"]) and row["group"] not in seen)
        seen.add(row["group"])
    values = [row["importance"] if own else 0.0 for row, own in zip(rows, shown, strict=True)]
    return _Column(
        "Importance",
        tuple(decimal_text(v, 3) if own else "" for v, own in zip(values, shown, strict=True)),
        tuple(bar if own else None for bar, own in zip(bars(values), shown, strict=True)),
    )


def _frequency(rows: Sequence[Row]) -> _Column:
    return _Column(
        "Frequency",
        tuple(BY_REQUEST if row["kept"] else decimal_text(row["frequency"], 2) for row in rows),
        tuple(None if row["kept"] else frequency_mark(row) for row in rows),
    )


def frequency_mark(row: Row) -> Mark:
    """A selection frequency with its interval."""
    low, high = float(row["ci_low"]), float(row["ci_high"])
    text = interval_text(low, high)
    return Mark(float(row["frequency"]), low, high, text, bool(row["selected"]))


def _effect_column(effects: pd.DataFrame, rows: Sequence[Row]) -> _Column:
    """For each term, the step with the largest change."""
    main = main_effects(effects)
    kinds = dict(zip(main.index, main["direction"], strict=True))
    cells = {own.term: own for own in reversed(effect_cells(main.reset_index()))}
    found = []
    for row in rows:
        own = cells.get(str(row["term"])) if row["selected"] else None
        if own is None:
            found.append("")
            continue
        words = kinds[own.term]
        found.append(f"{words}, {own.step}: {own.change}" if own.change else str(words))
    return _Column("Effect", tuple(found))


def _is_grouped(found: pd.DataFrame) -> bool:
    return bool((found["term"] != found["group"]).any())


def _term_notes(material: FitMaterial, found: pd.DataFrame) -> list[str]:
    """How to read the columns."""
    fit = material.fit
    if found.empty:
        return []
    shared = "; that of a group is shown at its first term" if _is_grouped(found) else ""
    note = fit.model.importance_note
    notes = []
    if found["selected"].any():
        notes.append(f"Importance: {note[0].lower()}{note[1:]}{shared}.")
    if _varied(fit):
        notes.append(_frequency_note(fit, found))
    effects = material.effects
    if effects is not None and material.terms_have_effects:
        notes += effect_meaning(fit, effects)
    elif effects is not None and found["selected"].any():
        notes.append(
            f"Effect: predicted change in {scale_of_effects(fit)} over the term's step with the"
            " largest change."
        )
    return notes


def _frequency_note(fit: Fit, found: pd.DataFrame) -> str:
    text = f"Frequency: share of {fit.stability.words} that selected the term; lines are 95%"
    text += " intervals"
    if not np.all(found["selected"]):
        text += (
            ". Hollow dots are terms outside the selection that were selected in at least half of"
            " the resamples, more often than some selected term, or as a substitute for one"
        )
    return f"{text}."


# --- the direction, size and uncertainty of the effect of each term -----------------------------


def effects(material: FitMaterial) -> Section | None:
    """Effects of the most important terms; None without the data or stored effects, or where the
    table of terms already shows them all."""
    fit, found = material.fit, material.effects
    if found is None or material.terms_have_effects:
        return None
    intervals = interval_notes(fit.effect_record)
    lead = [*effect_meaning(fit, found), *intervals]
    cells = effect_cells(found)
    rows = [
        (own.term, own.step, own.change, *([own.interval] if intervals else []), own.direction)
        for own in cells[:MOST_ROWS]
    ]
    columns = ("Term", "Step", "Change", *(["2.5 to 97.5%"] if intervals else []), "Direction")
    table = Table(columns, tuple(rows), len(cells) - len(rows), caption="Effects of the terms")
    return Section("effects", "Effects", sub=True, lead=" ".join(lead), table=table)


def effect_meaning(fit: Fit, found: pd.DataFrame) -> list[str]:
    """What the effects are, and how to get intervals where none are stored."""
    said = [meaning_of_effects(fit, found)]
    if fit.effect_record is None:
        said.append("`fit.resample(100, effects=True)` adds intervals.")
    return said
