"""The baseline hazard that goes with the relative risks of a model."""

from __future__ import annotations

from treeselect.designs.problem import Problem
from treeselect.engine.arrays import WeightArray
from treeselect.engine.survival.curves import Baseline, breslow
from treeselect.models.model import Model


def baseline_of(
    problem: Problem, weight: WeightArray, model: Model, n_threads: int = 1
) -> Baseline | None:
    """Breslow's estimate of the cumulative hazard at relative risk 1; None for other responses.

    It uses the rows that the model was fitted to.
    """
    family = problem.family
    if not family.has_times:
        return None
    return breslow(problem.y, family.link(model.predict(problem, n_threads)), weight)
