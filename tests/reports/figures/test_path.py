"""The geometry of the path."""

from __future__ import annotations

import pytest

from treeselect.reports.figures.path import path_figure


def test_path_geometry():
    figure = path_figure([0, 1, 4], [0.5, 0.7, 0.8], [0.0, 0.02, 0.01], chosen=1).wide
    x = [p.x for p in figure.points]
    assert x[2] - x[1] == pytest.approx(3 * (x[1] - x[0]))
    assert [p.chosen for p in figure.points] == [False, True, False]
    assert all(p.high <= p.y <= p.low for p in figure.points)  # y runs downwards
    assert [t.label for t in figure.x_ticks] == ["0", "1", "2", "3", "4"]
    assert figure.marker == figure.points[1].x


def test_long_axes_have_round_ticks():
    figure = path_figure([1, 33], [0.1, 0.9], None, chosen=33)
    assert len(figure.narrow.x_ticks) <= len(figure.wide.x_ticks)
    figure = figure.wide
    assert [t.label for t in figure.x_ticks] == ["5", "10", "15", "20", "25", "30"]
