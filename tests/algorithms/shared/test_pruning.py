"""The backward pass: what is not missed goes, what is missed stays."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.algorithms.registry import METHODS
from treeselect.algorithms.search.revision import BackwardPass
from treeselect.algorithms.task import Step, Task
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    """`x` and `y` decide together; `z` is their sum, `noise` is none of both."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(-1, 1, size=(400, 3)), columns=["x", "y", "noise"])
    data["z"] = data["x"] + data["y"]
    data["four"] = ((data["x"] > 0) != (data["y"] > 0)).astype(int)
    data["sum"] = 3 * data["x"] + data["y"] + 0.3 * rng.normal(size=400)
    return data


def everything(fit) -> Step:
    n = len(fit.data.design.arrays.groups.names)
    return Step(0.0, np.ones(n, dtype=bool), np.full(n, 1 / n), 0.0)


@pytest.mark.parametrize(
    ("formula", "left"),
    [("four ~ x + y + z + noise", {"x", "y"}), ("sum ~ x + y + noise", {"x", "y"})],
)
def test_what_is_not_missed_goes(simulated, formula, left):
    fit = treeselect.select(
        formula, simulated, method="controlburn", k=1, seed=1, forests=1, n_trees=1
    )
    problem, weight = fit.data.design.problem, fit.data.design.weight
    pruned = BackwardPass(Task(problem, row_weights(weight), max_size=9, seed=3)).chain(
        everything(fit)
    )[-1]
    names = np.array(problem.groups.names)
    assert set(names[pruned.selected]) == left
    assert pruned.importance.sum() == pytest.approx(1.0)
    again = BackwardPass(Task(problem, row_weights(weight), max_size=9, seed=3)).chain(pruned)[-1]
    np.testing.assert_array_equal(again.selected, pruned.selected)


def test_kept_units_stay_and_one_unit_is_left(simulated):
    fit = treeselect.select(
        "four ~ z + noise",
        simulated,
        method="controlburn",
        k=1,
        seed=1,
        forests=1,
        n_trees=1,
        keep="noise",
    )
    problem, weight = fit.data.design.problem, fit.data.design.weight
    pruned = BackwardPass(Task(problem, row_weights(weight), max_size=9, seed=3)).chain(
        everything(fit)
    )[-1]
    names = np.array(problem.groups.names)
    assert "noise" in names[pruned.selected]


@pytest.mark.parametrize("method", [name for name in METHODS if name != "exchange"])
def test_every_other_method_can_end_with_it(simulated, method):
    own = {
        "controlburn": {"forests": 1, "n_trees": 20},
        "lasso": {},
        "mrmr": {},
        "cfs": {},
        "fcbf": {},
        "hsic_lasso": {},
        "boruta": {"max_rounds": 12, "n_trees": 20},
        "svm_rfe": {},
        "stepwise": {},
    }
    few = own.get(method, {"n_trees": 20})
    fit = treeselect.select(
        "four ~ x + y + z + noise", simulated, method=method, k=2, seed=1, prune=True, **few
    )
    if method in ("fcbf", "hsic_lasso"):  # see no pairs, and may find no second one
        assert "z" in fit.selected
        assert not {"x", "y"} & set(fit.selected)
        return
    assert fit.k == 2
    assert "noise" not in fit.selected
    if method not in ("grrf", "lasso", "stepwise"):  # whose paths meet another pair first
        assert set(fit.selected) == {"x", "y"}
    sizes = [step.size for step in fit.search.steps]
    assert sizes == sorted(set(sizes))
    tuned = {
        "controlburn": {"lam": 1e-4}, "gbfs": {"mu": 0.0}, "grrf": {"gamma": 0.0},
        "importance": {"threshold": 0.0}, "rfe": {"share": 1.0},
        "lasso": {"lam": 1e-4}, "boruta": {"level": 0.99},
        "mrmr": {"threshold": -10.0}, "cfs": {"gain": -10.0}, "svm_rfe": {"share": 1.0},
        "stepwise": {"penalty": 0.0}, "exchange": {"left": 1e-6},
        "varselrf": {"c_sd": 0.0},
    }  # fmt: skip
    lasting = treeselect.select(
        "four ~ x + y + z + noise", simulated, method=method, seed=1, prune=True, **few,
        **tuned.get(method, {"lam": 1.0}),
    )  # fmt: skip
    if method in ("lasso", "stepwise"):  # take two of the three: the third is their sum
        assert set(lasting.selected) in ({"x", "y"}, {"x", "z"}, {"y", "z"})
    else:
        assert set(lasting.selected) == {"x", "y"}
    with pytest.raises(MethodError, match=r"`prune` of .* True or False"):
        METHODS[method](prune=1)


def test_a_sample_of_the_rows_tells_the_same(simulated, monkeypatch):
    monkeypatch.setattr("treeselect.algorithms.search.revision._PRUNE_ROWS", 300)
    fit = treeselect.select(
        "sum ~ x + y + noise", simulated, method="controlburn", k=1, seed=1, forests=1, n_trees=1
    )
    problem, weight = fit.data.design.problem, fit.data.design.weight
    pruned = BackwardPass(Task(problem, row_weights(weight), max_size=9, seed=3)).chain(
        everything(fit)
    )[-1]
    assert set(np.array(problem.groups.names)[pruned.selected]) == {"x", "y"}
