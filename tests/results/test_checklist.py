"""The checklist of TRIPOD+AI: all items, true for the fit."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError

DATA = treeselect.datasets.load("titanic")


def fitted(right="sex + age + pclass", data=DATA, left="survived", **options):
    options = {"method": "mrmr", "k": 2, "seed": 1} | options
    return treeselect.select(f"{left} ~ {right}", data, **options)


def reported(fit, *given):
    return fit.search.checklist(*given).tidy().set_index("item")["reported"]


def test_all_items_and_what_is_known():
    fit = fitted()
    performance = fit.performance(2)
    found = fit.search.checklist(performance)
    table = found.tidy().set_index("item")
    numbers = dict.fromkeys(int("".join(filter(str.isdigit, item))) for item in table.index)
    assert list(numbers) == list(range(1, 28))
    assert (table["reported"] + table["to_add"]).str.len().min() > 10
    said = table["reported"]
    assert said["8a"] == f"survived: {fit._fit.design.response.family_text}."
    assert said["9a"] == "3 candidate terms: `sex`, `age`, `pclass`."
    assert said["11"] == "263 rows with missing values: age (263). They were retained."
    assert said["22"].startswith("2 of 3 terms: sex and pclass. The final model is a random forest")
    assert said["23a"] == f"AUC {performance.words}, nested cross-validation."
    assert fit.search.citation(performance).methods.startswith(said["12c"])
    assert fit.search.citation().fingerprint in said["18"]
    assert "To add: approval, consent." in str(found)
    assert "- 17 Ethics: To add: approval" in found.summary().as_markdown()


def test_what_is_true_of_other_fits():
    assert reported(fitted())["23a"] == ""
    assert reported(fitted(model="gam"))["12b"].startswith("Numbers as restricted cubic splines")
    assert reported(fitted())["12d"] == "Rows are taken as independent."
    dropped = reported(fitted(missing="drop"))
    assert dropped["12a"].startswith("All rows without missing values select the terms")
    assert dropped["12b"].endswith("rows with missing values are left out of all training.")
    groups = fitted(data=DATA.assign(id=np.arange(len(DATA)) // 2), fold_groups="id")
    assert reported(groups)["12d"] == "Rows of the same id are drawn and held out together."
    few = DATA.head(60)
    assert reported(fitted(data=few))["10"].startswith("Few rows: by Riley's criteria")
    times = treeselect.datasets.load("gbsg2")
    found = reported(fitted("age + pnodes", times, "Surv(time, cens)", k=1))
    assert found["15"] == "Relative hazard, and survival at given times."
    assert found["13"] == "There are no classes."
    assert found["21"] == "Surv(time, cens): time to event; 299 events in 686 rows."
    port = fitted(left="embarked", weights=np.arange(len(DATA)) % 2).search.checklist().tidy()
    port = port.set_index("item").loc[["12e", "14", "20", "23b"]]
    assert "Excluded because their weight is 0: 655." in port.loc["20", "reported"]
    assert not port["to_add"].str.contains(r"decision_curve|by\(column\)").any()
    assert reported(fitted(model="stack"))["12b"].startswith("Splines of numbers and indicators")
    noise = pd.DataFrame(np.random.default_rng(1).normal(size=(80, 2)), columns=["y", "x"])
    empty = treeselect.select("y ~ x", noise, seed=1)
    assert reported(empty)["22"].startswith("0 of 1 terms: none. The final model is the null model")
    with pytest.raises(OptionError, match="`performance`"):
        fitted().search.checklist(fitted("sex + age").performance(2))


def test_the_name_of_a_file_stays_as_it_is(tmp_path):
    path = tmp_path / "Mine.CSV.csv"
    DATA.head(200).to_csv(path, index=False)
    assert "Mine.CSV.csv" in reported(fitted(data=path))["5"]
