"""Filters: information by hand and by scikit-learn, the listing of FCBF, the merit of CFS."""

import itertools

import numpy as np
import pandas as pd
import pytest
from quick import normal
from sklearn.metrics import adjusted_mutual_info_score, mutual_info_score
from tasks import names_of, task_of

import treeselect
from treeselect import CFS, FCBF, MRMR
from treeselect.algorithms import filters
from treeselect.algorithms.search import judging
from treeselect.algorithms.search.judging import Alone
from treeselect.designs.weights import row_weights
from treeselect.models.forest import truth_of


@pytest.fixture(scope="module")
def linear():
    """`a` and the factor `site` matter; `near` repeats `a`; three are noise."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(500, 4)), columns=["a", "n0", "n1", "n2"])
    data["near"] = data["a"] + 0.2 * rng.normal(size=500)
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=500)
    data["y"] = 2 * data["a"] + 3 * (data["site"] == "York") + 0.5 * rng.normal(size=500)
    return data


def entropy(*shares):
    return -sum(share * np.log(share) for share in shares)


def test_a_table_by_hand_and_any_order_of_units():
    """Of 40 rows 12, 4 and 4 in the first class, 2, 6 and 12 in the second."""
    x = np.repeat([0, 1, 2, 0, 1, 2], [12, 4, 4, 2, 6, 12])
    y = np.repeat([0, 1], 20)
    h_x, h_y = entropy(14 / 40, 10 / 40, 16 / 40), entropy(0.5, 0.5)
    shared = h_x + h_y - entropy(*(np.array([12, 4, 4, 2, 6, 12]) / 40))
    by_chance = 2 * 1 / (2 * 40)
    wanted = (shared - by_chance) / ((h_x + h_y) / 2 - by_chance)
    found = filters.Uncertainties([x], y, np.ones(40))
    assert found.relevance()[0] == pytest.approx(wanted, abs=1e-11)
    counts = filters.Uncertainties(
        [np.array([0, 1, 2] * 2)], np.repeat([0, 1], 3), np.array([12.0, 4, 4, 2, 6, 12])
    )
    assert counts.relevance()[0] == pytest.approx(wanted, abs=1e-11)
    rng = np.random.default_rng(3)
    mass = rng.integers(1, 4, size=200) * 1.0
    cells = [rng.integers(k, size=200) for k in (2, 5, 9)]
    cells.append((cells[1] + (rng.random(200) < 0.2)) % 5)
    found = filters.Uncertainties(cells, cells[0], mass)
    for i in range(4):
        assert found.relevance()[i] == found.between(i, np.array([0]))[0]
        for j in range(4):
            (one,), (other,) = found.between(i, np.array([j])), found.between(j, np.array([i]))
            assert one == pytest.approx(other, abs=1e-11)


def test_copies_share_all_constants_nothing_and_chance_is_subtracted():
    rng = np.random.default_rng(4)
    x, ids = rng.integers(8, size=300), np.arange(300)
    found = filters.Uncertainties([x, 7 - x, np.zeros(300, dtype=int), ids], x, np.ones(300))
    assert found.relevance().tolist() == [1.0, 1.0, 0.0, 0.0]
    mean, twin = [], []
    for _ in range(200):
        x, y = rng.integers(6, size=(2, 300))
        mean.append(filters.Uncertainties([x], y, np.ones(300)).relevance()[0])
        twin.append(adjusted_mutual_info_score(x, y))
    assert np.mean(mean) < 0.004
    # The exact expectation of scikit-learn is a little larger than that of first order.
    np.testing.assert_allclose(mean, np.maximum(twin, 0.0), atol=3e-3)


def test_mutual_information_is_scikit_learns_and_whole_weights_are_copies():
    weight = np.array([2, 0, 1])
    rows, mass = filters.row_mass(row_weights(weight))
    assert rows.tolist() == [0, 2]
    assert mass.tolist() == [2.0, 1.0]
    assert filters.row_mass(row_weights(weight * 0.5))[1].tolist() == pytest.approx([4 / 3, 2 / 3])
    rng = np.random.default_rng(0)
    x, y = rng.integers(4, size=300), rng.integers(3, size=300)
    copies = rng.integers(1, 4, size=300)
    plain = mutual_info_score(np.repeat(x, copies), np.repeat(y, copies))
    found = filters.Uncertainties([x], y, copies * 1.0).information(filters.RESPONSE, np.array([0]))
    assert found[0] == pytest.approx(plain - 3 * 2 / (2 * copies.sum()), abs=1e-12)
    units = filters.Uncertainties(
        [*rng.integers(8, size=(200, 400))], rng.integers(8, size=400), np.ones(400)
    )
    independent = units.information(filters.RESPONSE, units.every)
    assert abs(np.mean(independent)) < 0.004


def test_bins_have_about_equal_weight_and_a_quotient_is_a_ratio(mixed, linear):
    values = np.arange(100)
    assert np.bincount(filters.coarsened(values, np.ones(100), 5)).tolist() == [20] * 5
    assert filters.coarsened(np.array([3, 9, 3]), np.ones(3), 5).tolist() == [0, 1, 0]
    data = task_of(mixed, MRMR(), "died ~ noise + site").problem.data
    rows, mass = np.arange(len(mixed)), np.ones(len(mixed))
    noise = filters.unit_cells(data, 0, rows, mass, 5)
    assert noise.max() == 5
    assert set(noise[mixed["noise"].isna()]) == {0}
    assert filters.unit_cells(data, 1, rows, mass, 5).max() == 3
    # In nats, the relevance of the first would be below any threshold of ratios.
    method = MRMR(scheme="quotient", threshold=20.0)
    fit = treeselect.select("y ~ .", linear, method=method, seed=1)
    assert set(fit.selected) == {"a", "site"}


# --- what single units say, without any draw ---


def measures(data, groups=None):
    task = task_of(data, MRMR())
    weights, groups_ = task.weights.in_groups(groups), task.problem.groups
    alone = Alone(task.problem.data, truth_of(task.problem, weights.values), weights)
    single = np.eye(len(groups_.names), dtype=bool)
    return dict(zip(groups_.names, map(alone.of, single), strict=True)), alone


def test_units_stand_in_the_order_of_what_they_say():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 3))
    data = pd.DataFrame(x, columns=["strong", "weak", "noise"])
    data["levels"] = rng.integers(60, size=400).astype(str)
    data["y"] = 2 * x[:, 0] + 0.7 * x[:, 1] + rng.normal(size=400)
    found, alone = measures(data)
    assert found["strong"] > 0.5 > found["weak"] > 0.05 > found["noise"]
    assert alone.of(np.ones(4, dtype=bool)) == pytest.approx(sum(found.values()))
    assert measures(data.assign(y=data["y"] / 99))[0] == pytest.approx(found)
    inside = data["y"] - data.groupby("levels")["y"].transform("mean")
    assert found["levels"] == pytest.approx(
        1 - inside.var(ddof=data["levels"].nunique()) / data["y"].var()
    )
    with_copy, _ = measures(data.assign(noise=np.exp(data["strong"])))
    assert with_copy["noise"] == with_copy["strong"]
    of_clusters, _ = measures(data, np.arange(400) // 20)  # each counts as one row
    assert of_clusters["weak"] < found["weak"]
    gaps = np.arange(400) % 5 == 0  # eighths of a number and its missing values are told as levels
    eighths = pd.Series(x[:, 0])[~gaps].rank().sub(1) // 40
    found, _ = measures(
        data[["y"]].assign(number=np.where(gaps, np.nan, x[:, 0]), level=eighths.astype(str))
    )
    assert found["number"] == pytest.approx(found["level"])


def test_of_very_many_units_a_forest_is_grown_on_those_that_pass(monkeypatch):
    """The others follow, in the order of the gains of their first splits."""
    monkeypatch.setattr(judging, "_CELLS", 600)
    monkeypatch.setattr(judging, "_LEAST", 1)
    task = task_of(normal(1, 300, "abcde", a=2, b=1, c=0.4), MRMR())
    forests = judging.GainForests(task, judging.rows_to_judge(task))
    gains = forests.of_all(truth_of(task.problem, task.weight), "gains", 20)
    a, b, c, *others = gains
    assert a > b > 0
    assert -1 > c > max(others)
    assert min(others) >= -2


# --- FCBF ---


def listing(relevance, pairs, delta):
    """The algorithm as the paper lists it, line by line."""
    listed = [i for i in range(len(relevance)) if relevance[i] >= delta]
    listed.sort(key=lambda i: -relevance[i])
    first = listed[0] if listed else None
    while first is not None:
        following = [j for j in listed if listed.index(j) > listed.index(first)]
        for other in following:
            if pairs[first, other] >= relevance[other]:
                listed.remove(other)
        after = [j for j in listed if listed.index(j) > listed.index(first)]
        first = after[0] if after else None
    return listed


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_listing_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 25)) + rng.normal(size=(300, 25))
    response = np.searchsorted([-1, 1], x[:, 0] + x[:, 5] + rng.normal(size=300))
    cells = [np.searchsorted([-2, -0.5, 0.5, 2], column) for column in x.T]
    units = filters.Uncertainties(cells, response, np.ones(300))
    relevance = units.relevance()
    pairs = np.array([units.between(i, np.arange(25)) for i in range(25)])
    nothing = np.zeros(25, dtype=bool)
    for delta in (1e-9, 0.03):
        wanted = listing(relevance, pairs, delta)
        ranking = np.argsort(-relevance, kind="stable")
        ranking = ranking[relevance[ranking] >= delta]
        assert filters.predominant(units, relevance, ranking, nothing, 25).tolist() == wanted
        assert filters.predominant(units, relevance, ranking, nothing, 2).tolist() == wanted[:2]


def test_steps_have_the_least_relevance_and_the_summary_says_where_the_path_ends(linear):
    fit = treeselect.select("y ~ a + near + site", linear, method="fcbf", k=3, seed=1)
    assert fit.k == 2
    said = " ".join(fit.summary().as_text().split())
    assert "enter the path: by symmetrical uncertainty, the others are irrelevant" in said
    task = task_of(linear, FCBF())
    relevance = filters.uncertainties(task.problem, task.weights, 10).relevance()
    for step in FCBF().path(task)[1:]:
        assert step.tuning == relevance[step.selected].min()


@pytest.mark.parametrize(
    ("keep", "others"), [(["near", "n0"], {"a", "site"}), (["a", "n0"], {"site"})]
)
def test_kept_units_let_weaker_ones_go(linear, keep, others):
    task = task_of(linear, FCBF(), keep=keep)
    steps = FCBF().path(task)
    assert steps[0].size == 2
    came = names_of(task, steps[-1].selected) - set(keep)
    assert others <= came
    assert "near" not in came


def test_thousands_of_columns():
    """Pairs are looked at as they are needed: 3000 units have more than four million."""
    rng = np.random.default_rng(2)
    x = rng.integers(4, size=(100, 3000))
    units = filters.Uncertainties(list(x.T), (x[:, 7] + x[:, 11] > 3).astype(int), np.ones(100))
    looked_at = []
    between = units.between
    units.between = lambda unit, others: looked_at.append(len(others)) or between(unit, others)
    relevance = units.relevance()
    ranking = np.argsort(-relevance, kind="stable")
    found = filters.predominant(units, relevance, ranking[relevance[ranking] > 0], x[0] < 0, 10)
    assert set(found[:2]) == {7, 11}
    assert sum(looked_at) < 10 * 3000


# --- CFS ---


def tables(task):
    """Symmetrical uncertainty of each unit with the response, and of each pair."""
    units = filters.uncertainties(task.problem, task.weights, 10)
    n = len(task.problem.groups.names)
    return units, units.relevance(), np.array([units.between(i, np.arange(n)) for i in range(n)])


def merit(units, relevance, pairs):
    """Eq. 1 of the paper, as it stands there."""
    k = len(units)
    mean_response = np.mean([relevance[i] for i in units])
    mean_pairs = np.mean([pairs[i, j] for i, j in itertools.permutations(units, 2)] or [0.0])
    return k * mean_response / np.sqrt(k + k * (k - 1) * mean_pairs)


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_the_best_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(150, 7)), columns=list("abcdefg"))
    data["b"] += data["a"]
    data["y"] = data["a"] + data["b"] + data["c"] - data["d"] + rng.normal(size=150)
    task = task_of(data, CFS())
    units, relevance, pairs = tables(task)
    search = filters.MeritSearch(units, task.problem.groups, seed, 0.0)
    subsets = [s for k in range(1, 8) for s in itertools.combinations(range(7), k)]
    best = max(subsets, key=lambda s: merit(s, relevance, pairs))
    assert search.best().units == best
    assert search.best().merit == pytest.approx(merit(best, relevance, pairs), abs=1e-10)
    found = search.of_each_size(7)
    assert [len(one.units) for one in found] == list(range(8))
    for one in found[1:]:
        assert one.merit == pytest.approx(merit(one.units, relevance, pairs), abs=1e-10)
        of_size = [s for s in subsets if len(s) == len(one.units)]
        assert one.merit >= 0.97 * max(merit(s, relevance, pairs) for s in of_size)


def test_the_search_looks_past_the_best_unit():
    """`c` is the best alone, `a` and `b` are the best two: from `c` on there is nothing better."""
    a, b, noise = np.random.default_rng(1).integers(2, size=(3, 400))
    response = 2 * a + b
    c = np.where(np.random.default_rng(2).random(400) < 0.9, response, 3 - response)
    units = filters.Uncertainties([a, b, c, noise], response, np.ones(400))
    data = pd.DataFrame({**dict.fromkeys("abcd", noise * 1.0), "y": noise * 1.0})
    search = filters.MeritSearch(units, task_of(data, CFS()).problem.groups, 1, 0.0)
    assert [one.units for one in search.of_each_size(2)][1:] == [(2,), (0, 1)]
    assert search.relevance.argmax() == 2


def test_a_gain_takes_the_set_of_the_path_that_is_worth_it(linear):
    task = task_of(linear.assign(y=linear["y"] - linear["a"]), CFS())
    _, relevance, pairs = tables(task)
    steps = CFS().path(task)
    merits = [0.0] + [merit(np.flatnonzero(s.selected), relevance, pairs) for s in steps[1:]]
    chosen = []
    for gain in (1.0, 0.1, 0.0, -0.02, -1.0):
        (one,) = CFS(gain=gain).path(task)
        best = int(np.argmax(np.array(merits) - gain * np.arange(7)))
        np.testing.assert_array_equal(one.selected, steps[best].selected)
        chosen.append(one.size)
    assert chosen[0] == 0
    assert chosen[-1] == 6
    assert chosen == sorted(chosen)
