"""The geometry of lines over the sizes of the path."""

from __future__ import annotations

import itertools

from treeselect.reports.figures.lines import line_figure


def test_lines_are_told_apart_without_colour_and_labels_without_overlap():
    values = [[1.0, 0.5, 0.4], [0.0, 0.5, 0.3], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]]
    figure = line_figure([1, 2, 4], list("abcd"), values, [True] * 3 + [False], 4, 0)
    assert len({line.mark for line in figure.lines}) == 4
    heights = sorted(line.label_y for line in figure.lines)
    assert min(b - a for a, b in itertools.pairwise(heights)) >= 17.9
    assert all(figure.top <= height <= figure.bottom for height in heights)
    assert figure.lines[1].points.count(",") == 3  # from the step before it entered
    assert figure.lines[2].points.count(",") == 2
    assert figure.lines[2].text == "2: 0.000, 4: 0.300"
    assert [line.solid for line in figure.lines] == [True, True, True, False]
    long = line_figure(range(1, 200), ["a"], [[0.5] * 199], [True], 3, 0)
    assert len(long.lines[0].marks) <= 20
    assert long.lines[0].points.count(",") == 199
