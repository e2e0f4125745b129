"""The printed summary of selections on imputed frames."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from treeselect.designs.follow_up import follow_up_facts
from treeselect.imputation.record import Imputed
from treeselect.printing import MOST_ROWS, SummaryContent, count_text, decimal_text, interval_text
from treeselect.resampling.labelled import as_shown
from treeselect.resampling.nouns import noun
from treeselect.results.calls import unshown_note
from treeselect.results.summary import method_words, names_note, rows_note

if TYPE_CHECKING:
    import pandas as pd

_MOST_SIZES = 20
"""Largest number of imputations whose sizes are listed one by one."""


def summarise_imputed(found: Imputed) -> SummaryContent:
    """Content of the summary, with labels."""
    names = names_note(found.fits[0].design, found.selected)
    found = dataclasses.replace(found, fits=tuple(map(as_shown, found.fits)))
    table = found.tidy_table()
    seen = table[table["imputations"] > 0]
    return SummaryContent(
        title=f"Selected terms over imputations: {found.fits[0].chosen_method.title}",
        facts=_facts(found),
        columns=_columns(found, seen),
        rows=tuple(_row(found, row, seen) for _, row in seen.head(MOST_ROWS).iterrows()),
        notes=(*_notes(found, len(seen)), *names),
    )


# --- head and table ----------------------------------------------------------------------------


def _facts(found: Imputed) -> tuple[tuple[str, str], ...]:
    first, m = found.fits[0], found.n_imputations
    p, needed = len(found.kept), found.needed
    share = f"in all {m} imputations" if needed == m else f"in at least {needed} of {m} imputations"
    of_all = f"of {count_text(p)} {_noun(found, p)}"
    return (
        ("Call", found.call),
        ("Data", found.data),
        ("Family", first.design.response.family_text),
        *follow_up_facts(first.design.response.follow_up),
        *first.design.weights_facts,
        ("Method", method_words(first.chosen_method)),
        ("Selected (k)", f"{count_text(found.kept.sum())} {of_all}, selected {share}"),
        ("Each imputation", f"{_sizes(found)} {of_all}"),
        ("Seed", str(found.seed)),
    )


def _sizes(found: Imputed) -> str:
    sizes = found.chosen.sum(axis=1)
    if sizes.min() == sizes.max():
        return str(sizes[0])
    if len(sizes) > _MOST_SIZES:
        return f"{sizes.min()} to {sizes.max()}"
    return f"{', '.join(map(str, sizes[:-1]))} and {sizes[-1]}"


def _columns(found: Imputed, seen: pd.DataFrame) -> tuple[str, ...]:
    return (
        "Term",
        *(("Group",) if _is_grouped(seen) else ()),
        "Type",
        *(("Selected",) if not seen["selected"].all() else ()),
        "Imputations",
        "Importance",
        *(("Frequency", "95% interval") if found.n_resampled else ()),
    )


def _row(found: Imputed, row: pd.Series, seen: pd.DataFrame) -> tuple[str, ...]:
    cells = [row["term"]]
    cells += [row["group"]] if _is_grouped(seen) else []
    cells.append(found.fits[0].design.spec[row["term"]].kind)
    cells += [] if seen["selected"].all() else ["yes" if row["selected"] else "no"]
    cells += [f"{row['imputations']} of {found.n_imputations}", decimal_text(row["importance"], 3)]
    if found.n_resampled:
        cells += [decimal_text(row["frequency"], 2), interval_text(row["ci_low"], row["ci_high"])]
    return tuple(cells)


def _noun(found: Imputed, n: float = 2) -> str:
    return noun(found.fits[0], n)


def _is_grouped(seen: pd.DataFrame) -> bool:
    return bool((seen["term"] != seen["group"]).any())


# --- notes -------------------------------------------------------------------------------------


def _notes(found: Imputed, n_seen: int) -> tuple[str, ...]:
    notes = [_agreement(found)]
    if n_seen and not found.kept.any():
        notes.append(f"No {_noun(found, 1)} was selected in enough imputations.")
    if n_seen > MOST_ROWS:
        notes.append(f"{n_seen - MOST_ROWS:,} more terms selected in an imputation: `.tidy()`.")
    if np.isfinite(found.index):
        notes.append(
            f"Stability index (Nogueira) over the imputations: {decimal_text(found.index, 2)};"
            " 1 is the same selection each time, 0 is chance. All imputations share one seed, so"
            " any difference is due to the imputed values."
        )
    notes += _resample_notes(found)
    notes.append(f"In each frame: {rows_note(found.fits[0])}")
    notes += _shared_notes(found)
    return (*notes, *unshown_note(found.unshown))


def _agreement(found: Imputed) -> str:
    """How many different sets the imputations selected, and how many selected the final one."""
    m, chosen = found.n_imputations, found.chosen
    distinct = len(np.unique(chosen, axis=0))
    if not chosen.any():
        return f"None of the {m} imputations selected any {_noun(found, 1)}."
    if distinct == 1:
        return f"All {m} imputations selected the same {_noun(found)}."
    same = int((chosen == found.kept).all(axis=1).sum())
    which = f"{same or 'none'} of them"
    return (
        f"The {m} imputations selected {distinct} different sets of {_noun(found)}; {which}"
        " selected exactly the final set."
    )


def _resample_notes(found: Imputed) -> list[str]:
    if not found.resamples:
        return []
    n, m = found.n_resampled, found.n_imputations
    empty = m - n
    notes = []
    if n:
        drawn = next(fit.resampled for fit in found.fits if fit.resampled is not None)
        notes.append(
            f"Frequency: share of {n * drawn.n_resamples:,} resamples, {drawn.words} from each"
            f" imputed frame{' with a non-empty selection' if empty else ''}."
            + (
                " Intervals treat each frame as a cluster of resamples (Korn and Graubard 1998), so"
                " few imputations can make them wide."
                if n > 1
                else " Intervals are for this frame alone and ignore variation between imputations."
            )
        )
    if empty:
        notes.append(
            f"{empty} of {m} imputations selected nothing and {'was' if empty == 1 else 'were'} not"
            " resampled; frequencies are those of the others."
            if n
            else "No imputation selected anything, so none was resampled."
        )
    if np.isfinite(found.resample_index):
        notes.append(
            "Stability index (Nogueira) over all resamples:"
            f" {decimal_text(found.resample_index, 2)}."
        )
    return notes


def _shared_notes(found: Imputed) -> list[str]:
    """Notes on the selections and their data, each once, with the imputations that they concern."""
    where: dict[str, list[int]] = {}
    for number, fit in enumerate(found.fits, start=1):
        for note in dict.fromkeys((*fit.notes, *fit.design.notes)):
            where.setdefault(note, []).append(number)
    notes = []
    for note, numbers in where.items():
        if len(numbers) == found.n_imputations:
            notes.append(note)
        else:
            some = "Imputation" if len(numbers) == 1 else "Imputations"
            notes.append(f"{some} {', '.join(map(str, numbers))}: {note}")
    return notes
