"""Lines over the sizes of the path, one for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import WIDTH, Tick, count_axis, nice_ticks, tick_labels
from treeselect.reports.figures.labels import distinct, spread


@dataclass(frozen=True, slots=True)
class Line:
    """A line over the sizes of the path, with marks on it and its name at the right end.

    Attributes
    ----------
    name, label : str
    points : str
    marks : tuple of (float, float)
        Where its marks stand.
    mark : int
        Which of the marks is its own.
    solid : bool
    end, label_y : float
        Height of its right end, and of its label.
    text : str
        Its values, for those who do not see it.
    """

    name: str
    label: str
    points: str
    marks: tuple[tuple[float, float], ...]
    mark: int
    solid: bool
    end: float
    label_y: float
    text: str


@dataclass(frozen=True, slots=True)
class LineFigure:
    """Lines over the sizes of the path; `marker` is where the chosen number stands."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    lines: tuple[Line, ...]
    marker: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    more: int


MOST_MARKS = 20
"""Marks on a line; of a longer path every second one, or fewer."""


def line_figure(
    sizes: Sequence[int],
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    solid: Sequence[bool],
    chosen: int,
    more: int,
) -> LineFigure:
    """Geometry of lines over the sizes of the path.

    Parameters
    ----------
    sizes : sequence of int
        Increasing, at least two.
    names : sequence of str
    values : sequence of sequence of float
        Of each line at each size, at least 0. What is before the first value above 0 is not drawn.
    solid : sequence of bool
    chosen : int
        Size that is marked.
    more : int
        Lines that were left out.
    """
    width, height, left, right, top, bottom = WIDTH, 320, 50.0, WIDTH - 196.0, 30.0, 272.0
    ticks = nice_ticks(0.0, max(map(max, values)))
    least, most, x_ticks = count_axis([*sizes, chosen])

    def x(size: float) -> float:
        return round(left + 14 + (size - least) / max(most - least, 1) * (right - left - 14), 1)

    def y(value: float) -> float:
        return round(bottom - value / ticks[-1] * (bottom - top), 1)

    ends = [y(own[-1]) for own in values]
    heights = spread(ends, 18.0, top, bottom)
    labels = distinct(names, 10.0)
    every = -(-len(sizes) // MOST_MARKS)
    lines = []
    for i, (name, own) in enumerate(zip(names, values, strict=True)):
        first = max(next((j for j, value in enumerate(own) if value > 0), 0) - 1, 0)
        places = [(x(size), y(value)) for size, value in zip(sizes, own, strict=True)][first:]
        line = Line(
            name,
            labels[i],
            " ".join(f"{a},{b}" for a, b in places),
            tuple(places[::-every][::-1]),
            i,
            bool(solid[i]),
            ends[i],
            heights[i],
            ", ".join(f"{s}: {v:.3f}" for s, v in zip(sizes[first:], own[first:], strict=True)),
        )
        lines.append(line)
    return LineFigure(
        width,
        height,
        left,
        right,
        top,
        bottom,
        tuple(lines),
        x(chosen),
        tuple(Tick(x(size), str(size)) for size in x_ticks),
        tuple(map(Tick, map(y, ticks), tick_labels(ticks))),
        more,
    )
