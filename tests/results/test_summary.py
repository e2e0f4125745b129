"""The printed summary: full texts, and text that LaTeX or HTML would act on."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from quick import burnt, by_mrmr, changed, stability_of
from round_numbers import with_round_numbers
from survival_data import small_fit, small_times

import treeselect
from treeselect.results.citation import limitations
from treeselect.results.summary import _optimism_notes, overview_table
from treeselect.results.tables import class_counts, missing_counts, selected_first


@pytest.fixture(scope="module")
def made(fitted):
    return with_round_numbers(fitted, "signal", "site")


def test_full_text(made, snapshot):
    assert made.summary().as_text() == snapshot


def test_full_text_with_cross_validation(cross_validated, snapshot):
    rule = "1 s.e. rule, 3-fold cross-validation (best R2 at k = 2)"
    fit = with_round_numbers(cross_validated, "signal", "site", rule=rule)
    assert fit.summary().as_text() == snapshot


def test_full_text_with_groups_costs_notes_and_dropped_rows(mixed, snapshot):
    data = mixed.assign(always=1.0, never=None, patient=range(len(mixed)))
    data["died"] = data["died"].astype(object)
    data.loc[:6, "died"] = None
    fit = burnt(
        "died ~ . - dose - copy", data, k=2, n_trees=10,
        groups={"blood panel": ["signal", "noise"]}, costs={"blood panel": 3.0, "site": 0.5},
    )  # fmt: skip
    made = with_round_numbers(fit, "blood panel", "site")
    assert made.summary().as_text() == snapshot


@pytest.mark.parametrize(
    ("k", "keep", "said"), [(1, None, True), (2, None, False), (1, "site", False)]
)
def test_a_minimal_set_is_a_chosen_part_of_the_terms(mixed, k, keep, said):
    fit = treeselect.select("dose ~ signal + site", mixed, method="lasso", k=k, keep=keep)
    assert fit.k == k
    assert ("Minimal selection" in fit.summary().as_text()) == said


@pytest.mark.parametrize(
    ("term", "rows"), [("noise", "on the training rows"), ("signal", "out of bag")]
)
def test_a_selection_of_nothing_has_no_bags(mixed, term, rows):
    options = {"method": "importance", "n_trees": 5, "resamples": 0, "seed": 1}
    fit = treeselect.select(f"dose ~ {term}", mixed, **options)
    assert fit.k == (term == "signal")
    assert dict(fit.summary().content.facts)["R2"].endswith(rows)
    linear = treeselect.select(f"dose ~ {term}", mixed, method="lasso", lam=1e-9, seed=1).summary()
    assert "of the method's model on" in dict(linear.content.facts)["R2"]
    assert "Enters at k" not in linear.content.columns  # a path of one step


def test_notes_on_constant_terms_an_undefined_index_and_columns_beside_the_point(mixed):
    fit = by_mrmr("dose ~ signal + same", mixed.assign(same=1.0), k=1)
    notes = " ".join(fit.summary().content.notes)
    assert "inside each fold" not in notes
    assert "unselected term" not in notes
    assert limitations(fit._fit, None)[0].startswith("All candidate terms that vary were selected")
    fit = treeselect.select("dose ~ signal + site", mixed, method="mrmr", k=1, keep="signal")
    said = " ".join(fit.resample(3).summary().as_text().split())
    why = "no resample selected a term that was not forced in."
    assert f"over 3 bootstrap resamples: not defined: {why}" in said
    # True of a formula without a point, too.
    data = mixed.assign(times=1, patient=[i // 2 for i in range(len(mixed))])
    fit = treeselect.select(
        "dose ~ signal + site", data, method="mrmr", k=1, weights="times", fold_groups="patient"
    )
    said = " ".join(fit.summary().as_text().split())
    assert "Case weights: `times`, which `.` in the formula excludes." in said
    assert "Rows with the same `patient` stay together in folds" in said


def test_full_latex(made, snapshot):
    assert made.summary().as_latex() == snapshot


def test_prints_like_r_in_lines_of_88(fitted, capsys):
    print(fitted.summary())
    assert capsys.readouterr().out.rstrip("\n") == fitted.summary().as_text()
    assert repr(fitted.summary()) == fitted.summary().as_text()
    assert max(len(line) for line in str(fitted.summary()).splitlines()) <= 88


def hostile(mixed):
    data = mixed.rename(
        columns={"signal": "<script>alert(1)</script>", "site": r"50% & $x_1^2 \#{}"}
    )
    return burnt("died ~ . - dose - copy", data, k=2)


def test_hostile_names_in_html_and_latex(mixed):
    html = hostile(mixed).summary()._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    latex = hostile(mixed).summary().as_latex()
    assert r"\textless{}script\textgreater{}" in latex
    assert r"50\% \& \$x\_1\textasciicircum{}2 \textbackslash{}\#\{\}" in latex
    rows = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert "<" not in rows


def test_the_head_of_times_until_an_event(fitted):
    fit = small_fit("Surv(late, time, dead) ~ risky + x + strata(site)", 1)
    facts = dict(fit.summary().content.facts)
    events = int(small_times()["dead"].sum())
    assert facts["Family"] == "cox (time to event); Cox partial likelihood"
    assert facts["Events"] == f"{events} in 90 rows ({events / 0.9:.1f}%)"
    assert facts["Follow-up"] == "rows are at risk after late"
    assert facts["Strata"] == "site (2 strata, each with its own baseline hazard)"
    assert fit.glance()["events"].to_list() == [events]
    assert sum("concordance" in note for note in fit.summary().content.notes) == 1
    for text in (fit.summary().as_latex(), fit.summary()._repr_html_()):
        assert "each with its own baseline hazard" in " ".join(text.split())
    assert fitted.glance()["events"].isna().all()
    assert "Events" not in dict(fitted.summary().content.facts)


def test_far_too_few_rows_are_told(mixed):
    """A factor of three levels has two parameters, its slopes three."""
    few = mixed.dropna().head(90)
    fit = by_mrmr("died ~ signal + site + site:noise + dose", few, k=1)
    needed = treeselect.sample_size(7, "binomial", prevalence=float(few["died"].mean())).n
    said = " ".join(str(fit.summary()).split())
    assert f"regression model with all 7 candidate parameters needs {needed:,} rows" in said
    fit = by_mrmr("died ~ site + never * site", few.assign(never=None), k=1, missing="level")
    assert "both candidate parameters" in " ".join(str(fit.summary()).split())
    for formula, data in (
        ("died ~ signal", mixed),
        ("site ~ signal + noise + dose", few),
        ("visits ~ signal + noise + dose", few.assign(visits=few["dose"].abs().round())),
    ):
        family = "poisson" if formula.startswith("visits") else "auto"
        enough = by_mrmr(formula, data, k=1, family=family)
        assert "Few rows" not in str(enough.summary())
    timed = by_mrmr("Surv(time, dead) ~ risky + x + z", small_times(), k=1)  # fmt: skip
    share = small_times()["dead"].mean()
    needed = treeselect.sample_size(3, "cox", rate=share, follow_up=1).n
    assert f"needs {needed:,} rows" in " ".join(str(timed.summary()).split())


def test_what_is_said_of_halves_of_many_rows():
    # More than 10,000 rows are scored by models of samples of their halves.
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "z"])
    data["y"] = data["x"] > 0
    fit = treeselect.select("y ~ x + z", data, seed=1, resamples=2)._fit
    rows = dataclasses.replace(fit.design.rows, used=10_001)
    long = dataclasses.replace(fit, design=dataclasses.replace(fit.design, rows=rows))
    for own, part in ((fit, ""), (long, "at most 5,000 rows of ")):
        said = limitations(own, None)[0]
        assert f"models fitted to {part and f'{part}each '}half of the rows; the number" in said
        assert f"scored on {part}the other half" in " ".join(_optimism_notes(own))
        assert _optimism_notes(own)[0].startswith("AUC: each half")
    scores = fit.scores.scores.copy()  # no half led to as many terms
    scores[:, fit.k] = np.nan
    without = dataclasses.replace(fit, scores=dataclasses.replace(fit.scores, scores=scores))
    assert limitations(without, None)[0].startswith("No AUC was estimated on rows outside")
    assert _optimism_notes(without)[0].startswith("All or none: each half")


# --- tables of the selected terms, of those that came near, of rows and missing values -----------


@pytest.fixture
def drawn(fitted):
    """`fitted`, with as many of twenty resamples that selected each unit as a test says."""
    names = fitted.data.design.arrays.groups.names

    def make(counts, kept=()):
        selected = np.zeros((20, len(names)), dtype=bool)
        for name, count in counts.items():
            selected[:count, names.index(name)] = True
        resampled = stability_of(
            selected, names, fitted=fitted.search.step.selected, assessed=~np.isin(names, kept)
        )
        return changed(fitted, resampled=resampled)._fit

    return make


def test_the_overview_has_the_selection_and_what_is_frequent_outside(fitted, drawn):
    found, more = overview_table(changed(fitted, resampled=None)._fit, 50, 10)
    assert tuple(found["term"]) == fitted.selected
    assert more == 0
    assert not any(found["substitutes"])
    assert overview_table(changed(fitted, resampled=None)._fit, 1, 10)[1] == 1
    first, second = fitted.selected
    others = [n for n in fitted.data.design.arrays.groups.names if n not in fitted.selected]
    often, more_than_one_inside, rare, never = others[:4]
    found, more = overview_table(
        drawn({first: 20, second: 5, often: 10, more_than_one_inside: 6, rare: 5, never: 0}), 50, 10
    )
    assert tuple(found["term"]) == (*fitted.selected, often, more_than_one_inside)
    assert found["selected"].tolist() == [True, True, False, False]
    assert more == 0
    found, more = overview_table(drawn({first: 20, second: 0, often: 3, rare: 2}), 50, 1)
    assert tuple(found["term"]) == (*fitted.selected, often)
    assert more == 1
    other = next(n for n in fitted.data.design.arrays.groups.names if n not in fitted.selected)
    found, _ = overview_table(
        drawn({first: 20, second: 20, other: 9}, kept=(first, second)), 50, 10
    )
    assert tuple(found["term"]) == fitted.selected
    assert found["kept"].all()
    names = fitted.data.design.arrays.groups.names
    fit = drawn({"site": 20})
    selected = fit.resampled.selected.copy()
    selected[:12, names.index("signal")] = True
    selected[12:, names.index("copy")] = True
    fit = dataclasses.replace(fit, resampled=dataclasses.replace(fit.resampled, selected=selected))
    found, _ = overview_table(fit, 50, 10)
    named = dict(zip(found["term"], found["substitutes"], strict=True))
    assert named["signal"] == ("copy",)
    assert named["copy"] == ("signal",)
    assert named["site"] == ()


@pytest.fixture(scope="module")
def table():
    """Of ten units the last three, which resamples never select, are in the fit."""
    return pd.DataFrame(
        {
            "term": list("abcdefghij"),
            "frequency": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0, 0, 0],
            "selected": [False] * 7 + [True] * 3,
        }
    )


@pytest.mark.parametrize(
    ("length", "most", "terms"),
    [(5, 8, "hijab"), (2, 8, "hij"), (2, 2, "hi"), (20, 50, "hijabcdefg")],
)
def test_the_selection_comes_first_and_is_never_left_out_for_others(table, length, most, terms):
    assert "".join(selected_first(table, length, most)["term"]) == terms


def test_counts_are_those_of_the_data(mixed, fitted, tmp_path, cross_validated):
    counts = {str(label): int(n) for label, n in mixed["died"].value_counts().items()}
    assert class_counts(fitted._fit) == tuple(sorted(counts.items(), key=lambda own: own[1]))
    incomplete = int(mixed[["noise", "site"]].isna().any(axis=1).sum())
    assert missing_counts(fitted._fit) == ([("noise", 37), ("site", 31)], incomplete)
    loaded = treeselect.load(fitted.save(tmp_path / "fit"))
    assert class_counts(loaded._fit) == class_counts(fitted._fit)
    assert class_counts(cross_validated._fit) == ()
