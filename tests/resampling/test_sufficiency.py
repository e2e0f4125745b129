"""The smallest sufficient set: simulated truth, interactions, noise, and what the rule records."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.algorithms.search.exchange import ExchangeSearch
from treeselect.algorithms.task import Task
from treeselect.arguments.checks import USUAL_SIZE
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling.assessing import resample_weights
from treeselect.resampling.choosing import LEVEL, Sufficiency, sufficient_words


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
    return fitted(linear, resamples=6)


def test_linear_effects_are_found_and_noise_is_not(fit):
    assert set(fit.selected) == {"x0", "x1"}
    assert "no larger set predicts better (p = " in fit._fit.call.rule


def test_p_values_are_small_until_the_set_is_sufficient(fit):
    p_values = fit.search.p_values
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
    told = " ".join(str(fit.search.citation()).split())
    assert "the number of terms was chosen on all rows" in told
    assert "In 6 half-samples, each scored on other rows, R2 with this number" in told


def test_half_samples_repeat_the_choice_and_score_sets_on_the_other_half(fit, linear):
    stability = fit.stability
    assert (stability.scheme, stability.n_resamples, stability.fixed_size) == (
        "complementary", 6, False,
    )  # fmt: skip
    assert len(set(stability.selected.sum(axis=1).tolist())) > 1  # k varies
    assert stability.frequency[0] == 1
    assert fit.search.scores.sizes == [0, 1, 2, 3, 4]
    y = linear["y"].to_numpy()
    for number, score in enumerate(fit.search.scores.scores[:, 0]):  # the mean of the half
        half = resample_weights(
            fit.data.design.problem,
            fit.data.design.row_weights,
            "complementary",
            number,
            stability.seed,
        ).used
        left = ((y[~half] - y[half].mean()) ** 2).sum()
        assert score == pytest.approx(1 - left / ((y[~half] - y[~half].mean()) ** 2).sum())
    gain = np.diff(fit.search.scores.mean)
    assert (gain[:2] > 0.05).all()
    assert (gain[2:] < 0.02).all()


def test_half_samples_are_the_same_for_any_order_of_columns_and_processes(fit, linear):
    again = fitted(linear[["x3", "y", "x1", "x5", "x0", "x2", "x4"]], resamples=6, n_jobs=2)
    assert set(again.selected) == set(fit.selected)
    assert again.stability.tidy().equals(fit.stability.tidy())
    np.testing.assert_allclose(again.search.scores.scores, fit.search.scores.scores)
    more = fit.resample(8)
    assert np.array_equal(more.search.scores.scores[:6], fit.search.scores.scores)
    assert np.array_equal(more.stability.selected[:6], fit.stability.selected)


def test_halves_have_the_same_share_of_events():
    data = treeselect.datasets.load("gbsg2").head(101)
    fit = treeselect.select("Surv(time, cens) ~ age + pnodes", data, method="mrmr", k=1, seed=1)
    events = fit.data.design.problem.y[:, 1] == 1
    for number in range(6):
        used = resample_weights(
            fit.data.design.problem, fit.data.design.row_weights, "complementary", number, 1
        ).used  # fmt: skip
        assert abs(int(events[used].sum()) - events.sum() / 2) <= 0.5


def test_without_half_samples_there_is_no_score(linear):
    fit = fitted(linear[["x0", "x1", "y"]])
    assert fit.search.scores is None
    assert fit._fit.resampled is None
    assert fit.search.p_values is not None


def test_too_few_events_for_halves_are_told_and_no_error():
    rng = np.random.default_rng(0)
    x = np.arange(12.0)
    data = pd.DataFrame({"x": x, "z": rng.standard_normal(12), "y": x == 11})
    fit = treeselect.select("y ~ x + z", data, keep="x", seed=1, progress=False)
    assert fit._fit.resampled is None
    assert "No half-samples were searched." in " ".join(str(fit.summary()).split())
    with pytest.raises(StabilityError, match="constant response"):
        treeselect.select("y ~ x + z", data, keep="x", resamples=4, seed=1, progress=False)


def test_folds_ask_for_scores(linear):
    few = linear[["x0", "x1", "y"]]
    assert fitted(few, k=USUAL_SIZE, method="mrmr", folds=2, resamples=None)._fit.choice.k == "1se"
    with pytest.raises(OptionError, match='`folds` needs `k="1se"`'):
        fitted(few, method="mrmr", folds=2)


def test_compare_refuses_a_rule_without_scores(linear):
    with pytest.raises(OptionError, match='"1se" or "best"'):
        treeselect.compare("y ~ .", linear, ["mrmr", "lasso"], k="auto", progress=False)


def test_model_files_keep_the_p_values(fit, tmp_path):
    fit.save(tmp_path / "fit.model")
    again = treeselect.load(tmp_path / "fit.model")
    assert np.array_equal(again.search.p_values, fit.search.p_values, equal_nan=True)
    assert again._fit.choice.k == "auto"
    assert again.search.scores.of_halves
    assert np.array_equal(again.search.scores.scores, fit.search.scores.scores)
    assert str(again.stability) == str(fit.stability)
    assert str(again.summary()).splitlines()[:6] == str(fit.summary()).splitlines()[:6]


def test_words_tell_when_the_rest_is_negligible():
    assert sufficient_words(np.array([0.001, 0.002])) == (
        "no larger set on the path predicts notably better"
    )


def test_sets_that_could_have_been_found_are_counted(linear):
    design = treeselect.select(
        "y ~ .", linear, method="mrmr", k=1, seed=1, progress=False
    ).data.design
    task = Task(design.problem_for(ExchangeSearch()), design.row_weights, max_size=3, seed=1)
    tests = Sufficiency(task)
    names = np.array(task.problem.groups.names)
    one, two = np.isin(names, ["x0"]), np.isin(names, ["x0", "x1"])
    three = np.isin(names, ["x0", "x1", "x2"])
    assert tests.of_set(one, two) < LEVEL
    assert tests.of_set(two, three) > LEVEL
    assert tests.of_units(one) < LEVEL
    assert tests.of_units(np.ones(len(names), dtype=bool)) == 1


def responses(family, effect, seed):
    """A response of a family, and the formula and options of its model."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((150, 4))
    frame, eta = numbers(x), effect * x[:, 0]
    if family == "cox":
        time, until = rng.exponential(np.exp(-eta)), rng.exponential(1.0, 150)
        frame = frame.assign(
            time=np.minimum(time, until), event=time <= until, site=rng.choice(3, 150)
        )
        return frame, "Surv(time, event) ~ . - site + strata(site)"
    y = {
        "gaussian": lambda: eta + rng.standard_t(3, 150),
        "binomial": lambda: (rng.logistic(size=150) < eta - 1).astype(int),
        "multinomial": lambda: np.array(["a", "b", "c"])[
            np.digitize(eta + rng.logistic(size=150), [-1, 1])
        ],
        "poisson": lambda: rng.poisson(np.exp(eta)),
    }[family]()
    return frame.assign(y=y), "y ~ ."


@pytest.mark.parametrize("family", ["gaussian", "binomial", "multinomial", "poisson", "cox"])
def test_p_values_of_nothing_are_uniform_on_noise_and_small_where_there_is_an_effect(family):
    def p_values(effect):
        for seed in range(20):
            frame, formula = responses(family, effect, seed)
            own = treeselect.select(
                formula, frame, family=family, method="mrmr", k=1, seed=1, progress=False
            ).data.design
            task = Task(own.problem_for(ExchangeSearch()), own.row_weights, max_size=1, seed=1)
            yield Sufficiency(task).of_units(np.zeros(4, dtype=bool))

    assert np.mean(list(p_values(0.0))) == pytest.approx(0.5, abs=0.2)
    assert np.median(list(p_values(0.8))) < LEVEL
