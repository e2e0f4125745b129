"""The geometry of curves of survival."""

from __future__ import annotations

import math
import re

import pytest

from treeselect.reports.figures.survival import Steps, survival_figure, time_ticks

NAN = math.nan


def steps(name="low", **changed):
    values = {
        "time": (100.0, 200.0, 300.0, 400.0),
        "survival": (1.0, 0.75, 0.75, 0.5),
        "low": (NAN, 0.5, 0.5, 0.25),
        "high": (NAN, 1.0, 1.0, 0.75),
        "censored": (100.0, 300.0),
        "predicted": 0.8,
    }
    return Steps(name, **values | changed)


def drawn(*groups, ticks=(0.0, 200.0, 400.0), horizon=200.0):
    counts = [range(30, 30 - 10 * len(ticks), -10)] * len(groups)
    return survival_figure(groups, counts, ticks, time="time", horizon=horizon).wide


def test_steps_start_at_the_corner_and_go_down_only():
    figure = drawn(steps())
    (group,) = figure.groups
    quarter = (figure.bottom - figure.top) / 4
    x = {tick.label: tick.at for tick in figure.x_ticks}
    assert group.line == (
        f"M{float(figure.left)} {figure.top}H{x['200']}V{figure.top + quarter:.1f}"
        f"H{x['400']}V{figure.top + 2 * quarter:.1f}H{x['400']}"
    )
    assert (x["400"], group.end_x, figure.marker) == (figure.right, figure.right, x["200"])
    assert group.end == figure.top + 2 * quarter


def test_bands_leave_out_what_is_not_known():
    figure = drawn(steps())
    (band,) = figure.groups[0].bands
    points = [tuple(map(float, point.split(","))) for point in band.split()]
    at_200 = figure.x_ticks[1].at
    assert min(x for x, _ in points) == at_200
    assert max(x for x, _ in points) == figure.right
    assert len(points) == len(set(points)) == 6  # neither repeated nor on a line
    nothing = steps(low=(NAN,) * 4, high=(NAN,) * 4)
    assert drawn(nothing).groups[0].bands == ()
    ends = steps(low=(NAN, NAN, NAN, 0.2), high=(NAN, NAN, NAN, 0.4))
    assert drawn(ends).groups[0].bands == ()  # a limit without extent


def test_ticks_of_censored_rows_stand_on_the_curve():
    figure = drawn(steps())
    places = re.findall(r"M(\S+) (\S+)v8", figure.groups[0].ticks)
    quarter = (figure.bottom - figure.top) / 4
    assert [float(y) + 4 for _, y in places] == [figure.top, figure.top + quarter]


def test_numbers_at_risk_are_below_their_ticks_in_rows_of_their_own():
    figure = drawn(steps("low"), steps("high"))
    first, second = figure.groups
    assert first.counts == ("30", "20", "10")
    assert len(figure.x_ticks) == len(first.counts)
    assert figure.bottom < figure.heading_y < first.counts_y < second.counts_y < figure.height
    assert second.counts_y - first.counts_y >= 18  # type of 16 pixels on a phone
    assert abs(first.label_y - second.label_y) >= 18  # although the curves end alike
    assert figure.left <= figure.x_ticks[0].at


def test_values_are_told_to_those_who_do_not_see_them():
    assert drawn(steps()).groups[0].text == ("75% at 200, 50% at 400; predicted 80% at 200")
    short = steps(time=(1.0, 2.0, 3.0, 50.0), censored=())
    assert drawn(short, steps("other")).groups[0].text.startswith("50% at 50;")


@pytest.mark.parametrize("last", [0.003, 1.0, 57.0, 2659.0, 1e9])
def test_ticks_of_time_begin_at_0_and_leave_room_for_numbers(last):
    ticks = time_ticks(last)
    assert ticks[0] == 0
    assert ticks[-1] <= last
    assert 3 <= len(ticks) <= 7


def test_on_a_phone_rows_of_numbers_name_the_curves():
    ticks = tuple(float(t) for t in range(0, 401, 50))
    groups = [steps("low"), steps("high")]
    figure = survival_figure(groups, [[1234.0] * 9] * 2, ticks, time="time", horizon=200.0).narrow
    assert [group.label_y for group in figure.groups] == [None, None]
    assert len(figure.x_ticks) == len(figure.groups[0].counts) < 9
    apart = figure.x_ticks[1].at - figure.x_ticks[0].at
    assert apart > 35  # what "1,234" needs
