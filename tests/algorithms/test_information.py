"""Information of units: symmetrical uncertainty, and what single units say without any draw."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_mutual_info_score

import treeselect
from treeselect.algorithms.information import Uncertainties, mutual_information, row_mass
from treeselect.algorithms.search.judging import Alone
from treeselect.designs.weights import row_weights
from treeselect.models.capacity import truth_of


def entropy(*shares):
    return -sum(share * np.log(share) for share in shares)


def test_a_table_by_hand():
    """Of 40 rows 12, 4 and 4 in the first class, 2, 6 and 12 in the second."""
    x = np.repeat([0, 1, 2, 0, 1, 2], [12, 4, 4, 2, 6, 12])
    y = np.repeat([0, 1], 20)
    h_x, h_y = entropy(14 / 40, 10 / 40, 16 / 40), entropy(0.5, 0.5)
    shared = h_x + h_y - entropy(*(np.array([12, 4, 4, 2, 6, 12]) / 40))
    by_chance = 2 * 1 / (2 * 40)
    wanted = (shared - by_chance) / ((h_x + h_y) / 2 - by_chance)
    found = Uncertainties([x], y, np.ones(40))
    assert found.relevance()[0] == pytest.approx(wanted, abs=1e-11)
    counts = Uncertainties(
        [np.array([0, 1, 2] * 2)], np.repeat([0, 1], 3), np.array([12.0, 4, 4, 2, 6, 12])
    )
    assert counts.relevance()[0] == pytest.approx(wanted, abs=1e-11)


def test_two_units_are_told_alike_and_as_by_mutual_information():
    rng = np.random.default_rng(3)
    mass = rng.integers(1, 4, size=200) * 1.0
    cells = [rng.integers(k, size=200) for k in (2, 5, 9)]
    cells.append((cells[1] + (rng.random(200) < 0.2)) % 5)
    found = Uncertainties(cells, cells[0], mass)
    for i in range(4):
        assert found.relevance()[i] == found.between(i, np.array([0]))[0]
        for j in range(4):
            (one,), (other,) = found.between(i, np.array([j])), found.between(j, np.array([i]))
            assert one == pytest.approx(other, abs=1e-11)
            assert (one > 0) == (mutual_information(cells[i], cells[j], mass) > 0)


def test_copies_share_all_constants_nothing_and_chance_is_subtracted():
    rng = np.random.default_rng(4)
    x, ids = rng.integers(8, size=300), np.arange(300)
    found = Uncertainties([x, 7 - x, np.zeros(300, dtype=int), ids], x, np.ones(300))
    assert found.relevance().tolist() == [1.0, 1.0, 0.0, 0.0]
    mean, twin = [], []
    for _ in range(200):
        x, y = rng.integers(6, size=(2, 300))
        mean.append(Uncertainties([x], y, np.ones(300)).relevance()[0])
        twin.append(adjusted_mutual_info_score(x, y))
    assert np.mean(mean) < 0.004
    # The exact expectation of scikit-learn is a little larger than that of first order.
    np.testing.assert_allclose(mean, np.maximum(twin, 0.0), atol=3e-3)


def test_whole_weights_are_copies_and_others_have_the_mean_one():
    weight = np.array([2, 0, 1])
    rows, mass = row_mass(row_weights(weight))
    assert rows.tolist() == [0, 2]
    assert mass.tolist() == [2.0, 1.0]
    assert row_mass(row_weights(weight * 0.5))[1].tolist() == pytest.approx([4 / 3, 2 / 3])


# --- What single units say, without any draw ---


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
