"""``update()`` gives what ``select()`` gives for the new arguments."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest, f_regression

import treeselect
from treeselect.errors import DataError, FormulaError, OptionError
from treeselect.modelfile.saved import _arguments
from treeselect.resampling.fit import Asked

QUICK = {"method": "grrf", "n_trees": 5, "seed": 3}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "c", "d"])
    return frame.assign(y=np.exp(frame["a"] + 0.5 * frame["b"]), w=np.tile([1.0, 2.0], 30))


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select("y ~ . - d - w", data, k=2, weights="w", **QUICK)


def same(one, two):
    assert one._fit.call == two._fit.call
    assert one.selected == two.selected
    np.testing.assert_array_equal(one.model.importance, two.model.importance)


@pytest.mark.parametrize(
    ("formula", "changes", "new"),
    [
        ("~ . - c", {}, {"formula": "y ~ . - d - w - c"}),
        ("log(.) ~ .", {"k": 1}, {"formula": "log(y) ~ . - d - w", "k": 1}),
        (None, {"seed": 9, "keep": ["c"]}, {"seed": 9, "keep": ["c"]}),
        (None, {"gamma": 0.3}, {"gamma": 0.3, "k": "1se"}),
        (None, {"method": "mrmr"}, {"method": "mrmr", "n_trees": None}),
        (None, {"method": "rrf"}, {"method": "rrf"}),
    ],
)
def test_update_is_a_new_call(formula, changes, new, data, fit):
    old = {"formula": "y ~ . - d - w", "k": 2, "weights": "w", **QUICK}
    arguments = {n: v for n, v in (old | new).items() if (n, v) != ("n_trees", None)}
    if "gamma" in new:
        del arguments["k"]
    expected = treeselect.select(arguments.pop("formula"), data, **arguments)
    same(fit.update(formula, **changes), expected)


def test_sizes_take_the_place_of_tuning_parameters_and_long_arguments_are_lost(data, fit):
    tuned = fit.update(method="rrf", lam=0.5, n_trees=5)
    assert 'method="rrf"' in tuned.search.call
    assert "k=2" not in tuned.search.call
    own = treeselect.select("y ~ a + b", data, method=treeselect.RRF(lam=0.5, n_trees=5), seed=3)
    same(own.update(k=1), own.update(method=treeselect.RRF(n_trees=5), k=1))
    same(own.update(weights="w", weights_kind="sampling").update(weights=None), own)
    for n, lost in ((2**18 - 5, ()), (2**18, ("more",))):  # and five bytes for the length
        given = {"formula": "y ~ a", "more": "x" * n}
        assert _arguments(Asked(given, None, ())).lost == lost


def test_other_data_must_fit_and_be_given_to_a_file_and_a_copy(data, fit, tmp_path):
    found = fit.update(data=data.head(40))
    same(found, treeselect.select("y ~ . - d - w", data.head(40), k=2, weights="w", **QUICK))
    with pytest.raises(OptionError, match="needs a change"):
        fit.update()
    with pytest.raises(FormulaError, match="must be text"):
        fit.update(3)
    with pytest.raises((DataError, FormulaError)):
        fit.update("~ . + nowhere")
    loaded = treeselect.load(fit.save(tmp_path / "fit"))
    for other in (loaded, copy.deepcopy(fit)):
        with pytest.raises(OptionError, match=r"`data`. Use `fit.update\(data=...\)`"):
            other.update(k=1)
        same(other.update(k=1, data=data), fit.update(k=1))


def test_a_file_names_what_it_does_not_hold(data, tmp_path):
    method = treeselect.RRF(n_trees=5)
    fit = treeselect.select(
        "y ~ a + b", data, method=method, k=1, weights=np.ones(60), trusted=True, seed=1
    )
    loaded = treeselect.load(fit.save(tmp_path / "fit"))
    assert loaded._fit.asked.lost == ("weights",)
    with pytest.raises(OptionError, match=r"`?weights`?"):
        loaded.update(k=2, data=data)
    found = loaded.update(k=2, data=data, weights=None)
    same(found, treeselect.select("y ~ a + b", data, method=method, k=2, seed=1))
    foreign = treeselect.select("y ~ a + b", data, method=SelectKBest(f_regression, k=1), seed=1)
    loaded = treeselect.load(foreign.save(tmp_path / "foreign"))
    with pytest.raises(OptionError, match="Missing: `method`"):
        loaded.update(k=2, data=data)
    same(loaded.update(method=method, k=2, data=data), found)
