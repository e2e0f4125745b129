"""Objects and the keywords that stand for them: one says what the other does."""

import copy
import dataclasses
import inspect
import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import treeselect
from treeselect import (
    BestSubset,
    Constraints,
    ControlBurn,
    Forest,
    Hinge,
    Penalty,
    SingleFeature,
    Sketch,
)
from treeselect.errors import MethodError


def bound(weights):
    return [weights["a"] <= 1]


MODEL = RandomForestRegressor()

SAME = [
    ({}, {}),
    ({"forest": Forest("bagging", forests=2, tail=7)},
     {"forest": "bagging", "forests": 2, "tail": 7}),
    ({"forest": Forest(min_trees=3, max_features=0.5, tree_cost=0.1, max_depth=2)},
     {"min_trees": 3, "max_features": 0.5, "tree_cost": 0.1, "max_depth": 2}),
    ({"forest": SingleFeature(forests=2, tolerance=0.1)},
     {"forest": "single-feature", "forests": 2, "tolerance": 0.1}),
    ({"solver": Penalty(lam=0.1, adaptive=False, ridge=0.2, prune=True)},
     {"lam": 0.1, "adaptive": False, "ridge": 0.2, "prune": True}),
    ({"solver": Penalty(sketch=Sketch(50, "gaussian"), refit_trees=None)},
     {"sketch": 50, "sketch_kind": "gaussian", "refit": None}),
    ({"solver": Hinge(sketch=50, refit_trees=7, refine=True)},
     {"loss": "hinge", "sketch": 50, "n_trees": 7, "refine": True}),
    ({"solver": Hinge(constraints=bound, lam=1.0)},
     {"loss": "hinge", "constraints": bound, "lam": 1.0}),
    ({"solver": Constraints(bound, ridge=0.1, sketch=Sketch(50), refit_trees=None)},
     {"constraints": bound, "ridge": 0.1, "sketch": 50, "refit": None}),
    ({"solver": BestSubset(refine=True)}, {"best_subset": True, "refine": True}),
    ({"solver": BestSubset(time_limit=5, ridge=0.1, sketch=50, adaptive=False)},
     {"best_subset": True, "time_limit": 5, "ridge": 0.1, "sketch": 50, "adaptive": False}),
    ({"forest": MODEL, "solver": Penalty(lam=0.1)}, {"forest": MODEL, "lam": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize(("objects", "keywords"), SAME)
def test_keywords_stand_for_objects(objects, keywords):
    method, same = ControlBurn(**objects), ControlBurn(**keywords)
    assert method == same
    assert (repr(method), method.options()) == (repr(same), same.options())
    assert all(
        getattr(method, name) == value for name, value in keywords.items() if name != "forest"
    )
    assert copy.copy(method) == method


@pytest.mark.parametrize(("objects", "keywords"), SAME)
def test_what_is_written_can_be_typed_and_read_again(objects, keywords):
    method = ControlBurn(**objects)
    if MODEL not in keywords.values():
        assert pickle.loads(pickle.dumps(method)) == method
        assert all(eval(repr(given)) == given for given in objects.values())
    if not {"constraints", "forest"} & set(keywords):
        assert eval(repr(method)) == method
    again = ControlBurn(**method.options())
    assert again.options() == method.options()


def test_a_keyword_changes_an_option_of_the_object():
    method = ControlBurn(forest=Forest("bagging", tail=7), forests=3)
    assert method == ControlBurn(forest="bagging", tail=7, forests=3)
    assert ControlBurn(forest=Forest(forests=3), forests=5) == ControlBurn()
    same = dataclasses.replace(method, solver=BestSubset())
    assert same == ControlBurn(forest="bagging", tail=7, forests=3, best_subset=True)
    assert dataclasses.replace(method, forest=Forest("bagging", tail=7), lam=0.5) == ControlBurn(
        forest="bagging", tail=7, forests=3, lam=0.5
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"solver": BestSubset(), "lam": 0.1}, "`best_subset=True` and `lam=0.1` together"),
        ({"best_subset": True, "prune": True}, "`best_subset=True` and `prune=True`"),
        ({"best_subset": True, "loss": "hinge"}, "It needs a ridge"),
        ({"best_subset": True, "refit": None}, "overfit the training rows"),
        ({"best_subset": True, "constraints": bound}, "The search doesn't support constraints"),
        (
            {"best_subset": True, "sketch": 50, "sketch_kind": "gaussian"},
            "Optimality can be proved",
        ),
        ({"solver": Hinge(), "ridge": 0.1}, "no longer a linear program"),
        ({"loss": "hinge", "refit": None}, "aren't probabilities"),
        (
            {"loss": "hinge", "sketch": 50, "sketch_kind": "gaussian"},
            "Gaussian sketch needs the squared error",
        ),
        ({"refit": None, "n_trees": 5}, "`refit=None` and `n_trees=5` together"),
        ({"time_limit": 5}, "only with `best_subset=True`"),
        ({"forest": SingleFeature(), "tail": 7}, "`tail=7` of ControlBurn has no effect"),
        ({"forest": MODEL, "tail": 7}, "`tail=7` with a fitted RandomForestRegressor"),
        ({"forest": np.zeros(3)}, "must be one of 'bag-boosting'"),
        ({"solver": BestSubset}, "`solver` of ControlBurn must be .*\n.*the class BestSubset"),
        ({"constraints": [1]}, r"must be a function of the weights, or None.\n  Found: \[1\]"),
        ({"loss": "huber"}, "`loss` of ControlBurn must be 'family' or 'hinge'"),
        ({"lam": 0.0}, "`lam` of ControlBurn must be a finite number above 0, or None"),
        ({"tail": 1}, "at least 2"),
        ({"tree_cost": -1.0}, "`tree_cost` of ControlBurn must be a finite number at least 0"),
        ({"max_depth": 17}, "from 1 to 16, or None"),
        ({"time_limit": 0, "best_subset": True}, "`time_limit` of ControlBurn must be"),
    ],
)
def test_keywords_are_checked_alone_and_together(options, says):
    with pytest.raises(MethodError, match=says):
        ControlBurn(**options)


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: Forest("single"), "`kind` of Forest must be 'bag-boosting' or"),
        (lambda: Forest(tail=1), "`tail` of Forest must be a whole number, at least 2"),
        (lambda: SingleFeature(forests=0), "`forests` of SingleFeature must be"),
        (lambda: SingleFeature(max_depth=5), "`max_depth` of SingleFeature .* 1 to 4"),
        (lambda: Sketch(1), "`rows` of Sketch must be a whole number, at least 2"),
        (lambda: Sketch(10, "mixed"), "`kind` of Sketch must be 'rows' or 'gaussian'"),
        (lambda: Penalty(ridge=-1), "`ridge` of Penalty"),
        (lambda: Penalty(refit_trees=0), "`refit_trees` of Penalty"),
        (lambda: Hinge(refit_trees=None), "Margins aren't probabilities"),
        (lambda: Hinge(sketch=Sketch(9, "gaussian")), r"Found: Sketch\(9, kind='gaussian'\)"),
        (lambda: Constraints(bound, sketch=Sketch(9, "gaussian")), "must be a sample of the rows"),
        (lambda: BestSubset(ridge=0), "`ridge` of BestSubset must be a finite number above 0, or"),
        (lambda: BestSubset(time_limit=0), "`time_limit` of BestSubset"),
        (lambda: BestSubset(sketch=Sketch(9, "gaussian")), "Optimality can be proved"),
    ],
)
def test_objects_check_their_options(made, says):
    with pytest.raises(MethodError, match=says):
        made()


@pytest.mark.parametrize(
    ("kind", "keyword"),
    [(BestSubset, "lam"), (BestSubset, "prune"), (BestSubset, "constraints"), (Hinge, "ridge"),
     (SingleFeature, "tail"), (Penalty, "time_limit")],
)  # fmt: skip
def test_what_does_not_go_together_cannot_be_written(kind, keyword):
    with pytest.raises(TypeError, match=keyword):
        kind(**{keyword: 1})


def test_unknown_keywords_and_the_signature():
    with pytest.raises(TypeError, match="unexpected keyword argument 'deep'"):
        ControlBurn(deep=1)
    with pytest.raises(AttributeError, match="no attribute 'deep'"):
        ControlBurn().deep  # noqa: B018
    assert set(inspect.signature(ControlBurn).parameters) == {*ControlBurn.defaults(), "solver"}


def test_objects_are_shown_as_they_were_typed():
    rng = np.random.default_rng(0)
    data = treeselect.datasets.load("titanic_correlated").sample(150, random_state=rng)
    options = {"forest": Forest(forests=1, max_depth=2), "solver": Penalty(refit_trees=5)}
    fit = treeselect.select(
        "survived ~ sex + age", data, method="controlburn", k=1, seed=1, **options
    )
    assert fit._fit.call.text.endswith(
        "forest=treeselect.Forest(forests=1, max_depth=2),"
        " solver=treeselect.Penalty(refit_trees=5))"
    )
    same = treeselect.select(
        "survived ~ sex + age", data, method=ControlBurn(**options), k=1, seed=1
    )
    assert "ControlBurn(forests=1, max_depth=2, n_trees=5)" in same._fit.call.text
    assert "forests = 1, max_depth = 2, n_trees = 5" in " ".join(fit.summary().as_text().split())
    np.testing.assert_array_equal(fit.predict(data), same.predict(data))
    assert repr(Constraints(lambda weights: [])) == "Constraints(function)"
    assert repr(Constraints(bound)) == "Constraints(bound)"
