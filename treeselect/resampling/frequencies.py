"""Selection frequencies with their intervals, and the stability index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treeselect.frames.libraries import in_library
from treeselect.resampling.agreement import stability_index, wilson_interval
from treeselect.resampling.selected_sets import SelectedSets

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Frequencies(SelectedSets):
    """Selections on resamples, summarised by frequencies and one index."""

    @property
    def index(self) -> float:
        """Nogueira's stability index over the units not forced in (see `stability_index`)."""
        return stability_index(self.selected[:, self.assessed])[0]

    @property
    def index_ci(self) -> tuple[float, float]:
        """Its 95% Monte Carlo interval."""
        return stability_index(self.selected[:, self.assessed])[1]

    def tidy(self) -> Any:
        """One row per unit, in decreasing order of selection frequency.

        Returns
        -------
        frame, in the library of the data
            Columns ``term``, ``frequency``, ``ci_low``, ``ci_high`` (95% Wilson interval) and
            ``selected`` (by the fit).
        """
        return in_library(self.table(), self.library)

    def table(self) -> pd.DataFrame:
        """:meth:`tidy` as a pandas frame."""
        import pandas as pd

        low, high = wilson_interval(self.selected.sum(axis=0), self.n_resamples)
        frame = pd.DataFrame(
            {
                "term": self.units,
                "frequency": self.frequency,
                "ci_low": low,
                "ci_high": high,
                "selected": self.fitted,
            }
        )
        return frame.sort_values(["frequency", "term"], ascending=[False, True], ignore_index=True)
