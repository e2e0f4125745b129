"""Single figures of a comparison with matplotlib; all numbers come from its own tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import check_choice
from treeselect.comparison.methods import MOST_LINES, ScoreLine, score_lines
from treeselect.designs.problem import noun_of
from treeselect.errors import OptionError, listing
from treeselect.printing import number_text
from treeselect.reports.colours import ACCENT, COLOURS, GRID, SOFT
from treeselect.reports.figures.axes import Axis, score_axis
from treeselect.reports.figures.labels import spread
from treeselect.reports.plots.drawing import (
    dots,
    error_bars,
    mark,
    name_rows,
    need_matplotlib,
    new_axes,
    plain,
    score_heights,
    short_names,
    whole_numbers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.comparison.record import Contest

KINDS = ("scores", "differences", "front")

_MOST_ROWS = 30
_MOST_LABELS = 20


def plot_comparison(found: Contest, kind: str, ax: Axes | None = None) -> Axes:
    """Draw one figure (see ``Comparison.plot``)."""
    check_choice("kind", kind, KINDS)
    if kind == "differences" and len(found.runs) < 2:
        raise OptionError(
            "There is nothing to plot: differences need at least two methods.\n"
            f"  Compared: {listing(found.methods)}."
        )
    need_matplotlib()
    return _DRAW[kind](found, ax)


# --- scores ------------------------------------------------------------------------------------


def _scores(found: Contest, ax: Axes | None) -> Axes:
    ax = new_axes(ax, 8.4, 4.4)
    lines = score_lines(found, MOST_LINES)
    points = [point for line in lines for point in line.points]
    axis = score_axis([p.score for p in points], [p.error for p in points], found.score_bounds)
    score_heights(ax, axis)
    whole_numbers(ax, [point.size for point in points])
    step = _step(lines)
    drawn = []
    for i, line in enumerate(lines):
        shift = (i - (len(lines) - 1) / 2) * step / len(lines)
        drawn.append(_score_line(ax, line, i, shift, axis))
    ax.grid(axis="y", color=GRID)
    ax.set_axisbelow(True)
    ax.set_xlabel(
        f"number of {noun_of(found.terms_of_unit, 2)} (k); ring: size at which a method is compared"
    )
    ax.set_ylabel(plain(f"{found.score_name} on held-out rows"))
    drawn += _reference_lines(ax, found, axis)
    more = len(found.runs) - len(lines)
    if more:
        drawn += ax.plot([], [], " ", label=f"and {more:,} more")
    ax.legend(handles=drawn, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ax.set_title("Mean over the folds ± one standard error", loc="left", fontsize=10)
    return ax


def _reference_lines(ax: Axes, found: Contest, axis: Axis) -> list[Any]:
    """Scores of the null and the full model, where the axis shows them."""
    styles = {"null": ":", "full": "--"}
    return [
        ax.axhline(
            row["score"],
            color=SOFT,
            linewidth=1,
            linestyle=styles[row["reference"]],
            label=f"{row['reference']} model",
        )
        for row in found.reference_table().to_dict("records")
        if axis.low <= row["score"] <= axis.high
    ]


def _score_line(ax: Axes, line: ScoreLine, i: int, shift: float, axis: Axis) -> Any:
    sizes = [point.size + shift for point in line.points]
    scores = [point.score for point in line.points]
    drawn = ax.errorbar(
        sizes,
        scores,
        yerr=error_bars(scores, [point.error for point in line.points], axis),
        clip_on=False,
        **mark(i, COLOURS[i]),
        markersize=5,
        linewidth=1.2,
        elinewidth=0.8,
        capsize=2,
        label=f"{short_names([line.method], 16.0)[0]}, k = {line.size}",
    )
    at = next(j for j, point in enumerate(line.points) if point.compared)
    ax.plot(
        sizes[at],
        scores[at],
        "o",
        markersize=12,
        fillstyle="none",
        color=COLOURS[i],
        clip_on=False,
    )
    return drawn


def _step(lines: Sequence[ScoreLine]) -> float:
    """Room for the error bars of all methods at one size: half of the least distance of sizes."""
    sizes = sorted({point.size for line in lines if len(line.points) > 1 for point in line.points})
    return 0.5 * min((b - a for a, b in pairwise(sizes)), default=0.5)


# --- differences and the front -----------------------------------------------------------------


def _differences(found: Contest, ax: Axes | None) -> Axes:
    table = found.difference_table().sort_values("difference", ascending=False, kind="stable")
    shown = table.head(_MOST_ROWS)
    ax = new_axes(ax, 6.4, 1.4 + 0.28 * len(shown))
    rows = range(len(shown))
    ax.axvline(0.0, color=SOFT, linewidth=1, linestyle="--")
    ax.hlines(rows, shown["ci_low"], shown["ci_high"], color=ACCENT)
    apart = (shown["ci_low"] > 0) | (shown["ci_high"] < 0)
    labels = "interval excludes 0", "interval includes 0"
    dots(ax, shown["difference"].to_list(), rows, apart.to_list(), labels)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    name_rows(ax, shown["method"].to_list())
    ax.set_ylim(len(shown) - 0.4, -0.6)
    more = len(table) - len(shown)
    ax.set_xlabel(
        plain(f"{found.score_name} minus {found.score_name} of {found.best}, with 95% intervals")
        + (f"\n(and {more:,} more methods)" if more else "")
    )
    return ax


def _front(found: Contest, ax: Axes | None) -> Axes:
    table = found.ranked_table()
    shown = table.head(_MOST_LABELS)
    ax = new_axes(ax, 7.2, max(4.0, 1.2 + 0.24 * len(shown)))
    scores, errors = shown["score"].to_list(), shown["standard_error"].to_list()
    axis = score_axis(scores, errors, found.score_bounds)
    score_heights(ax, axis)
    whole_numbers(ax, shown["n_selected"].to_list())
    sizes, labels = shown["n_selected"].to_list(), ("on the Pareto front", "not on the front")
    dots(ax, sizes, scores, shown["front"].to_list(), labels)
    below, above = error_bars(scores, errors, axis)
    lows = [score - length for score, length in zip(scores, below, strict=True)]
    highs = [score + length for score, length in zip(scores, above, strict=True)]
    ax.vlines(shown["n_selected"], lows, highs, color=ACCENT, alpha=0.6, zorder=1, clip_on=False)
    ax.grid(axis="y", color=GRID)
    ax.set_axisbelow(True)
    names = [
        f"{name} ({number_text(stability, '.2f')})"
        for name, stability in zip(
            short_names(shown["method"].to_list(), 16.0), shown["stability"], strict=True
        )
    ]
    _label_points(ax, names, shown["n_selected"].to_list(), shown["score"].to_list())
    more = len(table) - len(shown)
    ax.set_xlabel(
        f"mean number of {noun_of(found.terms_of_unit, 2)} over the folds (stability in brackets)\n"
        "lines: ± one standard error" + (f"\n(and {more:,} more methods)" if more else "")
    )
    ax.set_ylabel(plain(f"{found.score_name} on held-out rows"))
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    return ax


def _label_points(ax: Axes, names: Sequence[str], x: Sequence[float], y: Sequence[float]) -> None:
    """Names to the right of the axes, at the height of their points where there is room."""
    low, high = ax.get_ylim()
    ax.set_ylim(low, high)
    wanted = [1000 * (value - low) / (high - low) for value in y]
    gap = min(60.0, 1000 / max(len(names) - 1, 1))
    for i, height in enumerate(spread(wanted, gap, 0.0, 1000.0)):
        ax.annotate(
            names[i],
            (x[i], y[i]),
            xytext=(1.05, height / 1000),
            textcoords="axes fraction",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": SOFT,
                "linewidth": 0.6,
                "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )


_DRAW: dict[str, Callable[[Contest, Axes | None], Axes]] = {
    "scores": _scores,
    "differences": _differences,
    "front": _front,
}
