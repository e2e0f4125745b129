"""GBFS: limit cases, known truth, and what its options mean."""

import numpy as np
import pandas as pd
import pytest
from quick import normal
from tasks import task_of

import treeselect
from treeselect import GBFS
from treeselect.engine.forest.boosting import Boosting, boost
from treeselect.engine.losses import GradientOnly
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.workspace import BEST_FIRST, UNBOUNDED, Growth
from treeselect.errors import MethodError
from treeselect.models import boosting
from treeselect.models.boosting import Booster, Judge


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    """`x` and `y` matter together, `z` is their sum, the rest is noise."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(-1, 1, size=(600, 6)), columns=list("xyabcd"))
    data["z"] = data["x"] + data["y"]
    data["inside"] = (data["x"] ** 2 + data["y"] ** 2 < 0.6).astype(int)
    return data


FORMULA = "inside ~ . - z"


@pytest.fixture(scope="module")
def task(simulated):
    return task_of(simulated, GBFS(), FORMULA, max_size=9, seed=1)


def step(task, **options):
    return GBFS(**{"prune": False} | options).path(task)[-1]


def test_a_price_of_0_is_plain_boosting_and_one_is_paid_by_the_squared_error(task):
    problem, weight = task.problem, task.weight
    loss = problem.family.loss
    plain = boost(
        problem.data, GradientOnly(loss), problem.y, weight, problem.constant(weight),
        Boosting(25, 0.1, Growth(4, 1, UNBOUNDED, 0.0, order=BEST_FIRST, max_leaves=16)), seed=1,
        rank=problem.groups.ranks(1),
    )  # fmt: skip
    gains = group_gains(plain.trees, problem.data).sum(axis=0)
    found = step(task, mu=0.0, n_trees=25)
    np.testing.assert_array_equal(found.importance, gains / gains.sum())
    np.testing.assert_array_equal(found.selected, gains > 0)
    # Equation 14: a first tree of one split pays mu for half of sum (g - h)**2 / n.
    problem = task.problem
    gradient = problem.y - problem.y.mean()
    best = 0.0
    for codes in problem.data.codes:
        for code in np.unique(codes)[:-1]:
            left = codes <= code
            fitted = np.where(left, gradient[left].mean(), gradient[~left].mean())
            best = max(best, 0.5 * np.mean(gradient**2 - (gradient - fitted) ** 2))
    just = {"n_trees": 1, "max_depth": 1}
    assert step(task, mu=best * 1.001, **just).size == 0
    assert step(task, mu=best * 0.999, **just).size == 1
    path = GBFS(**just).path(task)
    assert path[0].tuning == pytest.approx(best, rel=1e-6)
    assert path[0].size == 0


def test_a_path_starts_with_what_is_kept_and_discounts_name_units(simulated):
    """Only below splits on `x` does `y` gain anything, and then more than any root."""
    data = simulated.assign(y=(simulated["x"] * simulated["y"] > 0) * 1.0, p=simulated["y"])
    method = GBFS(n_trees=30, prune=False)
    task = task_of(data, method, "y ~ x + p + a + b", keep=["x"], max_size=3, seed=1)
    assert [step.size for step in method.path(task)][:2] == [1, 2]
    # The first price was infinite, and no other left a set between one term and all of them.
    method = GBFS(n_trees=30, prune=False, discounts={("x", "y"): 0.0, ("y", "a"): 0.0})
    task = task_of(simulated, method, "inside ~ . - z", keep=["x"], max_size=6, seed=1)
    path = method.path(task)
    assert np.isfinite(path[0].tuning)
    assert path[0].size == 3 < path[1].size < 6
    method = GBFS(discounts={("x", "e"): 0.5})
    with pytest.raises(MethodError, match="Can't find `e`, named in `discounts`"):
        treeselect.select("inside ~ x + y", simulated, method=method, k=1)
    method = GBFS(discounts={("x", "y"): 0.5})
    assert method == GBFS(discounts=(("x", "y", 0.5),))
    assert hash(method) != hash(GBFS())


def test_the_two_that_matter_come_first(simulated):
    some = simulated.head(300)
    fit = treeselect.select("inside ~ . - z", some, method="gbfs", k=2, seed=1, n_trees=60)
    assert set(fit.selected) == {"x", "y"}
    assert fit.search.step.cut_from is None
    assert "training rows, before the backward pass" in " ".join(str(fit.summary()).split())
    chosen = treeselect.select("inside ~ . - z", some, method="gbfs", seed=1, n_trees=30, folds=2)
    assert set(chosen.selected) == {"x", "y"}


def test_one_bag_with_everything_costs_one_mu_and_each_split_keeps_fewer(simulated, task):
    names = task.problem.groups.names
    groups = {"all": list("xyabcd")}
    bag = task_of(simulated, GBFS(), FORMULA, max_size=9, seed=1, groups=groups)
    grouped = step(bag, mu=0.001, n_trees=20)
    assert grouped.size == 1
    free = step(task, mu=0.0, n_trees=20)
    assert grouped.train_score == pytest.approx(free.train_score, abs=1e-6)
    assert step(bag, mu=10.0, n_trees=20).size == 0
    both_ways = {(a, b): 0.0 for a in names for b in names if a != b}
    found = step(task, mu=0.01, n_trees=20, discounts=both_ways)
    grouped = step(bag, mu=0.01, n_trees=20)
    assert found.train_score == pytest.approx(grouped.train_score, abs=1e-9)
    assert found.size > step(task, mu=0.01, n_trees=20).size
    once, each = (
        sum(step(task, mu=mu, n_trees=60, charge_each_split=own).size for mu in (1e-3, 2e-3, 3e-3))
        for own in (False, True)
    )
    assert each <= once
    free = [step(task, mu=0.0, n_trees=9, charge_each_split=own) for own in (False, True)]
    assert free[0].train_score == pytest.approx(free[1].train_score)


def test_validation_stops_before_all_trees_are_grown(monkeypatch):
    task, seen, curves = task_of(normal(0, 200, "abc", a=1), GBFS(), seed=1), [], []
    curve_of = Booster._curve

    def counting(*args, **kwargs):
        seen.append(args[5].n_trees)
        return boost(*args, **kwargs)

    def kept(*args):
        curves.append(curve_of(*args))
        return curves[-1]

    monkeypatch.setattr(boosting, "boost", counting)
    monkeypatch.setattr(Booster, "_curve", kept)
    GBFS(mu=0.0).path(task)
    shared = min(len(curve) for curve in curves)
    # Place 0 of a curve is the null model, so the place of the least loss is a number of rounds.
    assert seen[5] == np.argmin(sum(np.array(curve[:shared]) for curve in curves)) > 1
    GBFS(mu=0.0, max_depth=None).path(task)
    assert seen[:5] == [2000] * 5  # five splits of few rows
    assert seen[5] < 200
    assert seen[6:21] == [2000] * 15  # for each of three depths
    assert seen[21] < 200


@pytest.mark.parametrize(("added", "ends"), [(1e-4, True), (1e-2, False)])
def test_boosting_ends_where_fifty_rounds_add_next_to_nothing(added, ends):
    judge = object.__new__(Judge)
    judge.losses = [1.0, *np.linspace(0.5, 0.5 - added, 51)]
    assert judge._hardly_falls(51) == ends
    judge.losses = judge.losses[:50]
    assert not judge._hardly_falls(49)
