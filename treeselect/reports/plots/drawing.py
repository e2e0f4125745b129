"""Shared by figures: marks, axes, names, and errors for figures that can't be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import described
from treeselect.errors import MissingPackageError, OptionError
from treeselect.reports.colours import ACCENT
from treeselect.reports.figures.axes import Axis, count_axis
from treeselect.reports.figures.labels import distinct
from treeselect.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS = "os^D"


def mark(number: int, colour: str, *, hollow: bool = False) -> dict[str, Any]:
    """The marks of one of eight lines, as in reports: lines differ in mark as well as colour, for
    readers who can't see colours and for print."""
    filled = number < len(_MARKS) and not hollow
    return {
        "marker": _MARKS[number % len(_MARKS)],
        "color": colour,
        "markerfacecolor": colour if filled else "white",
        "markeredgecolor": colour,
    }


def need_matplotlib() -> None:
    """Raise a MissingPackageError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            "Can't plot without matplotlib, which is not installed.\n"
            '  Install it: `pip install "treeselect[plot]"`. Reports do not need it.'
        ) from error


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The user's axes as they are, or new ones."""
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    elif not isinstance(ax, Axes):
        raise OptionError(
            f"`ax` must be matplotlib Axes or None.\n  Found: {described(ax)}. Create them by"
            " `figure, ax = matplotlib.pyplot.subplots()`."
        )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def whole_numbers(ax: Axes, counts: Sequence[float]) -> None:
    """A horizontal axis of counts, with ticks at whole numbers only, at least one."""
    from matplotlib.ticker import MaxNLocator

    least, most, _ = count_axis(counts)
    room = max(0.04 * (most - least), 0.25)
    low, high = _seen(ax.get_xlim() if ax.has_data() else (), least - room, most + room)
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def score_heights(ax: Axes, axis: Axis) -> None:
    """A vertical axis of scores, within their bounds.

    Call it before drawing: what the user's axes already show stays in view.
    """
    ax.set_ylim(*_seen(ax.get_ylim() if ax.has_data() else (), axis.low, axis.high))


def _seen(shown: Sequence[float], low: float, high: float) -> tuple[float, float]:
    """The range, extended by what is already visible."""
    return min([low, *shown]), max([high, *shown])


def error_bars(
    values: Sequence[float], errors: Sequence[float], axis: Axis
) -> tuple[list[float], list[float]]:
    """Lengths of error bars downwards and upwards, clipped to the axis."""
    below = [min(e, v - axis.low) for v, e in zip(values, errors, strict=True)]
    above = [min(e, axis.high - v) for v, e in zip(values, errors, strict=True)]
    return below, above


def dots(
    ax: Axes,
    x: Sequence[float],
    y: Sequence[float],
    filled: Sequence[bool],
    labels: tuple[str, str],
) -> None:
    """Dots, filled and hollow, with a label in the legend for each kind that occurs."""
    for inside, colour, label in zip((True, False), (ACCENT, "white"), labels, strict=True):
        own = [i for i, is_filled in enumerate(filled) if is_filled == inside]
        if own:
            ax.plot(
                [x[i] for i in own],
                [y[i] for i in own],
                "o",
                color=ACCENT,
                markerfacecolor=colour,
                label=label,
                clip_on=False,
            )


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names on the rows of a figure, the first on top."""
    ax.set_yticks(range(len(names)), short_names(names, 20.0))
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0, pad=9)  # dots at 0 do not touch them


def short_names(names: Sequence[str], most: float) -> list[str]:
    """Names shortened to at most `most` ems that stay distinct."""
    return [plain(name) for name in distinct(names, most)]


def plain(text: str) -> str:
    """Text without control characters, in which a dollar sign begins no formula."""
    return shown(text).replace("$", r"\$")
