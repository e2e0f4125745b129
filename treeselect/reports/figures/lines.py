"""Lines along the path, one for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from treeselect.printing import decimal_text
from treeselect.reports.figures.axes import Tick, count_axis, label_room, nice_ticks, tick_labels
from treeselect.reports.figures.forms import Figure, Form, in_both_forms
from treeselect.reports.figures.legends import Entry, legend_of


@dataclass(frozen=True, slots=True)
class Line:
    """A line over the sizes of the path, with marks on it.

    Attributes
    ----------
    name : str
    entry : Entry
        Its name and where that stands.
    points : str
    marks : tuple of (float, float)
        Where its marks stand.
    mark : int
        Which of the marks is its own.
    solid : bool
    text : str
        Its values, for those who do not see it.
    """

    name: str
    entry: Entry
    points: str
    marks: tuple[tuple[float, float], ...]
    mark: int
    solid: bool
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines along the path; `marker` is the position of the chosen number."""

    form: Form
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


LineFigure: TypeAlias = Figure[Lines]

MOST_MARKS = 20
"""Marks on a line; of a longer path every second one, or fewer."""


@dataclass(frozen=True, slots=True)
class _Run:
    """A line from the step before its first value above 0 on."""

    name: str
    sizes: tuple[int, ...]
    values: tuple[float, ...]
    solid: bool

    @property
    def text(self) -> str:
        return ", ".join(
            f"{s}: {decimal_text(v, 3)}" for s, v in zip(self.sizes, self.values, strict=True)
        )


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
    runs = []
    for name, own, is_solid in zip(names, values, solid, strict=True):
        first = max(next((j for j, value in enumerate(own) if value > 0), 0) - 1, 0)
        runs.append(_Run(name, tuple(sizes[first:]), tuple(own[first:]), bool(is_solid)))
    said = "; ".join(f"{run.name}: {run.text}" for run in runs)
    return in_both_forms(partial(_lines, sizes, runs, chosen), said, more)


def _lines(sizes: Sequence[int], runs: Sequence[_Run], chosen: int, form: Form) -> Lines:
    ticks = nice_ticks(0.0, max(max(run.values) for run in runs))
    labels = tick_labels(ticks)
    left, right = label_room(labels), form.width - (form.legend or 12.0)
    top, bottom = 30.0, form.bottom
    least, most, x_ticks = count_axis([*sizes, chosen], right - left)

    def x(size: float) -> float:
        return round(left + 14 + (size - least) / max(most - least, 1) * (right - left - 14), 1)

    def y(value: float) -> float:
        return round(bottom - value / ticks[-1] * (bottom - top), 1)

    legend = legend_of(
        [run.name for run in runs],
        [y(run.values[-1]) for run in runs],
        [True] * len(runs),
        form,
        (right, top, bottom),
    )
    every = -(-len(sizes) // MOST_MARKS)
    lines = []
    for i, (run, entry) in enumerate(zip(runs, legend.entries, strict=True)):
        places = [(x(size), y(value)) for size, value in zip(run.sizes, run.values, strict=True)]
        points = " ".join(f"{a},{b}" for a, b in places)
        marks = tuple(places[::-every][::-1])
        lines.append(Line(run.name, entry, points, marks, i, run.solid, run.text))
    return Lines(
        form,
        form.width,
        int(legend.bottom),
        left,
        right,
        top,
        bottom,
        tuple(lines),
        x(chosen),
        tuple(Tick(x(size), f"{size:,}") for size in x_ticks),
        tuple(map(Tick, map(y, ticks), labels)),
    )
