"""The geometry of bars."""

from __future__ import annotations

import pytest

from treeselect.reports.figures.bars import bar_figure


def test_bars_start_together_and_keep_proportion():
    figure = bar_figure(["a", "b"], [0.8, 0.2], 0)
    assert figure.bars[0].length == pytest.approx(4 * figure.bars[1].length, abs=0.2)
