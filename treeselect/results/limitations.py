"""The limitations of a selection: the sentences that apply to a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.algorithms.shared.references import Reference
from treeselect.resampling.nouns import noun
from treeselect.results.rows import RowFacts

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance

FEW = 10.0
"""Fewer events (or rows of the rarest class, or rows) per candidate term are few."""

HEINZE = Reference(
    ("G. Heinze", "C. Wallisch", "D. Dunkler"),
    2018,
    "Variable selection: a review and recommendations for the practicing statistician",
    journal="Biometrical Journal",
    volume="60",
    pages="431-449",
)


def limitations(fit: Fit, rows: RowFacts, performance: Performance | None) -> tuple[str, ...]:
    """Sentences, the most serious first."""
    n_selected, n_terms = len(fit.selected), len(fit.design.spec.terms)
    n_kept = int(fit.design.arrays.groups.keep.sum())
    said = [few_events(fit, rows)]
    if n_selected == 0:
        said.append("The absence of selected terms is not evidence that no term matters.")
    elif fit.k < len(fit.step.selected) and n_kept < fit.k:
        said += [_score(fit, performance), _others(fit)]
        said.append(
            "Tests and intervals from a model fitted to the selected terms on the same rows ignore"
            " the selection and are not valid; they are usually anti-conservative."
        )
    elif fit.k < len(fit.step.selected):
        said += [
            _score(fit, performance),
            f"All selected {noun(fit)} were forced in; none was chosen by the data.",
        ]
    elif n_terms > 1:
        said.append("All candidate terms were selected, so the data left none of them out.")
    said.append(_stability(fit))
    if n_selected:
        said.append(
            "Selected terms predict the response; selection is not evidence of a causal effect."
        )
    return tuple(text for text in said if text)


def few_events(fit: Fit, rows: RowFacts) -> str:
    """That there are few events or rows per candidate term, if that is so and is known."""
    n_terms = len(fit.design.spec.terms)
    if rows.events is not None:
        count, what = rows.events, "events"
    elif rows.classes:
        label, count = rows.classes[0]
        what = f"rows of the class {label}"
    elif fit.design.response.classes:
        return ""
    else:
        count, what = rows.used, "rows"
    if count >= FEW * n_terms:
        return ""
    each = "less than one" if count < n_terms else f"{count / n_terms:.2g}"
    return (
        f"There are only {count:,} {what} for {n_terms:,} candidate"
        f" term{'' if n_terms == 1 else 's'} ({each} per term); with so few, selections and"
        f" estimates vary considerably from sample to sample [{HEINZE.short}]."
    )


def _score(fit: Fit, performance: Performance | None) -> str:
    name = fit.design.response.family.score_name
    if performance is None and fit.held_out is not None and np.isfinite(fit.held_out.score):
        return (
            f"The {name} on the rows that were not drawn is that of the final model; other samples"
            " of rows may lead to other terms."
        )
    if performance is not None:
        return (
            f"The {performance.score_name} of the outer folds assesses the whole procedure, which"
            " may select other terms in each fold, not this particular set of terms."
        )
    if fit.scores is not None:
        if fit.scores.of_halves:
            return (
                f"The {name} on held-out halves is that of models fitted to half of the rows; the"
                f" number of {noun(fit)} was chosen on all rows."
            )
        which = "folds" if fit.scores.spared is None else "held-out rows"
        return f"The same {which} chose the number of {noun(fit)}, so their {name} is optimistic."
    return (
        f"No {name} was estimated on rows outside the selection, so performance on new data is"
        " unknown."
    )


def _others(fit: Fit) -> str:
    if fit.step.decisions is not None and fit.choice.k is None:
        return (
            "The method selects every term that it finds more important than shuffled copies, even"
            " if several carry the same information; a smaller set may predict as well."
        )
    return (
        "Which of several associated terms is selected may be arbitrary: an unselected term can be"
        " as informative about the response as a selected one."
    )


def _stability(fit: Fit) -> str:
    if fit.resampled is not None:
        return (
            "Stability measures how consistently the procedure selects on resamples of these rows,"
            " not how close the selected terms are to the true ones."
        )
    if not fit.selected or fit.k == len(fit.step.selected):
        return ""
    return "Stability was not assessed; another sample may lead to other terms."
