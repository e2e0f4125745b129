"""Axes of values: their kind, round ticks, and where the rows are."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeselect.reports.figures.values import density, value_axis, value_ticks


def equal(n):
    return [1 / n] * n


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([float(i) for i in range(40)], "linear"),
        ([1.5**i for i in range(40)], "log"),
        ([1.5**i - 1.5**20 for i in range(40)], "rank"),
        ([1.5**i for i in range(10)], "linear"),  # a few values stand for themselves
        ([100 + 1e-4 * 1.5**i for i in range(40)], "rank"),
        ([7.0], "linear"),
    ],
)
def test_an_axis_suits_its_values(values, kind):
    axis = value_axis(values, equal(len(values)))
    assert axis.kind == kind
    assert bool(axis.note) == (kind != "linear")
    for value, place in zip(values, axis.places, strict=True):
        assert axis.place(value) == pytest.approx(place)


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([4.591, 17.11], ["5", "10", "15"]),
        ([0.0, 1.0], ["0", "1"]),
        ([0.0, 1.0, 2.0, 5.0], ["0", "1", "2", "5"]),
        ([1998.0, 2001.0, 2003.0], ["1998", "2001", "2003"]),
        ([0.25, 0.5], ["0.25", "0.5"]),
        ([0.1234], ["0.1234"]),
    ],
)
def test_ticks_are_round(values, labels):
    axis = value_axis(values, equal(len(values)))
    assert [label for _, label in value_ticks(axis, 240.0)] == labels


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40, unique=True).map(sorted),
    st.sampled_from([120.0, 240.0]),
)
def test_ticks_stand_in_order_within_the_range(values, room):
    axis = value_axis(values, equal(len(values)))
    ticks = value_ticks(axis, room)
    places = [axis.place(value) for value, _ in ticks]
    assert places == sorted(places)
    assert all(-1e-6 <= place <= 1 + 1e-6 for place in places)
    assert 1 <= len(ticks) <= 7


def test_bars_of_rows_have_their_shares_as_areas():
    places = [float(i**1.5) for i in range(20)]
    bars = density(places, equal(20))
    areas = [(b - a) * height for a, b, height in bars]
    assert areas[1:-1] == pytest.approx([areas[1]] * 18)
    assert max(height for _, _, height in bars) == 1
    assert all(b == c for (_, b, _), (c, _, _) in itertools.pairwise(bars))
    few = density([0.0, 10.0, 100.0], [0.5, 0.25, 0.25])
    assert [height for _, _, height in few] == [1.0, 0.5, 0.5]
    assert len({round(b - a, 9) for a, b, _ in few}) == 1
    assert density([5.0], [1.0]) == [(1.0, 9.0, 1.0)]
