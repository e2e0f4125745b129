"""Performance and calibration by subgroup."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from quick import by_mrmr
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut
from survival_data import small_fit, small_times

import treeselect
from treeselect.engine.survival.curves import deviance_explained, kaplan_meier
from treeselect.engine.survival.times import as_times
from treeselect.errors import OptionError, TreeselectWarning
from treeselect.resampling.held_out import recalibration
from treeselect.resampling.subgroups import subgroup_figure

SMALL = pytest.mark.filterwarnings("ignore:Some subgroups:treeselect.errors.TreeselectWarning")
pytestmark = SMALL


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(700, 3)), columns=list("abc"))
    frame["sex"] = np.where(rng.random(700) < 0.5, "f", "m")
    frame.loc[rng.random(700) < 0.1, "sex"] = None
    eta = 1.2 * frame["a"] + (frame["sex"] == "f")
    frame["sick"] = (rng.random(700) < 1 / (1 + np.exp(-eta))).astype(int)
    return frame.assign(dose=frame["a"] + rng.normal(size=700), site=np.arange(700) % 3)


@pytest.fixture(scope="module")
def measured(data):
    return by_mrmr("sick ~ a + b + c", data, k=2, model="glm").performance(3)


def test_figures_are_those_of_the_rows_of_a_group(data, measured):
    with pytest.warns(TreeselectWarning, match="fewer than 100 cases.*\n  Found: `f`, `missing`"):
        found = measured.by("sex")
    table = found.tidy().set_index("group")
    assert list(table.index) == ["f", "m", "missing"]
    told = measured.predictions().set_index("row")
    for name, own in (("f", data["sex"] == "f"), ("missing", data["sex"].isna())):
        rows, row = told[own], table.loc[name]
        assert row["n"] == len(rows)
        assert row["cases"] == rows["observed"].value_counts().min()
        assert row["score"] == pytest.approx(roc_auc_score(rows["observed"], rows["predicted"]))
        assert row["ci_low"] < row["score"] < row["ci_high"]
        assert row["predicted"] == pytest.approx(rows["predicted"].mean())
        assert row["observed"] == pytest.approx(rows["observed"].mean())
    assert table.loc["f", "intercept_low"] > 0 > table.loc["m", "intercept_high"]
    assert found.small == ("f", "missing")
    known = recalibration(found.held_out[0])
    assert table.loc["f", "slope"] == known.slope
    within = found.calibration(2)
    assert within["subgroup"].to_list() == ["f"] * 2 + ["m"] * 2 + ["missing"] * 2
    assert within.groupby("subgroup")["n"].sum().to_dict() == table["n"].to_dict()


def test_columns_series_and_categories_of_any_library(data, measured):
    found = by_mrmr("sick ~ a + b", pl.from_pandas(data), k=2, model="glm").performance(2)
    assert found.by("site").tidy()["group"].to_list() == ["0", "1", "2"]
    assert found.by(pl.Series(data["site"] > 0)).tidy()["group"].to_list() == ["False", "True"]
    numbers = found.by(1_000_001 + data["site"].to_numpy()).tidy()["group"].to_list()
    assert numbers == ["1000001", "1000002", "1000003"]
    assert isinstance(found.by("sex").tidy(), pl.DataFrame)
    other = measured.by(data["site"].sample(frac=1, random_state=1)).tidy()
    pd.testing.assert_frame_equal(other, measured.by("site").tidy())
    by_place = measured.by(data["site"].set_axis(np.arange(700) + 9)).tidy()
    pd.testing.assert_frame_equal(by_place, other)
    cut = pd.cut(data["b"], [-9, 0, 9])
    for given in (cut, cut.array, list(cut)):
        assert measured.by(given).tidy()["group"].to_list() == ["(-9, 0]", "(0, 9]"]
    named = pd.cut(data["b"], [-9, 0, 9], labels=["low", "high"])
    assert measured.by(named).tidy()["group"].to_list() == ["low", "high"]
    called = data["sex"].replace("m", "missing")
    assert set(measured.by(called).tidy()["group"]) == {"f", "missing", "(missing)"}


def test_rows_that_are_not_used_have_no_group_and_sites_are_left_out(data):
    gaps = data.assign(dose=data["dose"].mask(data.index % 7 == 0))
    table = by_mrmr("dose ~ a + b", gaps, k=1, model="glm").performance(2).by("site").tidy()
    used = gaps.dropna(subset="dose")
    assert table["n"].to_list() == used["site"].value_counts(sort=False).sort_index().to_list()
    assert (table["cases"] == table["n"]).all()
    assert table["observed"].to_list() == pytest.approx(
        used.groupby("site")["dose"].mean().to_list()
    )
    fit = by_mrmr("sick ~ a + b", data, k=1, fold_groups="site", model="glm")
    found = fit.performance(LeaveOneGroupOut(), fold_groups="site")
    by = found.by("site").tidy()
    assert by["score"].to_list() == pytest.approx(found.scores.tolist())
    width = by["ci_high"] - by["ci_low"]  # of one cluster, of which there is no other sample
    assert width.between(0.05, 0.2).all()
    said = " ".join(found.by("site").summary().as_text().split())
    assert "Where a group is one cluster, its intervals are of its rows." in said
    alone = by_mrmr("sick ~ a + b", data, k=1, model="glm")
    again = alone.performance(LeaveOneGroupOut(), fold_groups="site")  # a column behind no term
    assert again.by("site").tidy()["n"].to_list() == by["n"].to_list()
    assert again.n_cases == found.n_cases == 3


def test_loaded_models_have_their_columns_and_changed_data_are_refused(data, tmp_path):
    own = data.copy()
    fit = by_mrmr("sick ~ a + b", own, k=1, model="glm", rows=400)
    found = fit.performance(2)
    assert found.by("site").tidy()["n"].sum() == 400
    own[:] = own.sort_values("c").to_numpy()
    with pytest.raises(OptionError, match="rows in another order, than when it was fitted"):
        found.by("site")
    assert len(found.by(data["site"]).tidy()) == 3
    with pytest.raises(OptionError, match="rows in another order, than when it was fitted"):
        fit.performance(2, fold_groups="site")
    fit = by_mrmr("sick ~ a + sex", data, k=1)
    again = treeselect.load(fit.save(tmp_path / "model", include_data=True)).performance(2)
    assert len(again.by("sex").tidy()) == 3
    with pytest.raises(OptionError, match="Can't find `site`"):
        again.by("site")


def test_times_have_risks_by_the_horizon_where_follow_up_reaches_it():
    fit = small_fit()
    found = fit.performance(3, horizon=200).by("site")
    table, data = found.tidy(), small_times()
    for name, row in table.set_index("group").iterrows():
        own = data[data["site"] == name]
        curve = kaplan_meier(as_times(own["time"], own["dead"]), np.ones(len(own)))
        assert row["observed"] == pytest.approx(1 - curve.at(np.array(200.0)))
        assert row["cases"] == (own["dead"] * (own["time"] <= 200)).sum()
    assert "events by time = 200," in found.summary().as_text()
    assert np.isfinite(table["slope"]).all()
    assert table["intercept"].isna().all()
    assert "too uncertain to tell groups apart" in " ".join(found.summary().as_text().split())
    data = small_times()
    ended = (data["site"] == data["site"].min()) & (data["time"] > 100)
    data.loc[ended, ["time", "dead"]] = [100, 0]
    fit = by_mrmr("Surv(time, dead) ~ x + z", data, k=2, model="glm")
    table = fit.performance(3, horizon=200).by("site").tidy()
    assert table["observed"].isna().tolist() == [True, *[False] * (len(table) - 1)]
    assert fit.validate(2, horizon=200).by("site")["observed"].isna().sum() == 1
    found = small_fit().performance(3, horizon=200, scoring="cox_deviance")
    told, data = found.predictions(), small_times()
    y = as_times(data["time"], data["dead"])
    eta = np.log(-np.log(1 - told["probability"].to_numpy()))
    own = found.by(np.zeros(90)).tidy()["score"][0]
    assert own == pytest.approx(deviance_explained(y, eta, np.ones(90)))
    assert "training" not in found.by(np.zeros(90)).score_words
    trained = small_fit().performance(3, scoring="integrated_brier").by(np.zeros(90))
    assert trained.score_words.endswith("are here the held-out rows of the group.")


def test_what_has_no_subgroups_or_no_score(data, measured):
    table = measured.by(data["sick"]).tidy()
    assert table["score"].isna().all()
    assert table["ci_low"].isna().all()
    assert table["observed"].to_list() == [0, 1]
    assert table[["slope", "intercept"]].isna().all(axis=None)
    with pytest.raises(OptionError, match="nothing to plot"):
        measured.by(data["sick"]).plot()
    again = pickle.loads(pickle.dumps(measured))
    assert again.by(data["sex"]).tidy().equals(measured.by("sex").tidy())
    with pytest.raises(OptionError, match="a copy of a result does not hold the data"):
        again.by("sex")
    fit = by_mrmr("site ~ a + b", data.assign(site=data["site"].astype(str)), k=1, model="glm")
    with pytest.raises(OptionError, match="Found: 3 classes"):
        fit.performance(2).by("sex")


def test_a_group_of_few_heavy_rows_is_small(data):
    heavy = {"weights": np.where(data["sex"] == "f", 1.5, 20.5), "weights_kind": "sampling"}
    fit = by_mrmr("sick ~ a", data, k=1, **heavy)
    measured = fit.performance(2, repeats=2)
    table = measured.by("sex").tidy()
    assert "Rows and cases are counted" in str(measured.by(data["a"] > 0).summary())
    share = np.average(data["sick"], weights=heavy["weights"])
    said = " ".join(str(measured.decision_curve().summary()).split())
    assert f"{share:.3f} of {len(data)} rows, weighted by their case weights" in said
    rows = pd.crosstab(data["sex"].fillna("missing"), data["sick"])
    assert table["n"].to_list() == pytest.approx(rows.sum(axis=1).to_list())
    assert table["cases"].to_list() == pytest.approx(rows.min(axis=1).to_list())


def test_what_is_printed(measured):
    named = dataclasses.replace(measured, labels={"sex": "Gender"}).by("sex").summary()
    assert named.content.title == "Performance by Gender"
    found = measured.by("sex")
    said = found.summary().as_text()
    assert said.splitlines()[0].strip() == "Performance by sex"
    assert max(map(len, said.splitlines())) <= 88
    assert repr(found) == "<Subgroups: 3 of sex>"
    drawn = subgroup_figure(found)
    assert [row.name for row in drawn.rows] == ["sex = f", "sex = m", "sex = missing"]
    assert drawn.rows[0].dots[0].at == found.tidy()["score"][0]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("age", "Can't find `age`"),
        ("a", "at most 20 distinct values.\n  Found: 700"),
        ([1, 2], "one value per row of the data, 700.\n  Found: 2 values"),
    ],
)
def test_columns_are_checked(measured, column, said):
    with pytest.raises(OptionError, match=said):
        measured.by(column)
    with pytest.raises(OptionError, match="`n_groups` must be"):
        measured.by("sex").calibration(1)
