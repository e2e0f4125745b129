"""Screens of very many units, and shares of gains that hold outside the bags."""

import numpy as np
import pandas as pd
import pytest
from tasks import task_of
from tree_data import binned

from treeselect import RRF, select
from treeselect.algorithms.forests.scoring import held_shares, screened
from treeselect.algorithms.search import judging
from treeselect.engine.tree.target import mean_target
from treeselect.engine.tree.workspace import Growth

LEAF = Growth(1, 5, 1, 0.0)


@pytest.fixture
def ten_pass(monkeypatch):
    """A screen that only ten units pass."""
    monkeypatch.setattr(judging, "_CELLS", 1)
    monkeypatch.setattr(judging, "_LEAST", 10)


def test_shares_and_screens_at_their_limits_and_the_lower_half_of_the_rows():
    assert judging.passing(500, 10_000) == 10_000
    assert judging.passing(500, 100_000) == 10_000
    assert judging.passing(50, 100_000) == 20_000
    data = pd.DataFrame({"x": np.arange(40.0), "y": np.tile([0, 1], 20)})
    assert held_shares(task_of(data, RRF())).tolist() == [1.0]
    shares = np.array([1.0, 0.5, 0.0, 0.0])
    scale = np.array([0.4, 0.4, 0.99, 1.0])
    np.testing.assert_array_equal(screened(scale, shares), [0.4, 0.0, 0.0, 1.0])
    assert screened(scale, None) is scale
    np.testing.assert_array_equal(screened(np.zeros(4), shares), np.zeros(4))
    x = np.append(np.arange(9.0), [np.nan] * 3)
    for column, counts, n_low in ((x, np.ones(12, int), 6), (x, 1 + 8 * (x == 0), 4)):
        low = judging._lower_half(binned(column[:, None]), 0, counts.astype(np.int64))
        assert low.sum() == n_low
    assert not judging._lower_half(binned(np.ones((4, 1))), 0, np.ones(4, dtype=np.int64)).any()


@pytest.mark.usefixtures("ten_pass")
def test_interactions_with_a_member_of_the_set_are_seen():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 200))
    y = np.sign(x[:, 0] * x[:, 7]) + 0.3 * x[:, 3]
    data, counts, ranks = binned(x), np.ones(300, dtype=np.int64), np.arange(200)
    alone, _ = judging.screen(data, mean_target(y), counts, LEAF, ranks)
    within, gains = judging.screen(data, mean_target(y), counts, LEAF, ranks, [0])
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
    task = task_of(data, fit.search.method, seed=1)
    gains = judging.GainForests(task, judging.rows_to_judge(task)).of_all(
        task.problem.y[:, None], "some", 10
    )
    assert np.isneginf(gains).tolist() == [n == "constant" for n in task.problem.groups.names]


# --- Shares of gains that hold outside the bags, and what they are for: known truth among noise ---


QUICK = {
    "importance": {"n_trees": 100},
    "rfe": {"n_trees": 100},
    "controlburn": {"forests": 2, "n_trees": 10},
    "rrf": {"n_trees": 20},
    "grrf": {"n_trees": 20},
    "rboost": {"n_trees": 5},
}


def classes(eta, rng):
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)


def binary_among_noise(seed):
    """A number and a binary term that is weaker, and five columns of noise."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(400, 6)), columns=["x", *(f"n{j}" for j in range(5))])
    data["b"] = rng.integers(2, size=400)
    return data.assign(y=classes(1.2 - data["x"] - 1.3 * data["b"], rng))


def many_levels(seed, n=900):
    """The same beside a factor of 90 levels that is noise."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=n), "b": rng.integers(2, size=n)})
    data["f"] = np.array([f"level {i}" for i in range(90)])[rng.integers(90, size=n)]
    return data.assign(y=classes(0.6 - 0.9 * data["x"] - 1.2 * data["b"], rng))


def selected_by(method, data, seed=1):
    options = {"k": 2, "n_jobs": 1, "progress": False, **QUICK[method]}
    return set(select("y ~ .", data, method=method, seed=seed, **options).selected)


@pytest.mark.parametrize("method", QUICK)
def test_a_binary_term_is_found_among_continuous_noise(method):
    found = [selected_by(method, binary_among_noise(seed), seed) for seed in range(3)]
    assert sum(selected == {"x", "b"} for selected in found) >= 2


@pytest.mark.parametrize("method", ["importance", "controlburn", "rrf", "grrf", "rboost"])
def test_noise_of_many_levels_does_not_come_before_a_true_binary_term(method):
    assert selected_by(method, many_levels(0)) == {"x", "b"}


@pytest.mark.parametrize("method", ["mrmr", "exchange", "rrf", "gbfs"])
def test_the_null_model_has_the_score_of_its_offset(method):
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(80, 2)), columns=["x", "known"])
    data["y"] = data["known"] + rng.normal(size=80)
    fit = select("y ~ x", data, offset="known", method=method, k=1, seed=1)
    left = data["y"] - data["known"]
    assert fit.path["train_score"][0] == pytest.approx(1 - left.var() / data["y"].var())


def test_out_of_bag_the_auc_of_noise_is_about_one_half():
    # Without a row of a class the others are fewer: predictions of different models, as they are,
    # are lower the more often the response is 1, and had an AUC of .41 on average, of 0 at worst.
    found = []
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        data = pd.DataFrame(rng.normal(size=(100, 5)), columns=list("abcde"))
        fit = select("y ~ .", data.assign(y=rng.integers(0, 2, 100)), k=1, seed=1)
        found.append(fit.search.step.train_score)
    assert 0.48 < np.mean(found) < 0.62
    assert min(found) > 0.3
