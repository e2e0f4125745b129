"""What to write of a selection: paragraphs and limitations, fingerprints, the checklist."""

import dataclasses
import platform
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from quick import changed, stability_of
from sklearn.ensemble import HistGradientBoostingClassifier
from survival_data import small_fit

import treeselect
from treeselect.designs.modeldata import data_fingerprint
from treeselect.errors import OptionError
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.results.citation import cite, versions_text
from treeselect.results.versions import session

VERSIONS = {"treeselect": "9.9", "Python": "3.99"}


SLIPS = r"\bnan\b|\bNone\b|\b1 (?:terms|units|rows|sets)\b|\b0 more\b|\d\.0 (?:of|terms|rows)"


def quick(data, formula, method="mrmr", **options):
    return treeselect.select(formula, data, method=method, seed=1, **options)


def with_resamples(fit):
    """The fit with 20 round resamples, of which 15 selected what it did."""
    own = fit.search.step.selected
    drawn = np.tile(own, (20, 1))
    drawn[15:] = np.roll(drawn[15:], 1, axis=1)
    units = fit.data.design.arrays.groups.names
    return changed(fit, resampled=stability_of(drawn, units, k=fit.k, seed=1))


@pytest.fixture(scope="module")
def two(mixed):
    return quick(mixed, "died ~ . - dose", k=2)


@pytest.fixture(scope="module")
def several(mixed, two, cross_validated, tmp_path_factory):
    """Fits of many kinds, without a number that an engine has computed."""
    scores = ScoreBySize(np.array([[0.5] * 7, [0.75] * 7]))
    file = two.save(tmp_path_factory.mktemp("fits") / "two.treeselect")
    counts = mixed.assign(visits=np.floor(np.abs(mixed["dose"])), log_days=0.5)
    performance = dataclasses.replace(
        cross_validated.performance(2), scores=np.array([0.5, 0.75]), score_words=""
    )
    return {
        "two classes, resamples": (with_resamples(two), None),
        "numbers, rule, nested": (changed(cross_validated, scores=scores), performance),
        "counts, offset, weights": (
            quick(
                counts, "visits ~ signal + noise + site", k=1, family="poisson", offset="log_days",
                weights=np.where(mixed["flag"], 2, 1), monotone={"signal": 1}, method="lasso",
            ),
            None,
        ),
        "times": (small_fit("Surv(late, time, dead) ~ risky + x + z + strata(site)"), None),
        "classes, groups, kept": (
            quick(
                mixed, "site ~ signal + copy + noise + died", k=2, keep=["noise"],
                groups={"body": ["signal", "copy"]}, fold_groups=np.arange(400) // 4,
            ),
            None,
        ),
        "kept alone": (
            quick(mixed, "died ~ signal + noise", k=1, keep=["noise"]).resample(2), None,
        ),
        "none": (quick(mixed.head(30), "dose ~ . - died", "lasso", lam=1e6), None),
        "all": (quick(mixed, "died ~ signal", k=1).resample(2), None),
        "costs": (quick(mixed, "died ~ signal + noise", "gbfs", k=1, costs={"noise": 2}), None),
        "own decision": (quick(mixed, "died ~ signal + noise", "boruta", n_trees=10), None),
        "loaded, no data": (treeselect.load(file), None),
    }  # fmt: skip


def test_paragraphs_and_limitations(several, snapshot):
    said = {
        kind: (found.methods, *found.limitations)
        for kind, (fit, performance) in several.items()
        for found in [cite(fit._fit, VERSIONS, performance)]
    }
    assert said == snapshot


def test_limitations_and_the_null_of_the_score_test_are_true_of_the_fit(mixed):
    forced = quick(mixed, "died ~ signal + noise", k=1, keep=["noise"]).search.citation()
    assert not any("another sample" in text for text in forced.limitations)
    few_rounds = quick(mixed, "died ~ signal", "boruta", k=1, max_rounds=2, n_trees=10)
    assert "was signal; the method did not confirm signal." in few_rounds.search.citation().methods
    best = quick(mixed, "dose ~ signal + site", k="best", folds=3)
    assert best.k == 2
    assert any("R2 is optimistic" in text for text in best.search.citation().limitations)
    given = quick(mixed, "dose ~ signal + site", k=2)  # neither do its linear models say so
    for found, is_so in ((best, True), (given, False)):
        assert ("are not valid" in " ".join(found.search.citation().limitations)) is is_so
        assert ("not valid" in str(found.refit("glm", missing="indicator").summary())) is is_so
    few, clusters = mixed.head(60), np.arange(60) // 4
    for null, given in (("permutation", None), ("random-sign", clusters)):
        fit = quick(few, "died ~ signal", k="auto", fold_groups=given, resamples=0)
        assert f"with a {null} null" in fit.search.citation().methods


def test_no_text_of_any_fit_slips_and_what_is_cited_is_in_the_references(several):
    for kind, (fit, _) in several.items():
        text = "\n".join((repr(fit), str(fit.summary()), fit.search.citation().as_text()))
        assert not re.findall(SLIPS, text), kind
        assert ("unit" in text) == ("groups" in kind), kind
    for fit, performance in several.values():
        found = cite(fit._fit, VERSIONS, performance)
        text = " ".join((found.methods, *found.limitations))
        years = set(re.findall(r"[\[ ](\d{4})[;\]]", text))
        keys = re.findall(r"^@\w+\{(\w+),", found.bibtex, re.MULTILINE)
        assert keys[0] == "treeselect"
        assert len(set(keys)) == len(keys) == len(found.references)
        assert years == {key[-4:] for key in keys[1:]}
        assert "version 9.9" in found.references[-1]


def test_printed_names_can_not_act_and_the_performance_is_of_the_fit(two, mixed, cross_validated):
    found = two.search.citation()
    text = str(found)
    assert repr(found) == text == found.as_text()
    head = text.split("@manual")[0]
    assert max(map(len, head.splitlines())) <= 88
    assert "seed=1)" in found.call
    assert text.endswith(found.bibtex)
    assert f"treeselect {treeselect.__version__}" in found.methods
    data = mixed.rename(columns={"signal": "a\x1b[31mb"})
    found = quick(data, "died ~ .", k=1, keep=["a\x1b[31mb"]).search.citation()
    assert "\x1b" not in found.as_text()
    with pytest.raises(OptionError, match=r"`performance` must be what `fit.performance\(\)`"):
        two.search.citation(3)
    with pytest.raises(OptionError, match="`performance` must belong to the same fit"):
        two.search.citation(cross_validated.performance(2))
    with pytest.raises(OptionError, match="`performance` must belong to the same fit"):
        two.search.citation(two.refit("stack").performance(2))
    other = two.performance(2, model="glm")
    said = "of a generalised linear model of the selected terms on the held-out rows was"
    assert said in two.search.citation(other).methods
    refitted = cross_validated.refit("stack").search.citation().methods
    assert "with the model that the final one replaced" in refitted
    assert "replaced" not in cross_validated.search.citation().methods


def print_of(data, formula="y ~ number + whole + label + truth", **options):
    return data_fingerprint(quick(data, formula, k=1, **options).data.design)


def test_the_same_values_have_the_same_fingerprint_whatever_their_labels():
    rng = np.random.default_rng(1)
    plain = pd.DataFrame(
        {
            "y": rng.normal(size=60),
            "number": np.where(np.arange(60) % 7 == 0, np.nan, np.arange(60) / 8),
            "whole": np.arange(60) % 5, "label": rng.choice(["ä", "b", "c"], size=60),
            "truth": np.arange(60) % 2 == 0, "other": rng.normal(size=60),
        }
    )  # fmt: skip
    own = print_of(plain)
    assert re.fullmatch("[0-9a-f]{64}", own)
    assert print_of(plain[plain.columns[::-1]]) == own
    assert print_of(pl.from_pandas(plain)) == own
    assert print_of(plain.assign(other=0.0)) == own
    assert print_of(plain, "y ~ truth + label + whole + number") == own
    category = pd.Categorical(plain["label"], categories=["z", "c", "b", "ä"])
    assert print_of(plain.assign(label=category, whole=plain["whole"].astype("int8"))) == own
    assert print_of(plain.assign(number=plain["number"].astype("Float64"))) == own
    assert print_of(plain, weights=np.ones(60)) == own
    others = [
        print_of(plain.assign(number=plain["number"].fillna(0))),
        print_of(plain.assign(label=plain["label"].replace("b", "B"))), print_of(plain[::-1]),
        print_of(plain.head(59)), print_of(plain, weights=np.arange(60) % 3 + 1),
        print_of(plain, offset=plain["other"].to_numpy()),
        print_of(plain, "y ~ number + whole + label"),
        print_of(plain.rename(columns={"whole": "part"}), "y ~ number + part + label + truth"),
    ]  # fmt: skip
    assert len({own, *others}) == 1 + len(others)
    labels = {"y": "Yield (t)", "number": "Rain", "label": "Site"}
    found = quick(plain, "y ~ number + whole + label", k=3, labels=labels).search.citation()
    assert "Terms predicting Yield (t) (numeric; 60 rows)" in found.methods
    assert {"Rain", "Site", "whole"} == set(re.findall(r"Rain|Site|whole|label", found.methods))
    assert found.fingerprint == print_of(plain, "y ~ number + whole + label")


def test_fingerprints_are_the_same_on_any_machine_and_from_a_file(mixed, tmp_path):
    data = pd.DataFrame({"y": [1.5, 2.5, 0.5, 4.0], "x": [1, 0, 2, 3], "g": ["b", "a", "b", "a"]})
    assert print_of(data, "y ~ x + g") == (
        "33c4650b1321bc4da352fac0f1f25695f1740c14bd6d9e129ac671699094daa0"
    )
    labels = mixed.assign(died=np.where(mixed["died"], "yes", "no"))
    fits = [quick(labels, "died ~ signal", k=1), small_fit()]
    for fit in fits:
        file = fit.save(tmp_path / "with.treeselect", include_data=True)
        assert (
            data_fingerprint(treeselect.load(file).data.design) == fit.search.citation().fingerprint
        )
    assert fits[0].search.citation().fingerprint != print_of(mixed, "died ~ signal")


def test_without_the_data_there_is_none_until_they_are_given(mixed, two, several):
    loaded, _ = several["loaded, no data"]
    found = loaded.search.citation()
    assert found.fingerprint is None
    assert "not saved with the model" in found.as_text()
    again = loaded.with_data(mixed).search.citation()
    assert again == two.search.citation()


def test_versions_print_as_a_few_short_lines_and_reports_end_with_the_platform():
    found = treeselect.versions()
    lines = str(found).splitlines()
    assert repr(found) == str(found)
    assert len(lines) < 10
    assert max(map(len, lines)) <= 88
    ours = f"treeselect {treeselect.__version__}, Python {platform.python_version()}"
    assert dict(found.content.facts)["Software"] == ours
    assert f"numpy {np.__version__}" in str(found)
    assert re.search(r"Threads: +\d+ for treeselect", str(found))
    assert versions_text(session()).endswith(f", on {platform.system()} {platform.machine()}")


# --- the checklist of TRIPOD+AI: all items, true for the fit -------------------------------------


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
    assert said["11"] == "263 rows have missing values: age (263). They were retained."
    assert said["22"].startswith("2 of 3 terms: sex and pclass. The final model is a random forest")
    assert said["23a"] == f"AUC {performance.words}, nested cross-validation."
    assert fit.search.citation(performance).methods.startswith(said["12c"])
    assert fit.search.citation().fingerprint in said["18"]
    assert "To add: approval, consent." in str(found)
    assert "- 17 Ethics: To add: approval" in found.summary().as_markdown()


def test_what_is_true_of_other_fits():
    assert reported(fitted())["23a"] == ""
    assert reported(fitted(model="gam"))["12b"].startswith("Numbers as restricted cubic splines")
    found = reported(fitted(model=HistGradientBoostingClassifier(class_weight="balanced")))
    assert found["12b"].endswith("missing numbers are passed on to it, a missing level is a level.")
    assert "the final model weights the classes" in found["13"]
    assert found["12g"] == "`fit.predict(new)`."
    assert reported(fitted())["12d"] == "Rows are taken as independent."
    dropped = reported(fitted(missing="drop"))
    assert dropped["12a"].startswith("All rows without missing values select the terms")
    few = pd.concat([DATA.dropna(subset="age").head(40), DATA[DATA["age"].isna()].head(20)])
    count = few.dropna(subset=["sex", "age", "pclass"])["survived"].value_counts().min()
    said = fitted(data=few, missing="drop").search.citation().limitations[0]
    assert said.startswith(f"There are only {count} rows of the class")
    assert dropped["12b"].endswith("rows with missing values are left out of all training.")
    groups = fitted(data=DATA.assign(id=np.arange(len(DATA)) // 2), fold_groups="id")
    said = "Rows with the same id were kept together in folds, bags of trees and resamples."
    assert reported(groups)["12d"] == said
    assert said in groups.search.citation().methods
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
    assert reported(empty)["22"].startswith("0 of 1 term: none. The final model is the null model")
    one = noise.assign(x=noise["x"].mask(noise.index == 0), y=(noise.index == 5) * 1)
    found = reported(fitted("x", one, "y", k=1))
    assert found["9a"].startswith("1 candidate term: ")
    assert found["10"].startswith("Few rows: by Riley's criteria, a regression model with the only")
    assert found["11"] == "1 row has missing values: x (1). It was retained."
    assert found["26"].startswith("There is only 1 row of the class 1 for 1 candidate term (1 per")
    with pytest.raises(OptionError, match="`performance`"):
        fitted().search.checklist(fitted("sex + age").performance(2))


def test_the_name_of_a_file_stays_as_it_is(tmp_path):
    path = tmp_path / "Mine.CSV.csv"
    DATA.head(200).to_csv(path, index=False)
    assert "Mine.CSV.csv" in reported(fitted(data=path))["5"]
