"""Concordances as scikit-survival writes them, as functions of times and risks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from treeselect.arguments.callables import parameters_of
from treeselect.engine.arrays import FloatArray


@dataclass(frozen=True, slots=True)
class SurvivalMetric:
    """A function of scikit-survival that scores risks, or one with the same arguments.

    Attributes
    ----------
    function : callable
        ``function(survival_train, survival_test, estimate)`` of structured arrays, or
        ``function(event_indicator, event_time, estimate)``; its answer is the score, or has it
        first.
    needs_training : bool
        Which of the two.
    """

    function: Callable[..., Any]
    needs_training: bool

    def __call__(self, training: NDArray[Any], truth: NDArray[Any], risk: FloatArray) -> float:
        """Score of rows, by a model that was fitted to others.

        Raises
        ------
        TypeError
            If rows have a start or a stratum.
        """
        if len(truth.dtype.names or ()) > 2:
            raise TypeError("it does not handle start times or strata")
        if self.needs_training:
            found = self.function(training, truth, risk)
        else:
            found = self.function(truth["event"], truth["time"], risk)
        return float(found[0] if isinstance(found, tuple) else found)


_PARAMETERS: dict[tuple[str, ...], bool] = {
    ("survival_train", "survival_test", "estimate"): True,
    ("event_indicator", "event_time", "estimate"): False,
}
"""What has to be given to such a function, and whether training rows are part of it."""


def survival_metric(function: Callable[..., Any]) -> SurvivalMetric | None:
    """A function with the parameters of scikit-survival's concordances; None if it has others."""
    needed = tuple(p.name for p in parameters_of(function).values() if p.default is p.empty)
    found = _PARAMETERS.get(needed)
    return None if found is None else SurvivalMetric(function, found)
