"""Screens of very many units."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from treeselect import select
from treeselect.algorithms.search import judging
from treeselect.algorithms.search.judging import passing, screen
from treeselect.engine.data.binning import bin_columns, bin_edges
from treeselect.engine.data.targets import mean_target
from treeselect.engine.growing.growth import Growth

LEAF = Growth(1, 5, 1, 0.0)


def binned(x):
    """Columns of numbers, each a unit of its own."""
    n = x.shape[1]
    return bin_columns(list(x.T), [bin_edges(c) for c in x.T], [0] * n, np.arange(n))


@pytest.fixture
def ten_pass(monkeypatch):
    """A screen that only ten units pass."""
    monkeypatch.setattr(judging, "_CELLS", 1)
    monkeypatch.setattr(judging, "_LEAST", 10)


def test_few_units_all_pass():
    assert passing(500, 10_000) == 10_000
    assert passing(500, 100_000) == 10_000
    assert passing(50, 100_000) == 20_000


@pytest.mark.usefixtures("ten_pass")
def test_interactions_with_a_member_of_the_set_are_seen():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 200))
    y = np.sign(x[:, 0] * x[:, 7]) + 0.3 * x[:, 3]
    data, counts, ranks = binned(x), np.ones(300, dtype=np.int64), np.arange(200)
    alone, _ = screen(data, mean_target(y), counts, LEAF, ranks)
    within, gains = screen(data, mean_target(y), counts, LEAF, ranks, [0])
    assert alone.sum() == within.sum() == 10
    assert alone[3]
    assert not alone[7]
    assert within[3]
    assert within[7]
    assert gains.shape == (200,)
    assert gains.min() >= 0.0


@pytest.mark.usefixtures("ten_pass")
def test_a_search_of_many_units_finds_what_passes_and_may_take_more():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(150, 40))
    data = pd.DataFrame(x, columns=[f"x{j}" for j in range(40)])
    data["constant"] = 1.0
    data["y"] = 2 * data["x3"] - data["x20"] + rng.normal(size=150) / 2
    turned = data[data.columns[::-1]]
    fit = select("y ~ .", data, k=2, seed=1, progress=False)
    assert set(fit.selected) == {"x3", "x20"}
    assert select("y ~ .", turned, k=2, seed=1, progress=False).selected == fit.selected
    many = select("y ~ .", data, k=12, seed=1, progress=False)
    assert len(many.selected) == 12
    assert "constant" not in many.selected
