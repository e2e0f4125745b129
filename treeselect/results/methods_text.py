"""The methods paragraph for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.algorithms.method import OWN
from treeselect.algorithms.references import Reference, texts
from treeselect.printing import (
    decimal_form,
    decimal_text,
    enumeration,
    interval_text,
    percent_text,
    plain_score,
    score_text,
)
from treeselect.resampling.choosing import LEVEL
from treeselect.resampling.fit import noun
from treeselect.results.recurrence import kept_units, undefined_words
from treeselect.results.rows import RowFacts
from treeselect.results.summary import options_text

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance

_MOST_NAMES, _ROOM = 20, 600
"""Terms that the paragraph names, and the characters that they may take."""

NESTED_MODELS = Reference(
    ("T. E. Clark", "K. D. West"),
    2007,
    "Approximately normal tests for equal predictive accuracy in nested models",
    journal="Journal of Econometrics",
    volume="138",
    number="1",
    pages="291-311",
)

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
            *([f"The final model was {fit.model.description}."] if fit.selected else []),
        ]
    )


def papers(fit: Fit) -> tuple[Reference, ...]:
    """What the paragraph cites, except the software."""
    found = [*fit.chosen_method.references]
    found += {"1se": [ONE_STANDARD_ERROR], "auto": [NESTED_MODELS]}.get(str(fit.choice.k), [])
    if fit.resampled is not None and np.isfinite(fit.resampled.index):
        found.append(INDEX)
    return tuple(found)


# --- sentences ---------------------------------------------------------------------------------


def _what(fit: Fit, rows: RowFacts) -> str:
    method, n_terms = fit.chosen_method, len(fit.design.spec.terms)
    n_units = len(fit.design.arrays.groups.names)
    candidates = "one candidate term" if n_terms == 1 else f"{n_terms:,} candidate terms"
    if n_units < n_terms:
        candidates = f"{n_units:,} candidate {noun(fit, n_units)} ({n_terms:,} terms)"
    options = options_text(method.changed())
    return (
        f"Terms predicting {fit.design.response.name} ({_response(fit, rows)}) were selected from"
        f" {candidates} by {method.title}{_cited(fit)}, with {options or 'default options'}."
    )


def _cited(fit: Fit) -> str:
    """Short citations of the method's papers; of our own methods, of those that they build on."""
    method = fit.chosen_method
    if not method.references:
        return ""
    after = "" if method.paper == texts(method.references) else "after "
    return f" [{after}{'; '.join(reference.short for reference in method.references)}]"


def _response(fit: Fit, rows: RowFacts) -> str:
    name, classes = fit.design.response.name, fit.design.response.classes
    n = f"{rows.used:,} row{'' if rows.used == 1 else 's'}"
    if rows.events is not None:
        return f"time to event; {rows.events:,} event{'' if rows.events == 1 else 's'} in {n}"
    if len(classes) == 2 and rows.classes:
        count = dict(rows.classes)[str(classes[1])]
        return f"binary; {count:,} of {n} with {name} = {classes[1]}"
    if len(classes) == 2:
        return f"binary; {n}"
    if classes:
        least = f", the smallest with {rows.classes[0][1]:,} rows" if rows.classes else ""
        return f"{len(classes):,} classes{least}; {n}"
    return f"{'counts' if fit.family == 'poisson' else 'numeric'}; {n}"


def _which_sample(fit: Fit) -> list[str]:
    sample, found = fit.design.sample, fit.held_out
    if sample is None:
        return []
    said = [
        f"Terms were selected on a random sample of {fit.design.rows.used:,} of {sample.of:,} rows,"
        f" stratified by {sample.by} (seed {sample.seed})."
    ]
    if found is not None and np.isfinite(found.score):
        said.append(
            f"On {found.n_rows:,} rows that were not drawn the final model has"
            f" {found.score_name} {plain_score(found.score)}."
        )
    return said


def _which_rows(fit: Fit, rows: RowFacts) -> list[str]:
    design = fit.design
    said = _which_sample(fit)
    if rows.no_response:
        said.append(
            f"{rows.no_response:,} row{' was' if rows.no_response == 1 else 's were'} excluded"
            f" because {design.response.parts_text} was missing."
        )
    if rows.no_weight:
        said.append(
            f"{rows.no_weight:,} row{' was' if rows.no_weight == 1 else 's were'} excluded because"
            f" {'its' if rows.no_weight == 1 else 'their'} weight was 0."
        )
    if rows.incomplete:
        one = rows.incomplete == 1
        said.append(
            f"{rows.incomplete:,} row{'' if one else 's'} with missing values in candidate terms"
            f" {'was' if one else 'were'} retained."
        )
    if design.weights is not False and design.weights_kind:  # equal ones have no effect
        kind = f"{design.weights_kind.capitalize()} weights"
        said.append(f"{kind}{_named(design.weights)} were used.")
    if design.offset_name is not False:
        said.append(f"The linear predictor included an offset{_named(design.offset_name)}.")
    if (known := design.response.follow_up) is not None:
        if known.start is not None:
            said.append(f"Rows entered observation at {known.start} (left truncation).")
        if known.strata:
            said.append(f"Baseline hazards were stratified by {enumeration(known.strata)}.")
    if (groups := fit.choice.folds.groups_name) is not False:
        which = f"Rows with the same {groups}" if isinstance(groups, str) else "Clustered rows"
        said.append(f"{which} were kept together in folds, bags of trees and resamples.")
    return said


def _named(name: str | bool) -> str:
    return f" ({name})" if isinstance(name, str) else ""


def _how_many(fit: Fit) -> str:
    what, k = f"The number of {noun(fit)}", fit.choice.k
    if k is None:
        method = fit.chosen_method
        at = "" if method.tuning_value == OWN else f" ({method.tuning_words})"
        return f"{what} was determined by the method{at}."
    if isinstance(k, int):
        if fit.k == k:
            return f"{what} was fixed at {k:,}."
        return f"Of {k:,} {noun(fit, k)} requested, only {fit.k:,} entered the path."
    if fit.p_values is not None:
        is_sufficient = float(fit.p_values[-1]) > LEVEL
        but = "" if is_sufficient else "notably "
        return (
            f"{what} is the smallest for which no larger set found predicted {but}better (level"
            f" {LEVEL:g}): by a score test of all other terms in an additive model, with a"
            " permutation null, and by out-of-bag tests of nested models"
            f" [{NESTED_MODELS.short}]."
        )
    assert fit.scores is not None
    family, folds = fit.design.response.family, fit.scores.words(fit.choice.folds)
    rule = (
        f"was chosen by the one-standard-error rule [{ONE_STANDARD_ERROR.short}] for"
        if k == "1se"
        else "was chosen to maximise"
    )
    if fit.scores.spared is not None:
        return (
            f"{what} {rule} {family.score_name} on {folds}; the search used"
            f" {fit.scores.spared.n_searched:,} other rows, to which the models scored were fitted."
        )
    return (
        f"{what} {rule} {family.score_name} in {folds}, with the selection repeated inside each"
        " fold."
    )


def _result(fit: Fit) -> str:
    n = len(fit.selected)
    if n == 0:
        return "No term was selected."
    names = enumeration(fit.selected, _MOST_NAMES, _ROOM)
    groups = fit.design.arrays.groups
    kept = fit.design.terms_of(
        unit for unit, keep in zip(groups.names, groups.keep, strict=True) if keep
    )
    forced = f", with {enumeration(kept)} forced in" if kept else ""
    if len(kept) == n:
        forced = ", forced in" if n == 1 else ", all forced in"
    which = "selected term was" if n == 1 else f"{n:,} selected terms were"
    return f"The {which} {names}{forced}."


def _scores(fit: Fit, performance: Performance | None) -> list[str]:
    family, said, words = fit.design.response.family, [], []
    if fit.scores is not None and np.isfinite(fit.scores.mean[fit.k]):
        mean, error = fit.scores.mean[fit.k], fit.scores.standard_error[fit.k]
        where = "In the same folds" if fit.scores.spared is None else "On the held-out rows"
        if fit.scores.of_halves:
            where = f"In {fit.scores.words(fit.choice.folds)}"
        said.append(
            f"{where}, {family.score_name} with this number of {noun(fit)} was"
            f" {score_text(mean, error, 'standard error')}."
        )
        words.append(family.score_words)
    if performance is not None and np.isfinite(performance.mean):
        included = ", including the choice of this number," if isinstance(fit.choice.k, str) else ""
        score = performance.words
        said.append(
            f"In an outer {performance.scheme}, with the whole selection{included} repeated inside"
            f" each fold, {performance.score_name} on the held-out rows was {score}, averaged over"
            f" {len(performance.scores):,} folds."
        )
        words.append(performance.score_words)
    return [*said, *(text for text in dict.fromkeys(words) if text)]


def _stability(fit: Fit) -> list[str]:
    stability = fit.resampled
    if stability is None:
        return []
    fixed = f", with the number of {noun(fit)} fixed at {stability.k:,}"
    how = fixed if stability.fixed_size else ""
    said = [f"The selection was repeated on {stability.words}{how}."]
    if np.isfinite(stability.index):
        low, high = stability.index_ci
        form = decimal_form(2)
        between = (
            f" (95% Monte Carlo interval {interval_text(low, high)})"
            if format(low, form) != format(high, form)
            else ""
        )
        said.append(
            f"The stability index of {INDEX.short.rpartition(' ')[0]} [{INDEX.year}] was"
            f" {decimal_text(stability.index, 2)}{between}, where 1 means identical selections and"
            " 0 agreement by chance alone."
        )
    elif stability.n_resamples > 1:
        which = undefined_words(stability, noun(fit, 1))
        return [*said, f"Each of them selected {which}, so stability could not be assessed."]
    kept = kept_units(stability)
    frequency = dict(zip(stability.units, stability.frequency.tolist(), strict=True))
    own = [frequency[unit] for unit in fit.groups if unit not in kept]
    if own:
        low, high = min(own), max(own)
        least, most = percent_text(low), percent_text(high)
        share = least if least == most else f"{least} to {most}"
        one = len(own) == 1
        chosen = f" that {'was' if one else 'were'} not forced in" if kept else ""
        said.append(
            f"The selected {noun(fit, len(own))}{chosen} had"
            f" {'a selection frequency' if one else 'selection frequencies'} of {share}."
        )
    return said
