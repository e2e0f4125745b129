"""Maps of pairs of terms: associations in the data, interactions in the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.errors import OptionError, listing
from treeselect.reports.plots.drawing import new_axes, short_names
from treeselect.reports.plots.units import need_terms
from treeselect.results.inside import association_table
from treeselect.results.interactions import interaction_table
from treeselect.results.maps import pair_map

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit


def correlation(result: Fit, ax: Axes | None) -> Axes:
    """How strongly selected terms go together in the data."""
    need_terms(result, 2)
    table = association_table(result)
    return _pairs(result, table, "association", "Association in the data", ax)


def interactions(result: Fit, ax: Axes | None) -> Axes:
    """Strengths of all pairs."""
    need_terms(result, 2)
    table = interaction_table(result)
    if table.empty:
        raise OptionError(
            "There is nothing to plot: each two of the first ten terms have a variable in common.\n"
            f"  Selected: {listing(result.selected)}."
        )
    return _pairs(result, table, "strength", "Strength of interactions in the model", ax)


def _pairs(result: Fit, table: pd.DataFrame, column: str, title: str, ax: Axes | None) -> Axes:
    """A symmetric map, with the number in each cell."""
    found = pair_map(result, table, column)
    terms, values = found.terms, found.values
    side = 2.2 + 0.5 * len(terms)
    ax = new_axes(ax, side, side)
    ax.imshow(values, cmap="Blues", vmin=0.0, vmax=1.0)
    size = 9 if len(terms) <= 15 else 7
    for i, j in np.argwhere(~np.isnan(values)):
        value = values[i, j]
        ax.text(
            j,
            i,
            f"{value:.2f}",
            ha="center",
            va="center",
            fontsize=size,
            color="white" if value > 0.55 else "black",
        )
    names = short_names(terms, 13.0)
    ax.set_xticks(range(len(terms)), names, rotation=90)
    ax.set_yticks(range(len(terms)), names)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_title(title, loc="left")
    return ax
