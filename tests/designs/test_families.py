"""More than two classes, and counts: from the formula to the prediction."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import log_loss

import treeselect
from treeselect.algorithms.task import Task
from treeselect.cli.main import main
from treeselect.designs.families import (
    BINOMIAL,
    COX,
    GAUSSIAN,
    KINDS,
    POISSON,
    family_of,
    multinomial,
)
from treeselect.designs.scoring import with_scoring
from treeselect.designs.weights import row_weights
from treeselect.errors import MethodError, OptionError


@pytest.fixture(scope="module")
def flowers() -> pd.DataFrame:
    """Three kinds, by two of four columns and a factor."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(450, 4)), columns=list("abcd"))
    data["soil"] = rng.choice(["clay", "sand"], size=450)
    score = np.stack([3 * data["a"], 3 * data["b"], 2.5 * (data["soil"] == "sand")], axis=1)
    data["kind"] = np.array(["iris", "lily", "rose"])[(score + rng.gumbel(size=(450, 3))).argmax(1)]
    data.loc[::17, "c"] = np.nan
    return data


@pytest.fixture(scope="module")
def visits() -> pd.DataFrame:
    """Counts that rise with `a` and with the time that was watched."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(500, 3)), columns=list("abc"))
    data["time"] = rng.uniform(0.5, 4, size=500)
    data["log_time"] = np.log(data["time"])
    data["n"] = rng.poisson(data["time"] * np.exp(data["a"]))
    return data


@pytest.fixture(scope="module")
def three(flowers):
    return treeselect.select(
        "kind ~ .", flowers, method="gbfs", k=3, seed=1, n_trees=40, newton=True, resamples=4
    )


def test_three_classes_have_a_probability_each(three, flowers):
    assert set(three.selected) == {"a", "b", "soil"}
    assert three.family == "multinomial"
    new = flowers.iloc[5:50].set_index(np.arange(45) * 2)
    shares = three.predict(new)
    assert list(shares.columns) == ["iris", "lily", "rose"]
    assert shares.index.tolist() == new.index.tolist()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    likely = three.predict(new, "class")
    assert likely.tolist() == shares.idxmax(axis=1).tolist()
    assert np.mean(likely == new["kind"]) > 0.7
    np.testing.assert_allclose(np.exp(three.predict(new, "link")), np.maximum(shares, 1e-6))
    assert three.augment(new)["fitted"].tolist() == likely.tolist()


def test_prediction_answers_in_the_library_of_the_data(three, flowers):
    frame = pl.from_pandas(flowers)
    shares = three.predict(frame)
    assert isinstance(shares, pl.DataFrame)
    np.testing.assert_array_equal(shares.to_numpy(), three.predict(flowers).to_numpy())
    assert three.augment(frame)["fitted"].to_list() == three.predict(flowers, "class").tolist()


def test_models_of_three_classes_are_saved_and_loaded(three, flowers, tmp_path):
    three.save(tmp_path / "m")
    loaded = treeselect.load(tmp_path / "m")
    pd.testing.assert_frame_equal(loaded.predict(flowers), three.predict(flowers))
    assert loaded.summary().as_text() == three.summary().as_text()


def test_summary_and_report_speak_of_three_classes(three, tmp_path):
    text = three.summary().as_text()
    assert "multinomial (`kind` is text with three classes)" in text
    assert "positive class" not in text
    assert "multinomial" in three.report(tmp_path / "r.html").read_text()


def test_cross_validation_scores_the_explained_deviance(flowers):
    fit = treeselect.select(
        "kind ~ .", flowers, method="gbfs", seed=1, folds=3, n_trees=30, newton=True
    )
    assert fit.glance()["score"].item() == "D2"
    assert 0.2 < fit.glance()["cv_score"].item() < 1
    nothing = fit.path[fit.path["k"] == 0]
    assert abs(nothing["cv_score"].item()) < 0.05


@pytest.mark.parametrize("family", [GAUSSIAN, BINOMIAL, POISSON, multinomial(3)])
def test_rows_with_one_value_have_no_score(family):
    y, weight = np.array([1.0, 1.0, 0.0]), np.array([1, 1, 0])
    prediction = np.full((3, 3), 1 / 3) if family.n_classes > 2 else np.full(3, 0.5)
    assert np.isnan(family.score(y, prediction, weight))
    assert np.isfinite(family.score(y, prediction, np.ones(3)))


def test_nothing_selected_predicts_the_shares_of_the_classes(flowers):
    fit = treeselect.select("kind ~ c", flowers, method="rrf", lam=0.0, n_trees=5, seed=1)
    assert fit.selected == ()
    expected = flowers["kind"].value_counts(normalize=True).sort_index()
    np.testing.assert_allclose(fit.predict(flowers).iloc[0], expected)


def test_weights_of_three_classes(flowers):
    weight = np.random.default_rng(0).integers(0, 3, size=len(flowers))
    for given in (weight, weight * 0.5):
        fit = treeselect.select(
            "kind ~ .", flowers, method="grrf", k=3, seed=1, n_trees=50, weights=given
        )
        assert "a" in fit.selected
        assert fit.search.step.train_score > 0


@pytest.mark.parametrize("method", ["controlburn", "rrf", "rboost", "gbfs"])
def test_a_class_without_rows_in_a_resample_is_no_obstacle(flowers, method):
    rare = flowers.assign(kind=np.where(np.arange(450) < 2, "tulip", flowers["kind"]))
    few = {"n_trees": 8} | ({"forests": 1} if method == "controlburn" else {})
    fit = treeselect.select("kind ~ .", rare, method=method, k=2, seed=1, **few)
    weight = np.where(np.arange(450) < 2, 0, 1)
    problem = fit.data.design.problem_for(fit.search.method)
    steps = fit.search.method.path(Task(problem, row_weights(weight), max_size=2, seed=1))
    assert all(np.isfinite(step.train_score) for step in steps)
    model = fit.search.method.final_model(
        Task(problem, row_weights(weight), max_size=9, seed=1), steps[-1]
    )
    assert not model.predict(problem)[:, 3].any()
    assert fit.resample(2).stability.n_resamples == 2


def test_an_offset_is_for_one_linear_predictor(flowers):
    with pytest.raises(OptionError, match="`offset` needs a single linear predictor"):
        treeselect.select("kind ~ a", flowers, method="rrf", k=1, offset="b")


def test_controlburn_of_three_classes_has_one_tree_for_all(flowers):
    fit = treeselect.select("kind ~ .", flowers, method="controlburn", k=3, seed=1, forests=2)
    assert set(fit.selected) == {"a", "b", "soil"}
    assert fit.search.step.train_score > 0.2
    with pytest.raises(MethodError, match="must be whole numbers"):
        treeselect.select(
            "kind ~ .", flowers, method="controlburn", k=3, seed=1, weights=np.linspace(0.5, 1, 450)
        )


@pytest.mark.parametrize("method", ["controlburn", "rrf", "rboost", "gbfs"])
def test_counts_with_and_without_an_exposure(visits, method):
    plain = treeselect.select(
        "n ~ a + b + c + time", visits, family="poisson", method=method, k=2, seed=1, n_trees=40
    )
    assert set(plain.selected) == {"a", "time"}
    assert (plain.predict(visits) > 0).all()
    known = treeselect.select(
        "n ~ a + b + c", visits, family="poisson", method=method, k=1, seed=1, n_trees=40,
        offset="log_time",
    )  # fmt: skip
    assert known.selected == ("a",)
    twice = visits.assign(log_time=visits["log_time"] + np.log(2))
    np.testing.assert_allclose(known.predict(twice), 2 * known.predict(visits))
    np.testing.assert_allclose(np.exp(known.predict(visits, "link")), known.predict(visits))
    explained = POISSON.score(visits["n"].to_numpy(float), known.predict(visits).to_numpy(),
                              np.ones(500))  # fmt: skip
    assert explained > 0.5


def test_counts_in_the_hundreds_do_not_run_away():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(300, 2)), columns=list("ab"))
    data["n"] = rng.poisson(300 * np.exp(data["a"]))
    for method in ("gbfs", "rboost"):
        fit = treeselect.select("n ~ .", data, family="poisson", method=method, k=1, seed=1)
        assert fit.selected == ("a",)
        assert 0.8 < fit.search.steps[-1].train_score <= 1


def test_scores_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    y, shares = rng.integers(0, 3, size=50), rng.dirichlet(np.ones(3), size=50)
    weight = rng.random(50)
    base = np.tile(np.bincount(y, weight) / weight.sum(), (50, 1))
    expected = 1 - log_loss(y, shares, sample_weight=weight) / log_loss(
        y, base, sample_weight=weight
    )
    assert multinomial(3).score(y * 1.0, shares, weight) == pytest.approx(expected)
    counts, mean = rng.poisson(3, size=50) * 1.0, rng.uniform(1, 5, size=50)

    def deviance(m):
        part = np.where(counts > 0, counts * np.log(np.where(counts > 0, counts, 1) / m), 0)
        return 2 * np.average(part - counts + m, weights=weight)

    centre = np.full(50, np.average(counts, weights=weight))
    expected = 1 - deviance(mean) / deviance(centre)
    assert POISSON.score(counts, mean, weight) == pytest.approx(expected)


def test_families_by_name():
    assert family_of("multinomial", 4).n_classes == 4
    assert family_of("poisson", 0) is POISSON
    for name, n in (("multinomial", 2), ("binomial", 3), ("gaussian", 2), ("normal", 0)):
        with pytest.raises(KeyError):
            family_of(name, n)


def test_bounds_of_scores():
    """A family knows them; of a score of the user's they are not known."""
    shares, explained, any_score = (0, 1), (-np.inf, 1), (-np.inf, np.inf)
    assert BINOMIAL.score_bounds == COX.score_bounds == shares
    for family in (GAUSSIAN, POISSON, multinomial(3)):
        assert family.score_bounds == explained
    assert with_scoring(BINOMIAL, "neg_log_loss").score_bounds == any_score
    kinds = {key: kind.bounds for key, kind in KINDS.items()}
    assert kinds == {
        "harrell_c": shares,
        "uno_c": shares,
        "integrated_brier": explained,
        "cox_deviance": explained,
    }


def test_on_the_command_line(flowers, tmp_path, capsys):
    path = tmp_path / "flowers.csv"
    flowers.to_csv(path, index=False)
    model, facts = str(tmp_path / "m"), tmp_path / "f.json"
    assert main(["select", "kind ~ a + b + soil", str(path), "--method", "grrf", "-k", "2",
                 "--seed", "1", "--save", model, "--json", str(facts)]) == 0  # fmt: skip
    assert json.loads(facts.read_text())["glance"]["family"] == "multinomial"
    capsys.readouterr()
    assert main(["predict", model, str(path)]) == 0
    assert capsys.readouterr().out.startswith("iris,lily,rose\n")


@pytest.mark.parametrize("family", [GAUSSIAN, BINOMIAL, POISSON, multinomial(3)])
def test_rows_of_weight_0_leave_nothing_behind(family):
    """Not even rounding, nor a label that only they have."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 30).astype(float)
    prediction = rng.uniform(0.1, 0.9, (30, 3) if family.n_classes > 2 else 30)
    weight = np.where(np.arange(30) % 3 > 0, rng.random(30), 0.0)
    y[0] = max(family.n_classes - 1, 1)
    there = weight > 0
    assert family.score(y, prediction, weight) == family.score(
        y[there], prediction[there], weight[there]
    )
