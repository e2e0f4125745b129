"""Pairs of terms: associations in the data as a map, interactions in the model as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.errors import OptionError, listing
from treeselect.reports.colours import ACCENT, SOFT
from treeselect.reports.plots.drawing import name_rows, new_axes, short_names
from treeselect.reports.plots.units import need_terms
from treeselect.results.inside import association_table
from treeselect.results.interactions import interaction_table, strength_texts
from treeselect.results.maps import pair_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit

_MOST_PAIRS = 10


def correlation(result: Fit, ax: Axes | None) -> Axes:
    """Associations between selected terms in the data: a symmetric map with numbers."""
    need_terms(result, 2)
    table = association_table(result)
    found = pair_map(result, table, "association")
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
    ax.set_title("Association in the data", loc="left")
    return ax


def interactions(result: Fit, ax: Axes | None) -> Axes:
    """Sizes of the largest interactions, as in the report."""
    need_terms(result, 2)
    table = interaction_table(result)
    if table.empty:
        raise OptionError(
            "There is nothing to plot: any two of the ten most important terms share a variable.\n"
            f"  Selected: {listing(result.selected)}."
        )
    shown = table.head(_MOST_PAIRS)
    ax = new_axes(ax, 7.6, 1.2 + 0.32 * len(shown))
    bars = ax.barh(range(len(shown)), shown["size"], height=0.6, color=ACCENT)
    ax.bar_label(bars, strength_texts(shown), padding=4, color=SOFT)
    name_rows(ax, [f"{a} × {b}" for a, b in zip(shown["term"], shown["other"], strict=True)])
    ax.margins(x=0.45)
    more = len(table) - len(shown)
    scale = "on the scale of the prediction" + (f"\n(and {more:,} more pairs)" if more else "")
    ax.set_xlabel(f"size of the interaction, {scale}")
    return ax
