"""What was done, as a paragraph for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.algorithms.shared.references import Reference, texts
from treeselect.printing import (
    decimal_form,
    decimal_text,
    enumeration,
    interval_text,
    percent_text,
    score_text,
)
from treeselect.resampling.nouns import noun
from treeselect.results.recurrence import kept_units, undefined_words
from treeselect.results.rows import RowFacts
from treeselect.results.summary import options_text

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance

_MOST_NAMES, _ROOM = 20, 600
"""Terms that the paragraph names, and the characters that they may take."""

ONE_STANDARD_ERROR = Reference(
    ("L. Breiman", "J. H. Friedman", "R. A. Olshen", "C. J. Stone"),
    1984,
    "Classification and Regression Trees",
    book="Wadsworth",
    is_book=True,
)
INDEX = Reference(
    ("S. Nogueira", "K. Sechidis", "G. Brown"),
    2018,
    "On the stability of feature selection algorithms",
    journal="Journal of Machine Learning Research",
    volume="18",
    number="174",
)


def methods_text(fit: Fit, rows: RowFacts, performance: Performance | None) -> str:
    """The paragraph, without versions."""
    return " ".join(
        [
            _what(fit, rows),
            *_which_rows(fit, rows),
            _how_many(fit),
            _result(fit),
            *_scores(fit, performance),
            *_stability(fit),
            *([f"Predictions are those of {fit.model.description}."] if fit.selected else []),
        ]
    )


def papers(fit: Fit) -> tuple[Reference, ...]:
    """What the paragraph cites, apart from the software."""
    found = [*fit.chosen_method.references]
    found += [ONE_STANDARD_ERROR] if fit.choice.k == "1se" else []
    if fit.resampled is not None and np.isfinite(fit.resampled.index):
        found.append(INDEX)
    return tuple(found)


# --- sentences ---------------------------------------------------------------------------------


def _what(fit: Fit, rows: RowFacts) -> str:
    method, n_terms = fit.chosen_method, len(fit.design.spec.terms)
    n_units = len(fit.design.arrays.groups.names)
    units = f" in {n_units:,} units" if n_units < n_terms else ""
    options = options_text(method.changed())
    return (
        f"Terms that predict {fit.design.response.name} ({_response(fit, rows)}) were selected from"
        f" {'one candidate term' if n_terms == 1 else f'{n_terms:,} candidate terms'}{units} by"
        f" {method.title}{_cited(fit)}, with {options or 'default options'}."
    )


def _cited(fit: Fit) -> str:
    """The papers of the method, in short; of a method of our own those that it goes back to."""
    method = fit.chosen_method
    if not method.references:
        return ""
    after = "" if method.paper == texts(method.references) else "after "
    return f" [{after}{'; '.join(reference.short for reference in method.references)}]"


def _response(fit: Fit, rows: RowFacts) -> str:
    name, classes = fit.design.response.name, fit.design.response.classes
    n = f"{rows.used:,} row{'' if rows.used == 1 else 's'}"
    if rows.events is not None:
        return f"times until an event; {rows.events:,} events in {n}"
    if len(classes) == 2 and rows.classes:
        count = dict(rows.classes)[str(classes[1])]
        return f"two classes; {count:,} of {n} with {name} = {classes[1]}"
    if classes:
        least = f", the smallest of {rows.classes[0][1]:,} rows" if rows.classes else ""
        return f"{'two' if len(classes) == 2 else f'{len(classes):,}'} classes{least}; {n}"
    kind = "counts" if fit.family == "poisson" else "numbers"
    return f"{kind}; {n}"


def _which_rows(fit: Fit, rows: RowFacts) -> list[str]:
    design, said = fit.design, []
    if rows.no_response:
        said.append(
            f"{rows.no_response:,} row{' was' if rows.no_response == 1 else 's were'} left out"
            f" because {design.response.parts_text} is missing."
        )
    if rows.no_weight:
        said.append(
            f"{rows.no_weight:,} row{' was' if rows.no_weight == 1 else 's were'} left out with"
            " weight 0."
        )
    if rows.incomplete:
        said.append(
            f"{rows.incomplete:,} row{' has' if rows.incomplete == 1 else 's have'} missing values"
            " in candidate terms and stayed in."
        )
    if design.weights is not False:
        said.append(f"Rows counted by their case weights{_named(design.weights)}.")
    if design.offset_name is not False:
        said.append(f"An offset{_named(design.offset_name)} was part of the linear predictor.")
    if (known := design.response.follow_up) is not None:
        if known.start is not None:
            said.append(f"Rows were under observation from {known.start} on.")
        if known.strata:
            said.append(f"Baseline hazards were stratified by {enumeration(known.strata)}.")
    if (groups := fit.choice.folds.groups_name) is not False:
        of = f"of the same {groups}" if isinstance(groups, str) else "of one group"
        said.append(f"Rows {of} were kept together in folds, bags of trees and resamples.")
    return said


def _named(name: str | bool) -> str:
    return f" ({name})" if isinstance(name, str) else ""


def _how_many(fit: Fit) -> str:
    what, k = f"The number of {noun(fit)}", fit.choice.k
    if k is None:
        return f"{what} follows from the method: {fit.call.rule}."
    if isinstance(k, int):
        if fit.k == k:
            return f"{what} was fixed at {k:,}."
        return f"{what} was to be {k:,}; no more than {fit.k:,} entered."
    assert fit.scores is not None
    family, folds = fit.design.response.family, fit.choice.folds.words(len(fit.scores.scores))
    rule = (
        f"was chosen by the one-standard-error rule [{ONE_STANDARD_ERROR.short}] on"
        if k == "1se"
        else "is that with the best"
    )
    return (
        f"{what} {rule} {family.score_name} in {folds}, with the selection repeated inside each"
        " fold."
    )


def _result(fit: Fit) -> str:
    n = len(fit.selected)
    if n == 0:
        return "None was selected."
    names = enumeration(fit.selected, _MOST_NAMES, _ROOM)
    groups = fit.design.arrays.groups
    kept = fit.design.terms_of(
        unit for unit, keep in zip(groups.names, groups.keep, strict=True) if keep
    )
    asked = f", of which {enumeration(kept)} by request" if kept else ""
    if len(kept) == n:
        asked = ", by request"
    return f"{n:,} term{' was' if n == 1 else 's were'} selected: {names}{asked}."


def _scores(fit: Fit, performance: Performance | None) -> list[str]:
    family, said, words = fit.design.response.family, [], []
    if fit.scores is not None and np.isfinite(fit.scores.mean[fit.k]):
        mean, error = fit.scores.mean[fit.k], fit.scores.standard_error[fit.k]
        said.append(
            f"In the folds that chose it, {family.score_name} at that number was"
            f" {score_text(mean, error, 'standard error')}."
        )
        words.append(family.score_words)
    if performance is not None and np.isfinite(performance.mean):
        included = ", the choice of the number included," if isinstance(fit.choice.k, str) else ""
        score = score_text(performance.mean, performance.standard_error, "standard error")
        said.append(
            f"With the whole selection{included} repeated inside each fold of an outer"
            f" {performance.scheme}, {performance.score_name} on the held-out rows was {score},"
            f" mean of {len(performance.scores):,} folds."
        )
        words.append(performance.score_words)
    return [*said, *(text for text in dict.fromkeys(words) if text)]


def _stability(fit: Fit) -> list[str]:
    stability = fit.resampled
    if stability is None:
        return []
    how = f", with k fixed at {stability.k:,}" if stability.fixed_size else ""
    said = [f"The selection was repeated on {stability.words}{how}."]
    if np.isfinite(stability.index):
        low, high = stability.index_ci
        form = decimal_form(2)
        between = (
            f" (Monte Carlo interval {interval_text(low, high)})"
            if format(low, form) != format(high, form)
            else ""
        )
        said.append(
            f"The stability index of {INDEX.short.rpartition(' ')[0]} [{INDEX.year}] was"
            f" {decimal_text(stability.index, 2)}{between}; 1 is the same selection each time,"
            " 0 is chance."
        )
    elif stability.n_resamples > 1:
        which = undefined_words(stability, noun(fit, 1))
        return [*said, f"Each of them selected {which}: this tells nothing about stability."]
    kept = kept_units(stability)
    frequency = dict(zip(stability.units, stability.frequency.tolist(), strict=True))
    own = [frequency[unit] for unit in fit.groups if unit not in kept]
    if own:
        low, high = min(own), max(own)
        least, most = percent_text(low), percent_text(high)
        share = least if least == most else f"{least} to {most}"
        chosen = " that were not kept by request" if kept else ""
        chosen = " that was not kept by request" if kept and len(own) == 1 else chosen
        were = "was" if len(own) == 1 else "were"
        said.append(
            f"The selected {noun(fit, len(own))}{chosen} {were} selected again in {share} of the"
            " resamples."
        )
    return said
