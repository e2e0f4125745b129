"""The null and the full model, beside which methods are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeselect.algorithms.method import Method
from treeselect.algorithms.task import Step, Task


@dataclass(frozen=True)
class AllTerms(Method):
    """No selection: a single step with all units, refitted as the final model of methods is."""

    @property
    def name(self) -> str:
        """Name in tables of progress and in errors."""
        return "reference models"

    def path(self, task: Task) -> Sequence[Step]:
        """All units."""
        n = len(task.problem.groups.names)
        return [Step(0.0, np.ones(n, dtype=bool), np.full(n, 1 / n), np.nan)]


def reference_sizes(n_units: int) -> tuple[int, int]:
    """Sizes of the null and of the full model."""
    return 0, n_units
