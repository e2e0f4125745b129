"""The geometry of dots with intervals."""

from __future__ import annotations

from treeselect.reports.figures.dots import range_figure


def test_ranges_of_any_values_share_an_axis_with_the_marked_one():
    figure = range_figure(["a", "b"], [3.0, -1.0], [2.0, -2.5], [4.5, 0.0], [True, False],
                          ("bar", 1.0), 0)  # fmt: skip
    places = [x for dot in figure.dots for x in (dot.low, dot.x, dot.high)]
    assert all(figure.left <= x <= figure.right for x in places)
    assert figure.dots[1].x < figure.marks[0].at < figure.dots[0].x
    assert [tick.label for tick in figure.x_ticks] == ["-4", "-2", "0", "2", "4", "6"]
