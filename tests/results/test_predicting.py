"""Predictions of refitted linear models and estimators, beside those of R."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import NewDataError, OptionError, TreeselectWarning

REFERENCE = Path(__file__).parents[1] / "reference"
QUICK = {"method": "lasso", "seed": 1}


def fitted(formula, data, **options):
    return treeselect.select(formula, data, k=formula.count("+") + 1, **QUICK, **options)


@pytest.fixture(scope="module")
def by_r() -> pd.DataFrame:
    return (
        pd.read_csv(REFERENCE / "predictions.csv")
        .set_index(["model", "type"])
        .sort_index(kind="stable")
    )


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows of the fits, and every seventh row, which is predicted."""
    data = pd.read_csv(REFERENCE / "stepwise_data.csv")
    number = np.arange(1, len(data) + 1)
    data["w"] = 1 + number % 3
    data["w"] = data["w"] / data["w"][number % 7 > 0].mean()
    data["three"] = data["three"].astype(str)
    return data[number % 7 > 0], data[number % 7 == 0]


def assert_same(found, expected, rtol=1e-6, atol=1e-9):
    columns = dict(
        zip(("fit", "se", "ci_low", "ci_high"), ("fit", "se", "low", "high"), strict=True)
    )
    for own, other in columns.items():
        np.testing.assert_allclose(found[own], expected[other], rtol=rtol, atol=atol)


RIGHT = "x1 + poly(x3, degree=2) + site"


@pytest.mark.parametrize(("model", "weights"), [("number", None), ("weighted", "w")])
def test_least_squares_predict_as_lm(rows, by_r, model, weights):
    old, new = rows
    glm = fitted(f"number ~ {RIGHT}", old, weights=weights).refit("glm")
    for interval in ("confidence", "prediction"):
        found = glm.predict(new, se=True, level=0.9, interval=interval)
        alone = glm.predict(new, level=0.9, interval=interval)
        pd.testing.assert_frame_equal(alone, found.drop(columns="se"))
        named = found.rename(columns={"low": "ci_low", "high": "ci_high"})
        assert_same(named, by_r.loc[(model, interval)])
        assert (found.index == new.index).all()
    np.testing.assert_array_equal(glm.predict(new), found["fit"])


@pytest.mark.parametrize(
    ("model", "response", "options"),
    [
        ("two", "two", {}),
        ("count", "count", {"family": "poisson"}),
        ("timed", "count", {"family": "poisson", "offset": "log_time"}),
    ],
)
def test_generalised_models_predict_as_glm(rows, by_r, model, response, options):
    old, new = rows
    glm = fitted(f"{response} ~ {RIGHT}", old, **options).refit("glm")
    for type in ("link", "response"):
        # statsmodels' last step of least squares has the weights of the one before.
        found = glm.predict(new, type, se=True, level=0.9)
        assert_same(found, by_r.loc[(model, type)], rtol=1e-5, atol=1e-5)


def test_more_classes_and_times_predict_as_multinom_and_coxph(rows, by_r):
    old, new = rows
    glm = fitted("three ~ x1 + x3 + site", old).refit("glm")
    for type in ("link", "response"):
        found = glm.predict(new, type, se=True, level=0.9)
        for k in range(3):
            own = found.filter(regex=rf"\.{k}$").rename(columns=lambda name: name[:-2])
            # nnet's optimiser stops at six digits, and R's derivatives are numerical.
            assert_same(own, by_r.loc[(f"three {k + 1}", type)], rtol=2e-4)
    shares = glm.predict(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (glm.predict(new, "class") == shares.idxmax(axis=1)).all()
    data = pd.read_csv(REFERENCE / "survival_data.csv")
    number = np.arange(1, len(data) + 1)
    data["place"] = np.array(["a", "b", "c"])[number % 3]
    old, new = data[number % 7 > 0], data[number % 7 == 0]
    glm = fitted("Surv(stop, event) ~ x + z + place", old).refit("glm")
    for type in ("link", "response"):
        assert_same(glm.predict(new, type, se=True, level=0.9), by_r.loc[("cox", type)])
    found = glm.predict(new, "survival", times=[3, 6])
    for time in ("3", "6"):
        expected = by_r.loc[("cox", f"survival {time}"), "fit"]
        np.testing.assert_allclose(found[time], expected, rtol=1e-6)


@pytest.fixture(scope="module")
def trial() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    n = 120
    data = pd.DataFrame(
        {
            "dose of x": rng.normal(size=n), "age": rng.uniform(20, 80, n).round(),
            "site": rng.choice(["Bath", "Leeds", "York"], n), "old": rng.random(n) < 0.4,
            "grade": pd.Categorical(rng.choice(list("abc"), n), list("abcd"), ordered=True),
        }
    )  # fmt: skip
    eta = data["dose of x"] + 0.03 * data["age"] + (data["site"] == "York")
    data["size"] = eta + rng.normal(size=n)
    data["ill"] = np.where(eta + rng.normal(size=n) > 1.5, "yes", "no")
    return data


EVERY = (
    "`dose of x` + bs(age, df=4) + site:old + C(grade) + I(age > 40) + scale(age):site + old"
    " + poly(age, degree=2)"
)


def test_rows_of_the_fit_get_its_fitted_values(trial):
    glm = fitted(f"size ~ {EVERY}", trial).refit("glm")
    fitted_values = np.asarray(glm.result.fittedvalues)
    np.testing.assert_allclose(glm.predict(trial), fitted_values, rtol=1e-10)
    # What is learned does not come from the new rows: order and number do not matter.
    some = trial.iloc[[7, 3, 50]]
    found = pickle.loads(pickle.dumps(glm)).predict(some)
    np.testing.assert_allclose(found, fitted_values[[7, 3, 50]], rtol=1e-10)
    assert found.index.to_list() == [7, 3, 50]
    assert len(glm.predict(trial.iloc[:0])) == 0


def test_predictions_in_the_library_of_the_data_may_be_missing(trial):
    polars = pytest.importorskip("polars")
    glm = fitted("ill ~ site + age", trial).refit("glm")
    found = glm.predict(polars.from_pandas(trial), se=True)
    assert isinstance(found, polars.DataFrame)
    assert found.columns == ["fit", "se", "ci_low", "ci_high"]
    np.testing.assert_array_equal(found["fit"].to_numpy(), glm.predict(trial))
    assert set(glm.predict(trial, "class")) == {"yes", "no"}
    some = polars.from_pandas(trial.head(2))
    for model in (glm, fitted("ill ~ site + age", trial)):  # those of no rows are of the same type
        for kind in ("response", "class"):
            assert model.predict(some[:0], kind).dtype == model.predict(some, kind).dtype
    new = trial.head(4).assign(site=["Bath", None, "York", "Leeds"], age=[30, 40, np.nan, 50])
    found = glm.predict(new, se=True)
    assert found.isna().any(axis=1).to_list() == [False, True, True, False]
    assert glm.predict(new, "class").isna().to_list() == [False, True, True, False]


def test_levels_without_a_coefficient(trial):
    new = trial.head(2).assign(site=["Rome", "Bath"])
    for rule in ("missing", "other"):
        glm = fitted("size ~ site + age", trial, new_levels=rule).refit("glm")
        assert glm.predict(new).isna().to_list() == [True, False]
    glm = fitted("size ~ site + age", trial).refit("glm")
    with pytest.raises(NewDataError, match="only levels known to the model"):
        glm.predict(new)
    here = trial["site"].isin(["York", "Leeds"])
    gaps = trial.assign(age=trial["age"].mask(here))
    with pytest.warns(TreeselectWarning, match="drops"):
        glm = fitted("size ~ site + age", gaps).refit("glm")
    assert glm.predict(gaps).isna().equals(gaps["age"].isna())
    first = trial["site"][here & trial["age"].notna()]
    said = f'"{first.iloc[0]}" in {(first == first.iloc[0]).sum()} rows; no row of the linear model'
    with pytest.raises(NewDataError, match=said):
        glm.predict(trial)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"type": "class"}, "needs a response with classes"),
        ({"type": "survival", "times": 3}, "needs a time-to-event response"),
        ({"type": "lp"}, "Did you mean `link`"),
        ({"interval": "both"}, "`interval` must be one of"),
        ({"level": 1, "se": True}, "`level` must be"),
        ({"level": 0.9}, "`level` must be left out.*\n.*Write `se=True, level=0.9`"),
        ({"times": 3}, "`times` must be left out"),
        ({"offset": [0.0]}, "`offset` must not be given"),
    ],
)
def test_what_does_not_suit_is_refused(trial, arguments, said):
    glm = fitted("size ~ site + age", trial).refit("glm")
    with pytest.raises(OptionError, match=said):
        glm.predict(trial, **arguments)
    glm = fitted("ill ~ site + age", trial).refit("glm")
    with pytest.raises(OptionError, match="`se` must be left out"):
        glm.predict(trial, "class", se=True)
    with pytest.raises(OptionError, match="needs a numeric response"):
        glm.predict(trial, se=True, interval="prediction")
