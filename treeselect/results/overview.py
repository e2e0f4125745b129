"""The selected terms, and others that were selected about as often on resamples: one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.results.recurrence import kept_units
from treeselect.results.tables import tidy_table
from treeselect.results.verdict import standing

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability


def overview_table(fit: Fit, most: int, most_others: int) -> tuple[pd.DataFrame, int]:
    """The first selected terms, and unselected terms that resamples selected about as often.

    These are terms whose unit was selected in at least half of the resamples, or more often than
    the rarest selected one, or is interchangeable with a selected one
    (:mod:`treeselect.resampling.agreement`); the most frequent first.

    Parameters
    ----------
    fit : Fit
    most, most_others : int
        Rows of selected and of unselected terms.

    Returns
    -------
    table : pandas.DataFrame
        Rows of ``tidy()`` with ``kept`` (whether it was forced in) and ``substitutes`` (tuple of
        the units with which it is interchangeable).
    n_left_out : int
        Further rows, for which there is no room.
    """
    tidy = tidy_table(fit)
    inside = tidy["selected"].to_numpy(dtype=bool)
    if fit.resampled is None:
        found = tidy[inside].assign(kept=False)
        found["substitutes"] = [()] * len(found)
        return found.head(most), max(len(found) - most, 0)
    stability = fit.stability
    alike = {unit: place.units for place in stability.places for unit in place.units}
    kept = kept_units(stability)
    table = tidy.assign(kept=tidy["group"].isin(kept))
    table["substitutes"] = [
        tuple(other for other in alike.get(unit, ()) if other != unit) for unit in tidy["group"]
    ]
    near = ~inside & tidy["group"].isin(_near(fit, stability)).to_numpy(dtype=bool)
    others = table[near].sort_values("frequency", ascending=False, kind="stable")
    parts = [table[inside].head(most), others.head(most_others)]
    left_out = int(inside.sum()) + len(others) - sum(map(len, parts))
    return _stacked(parts), left_out


def _near(fit: Fit, stability: Stability) -> list[str]:
    """Unselected units that some resample selected and that a reader must know of."""
    units = standing(fit, stability)
    alike = (u for u in units.outside if units.count[u] and u in units.interchangeable)
    return [*units.intruders, *units.overtaking, *alike]


def _stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(parts, ignore_index=True)
