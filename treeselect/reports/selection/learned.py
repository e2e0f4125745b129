"""Which model has learned something; what it is stands in the sections inside."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.reports.material import FitMaterial
from treeselect.results.interactions import are_kept


@dataclass(frozen=True, slots=True)
class LearnedSection:
    """What the model has learned.

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
        predicts=f"Predictions are those of {fit.model.description}.",
        without_data=""
        if fit.design.has_data
        else f"Shapes of the terms{'' if are_kept(fit) else ' and their interactions'} need the"
        " data of the fit, which were not saved with it: `fit.save(path, include_data=True)` keeps"
        " them.",
    )
