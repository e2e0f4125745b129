"""Stepwise regression: R's step(), statsmodels, known truth, and what its options mean."""

import dataclasses
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from tasks import names_of, sizes_of, task_of, with_problem

import treeselect
from treeselect import Stepwise
from treeselect.algorithms.linear.stepwise import Search
from treeselect.designs.families import BINOMIAL, GAUSSIAN, POISSON, multinomial
from treeselect.errors import MethodError

REFERENCE = Path(__file__).parents[1] / "reference"
"""What R's step() did, and the script that wrote it down."""

TERMS = ["x1", "x2", "x3", "x4", "x5", "sum", "site", "shade", "lot"]
FAMILIES = {
    "number": GAUSSIAN, "two": BINOMIAL, "three": multinomial(3), "count": POISSON,
    "timed": POISSON,
}  # fmt: skip
RESPONSES = pytest.mark.parametrize("response", FAMILIES)


@pytest.fixture(scope="module")
def data():
    return pd.read_csv(REFERENCE / "stepwise_data.csv")


FORMULA = f"number ~ {' + '.join(TERMS)}"


def new_task(data, formula=FORMULA, **arguments):
    return task_of(data, Stepwise(), formula, **{"max_size": 4, "seed": 1} | arguments)


@pytest.fixture(scope="module")
def task(data):
    return new_task(data)


def of_response(task, data, response):
    is_timed = response == "timed"
    return with_problem(
        task, y=data["count" if is_timed else response].to_numpy(float), family=FAMILIES[response],
        offset=data["log_time"].to_numpy() if is_timed else None,
    )  # fmt: skip


def of_size(task, max_size):
    return dataclasses.replace(task, max_size=max_size)


@pytest.mark.parametrize("direction", ["forward", "both", "backward"])
@RESPONSES
def test_every_step_is_that_of_r(task, data, response, direction):
    runs = pd.read_csv(REFERENCE / "stepwise.csv")
    runs = runs[(runs["response"] == response) & (runs["direction"] == direction)]
    assert len(runs) == (1 if response == "three" else 2)
    here = of_response(task, data, response)
    for _, run in runs.iterrows():
        method = Stepwise(
            penalty=2 if run["criterion"] == "aic" else np.log(150), direction=direction
        )
        search = Search(here, method)
        fits = search.falling()
        units = np.array(here.problem.groups.names)[search._order]
        moves = []
        for before, after in pairwise(fits):
            (unit,) = units[before.groups != after.groups]
            moves.append(("+" if after.groups.sum() > before.groups.sum() else "-") + unit)
        assert moves == run["moves"].split()
        null = search._glm.fit(np.zeros(len(TERMS), dtype=bool))
        values = [search.criterion(fit) - search.criterion(null) for fit in fits]
        # R wrote six digits.
        np.testing.assert_allclose(values, [float(v) for v in run["values"].split()], atol=2e-6)
        (step,) = method.path(of_size(here, 1))
        assert names_of(here, step.selected) == set(run["terms"].split())
        assert step.tuning == method.penalty


def misfit_by_statsmodels(response, data, terms):
    """-2 log-likelihood, up to a constant, and number of coefficients."""
    parts = [pd.get_dummies(data[t], drop_first=True, dtype=float) if data[t].dtype.kind not in "fi"
             else data[[t]] for t in terms]  # fmt: skip
    x = np.column_stack([np.ones(len(data)), *parts])
    y = data["count" if response == "timed" else response]
    if response == "number":
        return len(y) * np.log(sm.OLS(y, x).fit().ssr / len(y)), x.shape[1]
    if response == "three":
        return -2 * sm.MNLogit(y, x).fit(disp=0, tol=1e-12).llf, 2 * x.shape[1]
    family = sm.families.Binomial() if response == "two" else sm.families.Poisson()
    offset = data["log_time"] if response == "timed" else None
    return sm.GLM(y, x, family, offset=offset).fit(tol=1e-12).deviance, x.shape[1]


@RESPONSES
def test_the_forward_path_is_that_of_a_naive_twin(task, data, response):
    here = of_response(task, data, response)
    steps = Stepwise(direction="forward").path(here)
    known, fits = [], [misfit_by_statsmodels(response, data, [])]
    for step in steps[1:]:
        tried = {}
        for term in sorted(set(TERMS) - set(known)):
            misfit, n_coefs = misfit_by_statsmodels(response, data, [*known, term])
            tried[term] = misfit + np.log(150) * n_coefs, misfit, n_coefs
        known.append(min(tried, key=lambda term: tried[term][0]))
        fits.append(tried[known[-1]][1:])
        assert names_of(here, step.selected) == set(known)
        worth = [(a - fits[-1][0]) / (fits[-1][1] - n) for a, n in fits[:-1]]
        assert step.tuning == pytest.approx(min([steps[len(known) - 1].tuning, *worth]), rel=1e-5)
        rises = {
            term: misfit_by_statsmodels(response, data, [t for t in known if t != term])[0]
            - fits[-1][0]
            for term in known
        }
        for term, rise in rises.items():
            at = here.problem.groups.names.index(term)
            assert step.importance[at] == pytest.approx(rise / sum(rises.values()), abs=1e-5)


def test_going_back_finds_sets_that_are_no_worse_of_any_size(task, data):
    for response in ("number", "two", "count"):
        here = of_response(task, data, response)
        best = {}
        for direction in ("forward", "both", "backward"):
            search = Search(here, Stepwise(direction=direction))
            found = search.of_each_size(6)
            best[direction] = np.array([search.criterion(found[size]) for size in range(6)])
            steps = search.steps(found, 5)
            assert sizes_of(steps) == list(range(6))
            tunings = [step.tuning for step in steps]
            assert tunings[0] == np.inf
            assert tunings == sorted(tunings, reverse=True)
        assert (best["both"] <= best["forward"] + 1e-6).all()
    number = of_response(task, data, "number")
    both, forward = (Stepwise(direction=d).path(number)[4] for d in ("both", "forward"))
    assert names_of(number, both.selected) == {"x1", "x2", "x3", "site"}
    assert "sum" in names_of(number, forward.selected)


@pytest.mark.parametrize("response", ["number", "two"])
def test_where_all_is_explained_the_path_ends(data, response):
    """Without a warning; classes that are told apart have no best coefficients."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(80, 30))
    frame = pd.DataFrame(x, columns=[f"v{j}" for j in range(30)])
    line = 3 * x[:, 0] - 2 * x[:, 1]
    frame["y"] = line if response == "number" else (line > 0).astype(int)
    fit = treeselect.select("y ~ .", frame, method="stepwise", k=6, seed=1)
    assert set(fit.selected) == {"v0", "v1"}
    assert fit.path["train_score"].iloc[-1] == pytest.approx(1.0)
    again = treeselect.select("y ~ .", frame, method="stepwise", penalty=2, seed=1)
    assert set(again.selected) == {"v0", "v1"}


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 300))
    data = pd.DataFrame(x, columns=[f"v{j}" for j in range(300)])
    for y in (x[:, :3].sum(axis=1) + rng.normal(size=100), x[:, :3].sum(axis=1) > 0.3):
        fit = treeselect.select("y ~ .", data.assign(y=y), method="stepwise", k=3, seed=1)
        assert set(fit.selected) == {"v0", "v1", "v2"}
    with pytest.raises(MethodError, match="which must leave degrees of freedom"):
        treeselect.select(
            "y ~ .", data.assign(y=y), method="stepwise", direction="backward", k=3, seed=1
        )


@pytest.mark.parametrize("is_class", [False, True])
def test_all_levels_of_factors_may_be_as_many_as_rows(is_class):
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.integers(0, 2, (40, 20))).add_prefix("f")
    y = 2 * numbers["f0"] + rng.normal(size=40)
    factors = numbers.replace({0: "no", 1: "yes"})
    one, other = (
        treeselect.select(
            "y ~ .", data.assign(y=y > 1 if is_class else y), method="stepwise",
            direction="backward", penalty=2.0, seed=1,
        )
        for data in (numbers, factors)
    )  # fmt: skip
    assert one.selected == other.selected


@pytest.mark.parametrize("direction", ["both", "backward"])
def test_copies_never_come_both_and_share_places_across_seeds(data, direction):
    some = data[["number", "x1", "x2"]].assign(copy=data["x1"])
    task, found = new_task(some, "number ~ ."), set()
    for seed in range(12):
        method = Stepwise(penalty=2.0, direction=direction)
        (step,) = method.path(dataclasses.replace(task, seed=seed))
        assert len(names_of(task, step.selected) & {"x1", "copy"}) == 1
        assert step.size == 2
        found |= names_of(task, step.selected)
    assert found == {"x1", "copy", "x2"}


def test_a_missing_value_is_a_column_of_its_unit(data):
    """What is missing tells the response, and the other values do not."""
    gone = data["number"] > 0.5
    frame = data.assign(holes=np.where(gone, np.nan, data["x4"]))
    task = new_task(frame, "number ~ holes + x1 + shade")
    search = Search(task, Stepwise())
    at = np.flatnonzero(search._order == task.problem.groups.names.index("holes"))
    null = search._glm.fit(np.zeros(3, dtype=bool))
    misfit, added = search._glm.additions(null, at)
    filled = frame["holes"].fillna(np.sort(frame["holes"].dropna())[(~gone).sum() // 2])
    twin = sm.OLS(frame["number"], sm.add_constant(np.column_stack([filled, gone * 1.0]))).fit()
    assert added[0] == 2
    assert misfit[0] == pytest.approx(150 * np.log(twin.ssr / 150), rel=1e-3)
    assert names_of(task, Stepwise().path(of_size(task, 1))[1].selected) == {"holes"}


def test_a_penalty_of_nothing_takes_all_and_a_high_one_none(task, data):
    here = of_response(task, data, "two")
    for penalty, size in ((0.0, 9), (1e6, 0)):
        (step,) = Stepwise(penalty=penalty).path(of_size(here, 3))
        assert step.size == size
