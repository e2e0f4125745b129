"""Square figures: all is inside, and a curve is of bounded length."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.reports.figures.squares import (
    Dots,
    agreement_figure,
    curve_figure,
    level_figure,
    share_figure,
)

NAN = float("nan")
LABELS = ("across", "up")


def inside(figure):
    for mark in figure.marks:
        assert figure.left <= mark.x <= figure.right
        for y in (mark.y, mark.low, mark.high):
            assert figure.top <= y <= figure.bottom
        assert mark.high <= mark.y <= mark.low
    for tick in figure.x_ticks:
        assert figure.left <= tick.at <= figure.right
    return True


def test_a_long_curve_is_drawn_with_as_many_corners_as_there_are_pixels():
    share = np.linspace(0, 1, 20_001).tolist()
    figure = curve_figure(share, [s**0.5 for s in share], LABELS, "words")
    corners = figure.line.split()
    assert (corners[0], corners[-1]) == ("52,268", "306,26")
    assert len(corners) < 600
    assert figure.text == "words"


def test_shares_are_between_0_and_1():
    figure = share_figure(Dots([0.0, 1.0], [0.5, 1.0], [0.0, 0.9], [1.0, 1.0], ["a", "b"]), LABELS)
    assert inside(figure)
    assert [mark.x for mark in figure.marks] == [figure.left, figure.right]
    assert figure.guide == (figure.left, figure.bottom, figure.right, figure.top)
    assert figure.text == "a; b"


@pytest.mark.parametrize("kind", [agreement_figure, level_figure])
@pytest.mark.parametrize(
    "values",
    [[1.0, 2.0, 5.0], [-1e9, 0.0, 1e9], [3.0], [1e-12, 2e-12, 3e-12]],
    ids=["plain", "large", "one", "tiny"],
)
def test_values_of_any_size(kind, values):
    lows = [values[0], *[NAN] * (len(values) - 1)]
    figure = kind(Dots(values, values, lows, lows, ["text"] * len(values)), LABELS)
    assert inside(figure)
    if kind is level_figure:
        assert figure.guide[1] == figure.guide[3]
        assert figure.top <= figure.guide[1] <= figure.bottom
