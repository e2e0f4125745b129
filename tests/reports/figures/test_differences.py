"""The geometry of differences."""

from __future__ import annotations

from treeselect.reports.figures.differences import difference_figure


def test_differences_are_drawn_about_zero():
    figure = difference_figure(["a", "b"], [-0.02, -0.01], [-0.03, -0.03], [-0.01, 0.01], 0)
    for form in (figure.wide, figure.narrow):
        (zero,) = form.marks
        assert {tick.label: tick.at for tick in form.x_ticks}["0"] == zero.at
        assert [dot.filled for dot in form.dots] == [True, False]
        assert form.dots[0].high < zero.at < form.dots[1].high
    assert "selected" not in figure.text
    same = difference_figure(["a"], [0.0], [0.0], [0.0], 0).wide
    assert same.dots[0].x == same.marks[0].at
    assert not same.dots[0].filled
