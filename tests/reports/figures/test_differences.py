"""The geometry of differences."""

from __future__ import annotations

from treeselect.reports.figures.differences import difference_figure


def test_differences_are_drawn_about_zero():
    figure = difference_figure(["a", "b"], [-0.02, -0.01], [-0.03, -0.03], [-0.01, 0.01], 0)
    assert {tick.label: tick.at for tick in figure.x_ticks}["0"] == figure.zero
    assert [dot.filled for dot in figure.dots] == [True, False]
    assert figure.dots[0].high < figure.zero < figure.dots[1].high
    same = difference_figure(["a"], [0.0], [0.0], [0.0], 0)
    assert same.dots[0].x == same.zero
    assert not same.dots[0].filled
