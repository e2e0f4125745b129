"""What single units say, without any draw."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.algorithms.search.judging import Alone
from treeselect.models.capacity import truth_of


def measures(data, groups=None):
    fit = treeselect.select("y ~ .", data, method="mrmr", k=1, seed=1, progress=False)
    problem, weights = fit.data.design.problem, fit.data.design.row_weights.in_groups(groups)
    alone = Alone(problem.data, truth_of(problem, weights.values), weights)
    single = np.eye(len(problem.groups.names), dtype=bool)
    return dict(zip(problem.groups.names, map(alone.of, single), strict=True)), alone


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 3))
    frame = pd.DataFrame(x, columns=["strong", "weak", "noise"])
    frame["levels"] = rng.integers(60, size=400).astype(str)
    return frame.assign(y=2 * x[:, 0] + 0.7 * x[:, 1] + rng.normal(size=400))


def test_units_stand_in_the_order_of_what_they_say(data):
    found, alone = measures(data)
    assert found["strong"] > 0.5 > found["weak"] > 0.05 > found["noise"]
    every = np.ones(4, dtype=bool)
    assert alone.of(every) == pytest.approx(sum(found.values()))


def test_a_monotone_copy_says_the_same(data):
    found, _ = measures(data.assign(noise=np.exp(data["strong"])))
    assert found["noise"] == found["strong"]


def test_rows_that_belong_together_count_as_one(data):
    groups = np.arange(400) // 20
    assert measures(data, groups)[0]["weak"] < measures(data)[0]["weak"]
