"""The table of a paper: the same numbers as single models, and what it prints."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from quick import WITH_GAPS

import treeselect
from treeselect.errors import OptionError

SURVEY = pd.read_csv("tests/reference/survey_data.csv")
COUNTED = ("n", "events", "estimate", "ci_low", "ci_high", "p_value")
LEFT = {"gaussian": "y", "binomial": "b", "poisson": "n", "cox": "Surv(time, event)"}


def fitted(right, left="b", k=None, **options):
    """A selection of k terms, all by default."""
    k = right.count("+") + 1 if k is None else k
    options = {"data": SURVEY, "method": "mrmr", "seed": 1} | options
    return treeselect.select(f"{left} ~ {right}", k=k, **options)


def estimates(table, model):
    """Its estimates and interval ends, by column."""
    here = table.tidy().query("model == @model")
    return here.set_index("column")[["estimate", "ci_low", "ci_high"]]


@pytest.mark.parametrize("family", LEFT)
def test_numbers_are_those_of_single_models(family):
    fit = fitted("x + g", LEFT[family], family=family)
    model = fit.refit("glm")
    table = model.regression_table(["univariable", "all", "selected"])
    ratios = family != "gaussian"
    own = model.tidy(exponentiate=ratios).set_index("column")[["estimate", "ci_low", "ci_high"]]
    for name in ("all", "selected"):
        found = estimates(table, name).dropna()
        pd.testing.assert_frame_equal(found, own.loc[found.index], check_names=False)
    alone = fitted("g", LEFT[family], family=family).refit("glm")
    found = estimates(table, "univariable").loc[["g[T.b]", "g[T.c]"]]
    expected = alone.tidy(exponentiate=ratios).set_index("column").loc[found.index, found.columns]
    pd.testing.assert_frame_equal(found, expected)
    p = table.tidy().dropna(subset="p_value").set_index(["model", "term"])["p_value"]
    tests, of_g = (m.drop1().tidy().set_index("term")["p_value"] for m in (model, alone))
    assert p["selected", "x"] == pytest.approx(tests["x"])
    assert p["all", "g"] == pytest.approx(tests["g"])
    assert p["univariable", "g"] == pytest.approx(of_g["g"])


@WITH_GAPS
@pytest.mark.parametrize("right", ["C(z)", "cut", "C(word, levels=['[a]', 'b'])", "gap"])
def test_levels_that_are_numbers_with_gaps_or_have_brackets_have_counts(right):
    data = SURVEY.assign(z=(SURVEY.index % 3) * 1.0, cut=pd.cut(SURVEY["x"], [-9, 0, 1, 9]))
    data["word"] = data["g"].map({"a": "[a]", "b": "b", "c": "c"})
    data["gap"] = data["g"].map({"a": "a", "b": "(missing)", "c": "c"})
    data.loc[::7, ["z", "cut", "word", "gap"]] = np.nan
    for missing in ("drop", "indicator"):
        model = fitted(right, data=data).refit("glm", missing=missing)
        found = model.regression_table(["selected"]).tidy().set_index("column")
        assert "(reference)" in found["label"].iloc[0]
        assert found["n"].sum() == model.n_used
        assert found["events"].sum() == model.fitted.data.y.sum()
        if missing == "drop":
            matrix = model.fitted.data.matrix[found.index[1:]]
            np.testing.assert_array_equal(found["n"].iloc[1:], matrix.sum())
            np.testing.assert_array_equal(found["events"].iloc[1:], model.fitted.data.y @ matrix)


def test_levels_have_counts_and_events_whatever_they_are_called():
    found = fitted("x + g").refit("glm").regression_table(["selected"]).tidy()
    of_levels = found.query("term == 'g'").set_index("column")
    for level, column in (("a", "g[a]"), ("b", "g[T.b]"), ("c", "g[T.c]")):
        here = SURVEY["g"] == level
        assert of_levels.loc[column, "n"] == here.sum()
        assert of_levels.loc[column, "events"] == SURVEY.loc[here, "b"].sum()
    assert of_levels.loc["g[a]", "label"] == "g: a (reference)"
    assert of_levels.loc["g[T.b]", "label"] == "g: b"
    data = SURVEY.assign(often=1 + SURVEY.index % 3)
    found = fitted("g", data=data, weights="often").refit("glm").regression_table(["selected"])
    here = data["g"] == "b"
    row = found.tidy().set_index("column").loc["g[T.b]"]
    assert row["n"] == data.loc[here, "often"].sum()
    assert row["events"] == data.loc[here & (data["b"] == 1), "often"].sum()
    data = SURVEY.assign(g=SURVEY["g"].replace("b", "b (reference)"))
    table = fitted("g", data=data).refit("glm").regression_table(["selected"])
    ratios = {row[0].strip(): row[2] for row in table.summary().content.rows}
    assert list(ratios.values()).count("1") == 1
    assert " to " in ratios["g: b (reference)"]
    # Arrays of text cut it off: no column was found to be that of the term.
    data = SURVEY.rename(columns={"x": "x\0"}).assign(site=np.arange(len(SURVEY)) // 2)
    fit = treeselect.select("y ~ `x\0`", data, method="mrmr", k=1, seed=1, fold_groups="site")
    table = fit.refit("glm").regression_table(["all"]).tidy()
    assert table["term"].tolist() == ["x\0"]
    assert table["p_value"].notna().all()


def test_estimates_may_be_large_or_none_and_univariable_on_all_rows():
    data = SURVEY.assign(
        g=SURVEY["g"].mask(SURVEY.index < 3), b=SURVEY["b"].mask(SURVEY.index < 3, 1)
    )
    with pytest.warns(treeselect.errors.TreeselectWarning, match="separate"):
        model = fitted("x + g", data=data).refit("glm", missing="indicator")
    (row,) = [r for r in model.regression_table().summary().content.rows if r[0] == "g: (missing)"]
    assert row[1] == "3/3"
    assert row[2] == row[4] == "not estimable"
    model = fitted("x + g", "large", data=SURVEY.assign(large=1e9 * SURVEY["y"])).refit("glm")
    assert "not estimable" not in str(model.regression_table())
    data = SURVEY.assign(x=SURVEY["x"].mask(SURVEY.index < 30))
    with pytest.warns(treeselect.errors.TreeselectWarning, match="drops 30"):
        model = fitted("x + g", data=data).refit("glm")
    whole = fitted("g").refit("glm").tidy(exponentiate=True).set_index("column")["estimate"]
    found = estimates(model.regression_table(), "univariable")["estimate"]
    assert found["g[T.b]"] == pytest.approx(whole["g[T.b]"])
    assert "30 with missing values are left out" in str(model.regression_table())


@pytest.mark.parametrize(("per", "step"), [("sd", SURVEY["x"].std()), ({"x": 10}, 10.0)])
def test_ratios_of_other_units(per, step):
    model = fitted("x + g").refit("glm")
    one, more = (estimates(model.regression_table(per=p), "selected") for p in (None, per))
    np.testing.assert_allclose(more.filter(like="x: per", axis=0), one.loc[["x"]] ** step)
    label = "x: per s.d. (" if per == "sd" else "x: per 10"
    assert label in str(model.regression_table(per=per))
    weights = 1 + np.arange(len(SURVEY)) % 3 / 7
    for kind in ("sampling", "precision"):  # weights that sum to less than 1 are weights, too
        given = [fitted("x + g", weights=w, weights_kind=kind) for w in (weights, weights / 1e4)]
        texts = [str(own.refit("glm").regression_table(per=per)) for own in given]
        assert texts[0] == texts[1]


def test_a_number_of_two_values_has_no_standard_deviation():
    data = SURVEY.assign(two=(SURVEY["x"] > 0).astype(int))
    table = fitted("two + w", data=data).refit("glm").regression_table(per="sd").tidy()
    assert table["label"].str.contains("w: per s.d.").any()
    assert "two" in set(table["label"])
    bent = fitted("x + g").refit("gam").regression_table(["univariable"])
    assert "P is of the whole spline" in str(bent.summary())


def test_terms_that_are_shown_and_rows_of_each_model():
    model = fitted("x + g + w", k=1).refit("glm")
    (own,) = model.fitted.terms
    assert set(model.regression_table().tidy()["term"]) == {own}
    found = model.regression_table(["all", "selected"]).tidy()
    assert set(found["term"]) == {"x", "g", "w"}
    assert set(found.query("model == 'selected'")["term"]) == {own}
    table = fitted("x + g + x:g").refit("glm").regression_table(["selected"])
    p = table.tidy().dropna(subset="p_value")["term"].tolist()
    assert p == ["x:g"]
    assert "none of a term that an interaction contains" in str(table)
    of_all = fitted("x + g + x:g", k=1, keep="x").refit("glm")
    assert "interaction contains" in str(of_all.regression_table(["all", "selected"]))
    assert "interaction" not in str(fitted("x + g").refit("glm").regression_table())
    data = SURVEY.assign(twin=3 * SURVEY["x"])
    model = fitted("x + twin", data=data, keep=["x", "twin"]).refit("glm")
    text = " ".join(str(model.regression_table()).split())
    assert "Selected terms: dropped because they are linear combinations of preceding" in text
    assert "Univariable: dropped" not in text
    found = fitted("x + g").refit("gam").regression_table()
    (row,) = [row for row in found.summary().content.rows if row[0].startswith("x: ")]
    assert " vs " in row[0]
    assert all(row)
    data = SURVEY.assign(x=SURVEY["x"].mask(SURVEY.index < 5))
    model = fitted("g + x", k=1, data=data).refit("glm")
    text = " ".join(str(model.regression_table(["univariable", "all", "selected"])).split())
    n_own = 115 if "x" in model.fitted.terms else 120
    assert "All terms: logistic regression of 115 rows" in text
    assert f"Selected terms: logistic regression of {n_own} rows" in text
    of_all = str(model.regression_table(["all"]))
    assert "Selected terms" not in of_all
    assert "selected on the same rows" in text
    assert "selected on the same rows" not in of_all
    few = fitted("g + x", data=data, fold_groups=data.index % 3)
    with pytest.warns(treeselect.errors.TreeselectWarning, match="more clusters"):
        text = " ".join(str(few.refit("glm", missing="indicator").regression_table()).split())
    assert "treat rows of one cluster as independent" in text
    whole = fitted("g + x", data=data).refit("glm", missing="indicator")
    assert "in which their term is known" not in str(whole.regression_table())
    counts = fitted("x + g", "w", family="poisson").refit("glm")
    assert "quasi-Poisson regression of 120 rows" in str(counts.regression_table())


def test_nothing_selected_has_no_table_of_its_own():
    fit = treeselect.select("w ~ y", SURVEY, seed=1, n_trees=20)
    assert not fit.selected
    with pytest.raises(OptionError, match="none selected"):
        fit.refit("glm").regression_table()
    assert "y" in str(fit.refit("glm").regression_table(["all"]))


@pytest.mark.parametrize("family", ["gaussian", "cox"])
def test_terms_whose_columns_are_all_dropped_leave_no_rows(family):
    """In the rows in which it is known the term is constant."""
    data = SURVEY.assign(one=np.where(SURVEY["g"] == "a", 1.0, np.nan))
    data = pl.from_pandas(data)
    with pytest.warns(treeselect.errors.TreeselectWarning, match="a term is missing"):
        model = fitted("one", LEFT[family], family=family, data=data).refit("glm")
    table = model.regression_table(["univariable", "all", "selected"], per="sd")
    assert list(table.tidy().columns) == ["model", "term", "column", "label", *COUNTED]
    assert len(table.tidy()) == 0
    assert "dropped because" in " ".join(str(table).split())
    for form in ("as_latex", "as_markdown", "_repr_html_", "as_docx"):
        getattr(table.summary(), form)()


def test_classes_have_rows_each():
    labels = fitted("x + g", "m").refit("glm").regression_table(["selected"]).tidy()["label"]
    assert labels.tolist()[:2] == ["m: x", "m: g: a (reference)"]
    assert "r: g: b" in labels.tolist()


def test_print_has_no_code_and_notes_say_how_intervals_were_made():
    table = fitted("x + g", labels={"x": "Dose (mg)"}).refit("glm").regression_table()
    text = str(table)
    assert "treeselect" not in text
    assert "[T." not in text
    assert "Dose (mg)" in text
    assert "logistic regression of 120 rows" in text
    assert "Wald confidence interval. P: likelihood ratio tests" in text
    cell = next(row[2] for row in table.summary(digits=2).content.rows if row[0] == "Dose (mg)")
    assert all(len(part.strip("()").partition(".")[2]) == 2 for part in cell.split() if "." in part)
    assert fitted("x + g").refit("glm").regression_table().summary(notes=False).content.notes == ()
    model = fitted("x + g", fold_groups="site").refit("glm")
    assert "Wald F tests with robust standard errors" in str(model.regression_table())
    model = fitted("x + g", weights="w", weights_kind="sampling").refit("glm")
    with pytest.raises(OptionError, match="`interval` must be 'wald' for this model"):
        model.regression_table(interval="profile")
    table = fitted("x + g", "y").refit("glm").regression_table(interval="profile")
    assert "CI: Wald confidence interval." in str(table)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["both"]}, "`models` must be some of"),
        ({"models": []}, "`models` must be some of"),
        ({"per": {"g": 2}}, "`g`, which is no number, or has a spline. Numbers: `x`"),
        ({"per": {"x": 0}}, "`per` must be 'sd', or positive differences"),
        ({"per": 10}, "`per` must be 'sd', or positive differences"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(OptionError, match=message):
        fitted("x + g").refit("glm").regression_table(**options)
    with pytest.raises(OptionError, match="`x`, which is no number, or has a spline"):
        fitted("x + g").refit("gam").regression_table(per={"x": 2})


@pytest.mark.parametrize("family", ["binomial", "cox"])
def test_inference_has_the_table_of_the_rows_for_testing(family):
    fit = fitted("x + g", LEFT[family], family=family)
    found = fit.inference(seed=3)
    table = found.regression_table()
    design = found.tested
    rows = SURVEY.iloc[design.response.rows[design.weight > 0]]
    assert 0.4 < len(rows) / len(SURVEY) < 0.6
    known = fitted("x + g", LEFT[family], family=family, data=rows.reset_index(drop=True))
    expected = known.refit("glm").regression_table().tidy()
    pd.testing.assert_frame_equal(table.tidy(), expected, rtol=1e-6)
    own = found.tidy(exponentiate=family != "gaussian").set_index("column")["estimate"]
    shown = table.tidy().query("model == 'selected'").set_index("column")["estimate"]
    np.testing.assert_allclose(own[["g[T.b]", "g[T.c]"]], shown[["g[T.b]", "g[T.c]"]], rtol=1e-6)
    assert "g: a (reference)" in str(found.summary())
    assert "selected on one part of the rows" in str(table.summary())
    assert "repeats" not in str(table.summary())
    with pytest.raises(OptionError, match="several splits have no common ones"):
        fit.inference(repeats=2, seed=3).regression_table()


def test_terms_alone_may_leave_counts_too_variable_for_poisson():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.normal(size=300), "z": rng.normal(size=300)})
    data["n"] = rng.poisson(np.exp(2 + data["x"] + data["z"]))
    model = fitted("x + z", "n", data=data, family="poisson").refit("glm")
    text = " ".join(str(model.regression_table()).split())
    assert "Univariable: quasi-Poisson in 2 of 2 models." in text
    assert "Selected terms: Poisson regression of 300 rows." in text
    assert "P: F tests or likelihood ratio tests of each term" in text
    assert "P: likelihood ratio tests of" in " ".join(str(model.regression_table(["all"])).split())
