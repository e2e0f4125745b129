"""Figures over the number of terms: the path, and importances along it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treeselect.errors import OptionError
from treeselect.printing import plain_score
from treeselect.reports.colours import ACCENT, GRID, INK, SOFT
from treeselect.reports.figures.axes import score_axis
from treeselect.reports.figures.labels import spread
from treeselect.reports.plots.drawing import (
    error_bars,
    mark,
    new_axes,
    score_heights,
    short_names,
    whole_numbers,
)
from treeselect.resampling.fit import noun
from treeselect.results.curves import ImportanceLines, importance_lines
from treeselect.results.tables import beyond_path, path_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit

_MOST_LINES = 8


def path(result: Fit, ax: Axes | None) -> Axes:
    """Score against the number of terms."""
    table = path_table(result)
    validated = result.scores is not None
    score = table["cv_score" if validated else "train_score"]
    scored = table["k"][score.notna()]
    if len(scored) < 2:
        raise OptionError(
            "There is nothing to plot: the path needs at least two steps with a score.\n"
            f"  With a score: {', '.join(f'k = {k}' for k in scored) or 'none'}."
            " `fit.path` has the numbers."
        )
    values, errors = score.to_list(), table["cv_se"].to_list()
    full = beyond_path(result)
    ends = ([], []) if full is None else ([full[1]], [0.0])
    axis = score_axis(
        [*values, *ends[0]], [*errors, *ends[1]], result.design.response.family.score_bounds
    )
    ax = new_axes(ax, 6.4, 4.0)
    score_heights(ax, axis)
    whole_numbers(ax, [*scored, result.k])
    ax.errorbar(
        table["k"].to_numpy(),
        score.to_numpy(),
        yerr=error_bars(values, errors, axis) if validated else None,
        clip_on=False,
        color=ACCENT,
        marker="o",
        markersize=5,
        capsize=3,
    )
    if full is not None:
        n_units, score_of_all = full
        ax.axhline(score_of_all, color=SOFT, linewidth=1, zorder=0)
        ax.annotate(
            f"all {n_units:,} {noun(result, n_units)}: {plain_score(score_of_all)}",
            (0, score_of_all),
            xycoords=("axes fraction", "data"),
            xytext=(4, 3),
            textcoords="offset points",
            color=INK,
        )
    if result.scores is not None:  # scores exist for sizes that no step has
        at = [result.k], [result.scores.mean[result.k]]
    else:
        chosen = (table["k"] == result.k).to_numpy()
        at = table["k"][chosen].to_list(), score[chosen].to_list()
    ax.plot(*at, "o", markersize=13, fillstyle="none", color=ACCENT, clip_on=False)
    name = result.design.response.family.score_name
    rows = "out of bag" if result.chosen_method.tells_out_of_bag else "on the training rows"
    ax.set_ylabel(f"{name}, {rows if result.scores is None else result.scores.kind}")
    _over_sizes(ax, result)
    return ax


def importance_path(result: Fit, ax: Axes | None) -> Axes:
    """Importances against the number of terms."""
    found = importance_lines(result, _MOST_LINES)
    if not found.sizes:
        raise OptionError(
            f"There is no importance to plot.\n  No step of the path selects a {noun(result, 1)}."
        )
    if len(found.sizes) < 2:
        raise OptionError(
            f"There is nothing to plot: the path needs at least two steps with {noun(result)}.\n"
            f'  Found: k = {found.sizes[0]}. `fit.plot("importance")` shows the'
            " importances of the selection."
        )
    ax = new_axes(ax, 7.2, 4.2)
    whole_numbers(ax, [*found.sizes, result.k])
    for i, values in enumerate(found.values):
        first = max(int(np.flatnonzero(np.array(values) > 0)[0]) - 1, 0) if any(values) else 0
        ax.plot(
            found.sizes[first:],
            values[first:],
            **mark(i, _colour(found, i)),
            markersize=5,
            markevery=max(1, len(values) // 20),
            linestyle="-" if found.selected[i] else "--",
            clip_on=False,
        )
    highest = max(max(values) for values in found.values)
    ax.set_ylim(0.0, min(1.05 * highest, 1.0))
    ends = [1000 * values[-1] / highest for values in found.values]
    heights = [height * highest / 1000 for height in spread(ends, 60.0, 0.0, 1000.0)]
    for i, name in enumerate(short_names(found.names, 14.0)):
        ax.annotate(
            name,
            (found.sizes[-1], found.values[i][-1]),
            xytext=(1.06, heights[i]),
            textcoords=("axes fraction", "data"),
            va="center",
            color=INK,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": SOFT,
                "linewidth": 0.7,
                "shrinkB": 4,
                "relpos": (-0.2, 0.5),
            },
        )
    for i, height in enumerate(heights):
        ax.plot(
            [1.045],
            [height],
            **mark(i, _colour(found, i)),
            markersize=5,
            transform=ax.get_yaxis_transform(),
            clip_on=False,
        )
    ax.set_ylabel("importance")
    _over_sizes(ax, result)
    return ax


def _colour(found: ImportanceLines, i: int) -> str:
    """Accent for selected units; grey for the others, whose lines are dashed."""
    return ACCENT if found.selected[i] else SOFT


def _over_sizes(ax: Axes, result: Fit) -> None:
    ax.axvline(result.k, color=SOFT, linestyle="--", linewidth=1, zorder=0)
    ax.grid(axis="y", color=GRID)
    ax.set_axisbelow(True)
    ax.set_xlabel(f"number of {noun(result)} (k)")
