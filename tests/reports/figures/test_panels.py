"""The geometry of curves."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from treeselect.reports.figures.forms import TICK
from treeselect.reports.figures.labels import width
from treeselect.reports.figures.panels import panels, share_scale
from treeselect.results.curves import MISSING, Curve, CurvePoint


def curve(points, *, is_number=True, term="x"):
    made = tuple(
        CurvePoint(value if is_number else None, str(value), 1 / len(points), effect, value is None)
        for value, effect in points
    )
    return Curve(term, "x", is_number, "mean response", made, 0)


def test_panels_share_their_scale_or_have_each_its_own():
    made = [
        curve([(0.0, -1.0), (1.0, 0.5), (None, 0.1)]),
        curve([("a", 0.0), ("b", 0.2)], is_number=False),
    ]
    first, second = panels(made)
    assert [t.label for t in first.y_ticks] == ["-1.0", "-0.5", "0", "+0.5"]
    assert {t.label for t in second.x_ticks} <= {t.label for t in first.y_ticks}
    assert first.zero == next(t.at for t in first.y_ticks if t.label == "0")
    assert second.zero == next(t.at for t in second.x_ticks if t.label == "0")
    _, own = panels(made, shared=False)
    assert "+0.20" in {t.label for t in own.x_ticks}
    assert first.line.count(",") == 2  # missing values are no part of the line
    assert first.text.endswith("lowest, -1, at 0.0; highest, +0.5, at 1.0.")


def test_a_scale_is_shared_unless_a_curve_would_be_flat():
    steep, flat = curve([(0.0, -1.0), (1.0, 1.0)]), curve([(0.0, -0.01), (1.0, 0.01)])
    assert share_scale([steep, curve([(0.0, 0.0), (1.0, 0.5)])])
    assert not share_scale([steep, flat])
    assert share_scale([steep, curve([(0.0, 0.0), (1.0, 0.0)])])  # no scale makes nothing steep


def test_missing_values_have_room_by_their_share_only():
    def slot(share):
        points = (
            CurvePoint(0.0, "0", (1 - share) / 2, 0.0, False),
            CurvePoint(1.0, "1", (1 - share) / 2, 1.0, False),
            CurvePoint(None, "missing", share, 0.5, True),
        )
        (panel,) = panels([Curve("x", "x", True, "mean response", points, 0)])
        return panel, panel.right - panel.missing_from

    few, least = slot(0.001)
    many, wide = slot(0.3)
    assert width(MISSING, TICK) < least < wide
    assert [tick.label for tick in few.x_ticks] == ["0", "1", MISSING]
    assert wide == pytest.approx(0.3 * (many.right - many.left), abs=0.2)
    for panel in (few, many):
        assert panel.specks[-1].is_missing
        assert panel.specks[-1].x > panel.missing_from > panel.specks[1].x
        assert panel.x_ticks[-1].label == "missing"
    (none,) = panels([curve([(0.0, 0.0), (1.0, 1.0)])])
    assert none.missing_from is None
    assert [t.label for t in none.x_ticks] == ["0", "1"]


def test_levels_stand_in_rows_with_whole_names():
    levels = [(f"a rather long level with its number {i:04d}", i / 12) for i in range(12)]
    assert len(levels[0][0]) == 40
    (panel,) = panels([curve(levels, is_number=False)])
    assert [" ".join(dot.name.lines) for dot in panel.dots] == [name for name, _ in levels]
    assert all(dot.name.x < panel.left for dot in panel.dots)
    assert [dot.x for dot in panel.dots] == sorted(dot.x for dot in panel.dots)
    heights = [dot.y for dot in panel.dots]
    assert min(b - a for a, b in itertools.pairwise(heights)) > 30  # two lines
    assert panel.height > heights[-1]
    assert {dot.share for dot in panel.dots} == {"8%"}


def test_panels_of_one_value_and_of_a_flat_curve():
    single, flat, lost = panels(
        [
            curve([(3.0, 0.0)]),
            curve([(float(i), 0.0) for i in range(20)], term="log(x)"),
            curve([(None, 0.5)]),
        ]
    )
    assert [tick.label for tick in single.x_ticks] == ["3"]
    assert single.left < single.specks[0].x < single.right
    assert flat.x_label == "x"
    places = [tick.at for tick in flat.x_ticks]
    assert 3 <= len(places) <= 6
    assert all(flat.left <= place <= flat.right for place in places)
    assert [tick.label for tick in lost.x_ticks] == ["missing"]


def test_crowded_values_have_an_axis_of_their_own_which_is_said():
    incomes = [10 ** (i / 8) for i in range(40)]
    (log,) = panels([curve([(value, value) for value in incomes])])
    assert log.x_label == "log scale"
    assert [t.label for t in log.x_ticks] == ["1", "10", "100", "1,000", "10,000"]
    gaps = [b.x - a.x for a, b in itertools.pairwise(log.specks)]
    assert max(gaps) - min(gaps) < 0.3
    fares = [0.0, *(value - 1 for value in incomes[1:])]
    (ranks,) = panels([curve([(value, value) for value in fares], term="sqrt(x)")])
    assert ranks.x_label == "x, rank scale"
    assert ranks.rows
    assert {"0", "100"} <= {t.label for t in ranks.x_ticks}
    (linear,) = panels([curve([(float(i), 0.0) for i in range(40)])])
    assert linear.x_label == ""


def test_bands_are_drawn_where_they_are_known():
    points = [(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (None, 0.0)]
    made = curve(points)
    ends = [(-1.0, 1.0), (0.0, 6.0), (None, None), (2.0, 4.0), (-2.0, 2.0)]
    banded = dataclasses.replace(
        made,
        points=tuple(
            dataclasses.replace(point, low=low, high=high)
            for point, (low, high) in zip(made.points, ends, strict=True)
        ),
    )
    (panel,) = panels([banded])
    assert len(panel.band) == 1  # a single point between two that are not known has no area
    assert panel.band[0].count(",") == 4
    assert panel.specks[1].high < panel.specks[1].y < panel.specks[1].low  # upwards is less
    assert panel.specks[2].low is None
    assert min(tick.at for tick in panel.y_ticks) <= panel.specks[1].high
    assert panel.specks[1].text == "1.0: +1, 0 to +6 (20.0% of rows)"
    (plain,) = panels([made])
    assert plain.band == ()
