"""Figures with a row for each unit: importances, stability, substitutes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.errors import OptionError, listing
from treeselect.reports.colours import ACCENT, FAINT, GRID, SOFT
from treeselect.reports.plots.drawing import dots, name_rows, new_axes
from treeselect.resampling.fit import noun
from treeselect.results.frequencies import selected_first
from treeselect.results.tables import importances_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit

_MOST_UNITS = 30
_MOST_TERMS = 15
_MOST_SELECTED = 50


def need_terms(result: Fit, least: int) -> None:
    """Raise an OptionError if fewer terms are selected than a figure needs."""
    if len(result.selected) < least:
        words = "one selected term" if least == 1 else "two selected terms"
        raise OptionError(
            f"There is nothing to plot: this needs at least {words}.\n"
            f"  Selected: {listing(result.selected) or 'nothing'}."
        )


def terms(result: Fit, ax: Axes | None) -> Axes:
    """Importances as bars, and selection frequencies as dots with their intervals if there are
    resamples; then the most frequent units outside the selection."""
    if result.resampled is None:
        return importance(result, ax)
    found = result.resampled.in_pandas.tidy()
    worth = dict(zip(result.groups, importances_of(result, result.groups), strict=True))
    table = selected_first(found, _MOST_TERMS, _MOST_SELECTED)
    table = table.assign(importance=[worth.get(unit, 0.0) for unit in table["term"]])
    table = table.sort_values(["selected", "importance"], ascending=False, ignore_index=True)
    more = len(found) - len(table)
    ax = new_axes(ax, 6.8, 1.4 + 0.3 * len(table))
    ax.barh(
        range(len(table)),
        table["importance"],
        height=0.62,
        color=FAINT,
        label="importance",
        zorder=0.5,
    )
    _frequencies(ax, table)
    n_resamples = result.resampled.n_resamples
    ax.set_xlabel(
        f"importance; selection frequency over {n_resamples:,} resamples with 95% intervals"
        + (f"\n(and {more:,} more)" if more else "")
    )
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return ax


def importance(result: Fit, ax: Axes | None) -> Axes:
    """Importances of the selected units."""
    need_terms(result, 1)
    units = result.groups[:_MOST_UNITS]
    ax = new_axes(ax, 6.4, 1.2 + 0.28 * len(units))
    values = importances_of(result, units)
    bars = ax.barh(range(len(units)), values, height=0.65, color=ACCENT)
    ax.bar_label(bars, fmt="%.3f", padding=4, color=SOFT)
    name_rows(ax, units)
    ax.margins(x=0.12)
    ax.set_xlabel("importance")
    return ax


def stability(result: Fit, ax: Axes | None) -> Axes:
    """Selection frequencies with their intervals."""
    found = result.stability.in_pandas.tidy()
    table = selected_first(found, _MOST_UNITS, _MOST_SELECTED)
    more = len(found) - len(table)
    ax = new_axes(ax, 6.4, 1.2 + 0.28 * len(table))
    _frequencies(ax, table)
    ax.set_xlabel(
        f"selection frequency over {result.stability.n_resamples:,} resamples with 95% intervals"
        + (f"\n(and {more:,} more)" if more else "")
    )
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def _frequencies(ax: Axes, table: pd.DataFrame) -> None:
    """Dots with intervals, filled for the selection."""
    rows = range(len(table))
    ax.hlines(rows, table["ci_low"], table["ci_high"], color=ACCENT, zorder=1)
    labels = "frequency, selected", "frequency, not selected"
    dots(ax, table["frequency"].to_list(), rows, table["selected"].to_list(), labels)
    name_rows(ax, table["term"].to_list())
    ax.set_xlim(0.0, 1.0)


def substitutes(result: Fit, ax: Axes | None) -> Axes:
    """The units that replaced selected units on resamples without them."""
    table = result.stability.in_pandas.substitutes.head(_MOST_UNITS)
    if table.empty:
        raise OptionError(
            "There are no substitutes to plot.\n"
            f"  On no resample was a selected {noun(result, 1)} replaced by another."
        )
    ax = new_axes(ax, 6.8, 1.4 + 0.3 * len(table))
    rows = np.arange(len(table))
    ax.hlines(rows, 0, table["share"], color=GRID)
    ax.plot(
        table["share"],
        rows,
        "o",
        color=ACCENT,
        label=f"resamples without the {noun(result, 1)}",
        clip_on=False,
    )
    beside = table["share_otherwise"].notna()
    if beside.any():
        ax.plot(
            table["share_otherwise"][beside],
            rows[beside],
            "o",
            color=ACCENT,
            markerfacecolor="white",
            label=f"resamples with the {noun(result, 1)}",
            clip_on=False,
        )
    pairs = zip(table["substitute"], table["term"], strict=True)
    name_rows(ax, [f"{other} for {term}" for other, term in pairs])
    for row, strength in zip(rows, table["association"], strict=True):
        if np.isfinite(strength):
            text = f"{strength:.2f}"
            ax.annotate(
                text, (1.02, row), xycoords=("axes fraction", "data"), va="center", color=SOFT
            )
    ax.set_title("association", loc="right", fontsize=9, color=SOFT)
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("share of resamples that selected the substitute")
    ax.legend(frameon=False, loc="best")
    return ax
