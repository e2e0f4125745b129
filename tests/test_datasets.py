"""The shipped data and the simulators with a known answer."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from treeselect import datasets
from treeselect.datasets import Simulated
from treeselect.errors import DataError, OptionError


@pytest.mark.parametrize(
    ("name", "shape", "response", "n_missing"),
    [
        ("titanic", (1309, 14), {0: 809, 1: 500}, 3855),
        ("gbsg2", (686, 10), {0: 387, 1: 299}, 0),
        ("german_credit", (1000, 21), {"good": 700, "bad": 300}, 0),
        ("colon", (62, 2001), {"tumor": 40, "normal": 22}, 0),
    ],
)
def test_shipped_data_are_those_of_their_source(name, shape, response, n_missing):
    data = datasets.load(name)
    assert data.shape == shape
    assert data.iloc[:, -1].value_counts().to_dict() == response
    assert data.isna().sum().sum() == n_missing
    data.iloc[0, 0] = None  # of a new frame
    assert datasets.load(name).iloc[:, 0].isna().sum() == 0


def test_correlated_titanic_keeps_the_real_columns_and_unknown_names():
    with pytest.raises(DataError) as error:
        datasets.load("iris")
    assert str(error.value) == (
        "`name` must be the name of a data set.\n  Found: 'iris'. Data sets: `titanic`,"
        " `titanic_correlated`, `gbsg2`, `bodyfat`, `german_credit`, `colon`."
    )
    real, data = datasets.load("titanic"), datasets.load("titanic_correlated")
    assert " ".join(data.columns) == "pclass sex age sibsp parch height weight femur tibia survived"
    assert not data.isna().any(axis=None)
    assert (data["sex"] == (real["sex"] == "male")).all()
    assert (data["age"] == real["age"].fillna(28)).all()
    shared = ["pclass", "sibsp", "parch", "survived"]
    pd.testing.assert_frame_equal(data[shared], real[shared])


@pytest.mark.parametrize("seed", [1912, 1, 2, 3, 4])
def test_body_measures_correlate(seed: int) -> None:
    data = datasets.simulate_correlated_titanic(seed=seed).data
    assert data[["height", "weight", "femur", "tibia"]].corr().min(axis=None) > 0.9


def test_bones_of_adults_give_back_their_stature() -> None:
    data = datasets.load("titanic_correlated")
    tall = data[data["height"] > 150]
    men, women = tall[tall["sex"] == 1], tall[tall["sex"] == 0]
    statures = [
        (men, 2.38 * men["femur"] + 61.41),
        (men, 2.52 * men["tibia"] + 78.62),
        (women, 2.47 * women["femur"] + 54.10),
        (women, 2.90 * women["tibia"] + 61.53),
    ]
    for people, stature in statures:
        # 0.5 cm of noise in a bone is at most 2.9 * 0.5 cm of stature
        assert (stature - people["height"]).std() == pytest.approx(1.3, abs=0.25)
        assert (stature - people["height"]).mean() == pytest.approx(0, abs=0.25)


def test_friedman_is_the_paper_s_and_copies_are_noisy():
    simulated = datasets.simulate_friedman(seed=1, noise=0, binary=False)
    data = simulated.data
    assert list(data.columns) == [f"X{j}" for j in range(1, 16)] + ["y"]
    for j in range(1, 6):
        assert (data[f"X{j}"] == data[f"X{j + 10}"]).all()
        assert simulated.truth[j - 1] == {f"X{j}", f"X{j + 10}"}
    expected = (
        10 * np.sin(np.pi * data["X1"] * data["X2"])
        + 20 * (data["X3"] - 0.5) ** 2
        + 10 * data["X4"]
        + 5 * data["X5"]
    )
    np.testing.assert_allclose(data["y"], expected)
    number = datasets.simulate_friedman(seed=1, binary=False).data["y"]
    binary = datasets.simulate_friedman(seed=1).data["y"]
    assert (binary == (number > number.median())).all()
    assert binary.sum() == 500
    titanic = datasets.load("titanic")[["survived", "age", "fare", "pclass"]]
    before = titanic.copy()
    simulated = datasets.simulate_noisy_copies(
        titanic, ["fare", "age"], 3, seed=1, response="survived"
    )
    pd.testing.assert_frame_equal(titanic, before)
    assert simulated.formula == "survived ~ ."
    assert simulated.data.columns[-1] == "survived"
    for name, terms in zip(["fare", "age"], simulated.truth, strict=True):
        copies = [f"{name}_copy{i}" for i in (1, 2, 3)]
        assert terms == {name, *copies}
        difference = simulated.data[copies].sub(titanic[name], axis=0)
        # standard error of a standard deviation from about 1000 rows: 0.1 / sqrt(2000)
        assert difference.std().tolist() == pytest.approx([0.1] * 3, abs=0.01)
        assert (difference.isna().sum() == titanic[name].isna().sum()).all()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["aeg"], "`columns` must be one of `age`.\n  Found: 'aeg'. Did you mean `age`?"),
        (["survived"], "`columns` must be one of `age`.\n  Found: 'survived'."),
        (["sex"], "`columns` must be one of `age`.\n  Found: 'sex'."),
        (["age", "age"], "Can't add the column `age_copy1`: `data` already has one of that name."),
    ],
)
def test_what_cannot_be_copied(columns: list[str], message: str) -> None:
    titanic = datasets.load("titanic")[["sex", "age", "survived"]].astype({"sex": "category"})
    with pytest.raises((DataError, OptionError)) as error:
        datasets.simulate_noisy_copies(titanic, columns, 1, seed=1)
    assert str(error.value) == message


SIMULATORS: list[Callable[[int], Simulated]] = [
    lambda seed: datasets.simulate_correlated_titanic(seed=seed),
    lambda seed: datasets.simulate_friedman(50, seed=seed),
    lambda seed: datasets.simulate_noisy_copies(
        datasets.load("titanic_correlated"), ["age"], 2, seed=seed
    ),
]


@pytest.mark.parametrize("simulate", SIMULATORS)
def test_the_seed_decides_and_the_truth_names_columns(simulate: Callable[[int], Simulated]) -> None:
    first, again, other = simulate(1), simulate(1), simulate(2)
    pd.testing.assert_frame_equal(first.data, again.data)
    assert not first.data.equals(other.data)
    response = first.data.columns[-1]
    assert first.formula == f"{response} ~ ."
    assert set().union(*first.truth) <= set(first.data.columns[:-1])


def test_bodyfat_and_colon_are_those_of_their_authors():
    """The full model of their Table 5, to its three decimals."""
    data = datasets.load("bodyfat")
    x = np.column_stack([np.ones(len(data)), data.drop(columns="siri")])
    coefficients = np.linalg.lstsq(x, data["siri"].to_numpy())[0]
    named = dict(zip(["Intercept", *data.columns[:-1]], coefficients.round(3), strict=True))
    assert named["Intercept"] == 4.143
    assert (named["abdomen"], named["wrist"], named["neck"]) == (0.897, -1.838, -0.398)
    data = datasets.load("colon")
    # the first chips alternate, as in the source
    assert data["tissue"].head(4).tolist() == ["tumor", "normal"] * 2
    genes = data.drop(columns="tissue")
    # intensities of 5.82 to 20903.18; the first cell is 8589.42
    assert [genes.min(axis=None), genes.max(axis=None)] == [0.765, 4.32]
    assert data.loc[0, "Hsa_3004"] == 3.934
    assert genes.T.duplicated().sum() == 9


def survival_predictor(data: pd.DataFrame) -> pd.Series:
    """The linear predictor as the docstring has it."""
    return (
        0.6 * (data["x01"] - data["x02"])
        + 0.5 * (data["x03"] - data["x04"] + data["x07"])
        + 0.9 * (data["x05"] > 0)
        + 0.4 * data["x06"] ** 2
        + 1.2 * ((data["x08"] > 0) & (data["x09"] > 0))
        + 0.9 * (data["f01"] == "a")
        + 0.8 * ((data["f02"] == "b").astype(int) - (data["f02"] == "c"))
        + 0.8 * data["f03"].isin(["c", "d"])
    )


def test_survival_data_have_the_documented_columns_and_hazard():
    data = datasets.simulate_survival(2000, seed=1, censored=0).data
    assert data["event"].all()
    cumulative = ((data["time"] - 0.5) / 1000) ** 1.5 * np.exp(survival_predictor(data))
    # unit exponentials: mean and deviation 1, with standard errors of 0.022 and 0.045
    assert [cumulative.mean(), cumulative.std()] == pytest.approx([1, 1], abs=0.1)
    simulated = datasets.simulate_survival(300, seed=2)
    data = simulated.data
    assert simulated.formula == "Surv(time, event) ~ ."
    assert list(data.columns[-2:]) == ["time", "event"]
    terms = set(data.columns[:-2])
    assert len(terms) == 60
    assert len(simulated.truth) == 12
    assert set().union(*simulated.truth) <= terms
    near = sorted(name for name in terms if name.endswith("_near"))
    assert near == [f"x{j:02}_near" for j in (1, 2, 3, 4, 21, 22, 23, 24)]
    for name in near:
        assert data[name].corr(data[name.removesuffix("_near")]) > 0.95
    assert all(data[f"f{j:02}"].cat.categories.tolist() == list("abcd") for j in range(1, 13))
    pd.testing.assert_frame_equal(data, datasets.simulate_survival(300, seed=2).data)
    assert not data.equals(datasets.simulate_survival(300, seed=3).data)


@pytest.mark.parametrize("censored", [0.0, 0.3, 0.7, 0.9999])
@pytest.mark.parametrize("left_truncated", [False, True])
def test_the_share_of_censored_rows_is_met(censored: float, left_truncated: bool) -> None:
    data = datasets.simulate_survival(
        100, seed=1, censored=censored, left_truncated=left_truncated
    ).data
    assert data["event"].sum() == max(1, round(100 * (1 - censored)))
    assert (data["time"] >= 1).all()


def test_late_entry_comes_before_the_time_and_sites_are_strata() -> None:
    simulated = datasets.simulate_survival(200, seed=1, strata=3, left_truncated=True)
    data = simulated.data
    assert simulated.formula == "Surv(entry, time, event) ~ . - site + strata(site)"
    assert list(data.columns[-4:]) == ["site", "entry", "time", "event"]
    assert (data["entry"] < data["time"]).all()
    assert data["entry"].between(0, 500).all()
    assert data["entry"].nunique() > 100
    assert data["site"].cat.categories.tolist() == ["A", "B", "C"]
    sites = datasets.simulate_survival(200, seed=1, strata=3, censored=0).data
    median = sites.groupby("site", observed=True)["time"].median()
    assert median["A"] > median["C"]


@pytest.mark.parametrize("wrong", [{"strata": 27}, {"n": 1}, {"seed": -1}, {"censored": 1}])
def test_what_survival_cannot_be(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=next(iter(wrong))):
        datasets.simulate_survival(**({"seed": 1} | wrong))
