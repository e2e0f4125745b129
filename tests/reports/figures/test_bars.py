"""The geometry of bars."""

from __future__ import annotations

import pytest

from treeselect.reports.figures.bars import bar_figure


@pytest.mark.parametrize("form", ["wide", "narrow"])
def test_bars_start_together_and_keep_proportion(form):
    figure = bar_figure(["a", "b"], [0.8, 0.2], 0)
    long, short = getattr(figure, form).bars
    assert long.length == pytest.approx(4 * short.length, abs=0.2)
    assert figure.text == "a: 0.800; b: 0.200"


def test_names_stand_beside_their_bars_where_there_is_room():
    long = "the number of nights in the year before"
    figure = bar_figure([long, "age"], [0.8, 0.2], 3)
    beside, above = figure.wide.bars[0].label, figure.narrow.bars[0].label
    assert " ".join(beside.lines) == long
    assert above.lines == (long,)
    assert beside.beside
    assert beside.x < figure.wide.left
    assert not above.beside
    assert above.y < figure.narrow.bars[0].y
    assert figure.more == 3


def test_pairs_are_broken_after_their_sign_and_long_words_stand_below():
    texts = ["0.123, strength 0.45 (0.30 to 0.60)"]
    figure = bar_figure(["embarked × class"], [1.0], 0, parts=[("embarked ×", "class")],
                        texts=texts)  # fmt: skip
    assert figure.wide.bars[0].label.lines == ("embarked × class",)
    (bar,) = figure.narrow.bars
    assert bar.label.lines == ("embarked ×", "class")
    assert bar.value_y > bar.y + figure.narrow.thickness
    assert figure.wide.bars[0].value_x > figure.wide.left + figure.wide.bars[0].length
