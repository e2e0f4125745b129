"""Centred partial dependence: curves for one term, maps for two."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.reports.colours import COLOURS, FAINT, PALE, SOFT
from treeselect.reports.figures.levels import share_text
from treeselect.reports.figures.scales import short_scale
from treeselect.reports.figures.values import FEW, ValueAxis, density, value_axis, value_ticks
from treeselect.reports.plots.drawing import mark, name_rows, new_axes, plain, short_names
from treeselect.results.curves import MISSING, Curve, curves, definite, of_all_classes
from treeselect.results.maps import shape_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from treeselect.resampling.fit import Fit

_MOST_CLASSES = 6
_STRIP = 0.06
"""Height of the strip with the distribution of the rows, as a share of the axes."""


def shape(result: Fit, term: str, ax: Axes | None) -> Axes:
    """Partial dependence on a term of one variable, with one curve for each of many classes."""
    drawable = [_drawable(curve) for curve in curves(result, term)[:_MOST_CLASSES]]
    found, unit = [curve for curve, _ in drawable], drawable[0][1]
    first = found[0]
    rows = 4.0 if first.is_number else 1.4 + 0.32 * len(first.points)
    ax = new_axes(ax, 6.4 if len(found) == 1 else 8.6, rows)
    more = f" ({first.more:,} rarer levels not shown)" if first.more else ""
    variable = plain(first.variable) + unit + more
    what = plain(definite(first.scale) if len(found) == 1 else of_all_classes(first.scale))
    if first.is_number:
        _numbers(ax, found, variable)
        ax.set_ylabel(f"centred effect on {what}")
    else:
        _levels(ax, found)
        ax.set_xlabel(f"centred effect on {what}{more}")
    if len(found) > 1:  # to the right of the shares of levels
        beside = 1.0 if first.is_number else 1.1
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(beside, 1.0))
    ax.set_title(plain(term), loc="left")
    return ax


def _drawable(curve: Curve) -> tuple[Curve, str]:
    """A curve whose values matplotlib can draw, and their unit in words if they were rescaled:
    matplotlib subtracts values, which overflows for the largest numbers."""
    if max((abs(p.value) for p in curve.points if p.value is not None), default=0.0) <= 1e300:
        return curve, ""
    points = tuple(
        p if p.value is None else dataclasses.replace(p, value=p.value / 1e300)
        for p in curve.points
    )
    return dataclasses.replace(curve, points=points), " in units of 1e300"


def _class_label(curve: Curve, n: int) -> str | None:
    return plain(short_scale(curve.scale, 24.0)) if n > 1 else None


# --- numbers -----------------------------------------------------------------------------------


def _numbers(ax: Axes, found: Sequence[Curve], variable: str) -> None:
    """Curves on the axis that suits the values; missing ones are hollow squares on the right."""
    ax.axhline(0.0, color=SOFT, linewidth=0.8)
    for i, curve in enumerate(found):
        _number_curve(ax, curve, i, len(found))
    points = found[0].points
    known = [point for point in points if point.value is not None]
    if not known:
        _missing(ax, found, 0.0)
        ax.set_xticks([0.0], [MISSING])
        ax.set_xlabel(variable)
        return
    axis = value_axis([p.value or 0.0 for p in known], [p.share for p in known])
    share = sum(p.share for p in points if p.value is None)
    room = min(max(share, 0.16), 0.5) if len(known) < len(points) else 0.0
    _set_scale(ax, axis, room)
    ticks = value_ticks(axis, 380.0)
    if room:
        lost = _value_at(axis, (1 - room / 2) / (1 - room))
        ax.axvline(_value_at(axis, 1 + 0.3 * room), color=SOFT, linewidth=0.8, linestyle=":")
        _missing(ax, found, lost)
        ticks = [*ticks, (lost, MISSING)]
    ax.set_xticks([value for value, _ in ticks], [label for _, label in ticks])
    ax.minorticks_off()
    ax.set_xlabel(f"{variable} ({axis.note})" if axis.note else variable)
    _strip(ax, axis, [p.share for p in known])


def _number_curve(ax: Axes, curve: Curve, i: int, n: int) -> None:
    known = [p for p in curve.points if p.value is not None]
    values = [p.value or 0.0 for p in known]
    if any(p.low is not None for p in known):
        nan = float("nan")
        lows = [nan if p.low is None else p.low for p in known]
        highs = [nan if p.high is None else p.high for p in known]
        ax.fill_between(values, lows, highs, color=COLOURS[i], alpha=0.15, linewidth=0)
    ax.plot(
        values,
        [p.effect for p in known],
        **mark(i, COLOURS[i]),
        linewidth=1.5,
        linestyle=("-", "--", "-.", ":")[i % 4],
        markersize=5 if len(known) <= FEW else 2,
        label=_class_label(curve, n),
    )


def _missing(ax: Axes, found: Sequence[Curve], at: float) -> None:
    for i, curve in enumerate(found):
        for point in curve.points:
            if point.value is None:
                if point.low is not None and point.high is not None:
                    ax.plot([at, at], [point.low, point.high], color=COLOURS[i], linewidth=1.5)
                ax.plot(at, point.effect, "s", **_hollow(i))


def _hollow(i: int) -> dict[str, Any]:
    return {"markerfacecolor": "white", "markeredgecolor": COLOURS[i], "markersize": 7, "zorder": 3}


def _set_scale(ax: Axes, axis: ValueAxis, room: float) -> None:
    """The scale of the axis, with room for missing values on the right."""
    if axis.kind == "log":
        ax.set_xscale("log")
    elif axis.kind == "rank":
        low, high = axis.values[0], axis.values[-1]
        values = np.array([2 * low - high, *axis.values, 2 * high - low])
        places = np.array([-1.0, *axis.places, 2.0])
        ax.set_xscale(
            "function",
            functions=(
                lambda x: np.interp(x, values, places),
                lambda x: np.interp(x, places, values),
            ),
        )
    ax.set_xlim(_value_at(axis, -0.03), _value_at(axis, 1 / (1 - room) + 0.03))


def _value_at(axis: ValueAxis, place: float) -> float:
    """The value at a place, also beyond the ends, which are at 0 and 1."""
    low, high = axis.values[0], axis.values[-1]
    if low == high:
        return low + (place - 0.5) * (abs(low) or 1.0)
    if axis.kind == "log":
        return float(low * (high / low) ** place)
    if axis.kind == "rank" and 0 <= place <= 1:
        return float(np.interp(place, axis.places, axis.values))
    return low + place * (high - low)


def _strip(ax: Axes, axis: ValueAxis, shares: Sequence[float]) -> None:
    """Grey bars on the axis that show the distribution of the rows."""
    bars = density([100 * place for place in axis.places], shares)
    ends = [(_value_at(axis, a / 100), _value_at(axis, b / 100)) for a, b, _ in bars]
    ax.bar(
        [a for a, _ in ends],
        [_STRIP * height for _, _, height in bars],
        width=[b - a for a, b in ends],
        align="edge",
        color=FAINT,
        zorder=0.5,
        transform=ax.get_xaxis_transform(),
    )


# --- levels ------------------------------------------------------------------------------------


def _levels(ax: Axes, found: Sequence[Curve]) -> None:
    """Dots with intervals in rows, hollow squares for missing values, and shares of the rows."""
    n = len(found)
    ax.axvline(0.0, color=SOFT, linewidth=0.8)
    for i, curve in enumerate(found):
        rows = [j + (i - (n - 1) / 2) * 0.6 / n for j in range(len(curve.points))]
        for row, point in zip(rows, curve.points, strict=True):
            if point.low is not None and point.high is not None:
                ax.plot([point.low, point.high], [row, row], color=COLOURS[i], linewidth=1.5)
            if point.is_missing:
                ax.plot(point.effect, row, "s", **_hollow(i))
        known = [(p.effect, r) for p, r in zip(curve.points, rows, strict=True) if not p.is_missing]
        ax.plot(
            [effect for effect, _ in known],
            [row for _, row in known],
            **mark(i, COLOURS[i]),
            linestyle="",
            label=_class_label(curve, n),
        )
    name_rows(ax, [point.label for point in found[0].points])
    ax.set_ylim(len(found[0].points) - 0.4, -0.6)
    for row, point in enumerate(found[0].points):
        ax.annotate(
            share_text(point.share),
            (1.0, row),
            xycoords=("axes fraction", "data"),
            va="center",
            color=SOFT,
            xytext=(6, 0),
            textcoords="offset points",
        )
    ax.set_title("rows", loc="right", fontsize=9, color=SOFT)
    ax.margins(x=0.08)


def grid(result: Fit, term: str, other: str, ax: Axes | None) -> Axes:
    """Mean response at each pair of values in the data."""
    found = shape_map(result, term, other)
    ax = new_axes(ax, 6.4, 5.2)
    image = ax.imshow(found.means, cmap="viridis", origin="lower", aspect="auto")
    ax.set_facecolor(PALE)
    ax.set_xticks(range(len(found.x)), short_names(found.x, 8.0), rotation=90)
    ax.set_yticks(range(len(found.y)), short_names(found.y, 8.0))
    ax.set_xlabel(plain(found.x_label))
    ax.set_ylabel(plain(found.y_label))
    ax.set_title(plain(f"{term} and {other}; grey: not in the data"), loc="left")
    ax.figure.colorbar(image, ax=ax, label=plain(found.scale))
    return ax
