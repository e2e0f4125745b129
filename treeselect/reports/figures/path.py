"""Score against the number of units: positions of the path."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import WIDTH, Tick, count_axis, score_axis, tick_labels


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
class PathFigure:
    """Score against the number of units; `marker` is where the chosen number stands."""

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


def path_figure(
    sizes: Sequence[int],
    scores: Sequence[float],
    errors: Sequence[float] | None,
    chosen: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
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
    """
    width, height, left, right, top, bottom = WIDTH, 300, 62.0, WIDTH - 18.0, 30.0, 252.0
    known = [i for i, score in enumerate(scores) if math.isfinite(score)]
    halves = [e if math.isfinite(e) else 0.0 for e in errors] if errors else [0.0] * len(scores)
    lows, highs = [scores[i] - halves[i] for i in known], [scores[i] + halves[i] for i in known]
    axis = score_axis(scores, errors, bounds)
    least, most, x_ticks = count_axis([*sizes, chosen])
    span = max(most - least, 1)

    def x(size: float) -> float:
        return round(left + 14 + (size - least) / span * (right - left - 28), 1)

    def y(score: float) -> float:
        return round(bottom - axis.share(score) * (bottom - top), 1)

    points = tuple(
        PathPoint(
            x(sizes[i]),
            y(scores[i]),
            y(low) if errors else None,
            y(high) if errors else None,
            sizes[i] == chosen,
            f"{sizes[i]} unit{'' if sizes[i] == 1 else 's'}: {scores[i]:.3f}",
        )
        for i, low, high in zip(known, lows, highs, strict=True)
    )
    return PathFigure(
        width,
        height,
        left,
        right,
        top,
        bottom,
        points,
        " ".join(f"{p.x},{p.y}" for p in points),
        x(chosen),
        tuple(Tick(x(size), str(size)) for size in x_ticks),
        tuple(map(Tick, map(y, axis.ticks), tick_labels(axis.ticks))),
    )
