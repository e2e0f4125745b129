"""The geometry of curves."""

from __future__ import annotations

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
