"""The baseline table against groups of pandas, and what it leaves out."""

import numpy as np
import pandas as pd
import pytest
from survival_data import small_times

import treeselect
from treeselect.designs.weights import quantiles
from treeselect.errors import OptionError
from treeselect.results.describing import describe_table, rare_levels


def selected(formula, data, **options):
    return treeselect.select(formula, data, **{"method": "mrmr", "k": 2, "seed": 1} | options)


@pytest.fixture(scope="module")
def frame(mixed):
    """Two classes by their names, a few values, a count, and a weight."""
    rng = np.random.default_rng(2)
    return mixed.assign(
        few=rng.integers(1, 5, 400).astype(float), count=rng.poisson(1.0, 400),
        weight=rng.integers(0, 4, 400), share=rng.random(400) + 0.25,
    )  # fmt: skip


def by_pandas(data, response, name):
    """Rows of the table of a variable by ``groupby``: numbers, or counts of levels."""
    parts = [data, *(part for _, part in data.groupby(response))]
    missing = [int(part[name].isna().sum()) for part in parts]
    return parts, missing


def test_numbers_are_those_of_pandas(frame):
    table = selected("died ~ noise + site", frame).data.describe("noise")
    parts, missing = by_pandas(frame, "died", "noise")
    numbers = table[table["kind"] == "numbers"]
    assert numbers["group"].fillna("all").to_list() == ["all", "False", "True"]
    assert numbers["n_group"].to_list() == [len(part) for part in parts]
    assert numbers["n"].to_list() == [int(part["noise"].notna().sum()) for part in parts]
    for column, share in (("q25", 0.25), ("median", 0.5), ("q75", 0.75)):
        np.testing.assert_allclose(numbers[column], [p["noise"].quantile(share) for p in parts])
    lost = table[table["kind"] == "missing"]
    assert lost["n"].to_list() == missing
    np.testing.assert_allclose(lost["share"], [p["noise"].isna().mean() for p in parts])


@pytest.mark.parametrize("name", ["site", "few", "flag", "colour"])
def test_levels_are_those_of_pandas(frame, name):
    table = selected("died ~ signal + site + few + flag + colour", frame).data.describe([name])
    parts, missing = by_pandas(frame, "died", name)
    levels = table[table["kind"] == "level"]
    expected = pd.concat([part[name].value_counts().sort_index() for part in parts], axis=1)
    share = pd.concat([p[name].value_counts(normalize=True).sort_index() for p in parts], axis=1)
    np.testing.assert_array_equal(levels["n"].to_numpy().reshape(-1, 3), expected)
    np.testing.assert_allclose(levels["share"].to_numpy().reshape(-1, 3), share)
    shown = [f"{v:g}" if isinstance(v, float) else str(v) for v in expected.index]
    assert levels["level"].to_list()[::3] == shown
    assert table[table["kind"] == "missing"]["n"].to_list() == missing


def test_variables_behind_terms_are_described_and_numbers_may_be_factors(frame):
    fit = selected("died ~ exp(signal) + noise:copy + colour", frame)
    assert set(fit.data.describe()["variable"]) == set(fit.variables) <= set(frame.columns)
    every = fit.data.describe(["signal", "noise", "copy", "colour"])
    inside = every.groupby("variable")["selected"].first()
    assert inside.to_dict() == {
        n: n in fit.variables for n in ("signal", "noise", "copy", "colour")
    }
    data = frame.assign(ward=np.arange(400) % 7)
    assert set(selected("died ~ C(ward) + signal", data).data.describe("ward")["kind"]) == {
        "level", "missing",
    }  # fmt: skip
    assert "numbers" in set(selected("died ~ ward + signal", data).data.describe("ward")["kind"])


def test_weights_that_are_no_copies_and_rows_without_a_response(frame):
    data = frame.assign(died=frame["died"].astype(object))
    data.loc[:19, "died"] = None
    fit = selected("died ~ noise + site", data, weights="weight")
    used = data[data["died"].notna() & (data["weight"] > 0)]
    copies = used.loc[used.index.repeat(used["weight"])]
    table = fit.data.describe("noise").query("kind == 'numbers'")
    parts = [copies, *(part for _, part in copies.groupby("died"))]
    assert table["n_group"].to_list() == [len(part) for part in parts]
    np.testing.assert_allclose(table["median"], [part["noise"].median() for part in parts])
    np.testing.assert_allclose(table["q75"], [part["noise"].quantile(0.75) for part in parts])
    plain, weighted = (
        selected("died ~ noise + site", frame, **given) for given in ({}, {"weights": "share"})
    )
    pd.testing.assert_frame_equal(plain.data.describe("noise"), weighted.data.describe("noise"))


def test_responses_are_cut_into_thirds_and_the_most_frequent_classes(frame):
    fit = selected("dose ~ signal + site", frame)
    numbers = fit.data.describe("signal").query("kind == 'numbers'")
    third = pd.qcut(frame["dose"], 3, labels=False)
    assert numbers["n_group"].to_list() == [400, *third.value_counts().sort_index()]
    means = frame.groupby(third)["signal"].median()
    np.testing.assert_allclose(numbers["median"].iloc[1:], means)
    data = frame.assign(count=frame["count"].where(frame["count"] > 1, 0))
    fit = selected("count ~ signal + site", data, family="poisson")
    most = data["count"].max()
    groups = fit.data.describe("signal")["group"].dropna().unique().tolist()
    assert groups == ["0", f"2 to {most}"]
    data = frame.assign(dose=1e6 + np.arange(400) / 1000)
    groups = (
        selected("dose ~ signal + site", data).data.describe("signal")["group"].dropna().unique()
    )
    assert groups.tolist() == [
        "1000000 to 1000000.133", "1000000.134 to 1000000.266", "1000000.267 to 1000000.399",
    ]  # fmt: skip
    kind = np.random.default_rng(1).choice(
        list("abcdefg"), 400, p=[0.1, 0.3, 0.1, 0.2, 0.2, 0.05, 0.05]
    )
    data = frame.assign(kind=kind)
    table = (
        selected("kind ~ signal + site", data).data.describe("signal").query("kind == 'numbers'")
    )
    count = data["kind"].value_counts()
    shown = sorted(count.index[:4])
    assert table["group"].to_list()[1:] == [*shown, "3 other classes"]
    assert table["n_group"].to_list()[1:] == [*count[shown], count.iloc[4:].sum()]


def test_groups_of_times_and_quantiles_of_copies():
    data = small_times()
    fit = selected("Surv(time, dead) ~ risky + x + z", data)
    table = fit.data.describe("risky").query("kind == 'numbers'")
    assert table["group"].to_list()[1:] == ["event", "censored"]
    medians = data.groupby("dead")["risky"].median()
    np.testing.assert_allclose(table["median"].iloc[1:], [medians[1], medians[0]])
    fit = selected("Surv(time, dead) ~ risky + x", small_times().assign(dead=1), k=1)
    assert fit.data.describe("risky")["group"].isna().all()
    rng = np.random.default_rng(0)
    values, copies = rng.normal(size=30).round(1), rng.integers(1, 5, 30)
    shares = (0.0, 0.1, 1 / 3, 0.5, 1.0)
    np.testing.assert_allclose(
        quantiles(values, copies, shares), np.quantile(np.repeat(values, copies), shares)
    )
    assert np.isnan(quantiles(values[:0], copies[:0], (0.5,))).all()


def test_most_and_rare_levels(frame):
    level = np.repeat([f"l{i:02d}" for i in range(1, 20)], np.arange(1, 20) * 2)
    data = frame.iloc[: len(level)].assign(level=level)
    fit = selected("died ~ level + signal", data)
    whole = describe_table(fit._fit, "level").query("kind == 'level' and group.isna()")
    part = describe_table(fit._fit, "level", 5).query("kind != 'missing' and group.isna()")
    assert part["level"].to_list() == ["l16", "l17", "l18", "l19", "15 other levels"]
    assert part["kind"].to_list() == ["level"] * 4 + ["others"]
    assert part["n"].sum() == whole["n"].sum() == len(level)
    site = frame["site"].cat.add_categories(["Hull", "never"])
    site.iloc[[1, 2]] = "Hull"
    fit = selected("died ~ site + signal", frame.assign(site=site))
    assert rare_levels(fit._fit) == [("site", "Hull", 2)]
    assert "never" not in set(fit.data.describe("site")["level"])


def test_nothing_selected_nothing_known_and_what_can_t_be_described(frame):
    fit = selected("died ~ signal + noise", frame.assign(noise=np.nan))
    table = fit.data.describe("noise")
    assert table["kind"].unique().tolist() == ["numbers", "missing"]
    assert table["median"].isna().all()
    empty = fit.data.describe([])
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == table.dtypes.to_dict()
    fit = selected("died ~ signal + noise", frame)
    with pytest.raises(OptionError, match="must be columns behind the terms"):
        fit.data.describe("sinal")
    with pytest.raises(OptionError, match="must be a name or a list of names"):
        fit.data.describe(3)
