"""The figures of a selection and of a comparison, built from numbers and names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from treeselect.figures import axes
from treeselect.figures.marks import MOST_MARKS, Dot, Plane, Row, Rows, Rule, Series
from treeselect.printing import decimal_form, decimal_text, interval_text, plain_score
from treeselect.printing.numbers import counted, every

UNBOUNDED = (-math.inf, math.inf)
NAN = math.nan

Span = tuple[float, float, float]
"""A value with the ends of its interval."""


# --- over the number of units --------------------------------------------------------------------


def path_figure(
    sizes: Sequence[int],
    scores: Sequence[float],
    errors: Sequence[float] | None,
    chosen: int,
    *,
    score: str,
    bounds: tuple[float, float] = UNBOUNDED,
    noun: str = "term",
    full: tuple[int, float] | None = None,
) -> Plane:
    """Score against the number of units, with half lengths of error bars. The chosen size is
    marked; it is none of `sizes` if it was cut from the next larger one. `full` is the number of
    all units with the score of their model, if it is not in `scores`."""
    beyond = [] if full is None else [full]
    axis = axes.score_axis(
        [*scores, *(value for _, value in beyond)],
        None if errors is None else [*errors, *(0.0 for _ in beyond)],
        bounds,
    )
    halves = [NAN] * len(sizes) if errors is None else errors
    known = [one for one in zip(sizes, scores, halves, strict=True) if math.isfinite(one[1])]
    spans = [(y, e if math.isfinite(e) else 0.0) for _, y, e in known if errors]
    steps = Series(
        x=[size for size, _, _ in known],
        y=[value for _, value, _ in known],
        low=[max(y - half, axis.low) for y, half in spans],
        high=[min(y + half, axis.high) for y, half in spans],
        ringed=[size == chosen for size, _, _ in known],
        texts=[f"{counted(size, noun)}: {plain_score(value)}" for size, value, _ in known],
    )
    rules = [Rule(chosen)]
    said = [
        f"{text}{' (chosen)' if is_chosen else ''}"
        for text, is_chosen in zip(steps.texts, steps.ringed, strict=True)
    ]
    if full is not None:
        whole = f"{every(full[0], noun)}: {plain_score(full[1])}"
        said.append(whole)
        rules.append(Rule(full[1], "x", whole, dashes=False))
    return Plane(
        key="scores",
        title=f"{score} against number of {noun}s",
        text="; ".join(said),
        x=axes.count_axis([*steps.x, chosen], f"number of {noun}s (k)"),
        y=axis.named(score),
        series=[steps],
        rules=rules,
    )


MOST_LINES = 8
"""Largest number of lines in a figure: colours and marks distinguish this many."""


@dataclass(frozen=True, slots=True)
class UnitLines:
    """How often resamples selected each unit, along the path."""

    sizes: Sequence[int]  # increasing
    names: Sequence[str]
    values: Sequence[Sequence[float]]  # of each unit at each size
    selected: Sequence[bool]
    more: int = 0  # units that were left out

    def cells(self) -> list[tuple[str, ...]]:
        """A row of a table for each size."""
        each = zip(self.sizes, zip(*self.values, strict=True), strict=True)
        return [(f"{size:,}", *(decimal_text(v, 2) for v in row)) for size, row in each]


def line_figure(lines: UnitLines, chosen: int, noun: str) -> Plane:
    """Lines over the sizes of the path, one for each unit, drawn from before its first value above
    0. Units outside the selection have dashed ones."""
    series = []
    every = -(-len(lines.sizes) // MOST_MARKS)
    units = zip(lines.names, lines.values, lines.selected, strict=True)
    for i, (name, own, is_selected) in enumerate(units):
        first = max(next((j for j, value in enumerate(own) if value > 0), 0) - 1, 0)
        run = list(zip(lines.sizes[first:], own[first:], strict=True))
        text = ", ".join(f"{size}: {decimal_text(value, 3)}" for size, value in run)
        series.append(
            Series(
                x=[size for size, _ in run],
                y=[value for _, value in run],
                name=name,
                mark=i,
                soft=not is_selected,
                marked=[(len(run) - 1 - j) % every == 0 for j in range(len(run))],
                text=f"{name}: {text}",
            )
        )
    return Plane(
        text="; ".join(one.text for one in series),
        more=lines.more,
        x=axes.count_axis([*lines.sizes, chosen], f"number of {noun}s (k)"),
        y=axes.number_axis(axes.nice_ticks(0.0, max(map(max, lines.values)))).named("frequency"),
        series=series,
        rules=[Rule(chosen)],
        legend="ends",
    )


def score_figure(
    series: Sequence[Series],
    more: int,
    *,
    what: str,
    noun: str = "term",
    bounds: tuple[float, float] = UNBOUNDED,
) -> Plane:
    """Lines with error bars over the number of units."""
    values = [value for one in series for value in one.y]
    errors = [half for one in series for half in _halves(one)]
    axis = axes.score_axis(values, errors, bounds)
    said, shown = [], []
    for one in series:
        every, last = -(-len(one.x) // MOST_MARKS), len(one.x) - 1
        marked = [(last - j) % every == 0 or ring for j, ring in enumerate(one.ringed)]
        said.append(f"{one.name}: {_series_text(one)}")
        shown.append(
            replace(
                one,
                low=[max(low, axis.low) for low in one.low],
                high=[min(high, axis.high) for high in one.high],
                marked=marked,
                text=one.name,
            )
        )
    return Plane(
        text="; ".join(said),
        more=more,
        x=axes.count_axis([size for one in series for size in one.x], f"number of {noun}s (k)"),
        y=axis.named(what),
        series=shown,
        legend="box",
        tall=60.0,
    )


def _halves(one: Series) -> list[float]:
    if not one.high:
        return [NAN] * len(one.y)
    return [high - y for high, y in zip(one.high, one.y, strict=True)]


def _series_text(one: Series) -> str:
    return ", ".join(
        f"{size:g}: {decimal_text(value, 3)}"
        + (f" ± {decimal_text(error, 3)}" if math.isfinite(error) else "")
        for size, value, error in zip(one.x, one.y, _halves(one), strict=True)
        if math.isfinite(value)
    )


# --- a row for each name -------------------------------------------------------------------------


def bar_figure(
    names: Sequence[str],
    values: Sequence[float],
    more: int,
    *,
    texts: Sequence[str] | None = None,
    label: str = "",
) -> Rows:
    """Horizontal bars; values at least 0."""
    words = texts or [decimal_text(value, 3) for value in values]
    axis = axes.Axis(0.0, max(values, default=0.0) or 1.0, lambda room: [], label)
    return Rows(
        text="; ".join(f"{name}: {text}" for name, text in zip(names, words, strict=True)),
        more=more,
        x=axis,
        rows=[
            Row(name=name, bar=float(value), value=text)
            for name, value, text in zip(names, values, words, strict=True)
        ],
    )


def dot_figure(
    names: Sequence[str],
    spans: Sequence[Span],
    filled: Sequence[bool],
    more: int,
    *,
    mark: tuple[str, float] | None = None,
    label: str = "",
) -> Rows:
    """Dots with intervals, filled if they are selected: shares, or any values."""
    texts = [f"{decimal_text(value, 2)} ({interval_text(low, high)})" for value, low, high in spans]
    said = [
        f"{name}: {text}{', selected' if fill else ''}"
        for name, text, fill in zip(names, texts, filled, strict=True)
    ]
    axis, rules = axes.share_axis(), []
    if mark is not None:
        said.append(f"{mark[0]}: {decimal_text(mark[1], 2)}")
        _, lows, highs = zip(*spans, strict=True)
        axis = axes.number_axis(axes.nice_ticks(min(*lows, mark[1]), max(*highs, mark[1])))
        rules = [Rule(mark[1], "y", mark[0])]
    return Rows(
        text="; ".join(said),
        more=more,
        x=axis.named(label),
        rows=_dot_rows(names, spans, filled, texts),
        rules=rules,
        kinds=("frequency, selected", "frequency, not selected", ""),
    )


def interval_rows(
    names: Sequence[str], spans: Sequence[Span], texts: Sequence[str], axis: axes.Axis
) -> Rows:
    """Dots with intervals, and texts at the right edge."""
    said = [f"{name}: {text}" for name, text in zip(names, texts, strict=True)]
    rows = _dot_rows(names, spans, [True] * len(names), said)
    return Rows(
        text="; ".join(said),
        more=0,
        x=axis,
        rows=[replace(row, aside=text) for row, text in zip(rows, texts, strict=True)],
        foot=axis.label,
    )


def _dot_rows(
    names: Sequence[str], spans: Sequence[Span], filled: Sequence[bool], texts: Sequence[str]
) -> list[Row]:
    return [
        Row(name=name, dots=[Dot(*span, 0 if fill else 1)], text=text)
        for name, span, fill, text in zip(names, spans, filled, texts, strict=True)
    ]


def difference_figure(names: Sequence[str], spans: Sequence[Span], more: int) -> Rows:
    """Differences about a line at 0; a dot is filled if its interval excludes 0. Without an
    interval, which is not a number, an empty dot stands alone."""
    texts = [
        f"{decimal_text(value, 3, '+')} ({interval_text(low, high, decimal_form(3, '+'))})"
        for value, low, high in spans
    ]
    drawn = [(v, v, v) if low != low else (v, low, high) for v, low, high in spans]
    _, lows, highs = zip(*drawn, strict=True)
    return Rows(
        text="; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True)),
        more=more,
        x=axes.number_axis(axes.nice_ticks(min(0.0, *lows), max(0.0, *highs)), signed=True),
        rows=_dot_rows(names, drawn, [low > 0 or high < 0 for _, low, high in spans], texts),
        rules=[Rule(0.0)],
        kinds=("interval excludes 0", "interval includes 0", ""),
        key="difference-dots",
        title="Differences from the best method",
    )


# --- survival ------------------------------------------------------------------------------------


def survival_figure(
    groups: Sequence[Series],
    predicted: Sequence[float],
    at_risk: Sequence[Sequence[float]],
    ticks: Sequence[float],
    *,
    time: str,
    horizon: float,
) -> Plane:
    """Survival curves of groups, from each time on, with the numbers at risk at each tick below,
    and the predicted survival at the horizon beside the curves."""
    curves, dots = [], []
    for i, (whole, share) in enumerate(zip(groups, predicted, strict=True)):
        text = f"{whole.name}: {_survival_text(whole, ticks)}; predicted {share:.0%} at {horizon:g}"
        group = _drawn_steps(whole)
        curves.append(
            replace(
                group,
                x=[0.0, *group.x],
                y=[1.0, *group.y],
                low=[NAN, *group.low],
                high=[NAN, *group.high],
                line="steps",
                band=True,
                colour=i,
                mark=i,
                stroke=i % 3,
                marked=[False] * (len(group.x) + 1),
                text=text,
            )
        )
        dots.append(Series(x=[horizon], y=[share], line="", colour=i, mark=i, hollow=True))
    last = max(group.x[-1] for group in groups)
    named = list(zip(ticks, axes.tick_labels(ticks), strict=True))
    return Plane(
        key="survival",
        title="Survival of the risk groups",
        text="; ".join(one.text for one in curves),
        x=axes.Axis(0.0, last, lambda room: named, time, kind="times"),
        y=axes.share_axis().named("event-free"),
        series=[*curves, *dots],
        rules=[Rule(horizon, "y", f"{horizon:g}")],
        counts=[[f"{count:,.0f}" for count in own] for own in at_risk],
        legend="ends",
    )


def _drawn_steps(curve: Series) -> Series:
    """The curve without steps that can't be seen: below 0.002, of its intervals too."""
    levels = list(zip(curve.y, curve.low, curve.high, strict=True))
    kept = [0]
    for i, level in enumerate(levels):
        same = (abs(a - b) < 0.002 for a, b in zip(level, levels[kept[-1]], strict=True))
        if i and (i == len(levels) - 1 or not all(same)):
            kept.append(i)
    x, y, low, high = ([own[i] for i in kept] for own in (curve.x, curve.y, curve.low, curve.high))
    return replace(curve, x=x, y=y, low=low, high=high)


def _survival_text(group: Series, ticks: Sequence[float]) -> str:
    """Survival at the ticks, as far as the group is observed."""
    known = dict.fromkeys(tick for tick in ticks if 0 < tick <= group.x[-1])
    parts = []
    for tick in known:
        before = [v for at, v in zip(group.x, group.y, strict=True) if at <= tick]
        parts.append(f"{before[-1] if before else 1.0:.0%} at {tick:g}")
    return ", ".join(parts) or f"{group.y[-1]:.0%} at {group.x[-1]:g}"


# --- small squares: a curve, or dots with intervals, and a line to compare with -------------------

_SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def curve_figure(
    x: Sequence[float], y: Sequence[float], labels: tuple[str, str], text: str
) -> Plane:
    """A curve of shares above the diagonal; corners too close to be distinguished are merged."""
    near = [(round(a * _FINE) / _FINE, round(b * _FINE) / _FINE) for a, b in zip(x, y, strict=True)]
    corners = list(dict.fromkeys(near))
    line = Series(x=[a for a, _ in corners], y=[b for _, b in corners])
    return _square(
        line, axes.number_axis(_SHARES), axes.number_axis(_SHARES), Rule(None), labels, text
    )


_FINE = 250
"""Shares that can be distinguished on a small figure."""


def share_figure(dots: Series, labels: tuple[str, str]) -> Plane:
    """Shares as dots with intervals, and the diagonal."""
    axis = axes.number_axis(_SHARES)
    return _square(dots, axis, axis, Rule(None), labels)


def agreement_figure(dots: Series, labels: tuple[str, str]) -> Plane:
    """Any values as dots on equal axes, and the diagonal."""
    seen = [v for v in (*dots.x, *dots.y, *dots.low, *dots.high) if v == v]
    axis = axes.number_axis(axes.nice_ticks(min(seen), max(seen), 4))
    return _square(dots, axis, axis, Rule(None), labels)


def level_figure(dots: Series, labels: tuple[str, str]) -> Plane:
    """Any values as dots above and below 0."""
    seen = [v for v in (0.0, *dots.y, *dots.low, *dots.high) if v == v]
    x = axes.number_axis(axes.nice_ticks(min(dots.x), max(dots.x), 4))
    y = axes.number_axis(axes.nice_ticks(min(seen), max(seen), 4))
    return _square(dots, x, y, Rule(0.0, "x"), labels)


def _square(
    series: Series, x: axes.Axis, y: axes.Axis, rule: Rule, labels: tuple[str, str], text: str = ""
) -> Plane:
    drawn = (words for words, value in zip(series.texts, series.y, strict=False) if value == value)
    return Plane(
        form="square",
        text=text or "; ".join(drawn),
        x=x.named(labels[0]),
        y=y.named(labels[1]),
        series=[series],
        rules=[rule],
    )
