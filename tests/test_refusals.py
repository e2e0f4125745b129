"""Every argument of every public callable refuses what it can't take, of whatever type it is.

A row of `DOORS` is a callable, an argument, and the names of the values below that it does take;
those are not tried. No call reaches a fit that a value should have kept it from.
"""

import datetime
import decimal
import fractions
import types

import numpy as np
import pandas as pd
import pytest
from quick import normal
from survival_data import small_fit, small_times

import treeselect
from treeselect import datasets
from treeselect.errors import TreeselectError

N = 40


class Raises:
    """Fails at whatever is asked of it."""

    __hash__ = object.__hash__

    def _fails(self, *arguments):
        raise RuntimeError("asked too much")

    __eq__ = __bool__ = __repr__ = __str__ = __len__ = __iter__ = __array__ = _fails

    def __getattr__(self, name):
        raise RuntimeError(name)


class Long:
    def __repr__(self):
        return "long " * 200_000


class OwnDict(dict):
    pass


VALUES = {
    "None": None, "NA": pd.NA, "NaT": pd.NaT, "nan": np.nan, "inf": np.inf,
    "no dimensions": np.array(3), "two": np.array([1, 2]), "empty array": np.array([]),
    "series": pd.Series([1, 2]), "frame": pd.DataFrame(), "table": np.zeros((N, 2)),
    "masked": np.ma.masked, "nested": [[1]] * N, "hostile list": [Raises()], "list": [],
    "dict": {}, "numbers": {1: 2}, "own dict": OwnDict(x1=pd.NA), "in a dict": {"x1": Raises()},
    "array in a dict": {"x1": np.array(3)}, "set": {3}, "object": object(), "raises": Raises(),
    "long": Long(), "function": lambda *arguments: 1.0, "class": int, "module": np,
    "bytes": b"x", "text": "\x00", "long text": "x" * 10_000, "half": "\ud800",
    "complex": 1 + 2j, "huge": 10**30, "beyond digits": 10**5000, "minus": -1.5, "zero": 0,
    "true": True, "time": np.timedelta64(1, "s"), "date": datetime.date(2020, 1, 1),
    "decimal": decimal.Decimal("sNaN"), "fraction": fractions.Fraction(1, 2),
}  # fmt: skip

NO = {"None"}
MANY = {"empty array", "list", "series"}
EMPTY = {"None", "dict"}
PATHS = {"text", "long text", "half"}


SAID = {"new": "`data`", "methods": "`method`", "method_options": "MRMR has no option `"}
"""How messages may call an argument, too."""


@pytest.fixture(scope="module")
def at_hand():
    """Data, a fit, one of complementary resamples and a comparison, all of them quick."""
    data = normal(1, N, ["x1", "x2"], x1=1)
    asked = {"formula": "y ~ x1 + x2", "data": data, "k": 1, "seed": 1, "progress": False}
    fit = treeselect.select(method="mrmr", **asked)
    return types.SimpleNamespace(
        data=data, asked=asked, fit=fit,
        stability=fit.resample(4, scheme="complementary").stability,
        comparison=treeselect.compare(methods=["mrmr", "cfs"], folds=2, **asked),
        term=fit.selected[0],
        imputed=treeselect.select(**asked | {"method": "mrmr", "data": [data, data]}),
        classes=treeselect.select("I(y > 0) ~ x1", data, method="mrmr", k=1, seed=1).performance(2),
        times=small_fit("Surv(time, dead) ~ risky", 1),
        risks=small_fit("Surv(time, dead) ~ risky", 1).model.risk_groups(2, folds=2),
        linear=fit.refit("glm"),
    )  # fmt: skip


def select(at, **given):
    return treeselect.select(**at.asked | {"method": "mrmr"} | given)


def compare(at, **given):
    return treeselect.compare(**at.asked | {"methods": ["mrmr"], "folds": 2} | given)


def imputed(at, **given):
    return treeselect.select(**at.asked | {"method": "mrmr", "data": [at.data, at.data]} | given)


def selector(at, **given):
    asked = {"method": "mrmr", "k": 1, "random_state": 1}
    return treeselect.TreeSelector(**asked | given).fit(at.data[["x1", "x2"]], at.data["y"])


def fit_selector(at, **given):
    return treeselect.TreeSelector("mrmr", 1).fit(at.data[["x1", "x2"]], at.data["y"], **given)


def classes(at, **given):
    return select(at, formula="I(y > 0) ~ x1 + x2", **given)


def with_data(at, **given):
    return at.fit.with_data(**{"data": at.data} | given)


SHARED = {
    "family": set(), "new_levels": set(), "scoring": {"None", "function", "class"},
    "weights": NO, "offset": NO, "groups": EMPTY, "costs": EMPTY, "keep": {"None", *MANY},
    "folds": set(), "repeats": {"true"}, "fold_groups": NO, "n_jobs": {"None", "true"},
    "trusted": {"true"}, "progress": {"None", "true"}, "seed": {"None", "zero", "true"},
    "labels": EMPTY, "positive": NO,
}  # fmt: skip
"""Arguments of `select` and `compare`."""

DOORS = {
    ("select", select): SHARED | {"folds": NO, "repeats": {"None", "true"}},
    ("compare", compare): SHARED,
    ("select ", select): {
        "data": PATHS, "formula": {"long text"}, "method": set(), "k": set(),
        "resamples": {"None", "zero"},
    },
    ("classes", classes): {"positive": {"None", "true", "zero"}},
    ("imputed", imputed): {"resamples": {"None", "zero"}, "k": set()},
    ("with_share", lambda at, **given: at.imputed.with_share(**given)): {"share": {"true"}},
    ("with_data", with_data): {"data": PATHS, "weights": NO, "offset": NO},
    ("compare ", compare): {"methods": set(), "k": {"two", "series"}},
    ("selector", selector): {
        "method": set(), "k": set(), "method_options": EMPTY, "family": set(), "groups": EMPTY,
        "costs": EMPTY, "keep": {"None", "zero", *MANY},
        "folds": NO, "repeats": NO, "scoring": SHARED["scoring"], "resamples": {"None", "zero"},
        "random_state": {"None", "zero"}, "n_jobs": NO,
    },
    ("selector.fit", fit_selector): {"sample_weight": NO, "fold_groups": NO},
    ("regression_table", lambda at, **given: at.linear.regression_table(**given)): {
        "models": set(), "per": EMPTY, "interval": NO,
    },
    ("confint", lambda at, **given: at.linear.confint(**given)): {"method": NO, "level": set()},
    ("performance.plot", lambda at, **given: at.classes.plot(**{"kind": "roc"} | given)): {
        "kind": set(), "of_class": NO, "ax": NO,
    },
    ("predict", lambda at, **given: at.fit.predict(**{"new": at.data} | given)): {
        "new": PATHS, "type": set(), "offset": NO,
    },
    ("augment", lambda at, **given: at.fit.augment(**{"data": at.data} | given)): {
        "data": PATHS, "offset": NO,
    },
    ("refit", lambda at, **given: at.fit.refit(**given)): {
        "model": set(),
    },
    ("inference", lambda at, **given: at.fit.inference(**given)): {
        "split": set(), "repeats": set(), "level": set(), "n_jobs": NO, "seed": {"None", "zero"},
    },
    ("resample", lambda at, **given: at.fit.resample(**{"n": 2} | given)): {
        "n": set(), "scheme": NO, "k": NO, "n_jobs": NO, "checkpoint": NO, "seed": {"None", "zero"},
    },
    ("performance", lambda at, **given: at.fit.performance(**{"folds": 2} | given)): {
        "folds": set(), "repeats": set(), "fold_groups": NO, "n_jobs": NO,
        "scoring": SHARED["scoring"], "seed": {"None", "zero"},
    },
    ("models", lambda at, **given: at.stability.models(**given)): {"n": {"None", "two"}},
    ("resample ", lambda at, **given: at.fit.resample(**{"n": 2} | given)): {
        "path": {"true"}, "effects": {"true"},
    },
    ("learning_curve", lambda at, **given: at.fit.search.learning_curve(**given)): {
        "shares": {"numbers"},
    },
    ("confusion", lambda at, **given: at.classes.confusion(**given)): {"threshold": NO},
    ("calibration", lambda at, **given: at.classes.calibration(**given)): {"n_groups": set()},
    ("risk_groups", lambda at, **given: at.times.model.risk_groups(**given)): {
        "n_groups": set(), "horizon": NO,
    },
    ("decision_curve", lambda at, **given: at.classes.decision_curve(**given)): {
        "thresholds": NO, "costs": {"None", "two", "series"},
    },
    ("validate", lambda at, **given: at.fit.validate(**{"n": 2} | given)): {
        "n": set(), "horizon": NO, "n_jobs": NO, "checkpoint": NO, "seed": {"None", "zero"},
    },
    ("by", lambda at, **given: at.classes.by(**given)): {"column": set()},
    ("sample_size", lambda at, **given: treeselect.sample_size(
        **{"parameters": 10, "family": "binomial", "prevalence": 0.3} | given
    )): {
        "parameters": set(), "family": set(), "prevalence": set(), "shrinkage": set(),
        "r2": NO, "explained": NO, "auc": NO,
    },
    ("predict ", lambda at, **given: at.times.predict(small_times(), "survival", **given)): {
        "times": {"two", "series", "zero", "huge"},
    },
    ("at", lambda at, **given: at.risks.at(**given)): {
        "times": {"two", "series", "numbers", "set", "huge"},
    },
    ("plot", lambda at, **given: at.fit.plot(**{"kind": "shape", "term": at.term} | given)): {
        "kind": set(), "term": set(), "other": NO, "ax": NO,
    },
    ("shape", lambda at, **given: at.fit.model.shape(**{"term": at.term} | given)): {
        "term": set(), "other": NO,
    },
    ("rules", lambda at, **given: at.fit.model.rules(**given)): {"tree": set()},
    ("neighbours", lambda at, **given: at.fit.data.neighbours(**given)): {
        "term": NO, "most": set(),
    },
    ("describe", lambda at, **given: at.fit.data.describe(**given)): {
        "variables": {"None", "empty array", "list"},
    },
    ("report", lambda at, **given: at.fit.report("never.html", **given)): {"performance": NO},
    ("report ", lambda at, **given: at.fit.report(**given)): {"path": {"long text"}},
    ("save", lambda at, **given: at.fit.save("never", **given)): {"include_data": {"true"}},
    ("save ", lambda at, **given: at.fit.save(**given)): {"path": {"long text"}},
    ("conditional", lambda at, **given: at.fit.model.conditional_importance(**given)): {
        "folds": NO, "terms": NO, "repeats": {"None", "true"}, "given": set(),
    },
    ("pfer", lambda at, **given: at.stability.pfer(**given)): {
        "threshold": set(), "assumption": set(),
    },
    ("differences", lambda at, **given: at.comparison.differences(**given)): {
        "reference": NO, "k": {"None", "zero"},
    },
    ("comparison.plot", lambda at, **given: at.comparison.plot(**given)): {
        "kind": set(), "ax": NO,
    },
    ("datasets.load", lambda at, **given: datasets.load(**given)): {"name": set()},
    ("friedman", lambda at, **given: datasets.simulate_friedman(**{"seed": 1} | given)): {
        "n": set(), "noise": {"zero"}, "binary": {"true"}, "seed": {"None", "zero"},
    },
    (
        "copies",
        lambda at, **given: datasets.simulate_noisy_copies(
            **{"data": at.data, "columns": ["x1"], "copies": 1, "seed": 1} | given
        ),
    ): {
        "data": set(), "columns": {"None", *MANY}, "copies": {"zero"}, "noise": {"zero"},
        "response": NO, "seed": {"None", "zero"},
    },
}  # fmt: skip

ROWS = [
    pytest.param(call, argument, takes, id=f"{name.strip()}-{argument}")
    for (name, call), arguments in DOORS.items()
    for argument, takes in arguments.items()
]


@pytest.mark.parametrize(("call", "argument", "takes"), ROWS)
def test_what_an_argument_does_not_take_is_refused_by_name(
    at_hand, call, argument, takes, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert takes <= VALUES.keys()
    for name, value in VALUES.items():
        if name in takes:
            continue
        try:
            call(at_hand, **{argument: value})
        except TreeselectError as error:
            text = str(error)
            assert len(text) < 1500, name
            named = f"`{argument}`"
            assert named in text or SAID.get(argument, named) in text, (name, text)
        except Exception as error:
            raise AssertionError(f"{argument} = {name}: {error!r:.200}") from error
        else:
            raise AssertionError(f"{argument} = {name} was taken")
    assert list(tmp_path.iterdir()) == []
