"""Ticks: round values that cover a range, and what they are called."""

from __future__ import annotations

import pytest

from treeselect.reports.figures.axes import nice_ticks, tick_labels


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.5, 0.87, [0.5, 0.6, 0.7, 0.8, 0.9]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-3, 12, [-5, 0, 5, 10, 15]),
        (0.84, 0.86, [0.84, 0.845, 0.85, 0.855, 0.86]),
    ],
)
def test_ticks_are_round_and_cover_the_range(low, high, ticks):
    assert nice_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("low", "high"), [(1e300, 1e300), (-1e140, -1e140), (0, 5e-324), (1, 1 + 1e-15), (1e17, 1e17)]
)
def test_ticks_of_what_rounding_tells_apart(low, high):
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low <= high <= ticks[-1]
    assert 2 < len(ticks) < 12


def test_ticks_of_one_value():
    assert nice_ticks(0.5, 0.5)[0] < 0.5 < nice_ticks(0.5, 0.5)[-1]


@pytest.mark.parametrize(
    ("ticks", "signed", "labels"),
    [
        ([-0.2, 0.0, 0.2], True, ["-0.2", "0", "+0.2"]),
        ([0, 50_000, 100_000], False, ["0", "5e4", "1e5"]),
        ([-1e-7, 0, 1e-7], True, ["-1e-7", "0", "+1e-7"]),
        ([10, 20], False, ["10", "20"]),
    ],
)
def test_tick_labels(ticks, signed, labels):
    assert tick_labels(ticks, signed=signed) == labels
