"""Shapes of terms: curves of one, maps of two."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from treeselect.reports.colours import COLOURS, PALE, SOFT
from treeselect.reports.figures.panels import short_scale
from treeselect.reports.plots.drawing import MARKS, new_axes, plain, short_names
from treeselect.results.curves import Curve, CurvePoint, curves, number_text
from treeselect.results.maps import shape_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit

_MOST_CLASSES = 6


def shape(result: Fit, term: str, ax: Axes | None) -> Axes:
    """The effect of a term with one variable; of many classes one curve for each."""
    drawable = [_drawable(curve) for curve in curves(result, term)[:_MOST_CLASSES]]
    found, unit = [curve for curve, _ in drawable], drawable[0][1]
    ax = new_axes(ax, 6.4 if len(found) == 1 else 8.6, 4.0)
    ax.axhline(0.0, color=SOFT, linewidth=0.8)
    draw = _number_curve if found[0].is_number else _level_curve
    for i, curve in enumerate(found):
        draw(ax, curve, i, len(found))
    (_number_ticks if found[0].is_number else _level_ticks)(ax, found[0])
    more = f" ({found[0].more:,} rarer levels not shown)" if found[0].more else ""
    ax.set_xlabel(plain(found[0].variable) + unit + more)
    if len(found) > 1:
        what = found[0].scale.partition(" of ")[0]
        ax.set_ylabel(f"effect on the {what}")
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    else:
        ax.set_ylabel(plain(f"effect on the {found[0].scale}"))
    ax.set_title(plain(term), loc="left")
    return ax


def _drawable(curve: Curve) -> tuple[Curve, str]:
    """A curve whose values matplotlib can draw, and their unit in words if they needed one: it
    takes differences, which of the largest numbers are none."""
    if max((abs(p.value) for p in curve.points if p.value is not None), default=0.0) <= 1e300:
        return curve, ""
    points = tuple(
        p if p.value is None else dataclasses.replace(p, value=p.value / 1e300)
        for p in curve.points
    )
    return dataclasses.replace(curve, points=points), " in units of 1e300"


def _number_curve(ax: Axes, curve: Curve, i: int, n: int) -> None:
    known = [(p.value, p.effect) for p in curve.points if p.value is not None]
    _band(ax, [p for p in curve.points if p.value is not None], COLOURS[i])
    ax.plot(
        [value for value, _ in known],
        [effect for _, effect in known],
        color=COLOURS[i],
        linewidth=1.5,
        linestyle=("-", "--", "-.", ":")[i % 4],
        label=_class_label(curve, n),
    )
    _points(ax, curve, i, [_place(curve, p.value) for p in curve.points], None)


def _band(ax: Axes, points: Sequence[CurvePoint], colour: str) -> None:
    """What the resamples make of the line, where they tell it."""
    if any(p.low is not None for p in points):
        nan = float("nan")
        lows = [nan if p.low is None else p.low for p in points]
        highs = [nan if p.high is None else p.high for p in points]
        ax.fill_between(
            [p.value or 0.0 for p in points], lows, highs, color=colour, alpha=0.15, linewidth=0
        )


def _level_curve(ax: Axes, curve: Curve, i: int, n: int) -> None:
    shift = (i - (n - 1) / 2) * 0.6 / n
    _points(ax, curve, i, [j + shift for j in range(len(curve.points))], _class_label(curve, n))


def _points(ax: Axes, curve: Curve, i: int, places: Sequence[float], label: str | None) -> None:
    """Points whose area is the share of the rows; hollow squares for missing values."""
    colour, mark = COLOURS[i], MARKS[i]
    for x, p in zip(places, curve.points, strict=True):
        if p.low is not None and p.high is not None and (p.is_missing or not curve.is_number):
            ax.plot([x, x], [p.low, p.high], color=colour, linewidth=1.5)
    for missing in (False, True):
        own = [(x, p) for x, p in zip(places, curve.points, strict=True) if p.is_missing == missing]
        if own:
            ax.scatter(
                [x for x, _ in own],
                [p.effect for _, p in own],
                s=[40.0 if missing else max(8.0, 300 * p.share) for _, p in own],
                marker="s" if missing else mark,
                facecolor="white" if missing else colour,
                edgecolor=colour,
                zorder=3,
                label=None if missing else label,
            )


def _class_label(curve: Curve, n: int) -> str | None:
    return plain(short_scale(curve.scale)) if n > 1 else None


def _place(curve: Curve, value: float | None) -> float:
    """Where a value stands; missing ones to the right of all others."""
    if value is not None:
        return value
    known = [p.value for p in curve.points if p.value is not None] or [0.0]
    return known[-1] + 0.12 * ((known[-1] - known[0]) or 1.0)


def _number_ticks(ax: Axes, curve: Curve) -> None:
    from matplotlib.ticker import MaxNLocator

    known = [p.value for p in curve.points if p.value is not None]
    if len(known) == len(curve.points):
        return
    low, high = (known[0], known[-1]) if known else (0.0, 0.0)
    ticks = [v for v in MaxNLocator(6).tick_values(low, high) if known and low <= v <= high]
    lost = _place(curve, None)
    ax.axvline((high + lost) / 2, color=SOFT, linewidth=0.8, linestyle=":")
    ax.set_xticks([*ticks, lost], [*(number_text(float(v)) for v in ticks), "missing"])


def _level_ticks(ax: Axes, curve: Curve) -> None:
    names = short_names([p.label for p in curve.points], 9.0)
    crowded = sum(map(len, names)) > 60
    ax.set_xticks(range(len(names)), names, rotation=90 if crowded else 0)
    ax.margins(x=0.08)


def grid(result: Fit, term: str, other: str, ax: Axes | None) -> Axes:
    """Mean response at each pair of values that occurs."""
    found = shape_map(result, term, other)
    ax = new_axes(ax, 6.4, 5.2)
    image = ax.imshow(found.means, cmap="viridis", origin="lower", aspect="auto")
    ax.set_facecolor(PALE)
    ax.set_xticks(range(len(found.x)), short_names(found.x, 8.0), rotation=90)
    ax.set_yticks(range(len(found.y)), short_names(found.y, 8.0))
    ax.set_xlabel(plain(found.x_label))
    ax.set_ylabel(plain(found.y_label))
    ax.set_title(plain(f"{term} and {other}; grey: pairs that do not occur"), loc="left")
    ax.figure.colorbar(image, ax=ax, label=plain(found.scale))
    return ax
