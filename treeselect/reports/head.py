"""What the report says first and last: answer, cards, selected terms, settings, citation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from treeselect import printing
from treeselect.figures.shapes import Curve
from treeselect.printing.numbers import counted
from treeselect.printing.text import code_lines
from treeselect.reports import parts
from treeselect.reports.data import data_sentences
from treeselect.reports.path import with_others
from treeselect.resampling.assessing import most_of_half
from treeselect.resampling.fit import Fit, noun, selection_clause
from treeselect.resampling.stability import BY_REQUEST, index_words
from treeselect.results import summary
from treeselect.results.citation import cite, of_model, versions_text
from treeselect.results.curves import CurveRow
from treeselect.results.effects import (
    effect_cells,
    effect_notes,
    interval_notes,
    main_effects,
    meaning_of_effects,
    scale_of_effects,
)
from treeselect.results.tables import class_counts, glance_table, search_notes
from treeselect.results.verdict import FEWEST, could_vary, place_sentences, verdict, verdict_words

# --- the answer ---------------------------------------------------------------------------------


def answer(material: parts.FitMaterial) -> tuple[str, ...]:
    """What was selected, and how stable it is."""
    fit, clause = material.fit, selection_clause(material.fit)
    if not fit.selected:
        return (f"{clause}.",)
    groups = fit.design.arrays.groups
    units = zip(groups.terms, groups.keep.tolist(), strict=True)
    kept = {term for terms, is_kept in units if is_kept for term in terms}
    names = [f"{term} (always included)" if term in kept else term for term in fit.selected]
    sentences = [f"{clause}: {printing.enumeration(names)}."]
    if fit.resampled is not None:
        said = verdict(fit, fit.stability)
        if said or np.isfinite(fit.stability.index):
            more = place_sentences(fit.stability)
        else:
            said, more = f"Stability is {index_words(fit.stability)}.", []
        sentences = [f"{sentences[0]} {said}".rstrip(), *more]
    trace = fit.step.trace
    if trace is not None and trace.n_rivals:
        sets = f"{counted(trace.n_rivals, 'other set')} of {counted(fit.k, noun(fit, 1))}"
        sentences.append(f"{sets} predict{'s' * (trace.n_rivals == 1)} about as well.")
    return tuple(sentences)


# --- three facts below the answer: predictive score, stability and data -------------------------


def cards(material: parts.FitMaterial) -> tuple[parts.Card, ...]:
    fit = material.fit
    score = _nested(material) or _held_out(fit) or _tuning(fit)
    which = _events(fit), *summary.excluded_rows(fit), summary.missing_words(fit, 3)
    rows = parts.Card.of("Data", counted(fit.design.rows.used, "row"), *which)
    return score, _stability_card(fit), rows


def _nested(material: parts.FitMaterial) -> parts.Card | None:
    """The score from nested cross-validation, if the user supplied it."""
    found = material.performance
    if found is None or not np.isfinite(found.mean):
        return None
    sure = found.ci_words and f"95% interval {found.ci_words}"
    return parts.Card.of(
        f"{found.score_name}, nested cross-validation",
        printing.plain_score(found.mean),
        f"{sure or _error(found.mean, found.standard_error)}, mean of"
        f" {len(found.scores):,} folds{of_model(material.fit, found)}."
        " Neither the terms nor their number was chosen on the"
        " held-out rows.",
    )


def _held_out(fit: Fit) -> parts.Card | None:
    """The score on the rows that were not drawn into the sample."""
    found = fit.held_out
    if found is None or not np.isfinite(found.score):
        return None
    rows = counted(found.n_rows, "row")
    return parts.Card.of(
        f"{found.score_name}, held-out rows",
        printing.plain_score(found.score),
        f"Score of the final model on {rows} not drawn into the sample: no part of the selection.",
    )


def _tuning(fit: Fit) -> parts.Card:
    """The score from the folds that chose the number of terms, and how to get a better one."""
    family = fit.design.response.family
    better = (
        f"`fit{summary.with_data(fit)}.performance()` estimates the score on new rows by nested"
        " cross-validation; `fit.report(performance=...)` shows the result here."
    )
    glance = glance_table(fit).iloc[0]
    if not np.isfinite(glance["cv_score"]):
        return parts.Card(f"{family.score_name} on new rows", "Not assessed", (better,))
    assert fit.scores is not None
    how = f" Optimistic: {fit.scores.chooser} chose the number of {noun(fit)}." * fit.scores_flatter
    if fit.scores.of_halves:
        most = most_of_half(fit.design.rows.used)
        how = f" Models from {most}one half of the rows, scored on {most}the other."
    return parts.Card.of(
        f"{family.score_name}, {fit.scores.kind.removeprefix('on ')}",
        printing.plain_score(glance["cv_score"]),
        f"{_error(glance['cv_score'], glance['cv_se'])}.{how}",
        *(f"On the same rows: {said}." for _, said in summary.reference_facts(fit)),
        *(["Of the model that the final one replaced."] if fit.scores_are_past else []),
    )


def _score_words(material: parts.FitMaterial) -> str:
    """What the score is; empty for one that everybody knows."""
    fit = material.fit
    shown = fit.design.response.family if _nested(material) is None else material.performance
    return shown.score_words if shown is not None and fit.selected else ""


def _error(mean: float, standard_error: float) -> str:
    if mean == 1 and standard_error == 0:
        return "1 in each fold"
    return f"Standard error {printing.error_text(standard_error)}"


def _stability_card(fit: Fit) -> parts.Card:
    if fit.resampled is None:
        data = summary.with_data(fit)
        how = f"`fit{data}.resample(100)` repeats the selection on resamples of the rows."
        if not fit.groups:
            how = (
                f"`fit{data}.resample(100, k=1)` selects one {noun(fit, 1)} on each of 100"
                " resamples of the rows."
            )
        return parts.Card("Stability", "Not assessed", (how,))
    stability = fit.stability
    head = f"Stability, k fixed at {stability.k}" if stability.fixed_size else "Stability"
    if not np.isfinite(stability.index):
        return parts.Card(head, "Not defined", (f"The index is {index_words(stability)}.",))
    scale = f"{stability.words} (1: identical selections; 0: no better than chance)."
    word = verdict_words(fit, stability)
    if word:
        return parts.Card(
            head, word, (f"Index {printing.decimal_text(stability.index, 2)} over {scale}",)
        )
    few = () if stability.n_resamples >= FEWEST else (f"A verdict needs at least {FEWEST}.",)
    return parts.Card(
        f"{head}: index", printing.decimal_text(stability.index, 2), (f"Over {scale}", *few)
    )


def _events(fit: Fit) -> str:
    response, counts = fit.design.response, class_counts(fit)
    if response.follow_up is not None:
        return f"{counted(response.follow_up.n_events, 'event')}."
    if not counts:
        return ""
    if len(counts) == 2:
        negative, positive = map(str, response.classes)
        count = dict(counts)[positive]
        others = f"{fit.design.rows.used - count:,} with {negative}"
        return f"{count:,} with {response.name} = {positive}, {others}."
    label, count = counts[0]
    smallest = f"{label}, has {counted(count, 'row')}"
    return f"{len(counts):,} classes of {response.name}; the smallest, {smallest}."


# --- settings of the selection, and its data ----------------------------------------------------

_SAID = frozenset({"Call", "Method", "Final model", "Stability", "Seed"})
"""Facts shown in the answer or under the citation: the call with its seed, all options."""


def asked(material: parts.FitMaterial) -> parts.Section:
    """The summary's facts that no other section shows; all of them if `whole`."""
    facts, fit = material.summary.facts, material.fit
    if not material.whole:
        is_scored = np.isfinite(glance_table(fit).iloc[0]["cv_score"])
        on_card = is_scored and not (_nested(material) or _held_out(fit))
        score = summary.score_fact(fit) if on_card else None
        facts = tuple(fact for fact in facts if fact[0] not in _SAID and fact != score)
    else:
        after = [name for name, _ in facts].index("Data") + 1
        rows = "Rows", summary.rows_note(fit).removeprefix("Rows used: ")
        facts = (*facts[:after], rows, *facts[after:])
    return parts.Section("asked", "Settings", facts=parts.Facts(facts))


# --- what a reader should know about the selection ----------------------------------------------


def notes(material: parts.FitMaterial) -> parts.Section | None:
    """The summary's notes that no other section shows."""
    fit = material.fit
    said = cards(material)
    elsewhere = {
        summary.rows_note(fit), *summary.stability_notes(fit), *effect_notes(fit),
        *search_notes(fit),
        _score_words(material), *answer(material),
        *(text for card in said for text in card.details),
        *(data_sentences(fit) if fit.design.has_data else ()),
    }  # fmt: skip
    return parts.notes_section([note for note in material.summary.notes if note not in elsewhere])


# --- the methods paragraph and citations; method, options, software and data --------------------


def citation(material: parts.FitMaterial) -> parts.Section:
    """The paragraph on methods, limitations, references, and facts."""
    fit, method = material.fit, material.fit.chosen_method
    found = cite(fit, material.versions, material.performance)
    options = summary.options_text(method.options())
    data = found.fingerprint_words
    facts = (
        ("Method", method.title),
        ("Options", f"`{options}`" if options else "none"),
        ("Data", f"`{found.fingerprint}`: {data}" if found.fingerprint else data.capitalize()),
        ("Versions", versions_text(found.versions)),
        ("Written", material.written),
    )
    lines = tuple(code_lines(found.call, width=88))
    return parts.Section(
        "cite",
        "Methods text and citation",
        methods=found.methods,
        limits=parts.Heading("Limitations"),
        limitations=tuple(found.limitations),
        cited=parts.Heading("References"),
        references=tuple(found.references),
        bibtex=parts.Code(tuple(found.bibtex.splitlines()), "BibTeX"),
        head=parts.Heading("The call"),
        call=parts.Code(lines),
        facts=parts.Facts(facts),
    )


def terms(material: parts.FitMaterial) -> parts.Section:
    """One row for each term of the selection, and of the sets beside it."""
    found, _ = material.overview
    return parts.Section(
        "terms",
        "Selected terms",
        table=with_others(material, _table),
        notes=parts.Note(" ".join(_term_notes(material, found))) if len(found) else None,
    )


def _table(material: parts.FitMaterial) -> parts.Table:
    found, left_out = material.overview
    rows = found.to_dict("records")
    columns = _columns(material, found, rows)
    marks = {i: own.marks for i, own in enumerate(columns) if own.marks}
    inside = [bool(row["selected"]) for row in rows]
    table = parts.Table(
        columns=tuple(own.name for own in columns),
        rows=tuple(zip(*(own.cells for own in columns), strict=True)),
        more=left_out,
        marks=marks,
        outside=() if all(inside) else tuple(not own for own in inside),
    )
    close = ", and close competitors" if table.outside else ""
    return table.titled(f"Selected terms, most important first{close}")


Row = Mapping[Hashable, Any]


class _Column(NamedTuple):
    """A column of the table: its head, its cells, and pictures beside them."""

    name: str
    cells: tuple[str, ...]
    marks: tuple[parts.Mark | None, ...] = ()


def _columns(
    material: parts.FitMaterial, found: pd.DataFrame, rows: Sequence[Row]
) -> list[_Column]:
    """The columns that apply to this fit, in their order."""
    first = (~found["group"].duplicated()).tolist()  # what holds for a group is shown once
    columns = [_Column("Term", tuple(str(row["term"]) for row in rows))]
    if (found["term"] != found["group"]).any():
        columns.append(_Column("Group", tuple(str(row["group"]) for row in rows)))
    if (found["n_missing"] > 0).any():
        numbers = tuple(printing.number_text(row["n_missing"], ",.0f", "") for row in rows)
        columns.append(_Column("Missing", numbers))
    if material.fit.step.decisions is not None:
        columns.append(_Column("Decision", tuple(str(row["decision"]) for row in rows)))
    columns.append(_importance(rows, first))
    if _varied(material.fit):
        texts = [
            BY_REQUEST if row["kept"] else printing.decimal_text(row["frequency"], 2)
            for row in rows
        ]
        dots = [None if row["kept"] else parts.frequency_mark(row) for row in rows]
        columns.append(_Column("Frequency", _once(texts, first, ""), _once(dots, first, None)))
    if material.effects is not None or material.is_look:
        columns.append(_effect_column(material, material.effects, rows))
    if any(row["substitutes"] for row in rows):
        named = [
            printing.enumeration(row["substitutes"], 4) if row["substitutes"] else ""
            for row in rows
        ]
        columns.append(_Column("Substitutes", _once(named, first, "")))
    if (found["cost"] != 1).any():
        columns.append(_Column("Cost", _once([f"{row['cost']:g}" for row in rows], first, "")))
    return columns


def _varied(fit: Fit) -> bool:
    """Whether there are resamples, on which the selection could vary."""
    return fit.resampled is not None and could_vary(fit.resampled)


def _once(cells: Sequence[Any], first: Sequence[bool], none: Any) -> tuple[Any, ...]:
    return tuple(cell if own else none for cell, own in zip(cells, first, strict=True))


def _importance(rows: Sequence[Row], first: Sequence[bool]) -> _Column:
    """Empty for terms outside the selection, and for the second and further terms of a group."""
    shown = [own and bool(row["selected"]) for row, own in zip(rows, first, strict=True)]
    values = _once([row["importance"] for row in rows], shown, 0.0)
    texts = [printing.decimal_text(value, 3) for value in values]
    return _Column("Importance", _once(texts, shown, ""), _once(parts.bars(values), shown, None))


def _effect_column(
    material: parts.FitMaterial, effects: pd.DataFrame | None, rows: Sequence[Row]
) -> _Column:
    """For each term, its curve, and the step with the largest change."""
    kinds, cells = {}, {}
    if effects is not None:
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
    curves = _curves(material)
    seen = [p.effect for own in curves for p in own.points]
    drawn = {own.term: _curve_mark(own, min(seen), max(seen)) for own in curves}
    return _Column("Effect", tuple(found), tuple(drawn.get(str(row["term"])) for row in rows))


def _curves(material: parts.FitMaterial) -> CurveRow:
    """Those beside the steps: none of several classes, as each step is on a class of its own."""
    return () if len(material.fit.design.response.classes) > 2 else sum(material.curve_rows, ())


def _curve_mark(curve: Curve, low: float, high: float) -> parts.Mark:
    """The curve of a number over the ranks of its values, the effects of levels as dots."""
    points = [p for p in curve.points if not p.is_missing]
    share = np.array([p.share for p in points])
    x = (np.cumsum(share) - share / 2) / share.sum()
    if not curve.is_number:
        x = (np.arange(len(points)) + 0.5) / len(points)
    y = (np.array([p.effect for p in points]) - low) / ((high - low) or 1.0)
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    return parts.Mark(0.0, curve=tuple(pairs), line=curve.is_number and len(points) > 1)


def _term_notes(material: parts.FitMaterial, found: pd.DataFrame) -> list[str]:
    """How to read the columns."""
    fit = material.fit
    is_grouped = (found["term"] != found["group"]).any()
    shared = "; that of a group is shown at its first term" if is_grouped else ""
    note = fit.model.importance_note
    notes = [said] if (said := _score_words(material)) else []
    if found["selected"].any():
        notes.append(f"Importance: {note[0].lower()}{note[1:]}{shared}.")
    if _varied(fit):
        others = "" if np.all(found["selected"]) else _OTHERS
        notes.append(
            f"Frequency: share of {fit.stability.words} that selected the term; lines are 95%"
            f" intervals{others}."
        )
    effects = material.effects
    if effects is not None and material.terms_have_effects:
        notes += effect_meaning(fit, effects)
    elif effects is not None and found["selected"].any():
        notes.append(
            f"Effect: predicted change in {scale_of_effects(fit)} over the term's step with the"
            " largest change."
        )
    if _curves(material):
        notes.append("Curves: partial dependence over the ranks of the values, on one scale.")
    if fit.is_chosen:
        notes.append(
            "P-values of a model fitted to these terms on the same rows are not valid:"
            f" `fit{summary.with_data(fit)}.inference()` selects on one part of the rows and tests"
            " on the other."
            if material.inference is None
            else "P-values that account for the selection have a section of their own."
        )
    return notes


_OTHERS = (
    ". Hollow dots are terms outside the selection that were selected in at least half of the"
    " resamples, more often than some selected term, or as a substitute for one"
)


# --- the direction, size and uncertainty of the effect of each term -----------------------------


def effects(material: parts.FitMaterial) -> parts.Section | None:
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
        for own in cells[: parts.MOST_ROWS]
    ]
    columns = ("Term", "Step", "Change", *(["2.5 to 97.5%"] if intervals else []), "Direction")
    table = parts.Table(
        columns, tuple(rows), len(cells) - len(rows), caption="Effects of the terms"
    )
    return parts.Section("effects", "Effects", sub=True, lead=" ".join(lead), table=table)


def effect_meaning(fit: Fit, found: pd.DataFrame) -> list[str]:
    """What the effects are, and how to get intervals where none are stored."""
    said = [meaning_of_effects(fit, found)]
    if fit.effect_record is None:
        said.append("`fit.resample(100, effects=True)` adds intervals.")
    return said
