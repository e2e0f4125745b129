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
    """Score against the number of terms; `marker` is the position of the chosen number, `full` the
    height of the model with all terms, if it is not a step."""

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
    full: Tick | None
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
    full: tuple[int, float] | None = None,
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
    full : (int, float), optional
        Number of all terms, and score of the model with all of them, if it is not in `scores`.
    """
    known = [i for i, score in enumerate(scores) if math.isfinite(score)]
    halves = [e if math.isfinite(e) else 0.0 for e in errors] if errors else None
    axis = score_axis(
        scores if full is None else [*scores, full[1]],
        errors if errors is None or full is None else [*errors, 0.0],
        bounds,
    )
    steps = [(sizes[i], scores[i], halves[i] if halves else None) for i in known]
    said = "; ".join(
        f"{_step_text(size, score, noun)}{' (chosen)' if size == chosen else ''}"
        for size, score, _ in steps
    )
    every = None
    if full is not None:
        every = full[1], f"all {_step_text(*full, noun)}"
        said += f"; {every[1]}"
    return in_both_forms(partial(_path, steps, axis, chosen, noun, every), said)


def _path(
    steps: Sequence[tuple[int, float, float | None]],
    axis: Axis,
    chosen: int,
    noun: str,
    every: tuple[float, str] | None,
    form: Form,
) -> Path:
    labels = tick_labels(axis.ticks)
    left, right, top, bottom = label_room(labels), form.width - 18.0, 30.0, form.bottom - 20.0
    least, most, x_ticks = count_axis([*(size for size, _, _ in steps), chosen], right - left)
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
        None if every is None else Tick(y(every[0]), every[1]),
        tuple(Tick(x(size), f"{size:,}") for size in x_ticks),
        tuple(map(Tick, map(y, axis.ticks), labels)),
    )


def _step_text(size: int, score: float, noun: str) -> str:
    return f"{size:,} {noun}{'' if size == 1 else 's'}: {plain_score(score)}"
