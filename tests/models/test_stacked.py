"""The stacked model: effects as trees, its parts, its families, and its file."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from quick import with_responses

import treeselect
from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.forest.walk import predict_sum
from treeselect.models.stacked import StackedModel, effect_trees


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 400
    x = rng.standard_normal((n, 3))
    letters = np.array(list("abcd"))[rng.integers(4, size=n)]
    data = pd.DataFrame(x, columns=["a", "b", "c"]).assign(letter=letters)
    data.loc[:20, "b"] = np.nan
    eta = np.sin(2 * x[:, 0]) + 0.5 * (letters == "a") + x[:, 2]
    return with_responses(data, eta, rng).assign(exposure=rng.uniform(0, 1, n))


def stacked(frame, response, model="stack", **options):
    usual = {"method": "mrmr", "keep": ["a", "b", "c", "letter"], "k": 4, "seed": 1, "n_jobs": 1}
    options = {**usual, "progress": False, **options}
    return treeselect.select(f"{response} ~ a + b + c + letter", frame, **options).refit(model)


def test_an_effect_is_the_same_as_a_tree():
    rng = np.random.default_rng(1)
    x = np.where(rng.random(200) < 0.1, np.nan, rng.standard_normal(200))
    level = rng.integers(0, 6, 200).astype(np.uint8)  # 0 is missing
    data = bin_columns([x, level], [bin_edges(x), None], [0, 5], np.arange(2))
    for j, is_factor in ((0, False), (1, True)):
        values = rng.standard_normal((256, 2))
        counts = np.bincount(data.column(j), minlength=256).astype(float)
        n = data.n_codes[j]
        tree = effect_trees([j], [values[:n]], [counts[:n]], np.array([is_factor]))
        assert predict_sum(tree, data) == pytest.approx(values[data.column(j)])
        assert tree.nodes.weight[0] == 200


@pytest.mark.parametrize(
    ("response", "least"),
    [("y", 0.75), ("yes", 0.7), ("count", 0.2), ("three", 0.1), ("Surv(time, event)", 0.65)],
)
def test_all_families_predict_new_rows(frame, response, least):
    family = "poisson" if response == "count" else "auto"
    train, new = frame.iloc[:300], frame.iloc[300:]
    fit = stacked(train, response, family=family)
    assert isinstance(fit.model.fitted, StackedModel)
    predicted = fit.predict(new)
    assert np.isfinite(np.asarray(predicted, dtype=float)).all()
    y = fit.data.design.response.family
    if response in ("y", "yes", "count"):
        values = new[response].to_numpy(dtype=float)
        score = y.score(values, predicted.to_numpy(), np.ones(len(new)))
        assert score > least
    elif response == "three":  # of what is added to all classes no probability depends
        effects = fit.refit("boosting").model.shape("a"), fit.model.shape("a")
        for own in effects:
            assert own[["mean_x", "mean_y", "mean_z"]].sum(axis=1).abs().max() < 1e-9


def test_a_smooth_effect_needs_no_forest_and_an_interaction_does():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((400, 2))
    frame = pd.DataFrame(x, columns=["a", "b"])
    smooth = frame.assign(y=x[:, 0] + x[:, 1] + 0.5 * rng.standard_normal(400))
    crossed = frame.assign(y=2 * (x[:, 0] > 0) * (x[:, 1] > 0) + 0.3 * rng.standard_normal(400))
    shares = []
    for data in (smooth, crossed):
        fit = treeselect.select("y ~ a + b", data, method="mrmr", k=2, seed=1).refit("stack")
        trees = fit.model.fitted.trees
        of_effects = trees.nodes.value.copy()
        of_effects[trees.start[fit.model.fitted.n_additive] :] = 0
        effects = trees._replace(nodes=trees.nodes._replace(value=of_effects))
        binned = fit.data.design.problem.data
        left = predict_sum(trees, binned) - predict_sum(effects, binned)
        shares.append(left.std() / data["y"].std())
    assert shares[0] < 0.1 < 0.3 < shares[1]


def test_the_unit_of_relative_weights_has_no_effect(frame):
    rng = np.random.default_rng(2)
    eta = 2 * np.sign(frame["a"] * frame["c"]) + rng.logistic(size=400)  # no effect: trees alone
    data = frame.assign(yes=eta > 0, three=np.array(list("xyz"))[np.digitize(eta, [-1, 1])])
    weight = rng.uniform(1, 3, 400)
    for response, model in (("yes", "stack"), ("three", "stack"), ("yes", "forest")):
        offset = {"offset": "exposure"} if model == "forest" else {}
        one, other = (
            stacked(data, response, model, weights=unit * weight, weights_kind="sampling", **offset)
            for unit in (1, 5000)
        )
        assert np.ravel(other.predict(data)) == pytest.approx(np.ravel(one.predict(data)))
        leaves = one.model.nodes().query("split.isna()").groupby("tree")["n"]
        assert (leaves.sum() == 400).all()  # rows are counted, whatever their weights
        if response == "three":  # of classes the totals are right
            totals = weight @ pd.get_dummies(data["three"]).to_numpy()
            assert weight @ one.predict(data).to_numpy() == pytest.approx(totals, rel=1e-6)


def test_log_hazards_of_an_interaction_are_neither_too_near_nor_too_far():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1000, 2))
    eta = 2 * np.sign(x[:, 0] * x[:, 1])
    data = pd.DataFrame(x, columns=["a", "b"])
    data = data.assign(time=rng.exponential(np.exp(-eta)) + 0.001, event=1)
    options = {"method": "mrmr", "k": 2, "seed": 1, "progress": False, "model": "stack"}
    fit = treeselect.select("Surv(time, event) ~ a + b", data.iloc[:400], **options)
    new = data.iloc[400:]
    link = fit.predict(new, type="link").to_numpy()
    assert sm.PHReg(new["time"], link).fit().params[0] == pytest.approx(1, abs=0.25)


def test_one_missing_value_does_not_decide_what_missing_values_tell():
    """One row of class 1 has no number; of new ones 0.99 was predicted."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        data = pd.DataFrame(rng.standard_normal((300, 2)), columns=["a", "b"])
        data["y"] = (rng.random(300) < 1 / (1 + np.exp(-data["a"]))).astype(int)
        data.loc[data["y"].idxmax(), "a"] = np.nan
        fit = treeselect.select("y ~ a + b", data, k=1, keep=["a"], seed=1, resamples=0)
        found.append(float(fit.predict(pd.DataFrame({"a": [np.nan], "b": [0.0]}))[0]))
    assert min(found) > 0.5
    assert np.mean(found) < 0.8


def test_offsets_missing_values_constraints_and_shares_of_importance(frame):
    fit = stacked(frame, "count", family="poisson", offset="exposure")
    more = frame.assign(exposure=frame["exposure"] + 1)
    assert fit.predict(more).to_numpy() == pytest.approx(np.e * fit.predict(frame).to_numpy())
    gap = fit.predict(frame.assign(a=np.nan))
    assert np.isfinite(gap.to_numpy()).all()
    fit = stacked(frame, "y", monotone={"a": 1, "c": -1})
    grid = pd.concat([frame.iloc[[5]]] * 50, ignore_index=True)
    for name, sign in (("a", 1), ("c", -1)):
        along = fit.predict(grid.assign(**{name: np.linspace(-2, 2, 50)})).to_numpy()
        assert (sign * np.diff(along) >= -1e-9).all()
    fit = stacked(frame, "y")
    importance = fit.tidy().set_index("term")["importance"]
    assert importance["c"] > importance["letter"] > importance["b"]
    assert (fit.model.fitted.importance >= 0).all()
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"a": rng.standard_normal(50), "y": rng.standard_normal(50)})
    fit = treeselect.select("y ~ a", data, k="auto", resamples=0, seed=1, progress=False)
    if fit.k == 0:
        assert fit.refit("stack").predict(data).to_numpy() == pytest.approx(data["y"].mean())
