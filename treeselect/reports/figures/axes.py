"""Axes: round tick values, and positions between them."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.forms import TICK
from treeselect.reports.figures.labels import width


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """Size of a figure and ends of its axes, in pixels, and its horizontal ticks."""

    width: int
    height: int
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: tuple[Tick, ...]


def label_room(labels: Sequence[str]) -> float:
    """Left end of an axis, to the right of its tick labels."""
    return round(max(width(label, TICK) for label in labels) + 14.0)


def middle_in(at: float, label: str, last: float) -> float:
    """Centre of a tick label that keeps it within a figure of this width."""
    half = width(label, TICK) / 2
    return round(max(min(at, last - half), half), 1)


@dataclass(frozen=True, slots=True)
class Axis:
    """Ends of an axis, and its round values."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Relative position of a value, from 0 to 1; values beyond an end are moved to it."""
        return min(max(position(value, self.low, self.high), 0.0), 1.0)


LEAST_SPAN = 0.05
"""Least height of an axis of a score whose best value is known and whose error is not."""

LEAST_ERRORS = 4.0
"""Least height of an axis in standard errors, so that smaller differences do not fill it."""


def score_axis(
    values: Sequence[float],
    errors: Sequence[float] | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Axis:
    """An axis that covers scores and their error bars, within the bounds of the score.

    Parameters
    ----------
    values : sequence of float
        Values that are not finite are ignored.
    errors : sequence of float, optional
        Half lengths of the error bars; not finite where there are none.
    bounds : (float, float)
        Least and greatest possible score; infinite if unknown.
    """
    known = [i for i, value in enumerate(values) if math.isfinite(value)]
    if not known:
        return Axis(0.0, 1.0, tuple(nice_ticks(0.0, 1.0)))
    halves = [e if errors and math.isfinite(e) else 0.0 for e in errors or [0.0] * len(values)]
    least = min(bounds[0], *(values[i] for i in known))
    most = max(bounds[1], *(values[i] for i in known))
    span = LEAST_ERRORS * max(halves[i] for i in known)
    if not span and math.isfinite(bounds[1]):
        span = LEAST_SPAN
    low = max(min(values[i] - halves[i] for i in known), least)
    high = min(max(values[i] + halves[i] for i in known), most)
    return _within(low, high, span, least, most)


def _within(low: float, high: float, span: float, least: float, most: float) -> Axis:
    """An axis that covers a range, at least `span` high if the bounds allow it."""
    room = max(span - (high - low), 0.0) / 2
    low, high = low - room, high + room
    up, down = max(least - low, 0.0), max(high - most, 0.0)  # one of them is 0 if there is room
    low, high = max(low - down, least), min(high + up, most)
    near = [tick for tick in nice_ticks(low, high) if least - 1e-9 <= tick <= most + 1e-9]
    ticks = [min(max(tick, least), most) for tick in near]
    return Axis(min(low, *ticks), max(high, *ticks), tuple(ticks))


def count_axis(values: Sequence[float], room: float = math.inf) -> tuple[int, int, range]:
    """Ends of an axis of counts, as whole numbers, and its ticks.

    Parameters
    ----------
    values : sequence of float
        At least 0; means of counts need not be whole.
    room : float
        For the ticks' labels, in pixels.
    """
    least, most = math.floor(min(values)), math.ceil(max(values))
    fitting = room / (width(f"{most:,}", TICK) + 8)
    return least, most, size_ticks(least, most, max(min(int(min(fitting, 15)), 15), 1))


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values that cover the range from `low` to `high`, without any that overflow."""
    largest = max(abs(low), abs(high))
    if not high - low > max(1e-12 * largest, 1e-300):  # one value, but for rounding
        room = largest / 20 or 0.5
        low, high = max(low - room, -sys.float_info.max), min(high + room, sys.float_info.max)
    unit = _unit(low, high)
    ticks = [tick * unit for tick in _round_values(low / unit, high / unit, about)]
    return list(dict.fromkeys(tick for tick in ticks if math.isfinite(tick)))


def position(value: float, low: float, high: float) -> float:
    """Relative position of a value between `low`, 0, and `high`, 1; 0.5 if these are equal."""
    if not high > low:
        return 0.5
    unit = _unit(low, high)
    low, high, value = low / unit, high / unit, value / unit
    return (value - low) / (high - low)


def _unit(low: float, high: float) -> float:
    """A unit in which differences are numbers that neither overflow nor vanish."""
    if max(abs(low), abs(high)) > 1e300:
        return 1e300
    return 1e-300 if high - low < 1e-290 else 1.0


def _round_values(low: float, high: float, about: int) -> list[float]:
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def size_ticks(least: int, most: int, about: int = 15) -> range:
    """Round numbers of units, about as many as requested."""
    wide = (most - least) / about
    every = next(e for p in range(9) for e in (10**p, 2 * 10**p, 5 * 10**p) if e >= wide)
    return range(-(-least // every) * every, most + 1, every)


def fitted_ticks(
    low: float, high: float, room: float, *, signed: bool = False
) -> list[tuple[float, str]]:
    """Round values that cover a range, as many as leave room for their labels."""
    found: list[tuple[float, str]] = []
    for about in (5, 4, 3, 2, 1):
        ticks = nice_ticks(low, high, about)
        found = list(zip(ticks, tick_labels(ticks, signed=signed), strict=True))
        widest = max(width(label, TICK) for _, label in found)
        if (widest + 6) * (len(found) - 1) <= room:
            break
    return found


def tick_labels(ticks: Sequence[float], *, signed: bool = False) -> list[str]:
    """Values of equal distance as texts with as many decimals as distinguish them; large and tiny
    ones with a power of ten."""
    step, largest = (ticks[1] - ticks[0] if len(ticks) > 1 else 1.0), max(map(abs, ticks))
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if largest < 1e5 else 0
    if largest >= 1e5 or decimals > 4:
        texts = [f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-") for value in ticks]
    else:
        texts = [f"{value:,.{decimals}f}" for value in ticks]
    zero = step / 1000
    return [
        "0" if signed and abs(v) < zero else f"+{t}" if signed and v > 0 else t
        for v, t in zip(ticks, texts, strict=True)
    ]
