"""The axis of a variable's values: linear, logarithmic, or of ranks if a few values would fill
most of it."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.reports.figures.axes import nice_ticks, position, tick_labels
from treeselect.reports.figures.forms import TICK
from treeselect.reports.figures.labels import width
from treeselect.results.curves import number_text

FEW = 12
"""Values that stand for themselves: they have dots on a curve, and no other axis."""

_CROWDED = 1 / 3
"""Nine tenths of the rows within so little of an axis are strongly skewed."""

_LEAST_RATIO = 20.0
"""Of the largest to the least value on an axis of logarithms."""


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """Values to shares of an axis.

    Attributes
    ----------
    kind : {"linear", "log", "rank"}
    values : tuple of float
        Rising, those that are known.
    places : tuple of float
        Of each on the axis, from 0 to 1.
    """

    kind: str
    values: tuple[float, ...]
    places: tuple[float, ...]

    @property
    def note(self) -> str:
        """A note on the axis, empty for a linear one."""
        return {"linear": "", "log": "log scale", "rank": "rank scale"}[self.kind]

    def place(self, value: float) -> float:
        """Where a value stands, from 0 to 1."""
        low, high = self.values[0], self.values[-1]
        if self.kind == "linear":
            return position(value, low, high)
        if self.kind == "log":
            return position(math.log(value), math.log(low), math.log(high))
        right = min(max(bisect.bisect_left(self.values, value), 1), len(self.values) - 1)
        within = position(value, self.values[right - 1], self.values[right])
        return self.places[right - 1] + within * (self.places[right] - self.places[right - 1])


def value_axis(values: Sequence[float], shares: Sequence[float]) -> ValueAxis:
    """The axis that suits the values.

    Parameters
    ----------
    values : sequence of float
        Rising, at least one.
    shares : sequence of float
        Of the rows at each.
    """
    linear = tuple(position(value, values[0], values[-1]) for value in values)
    if len(values) <= FEW or _spread(linear, shares) >= _CROWDED:
        return ValueAxis("linear", tuple(values), linear)
    if values[0] > 0 and values[-1] / values[0] >= _LEAST_RATIO:
        ends = math.log(values[0]), math.log(values[-1])
        places = tuple(position(math.log(value), *ends) for value in values)
        if _spread(places, shares) >= _CROWDED:
            return ValueAxis("log", tuple(values), places)
    # Not the shares of the rows: where nearly all rows are 0, that would leave the others no room.
    return ValueAxis(
        "rank", tuple(values), tuple(i / (len(values) - 1) for i in range(len(values)))
    )


def _spread(places: Sequence[float], shares: Sequence[float]) -> float:
    """The least part of the axis that holds nine tenths of the rows."""
    wanted, total = 0.9 * sum(shares), 0.0
    first, least = 0, 1.0
    for place, share in zip(places, shares, strict=True):
        total += share
        while total - shares[first] >= wanted:
            total -= shares[first]
            first += 1
        if total >= wanted:
            least = min(least, place - places[first])
    return least


def value_ticks(axis: ValueAxis, room: float) -> list[tuple[float, str]]:
    """Round values within the range, as many as have room for their labels.

    Four digits have no comma: they may be years.
    """
    found = _own_values(axis, room)
    if not found:
        found = _round_values(axis, room) if axis.kind == "linear" else _sorted_out(axis, room)
    if all(abs(value) < 10_000 for value, _ in found):  # years
        found = [(value, label.replace(",", "")) for value, label in found]
    return found


def _own_values(axis: ValueAxis, room: float) -> list[tuple[float, str]]:
    """A few round values that have room for their labels are the best ticks."""
    if len(axis.values) > 6 or not all(map(_is_round, axis.values)):
        one = axis.values[0]
        return [(one, number_text(one))] if axis.values[-1] == one else []
    found = [(value, number_text(value)) for value in axis.values]
    return found if _fit(axis, found, room) else []


def _is_round(value: float) -> bool:
    """Whether a value has at most two digits, or is a whole number of four."""
    return value == float(f"{value:.2g}") or (value == round(value) and abs(value) < 10_000)


def _fit(axis: ValueAxis, ticks: Sequence[tuple[float, str]], room: float) -> bool:
    ends = [
        (axis.place(value) * room - wide / 2, axis.place(value) * room + wide / 2)
        for value, wide in ((value, width(label, TICK) + 6) for value, label in ticks)
    ]
    return all(a[1] <= b[0] for a, b in itertools.pairwise(ends))


def _round_values(axis: ValueAxis, room: float) -> list[tuple[float, str]]:
    low, high = axis.values[0], axis.values[-1]
    for about in (6, 5, 4, 3, 2, 1):
        values = nice_ticks(low, high, about)
        found = [
            (value, label)
            for value, label in zip(values, tick_labels(values), strict=True)
            if -1e-6 <= position(value, low, high) <= 1 + 1e-6
        ]
        if found and _fit(axis, found, room):
            return found
    return [(low, f"{low:.3g}"), (high, f"{high:.3g}")]


def _sorted_out(axis: ValueAxis, room: float) -> list[tuple[float, str]]:
    """Of round values those that stand apart, powers of ten first."""
    low, high = axis.values[0], axis.values[-1]
    largest = max(abs(low), abs(high))
    tens = range(math.floor(math.log10(largest)), math.floor(math.log10(largest)) - 5, -1)
    found: list[tuple[float, str]] = []
    wanted = [0.0]
    wanted += [sign * m * 10.0**p for m in (1, 5, 2) for p in tens for sign in (1, -1)]
    if axis.kind == "rank":
        wanted += [value for about in (4, 12, 40) for value in nice_ticks(low, high, about)]
    for value in wanted:
        if not low <= value <= high or (axis.kind == "log" and value <= 0):
            continue
        tried = sorted({*found, (value, number_text(value))})
        if len(found) < 5 and _fit(axis, tried, room):
            found = tried
    return found or [(low, f"{low:.3g}"), (high, f"{high:.3g}")]


def density(places: Sequence[float], shares: Sequence[float]) -> list[tuple[float, float, float]]:
    """A strip of bars that shows the distribution of the rows.

    Parameters
    ----------
    places : sequence of float
        Rising, in pixels.
    shares : sequence of float
        Of the rows at each.

    Returns
    -------
    list of (float, float, float)
        Left and right end of each bar, and its height, the highest 1. Areas are shares, but of a
        few values, which have bars of one width, and at the ends.
    """
    gaps = [b - a for a, b in itertools.pairwise(places)]
    if len(places) <= FEW:
        half = min([4.0, *(gap * 0.4 for gap in gaps)])
        bars = [(at - half, at + half, share) for at, share in zip(places, shares, strict=True)]
    else:
        edges = [
            places[0] - min(gaps[0] / 2, 4.0),
            *((a + b) / 2 for a, b in itertools.pairwise(places)),
            places[-1] + min(gaps[-1] / 2, 4.0),
        ]
        bars = [
            (a, b, share / max(b - a, 0.5))
            for (a, b), share in zip(itertools.pairwise(edges), shares, strict=True)
        ]
    most = max((height for _, _, height in bars), default=0.0) or 1.0
    return [(a, b, height / most) for a, b, height in bars]
