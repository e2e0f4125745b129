"""The full texts of what a user reads after a mistake: messages are interface."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import hinge_loss, make_scorer
from sklearn.model_selection import TimeSeriesSplit

import treeselect
from treeselect.errors import TreeselectError, near

N = 40


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "survived": rng.integers(0, 2, size=N),
            "age": rng.normal(40, 9, size=N).round(1),
            "sex": rng.choice(["female", "male"], size=N),
            "fare": rng.exponential(20, size=N).round(2),
            "name": [f"Passenger {i}" for i in range(N)],
        }
    )


def with_column(name, values):
    return lambda d: d.drop(columns="name").assign(**{name: values})


def plain(d):
    return d.drop(columns="name")


MARGIN = "decision_function"
DATES = pd.date_range("1912-04-10", periods=N)
CASES = {
    "typo in plus": ("survived ~ age + farre", plain, {}),
    "typo in minus": ("survived ~ . - nmae", lambda d: d, {}),
    "typo in the response": ("survivd ~ .", plain, {}),
    "typo in an expression": ("survived ~ log(farre)", plain, {}),
    "nothing to remove": ("survived ~ age - fare", plain, {}),
    "forgotten identifier": ("survived ~ .", lambda d: d, {}),
    "date column": ("survived ~ .", with_column("embarked_on", DATES), {}),
    "duplicate names": (
        "survived ~ .", lambda d: plain(d).set_axis(["survived", "x", "x", "y"], axis=1), {},
    ),
    "non-string names": (
        "survived ~ .", lambda d: plain(d).set_axis(["survived", 1, 2.5, "y"], axis=1), {},
    ),
    "one class only": ("survived ~ .", with_column("survived", 1), {}),
    "no rows": ("survived ~ .", lambda d: d.head(0), {}),
    "constant number": ("age ~ .", with_column("age", 3.5), {}),
    "list column": ("survived ~ .", with_column("visits", [[1, 2]] * N), {}),
    "complex column": ("survived ~ .", with_column("z", [1j] * N), {}),
    "two levels of names": (
        "survived ~ .", lambda d: pd.concat({"first": plain(d)}, axis=1), {},
    ),
    "identifier with an odd name": (
        "survived ~ .", lambda d: d.rename(columns={"name": "full name"}), {},
    ),
    "date as response": ("landed ~ age", with_column("landed", DATES), {}),
    "number for a name": ("survived ~ .", with_column("1", 3.0), {}),
    "backtick in a name": ("survived ~ .", with_column("a`b", 3.0), {}),
    "infinite values": ("survived ~ .", with_column("fare", [np.inf] + [1.0] * (N - 1)), {}),
    "negative weight": ("survived ~ .", plain, {"weights": [-1] + [1] * (N - 1)}),
    "weights that are text": ("survived ~ .", plain, {"weights": "sex"}),
    "weights that are no column": ("survived ~ .", plain, {"weights": "agee"}),
    "weights of another length": ("survived ~ .", plain, {"weights": [1, 2]}),
    "weights too large": (
        "survived ~ .", plain, {"weights": 10**12 + np.arange(N), "weights_kind": "frequency"},
    ),
    "missing weight": (
        "survived ~ .", with_column("w", [np.nan] + [1] * (N - 1)), {"weights": "w"},
    ),
    "k above the number of units": ("survived ~ .", plain, {"k": 4}),
    "k of no use": ("survived ~ .", plain, {"k": "two"}),
    "unknown method": ("survived ~ .", plain, {"method": "contrlburn"}),
    "unknown method without a near one": ("survived ~ .", plain, {"method": "pca"}),
    "class for a method": ("survived ~ .", plain, {"method": treeselect.RRF}),
    "model for a method": ("survived ~ .", plain, {"method": LinearRegression()}),
    "unknown family": ("survived ~ .", plain, {"family": "logistic"}),
    "unknown option": ("survived ~ .", plain, {"method": "controlburn", "forrests": 3}),
    "option out of range": ("survived ~ .", plain, {"method": "controlburn", "forests": 0}),
    "formula that runs code": ("survived ~ age + I(__import__('os').system('ls'))", plain, {}),
    "formula with an attribute": ("survived ~ {age.to_csv('x')}", plain, {}),
    "formula with a keyword argument": ("survived ~ log(age, out=fare)", plain, {}),
    "formula that runs code on the left": ("bs(open('x', 'w')) ~ age", plain, {}),
    "huge power": ("survived ~ {age + 9**9**9}", plain, {}),
    "dotted name": (
        "survived ~ log(age.now)", lambda d: plain(d).rename(columns={"age": "age.now"}), {},
    ),
    "keyword in an expression": ("survived ~ log(`class`)", with_column("class", 2.0), {}),
    "comparison without I()": ("survived ~ age > 40", plain, {}),
    "removal first": ("survived ~ -name + .", lambda d: d, {}),
    "order of categories": (
        "survived ~ I(deck > 'A')",
        with_column("deck", pd.Categorical(["A", "B"] * (N // 2))), {},
    ),
    "trusted by a word": ("survived ~ .", plain, {"trusted": "no"}),
    "unknown function": ("survived ~ lg(age)", plain, {}),
    "column like a function": ("survived ~ log(age)", lambda d: plain(d).assign(log=1.0), {}),
    "expression not finite": ("survived ~ log(zero)", with_column("zero", 0.0), {}),
    "real weights of three classes": (
        "`port of call` ~ age", with_column("port of call", ["C", "Q", "S", "S"] * (N // 4)),
        {"method": "controlburn", "weights": 0.5 + np.arange(N) / N, "seed": 1},
    ),
    "counts that are none": ("age ~ .", plain, {"family": "poisson"}),
    "interactions of too many columns": (
        "survived ~ .:.:.", lambda d: pd.DataFrame(0, [0], ["survived", *map(str, range(2, 99))]),
        {},
    ),
    "spline of a text": ("survived ~ bs(sex, 4)", plain, {}),
    "spline with a misspelt argument": ("survived ~ bs(age, deg=2)", plain, {}),
    "reference that is no level": ("survived ~ C(sex, Treatment('x'))", plain, {}),
    "several stages": ("survived ~ age | sex", plain, {}),
    "offset that is no column": ("survived ~ .", plain, {"offset": "fares"}),
    "offset with an infinite value": (
        "survived ~ age", with_column("gap", [-np.inf] * N), {"offset": "gap"},
    ),
    "offset of another length": ("survived ~ age", plain, {"offset": [0.5, 1]}),
    "two responses": ("survived + age ~ fare", plain, {}),
    "no response": ("~ age + fare", plain, {}),
    "unfinished formula": ("survived ~ (age + fare", plain, {}),
    "response on the right": ("survived ~ age + survived", plain, {}),
    "too many folds": ("survived ~ .", lambda d: plain(d).head(6), {"folds": 6}),
    "fewer rows than folds": ("age ~ fare", lambda d: d.head(4), {"k": "1se"}),
    "fewer groups than folds": (
        "age ~ fare", plain, {"fold_groups": ["a", "b", "c", "d"] * (N // 4), "k": "1se"},
    ),
    "a fold with one class": (
        "survived ~ age", lambda d: d.sort_values("survived"), {"folds": np.arange(N) // 10},
    ),
    "training rows of one class": (
        "survived ~ age", lambda d: d.sort_values("survived"), {"folds": TimeSeriesSplit(3)},
    ),
    "score of probabilities for numbers": (
        "age ~ fare", plain, {"scoring": "neg_log_loss"},
    ),
    "score of margins": (
        "survived ~ age", plain, {"scoring": make_scorer(hinge_loss, response_method=MARGIN)},
    ),
    "score that one class will not do for": (
        "survived ~ age", lambda d: d.sort_values("survived"),
        {"folds": np.r_[np.zeros(10), np.arange(N - 10) % 2 + 1], "scoring": "neg_log_loss",
         "method": "lasso"},
    ),
    "unknown score": ("survived ~ age", plain, {"scoring": "log_los"}),
    "mixed types": ("survived ~ .", with_column("cabin", ["A", 1] * (N // 2)), {}),
    "dictionary for data": ("survived ~ .", lambda d: {"survived": [1]}, {}),
    "list for data": ("survived ~ .", lambda d: [[1, 2]], {}),
    "array for data": ("survived ~ .", lambda d: plain(d).to_numpy(), {}),
    "arrow table with a name twice": (
        "a ~ .", lambda d: pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), {},
    ),
    "polars frame with a list": (
        "a ~ .", lambda d: pl.DataFrame({"a": [1, 2, 3], "b": [[1]] * 3}), {},
    ),
    "missing file": ("survived ~ .", lambda d: "passengers.csv", {}),
    "unknown name in groups": ("survived ~ .", plain, {"groups": {"body": ["agee", "sex"]}}),
    "term in two groups": ("survived ~ .", plain, {"groups": {"a": ["age"], "b": ["age"]}}),
    "keep a number": ("survived ~ .", plain, {"keep": 3}),
    "group that is text": ("survived ~ .", plain, {"groups": {"body": "age"}}),
    "price of a member": (
        "survived ~ .", plain, {"groups": {"body": ["age", "sex"]}, "costs": {"age": 2}},
    ),
    "negative cost": ("survived ~ .", plain, {"costs": {"age": -2}}),
    "k below the kept terms": ("survived ~ .", plain, {"keep": ["age", "sex"], "k": 1}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_full_text(case, data, snapshot, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    formula, change, arguments = CASES[case]
    with pytest.raises(TreeselectError) as error:
        treeselect.select(formula, change(data), **arguments)
    text = f"{type(error.value).__name__}: {error.value}".replace(str(tmp_path), "<folder>")
    assert text == snapshot


@pytest.fixture(scope="module")
def fit(data):
    options = {
        "method": "controlburn", "seed": 1, "forests": 1, "n_trees": 3,
        "keep": ["age", "sex", "fare"],
    }  # fmt: skip
    return treeselect.select("survived ~ age + sex + fare", data, k=3, **options)


NEW = {
    "missing column": lambda d: d.drop(columns="fare"),
    "unseen level": lambda d: d.assign(sex=["male", "unknown", *["female"] * (N - 2)]),
    "factor that arrives as numbers": lambda d: d.assign(sex=1),
    "number that arrives as text": lambda d: d.assign(age="forty"),
    "date that arrives": lambda d: d.assign(age=DATES),
    "infinite value": lambda d: d.assign(fare=np.inf),
    "array": lambda d: d.to_numpy(),
}


@pytest.mark.parametrize("case", NEW)
def test_full_text_for_new_data(case, fit, data, snapshot):
    with pytest.raises(TreeselectError) as error:
        fit.predict(NEW[case](data))
    assert f"{type(error.value).__name__}: {error.value}" == snapshot


def test_errors_are_builtin_ones_and_near_names_ignore_case():
    from treeselect import errors

    for name in ("FormulaError", "DataError", "NewDataError", "OptionError", "MethodError"):
        kind = getattr(errors, name)
        assert issubclass(kind, TreeselectError)
        assert issubclass(kind, ValueError)
    assert issubclass(errors.NotBuiltError, NotImplementedError)
    assert near("Age", ["age", "fare", "AGE2"])[0] == "age"
    assert near("zzz", ["age"]) == []


LONG = "x" * 3_000
OFTEN = [LONG, *map(str, range(N - 1))]
DIGITS = [f"{i}{'1' * 3_000}" for i in range(N)]
QUOTING = {
    "one class only": ("survived ~ .", with_column("survived", LONG), {}),
    "numbers as text": ("age ~ code", with_column("code", OFTEN), {}),
    "a long number": ("age ~ code", with_column("code", DIGITS), {}),
    "numbers and text": ("age ~ code", with_column("code", [LONG, *range(N - 1)]), {}),
    "an identifier": (f"age ~ {LONG}", lambda d: d.rename(columns={"name": LONG}), {}),
    "the event": ("Surv(age, code) ~ sex", with_column("code", [LONG, *"a" * (N - 1)]), {}),
    "a text": (f"age ~ I('{LONG}')", plain, {}),
    "the text of an event": (f"Surv(age, '{LONG}') ~ sex", plain, {}),
    "a reference level": (f"age ~ C(sex, Treatment('{LONG}'))", plain, {}),
    "a group": ("survived ~ age", plain, {"groups": {LONG: ["ages"]}}),
    "no text": ("survived ~ age", lambda d: d.rename(columns={"fare": LONG.encode()}), {}),
    "the offset": (f"{LONG} ~ sex", lambda d: d.rename(columns={"age": LONG}), {"offset": LONG}),
}  # fmt: skip


@pytest.mark.parametrize("case", QUOTING)
def test_long_values_are_quoted_in_part(case, data):
    formula, change, arguments = QUOTING[case]
    with pytest.raises(TreeselectError) as error:
        treeselect.select(formula, change(data), method="mrmr", k=1, **arguments)
    assert LONG[:20] in str(error.value) or "11111" in str(error.value)
    assert len(str(error.value)) < 1_500


def test_long_levels_are_quoted_in_part(fit, data):
    with pytest.raises(TreeselectError, match="New: ") as error:
        fit.predict(data.assign(sex=LONG))
    assert len(str(error.value)) < 1_500
