"""Calls in words: what could be typed again, and names for what could not."""

import inspect
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import TimeSeriesSplit

import treeselect
from treeselect import MRMR, RRF, ControlBurn, select, selection
from treeselect.arguments.checks import USUAL_SIZE
from treeselect.printing.text import code_lines
from treeselect.results.calls import call_text, code_text, data_text, step_text
from treeselect.results.fitting import ARGUMENTS


def text_of(**arguments):
    """The arguments in words."""
    text = call_text("select", pd.DataFrame(), {"formula": "y ~ ."} | arguments, ARGUMENTS).text
    assert text.startswith('treeselect.select("y ~ .", data')
    return text.removeprefix('treeselect.select("y ~ .", data').removesuffix(")").lstrip(", ")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("k", 3, "k=3"),
        ("k", np.int64(3), "k=3"),
        ("k", USUAL_SIZE, ""),
        ("k", "1se", 'k="1se"'),
        ("folds", np.int64(5), "folds=5"),
        ("folds", None, ""),
        ("folds", TimeSeriesSplit(3), "folds=TimeSeriesSplit("),
        ("folds", [0, 1, 0, 1], "folds=folds"),
        ("weights", "w", 'weights="w"'),
        ("weights", None, ""),
        ("weights", np.ones(3), "weights=weights"),
        ("seed", 7, "seed=7"),
        ("resamples", 20, "resamples=20"),
        ("keep", {"b", "a"}, 'keep=["a", "b"]'),
        ("mtry", None, "mtry=None"),
        ("lam", np.float64(0.5), "lam=0.5"),
        ("lam", float("inf"), 'lam=float("inf")'),
        ("groups", {"body": ["height", "weight"]}, 'groups={"body": ["height", "weight"]}'),
        ("labels", {"age": "Age", "sex": None}, 'labels={"age": "Age", "sex": None}'),
        ("labels", {"age": "long " * 50}, "labels=labels"),
        ("labels", {"age": 'the "age"'}, """labels={"age": 'the "age"'}"""),
        ("labels", None, ""),
        ("method", "exchange", ""),
        ("method", RRF(n_trees=5), "method=treeselect.RRF(n_trees=5)"),
        ("method", SelectKBest(k=3), "method=SelectKBest(k=3)"),
        ("method", ControlBurn(forests=1, constraints=len), "method=method"),
        ("scoring", np.median, "scoring=scoring"),
    ],
)
def test_values_in_words(name, value, text):
    found = text_of(**{name: value})
    assert found.startswith(text) if text.endswith("(") else found == text


def test_options_and_steps_in_words_and_every_argument_is_printed(monkeypatch):
    arguments = {"formula": "y ~ .", "weights": np.ones(3), "scoring": np.median, "k": 2}
    unshown = call_text("select", pd.DataFrame(), arguments, ARGUMENTS).unshown
    assert unshown == ("weights", "scoring")
    method = ControlBurn(forests=1, loss="hinge")
    text = text_of(method=method).removeprefix("method=")
    assert eval(text, {"treeselect": treeselect}) == method
    resample = treeselect.SelectionResult.resample
    found = step_text(resample, {"n": 100, "scheme": "subsample", "seed": 3, "path": False})
    assert found == '.resample(100, scheme="subsample", seed=3)'
    # A new argument of `select` must reach the printed call without being listed anywhere.
    caught = []
    monkeypatch.setattr(selection, "fit_selection", lambda *given: caught.append(given))
    usual = inspect.signature(select).parameters
    names = {*usual, *ARGUMENTS} - {"options"}
    select(**dict.fromkeys(names, "x"), n_trees=3)
    ((_, formula, given),) = caught
    assert set(given) == names - {"formula", "data"} | {"n_trees"}
    text = call_text("select", "d.csv", {"formula": formula, **given}, ARGUMENTS).text
    for name in set(given) - {"n_jobs", "progress"}:
        assert f"{name}=" in text
    assert all(usual[name].default is ARGUMENTS[name] for name in set(ARGUMENTS) & set(usual))


def test_data_in_words_and_a_long_call_is_broken_as_black_breaks_it():
    path = Path("somewhere") / "passengers.csv"
    frame = pd.DataFrame(np.zeros((1200, 2)))
    assert data_text(path, frame.shape) == "passengers.csv"
    assert data_text(frame, frame.shape) == "a data frame of 1,200 rows and 2 columns"
    text = call_text("select", str(path), {"formula": "y ~ ."}, {}).text
    assert text == f'treeselect.select("y ~ .", {code_text(repr(str(path)))})'
    text = (
        'treeselect.select("y ~ .", data, method=treeselect.RRF(n_trees=20), k=3,'
        ' keep=["sex"], seed=1).resample(5, seed=1)'
    )
    lines = code_lines(text, 40)
    assert "\n".join(lines) == (
        "treeselect.select(\n"
        '    "y ~ .",\n'
        "    data,\n"
        "    method=treeselect.RRF(n_trees=20),\n"
        "    k=3,\n"
        '    keep=["sex"],\n'
        "    seed=1,\n"
        ").resample(5, seed=1)"
    )
    assert code_lines(text, 200) == [text]
    assert code_lines("not a call(", 3) == ["not a call("]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "c", "w x"])
    frame["w x"] = rng.integers(1, 3, 60)
    frame["site"] = np.repeat(list("uvwxyz"), 10)
    return frame.assign(y=frame["a"] + 0.5 * frame["b"] + rng.normal(size=60))


CALLS = {
    "drawn seed": {"method": "rrf", "n_trees": 5, "k": 1},
    "object": {"method": RRF(n_trees=5, max_depth=3), "folds": 2, "repeats": 2},
    "selector": {"method": SelectKBest(f_regression, k=2)},
    "choices": {
        "method": MRMR(), "k": "best", "folds": 3, "groups": {"both": ["a", "c"]}, "keep": ["b"],
        "weights": "w x", "fold_groups": "site", "labels": {"a": "it's a"},
        "scoring": "neg_mean_squared_error",
    },
    "resamples": {"method": "mrmr", "k": 1, "resamples": 3, "new_levels": "missing"},
    "tuning": {"method": "grrf", "gamma": 0.5, "n_trees": 5, "costs": {"a": 2.0}},
}  # fmt: skip


def repeated(text, data):
    """What the printed call gives."""
    scope = {"treeselect": treeselect, "data": data, "SelectKBest": SelectKBest}
    return eval(text, scope | {"f_regression": f_regression})


@pytest.mark.parametrize("name", CALLS)
def test_the_printed_call_repeats_the_answer(name, data):
    fit = select("y ~ . - site", data, **CALLS[name])
    assert not fit._fit.call.unshown
    again = repeated("\n".join(code_lines(fit._fit.call.whole, 60)), data)
    assert again.selected == fit.selected
    assert again._fit.call == fit._fit.call
    np.testing.assert_array_equal(again.predict(data), fit.predict(data))
    if fit.search.scores is not None:
        np.testing.assert_array_equal(again.search.scores.scores, fit.search.scores.scores)
    if fit._fit.resampled is not None:
        np.testing.assert_array_equal(again.stability.selected, fit.stability.selected)


def test_later_steps_and_comparisons_are_repeated_by_their_calls(data):
    fit = select("y ~ a + b + c", data, method="mrmr", k=1, seed=2)
    steps = fit.resample(3).resample(4, scheme="subsample", seed=5)
    assert steps._fit.call.whole.count(".resample(") == 1  # the later one replaces the other
    again = repeated(steps._fit.call.whole, data)
    np.testing.assert_array_equal(again.stability.selected, steps.stability.selected)
    halves = select("y ~ a + b", data, seed=1).resample(4, seed=3)
    steps = halves.resample(2, scheme="bootstrap").resample(3, scheme="bootstrap")
    again = repeated(steps._fit.call.whole, data)  # the scores are those of the halves
    np.testing.assert_array_equal(again.search.scores.scores, steps.search.scores.scores)
    assert steps.resample(2)._fit.call.steps == ".resample(2, seed=1)"
    measured = fit.performance(3, repeats=2, seed=9)
    np.testing.assert_array_equal(repeated(measured.call, data).scores, measured.scores)
    tested = fit.inference(repeats=2, seed=4, level=0.9)
    pd.testing.assert_frame_equal(repeated(tested.call, data).tidy(), tested.tidy())
    methods = {"few": RRF(n_trees=3), "mrmr": "mrmr"}
    found = treeselect.compare("y ~ a + b + c", data, methods, k=[1, 2], folds=2)
    again = repeated(found.call, data)
    columns = ["method", "fold", "k", "n_selected", "score", "terms"]
    pd.testing.assert_frame_equal(again.tidy()[columns], found.tidy()[columns])
