"""Selections on a sample of rows, in memory and beyond."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest
from sklearn.metrics import roc_auc_score

import treeselect
from treeselect.errors import NewDataError, OptionError

N = 4_000
ASKED = {"method": "importance", "k": 3, "rows": 800, "seed": 4, "n_trees": 20}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(N, 4)).round(3), columns=list("abcd"))
    frame["kind"] = rng.choice(["u", "v", "w"], size=N, p=[0.5, 0.4999, 0.0001])
    frame.loc[17, "kind"] = "w"
    frame.loc[rng.random(N) < 0.03, "b"] = np.nan
    eta = frame["a"] + frame["b"].fillna(0) + (frame["kind"] == "u")
    frame["y"] = np.where(rng.random(N) < 1 / (1 + np.exp(-eta)), "yes", "no")
    frame["w"] = rng.integers(1, 4, size=N)
    frame.loc[rng.random(N) < 0.02, "y"] = None
    return frame


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("parts")
    for number, rows in enumerate(np.array_split(np.arange(N), 3)):
        data.iloc[rows].to_parquet(path / f"{number}.parquet")
    return path


@pytest.fixture(scope="module")
def fits(data, folder):
    formula = "y ~ . - w"
    return [
        treeselect.select(formula, source, **ASKED)
        for source in (data, str(folder), ds.dataset(folder, format="parquet"))
    ]


def test_the_answer_is_that_in_memory(fits, data):
    here, *beyond = fits
    known = data["y"].notna()
    others = np.setdiff1d(np.flatnonzero(known), here.data.design.response.rows)
    assert here.data.design.rows.used == 800
    assert here.search.held_out.n_rows == len(others) == here.glance()["n_not_drawn"][0]
    score = roc_auc_score(data["y"].iloc[others] == "yes", here.predict(data.iloc[others]))
    assert here.search.held_out.score == pytest.approx(score, abs=1e-12)  # sums in another order
    for fit in beyond:
        assert fit.selected == here.selected
        assert fit.search.held_out == here.search.held_out
        np.testing.assert_array_equal(fit.data.design.response.rows, here.data.design.response.rows)
        np.testing.assert_array_equal(fit.predict(data), here.predict(data))
        assert fit.data.describe().equals(here.data.describe())


def test_levels_of_all_rows_are_known(fits, data):
    row = data[data["kind"] == "w"].iloc[:1]
    for fit in fits:
        assert fit.data.design.spec["kind"].factors[0].levels == ("u", "v", "w")
        fit.predict(row)
    with pytest.raises(NewDataError, match="known to the model"):
        fits[1].predict(row.assign(kind="z"))


def test_outputs_say_what_was_drawn(fits, tmp_path):
    _, fit, _ = fits
    of = fit.data.design.sample.of
    said = f"selected on 800 of {of:,} rows, stratified by the classes of y"
    assert said in " ".join(str(fit.summary()).split())
    assert "rows that were not drawn" in fit.search.citation().methods
    page = fit.report(tmp_path / "x.html").read_text()
    assert f"800 of {of:,} rows" in page
    assert "not drawn" in page
    assert fit.glance()["held_out_score"][0] == fit.search.held_out.score


def test_what_follows_uses_the_sample(fits, data, folder, tmp_path):
    here, fit, _ = fits
    assert fit.resample(3).stability.n_resamples == 3
    assert fit.performance(2).n_train.sum() == 800
    loaded = treeselect.load(fit.save(tmp_path / "m.treeselect"))
    assert loaded.search.held_out == fit.search.held_out
    assert loaded.data.design.sample == fit.data.design.sample
    for source in (data, folder):
        again = loaded.data.design.with_data(source)
        np.testing.assert_array_equal(again.response.y, here.data.design.response.y)
    assert len(loaded.with_data(folder).refit("glm").coef) == len(here.refit("glm").coef)
    whole = treeselect.load(fit.save(tmp_path / "w.treeselect", include_data=True))
    assert whole.performance(2).glance().equals(fit.performance(2).glance())
    assert fit.update(k=1).data.design.rows.used == 800
    found = treeselect.compare("y ~ a + b", folder, ["importance"], k=1, folds=2, rows=300, seed=1)
    assert "sample of 300 of" in str(found.summary())


@pytest.mark.parametrize("kind", ["response", "link", "class"])
def test_predictions_in_batches(fits, data, folder, kind):
    _, fit, _ = fits
    found = fit.predict(folder / "*.parquet", type=kind)
    assert list(found) == list(fit.predict(data, type=kind))


def test_weights_clusters_offsets_and_times(folder, data):
    asked = ASKED | {"rows": 400, "n_trees": 5, "k": 1}
    numeric = data.assign(event=data["y"] == "yes", time=data["a"].abs() + 0.1, site=data["w"] % 3)
    numeric = numeric.assign(off=0.1 * numeric["d"], site=np.arange(N) // 8)
    path = folder.parent / "numeric"
    path.mkdir(exist_ok=True)
    numeric.to_parquet(path / "1.parquet")
    calls = [
        ("a ~ b + c", {"weights": "w"}),
        ("a ~ b + c + kind", {"fold_groups": "site"}),
        ("y ~ b + c", {"offset": "off"}),
        ("Surv(time, event) ~ b + c", {}),
        ("Surv(time, event) ~ b + C(w) + strata(kind)", {}),
        ("a ~ poly(b, 2) + scale(c) + b:kind", {}),
    ]
    for formula, more in calls:
        here = treeselect.select(formula, numeric, **asked, **more)
        there = treeselect.select(formula, path, **asked, **more)
        assert there.search.held_out == here.search.held_out, formula
        assert np.isfinite(here.search.held_out.score)
        np.testing.assert_array_equal(there.predict(path), here.predict(numeric))


def test_rows_must_be_a_number(data):
    for odd in (5, 2.5, "all"):
        with pytest.raises(OptionError, match="rows"):
            treeselect.select("y ~ a", data, rows=odd)


def test_the_command_line_takes_a_folder(folder, tmp_path, capsys):
    from treeselect.cli.main import main

    model = tmp_path / "m.treeselect"
    asked = ["-m", "importance", "-k", "1", "--rows", "300", "--seed", "1", "--save", str(model)]
    main(["select", "y ~ a + b", str(folder / "*.parquet"), *asked])
    assert "selected on 300 of" in capsys.readouterr().out
    main(["predict", str(model), str(folder)])
    assert len(capsys.readouterr().out.splitlines()) == N + 1
