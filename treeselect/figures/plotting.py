"""Figures on the axes of matplotlib, an optional extra."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from treeselect.arguments.checks import described
from treeselect.errors import MissingPackageError, OptionError
from treeselect.figures import marks
from treeselect.figures.axes import Axis, distinct, spread
from treeselect.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS = "os^D"
_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (6, 2, 1.5, 2)))
_STRIP = 0.06
"""Height of the strip with the distribution of the rows, as a share of the axes."""


def need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            "Can't plot without matplotlib, which is not installed.\n"
            '  Install it: `pip install "treeselect[plot]"`. Reports do not need it.'
        ) from error


def plotted(figure: marks.Figure, ax: Axes | None, size: tuple[float, float]) -> Axes:
    """A figure on the user's axes, or on new ones of this width and height."""
    need_matplotlib()
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    elif not isinstance(ax, Axes):
        raise OptionError(
            f"`ax` must be matplotlib Axes or None.\n  Found: {described(ax)}. Create them by"
            " `figure, ax = matplotlib.pyplot.subplots()`."
        )
    ax.spines[["top", "right"]].set_visible(False)
    paint: Any = {marks.Plane: _plane, marks.Rows: _rows, marks.Tiles: _tiles}[type(figure)]
    paint(figure, ax)
    if figure.head:
        ax.set_title(plain(figure.head), loc="left")
    return ax


def plain(text: str) -> str:
    """Text without control characters, in which a dollar sign begins no formula."""
    return shown(text).replace("$", r"\$")


def _short(names: Sequence[str], most: float) -> list[str]:
    return [plain(name) for name in distinct(names, most)]


# --- series between axes -------------------------------------------------------------------------


def _plane(figure: marks.Plane, ax: Axes) -> None:
    below = 1.5 * _STRIP * (figure.y.high - figure.y.low) if figure.strip else 0.0
    now = ax.get_ylim() if ax.has_data() else ()
    ax.set_ylim(*_seen(now, figure.y.low - below, figure.y.high))
    _across(ax, figure)
    for rule in figure.rules:
        _rule(ax, rule, figure.x)
    if not figure.strip:
        ax.grid(axis="y", color=marks.GRID)
    ax.set_axisbelow(True)
    shifts = marks.side_by_side(figure.series, float, most=math.inf, alone=0.5)
    for one, shift in zip(figure.series, shifts, strict=True):
        _series(ax, figure, one, shift, "" if figure.legend == "ends" else plain(one.name))
    _strip(ax, figure)
    ax.set_xlabel(plain(figure.x.label))
    ax.set_ylabel(plain(figure.y.label))
    if figure.legend == "ends":
        _name_ends(ax, figure)
    elif figure.legend:
        if figure.more:
            ax.plot([], [], " ", label=f"and {figure.more:,} more")
        entries = list(zip(*ax.get_legend_handles_labels(), strict=True))
        entries.sort(key=lambda entry: not isinstance(entry[0], tuple))  # lines with bars first
        ax.legend(*zip(*entries, strict=True), frameon=False, loc="upper left",
                  bbox_to_anchor=(1.0, 1.0))  # fmt: skip
    if figure.counts:
        _counts(ax, figure)


_ABOVE: dict[str, Any] = {
    "frameon": False, "loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": 3,
}  # fmt: skip
"""A legend flush right, so that a wide one has the room of the names on the left."""


def _seen(shown_now: Sequence[float], low: float, high: float) -> tuple[float, float]:
    """The range, extended by what is already visible."""
    return min([low, *shown_now]), max([high, *shown_now])


def _across(ax: Axes, figure: marks.Plane) -> None:
    """The horizontal axis: whole numbers of units, times, or the scale of a variable."""
    axis, now = figure.x, ax.get_xlim() if ax.has_data() else ()
    if axis.kind == "counts":
        from matplotlib.ticker import MaxNLocator

        room = max(0.04 * (axis.high - axis.low), 0.25)
        ax.set_xlim(*_seen(now, axis.low - room, axis.high + room))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        return
    if axis.kind == "log":
        ax.set_xscale("log")
    elif axis.kind == "rank":
        reach = axis.high - axis.low
        values = np.array([axis.low - reach, *axis.values, axis.high + reach])
        places = np.array([-1.0, *axis.places, 2.0])
        ax.set_xscale("function", functions=(
            lambda x: np.interp(x, values, places), lambda x: np.interp(x, places, values),
        ))  # fmt: skip
    margin = 0.0 if axis.kind == "times" else 0.03
    ax.set_xlim(axis.value(-margin), axis.value(1.0 + margin))
    ticks = axis.ticks(380.0)
    ax.set_xticks([_at(axis, value) for value, _ in ticks], [label for _, label in ticks])
    ax.minorticks_off()


def _at(axis: Axis, value: float) -> float:
    """A value on the axis; missing ones stand in the space that is for them."""
    return axis.value(axis.share(value)) if math.isinf(value) else value


def _rule(ax: Axes, rule: marks.Rule, axis: Axis) -> None:
    style: dict[str, Any] = {"color": marks.SOFT, "linewidth": 0.9, "zorder": 0.6}
    style["linestyle"] = (0, (4, 4)) if rule.dashes else "-"
    if rule.at is None:
        ax.plot([0, 1], [0, 1], transform=ax.transAxes, **style)
    elif rule.along == "y":
        ax.axvline(_at(axis, rule.at), **style)
    else:
        ax.axhline(rule.at, label=rule.name or None, **style)
        ax.annotate(
            plain(rule.label), (0, rule.at), xycoords=("axes fraction", "data"), xytext=(4, 3),
            textcoords="offset points", color=marks.INK,
        ) if rule.label else None  # fmt: skip


def _colour(one: marks.Series | None, number: int | None = None) -> str:
    if one is not None and one.soft:
        return marks.SOFT
    number = one.colour if one is not None else number
    return marks.ACCENT if number is None else marks.COLOURS[number % len(marks.COLOURS)]


def _marker(one: marks.Series) -> dict[str, Any]:
    """Lines differ in mark as well as colour, for readers who can't see colours and for print."""
    number, colour = one.mark or 0, _colour(one)
    if one.mark is None and not one.texts:
        return {"color": colour}
    is_filled = number < len(_MARKS) and not one.hollow
    return {
        "marker": _MARKS[number % len(_MARKS)],
        "color": colour,
        "markerfacecolor": colour if is_filled else "white",
        "markeredgecolor": colour,
        "markersize": 2 if one.small else 7 if one.hollow else 5,
        "markevery": [i for i, marked in enumerate(one.has_mark) if marked],
    }


def _series(ax: Axes, figure: marks.Plane, one: marks.Series, shift: float, label: str) -> None:
    x = np.array([_at(figure.x, value) + shift for value in one.x], dtype=float)
    y = np.array(one.y, dtype=float)
    step: Literal["post"] | None = "post" if one.line == "steps" else None
    style = _marker(one) | {
        "linestyle": _DASHES[1 if one.soft and not one.stroke else one.stroke] if one.line else "",
        "linewidth": 0.9 if one.soft else 1.5,
        "clip_on": False,
        "label": label or None,
        "drawstyle": "steps-post" if step else "default",
    }
    low, high = np.array(one.low, dtype=float), np.array(one.high, dtype=float)
    if len(low) and one.band:
        ax.fill_between(x, low, high, step=step, color=_colour(one), alpha=0.14, linewidth=0)
    if len(low) and not one.band:
        lengths = np.maximum([y - low, high - y], 0.0)
        ax.errorbar(x, y, yerr=lengths, elinewidth=0.8, capsize=2, **style)
    else:
        ax.plot(x, y, **style)
    ringed = [i for i, ring in enumerate(one.ringed) if ring]
    if ringed:
        ax.plot(x[ringed], y[ringed], "o", markersize=12, fillstyle="none",
                color=_colour(one), clip_on=False)  # fmt: skip


def _strip(ax: Axes, figure: marks.Plane) -> None:
    """Grey bars on the axis that show the distribution of the rows."""
    axis = figure.x
    ends = [
        (axis.value(a * (1 - axis.slot)), axis.value(b * (1 - axis.slot)), height)
        for a, b, height in figure.strip
    ]
    ax.bar(
        [a for a, _, _ in ends],
        [_STRIP * height for _, _, height in ends],
        width=[b - a for a, b, _ in ends],
        align="edge",
        color=marks.FAINT,
        zorder=0.5,
        transform=ax.get_xaxis_transform(),
    ) if ends else None


def _name_ends(ax: Axes, figure: marks.Plane) -> None:
    """Names at the right ends of lines."""
    series = [one for one in figure.series if one.name]
    ends = [
        [(x, y) for x, y in zip(one.x, one.y, strict=True) if math.isfinite(y)][-1]
        for one in series
    ]
    names = _short([one.name for one in series], 14.0)
    colours = [marks.INK if one.colour is None else _colour(one) for one in series]
    low, high = ax.get_ylim()
    ax.set_ylim(low, high)
    wanted = [1000 * (y - low) / (high - low) for _, y in ends]
    gap = min(60.0, 1000 / max(len(names) - 1, 1))
    heights = [height / 1000 for height in spread(wanted, gap, 0.0, 1000.0)]
    for one, name, end, height, colour in zip(series, names, ends, heights, colours, strict=True):
        ax.annotate(
            name,
            end,
            xytext=(1.06, height),
            textcoords="axes fraction",
            va="center",
            color=colour,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": marks.SOFT, "linewidth": 0.6, "shrinkB": 4,
                "relpos": (0, 0.5),
            },
        )  # fmt: skip
        if one.mark is not None and not figure.counts:
            ax.plot([1.03], [height], **_marker(one) | {"markevery": None},
                    transform=ax.transAxes, clip_on=False)  # fmt: skip


_BELOW: dict[str, Any] = {
    "textcoords": "offset points", "ha": "right", "va": "center", "fontsize": 9,
    "annotation_clip": False,
}  # fmt: skip


def _counts(ax: Axes, figure: marks.Plane) -> None:
    """Rows of numbers below the axis, at its ticks."""
    at = {"xycoords": ax.get_xaxis_transform(), **_BELOW}
    ax.annotate("at risk", (0.0, 0.0), xytext=(-18, -48), **at, color=marks.INK)
    places = [value for value, _ in figure.x.ticks(380.0)]
    every = -(-len(figure.counts[0]) // len(places))
    named = [one for one in figure.series if one.name]
    for i, (one, counts) in enumerate(zip(named, figure.counts, strict=True)):
        below = -62 - 14 * i
        ax.annotate(plain(one.name), (0.0, 0.0), xytext=(-18, below), **at, color=_colour(one))
        for place, count in zip(places, counts[::every], strict=True):
            ax.annotate(
                count, (place, 0.0), xytext=(0, below), **at | {"ha": "center"}, color=marks.INK
            )


# --- rows ----------------------------------------------------------------------------------------


def _rows(figure: marks.Rows, ax: Axes) -> None:
    rows, n = figure.rows, max(len(figure.classes), 1)
    for rule in figure.rules:
        _rule(ax, rule, figure.x)
    bars = [row.bar for row in rows if row.bar is not None]
    dots = [
        (dot, i + ((j - (n - 1) / 2) * 0.6 / n if figure.classes else 0.0), j)
        for i, row in enumerate(rows)
        for j, dot in enumerate(row.dots)
    ]
    if bars:
        colour, label = marks.FAINT if dots else marks.ACCENT, figure.bar_kind or None
        drawn = ax.barh(range(len(rows)), bars, 0.62, color=colour, label=label, zorder=0.5)
        if any(row.value for row in rows):
            ax.bar_label(drawn, [plain(row.value) for row in rows], padding=4, color=marks.SOFT)
            ax.margins(x=0.12 + 0.014 * max(len(row.value) for row in rows))
    _draw_dots(ax, figure, dots)
    if figure.kinds[0]:
        ax.set_xlim(figure.x.low, figure.x.high)
    if figure.x.kind == "ratio":
        ax.set_xlim(figure.x.low, figure.x.high)
        ax.set_xticks(*zip(*figure.x.ticks(360.0), strict=True))
    ax.set_yticks(range(len(rows)), _short([row.name for row in rows], 20.0))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, pad=9)  # dots at 0 do not touch them
    for i, aside in enumerate([figure.asides, *(row.aside for row in rows)], start=-1):
        if aside:  # the head right of a legend
            ax.annotate(aside, (1.02, i), xycoords=("axes fraction", "data"), va="center",
                        color=marks.SOFT)  # fmt: skip
    more = f"\n(and {figure.more:,} more)" if figure.more else ""
    ax.set_xlabel(plain(figure.x.label) + more)
    if figure.classes:
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.1, 1.0))
    elif ax.get_legend_handles_labels()[1]:
        ax.legend(**_ABOVE)


def _draw_dots(ax: Axes, figure: marks.Rows, dots: Sequence[tuple[marks.Dot, float, int]]) -> None:
    """Intervals, then dots: filled, hollow, or squares."""
    for number in range(max(len(figure.classes), 1)):
        own = [(d, row) for d, row, j in dots if j == number or not figure.classes]
        colour = _colour(None, number if figure.classes else None)
        spans = [(row, d.low, d.high) for d, row in own if d.low is not None]
        if spans:
            ax.hlines(*zip(*spans, strict=True), color=colour, zorder=1)
        for kind in (0, 1, 2):
            of_kind = [(d.at, row) for d, row in own if d.kind == kind]
            label = figure.classes[number] if figure.classes and not kind else figure.kinds[kind]
            if of_kind:
                ax.plot(
                    *zip(*of_kind, strict=True),
                    marker="s" if kind == 2 else _MARKS[number % 4],
                    linestyle="",
                    color=colour,
                    markerfacecolor=colour if kind == 0 and number < len(_MARKS) else "white",
                    label=plain(label) or None,
                    clip_on=False,
                )


# --- tiles ---------------------------------------------------------------------------------------


def _tiles(figure: marks.Tiles, ax: Axes) -> None:
    if figure.scale:
        image = ax.imshow(figure.values, cmap="viridis", origin="lower", aspect="auto")
        ax.set_facecolor(marks.PALE)
        ax.figure.colorbar(image, ax=ax, label=plain(figure.scale))
    else:
        ax.imshow(figure.values, cmap="Blues", vmin=0.0, vmax=1.0)
        size = 9 if len(figure.x) <= 15 else 7
        for i, j in np.argwhere(np.isfinite(figure.values)):
            value = figure.values[i, j]
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=size,
                    color="white" if value > 0.55 else "black")  # fmt: skip
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    most = 8.0 if figure.scale else 13.0
    ax.set_xticks(range(len(figure.x)), _short(figure.x, most), rotation=90)
    ax.set_yticks(range(len(figure.y)), _short(figure.y, most))
    ax.set_xlabel(plain(figure.labels[0]))
    ax.set_ylabel(plain(figure.labels[1]))
