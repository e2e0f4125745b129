"""Survival of risk groups, with the numbers at risk below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treeselect.reports.colours import COLOURS, INK, SOFT
from treeselect.reports.figures.axes import tick_labels
from treeselect.reports.figures.labels import spread
from treeselect.reports.figures.survival import time_ticks
from treeselect.reports.plots.drawing import mark, new_axes, plain
from treeselect.results.risk import risk_groups_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.conditional import RiskGroups
    from treeselect.resampling.fit import Fit

_STROKES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (6, 2, 1.5, 2)))


def risk_groups(result: Fit, ax: Axes | None) -> Axes:
    """Kaplan-Meier curve of each group; hollow marks are predictions."""
    found = risk_groups_of(result)
    ax = new_axes(ax, 7.2, 5.0)
    last = max(float(curve.time[-1]) for curve in found.curves)
    ticks = time_ticks(last)
    ax.axvline(found.horizon, color=SOFT, linewidth=0.8, linestyle=":")
    _curves(ax, found, last)
    ax.set_xlim(0.0, last)
    ax.set_ylim(0.0, 1.0)
    ax.set_xticks(ticks, tick_labels(ticks))
    ax.set_xlabel(plain(found.time))
    ax.set_ylabel("event-free share")
    _numbers_at_risk(ax, found, ticks)
    return ax


def _curves(ax: Axes, found: RiskGroups, last: float) -> None:
    ends = [100 * float(curve.survival[-1]) for curve in found.curves]
    heights = spread(ends, 5.0, 0.0, 100.0)
    for i, (name, curve) in enumerate(zip(found.names, found.curves, strict=True)):
        colour = COLOURS[i % len(COLOURS)]
        ax.step(
            [0.0, *curve.time],
            [1.0, *curve.survival],
            where="post",
            color=colour,
            linewidth=1.5,
            linestyle=_STROKES[i % len(_STROKES)],
        )
        ax.fill_between(
            curve.time,
            curve.lower,
            curve.upper,
            step="post",
            color=colour,
            alpha=0.14,
            linewidth=0,
        )
        ax.plot(
            [found.horizon],
            [found.predicted[i]],
            **mark(i, colour, hollow=True),
            linestyle="",
            clip_on=False,
        )
        ax.annotate(
            plain(name),
            (last, heights[i] / 100),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            annotation_clip=False,
        )


def _numbers_at_risk(ax: Axes, found: RiskGroups, ticks: list[float]) -> None:
    """Rows of numbers below the axis, at its ticks."""
    counts = found.table_at(ticks).set_index("group")["at_risk"]
    across = ax.get_xaxis_transform()
    ax.annotate("at risk", (0.0, 0.0), xytext=(-18, -48), xycoords=across, **_TEXT, color=INK)
    for i, name in enumerate(found.names):
        below, colour = -62 - 14 * i, COLOURS[i % len(COLOURS)]
        ax.annotate(
            plain(name), (0.0, 0.0), xytext=(-18, below), xycoords=across, **_TEXT, color=colour
        )
        for tick, count in zip(ticks, counts[name], strict=True):
            ax.annotate(
                f"{count:,.0f}",
                (tick, 0.0),
                xytext=(0, below),
                xycoords=across,
                **_TEXT | {"ha": "center"},
                color=INK,
            )


_TEXT: dict[str, Any] = {
    "textcoords": "offset points", "ha": "right", "va": "center", "fontsize": 9,
    "annotation_clip": False,
}  # fmt: skip
