"""Ticks: round values that cover a range, and what they are called."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeselect.reports.figures.axes import count_axis, nice_ticks, score_axis, tick_labels


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


SHARE, EXPLAINED = (0.0, 1.0), (-math.inf, 1.0)


@pytest.mark.parametrize(
    ("scores", "errors", "bounds", "ends"),
    [
        ([0.98, 0.995], [0.02, 0.03], SHARE, (0.85, 1.0)),  # error bars beyond what is possible
        ([1.0, 1.0], [0.0, 0.0], SHARE, (0.95, 1.0)),
        ([0.9], None, SHARE, (0.87, 0.93)),  # one dot, not from 0.4 to 1.6
        ([0.8, 0.9], None, SHARE, (0.8, 0.9)),
        ([-12.0, 0.9], None, EXPLAINED, (-15.0, 0.9)),  # the next round value is 5
        ([0.001, 0.002], None, SHARE, (0.0, 0.05)),
        ([math.nan, math.nan], [math.nan, math.nan], SHARE, (0.0, 1.0)),
        ([-3.0, 2.0], None, (-math.inf, math.inf), (-3.0, 2.0)),
    ],
)
def test_axes_of_scores_stay_within_bounds(scores, errors, bounds, ends):
    axis = score_axis(scores, errors, bounds)
    assert (axis.low, axis.high) == pytest.approx(ends)
    assert axis.low <= min(axis.ticks) < max(axis.ticks) <= axis.high
    assert len(axis.ticks) >= 3


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.5)), min_size=1, max_size=5),
    st.sampled_from([SHARE, EXPLAINED, (-math.inf, math.inf)]),
)
def test_axes_cover_scores_and_what_is_possible_of_their_errors(points, bounds):
    scores, errors = zip(*points, strict=True)
    axis = score_axis(scores, errors, bounds)
    assert bounds[0] <= axis.low < axis.high <= bounds[1]
    for score, error in points:
        assert axis.low <= max(score - error, bounds[0])
        assert min(score + error, bounds[1]) <= axis.high
        assert 0 <= axis.share(score) <= 1
    narrow = bounds != (-math.inf, math.inf)
    if narrow and max(errors) <= 0.2:
        assert axis.high - axis.low >= 4 * max(errors) - 1e-9


def test_differences_far_below_their_errors_do_not_fill_the_axis():
    axis = score_axis([0.850, 0.852], [0.013, 0.013], SHARE)
    assert axis.share(0.852) - axis.share(0.850) < 0.05


@pytest.mark.parametrize(
    ("counts", "ends", "ticks"),
    [
        ([5], (5, 5), [5]),
        ([4.2, 4.8], (4, 5), [4, 5]),  # means of counts
        ([0, 3], (0, 3), [0, 1, 2, 3]),
        ([1, 33], (1, 33), [5, 10, 15, 20, 25, 30]),
    ],
)
def test_axes_of_counts_have_whole_ticks(counts, ends, ticks):
    least, most, found = count_axis(counts)
    assert (least, most) == ends
    assert list(found) == ticks
