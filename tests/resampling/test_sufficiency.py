"""The smallest sufficient set: simulated truth, interactions, noise, and what the rule records."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.algorithms.exchange import ExchangeSearch
from treeselect.algorithms.shared.task import Task
from treeselect.errors import OptionError
from treeselect.resampling.sufficiency import LEVEL, Sufficiency, sufficient_words


def fitted(frame, formula="y ~ .", **options):
    options = {"k": "auto", "seed": 1, "n_jobs": 1, "progress": False, "resamples": 0} | options
    return treeselect.select(formula, frame, **options)


def numbers(x):
    return pd.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])])


@pytest.fixture(scope="module")
def linear():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 6))
    return numbers(x).assign(y=x[:, 0] + 0.4 * x[:, 1] + rng.standard_normal(300))


@pytest.fixture(scope="module")
def fit(linear):
    return fitted(linear)


def test_linear_effects_are_found_and_noise_is_not(fit):
    assert set(fit.selected) == {"x0", "x1"}
    assert "no larger set predicts better (p = " in fit.call.rule


def test_p_values_are_small_until_the_set_is_sufficient(fit):
    p_values = fit.scores.p_values
    assert len(p_values) == fit.k + 1
    assert (p_values[:2] < LEVEL).all()
    assert p_values[2] > LEVEL


def test_an_interaction_without_main_effects_is_found():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((400, 6))
    frame = numbers(x).assign(y=((x[:, 0] > 0) != (x[:, 1] > 0)).astype(int))
    assert set(fitted(frame).selected) == {"x0", "x1"}


def test_nothing_is_a_possible_answer():
    rng = np.random.default_rng(2)
    frame = numbers(rng.standard_normal((120, 5))).assign(y=rng.standard_normal(120))
    fit = fitted(frame)
    assert fit.selected == ()
    text = " ".join(str(fit.summary()).split())
    assert "no set predicts better than none" in text
    assert "No term was selected: no set that the search found predicts better than none." in text
    assert "cross-validated score enough" not in text


def test_kept_terms_stay(linear):
    fit = fitted(linear, keep="x5")
    assert set(fit.selected) == {"x0", "x1", "x5"}


@pytest.mark.parametrize(
    ("formula", "family"),
    [("count ~ .", "poisson"), ("Surv(time, event) ~ .", "auto"), ("three ~ .", "auto")],
)
def test_other_families(formula, family):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((300, 4))
    frame = numbers(x)
    eta = 0.8 * x[:, 0]
    if "count" in formula:
        frame["count"] = rng.poisson(np.exp(eta))
    elif "three" in formula:
        frame["three"] = np.array(list("abc"))[
            np.digitize(2 * eta + rng.logistic(size=300), [-1, 1])
        ]
    else:
        frame["time"], frame["event"] = rng.exponential(np.exp(-eta)) + 0.01, rng.random(300) < 0.8
    assert set(fitted(frame, formula, family=family).selected) == {"x0"}


def test_clusters_are_no_independent_rows():
    rng = np.random.default_rng(4)
    x = rng.standard_normal((40, 4))
    y = rng.standard_normal(40)
    frame = numbers(np.repeat(x, 5, axis=0)).assign(y=np.repeat(y, 5), who=np.repeat(range(40), 5))
    frame["y"] += 0.2 * rng.standard_normal(200)
    assert fitted(frame, fold_groups="who").selected == ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert fitted(frame.drop(columns="who")).selected != ()


def test_any_method_can_leave_k_to_the_tests(linear):
    for method in ("mrmr", "lasso", "importance"):
        assert set(fitted(linear, method=method).selected) == {"x0", "x1"}


def test_units_that_became_redundant_are_removed(linear):
    class Wrong(treeselect.Method):
        """Noise first."""

        name = "wrong"

        def path(self, task):
            order = ["x4", "x0", "x1", "x2"]
            names = np.array(task.problem.groups.names)
            return [
                self.scored_step(task, n, np.isin(names, order[:n]), np.ones(len(names)))
                for n in range(5)
            ]

    fit = fitted(linear, method=Wrong())
    assert set(fit.selected) == {"x0", "x1"}


def test_what_is_said_of_k_names_the_tests_and_no_folds(fit):
    text = " ".join(str(fit.summary()).split())
    assert "tests on all rows chose k" in text
    assert "same folds chose" not in text
    assert "Most paths end" not in text
    told = " ".join(str(fit.citation()).split())
    assert "The number of terms was chosen on all rows" in told
    assert "In 2-fold cross-validation, R2 with this number" in told


def test_compare_refuses_a_rule_without_scores(linear):
    with pytest.raises(OptionError, match='"1se" or "best"'):
        treeselect.compare("y ~ .", linear, ["mrmr", "lasso"], k="auto", progress=False)


def test_model_files_keep_the_p_values(fit, tmp_path):
    fit.save(tmp_path / "fit.model")
    again = treeselect.load(tmp_path / "fit.model")
    assert np.array_equal(again.scores.p_values, fit.scores.p_values, equal_nan=True)
    assert again.choice.k == "auto"
    assert str(again.summary()).splitlines()[:6] == str(fit.summary()).splitlines()[:6]


def test_words_tell_when_the_rest_is_negligible():
    assert sufficient_words(np.array([0.001, 0.002])) == (
        "no larger set on the path predicts notably better"
    )


def test_sets_that_could_have_been_found_are_counted(linear):
    design = treeselect.select("y ~ .", linear, method="mrmr", k=1, seed=1, progress=False).design
    task = Task(design.problem_for(ExchangeSearch()), design.row_weights, max_size=3, seed=1)
    tests = Sufficiency(task)
    names = np.array(task.problem.groups.names)
    one, two = np.isin(names, ["x0"]), np.isin(names, ["x0", "x1"])
    three = np.isin(names, ["x0", "x1", "x2"])
    assert tests.of_set(one, two) < LEVEL
    assert tests.of_set(two, three) > LEVEL
    assert tests.of_units(one) < LEVEL
    assert tests.of_units(np.ones(len(names), dtype=bool)) == 1
