"""What the report says first and last: answer, cards, settings, notes, names, citation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.printing import decimal_text, enumeration, error_text, plain_score
from treeselect.printing.text import code_lines
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import (
    Card,
    Code,
    Facts,
    Heading,
    Section,
    names_section,
    notes_section,
    settings,
)
from treeselect.reports.selection.data import data_sentences
from treeselect.resampling.fit import noun
from treeselect.results.citation import cite, versions_text
from treeselect.results.effects import effect_notes
from treeselect.results.summary import (
    options_text,
    reference_facts,
    rows_note,
    score_fact,
    stability_notes,
    with_data,
)
from treeselect.results.tables import RowFacts, glance_table, row_facts, search_notes
from treeselect.results.verdict import (
    FEWEST,
    agreement_note,
    place_sentences,
    undefined_words,
    verdict,
    verdict_words,
)

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability


# --- the answer ---------------------------------------------------------------------------------


def answer(material: FitMaterial) -> tuple[str, ...]:
    """What was selected, and how stable it is."""
    fit = material.fit
    n_terms = len(fit.design.spec.terms)
    response, method = fit.design.response.name, fit.chosen_method.title
    if not fit.selected:
        none = f"selected none of {n_terms:,} candidate terms"
        if n_terms == 1:
            none = "did not select the only candidate term"
        return (f"{method} {none} to predict {response}.",)
    n_selected = len(fit.selected)
    which = f"{n_selected:,} of {n_terms:,} candidate terms"
    if n_selected == n_terms:
        which = _all_terms(n_terms)
    sentences = [f"{method} selected {which} to predict {response}: {enumeration(_names(fit))}."]
    if fit.resampled is not None:
        said, *more = _how_stable(fit, fit.stability)
        sentences = [f"{sentences[0]} {said}".rstrip(), *more]
    return tuple(sentences)


def _names(fit: Fit) -> list[str]:
    """The selected terms; those of `keep=` are marked."""
    groups = fit.design.arrays.groups
    units = zip(groups.terms, groups.keep.tolist(), strict=True)
    kept = {term for terms, is_kept in units if is_kept for term in terms}
    return [f"{term} (always included)" if term in kept else term for term in fit.selected]


def _all_terms(n_terms: int) -> str:
    few = {1: "the only candidate term", 2: "both candidate terms"}
    return few.get(n_terms, f"all {n_terms:,} candidate terms")


def _how_stable(fit: Fit, stability: Stability) -> list[str]:
    """The verdict, which may be empty, and the interchangeable terms."""
    index = stability.index if stability.n_resamples > 1 else float("nan")
    if (said := verdict(fit, stability)) or np.isfinite(index):
        return [said, *place_sentences(stability)]
    if stability.n_resamples == 1:
        return ["One resample is too few to assess stability."]
    which = undefined_words(stability, noun(fit, 1))
    return [
        f"Stability is undefined: each of {stability.n_resamples:,} resamples selected {which}."
    ]


# --- three facts below the answer: predictive score, stability and data -------------------------

_MOST_NAMES = 3


def cards(material: FitMaterial) -> tuple[Card, ...]:
    """The score, the stability, the rows."""
    fit = material.fit
    score = _nested(material) or _held_out(fit) or _tuning(fit)
    return score, _stability_card(fit), _data_card(fit, row_facts(fit))


def has_tuning_score(material: FitMaterial) -> bool:
    """Whether the score shown is from the folds that chose the number of units."""
    score = glance_table(material.fit).iloc[0]["cv_score"]
    return bool(np.isfinite(score)) and not (_nested(material) or _held_out(material.fit))


def _nested(material: FitMaterial) -> Card | None:
    """The score from nested cross-validation, if the user supplied it."""
    found = material.performance
    if found is None or not np.isfinite(found.mean):
        return None
    sure = found.ci_words and f"95% interval {found.ci_words}"
    details = [
        f"{sure or _error(found.mean, found.standard_error)}, mean of"
        f" {len(found.scores):,} folds. Neither the terms nor their number was chosen on the"
        " held-out rows.",
        found.score_words,
    ]
    head = f"{found.score_name}, nested cross-validation"
    return Card(head, plain_score(found.mean), tuple(text for text in details if text))


def _held_out(fit: Fit) -> Card | None:
    """The score on the rows that were not drawn into the sample."""
    found = fit.held_out
    if found is None or not np.isfinite(found.score):
        return None
    rows = "1 row" if found.n_rows == 1 else f"{found.n_rows:,} rows"
    details = (
        f"Score of the final model on {rows} not drawn into the sample: no part of the selection.",
        fit.design.response.family.score_words,
    )
    head = f"{found.score_name}, held-out rows"
    return Card(head, plain_score(found.score), tuple(text for text in details if text))


def _tuning(fit: Fit) -> Card:
    """The score from the folds that chose the number of terms, and how to get a better one."""
    family = fit.design.response.family
    better = (
        f"`fit{with_data(fit)}.performance()` estimates the score on new rows by nested"
        " cross-validation; `fit.report(performance=...)` shows the result here."
    )
    glance = glance_table(fit).iloc[0]
    if not np.isfinite(glance["cv_score"]):
        return Card(f"{family.score_name} on new rows", "Not assessed", (better,))
    error = _error(glance["cv_score"], glance["cv_se"])
    assert fit.scores is not None
    spared, chose = fit.scores.spared, f"chose the number of {noun(fit)}"
    how = (
        f"The selection was repeated inside each fold, but {fit.scores.chooser} {chose}, so the"
        " score is optimistic."
    )
    if fit.scores.of_halves:
        how = (
            "Each half of the rows was searched, and the models fitted to it were scored on the"
            f" other half; {fit.scores.chooser} {chose}."
        )
    elif spared is not None:
        how = (
            f"The search used {spared.n_searched:,} rows; models fitted to these were scored on"
            f" {spared.n_held_out:,} others, which also {chose}, so the score is optimistic."
        )
    details = [
        f"{error}. {how}",
        *(f"On the same rows: {said}." for _, said in reference_facts(fit)),
        better,
        family.score_words,
    ]
    head = f"{family.score_name}, {fit.scores.kind.removeprefix('on ')}"
    return Card(head, plain_score(glance["cv_score"]), tuple(text for text in details if text))


def _error(mean: float, standard_error: float) -> str:
    if mean == 1 and standard_error == 0:
        return "1 in each fold"
    return f"Standard error {error_text(standard_error)}"


def _stability_card(fit: Fit) -> Card:
    if fit.resampled is None:
        data = with_data(fit)
        how = f"`fit{data}.resample(100)` repeats the selection on resamples of the rows."
        if not fit.groups:
            how = (
                f"`fit{data}.resample(100, k=1)` selects one {noun(fit, 1)} on each of 100"
                " resamples of the rows."
            )
        return Card("Stability", "Not assessed", (how,))
    stability = fit.stability
    index = stability.index if stability.n_resamples > 1 else float("nan")
    head = f"Stability, k fixed at {stability.k}" if stability.fixed_size else "Stability"
    if not np.isfinite(index):
        return Card(head, "Not defined", (_why_undefined(fit, stability),))
    scale = f"{stability.words} (1: identical selections; 0: no better than chance)."
    word = verdict_words(fit, stability)
    if word:
        said = (f"Index {decimal_text(index, 2)} over {scale}", agreement_note(fit, stability))
        return Card(head, word, tuple(text for text in said if text))
    few = () if stability.n_resamples >= FEWEST else (f"A verdict needs at least {FEWEST}.",)
    return Card(f"{head}: index", decimal_text(index, 2), (f"Over {scale}", *few))


def _why_undefined(fit: Fit, stability: Stability) -> str:
    if stability.n_resamples == 1:
        return "One resample is too few to assess it."
    return f"Each of {stability.words} selected {undefined_words(stability, noun(fit, 1))}."


def _data_card(fit: Fit, found: RowFacts) -> Card:
    counted = [
        text for text in [_events(fit, found), _dropped(fit, found), _missing(found)] if text
    ]
    return Card("Data", f"{found.used:,} row{'' if found.used == 1 else 's'}", tuple(counted))


def _events(fit: Fit, found: RowFacts) -> str:
    if found.events is not None:
        return f"{found.events:,} event{'' if found.events == 1 else 's'}."
    if not found.classes:
        return ""
    name = fit.design.response.name
    if len(found.classes) == 2:
        positive = str(fit.design.response.classes[-1])
        count = dict(found.classes)[positive]
        negative = str(fit.design.response.classes[0])
        return f"{count:,} with {name} = {positive}, {found.used - count:,} with {negative}."
    label, count = found.classes[0]
    rows = f"{count:,} row{'' if count == 1 else 's'}"
    return f"{len(found.classes):,} classes of {name}; the smallest, {label}, has {rows}."


def _dropped(fit: Fit, found: RowFacts) -> str:
    parts = []
    if found.no_response:
        what = fit.design.response.parts_text
        parts.append(f"{found.no_response:,} more dropped because {what} is missing")
    if found.no_weight:
        parts.append(f"{found.no_weight:,} more excluded with weight 0")
    return f"{'; '.join(parts)}." if parts else ""


def _missing(found: RowFacts) -> str:
    if found.missing is None:
        return ""
    if not found.missing:
        return "No missing values in the candidate terms."
    named = [f"{name} ({count:,})" for name, count in found.missing[:_MOST_NAMES]]
    more = len(found.missing) - len(named)
    names = f"{', '.join(named)} and {more:,} more" if more else enumeration(named)
    rows = f"{found.incomplete:,} row{' has' if found.incomplete == 1 else 's have'}"
    return f"{rows} missing values: {names}."


# --- settings of the selection, and its data ----------------------------------------------------

_SAID = frozenset({"Call", "Method", "Stability", "Seed"})
"""Facts shown in the answer or under the citation: the call with its seed, all options."""


def asked(material: FitMaterial) -> Section:
    """The summary's facts that no other section shows; if `whole`, all of them, with the number of
    rows after the data."""
    facts = material.summary.facts
    if not material.whole:
        score = score_fact(material.fit) if has_tuning_score(material) else None
        return settings(fact for fact in facts if fact[0] not in _SAID and fact != score)
    after = [name for name, _ in facts].index("Data") + 1
    return settings((*facts[:after], ("Rows", _rows(material)), *facts[after:]))


def _rows(material: FitMaterial) -> str:
    counts = material.fit.design.rows
    rows = f"{counts.used:,} used{', copies counted' if counts.more_copies else ''}"
    if counts.not_drawn:
        rows += f"; {counts.not_drawn:,} not drawn"
    if counts.no_response:
        what = material.fit.design.response.parts_text
        rows += f"; {counts.no_response:,} dropped because {what} is missing"
    if counts.no_weight:
        rows += f"; {counts.no_weight:,} excluded with weight 0"
    return rows


# --- what a reader should know about the selection ----------------------------------------------


def notes(material: FitMaterial) -> Section | None:
    """The summary's notes that no other section shows."""
    fit = material.fit
    said = cards(material)
    elsewhere = {
        rows_note(fit), *stability_notes(fit), *effect_notes(fit), *search_notes(fit),
        *answer(material), *(text for card in said for text in card.details),
        *(data_sentences(fit) if fit.design.has_data else ()),
    }  # fmt: skip
    return notes_section([note for note in material.summary.notes if note not in elsewhere])


# --- the names behind the labels, which code needs ----------------------------------------------


def names(material: FitMaterial) -> Section | None:
    """Names and labels, selected terms first; None without labels."""
    return names_section(material.names)


# --- the methods paragraph and citations; method, options, software and data --------------------

_WIDTH = 88
"""Characters on a line of the call."""


def citation(material: FitMaterial) -> Section:
    """The paragraph on methods, limitations, references, and facts."""
    fit, method = material.fit, material.fit.chosen_method
    found = cite(fit, material.versions, material.performance)
    options = options_text(method.options())
    data = found.fingerprint_words
    facts = (
        ("Method", method.title),
        ("Options", f"`{options}`" if options else "none"),
        ("Data", f"`{found.fingerprint}`: {data}" if found.fingerprint else data.capitalize()),
        ("Versions", versions_text(found.versions)),
        ("Written", material.written),
    )
    lines = tuple(code_lines(found.call, _WIDTH))
    return Section(
        "cite",
        "Methods text and citation",
        methods=found.methods,
        limits=Heading("Limitations"),
        limitations=tuple(found.limitations),
        cited=Heading("References"),
        references=tuple(found.references),
        bibtex=Code(tuple(found.bibtex.splitlines()), "BibTeX"),
        head=Heading("The call"),
        call=Code(lines),
        facts=Facts(facts),
    )
