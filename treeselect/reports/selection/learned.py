"""The final model; the sections that follow show its effects, shapes and interactions."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial
from treeselect.results.interactions import are_kept


@dataclass(frozen=True, slots=True)
class LearnedSection:
    """The final model.

    Attributes
    ----------
    predicts : str
        Which model it is.
    without_data : str
        Why there are no shapes and interactions; empty where there may be.
    """

    predicts: str
    without_data: str


def gather(material: FitMaterial) -> LearnedSection | None:
    """The model in a sentence; None if nothing is selected."""
    fit = material.fit
    if not fit.selected:
        return None
    return LearnedSection(
        predicts=f"The final model is {fit.model.description}.",
        without_data=""
        if fit.design.has_data
        else f"Partial dependence{' needs' if are_kept(fit) else ' and interactions need'} the data"
        " of the fit, which were not saved with it; `fit.save(path, include_data=True)` includes"
        " them.",
    )
