"""What must be known before a selection is believed: the sentences that apply to a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.algorithms.shared.references import Reference
from treeselect.resampling.nouns import noun
from treeselect.results.rows import RowFacts

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.performance import Performance

FEW = 10.0
"""Events (or rows of the rarest class, or rows) for each candidate term that are few."""

HEINZE = Reference(
    ("G. Heinze", "C. Wallisch", "D. Dunkler"),
    2018,
    "Variable selection: a review and recommendations for the practicing statistician",
    journal="Biometrical Journal",
    volume="60",
    pages="431-449",
)


def limitations(fit: Fit, rows: RowFacts, performance: Performance | None) -> tuple[str, ...]:
    """Sentences, the gravest first."""
    n_selected, n_terms = len(fit.selected), len(fit.design.spec.terms)
    n_kept = int(fit.design.arrays.groups.keep.sum())
    said = [few_events(fit, rows)]
    if n_selected == 0:
        said.append("That no term was selected does not show that none of them matters.")
    elif fit.k < len(fit.step.selected) and n_kept < fit.k:
        said += [_score(fit, performance), _others(fit)]
        said.append(
            "Tests and intervals of a model that is fitted to the selected terms on the same rows"
            " ignore the selection and are not valid."
        )
    elif fit.k < len(fit.step.selected):
        said += [
            _score(fit, performance),
            f"All selected {noun(fit)} were asked for: none was chosen by the data.",
        ]
    elif n_terms > 1:
        said.append("All candidate terms are in the model: nothing was left out.")
    said.append(_stability(fit))
    if n_selected:
        said.append(
            "Selected terms predict the response; what would happen if one of them were changed"
            " does not follow."
        )
    return tuple(text for text in said if text)


def few_events(fit: Fit, rows: RowFacts) -> str:
    """That there is little to go by for each candidate, where that is so and is known."""
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
        f"There are {count:,} {what} for {n_terms:,} candidate term{'' if n_terms == 1 else 's'},"
        f" {each} for each: with so few, selections and estimates vary much from sample to sample"
        f" [{HEINZE.short}]."
    )


def _score(fit: Fit, performance: Performance | None) -> str:
    name = fit.design.response.family.score_name
    if performance is not None:
        return (
            f"The {performance.score_name} of the outer folds is that of the whole procedure, whose"
            " terms may differ from fold to fold, and not of this one set of terms."
        )
    if fit.scores is not None:
        return (
            f"The same folds chose the number of {noun(fit)}: their {name} can be slightly"
            " optimistic."
        )
    return (
        f"No {name} of rows that had no part in the selection is given: how well new rows are"
        " predicted is not known."
    )


def _others(fit: Fit) -> str:
    if fit.step.decisions is not None and fit.choice.k is None:
        return (
            "All terms that tell more than their shuffled copies do were looked for, substitutes of"
            " each other included: the set is not the smallest that predicts as well."
        )
    return (
        "Of terms that go together one may stand for the others: a term that was left out can tell"
        " as much about the response as one that was selected."
    )


def _stability(fit: Fit) -> str:
    if fit.resampled is not None:
        return (
            "Stability is how far the procedure agrees with itself on resamples of these rows, not"
            " how near the selected terms are to the true ones."
        )
    if not fit.selected or fit.k == len(fit.step.selected):
        return ""
    return "Stability was not assessed: another sample may lead to other terms."
