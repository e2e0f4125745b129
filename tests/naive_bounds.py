"""The naive twins of what monotone constraints ask of splits and values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treeselect.engine.arrays import Int8Array


class Bounds(NamedTuple):
    """Bounds of the values of a node; the sign of a column, 0 without an order."""

    low: float = -np.inf
    high: float = np.inf
    sign: int = 0

    def move(self, value: float) -> float:
        """The value, moved into the bounds."""
        return float(min(max(value, self.low), self.high))


FREE = Bounds()
"""Nothing to observe."""


def bounded_gain(sums: list[tuple[float, float]], bounds: Bounds) -> float:
    """Decrease of the sum of squares by values that are moved into their bounds: of both sides, and
    of the node."""
    parts = [(2 * g - a * bounds.move(g / a)) * bounds.move(g / a) for g, a in sums]
    gain, size = parts[0] + parts[1] - parts[2], sums[2][1]
    return gain * size / size if gain > 1e-12 * sum(map(abs, parts)) else 0.0


def in_order(nodes: list[dict[str, Any]], monotone: Int8Array) -> None:
    """Move the values of the leaves of a tree so that it obeys the constraints."""

    def leaves(at: int) -> list[int]:
        if nodes[at]["column"] < 0:
            return [at]
        return leaves(nodes[at]["left"]) + leaves(nodes[at]["left"] + 1)

    before = [float(node["value"][0]) for node in nodes]

    def mean(at: int) -> tuple[float, int]:
        if nodes[at]["column"] < 0:
            return before[at], nodes[at]["weight"]
        (a, m), (b, n) = mean(nodes[at]["left"]), mean(nodes[at]["left"] + 1)
        return (a * m + b * n) / (m + n), m + n

    def move(at: int, bounds: Bounds) -> None:
        node = nodes[at]
        if node["column"] < 0:
            node["value"] = np.array([bounds.move(before[at])])
            return
        sides, sign = [node["left"], node["left"] + 1], int(monotone[node["column"]])
        below = [bounds, bounds]
        if sign != 0 and node["code"] > 0:
            sides = sides[::sign]
            a = bounds.move(max(before[i] for i in leaves(sides[0])))
            b = bounds.move(min(before[i] for i in leaves(sides[1])))
            between = a / 2 + b / 2
            if a > b:
                (a, m), (b, n) = mean(sides[0]), mean(sides[1])
                a, b = bounds.move(a), bounds.move(b)
                between = a / 2 + b / 2 if a <= b else (a * m + b * n) / (m + n)
            between = bounds.move(between)
            below = [bounds._replace(high=between), bounds._replace(low=between)]
        for side, own in zip(sides, below, strict=True):
            move(side, own)

    move(0, FREE)
