"""The geometry of lines with error bars."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

from treeselect.reports.figures.series import Series, series_figure


def line(name, number, sizes, values, errors=None, ringed=None):
    n = len(sizes)
    return Series(
        name, number, tuple(sizes), tuple(values), tuple(errors or [0.01] * n),
        tuple(ringed or [False] * n),
    )  # fmt: skip


def test_error_bars_stand_side_by_side():
    figure = series_figure([line(str(i), i, (1, 2, 3), (0.5, 0.6, 0.7)) for i in range(8)], 0).wide
    at_two = [one.marks[1][0] for one in figure.series]
    assert min(b - a for a, b in itertools.pairwise(at_two)) >= 4.9  # whiskers are 5 wide
    assert np.mean(at_two) == pytest.approx(figure.x_ticks[1].at, abs=0.1)
    for one in figure.series:
        assert all(figure.left < x < figure.right for x, _ in one.marks)
    crowded = series_figure([line(str(i), i, range(1, 41), [0.5] * 40) for i in range(8)], 0).wide
    step = crowded.x_ticks[1].at - crowded.x_ticks[0].at
    apart = crowded.series[-1].marks[0][0] - crowded.series[0].marks[0][0]
    assert apart < step / 2  # no method stands at another's size


def test_error_bars_have_their_length():
    figure = series_figure([line("a", 0, (1, 2), (0.5, 0.7), (0.1, math.nan))], 0).wide
    (one,) = figure.series
    ticks = {tick.label: tick.at for tick in figure.y_ticks}
    low, high = re.fullmatch(r"M\S+ (\S+)V(\S+)m-2\.5 0h5M\S+ (\S+)h5", one.whiskers).group(1, 2)
    assert (float(low), float(high)) == (ticks["0.4"], ticks["0.6"])
    assert one.text == "1: 0.500 ± 0.100, 2: 0.700"


def test_lines_break_where_values_are_missing():
    values = (0.1, 0.2, math.nan, 0.4, math.nan, 0.5, 0.6)
    (one,) = series_figure([line("a", 3, range(7), values, [math.nan] * 7)], 0).wide.series
    assert [part.count(",") for part in one.parts] == [2, 2]  # a point alone is no line
    assert len(one.marks) == 5
    assert one.number == 3
    assert one.whiskers == ""


def test_long_lines_have_fewer_marks_but_those_with_rings():
    ringed = [size == 7 for size in range(100)]
    (one,) = series_figure([line("a", 0, range(100), [0.5] * 100, None, ringed)], 0).wide.series
    assert len(one.marks) <= 21
    assert one.rings[0] in one.marks


def test_labels_do_not_overlap_and_only_ends_have_leaders():
    figure = series_figure(
        [line(c, i, (1, 9), (0.5, 0.7)) for i, c in enumerate("abcdefg")]
        + [line("own", 7, (4.4,), (0.7,))],
        0,
    ).wide
    heights = sorted(one.entry.y for one in figure.series)
    assert min(b - a for a, b in itertools.pairwise(heights)) >= 17.9
    assert [one.entry.leader is None for one in figure.series] == [False] * 7 + [True]


def test_one_size_and_values_to_cover():
    figure = series_figure([line("a", 0, (2.6,), (0.5,))], 0, cover=(0.0, 1.0)).wide
    assert [tick.label for tick in figure.y_ticks][:: len(figure.y_ticks) - 1] == ["0.0", "1.0"]
    x, y = figure.series[0].marks[0]
    assert figure.left < x < figure.right
    assert figure.top < y < figure.bottom
