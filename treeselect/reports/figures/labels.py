"""Names shortened to fit beside a figure, and heights at which they do not overlap."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from treeselect.shown import shown

NAME, TICK = 13.0, 12.0
"""Sizes of type that the style sheet gives to names, and to ticks and labels, in pixels."""

_LABEL_EMS = 22.0
"""Default width of the longest name: about forty characters."""


def shorten(name: str, most: float = _LABEL_EMS) -> str:
    """A name shortened to `most` ems; the full name belongs in the title.

    The middle is omitted, because long names often differ only at the end. Control characters are
    escaped first, which makes them wider.
    """
    name = shown(name)
    if sum(map(ems, name)) <= most:
        return name
    room = most - ems("…")
    head = _fitting(name, 0.35 * room)
    tail = _fitting(name[::-1], room - sum(map(ems, head)))[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def distinct(names: Sequence[str], most: float = _LABEL_EMS) -> list[str]:
    """Names shortened so that they remain distinct, if the distinct part fits.

    Names that would look alike show where they differ: "…00291…".
    """
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


def folded(
    names: Sequence[str], most: float, parts: Sequence[tuple[str, str]] | None = None
) -> list[tuple[str, ...]]:
    """Names on one line, or on two of at most `most` ems; longer ones are shortened and
    remain distinct.

    Parameters
    ----------
    names : sequence of str
    most : float
    parts : sequence of (str, str), optional
        Where to break each name; by default into lines of similar width.
    """
    names = list(map(shown, names))
    if parts is not None:
        terms = list(dict.fromkeys(part for pair in parts for part in pair))
        short = dict(zip(terms, distinct(terms, most), strict=True))
        return [
            (name,) if sum(map(ems, name)) <= most else (short[first], short[second])
            for name, (first, second) in zip(names, parts, strict=True)
        ]
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
    """Positions as close as possible to the desired ones, in their order, at least `gap` apart and
    within [low, high] if there is room."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    at = low - gap
    places = []
    for i in order:
        at = max(wanted[i], at + gap)
        places.append(at)
    limit = high
    for j in range(len(places) - 1, -1, -1):
        places[j] = min(places[j], limit)
        limit = places[j] - gap
    found = [0.0] * len(wanted)
    for i, place in zip(order, places, strict=True):
        found[i] = round(place, 1)
    return found
