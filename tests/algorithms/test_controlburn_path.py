"""What the sparse-forest problem can be: best subset, hinge loss, constrained, single-feature."""

import dataclasses
import itertools
from functools import partial

import numpy as np
import pandas as pd
import pytest
from quick import leaf_value
from tasks import task_of

import treeselect
from treeselect.algorithms.task import skipped_sizes
from treeselect.errors import MethodError

SINGLE = "single-feature"


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    frame["colour"] = rng.choice(["blue", "red", "white"], size=300)
    frame["y"] = np.sin(2 * frame["a"]) + (frame["b"] > 0) + (frame["colour"] == "red")
    frame["y"] += 0.3 * rng.normal(size=300)
    frame["two"] = (frame["y"] > 1).astype(int)
    return frame


def fit_of(data, response="y", **options):
    other = "two" if response == "y" else "y"
    options = {"method": "controlburn", "k": 3, "seed": 1, "forests": 2} | options
    if "lam" in options:
        del options["k"]
    return treeselect.select(f"{response} ~ . - {other}", data, **options)


def test_the_best_subset_is_the_truth_with_kept_units_and_a_gap(data):
    fit = fit_of(data, best_subset=True)
    assert set(fit.selected) == {"a", "b", "colour"}
    assert fit.search.step.gap == 0.0
    assert "proved optimal" in fit.summary().as_text()
    assert list(fit.path["k"]) == [0, 3]
    assert fit.path["gap"].iloc[-1] == 0.0
    assert fit.resample(3).stability.n_resamples == 3
    fit = fit_of(data, best_subset=True, keep="e", k=2)
    assert "e" in fit.selected
    assert fit.k == 2
    fit = fit_of(data, best_subset=True, time_limit=1e-9)
    assert fit.search.step.gap > 0
    text = fit.summary().as_text()
    assert "not proved optimal" in text
    assert "enter the path" not in text


def test_best_subsets_of_all_sizes_and_files(data, tmp_path):
    fit = fit_of(data, "two", k="best", best_subset=True, folds=3, forests=1)
    sizes = [step.size for step in fit.search.steps]
    assert sizes == sorted(set(sizes))
    assert all(step.gap is not None for step in fit.search.steps[1:])
    assert all(
        a.train_score <= b.train_score + 0.01 for a, b in itertools.pairwise(fit.search.steps)
    )
    again = treeselect.load(fit.save(tmp_path / "fit"))
    pd.testing.assert_frame_equal(again.path, fit.path)


@pytest.mark.parametrize("unit", [1e-4, 1e4])
def test_best_subsets_do_not_depend_on_the_units_of_the_response(data, unit):
    expected = fit_of(data, best_subset=True, forests=1)
    found = fit_of(data.assign(y=unit * data["y"]), best_subset=True, forests=1)
    assert found.selected == expected.selected
    assert found.search.step.gap == expected.search.step.gap == 0.0


def test_the_hinge_loss_selects_the_truth(data):
    fit = fit_of(data, "two", loss="hinge")
    assert set(fit.selected) == {"a", "b", "colour"}
    assert fit.search.step.train_score > 0.85
    assert fit.predict(data).between(0, 1).all()
    assert "out of bag" in fit.summary().as_text()
    again = fit_of(data, "two", loss="hinge", scoring="neg_log_loss")
    share = data["two"].mean()  # margins had a log loss, even that of the null model
    null = share * np.log(share) + (1 - share) * np.log(1 - share)
    assert again.path["train_score"][0] == pytest.approx(null)


def test_constraints_shape_the_selection_and_paths_but_are_not_kept_in_files(data, tmp_path):
    options = {"forests": 1, "n_trees": 20, "adaptive": False, "lam": 0.02}
    free = fit_of(data, **options)
    weight = free.model.trees().explode("terms").groupby("terms")["weight"].sum()
    assert weight["a"] > 0.2
    held = fit_of(
        data, constraints=lambda weights: [weights["a"] <= 0.1, weights["e"] >= 0.05], **options
    )
    found = held.model.trees().explode("terms").groupby("terms")["weight"].sum()
    assert found["a"] == pytest.approx(0.1, abs=1e-4)
    assert found["e"] == pytest.approx(0.05, abs=1e-4)
    assert "a function of the weights" in " ".join(held.summary().as_text().split())
    few = {"forests": 1, "max_depth": 3, "sketch": 60, "k": 2}
    fit = fit_of(data, **few, constraints=lambda w: [w["colour"] == 0])
    assert "colour" not in fit.selected
    assert fit.k == 2
    again = treeselect.load(fit.save(tmp_path / "fit", include_data=True))
    with pytest.raises(MethodError, match="model files don't store"):
        again.resample(2)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda weights: [weights >= 0], "TypeError"),
        (lambda weights: [True], "True, which is no constraint"),
        (lambda weights: 3, "not iterable"),
        (lambda: [], "TypeError"),
    ],
)
def test_functions_that_make_no_constraints(function, says, data):
    with pytest.raises(MethodError, match=says):
        fit_of(data, forests=1, lam=0.1, constraints=function)


def test_a_sparse_forest_without_trees_is_the_null_model(data):
    fit = fit_of(data, refit=None, lam=1e6, keep="e")
    text = fit.summary().as_text()
    assert "Final model:  the null model" in text
    assert "shrunk" not in text


def test_trees_of_one_feature_make_an_additive_model_of_every_size(data):
    fit = fit_of(data, forest=SINGLE, refit=None, lam=0.01)
    assert {"a", "b", "colour"} <= set(fit.selected)
    trees = fit.model.trees()
    assert (trees["terms"].map(len) == 1).all()
    strengths = fit.model.interactions()["strength"]
    assert strengths.max() < 1e-7
    total = sum(effect_of(fit, term, data) for term in fit.selected)
    fitted = fit.predict(data)
    np.testing.assert_allclose(total, fitted - fitted.mean(), atol=1e-8)
    assert np.corrcoef(fitted, data["y"])[0, 1] > 0.8
    fit = fit_of(data, "two", forest=SINGLE, k="best", folds=3, forests=1)
    assert list(skipped_sizes(fit._fit.steps)) == []
    task = task_of(data, fit.search.method, "two ~ . - y", max_size=3, seed=1)
    one, two = (fit.search.method.path(dataclasses.replace(task, n_threads=n)) for n in (1, 2))
    assert [s.tuning for s in one] == [s.tuning for s in two]


def effect_of(fit, term, data):
    """The sum of the trees of one term about its mean, by what the tables say."""
    trees = fit.model.trees()
    own = trees[trees["terms"].map(lambda terms: terms == (term,))]
    nodes = dict(iter(fit.model.nodes().groupby("tree")))
    total = np.zeros(len(data))
    for row in own.itertuples():
        total += row.weight * data[[term]].apply(partial(leaf_value, nodes[row.tree]), axis=1)
    return total - total.mean()


def test_options_that_do_not_suit_the_data_and_sizes_that_the_path_skips(data):
    pair = data.assign(y=np.where(data["a"] * data["b"] > 0, 1.0, 0.0))
    fit = fit_of(pair, k="best", forests=1, adaptive=False, folds=3)
    assert 1 in skipped_sizes(fit._fit.steps)
    assert "No model with exactly 1 term lies" in fit.summary().as_text()
    with pytest.raises(MethodError, match="an `offset`, which is on the log-odds"):
        fit_of(data, "two", loss="hinge", offset="e")
    with pytest.raises(MethodError, match="needs a binary response"):
        fit_of(data, loss="hinge")
    with pytest.raises(MethodError, match="`sketch` of ControlBurn has 2 rows, all with"):
        fit_of(data.assign(two=(np.arange(300) < 1).astype(int)), "two", sketch=2)
    with pytest.raises(MethodError, match="can't take `costs`"):
        fit_of(data, best_subset=True, costs={"a": 2.0})
    with pytest.raises(MethodError, match="Can't find `aa`"):
        fit_of(data, forests=1, lam=0.1, constraints=lambda weights: [weights["aa"] <= 1])
    with pytest.raises(MethodError, match="can't be met"):
        fit_of(data, forests=1, lam=0.1, constraints=lambda weights: [weights["a"] <= -1])


# --- what does not go together ---
