"""Axes: the share of an axis at which a value stands, round values on it; names that fit.

The axis of a variable's values is linear, logarithmic, or of ranks if a few values would fill most
of it.
"""

from __future__ import annotations

import bisect
import itertools
import math
import sys
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from treeselect.shown import shown

Ticks = Sequence[tuple[float, str]]
"""Values and their labels."""


def number_text(value: float) -> str:
    """A value of the data in a few characters."""
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis from `low` to `high`; `ticks` gives round values with their labels, by the room for
    these in pixels. `values` and `places` are those of an axis of ranks; `slot` is the share on the
    right for missing values, which are infinite."""

    low: float
    high: float
    ticks: Callable[[float], Ticks]
    label: str = ""
    kind: str = "numbers"
    values: tuple[float, ...] = ()
    places: tuple[float, ...] = ()
    slot: float = 0.0

    def share(self, value: float) -> float:
        """Where a value stands, from 0 to 1; values beyond an end are moved to it."""
        if math.isinf(value):
            return 1.0 - (0.42 if value > 0 else 0.85) * self.slot
        return min(max(self.place(value), 0.0), 1.0) * (1.0 - self.slot)

    def place(self, value: float) -> float:
        """Where a value stands among those that are known."""
        if self.kind == "log":
            return position(math.log(value), math.log(self.low), math.log(self.high))
        if self.kind != "rank":
            return position(value, self.low, self.high)
        right = min(max(bisect.bisect_left(self.values, value), 1), len(self.values) - 1)
        within = position(value, self.values[right - 1], self.values[right])
        return self.places[right - 1] + within * (self.places[right] - self.places[right - 1])

    def value(self, share: float) -> float:
        """The value at a share, also beyond the ends."""
        place = share / (1.0 - self.slot) if self.slot < 1 else share
        if self.low == self.high:
            return self.low + (place - 0.5) * (abs(self.low) or 1.0)
        if self.kind == "log":
            return float(self.low * (self.high / self.low) ** place)
        if self.kind == "rank" and 0 <= place <= 1:
            right = min(max(bisect.bisect_left(self.places, place), 1), len(self.places) - 1)
            within = position(place, self.places[right - 1], self.places[right])
            return self.values[right - 1] + within * (self.values[right] - self.values[right - 1])
        return self.low + place * (self.high - self.low)

    def named(self, label: str) -> Axis:
        return replace(self, label=label)


def number_axis(ticks: Sequence[float], *, signed: bool = False) -> Axis:
    """An axis from the first to the last of these values of equal distance; as many are ticks as
    there is room for, 0 among them if possible."""
    pairs = list(zip(ticks, tick_labels(ticks, signed=signed), strict=True))
    return Axis(ticks[0], ticks[-1], lambda room: thinned(pairs, room))


def ratio_axis(low: float, high: float) -> Axis:
    """An axis of the logarithms of ratios, 1 among them, with the ratios as ticks."""
    low, high = min(low, -math.log(1.25)), max(high, math.log(1.25))
    steps = (1, 2, 5) if high - low < math.log(1000) else (1,)
    ratios = [step * 10.0**power for power in range(-4, 5) for step in steps]
    pairs = [(math.log(ratio), f"{ratio:g}") for ratio in ratios]
    inside = [pair for pair in pairs if low <= pair[0] <= high]
    return Axis(low, high, lambda room: thinned(inside, room), kind="ratio")


def share_axis() -> Axis:
    pairs = [(share, f"{share:.0%}") for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return Axis(0.0, 1.0, lambda room: pairs)


def time_ticks(last: float) -> list[float]:
    """Round times from 0 to the last one."""
    return [tick for tick in nice_ticks(0.0, last, 6) if 0 <= tick <= last]


def thinned(ticks: Ticks, room: float) -> Ticks:
    """Every tick, or every second or further one, so that labels fit; the least is among them."""
    least = min(range(len(ticks)), key=lambda i: abs(ticks[i][0]))
    found: Ticks = ticks
    for every in range(1, len(ticks) + 1):
        found = [tick for i, tick in enumerate(ticks) if (i - least) % every == 0]
        widest = max(width(label, TICK) for _, label in found) + 6
        if room / max(len(ticks) - 1, 1) * every >= widest:
            break
    return found


LEAST_SPAN = 0.05
"""Least height of an axis of a score whose best value is known and whose error is not."""

LEAST_ERRORS = 4.0
"""Least height of an axis in standard errors, so that smaller differences do not fill it."""


def score_axis(
    values: Sequence[float],
    errors: Sequence[float] | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Axis:
    """An axis that covers scores and their error bars, given by half lengths, within the bounds of
    the score. What is not finite is ignored."""
    known = [i for i, value in enumerate(values) if math.isfinite(value)]
    if not known:
        return number_axis(nice_ticks(0.0, 1.0))
    halves = [e if errors and math.isfinite(e) else 0.0 for e in errors or [0.0] * len(values)]
    least = min(bounds[0], *(values[i] for i in known))
    most = max(bounds[1], *(values[i] for i in known))
    span = LEAST_ERRORS * max(halves[i] for i in known)
    if not span and math.isfinite(bounds[1]):
        span = LEAST_SPAN
    low = max(min(values[i] - halves[i] for i in known), least)
    high = min(max(values[i] + halves[i] for i in known), most)
    room = max(span - (high - low), 0.0) / 2  # at least `span` high if the bounds allow it
    low, high = low - room, high + room
    up, down = max(least - low, 0.0), max(high - most, 0.0)  # one of them is 0 if there is room
    low, high = max(low - down, least), min(high + up, most)
    near = [tick for tick in nice_ticks(low, high) if least - 1e-9 <= tick <= most + 1e-9]
    ticks = list(dict.fromkeys(min(max(tick, least), most) for tick in near))
    pairs = list(zip(ticks, tick_labels(ticks), strict=True))
    return Axis(min(low, *ticks), max(high, *ticks), lambda room: pairs)


def count_axis(values: Sequence[float], label: str = "") -> Axis:
    """An axis of counts, at least 0, between whole numbers; means of counts need not be whole."""
    least, most = math.floor(min(values)), math.ceil(max(values))
    widest = width(f"{most:,}", TICK) + 8

    def ticks(room: float) -> Ticks:
        about = max(min(int(min(room / widest, 15)), 15), 1)
        wide = (most - least) / about
        every = next(e for p in range(9) for e in (10**p, 2 * 10**p, 5 * 10**p) if e >= wide)
        return [(k, f"{k:,}") for k in range(-(-least // every) * every, most + 1, every)]

    return Axis(least, most, ticks, label, kind="counts")


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values that cover the range from `low` to `high`, without any that overflow."""
    largest = max(abs(low), abs(high))
    if not high - low > max(1e-12 * largest, 1e-300):  # one value, but for rounding
        room = largest / 20 or 0.5
        low, high = max(low - room, -sys.float_info.max), min(high + room, sys.float_info.max)
    unit = _unit(low, high)
    low, high = low / unit, high / unit
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [i * step * unit for i in range(first, last + 1)]
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


def tick_labels(ticks: Sequence[float], *, signed: bool = False) -> list[str]:
    """Values of equal distance, with as many decimals as distinguish them, or a power of ten."""
    step, largest = (ticks[1] - ticks[0] if len(ticks) > 1 else 1.0), max(map(abs, ticks))
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) if largest < 1e5 else 0
    if largest >= 1e5 or decimals > 4:
        digits = _digits(largest, step)
        texts = [f"{value:.{digits}g}".replace("e+0", "e").replace("e-0", "e-") for value in ticks]
    else:
        texts = [f"{value:,.{decimals}f}" for value in ticks]
    zero = step / 1000
    return [
        "0" if signed and abs(v) < zero else ("+" if signed and v > 0 else "") + t.replace("-", "−")
        for v, t in zip(ticks, texts, strict=True)
    ]


def _digits(largest: float, step: float) -> int:
    """Digits, at least 3, of values that differ by a step."""
    return max(math.floor(math.log10(largest)) - math.floor(math.log10(step) + 1e-9) + 1, 3)


# --- the axis of a variable's values ------------------------------------------------------------

FEW = 12
"""Values that stand for themselves: they have dots on a curve, and no other axis."""

_CROWDED = 1 / 3
"""Nine tenths of the rows within so little of an axis are strongly skewed."""

_LEAST_RATIO = 20.0
"""Of the largest to the least value on an axis of logarithms."""


def value_axis(values: Sequence[float], shares: Sequence[float], slot: float = 0.0) -> Axis:
    """The axis that suits values, rising, and the shares of the rows at each."""
    kind, places = _kind_of(values, shares)
    axis = Axis(values[0], values[-1], lambda room: [], "", kind, tuple(values), places, slot)
    return replace(axis, ticks=lambda room: value_ticks(axis, room * (1 - slot)))


def _kind_of(values: Sequence[float], shares: Sequence[float]) -> tuple[str, tuple[float, ...]]:
    linear = tuple(position(value, values[0], values[-1]) for value in values)
    if len(values) <= FEW or _spread(linear, shares) >= _CROWDED:
        return "numbers", linear
    if values[0] > 0 and values[-1] / values[0] >= _LEAST_RATIO:
        ends = math.log(values[0]), math.log(values[-1])
        places = tuple(position(math.log(value), *ends) for value in values)
        if _spread(places, shares) >= _CROWDED:
            return "log", places
    # Not the shares of the rows: where nearly all rows are 0, that would leave the others no room.
    return "rank", tuple(i / (len(values) - 1) for i in range(len(values)))


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


def value_ticks(axis: Axis, room: float) -> list[tuple[float, str]]:
    """Round values within the range, as many as have room for their labels; years have no comma."""
    found = _own_values(axis, room)
    if not found:
        found = _ticks_between(axis, room) if axis.kind == "numbers" else _sorted_out(axis, room)
    are_years = all(abs(value) < 10_000 for value, _ in found)
    return [
        (value, (label.replace(",", "") if are_years else label).replace("-", "−"))
        for value, label in found
    ]


def _own_values(axis: Axis, room: float) -> list[tuple[float, str]]:
    """A few round values that have room for their labels are the best ticks."""
    are_round = all(  # of at most two digits, or whole numbers of four
        value == float(f"{value:.2g}") or (value == round(value) and abs(value) < 10_000)
        for value in axis.values
    )
    if len(axis.values) > 6 or not are_round:
        one = axis.values[0]
        return [(one, number_text(one))] if axis.values[-1] == one else []
    found = [(value, number_text(value)) for value in axis.values]
    return found if _fit(axis, found, room) else []


def _fit(axis: Axis, ticks: Sequence[tuple[float, str]], room: float) -> bool:
    ends = [
        (axis.place(value) * room - wide / 2, axis.place(value) * room + wide / 2)
        for value, wide in ((value, width(label, TICK) + 6) for value, label in ticks)
    ]
    return all(a[1] <= b[0] for a, b in itertools.pairwise(ends))


def _ticks_between(axis: Axis, room: float) -> list[tuple[float, str]]:
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
    return _ends(low, high)


def _ends(low: float, high: float) -> list[tuple[float, str]]:
    digits = _digits(max(abs(low), abs(high)), (high - low) / 10)
    return [(low, f"{low:.{digits}g}"), (high, f"{high:.{digits}g}")]


def _sorted_out(axis: Axis, room: float) -> list[tuple[float, str]]:
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
        label = number_text(value) if value == round(value) else f"{value:,.12g}"
        tried = sorted({*found, (value, label)})
        if len(found) < 5 and _fit(axis, tried, room):
            found = tried
    return found or _ends(low, high)


def density(places: Sequence[float], shares: Sequence[float]) -> list[tuple[float, float, float]]:
    """A strip of bars that shows the distribution of the rows: their ends, and heights up to 1."""
    gaps = [b - a for a, b in itertools.pairwise(places)]
    if len(places) <= FEW:
        half = min([_MOST_HALF, *(gap * 0.4 for gap in gaps)])
        bars = [(at - half, at + half, share) for at, share in zip(places, shares, strict=True)]
    else:
        edges = [
            places[0] - min(gaps[0] / 2, _MOST_HALF),
            *((a + b) / 2 for a, b in itertools.pairwise(places)),
            places[-1] + min(gaps[-1] / 2, _MOST_HALF),
        ]
        bars = [
            (a, b, share / max(b - a, _MOST_HALF / 8))
            for (a, b), share in zip(itertools.pairwise(edges), shares, strict=True)
        ]
    most = max((height for _, _, height in bars), default=0.0) or 1.0
    return [(a, b, height / most) for a, b, height in bars]


_MOST_HALF = 1 / 60
"""Half of the greatest width of a single bar, as a share of the axis."""


NAME, TICK = 13.0, 12.0
"""Sizes of type that the style sheet gives to names, and to ticks and labels, in pixels."""


def shorten(name: str, most: float) -> str:
    """A name shortened to `most` ems by its middle, because long names often differ at the end."""
    name = shown(name)
    if sum(map(ems, name)) <= most:
        return name
    room = most - ems("…")
    head = _fitting(name, 0.35 * room)
    tail = _fitting(name[::-1], room - sum(map(ems, head)))[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def distinct(names: Sequence[str], most: float) -> list[str]:
    """Names shortened to what is distinct: those that look alike show where they differ."""
    names = list(map(shown, names))
    labels = [shorten(name, most) for name in names]
    alike: dict[str, set[str]] = {}
    for name, label in zip(names, labels, strict=True):
        alike.setdefault(label, set()).add(name)
    return [
        label if len(alike[label]) == 1 else _where_different(name, alike[label], most)
        for name, label in zip(names, labels, strict=True)
    ]


def _where_different(name: str, others: set[str], most: float) -> str:
    first = _common_start(others)
    last = _common_start({other[::-1] for other in others})
    end = max(len(name) - last, first)
    core = shorten(name[first:end], most - 2 * ems("…"))
    room = most - sum(map(ems, core)) - 2 * ems("…")
    before = _fitting(name[:first][::-1], 0.6 * room)[::-1]
    after = _fitting(name[end:], room - sum(map(ems, before)))
    opening = "…" if len(before) < first else ""
    return f"{opening}{before}{core}{after}{'…' if end + len(after) < len(name) else ''}"


def _common_start(names: set[str]) -> int:
    """Length of the prefix that all names share."""
    places = enumerate(zip(*names, strict=False))
    different = (i for i, characters in places if len(set(characters)) > 1)
    return next(different, min(map(len, names)))


def _fitting(name: str, most: float) -> str:
    used = 0.0
    for i, character in enumerate(name):
        used += ems(character)
        if used > most:
            return name[:i]
    return name


def ems(character: str) -> float:
    """Generous width of a character in a sans-serif face."""
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF" or character in "…@%MWm":
        return 1.0
    character = unicodedata.normalize("NFD", character)[0]
    if character in "iIjl.,:;|!'()[]/-\" ":
        return 0.4
    beyond_latin = (
        character > "\u024f" and character not in "\u2013\u201c\u201d\u2018\u2019"
    )  # dashes, quotes
    if character in "©®ÆŒæœ¼½¾" or beyond_latin:
        return 1.0
    if character in "w+=<>~^#×±÷−&OQGCDNHU":
        return 0.84
    return 0.78 if character.isupper() else 0.64


def middle_in(at: float, label: str, last: float) -> float:
    """Centre of a tick label that keeps it within a figure of this width."""
    half = width(label, TICK) / 2
    return round(max(min(at, last - half), half), 1)


def width(text: str, size: float) -> float:
    """Generous width of a text, in the unit of the size of its type."""
    return size * sum(map(ems, shown(text)))


def folded(names: Sequence[str], most: float) -> list[tuple[str, ...]]:
    """Names on one line or two of at most `most` ems, shortened so that they stay distinct."""
    names = list(map(shown, names))
    lines = [_two_lines(name, most) for name in names]
    rest = iter(distinct([n for n, own in zip(names, lines, strict=True) if not own], most))
    return [own or (next(rest),) for own in lines]


def _two_lines(name: str, most: float) -> tuple[str, ...]:
    """A name unchanged, or broken into lines of similar width; None if it does not fit."""
    if sum(map(ems, name)) <= most:
        return (name,)
    breaks = [i for i in range(1, len(name)) if name[i - 1] in " -_/.,;:)" or name[i] == "("]
    pairs = [(name[:i].rstrip(), name[i:].lstrip()) for i in breaks or range(1, len(name))]
    wide = [max(sum(map(ems, part)) for part in pair) for pair in pairs]
    best = min(range(len(pairs)), key=wide.__getitem__, default=None)
    return pairs[best] if best is not None and wide[best] <= most else ()


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions close to the desired ones, `gap` apart and within [low, high] if possible."""
    order = np.argsort(wanted, kind="stable")
    room = gap * np.arange(len(wanted))
    up = np.maximum.accumulate(np.maximum(np.array(wanted)[order] - room, low)) + room
    down = np.minimum.accumulate(np.minimum(up + room[::-1], high)[::-1])[::-1] - room[::-1]
    found = np.empty(len(wanted))
    found[order] = down.round(1)
    return [*map(float, found)]
