"""The geometry of lines over the sizes of the path."""

from __future__ import annotations

import itertools

from treeselect.reports.figures.lines import line_figure


def test_lines_are_told_apart_without_colour_and_labels_without_overlap():
    values = [[1.0, 0.5, 0.4], [0.0, 0.5, 0.3], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]]
    figure = line_figure([1, 2, 4], list("abcd"), values, [True] * 3 + [False], 4, 0).wide
    assert len({line.mark for line in figure.lines}) == 4
    heights = sorted(line.entry.y for line in figure.lines)
    assert min(b - a for a, b in itertools.pairwise(heights)) >= 17.9
    assert all(figure.top <= height <= figure.bottom for height in heights)
    assert figure.lines[1].points.count(",") == 3  # from the step before it entered
    assert figure.lines[2].points.count(",") == 2
    assert figure.lines[2].text == "2: 0.000, 4: 0.300"
    assert [line.solid for line in figure.lines] == [True, True, True, False]
    long = line_figure(range(1, 200), ["a"], [[0.5] * 199], [True], 3, 0).wide
    assert len(long.lines[0].marks) <= 20
    assert long.lines[0].points.count(",") == 199


def test_names_stand_below_lines_where_there_is_no_room_beside_them():
    names = ["age", "sex", "a long name of some thirty letters", "fare"]
    figure = line_figure([1, 2], names, [[0.5, 0.5]] * 4, [True] * 4, 2, 0).narrow
    entries = [line.entry for line in figure.lines]
    assert all(entry.y > figure.bottom + 50 for entry in entries)
    assert [entry.leader for entry in entries] == [None] * 4
    assert entries[0].y == entries[1].y < entries[2].y  # side by side as far as there is room
    assert entries[0].x < entries[1].x
    assert max(entry.y for entry in entries) < figure.height
