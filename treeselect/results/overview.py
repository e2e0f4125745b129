"""The selected terms, and those that nearly were, with what is known of each: one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.engine.rounding import at_least
from treeselect.results.recurrence import kept_units
from treeselect.results.tables import tidy_table
from treeselect.results.verdict import HALF

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.engine.arrays import BoolArray
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability


def overview_table(fit: Fit, most: int, most_others: int) -> tuple[pd.DataFrame, int]:
    """The first selected terms, and terms outside that resamples selected nearly as often.

    Outside are those whose unit was selected in at least half of the resamples, or in more than
    one of the selection was, or holds a place with one of it in turn
    (:mod:`treeselect.resampling.places`); the most frequent first.

    Parameters
    ----------
    fit : Fit
    most, most_others : int
        Rows inside and outside.

    Returns
    -------
    table : pandas.DataFrame
        Rows of ``tidy()`` with ``kept`` (in each selection by request) and ``substitutes`` (tuple
        of the units that hold a place with this one in turn).
    n_left_out : int
        Rows that would be here if there were room.
    """
    tidy = tidy_table(fit)
    inside = tidy["selected"].to_numpy(dtype=bool)
    if fit.resampled is None:
        found = tidy[inside].assign(kept=False)
        found["substitutes"] = [()] * len(found)
        return found.head(most), max(len(found) - most, 0)
    stability = fit.stability
    holders = {unit: place.units for place in stability.places for unit in place.units}
    kept = kept_units(stability)
    table = tidy.assign(kept=tidy["group"].isin(kept))
    table["substitutes"] = [
        tuple(other for other in holders.get(unit, ()) if other != unit) for unit in tidy["group"]
    ]
    near = _near(table, stability)
    others = table[near].sort_values("frequency", ascending=False, kind="stable")
    parts = [table[inside].head(most), others.head(most_others)]
    left_out = int(inside.sum()) + len(others) - sum(map(len, parts))
    return _stacked(parts), left_out


def _near(table: pd.DataFrame, stability: Stability) -> BoolArray:
    """Terms outside the selection that a reader must know of."""
    inside, frequency = table["selected"].to_numpy(dtype=bool), table["frequency"].to_numpy()
    free = inside & ~table["kept"].to_numpy(dtype=bool)
    least = frequency[free].min(initial=1.0)
    often = at_least(frequency, HALF) | (frequency > least)
    in_turn = np.array([len(others) > 0 for others in table["substitutes"]], dtype=bool)
    found: BoolArray = ~inside & (often | in_turn) & (frequency > 0)
    return found


def _stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat(parts, ignore_index=True)
