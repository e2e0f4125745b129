"""Times to an event: what each method makes of them, and what must not matter to it."""

import dataclasses
import functools

import numpy as np
import pandas as pd
import pytest
from drawn_times import survival_rows
from naive_survival import cox
from scipy.stats import spearmanr
from sklearn.feature_selection import SelectKBest, f_regression
from tasks import task_of, with_problem, with_weights

import treeselect
from treeselect import GBFS, RRF
from treeselect.algorithms.foreign import ForeignSelector
from treeselect.algorithms.linear.stepwise import Search, Stepwise
from treeselect.algorithms.registry import METHODS
from treeselect.engine.forest.bagging import BOOTSTRAP, bagged_forest
from treeselect.engine.forest.boosting import Boosting, boost
from treeselect.engine.losses import GradientOnly
from treeselect.engine.random import stream_seed
from treeselect.engine.sparse.weights import SparseForest, TreeColumns
from treeselect.engine.survival.cox import CoxLoss
from treeselect.engine.survival.times import EVENT, STOP, STRATUM
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.target import mean_target
from treeselect.engine.tree.workspace import BEST_FIRST, BREADTH_FIRST, UNBOUNDED, Growth
from treeselect.errors import MethodError

FEW = {"n_trees": 20}
OPTIONS = {
    "controlburn": {"forests": 1},
    "rrf": FEW, "grrf": FEW, "importance": FEW, "rfe": FEW, "varselrf": FEW, "gbfs": FEW,
    "rboost": {"n_trees": 10}, "boruta": {"n_trees": 20, "max_rounds": 20},
}  # fmt: skip
ALL = [kind(**OPTIONS.get(name, {})) for name, kind in METHODS.items()]
ALL.append(ForeignSelector(SelectKBest(f_regression)))
EVERY = pytest.mark.parametrize("number", range(len(ALL)), ids=[m.name for m in ALL])
SIGNAL = {"x0", "x1"}


def frame(n=300):
    """`x0` and `x1` carry the hazard; times don't tie, some rows have no weight."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(5)})
    data["f"] = pd.Categorical(rng.choice(list("abc"), n))
    time = 100 * rng.exponential(size=n) * np.exp(1.6 * data["x1"] - 1.8 * data["x0"])
    seen = rng.exponential(scale=250, size=n)
    data["time"], data["event"] = np.minimum(time, seen), time <= seen
    data["times"] = rng.integers(0, 3, n)
    return data


FORMULA = "Surv(time, event) ~ . - times"


@functools.cache
def task_for(number, reordered=False):
    """What a method sees; a third of the rows has no weight."""
    data = frame()
    given = data[data.columns[::-1]] if reordered else data
    task = task_of(given, ALL[number], FORMULA, max_size=2, seed=4)
    return with_weights(task, data["times"].to_numpy(copy=True))


def told(number, task):
    """What there is in each step."""
    names = np.array(task.problem.groups.names)
    return [
        (sorted(names[step.selected]), dict(zip(names, step.importance, strict=True)), step)
        for step in ALL[number].path(task)
    ]


@functools.cache
def plain(number):
    return told(number, task_for(number))


@EVERY
def test_what_carries_the_hazard_is_found_in_any_order_of_the_columns(number):
    first = next(names for names, _, _ in plain(number) if len(names) >= 2)
    assert set(first) >= SIGNAL
    found = told(number, task_for(number, reordered=True))
    for (names, importance, _), (own, there, _) in zip(found, plain(number), strict=True):
        assert names == own
        assert importance == pytest.approx(there, abs=1e-6)


@EVERY
def test_order_of_times_alone_matters_and_rows_with_weight_and_not_the_threads(number):
    """Other units, a rising transformation, the number of the stratum, rows of weight 0."""
    task = task_for(number)
    y = task.problem.y.copy()
    y[:, STOP] = 3 * np.sqrt(y[:, STOP])
    y[:, STRATUM] = 2.0
    left_out = task.weight == 0
    y[left_out, STOP] = y[left_out, STOP][::-1]
    y[left_out, EVENT] = 1 - y[left_out, EVENT]
    found = told(number, dataclasses.replace(with_problem(task, y=y), n_threads=2))
    for (names, importance, step), (own, there, was) in zip(found, plain(number), strict=True):
        assert names == own
        assert importance == pytest.approx(there, abs=1e-9)
        assert step.train_score == pytest.approx(was.train_score, nan_ok=True)


@pytest.fixture(scope="module")
def task():
    return task_of(frame(), RRF(), FORMULA, max_size=6, seed=5)


def test_rrf_at_lambda_1_is_the_plain_forest_on_martingale_residuals(task):
    problem, weight = task.problem, task.weights.values
    method = RRF(
        lam=1.0, mtry=6, ties="random", replace=True, sample_fraction=1.0, screen=False, n_trees=30
    )
    (step,) = method.path(task)
    residual = cox(problem.y, weight.astype(float), np.zeros(len(problem.y))).gradient * -1
    forest = bagged_forest(
        problem.exact, mean_target(residual), weight, n_trees=30,
        growth=Growth(UNBOUNDED, 1, 6, 0.0, order=BREADTH_FIRST, random_ties=True),
        seed=stream_seed(5, "trees", 0), rank=problem.groups.ranks(5), sampling=BOOTSTRAP,
    ).trees  # fmt: skip
    gains = group_gains(forest, problem.exact).sum(axis=0)
    np.testing.assert_allclose(step.importance, gains / gains.sum(), atol=0.01)


def test_bic_counts_events():
    own = task_of(frame(), Stepwise(), FORMULA)
    assert Search(own, Stepwise())._penalty == pytest.approx(np.log(own.problem.y[:, EVENT].sum()))


def rules(n_trees, max_leaves=16):
    growth = Growth(4, 1, UNBOUNDED, 0.0, order=BEST_FIRST, max_leaves=max_leaves)
    return Boosting(n_trees, 0.1, growth)


@pytest.mark.parametrize("newton", [True, False])
def test_gbfs_at_a_price_of_0_is_plain_boosting_of_the_partial_likelihood(task, newton):
    problem, weight = task.problem, task.weights.values
    loss = problem.family.loss if newton else GradientOnly(problem.family.loss)
    method = GBFS(mu=0.0, n_trees=15, prune=False, newton=newton)
    found = method.path(task)[-1]
    trees = boost(
        problem.data, loss, problem.y, weight, problem.constant(weight), rules(15), seed=5,
        rank=problem.groups.ranks(5),
    ).trees  # fmt: skip
    gains = group_gains(trees, problem.data).sum(axis=0)
    np.testing.assert_allclose(found.importance, gains / gains.sum(), rtol=1e-12)


def test_the_lasso_over_trees_is_at_its_optimum():
    """The gradient is that of the naive partial likelihood, with ties, late entry and strata."""
    rng = np.random.default_rng(3)
    y, weight, offset = survival_rows(3, n=60, late=True, strata=2, weights="real", n_times=20)
    rows = np.flatnonzero(weight)
    leaves = [rng.integers(0, 4, len(y)).astype(np.uint16) for _ in range(15)]
    values = [rng.normal(size=(4, 1)) for _ in range(15)]
    columns = np.stack([v[leaf, 0] for v, leaf in zip(values, leaves, strict=True)])[:, rows]
    price = rng.integers(1, 4, 15) * 1.0
    y, weight, base = y[rows], weight[rows], 0.3 * offset[rows]
    forest = SparseForest(
        TreeColumns(leaves, values, rows, 1), CoxLoss(), y, weight, base, price, tolerance=1e-9
    )
    solution = forest.empty()
    for share in (0.5, 0.1):
        solution = forest.solve(share * forest.largest_lam(forest.empty()), solution)
        down = -columns @ cox(y, weight, solution.eta).gradient / weight.sum()
        excess = down - solution.lam * price
        used = solution.weights > 0
        assert used.any()
        np.testing.assert_allclose(excess[used], 0, atol=1e-8)
        assert excess.max() <= 1e-8


@pytest.mark.parametrize(
    "method",
    [treeselect.ForestImportance(**FEW), treeselect.ControlBurn(forests=1, refit=None)],
    ids=lambda method: method.name,
)
def test_who_has_more_to_fear_has_a_higher_prediction(method):
    data = frame()
    fit = treeselect.select("Surv(time, event) ~ x0 + x1 + x2", data, method=method, k=2, seed=1)
    risk = np.asarray(fit.predict(data))
    assert (risk > 0).all()
    assert spearmanr(risk, 1.8 * data["x0"] - 1.6 * data["x1"]).statistic > 0.7


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (treeselect.ControlBurn(loss="hinge"), "needs a binary response"),
        (treeselect.ControlBurn(sketch=50, sketch_kind="gaussian"), "needs the squared error"),
        (RRF(criterion="entropy", gain="decrease"), "needs a response with classes"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_has_no_meaning_for_times_is_refused(method, says):
    with pytest.raises(MethodError, match=says):
        treeselect.select("Surv(time, event) ~ x0 + x1", frame(), method=method, k=1, seed=1)
