"""Survival curves of groups, with the numbers at risk below."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from treeselect.reports.figures.axes import Frame, Tick, middle_in, nice_ticks, tick_labels
from treeselect.reports.figures.forms import NAME, TICK, Figure, Form, in_both_forms
from treeselect.reports.figures.labels import distinct, shorten, spread, width

_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_ROW = 22.0
"""Height of a row of numbers at risk."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The survival curve of a group.

    Attributes
    ----------
    name : str
    time : tuple of float
        Rising, above 0 or the first 0.
    survival, low, high : tuple of float
        From each time on; the ends of an interval may be missing.
    censored : tuple of float
        Times at which observation ends without the event.
    predicted : float
        Survival until the horizon.
    """

    name: str
    time: tuple[float, ...]
    survival: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    censored: tuple[float, ...]
    predicted: float


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """Where a group stands.

    Attributes
    ----------
    name, label : str
    number : int
        Which of the colours, strokes and marks is its own.
    line, ticks : str
        Paths of its steps, and of its censored rows.
    bands : tuple of str
        Around its interval, of as many parts as there are.
    mark : float
        Height of the predicted survival, at the horizon.
    end_x, end : float
        Right end of its line.
    label_y : float or None
        Height of its label there; None where its row of numbers names it.
    counts : tuple of str
        Numbers at risk at the ticks.
    counts_y : float
    text : str
        Its values, for those who do not see it.
    """

    name: str
    label: str
    number: int
    line: str
    ticks: str
    bands: tuple[str, ...]
    mark: float
    end_x: float
    end: float
    label_y: float | None
    counts: tuple[str, ...]
    counts_y: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival(Frame):
    """Survival curves; `marker` is the position of the horizon."""

    form: Form
    groups: tuple[DrawnGroup, ...]
    marker: float
    horizon: str
    horizon_x: float
    x_label: str
    y_ticks: tuple[Tick, ...]
    heading_y: float


SurvivalFigure: TypeAlias = Figure[Survival]


def time_ticks(last: float) -> list[float]:
    """Round times from 0 to the last one."""
    return [tick for tick in nice_ticks(0.0, last, 6) if 0 <= tick <= last]


def survival_figure(
    groups: Sequence[Steps],
    at_risk: Sequence[Sequence[float]],
    ticks: Sequence[float],
    *,
    time: str,
    horizon: float,
) -> SurvivalFigure:
    """Geometry of survival curves.

    Parameters
    ----------
    groups : sequence of Steps
        At least one.
    at_risk : sequence of sequence of float
        Of each group at each tick.
    ticks : sequence of float
        Of the axis of time, at least one.
    time : str
        What the times are.
    horizon : float
        Where predictions stand beside the curves.
    """
    texts = [
        f"{_text(group, ticks)}; predicted {group.predicted:.0%} at {horizon:g}" for group in groups
    ]
    said = "; ".join(f"{group.name}: {text}" for group, text in zip(groups, texts, strict=True))
    counts = [[f"{count:,.0f}" for count in own] for own in at_risk]
    return in_both_forms(
        partial(_survival, groups, counts, list(ticks), texts, time, horizon), said
    )


def _survival(
    groups: Sequence[Steps],
    counts: Sequence[Sequence[str]],
    ticks: Sequence[float],
    texts: Sequence[str],
    time: str,
    horizon: float,
    form: Form,
) -> Survival:
    labels = distinct([group.name for group in groups], 6.0)
    first = max(width(own[0], TICK) for own in counts) / 2
    left = round(max([44.0, *(width(label, NAME) for label in labels)]) + 30.0 + first)
    right = form.width - (112.0 if form.legend else 24.0)
    top, bottom = 48.0, form.bottom + 36.0
    last = max(group.time[-1] for group in groups)

    def x(at: float) -> float:
        return round(left + at / last * (right - left), 1)

    def y(share: float) -> float:
        return round(bottom - share * (bottom - top), 1)

    heading = bottom + 64.0
    ends = [y(group.survival[-1]) for group in groups]
    heights = spread(ends, 18.0, top, bottom)
    every = _every(ticks, counts, x)
    drawn = tuple(
        DrawnGroup(
            name=group.name,
            label=labels[i],
            number=i,
            line=_path(group.time, group.survival, x, y),
            ticks=_censored(group, x, y),
            bands=_bands(group, x, y),
            mark=y(group.predicted),
            end_x=x(group.time[-1]),
            end=ends[i],
            label_y=heights[i] if form.legend else None,
            counts=tuple(counts[i][::every]),
            counts_y=heading + (i + 1) * _ROW,
            text=texts[i],
        )
        for i, group in enumerate(groups)
    )
    marks = zip(ticks[::every], tick_labels(ticks)[::every], strict=True)
    return Survival(
        form=form,
        width=form.width,
        height=int(heading + len(groups) * _ROW) + 10,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        groups=drawn,
        marker=x(horizon),
        horizon=f"{horizon:g}",
        horizon_x=middle_in(x(horizon), f"{horizon:g}", form.width),
        x_label=shorten(time, 2 * (form.width - (left + right) / 2) / TICK),
        x_ticks=tuple(Tick(x(at), label) for at, label in marks),
        y_ticks=tuple(Tick(y(share), f"{share:.0%}") for share in _SHARES),
        heading_y=heading,
    )


def _every(
    ticks: Sequence[float], counts: Sequence[Sequence[str]], x: Callable[[float], float]
) -> int:
    """The interval of ticks that leaves room for their numbers: 1, 2 or more."""
    texts = [*tick_labels(ticks), *(count for own in counts for count in own)]
    widest = max(width(text, TICK) for text in texts) + 6
    apart = x(ticks[1]) - x(ticks[0]) if len(ticks) > 1 else widest
    return max(1, math.ceil(widest / apart))


def _path(
    time: Sequence[float],
    values: Sequence[float],
    x: Callable[[float], float],
    y: Callable[[float], float],
) -> str:
    """Steps from time 0 on, only where they go down."""
    path, before = f"M{x(0.0)} {y(1.0)}", y(1.0)
    for at, value in zip(time, values, strict=True):
        if y(value) != before:
            before = y(value)
            path += f"H{x(at)}V{before}"
    return f"{path}H{x(time[-1])}"


def _censored(group: Steps, x: Callable[[float], float], y: Callable[[float], float]) -> str:
    heights = dict(zip(group.time, group.survival, strict=True))
    places = dict.fromkeys((x(at), y(heights[at])) for at in group.censored)
    return "".join(f"M{at} {height - 4:.1f}v8" for at, height in places)


def _bands(
    group: Steps, x: Callable[[float], float], y: Callable[[float], float]
) -> tuple[str, ...]:
    """Outlines of the confidence bands, interrupted where limits are missing."""
    spans = itertools.pairwise((*map(x, group.time), x(group.time[-1])))
    cells = [
        (start, end, low, high)
        for (start, end), low, high in zip(spans, group.low, group.high, strict=True)
    ]
    found = []
    for is_known, run in itertools.groupby(cells, key=lambda cell: math.isfinite(cell[2])):
        own = list(run)
        if is_known and own[-1][1] > own[0][0]:
            upper = [p for a, b, _, high in own for p in ((a, y(high)), (b, y(high)))]
            lower = [p for a, b, low, _ in own for p in ((a, y(low)), (b, y(low)))]
            found.append(" ".join(f"{a},{b}" for a, b in _bends([*upper, *reversed(lower)])))
    return tuple(found)


def _bends(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points without those that repeat or lie between two of the same height."""
    kept: list[tuple[float, float]] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        if len(kept) > 1 and kept[-2][1] == kept[-1][1] == point[1]:
            kept.pop()
        kept.append(point)
    return kept


def _text(group: Steps, ticks: Sequence[float]) -> str:
    """Survival at the ticks, as far as the group is observed."""
    known = dict.fromkeys(tick for tick in ticks if 0 < tick <= group.time[-1])
    parts = []
    for tick in known:
        before = [v for at, v in zip(group.time, group.survival, strict=True) if at <= tick]
        parts.append(f"{before[-1] if before else 1.0:.0%} at {tick:g}")
    return ", ".join(parts) or f"{group.survival[-1]:.0%} at {group.time[-1]:g}"
