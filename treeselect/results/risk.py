"""Risk groups as figures show them: three, in ten folds, with the workers of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.models.forest import refit_forest
from treeselect.resampling.held_out_risks import group_by_risk
from treeselect.resampling.risk_groups import RiskGroups
from treeselect.results.refitting import growing
from treeselect.running.parallel import workers_for

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


def usual_risk_groups(result: Fit) -> RiskGroups:
    """What ``SelectionResult.risk_groups()`` gives.

    Raises
    ------
    OptionError
        If the response is not times until an event, or the rows can't be split.
    DataError
        If the model was saved without its data.
    OutOfMemoryError, WorkerError
        If memory runs out, or a process can't be given its work.
    """
    return group_by_risk(
        result,
        growing(result) or refit_forest,
        n_groups=3,
        horizon=None,
        folds=10,
        fold_groups=None,
        seed=result.seed,
        workers=workers_for(result.n_jobs),
        data=None,
        weights=None,
        offset=None,
    )
