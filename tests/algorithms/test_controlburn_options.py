"""The options of ControlBurn: what is written is read again, alone and together."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

from treeselect import ControlBurn
from treeselect.errors import MethodError


def bound(weights):
    return [weights["a"] <= 1]


MODEL = RandomForestRegressor()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"forest": "bagging", "forests": 2, "tail": 7},
        {"forest": "single-feature", "tolerance": 0.1, "max_depth": 4},
        {"lam": 0.1, "adaptive": False, "ridge": 0.2, "prune": True},
        {"sketch": 50, "sketch_kind": "gaussian", "refit": None},
        {"loss": "hinge", "constraints": bound, "lam": 1.0},
        {"best_subset": True, "time_limit": 5.0, "ridge": 0.1, "refine": True},
        {"forest": MODEL, "lam": 0.1},
    ],
)
def test_what_is_written_can_be_typed_and_read_again(options):
    method = ControlBurn(**options)
    assert copy.copy(method) == dataclasses.replace(method) == method
    assert ControlBurn(**method.options()).options() == method.options()
    if MODEL not in options.values():
        assert pickle.loads(pickle.dumps(method)) == method
    if not {"constraints", "forest"} & set(options):
        assert eval(repr(method)) == method


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"best_subset": True, "lam": 0.1}, "`best_subset=True` and `lam=0.1` together"),
        ({"best_subset": True, "prune": True}, "`best_subset=True` and `prune=True`"),
        ({"best_subset": True, "loss": "hinge"}, "It needs a ridge"),
        ({"best_subset": True, "refit": None}, "overfit the training rows"),
        ({"best_subset": True, "constraints": bound}, "The search doesn't support constraints"),
        ({"best_subset": True, "sketch": 50, "sketch_kind": "gaussian"}, "Optimality is proved"),
        ({"loss": "hinge", "ridge": 0.1}, "no longer a linear program"),
        ({"loss": "hinge", "refit": None}, "aren't probabilities"),
        (
            {"loss": "hinge", "sketch": 50, "sketch_kind": "gaussian"},
            "Gaussian sketch needs the squared error",
        ),
        ({"refit": None, "n_trees": 5}, "`refit=None` and `n_trees=5` together"),
        ({"time_limit": 5}, "only with `best_subset=True`"),
        ({"forest": "single-feature", "tail": 7}, "`tail=7` of ControlBurn has no effect"),
        ({"forest": MODEL, "tail": 7}, "`tail=7` with a fitted RandomForestRegressor"),
        ({"forest": np.zeros(3)}, "must be one of 'bag-boosting'"),
        ({"forest": "single-feature", "max_depth": 5}, "`max_depth` of ControlBurn .* 1 to 4"),
        ({"forest": "single"}, "must be one of 'bag-boosting'"),
        ({"sketch": 1}, "`sketch` of ControlBurn must be a whole number, at least 2"),
        ({"sketch": 9, "sketch_kind": "mixed"}, "must be 'rows' or 'gaussian'"),
        ({"sketch_kind": "gaussian"}, "needs a `sketch`"),
        ({"forests": 0}, "`forests` of ControlBurn must be"),
        ({"ridge": -1}, "`ridge` of ControlBurn"),
        ({"constraints": [1]}, r"must be a function of the weights, or None.\n  Found: \[1\]"),
        ({"loss": "huber"}, "`loss` of ControlBurn must be 'family' or 'hinge'"),
        ({"lam": 0.0}, "`lam` of ControlBurn must be a finite number above 0, or None"),
        ({"tail": 1}, "from 2 to 200"),
        ({"min_trees": 201}, "`min_trees` of ControlBurn .* 1 to 200"),
        ({"tree_cost": -1.0}, "`tree_cost` of ControlBurn must be a finite number at least 0"),
        ({"max_depth": 17}, "from 1 to 16, or None"),
        ({"time_limit": 0, "best_subset": True}, "`time_limit` of ControlBurn must be"),
    ],
)
def test_keywords_are_checked_alone_and_together(options, says):
    with pytest.raises(MethodError, match=says):
        ControlBurn(**options)


def test_unknown_keywords():
    with pytest.raises(TypeError, match="unexpected keyword argument 'deep'"):
        ControlBurn(deep=1)
    with pytest.raises(AttributeError, match="no attribute 'deep'"):
        ControlBurn().deep  # noqa: B018
