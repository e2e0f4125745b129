"""Axes: round ticks that cover a range, the axis of a variable; names that fit beside figures."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeselect.figures import axes


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
    assert axes.nice_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("low", "high"), [(1e300, 1e300), (-1e140, -1e140), (0, 5e-324), (1, 1 + 1e-15), (1e17, 1e17)]
)
def test_ticks_of_what_rounding_tells_apart(low, high):
    ticks = axes.nice_ticks(low, high)
    assert ticks[0] <= low <= high <= ticks[-1]
    assert 2 < len(ticks) < 12


def test_ticks_of_one_value_of_small_differences_and_of_little_room():
    assert axes.nice_ticks(0.5, 0.5)[0] < 0.5 < axes.nice_ticks(0.5, 0.5)[-1]
    axis = axes.score_axis([0.850, 0.852], [0.013, 0.013], SHARE)
    assert axis.share(0.852) - axis.share(0.850) < 0.05
    axis = axes.number_axis([-0.04, -0.02, 0.0, 0.02, 0.04, 0.06], signed=True)
    found = [[label for _, label in axis.ticks(room)] for room in (300.0, 200.0, 60.0)]
    assert found == [
        ["−0.04", "−0.02", "0", "+0.02", "+0.04", "+0.06"], ["−0.04", "0", "+0.04"], ["0"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ticks", "signed", "labels"),
    [
        ([-0.2, 0.0, 0.2], True, ["−0.2", "0", "+0.2"]),
        ([0, 50_000, 100_000], False, ["0", "5e4", "1e5"]),
        ([-1e-7, 0, 1e-7], True, ["−1e−7", "0", "+1e−7"]),
        ([10, 20], False, ["10", "20"]),
        ([1e6, 1_000_500, 1_001_000], False, ["1e6", "1.0005e6", "1.001e6"]),
        ([1.0, 1.00002], True, ["+1", "+1.00002"]),
    ],
)
def test_tick_labels(ticks, signed, labels):
    assert axes.tick_labels(ticks, signed=signed) == labels


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
    axis = axes.score_axis(scores, errors, bounds)
    assert (axis.low, axis.high) == pytest.approx(ends)
    ticks = [tick for tick, _ in axis.ticks(100.0)]
    assert axis.low <= min(ticks) < max(ticks) <= axis.high
    assert len(ticks) >= 3


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.5)), min_size=1, max_size=5),
    st.sampled_from([SHARE, EXPLAINED, (-math.inf, math.inf)]),
)
def test_axes_cover_scores_and_what_is_possible_of_their_errors(points, bounds):
    scores, errors = zip(*points, strict=True)
    axis = axes.score_axis(scores, errors, bounds)
    assert bounds[0] <= axis.low < axis.high <= bounds[1]
    for score, error in points:
        assert axis.low <= max(score - error, bounds[0])
        assert min(score + error, bounds[1]) <= axis.high
        assert 0 <= axis.share(score) <= 1
    narrow = bounds != (-math.inf, math.inf)
    if narrow and max(errors) <= 0.2:
        assert axis.high - axis.low >= 4 * max(errors) - 1e-9


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
    axis = axes.count_axis(counts)
    assert (axis.low, axis.high) == ends
    assert [tick for tick, _ in axis.ticks(600.0)] == ticks
    assert len(axis.ticks(60.0)) <= len(ticks)


@pytest.mark.parametrize("last", [0.003, 1.0, 57.0, 2659.0, 1e9])
def test_ticks_of_time_begin_at_0_and_leave_room_for_numbers(last):
    ticks = axes.time_ticks(last)
    assert ticks[0] == 0
    assert ticks[-1] <= last
    assert 3 <= len(ticks) <= 7


@pytest.mark.parametrize(
    "values", [[1.0, 2.0, 4.0], [1.5**i for i in range(40)], [1.5**i - 9 for i in range(40)], [3.0]]
)
@pytest.mark.parametrize("slot", [0.0, 0.3])
def test_the_value_at_a_share_is_that_which_stands_there(values, slot):
    axis = axes.value_axis(values, equal(len(values)), slot)
    for value in values:
        share = axis.share(value)
        assert 0 <= share <= 1 - slot
        assert axis.value(share) == pytest.approx(value)
    if slot:
        assert 1 - slot < axis.share(-math.inf) < axis.share(math.inf) < 1


def equal(n):
    return [1 / n] * n


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([float(i) for i in range(40)], "numbers"),
        ([1.5**i for i in range(40)], "log"),
        ([1.5**i - 1.5**20 for i in range(40)], "rank"),
        ([1.5**i for i in range(10)], "numbers"),  # a few values stand for themselves
        ([100 + 1e-4 * 1.5**i for i in range(40)], "rank"),
        ([7.0], "numbers"),
    ],
)
def test_an_axis_suits_its_values(values, kind):
    axis = axes.value_axis(values, equal(len(values)))
    assert axis.kind == kind
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
        ([803_128 + 1e-4 * 1.4**i for i in range(24)], ["803128.1", "803128.2"]),
        ([*(1000.1 + i / 100 for i in range(30)), 1003.0], ["1000.1", "1000.2", "1000.3", "1001"]),
    ],
)
def test_ticks_are_round(values, labels):
    axis = axes.value_axis(values, equal(len(values)))
    assert [label for _, label in axes.value_ticks(axis, 240.0)] == labels


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40, unique=True).map(sorted),
    st.sampled_from([120.0, 240.0]),
)
def test_ticks_stand_in_order_within_the_range(values, room):
    axis = axes.value_axis(values, equal(len(values)))
    ticks = axes.value_ticks(axis, room)
    places = [axis.place(value) for value, _ in ticks]
    assert places == sorted(places)
    assert all(-1e-6 <= place <= 1 + 1e-6 for place in places)
    assert 1 <= len(ticks) <= 7


def test_bars_of_rows_have_their_shares_as_areas():
    places = [(i / 19) ** 1.5 for i in range(20)]
    bars = axes.density(places, equal(20))
    areas = [(b - a) * height for a, b, height in bars]
    assert areas[1:-1] == pytest.approx([areas[1]] * 18)
    assert max(height for _, _, height in bars) == 1
    assert all(b == c for (_, b, _), (c, _, _) in itertools.pairwise(bars))
    few = axes.density([0.0, 0.1, 1.0], [0.5, 0.25, 0.25])
    assert [height for _, _, height in few] == [1.0, 0.5, 0.5]
    assert len({round(b - a, 9) for a, b, _ in few}) == 1
    assert axes.density([0.5], [1.0]) == [(pytest.approx(29 / 60), pytest.approx(31 / 60), 1.0)]


@pytest.mark.parametrize("wanted", [[5, 5, 5], [0, 100, 99], [100, 100, 1], [50], []])
def test_labels_are_spread(wanted):
    places = axes.spread(wanted, 10, 0, 100)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    ordered = [places[i] for i in order]
    assert all(b - a >= 9.9 for a, b in itertools.pairwise(ordered))
    assert all(0 <= place <= 100 for place in places)


def test_labels_show_where_names_differ_and_shortened_ones_stay_different():
    names = [f"probe_{i:05d}_expression" for i in (3, 14, 290)]
    assert axes.distinct(names, 6.2) == ["…00003_…", "…00014_…", "…00290_…"]
    assert axes.distinct(["age", "sex"], 6.0) == ["age", "sex"]
    assert axes.distinct([names[0]] * 2, 6.0)[0] == axes.shorten(names[0], 6.0)
    assert axes.shorten("age", 22.0) == "age"
    words = "concentration in the second sample, marker"
    labels = [axes.shorten(f"{words} {i:02d}", 22.0) for i in range(30)]
    assert labels[3].startswith("conc")
    assert len(set(labels)) == 30
    assert (
        len(axes.shorten("W" * 80, 22.0))
        < len(axes.shorten("x" * 80, 22.0))
        < len(axes.shorten("i" * 80, 22.0))
        < 80
    )
    name = "existing credits paid back duly till now"
    assert len(name) == 40
    assert " ".join(axes.folded([name], 13.0)[0]) == name
    names = [f"{'concentration in the sample ' * 3}number {i}" for i in range(4)]
    found = axes.folded(names, 13.0)
    assert all(len(own) == 1 for own in found)
    assert len(set(found)) == 4


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("age", ("age",)),
        ("no checking account or all paid", ("no checking", "account or all paid")),
        ("property_magnitude_of_spouse", ("property_", "magnitude_of_spouse")),
        ("x" * 24, ("x" * 12, "x" * 12)),
        ("", ("",)),
    ],
)
def test_names_are_folded_at_their_gaps(name, lines):
    (found,) = axes.folded([name], 13.0)
    assert "".join(found).replace(" ", "") == name.replace(" ", "")
    assert len(found) == len(lines)
