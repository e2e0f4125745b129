"""Which units a figure or a table of selection frequencies shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def selected_first(table: pd.DataFrame, length: int, most: int) -> pd.DataFrame:
    """The units of the selection, then the most frequent others as far as there is room.

    Parameters
    ----------
    table : pandas.DataFrame
        See ``Stability.table``.
    length : int
        Rows to show; more where the selection has more units.
    most : int
        Rows to show of the largest selection.
    """
    ordered = table.sort_values("selected", ascending=False, kind="stable", ignore_index=True)
    return ordered.head(min(max(length, int(table["selected"].sum())), most))
