"""Score against the number of terms: geometry of the path."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from treeselect.printing import plain_score
from treeselect.reports.figures.axes import (
    Axis,
    Tick,
    count_axis,
    label_room,
    score_axis,
    tick_labels,
)
from treeselect.reports.figures.forms import Figure, Form, in_both_forms


@dataclass(frozen=True, slots=True)
class PathPoint:
    """A step of the path; `low` and `high` are the ends of the error bar, if there is one."""

    x: float
    y: float
    low: float | None
    high: float | None
    chosen: bool
    label: str


@dataclass(frozen=True, slots=True)
class Path:
    """Score against the number of terms; `marker` is the position of the chosen number."""

    form: Form
    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    points: tuple[PathPoint, ...]
    line: str
    marker: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


PathFigure: TypeAlias = Figure[Path]


def path_figure(
    sizes: Sequence[int],
    scores: Sequence[float],
    errors: Sequence[float] | None,
    chosen: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    noun: str = "term",
) -> PathFigure:
    """Geometry of the path.

    Parameters
    ----------
    sizes : sequence of int
        Increasing.
    scores : sequence of float
        What is not finite, as of folds without a score, has no point.
    errors : sequence of float, optional
        Half lengths of the error bars.
    chosen : int
        Size that is marked; none of `sizes` if it was cut from the next larger one.
    bounds : (float, float)
        Least and greatest value of the score.
    noun : str
        What one of the selected is called.
    """
    known = [i for i, score in enumerate(scores) if math.isfinite(score)]
    halves = [e if math.isfinite(e) else 0.0 for e in errors] if errors else None
    axis = score_axis(scores, errors, bounds)
    steps = [(sizes[i], scores[i], halves[i] if halves else None) for i in known]
    said = "; ".join(
        f"{_step_text(size, score, noun)}{' (chosen)' if size == chosen else ''}"
        for size, score, _ in steps
    )
    return in_both_forms(partial(_path, sizes, steps, axis, chosen, noun), said)


def _path(
    sizes: Sequence[int],
    steps: Sequence[tuple[int, float, float | None]],
    axis: Axis,
    chosen: int,
    noun: str,
    form: Form,
) -> Path:
    labels = tick_labels(axis.ticks)
    left, right, top, bottom = label_room(labels), form.width - 18.0, 30.0, form.bottom - 20.0
    least, most, x_ticks = count_axis([*sizes, chosen], right - left)
    span = max(most - least, 1)

    def x(size: float) -> float:
        return round(left + 14 + (size - least) / span * (right - left - 28), 1)

    def y(score: float) -> float:
        return round(bottom - axis.share(score) * (bottom - top), 1)

    points = tuple(
        PathPoint(
            x(size),
            y(score),
            None if half is None else y(score - half),
            None if half is None else y(score + half),
            size == chosen,
            _step_text(size, score, noun),
        )
        for size, score, half in steps
    )
    return Path(
        form,
        form.width,
        int(bottom) + 48,
        left,
        right,
        top,
        bottom,
        points,
        " ".join(f"{p.x},{p.y}" for p in points),
        x(chosen),
        tuple(Tick(x(size), f"{size:,}") for size in x_ticks),
        tuple(map(Tick, map(y, axis.ticks), labels)),
    )


def _step_text(size: int, score: float, noun: str) -> str:
    return f"{size:,} {noun}{'' if size == 1 else 's'}: {plain_score(score)}"
