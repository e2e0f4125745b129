"""The geometry of curves."""

from __future__ import annotations

import dataclasses

from treeselect.reports.figures.panels import panels
from treeselect.results.curves import Curve, CurvePoint


def curve(points, *, is_number=True, term="x"):
    made = tuple(
        CurvePoint(value if is_number else None, str(value), 1 / len(points), effect, value is None)
        for value, effect in points
    )
    return Curve(term, "x", is_number, "mean response", made, 0)


def test_panels_share_their_scale():
    first, second = panels(
        [
            curve([(0.0, -1.0), (1.0, 0.5), (None, 0.1)]),
            curve([("a", 0.0), ("b", 0.2)], is_number=False),
        ]
    )
    assert first.y_ticks == second.y_ticks
    assert first.zero == second.zero == second.specks[0].y
    assert [t.label for t in first.x_ticks] == ["0", "1", "missing"]
    assert first.specks[-1].is_missing
    assert first.specks[-1].x > first.missing_from > first.specks[1].x
    assert first.line.count(",") == 2  # missing values are no part of the line
    assert second.line == ""
    assert not second.upright
    assert first.text.endswith("lowest, -1, at 0.0; highest, +0.5, at 1.0.")


def test_panels_of_many_levels_and_of_one_value():
    levels = [(f"a rather long level, number {i}", i / 12) for i in range(12)]
    upright, single, flat = panels(
        [
            curve(levels, is_number=False),
            curve([(3.0, 0.0)]),
            curve([(float(i), 0.0) for i in range(20)], term="log(x)"),
        ]
    )
    assert upright.upright
    assert upright.height > single.height
    assert len({tick.label for tick in upright.x_ticks}) == 12
    assert [tick.label for tick in single.x_ticks] == ["3"]
    assert single.left < single.specks[0].x < single.right
    assert flat.x_label == "x"
    places = [tick.at for tick in flat.x_ticks]
    assert 3 <= len(places) <= 6
    assert all(flat.left <= place <= flat.right for place in places)


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
    assert panel.specks[1].text == "1.0: +1, +0 to +6 (20.0% of the rows)"
    (plain,) = panels([made])
    assert plain.band == ()
