"""Groups of rows by the risk that the model of a fit predicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import read_seed
from treeselect.models.forest import refit_forest
from treeselect.resampling.conditional import RiskGroups, group_by_risk
from treeselect.resampling.folds import Splitter
from treeselect.results.refitting import growing
from treeselect.running.parallel import Workers, workers_for

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


def risk_groups_of(
    result: Fit,
    n_groups: int = 3,
    horizon: float | None = None,
    folds: int | Splitter | Sequence[int] = 10,
    *,
    fold_groups: str | Sequence[Any] | None = None,
    seed: int | None = None,
    workers: Workers | None = None,
) -> RiskGroups:
    """See :meth:`SelectionResult.risk_groups`; figures show what it gives by default."""
    return group_by_risk(
        result,
        growing(result) or refit_forest,
        n_groups,
        horizon,
        folds,
        fold_groups=fold_groups,
        seed=result.seed if seed is None else read_seed(seed),
        workers=workers_for(result.n_jobs) if workers is None else workers,
    )
