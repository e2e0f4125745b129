"""What changes the sets of a path: refinement, the backward pass, larger sets that are cut."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from quick import normal
from sklearn.feature_selection import SelectKBest
from tasks import names_of, task_of

import treeselect
from treeselect import RRF
from treeselect.algorithms.registry import METHODS, find_method
from treeselect.algorithms.search.exchange import Search
from treeselect.algorithms.search.revision import BackwardPass, DrawnMethod, Refinement, with_cuts
from treeselect.algorithms.task import Step, ranked_step, step_of_size
from treeselect.errors import MethodError

FORESTS = ("gbfs", "grrf", "importance", "rboost", "rfe", "rrf", "varselrf")

QUICK = {
    "boruta": {"max_rounds": 5, "n_trees": 10},
    "controlburn": {"forests": 1, "n_trees": 1},
    **{name: {"n_trees": 10} for name in FORESTS},
}


PRUNED = {
    **{name: {"n_trees": 20} for name in FORESTS},
    "controlburn": {"forests": 1, "n_trees": 20},
    "boruta": {"max_rounds": 12, "n_trees": 20},
}


@pytest.fixture(scope="module")
def pair():
    """Two columns that tell nothing one by one, and everything together; four of noise."""
    x = np.random.default_rng(1).normal(size=(200, 6))
    data = pd.DataFrame(x, columns=[f"x{j}" for j in range(6)])
    return data.assign(y=((x[:, 0] > 0) != (x[:, 1] > 0)).astype(int))


@pytest.fixture(scope="module")
def copies():
    """Three columns that matter, the third least, near copies of the first two, and noise."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(250, 6))
    data = pd.DataFrame(x, columns=[f"x{j}" for j in range(6)])
    for j in (0, 1):
        data[f"near{j}"] = x[:, j] + 0.1 * rng.normal(size=250)
    return data.assign(y=2 * x[:, 0] + 2 * x[:, 1] + 0.7 * x[:, 2] + 0.5 * rng.normal(size=250))


def select(data, method, k=2, **options):
    return treeselect.select("y ~ .", data, method=method, k=k, seed=1, **options)


def test_a_pair_that_the_path_of_controlburn_misses(pair):
    quick = QUICK["controlburn"]
    assert set(select(pair, "controlburn", **quick).selected) != {"x0", "x1"}
    assert set(select(pair, "controlburn", refine=True, **quick).selected) == {"x0", "x1"}


@pytest.mark.parametrize("method", sorted({*METHODS} - {"exchange"}))
def test_every_method_can_be_refined(pair, method):
    quick = QUICK.get(method, {})
    fit = select(pair, method, refine=True, **quick)
    if method in ("fcbf", "hsic_lasso"):  # see no pairs, and may find no second one
        assert fit.k == 2 or any(
            "or do not lower the out-of-bag error" in n for n in fit.search.notes
        )
    else:
        assert set(fit.selected) == {"x0", "x1"}
    assert fit.search.method.refine
    assert fit.search.method.tells_out_of_bag
    assert fit.search.step.error is not None
    assert fit.search.step.trace is not None
    assert fit.model.importance.sum() == pytest.approx(1.0)
    with pytest.raises(MethodError, match=r"`refine` of .* True or False"):
        METHODS[method](refine=1)


def test_selectors_of_others_can_be_refined_and_exchange_can_not(pair):
    method = find_method(SelectKBest(), {"refine": True})
    assert repr(method) == "ForeignSelector(SelectKBest(), refine=True)"
    assert set(select(pair, method).selected) == {"x0", "x1"}
    with pytest.raises(MethodError, match="no option"):
        select(pair, "exchange", refine=True)


def test_what_was_there_before_is_told_for_any_threads_and_order_of_columns(pair):
    refined = select(pair, "mrmr", refine=True)
    own = select(pair, "mrmr").selected
    (said,) = [note for note in refined.search.notes if note.startswith("Selected before")]
    assert said == f"Selected before refinement: `{'`, `'.join(sorted(own))}`."
    assert "out of bag" in refined.summary().as_text()
    other = select(pair[pair.columns[::-1]], "mrmr", refine=True, n_jobs=2)
    assert set(other.selected) == set(refined.selected)
    assert other.search.step.error == pytest.approx(refined.search.step.error)


@pytest.mark.parametrize(("name", "every_size"), [("lasso", True), ("cfs", False), ("grrf", True)])
def test_the_error_is_never_above_that_of_the_methods_own_set(copies, name, every_size):
    method = find_method(name, QUICK.get(name, {}))
    plain = task_of(copies, method, max_size=3, seed=1)
    task = dataclasses.replace(plain, every_size=every_size)
    judge, keep = Search(task, n_trees=100, margin=1.0).judge, task.problem.groups.keep
    own = method.path(task)
    steps = dataclasses.replace(method, refine=True).path(task)
    assert [step.size for step in steps] == ([0, 1, 2, 3] if every_size else [0, 3])
    for step in steps:
        before = judge.error(step_of_size(own, step.size, keep).selected)
        assert step.error == judge.error(step.selected) <= before


def test_nothing_changes_at_a_fixed_tuning_value_and_the_sparse_forest_predicts(copies):
    fit = treeselect.select("y ~ .", copies, method="lasso", lam=0.01, refine=True, seed=1)
    own = treeselect.select("y ~ .", copies, method="lasso", lam=0.01, seed=1)
    assert fit.k < own.k
    assert fit.search.step.tuning == 0.01
    again = Refinement(task_of(copies, fit.search.method, max_size=8, seed=1)).at(fit.search.step)
    assert set(np.flatnonzero(again.selected)) == set(np.flatnonzero(fit.search.step.selected))
    assert len(fit.search.steps) == 1
    fit = select(
        copies, "controlburn", 3, refine=True, refit=None, forests=1, forest="single-feature"
    )
    assert fit.predict(copies).shape == (250,)


def test_kept_units_stay_and_nothing_is_replaced_at_any_price(pair):
    fit = select(pair, "lasso", 3, refine=True, keep="x5")
    assert set(fit.selected) == {"x0", "x1", "x5"}
    fixed = treeselect.select(
        "y ~ .", pair, method="lasso", lam=1e-4, refine=True, keep="x5", seed=1
    )
    assert "x5" in fixed.selected
    task = task_of(pair, fixed.search.method, max_size=3, seed=1, keep="x5")
    alone = Step(np.inf, task.problem.groups.keep, np.zeros(6), 0.0)
    assert Refinement(task).at(alone).size == 1
    fit = select(pair, "lasso", "best", folds=2, refine=True)
    assert set(fit.selected) == {"x0", "x1"}
    assert fit.search.steps[-1].size < 6
    assert set(select(pair, "lasso", 2, refine=True, costs={"x0": 2.0}).selected) == {"x0", "x1"}


# --- The backward pass: what is not missed goes, what is missed stays ---


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    """`x` and `y` decide together; `z` is their sum, `noise` is none of both."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(-1, 1, size=(300, 3)), columns=["x", "y", "noise"])
    data["z"] = data["x"] + data["y"]
    data["four"] = ((data["x"] > 0) != (data["y"] > 0)).astype(int)
    data["sum"] = 3 * data["x"] + data["y"] + 0.3 * rng.normal(size=300)
    return data


def pruned(task, step=None):
    """What is left of a step, or of all units."""
    n = len(task.problem.groups.names)
    every = Step(0.0, np.ones(n, dtype=bool), np.full(n, 1 / n), 0.0)
    return BackwardPass(task).chain(step or every)[-1]


@pytest.mark.parametrize("most", [20_000, 200])
@pytest.mark.parametrize("formula", ["four ~ x + y + z + noise", "sum ~ x + y + noise"])
def test_what_is_not_missed_goes(simulated, monkeypatch, formula, most):
    """On all rows, and on a sample of them."""
    monkeypatch.setattr("treeselect.algorithms.search.revision._PRUNE_ROWS", most)
    task = task_of(simulated, treeselect.MRMR(), formula, max_size=9, seed=3)
    found = pruned(task)
    assert names_of(task, found.selected) == {"x", "y"}
    assert found.importance.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(pruned(task, found).selected, found.selected)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "exchange"])
def test_every_other_method_can_end_with_it(simulated, method):
    few = PRUNED.get(method, {})
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
    loosest = {
        "controlburn": 1e-4, "gbfs": 0.0, "grrf": 0.0, "importance": 0.0, "lasso": 1e-4,
        "boruta": 0.99, "mrmr": -10.0, "cfs": -10.0, "stepwise": 0.0, "varselrf": 0.0,
    }  # fmt: skip
    lasting = treeselect.select(
        "four ~ x + y + z + noise", simulated, method=method, seed=1, prune=True, **few,
        **{METHODS[method].tuning_name: loosest.get(method, 1.0)},
    )  # fmt: skip
    if method in ("lasso", "stepwise"):  # take two of the three: the third is their sum
        assert set(lasting.selected) in ({"x", "y"}, {"x", "z"}, {"y", "z"})
    else:
        assert set(lasting.selected) == {"x", "y"}
    with pytest.raises(MethodError, match=r"`prune` of .* True or False"):
        METHODS[method](prune=1)


# --- Sets of a path that give way to larger ones, cut to their size ---


def drawn(**arguments):
    """Two columns that decide together, and three of noise."""
    data = normal(5, 200, ["a", "b", "n1", "n2", "n3"], 0.3, a=1, b=0.7)
    return task_of(data, RRF(), **{"max_size": 2, "seed": 1} | arguments)


def step(tuning, **worth):
    named = np.array([worth.get(name, 0.0) for name in ("a", "b", "n1", "n2", "n3")])
    return ranked_step(tuning, named > 0, named, 0.5)


def names(found):
    return "".join(np.array(["a", "b", "1", "2", "3"])[found.selected])


NULL = step(0.0)
NOISE = step(0.1, n1=1.0)
WHOLE = step(0.4, a=0.5, b=0.3, n1=0.1, n2=0.05, n3=0.05)


def test_noise_gives_way_to_a_larger_set_and_sets_as_good_or_forced_in_stay():
    found = with_cuts(drawn(), [NULL, NOISE, WHOLE])
    assert [(names(s), s.size) for s in found] == [("", 0), ("a", 1), ("ab123", 5)]
    one = found[1]
    assert (one.tuning, one.importance.tolist(), one.cut_from) == (0.4, [1, 0, 0, 0, 0], None)
    assert one.train_score > 0.5  # of a forest on it, not that of the larger one
    assert one.notes == (
        "Cut from 5 terms: forests on the most important one have a lower out-of-bag error than on"
        " the one the path has at this size.",
    )
    true = step(0.2, a=1.0)
    poor = step(0.4, n1=0.5, a=0.3, b=0.2)
    found = with_cuts(drawn(), [NULL, true, poor])
    assert found[1] is true
    found = with_cuts(drawn(), [NULL, NOISE, step(0.2, a=1.0)])
    assert (names(found[1]), found[1].tuning, found[1].notes) == ("a", 0.2, ())
    assert with_cuts(drawn(), [NULL, NOISE, step(0.4, n2=0.6, n3=0.4)])[1] is NOISE  # by chance
    found = with_cuts(drawn(), [NULL, NOISE, step(0.3, b=0.6, n1=0.4), WHOLE])
    assert names(found[1]) == "a"  # the best of two that are better
    task = drawn(keep=["n3"])
    kept = step(0.1, n3=1.0)
    found = with_cuts(task, [kept, step(0.2, n1=0.5, n3=0.5), WHOLE])
    assert [names(s) for s in found] == ["3", "a3", "ab123"]
    dear, equal = (drawn(max_size=1, costs={"a": cost, "b": 2.0, "n1": 2.0}) for cost in (3.0, 2.0))
    assert with_cuts(dear, [NULL, NOISE, WHOLE])[1] is NOISE
    assert names(with_cuts(equal, [NULL, NOISE, WHOLE])[1]) == "a"


def test_a_size_without_a_set_is_filled_if_the_next_larger_one_is_cut_badly():
    poor = step(0.3, n1=0.4, n2=0.3, n3=0.2, a=0.1)
    found = with_cuts(drawn(), [NULL, poor, WHOLE])
    assert [names(s) for s in found] == ["", "a", "ab", "a123", "ab123"]
    assert found[2].notes[0].endswith("than on the 2 cut from 4.")
    only = with_cuts(dataclasses.replace(drawn(), every_size=False), [NULL, poor, WHOLE])
    assert [names(s) for s in only] == ["", "ab", "a123", "ab123"]
    assert with_cuts(drawn(), [NULL, WHOLE]) == (NULL, WHOLE)


def test_methods_that_draw_nothing_keep_their_path():
    assert issubclass(treeselect.RBoost, DrawnMethod)
    assert not issubclass(treeselect.GBFS, DrawnMethod)  # its first unit is the best of all


@pytest.mark.parametrize(("method", "trees"), [("rrf", 20), ("rboost", 10)])
def test_few_of_very_many_terms_are_not_those_drawn_first(method, trees):
    data = normal(3, 200, [f"x{j}" for j in range(600)], 0.5, x7=1, x77=1, x577=1)
    fit = treeselect.select(
        "y ~ .", data, method=method, k=3, n_trees=trees, seed=1, n_jobs=1, progress=False
    )
    assert set(fit.selected) == {"x7", "x77", "x577"}
