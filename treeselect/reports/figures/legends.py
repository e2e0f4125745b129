"""Names of lines: at their right ends, or in rows below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.forms import NAME, Form
from treeselect.reports.figures.labels import distinct, spread, width

_ROW = 20.0
_MARK = 20.0
"""From the middle of a mark to the end of its entry, without the width of the name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A name after its mark, given by the centre of the mark; `leader` is the height of the end of
    the line if the name is beside it."""

    label: str
    x: float
    y: float
    leader: float | None


@dataclass(frozen=True, slots=True)
class Legend:
    """Names of lines, and the height of the figure that includes them."""

    entries: tuple[Entry, ...]
    bottom: float


def legend_of(
    names: Sequence[str],
    ends: Sequence[float],
    reach: Sequence[bool],
    form: Form,
    area: tuple[float, float, float],
) -> Legend:
    """Positions of the names of lines.

    Parameters
    ----------
    names : sequence of str
    ends : sequence of float
        Heights of the ends of the lines.
    reach : sequence of bool
        Whether the lines reach the right end.
    form : Form
    area : (float, float, float)
        Right end, top and bottom of the plotting area.
    """
    right, top, bottom = area
    below = bottom + 52.0
    if form.legend:
        most = (form.width - right - 36.0) / NAME
        heights = spread(ends, 18.0, top, max(bottom, top + 18.0 * len(ends)))
        entries = tuple(
            Entry(label, right + 26.0, height, end if known else None)
            for label, height, end, known in zip(
                distinct(names, most), heights, ends, reach, strict=True
            )
        )
        return Legend(entries, max([below - 4.0, *(height + 10.0 for height in heights)]))
    return _flowing(distinct(names, (form.width - 30.0) / NAME), form.width, below)


def _flowing(labels: Sequence[str], room: float, top: float) -> Legend:
    """Entries side by side, wrapped to the next row when a row is full."""
    entries, x, y = [], 8.0, top + 8.0
    for label in labels:
        wide = width(label, NAME) + _MARK
        if x > 8.0 and x + wide > room:
            x, y = 8.0, y + _ROW
        entries.append(Entry(label, x, y, None))
        x += wide + 8.0
    return Legend(tuple(entries), y + 12.0)
