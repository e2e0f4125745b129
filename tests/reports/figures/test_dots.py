"""The geometry of dots with intervals."""

from __future__ import annotations

import pytest

from treeselect.reports.figures.dots import dot_figure, range_figure


@pytest.mark.parametrize("form", ["wide", "narrow"])
def test_ranges_of_any_values_share_an_axis_with_the_marked_one(form):
    both = range_figure(["a", "b"], [3.0, -1.0], [2.0, -2.5], [4.5, 0.0], [True, False],
                          ("bar", 1.0), 0)  # fmt: skip
    figure = getattr(both, form)
    places = [x for dot in figure.dots for x in (dot.low, dot.x, dot.high)]
    assert all(figure.left <= x <= figure.right for x in places)
    assert figure.dots[1].x < figure.marks[0].at < figure.dots[0].x
    assert [tick.label for tick in figure.x_ticks] == ["-4", "-2", "0", "2", "4", "6"]
    assert both.text == "a: 3.00 (2.00 to 4.50), selected; b: -1.00 (-2.50 to 0.00); bar: 1.00"


def test_shares_have_the_whole_axis():
    figure = dot_figure(["a"], [1.0], [0.2], [1.0], [True], 0).narrow
    assert [tick.label for tick in figure.x_ticks] == ["0%", "25%", "50%", "75%", "100%"]
    assert figure.dots[0].x == figure.x_ticks[-1].at == figure.right
