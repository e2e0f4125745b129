"""Rows by their response: its classes, thirds of a number, events and censored times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.designs.modeldata import ModelData
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.survival.times import EVENT
from treeselect.results.curves import number_text

MOST_CLASSES = 5
"""Classes that stand for themselves; of more the four most frequent do, and the rest is one."""

_ENDS = (number_text, "{:.9g}".format, repr)
"""How the ends of thirds are written: as short as tells them apart."""


@dataclass(frozen=True, slots=True)
class ResponseGroup:
    """Rows that go together.

    Attributes
    ----------
    name : str
        A class; ``"6 other classes"``; the least and the largest number of a third;
        ``"event"`` or ``"censored"``.
    rows : ndarray of bool, shape (n_rows,)
    """

    name: str
    rows: BoolArray


def response_groups(design: ModelData, copies: IntArray) -> tuple[ResponseGroup, ...]:
    """The rows that are used, by their response; none where all of them would be one group."""
    response = design.response
    if response.classes:
        groups = _classes(response.y, [str(label) for label in response.classes], copies)
    elif response.family.has_times:
        event = response.y[:, EVENT] > 0
        groups = [ResponseGroup("event", event), ResponseGroup("censored", ~event)]
    else:
        groups = _thirds(response.y, copies)
    found = tuple(group for group in groups if group.rows.any())
    return found if len(found) > 1 else ()


def _classes(y: FloatArray, names: list[str], copies: IntArray) -> list[ResponseGroup]:
    """Each class in the order of the response; of many the most frequent ones and the others."""
    if len(names) <= MOST_CLASSES:
        return [ResponseGroup(name, y == i) for i, name in enumerate(names)]
    count = np.bincount(y.astype(np.int64), copies, len(names))
    shown = sorted(np.argsort(-count, kind="stable")[: MOST_CLASSES - 1].tolist())
    rest = ResponseGroup(f"{len(names) - len(shown)} other classes", ~np.isin(y, shown))
    return [*(ResponseGroup(names[i], y == i) for i in shown), rest]


def _thirds(y: FloatArray, copies: IntArray) -> list[ResponseGroup]:
    """As near to thirds as values that are the same allow, which stay together."""
    low, high = quantiles(y, copies, (1 / 3, 2 / 3))
    parts = [part for part in (y <= low, (y > low) & (y <= high), y > high) if part.any()]
    ends = [(float(y[part].min()), float(y[part].max())) for part in parts]
    for text in _ENDS:
        names = [" to ".join(dict.fromkeys(map(text, both))) for both in ends]
        texts = {end: text(end) for both in ends for end in both}
        if len(set(texts.values())) == len(texts):
            break
    return [ResponseGroup(name, part) for name, part in zip(names, parts, strict=True)]


def quantiles(values: FloatArray, copies: IntArray, shares: tuple[float, ...]) -> list[float]:
    """Quantiles of values each of which stands for so many rows, interpolated as numpy and R do by
    default; NaN where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.results.response_groups import quantiles
    >>> quantiles(np.array([1.0, 4.0]), np.array([3, 1]), (0.5, 1.0))
    [1.0, 4.0]
    """
    if not len(values):
        return [float("nan")] * len(shares)
    order = np.argsort(values)
    value, until = values[order], np.cumsum(copies[order])
    at = (int(until[-1]) - 1) * np.array(shares)
    below, above = (
        value[np.searchsorted(until, end, "right")] for end in (np.floor(at), np.ceil(at))
    )
    return [float(q) for q in below + (above - below) * (at - np.floor(at))]
