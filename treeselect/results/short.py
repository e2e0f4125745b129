"""A selection in five lines: what ``print(fit)`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.printing import enumeration
from treeselect.resampling.fit import as_shown, noun, selection_clause
from treeselect.results.recurrence import each_selected_all, undefined_words
from treeselect.results.summary import score_fact
from treeselect.results.verdict import FEWEST, verdict
from treeselect.shown import shown

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


def fit_lines(fit: Fit) -> tuple[str, ...]:
    """What was selected, how well it predicts, how stable it is, and where to find more."""
    fit = as_shown(fit)
    name, score = score_fact(fit)
    selected = enumeration(fit.selected, most=12, room=120) if fit.selected else "nothing"
    return tuple(
        shown(line)
        for line in (
            selection_clause(fit),
            f"  Selected: {selected}",
            f"  {name}: {score}",
            f"  Stability: {stability_text(fit)}",
            f"  More: {_more(fit)}",
        )
    )


def _more(fit: Fit) -> str:
    plot = ".plot(), " if fit.selected else ""
    return (
        f".summary(), .report('report.html'), {plot}{with_data(fit)}.performance(), .predict(new)"
    )


def with_data(fit: Fit) -> str:
    """What a call needs if the data were not saved with the fit."""
    return "" if fit.design.has_data else ".with_data(data)"


def stability_text(fit: Fit) -> str:
    """The verdict, or why there is none."""
    if fit.resampled is None:
        if not fit.selected:
            return "not assessed, because no term was selected"
        return f"not assessed; see {with_data(fit)}.resample(100)"
    stability, one = fit.stability, noun(fit, 1)
    said = verdict(fit, stability)
    if said:
        return said
    if stability.n_resamples < FEWEST:
        return f"{stability.words}, too few for a verdict"
    if each_selected_all(stability):
        return f"no verdict: {stability.words} all selected {undefined_words(stability, one)}"
    if not fit.selected:
        return "no verdict, because no term was selected"
    return f"no verdict, because every selected {one} was forced in"
