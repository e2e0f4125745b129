"""Exchange search, and the record of a search."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from quick import normal
from tasks import task_of

import treeselect
from treeselect.algorithms.search import exchange
from treeselect.algorithms.search.exchange import ExchangeSearch, per_price
from treeselect.algorithms.search.judging import GainForests, Judge, rows_to_judge
from treeselect.algorithms.search.revision import BackwardPass
from treeselect.algorithms.task import MOST_RIVALS, Rival, step_of_size, trace_of
from treeselect.errors import OptionError


def select(data, k, **arguments):
    return treeselect.select(
        "y ~ .", data, **{"method": "exchange", "k": k, "seed": 1, **arguments}
    )


def pair(n=300, n_noise=8):
    """Two columns that tell nothing one by one, and everything together."""
    x = np.random.default_rng(5).normal(size=(n, 2 + n_noise))
    data = pd.DataFrame(x, columns=[f"x{j:02}" for j in range(2 + n_noise)])
    return data.assign(y=((x[:, 0] > 0) != (x[:, 1] > 0)).astype(int))


def trio(seed, n=600, n_noise=9):
    """Three columns of which no two tell anything."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3 + n_noise))
    data = pd.DataFrame(x, columns=[f"x{j:02}" for j in range(3 + n_noise)])
    odd = (x[:, :3] > 0).sum(axis=1) % 2
    return data.assign(y=(rng.random(n) < 0.1 + 0.8 * odd).astype(int))


def binary_beside_noise(seed, n=460):
    """A number, a binary column, and seven columns of noise."""
    rng = np.random.default_rng(seed)
    x, b = rng.normal(size=n), rng.integers(2, size=n)
    noise = {f"z{j}": rng.normal(size=n) for j in range(7)}
    y = rng.random(n) < 1 / (1 + np.exp(-(1.2 - 0.9 * x - b)))
    return pd.DataFrame({"x": x, "b": b, **noise, "y": y.astype(int)})


def near_copies(n=300, apart=0.1):
    """Three columns that matter, the third least, and near copies of the first two."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 7))
    data = pd.DataFrame(x, columns=[f"x{j}" for j in range(7)])
    for j in (0, 1):
        data[f"near{j}"] = x[:, j] + apart * rng.normal(size=n)
    return data.assign(y=2 * x[:, 0] + 2 * x[:, 1] + 0.7 * x[:, 2] + 0.5 * rng.normal(size=n))


@pytest.mark.parametrize("n_kept", [2, 5])
def test_elimination_has_each_unit_once_however_many_are_kept(n_kept):
    names = [f"x{j:02}" for j in range(12)]
    data = normal(0, 80, names, x00=1)
    task = task_of(data, ExchangeSearch(), keep=names[-n_kept:])
    order = exchange.Search(task, 10, 1.0)._eliminated()
    assert sorted(order.tolist()) == list(range(12))


def test_age_shows_beside_sex_class_and_fare_where_not_all_terms_are_tried_at_each_split():
    titanic = treeselect.datasets.load("titanic")
    task = task_of(titanic, ExchangeSearch(), "survived ~ sex + pclass + fare + age")
    every = np.ones(4, dtype=bool)
    without = np.array([name != "age" for name in task.problem.groups.names])
    judges = [
        [Judge(dataclasses.replace(task, seed=seed), n_trees, "sure") for seed in range(6)]
        for n_trees in (29, 100)
    ]
    all_tried, better = (sum(one.rise(without, every)[0] for one in own) for own in judges)
    assert better < 0 < all_tried


def test_pairs_and_a_binary_column_are_found_among_noise():
    assert set(select(pair(), 2).selected) == {"x00", "x01"}
    found = [select(binary_beside_noise(seed), 2).selected for seed in range(5)]
    assert sum(set(names) == {"x", "b"} for names in found) >= 4


def test_what_a_pair_tells_beside_single_columns_is_told_by_trees(monkeypatch):
    task = task_of(pair(), ExchangeSearch(), max_size=2, seed=1)
    search = exchange.Search(task)
    judge = search.judge
    both = np.isin(task.problem.groups.names, ["x00", "x01"])
    left = judge.residuals(both)
    assert judge.error(both) < 0.4 * judge.error(np.zeros_like(both))
    assert np.square(left).mean() == pytest.approx(judge.error(both), rel=0.1)
    assert np.abs(judge.of_trees(both)).mean() > 0.2
    gains = GainForests(task, judge.rows).among(judge.truth, both, "some", 30)
    assert np.isneginf(gains[~both]).all()
    assert (gains[both] > 0).all()
    assert len(np.unique(rows_to_judge(task, 100).places)) == 100
    one, (other,) = both & (np.cumsum(both) == 1), search.grown(both)
    assert (other.sum(), (other & both).sum()) == (3, 2)
    monkeypatch.setattr(search, "_is_long", True)
    assert len(search._not_hopeless([both], one)) == 1
    assert search._not_hopeless([one], both) == []
    for error, share in ((-0.1, 0.0), (0.0, 1.0)):  # a whole error of 1, and of 0
        told = {both.tobytes(): error, np.zeros_like(both).tobytes(): float(share == 0)}
        monkeypatch.setattr(judge, "error", lambda own, told=told: told[own.tobytes()])
        assert search.unexplained(both) == share


def test_on_few_rows_the_start_is_what_elimination_leaves(monkeypatch):
    """With a margin that nothing can beat, the start is the answer."""
    data = pair(n=99, n_noise=30)
    assert set(select(data, 2, margin=1e6).selected) == {"x00", "x01"}
    monkeypatch.setattr(exchange, "_FEW_ROWS", 99)
    assert set(select(data, 2, margin=1e6).selected) != {"x00", "x01"}
    assert set(select(data, 2).selected) == {"x00", "x01"}


def test_elimination_removes_a_third_at_a_time(monkeypatch):
    task = task_of(pair(n=99, n_noise=8), ExchangeSearch(), max_size=2, seed=1)
    search, sizes, among = exchange.Search(task), [], GainForests.among

    def noted(*given):
        sizes.append(given[2].sum())
        return among(*given)

    monkeypatch.setattr(GainForests, "among", noted)
    assert sorted(search._eliminated()) == list(range(10))
    assert sizes == [10, 7, 5, 4, 3, 2]


@pytest.mark.parametrize("seed", [0, 1])
def test_three_columns_that_tell_nothing_in_pairs_are_found(seed):
    assert set(select(trio(seed), 3).selected) == {"x00", "x01", "x02"}


def test_of_exact_copies_every_seed_takes_the_same_and_paths_end_without_progress():
    data = near_copies().assign(copy=lambda frame: frame["x0"])
    sets = {frozenset(select(data, 2, seed=seed).selected) for seed in range(5)}
    assert len(sets) == 1
    fit = select(binary_beside_noise(1, 300), "1se", folds=2)
    assert max(step.size for step in fit.search.steps) < 9
    assert fit.k <= 3


def test_copies_and_what_was_seen_of_a_set():
    found = select(near_copies(apart=0.02), 3)
    one, other = ({f"x{j}", f"near{j}"} & set(found.selected) for j in (0, 1))
    assert (len(one), len(other)) == (1, 1)
    assert "x2" in found.selected
    step = found.search.step
    cut = step_of_size([step], 2, np.zeros(len(step.selected), dtype=bool))
    assert (cut.size, cut.trace) == (2, None)
    task = task_of(near_copies(apart=0.02), ExchangeSearch(), max_size=3, seed=1)
    first, *others = BackwardPass(task).chain(step)
    assert first.trace is step.trace
    assert all(other.trace is None for other in others)


def test_the_trace_is_of_the_set():
    """From a set of noise, exchanges lead to what matters."""
    task = task_of(near_copies(apart=0.02), ExchangeSearch(), max_size=3, seed=1)
    search, names = exchange.Search(task), task.problem.groups.names
    step = search.improved(np.isin(names, ["x4", "x5", "x6"]))
    trace = search.trace(step)
    assert len(trace.exchanges) >= 3
    assert all(e.rise < -e.spread for e in trace.exchanges)
    assert step.selected[trace.exchanges[-1].into]
    assert not step.selected[trace.exchanges[-1].out]
    assert 1 <= trace.n_rivals <= trace.n_judged
    assert trace.n_judged >= 3
    for rival in trace.rivals:
        assert len(set(rival.units)) == step.size
        assert not step.selected[list(rival.units)].all()
        assert rival.rise <= rival.spread
    rises = [rival.rise for rival in trace.rivals]
    assert rises == sorted(rises)


def test_gains_per_price_and_what_is_left_out_are_said_truly():
    data = near_copies(60)[["x0", "x1", "y"]].assign(same=1.0)
    fit = select(data, 3)
    assert fit.k == 2
    assert any("only 2 enter the path: the others are constant" in n for n in fit.search.notes)
    gains = np.array([2.0, 2.0, -2.0, -2.0, 0.0, -np.inf, 1.0, -1.0])
    costs = np.array([1.0, 4.0, 1.0, 4.0, 3.0, 0.0, 0.0, 0.0])
    expected = [2.0, 0.5, -2.0, -8.0, 0.0, -np.inf, np.inf, 0.0]
    np.testing.assert_array_equal(per_price(gains, costs), expected)


def test_a_price_must_be_worth_it_and_a_share_of_the_error_or_a_size_decides():
    """A dear copy is not taken, and a dear column only if it tells more per price."""
    data = near_copies(200)
    dear = {"x0": 5.0, "x1": 5.0}
    assert {"near0", "near1"} <= set(select(data, 3, costs=dear).selected)
    assert "x2" not in select(data, 2, costs={"x2": 0.5}).selected
    same = select(data, 3, costs=dict.fromkeys(data.columns.drop("y"), 2.0))
    assert same.selected == select(data, 3).selected
    data = near_copies()
    half, twentieth = (select(data, None, unexplained=share) for share in (0.5, 0.05))
    assert half.k < twentieth.k
    assert half.search.step.tuning == 0.5
    assert half.search.step.notes == ()
    never = select(data, None, unexplained=1e-6)
    assert "No set on the path leaves at most 1e-06 of" in " ".join(
        never.summary().as_text().split()
    )
    with pytest.raises(OptionError, match=r"Give `unexplained`, or `k`."):
        select(near_copies(40), None)


def test_judges_are_made_once_and_half_samples_search_half_the_rows(monkeypatch):
    task_of_noise = task_of(normal(3, 150, "abcd", a=1), ExchangeSearch(), max_size=2, seed=1)
    once = task_of_noise.once(exchange.Search, None, 1.0)
    assert task_of_noise.once(exchange.Search, None, 1.0) is once
    assert task_of_noise.once(exchange.Search, None, 2.0) is not once
    other = dataclasses.replace(task_of_noise, seed=2)
    assert other.once(exchange.Search, None, 1.0) is not once
    monkeypatch.setattr(exchange, "SURE_ROWS", 100)
    half = dataclasses.replace(task_of_noise, n_judge_trees=15)
    assert len(exchange.Search(task_of_noise).judge.rows.places) == 100
    search = exchange.Search(half)
    assert len(search.judge.rows.places) == 50

    def improved(self, selected):
        raise AssertionError("an exchange")

    monkeypatch.setattr(exchange.Search, "improved", improved)
    found = list(search.growing(exchange.Found(search.first(0)), 2, search.best_of_size))
    assert [one.size for one in found] == [1, 2]


# --- The record of a search ---


def test_of_many_rivals_the_best_are_kept_and_all_counted():
    rivals = [Rival((unit,), unit / 1000, 0.5) for unit in range(2 * MOST_RIVALS)]
    trace = trace_of([], rivals, n_judged=200)
    assert trace.rivals == tuple(rivals[:MOST_RIVALS])
    assert (trace.n_rivals, trace.n_judged) == (2 * MOST_RIVALS, 200)


def test_scores_of_counts_out_of_bag_are_those_of_the_final_model_as_of_other_methods():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    data["y"] = rng.poisson(np.exp(-2 + data["a"] + 0.7 * data["b"]))
    own, other = (
        select(data, 2, family="poisson", method=method, model=model).glance()["train_score"].item()
        for method, model in (("exchange", None), ("mrmr", "stack"))
    )
    assert own == other > 0.1


@pytest.mark.parametrize("method", ["exchange", "importance"])
def test_scores_beside_an_offset_are_those_of_rates_out_of_bag_as_on_new_rows(method):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    years = rng.uniform(0.2, 8, 400)
    data["y"] = rng.poisson(years * np.exp(-1 + data["a"]))
    fit = treeselect.select(
        "y ~ .", data, method=method, k=1, family="poisson", offset=np.log(years), seed=1
    )
    null, own = fit.path["train_score"]
    assert own > null + 0.1
    assert own == pytest.approx(fit.performance(3).mean, abs=0.05)
