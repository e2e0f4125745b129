"""A selection in five lines: what a prompt shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.printing import enumeration
from treeselect.resampling.labelled import as_shown
from treeselect.resampling.nouns import kept_of_all
from treeselect.results.recurrence import each_selected_all
from treeselect.results.summary import score_fact
from treeselect.results.verdict import FEWEST, verdict
from treeselect.shown import shown

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


def fit_lines(fit: Fit) -> tuple[str, ...]:
    """What was selected, of how many, how well it predicts, how stable it is, and where to look."""
    fit = as_shown(fit)
    name, score = score_fact(fit)
    selected = enumeration(fit.selected, most=12, room=120) if fit.selected else "nothing"
    return tuple(
        shown(line)
        for line in (
            f"{fit.chosen_method.title} for {fit.design.response.name}: {kept_of_all(fit)}",
            f"  Selected: {selected}",
            f"  {name}: {score}",
            f"  Stability: {stability_text(fit)}",
            f"  More: {_more(fit)}",
        )
    )


def _more(fit: Fit) -> str:
    plot = ".plot(), " if fit.selected else ""
    return (
        f".summary(), .report('report.html'), {plot}.performance({data_argument(fit)}),"
        " .predict(new)"
    )


def data_argument(fit: Fit, comma: str = "") -> str:
    """What a call needs where the data were not saved with the fit: "data=data"."""
    return "" if fit.design.has_data else f"{comma}data=data"


def stability_text(fit: Fit) -> str:
    """The verdict, or why there is none."""
    if fit.resampled is None:
        if not fit.selected:
            return "not assessed, as nothing is selected"
        return f"not assessed, see .resample(100{data_argument(fit, ', ')})"
    said = verdict(fit, fit.stability)
    if said:
        return said
    if fit.stability.n_resamples < FEWEST:
        return f"{fit.stability.words}, too few for a verdict"
    if each_selected_all(fit.stability):
        return f"no verdict, as {fit.stability.words} all selected whatever they could"
    return "no verdict, as the data chose nothing"
