"""ControlBurn against limit cases and known truth."""

import copy
import dataclasses
import itertools
import pickle
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from quick import burnt
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import roc_auc_score
from tasks import names_of, sizes_of, task_of, with_problem

import treeselect
from treeselect import ControlBurn
from treeselect.designs.families import GAUSSIAN, POISSON
from treeselect.errors import MethodError, TreeselectWarning


@pytest.fixture(scope="module")
def task(mixed):
    return task_of(mixed, ControlBurn(), "died ~ . - dose", seed=3)


def path_of(task, method, **changes):
    return method.path(dataclasses.replace(task, **changes))


def select(data, formula, **options):
    return treeselect.select(
        formula, data, method="controlburn", **{"seed": 1, "forests": 1, "n_trees": 5} | options
    )


def test_paths_begin_with_what_costs_nothing_and_end_with_enough(task):
    assert [s.size >= 2 for s in path_of(task, ControlBurn(forests=2), max_size=2)[-2:]] == [0, 1]
    steps = path_of(task, ControlBurn(forests=2))
    sizes = [s.size for s in steps]
    assert sizes[0] == 0
    assert sizes == sorted(set(sizes))
    assert all(a.tuning > b.tuning for a, b in itertools.pairwise(steps))
    for step in steps[1:]:
        assert step.importance.sum() == pytest.approx(1.0)
        assert ((step.importance > 0) == step.selected).all()
    nothing = path_of(task, ControlBurn(lam=1e6))
    assert nothing[-1].size == 0
    everything = path_of(task, ControlBurn(lam=1e-7, forests=2))
    assert everything[-1].size == 5  # the copy of `signal` is never used
    assert everything[-1].tuning == 1e-7


def test_kept_units_are_the_first_step_and_prices_do_not_depend_on_their_unit(mixed, task):
    kept = select(mixed, "died ~ . - dose", k=3, keep=["noise", "flag"])
    assert names_of(task, kept.search.steps[0].selected) == {"noise", "flag"}
    assert all(set(terms) >= {"noise", "flag"} for terms in kept.path["terms"].iloc[1:])
    free = select(mixed, "died ~ . - dose", k=2, costs={"signal": 0.0, "copy": 0.0})
    first = free.search.steps[0]
    assert names_of(task, first.selected) <= {"signal", "copy"}
    assert first.size == 1
    assert first.train_score > 0.7
    # Doubling all prices halves the penalties and changes nothing else.
    groups = task.problem.groups
    double = dataclasses.replace(groups, item_costs=2 * groups.item_costs)
    one, two = (
        path_of(own, ControlBurn(forests=2), max_size=4, seed=1)
        for own in (task, with_problem(task, groups=double))
    )
    assert sizes_of(one) == sizes_of(two)
    np.testing.assert_allclose([s.tuning for s in one[1:]], [2 * s.tuning for s in two[1:]])


@pytest.mark.parametrize("response", ["n", "Surv(t, e)"])
def test_relative_weights_have_no_unit(response):
    """A leaf of Newton steps has one more row, of mean weight."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    rate = np.exp(data["a"])
    data = data.assign(n=rng.poisson(rate), t=rng.exponential(1 / rate), e=1)
    weight, family = rng.gamma(2, size=120), "poisson" if response == "n" else "auto"
    method, formula = ControlBurn(forests=1, max_depth=1), f"{response} ~ a + b + c"
    one, other = (
        method.path(task_of(data, method, formula, family=family, weights=weight * unit))
        for unit in (1.0, 0.1)
    )
    np.testing.assert_allclose([s.tuning for s in one], [s.tuning for s in other], rtol=1e-6)


def test_published_form_differs_and_depth_one_trees_use_one_unit_each(mixed):
    published = ControlBurn.published()
    assert (published.forests, published.adaptive) == (1, False)
    assert published != ControlBurn()
    # With stumps alone the trees' prices are those of single units: the path can't jump.
    fit = select(mixed, "noise ~ . - died", k=4, max_depth=1, forests=5)
    assert fit.k >= 2
    assert sizes_of(fit.search.steps) == list(range(fit.k + 1))


def test_feature_sparse_trees_use_fewer_units(task):
    """Section 3.2.4: a cost within each tree, which forgets it at its end, and knows no unit."""
    y = task.problem.y
    counts = np.random.default_rng(0).poisson(100 * np.exp(y))
    many = with_problem(task, y=counts.astype(float), family=POISSON)
    for here in (task, with_problem(task, y=100 * y, family=GAUSSIAN), many):
        per_tree = []
        for cost in (0.0, 0.02, 0.1):
            pool, _ = ControlBurn(forests=1, tree_cost=cost, max_depth=4).pool(here)
            per_tree.append(pool.uses.sum(axis=1).mean())
        assert per_tree[0] > per_tree[1] > per_tree[2] > 0
    assert path_of(task, ControlBurn(forests=1, tree_cost=50.0))[-1].size == 0
    sparse = path_of(task, ControlBurn(forests=2, tree_cost=0.02))
    two = next(step for step in sparse if step.size >= 2)
    assert "site" in names_of(task, two.selected)


@pytest.mark.parametrize("forest", ["bag-boosting", "bagging", "double bag-boosting"])
def test_every_way_to_grow_finds_the_signal(task, forest):
    steps = path_of(task, ControlBurn(forest=forest, forests=2, max_depth=4))
    two = names_of(task, next(step for step in steps if step.size >= 2).selected)
    assert "site" in two
    assert {"signal", "copy"} & two


def test_too_many_trees_are_bounded_with_a_warning(mixed):
    method = ControlBurn(forests=1, tolerance=1e-9, max_depth=1, n_trees=5)
    with pytest.warns(TreeselectWarning, match="200 trees of one depth") as caught:
        fit = treeselect.select("died ~ . - dose", mixed, method=method, k=2, seed=1)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert fit.k == 1
    assert "200 trees of one depth" in fit.summary().as_text()


def test_sketches_are_near_the_whole(task, mixed):
    whole = path_of(task, ControlBurn(forests=2))
    same = path_of(task, ControlBurn(forests=2, sketch=10_000))
    assert [s.tuning for s in whole] == [s.tuning for s in same]
    half = path_of(task, ControlBurn(forests=2, sketch=200))
    assert [s.tuning for s in whole] != [s.tuning for s in half]
    assert {"signal", "site", "copy"} & names_of(task, half[1].selected)
    fit = treeselect.select(
        "died ~ . - dose", mixed, method="controlburn", k=2, sketch=60, refit=None, seed=1
    )
    score = roc_auc_score(mixed["died"], fit.predict(mixed))  # of all rows
    assert fit.search.step.train_score == pytest.approx(score)
    numbers = task_of(mixed.drop(columns="died"), ControlBurn(), "dose ~ .", seed=3)
    whole, near = (
        path_of(numbers, ControlBurn(forests=1, adaptive=False, **sketch))
        for sketch in ({}, {"sketch": 5000, "sketch_kind": "gaussian"})
    )
    assert near[1].tuning == pytest.approx(whole[1].tuning, rel=0.15)
    assert near[1].tuning != whole[1].tuning
    np.testing.assert_array_equal(near[1].selected, whole[1].selected)
    with pytest.raises(MethodError, match="squared error"):
        path_of(task, ControlBurn(sketch=50, sketch_kind="gaussian"))
    with pytest.raises(MethodError, match="needs a `sketch`"):
        ControlBurn(sketch_kind="gaussian")


def test_refit_uses_the_selected_units_only(fitted, mixed):
    changed = mixed.assign(noise=0.0, colour="red", flag=True)
    np.testing.assert_array_equal(fitted.predict(mixed), fitted.predict(changed))


@pytest.mark.parametrize("model", [None, "forest", "stack"])
def test_the_forest_that_predicts_has_the_trees_asked_for(mixed, model):
    frame = mixed.assign(y=mixed["dose"].fillna(0.0) * mixed["flag"])
    method = ControlBurn(forests=1, n_trees=30)
    fit = treeselect.select("y ~ dose + flag", frame, method=method, k=2, model=model, seed=1)
    assert "forest of 30 trees" in fit.summary().as_text()
    assert (fit.predict(frame, interval="prediction").diff(axis=1).iloc[:, 2] > 0).all()


def test_trees_that_tell_nothing_but_rounding_are_left_out_at_once(monkeypatch):
    """A fold in which they are uncorrelated with the classes: the solver looked for minutes for an
    optimum finer than numbers are."""
    from treeselect.engine.sparse import weights as tree_weights

    n_calls = [0]
    descend = tree_weights.coordinate_descent

    def counted(*arguments):
        n_calls[0] += 1
        assert n_calls[0] < 500
        descend(*arguments)

    monkeypatch.setattr(tree_weights, "coordinate_descent", counted)
    data = pd.DataFrame(
        {"y": [1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0],
         "x": np.array([1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0], dtype=bool)}
    )  # fmt: skip
    fit = burnt("y ~ x", data, k="1se", folds=2)
    assert len(fit.path) >= 1


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
        ({"sketch": 1}, "`sketch` of ControlBurn must be a whole number from 2"),
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
        attrgetter("deep")(ControlBurn())
