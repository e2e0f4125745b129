"""Sections of a report: their numbers, their words, and where there is nothing to show."""

import dataclasses
import html
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from markup import MADE, report_of
from quick import WITH_GAPS, burnt, changed, stability_of
from survival_data import small_fit, small_times

import treeselect
from treeselect.errors import OptionError, TreeselectWarning
from treeselect.reports.head import cards, terms
from treeselect.reports.parts import FitMaterial, Table
from treeselect.reports.render import render
from treeselect.reports.resamples import stability_path
from treeselect.resampling.fit import HeldOutScore
from treeselect.resampling.resampled import StabilityPath
from treeselect.results.calls import code_text
from treeselect.results.citation import cite
from treeselect.results.describing import near_units


def resampled_as(fit, share):
    """The fit with 40 resamples that selected units with these shares."""
    units = fit.data.design.arrays.groups.names
    wanted = np.array([share.get(unit, 0.0) for unit in units])
    selected = np.random.default_rng(1).random((40, len(units))) < wanted
    fitted = fit.search.step.selected
    return changed(fit, resampled=stability_of(selected, units, fitted=fitted, k=2, seed=1))


SHARE = {"signal": 0.5, "site": 1.0, "copy": 0.4, "noise": 0.3, "flag": 0.02}


@pytest.fixture(scope="module")
def unstable(fitted):
    return resampled_as(fitted, SHARE)


def test_associations_are_those_of_neighbours_and_few_are_described(unstable, monkeypatch):
    section = report_of(unstable).associations
    units = near_units(unstable._fit)
    assert len(section.table.rows) == len(units) * (len(units) - 1) // 2
    assert section.table.rows[0] == ("signal", "copy", "1.00")
    for one, other, value in section.table.rows:
        known = unstable.data.neighbours(one).set_index("other")["association"]
        assert value == f"{known[other]:.2f}"
    assert section.lead.endswith("`fit.data.neighbours()` has all.")
    monkeypatch.setattr("treeselect.reports.data._MOST_CELLS", 400)
    report = report_of(unstable)
    assert report.data.table.more == 1
    assert report.data.others is None


def test_associations_need_two_terms_and_the_data(mixed, tmp_path):
    one = treeselect.select("dose ~ signal", mixed, method="mrmr", k=1, seed=1)
    assert report_of(one).associations is None
    two = treeselect.select("dose ~ signal + site", mixed, method="mrmr", k=2, seed=1)
    loaded = treeselect.load(two.save(tmp_path / "fit.treeselect"))
    assert report_of(loaded).associations is None


def test_of_many_selected_units_the_most_important_are_shown(mixed, monkeypatch):
    noise = np.random.default_rng(0).normal(size=(400, 20))
    data = mixed.assign(**{f"x{i:02d}": noise[:, i] for i in range(20)})
    fit = treeselect.select("dose ~ . - died", data, method="mrmr", k=18, seed=1)
    options = {"sections": ("associations",)}
    section = report_of(fit, **options).associations
    assert section.lead.endswith("Of the 18 selected terms, the 12 most important.")
    assert section.table.more == 12 * 11 // 2 - 20
    every = treeselect.select("dose ~ signal + site", mixed, method="mrmr", k=2, seed=1)
    assert report_of(every).associations.lead.endswith("All are selected.")
    monkeypatch.setattr("treeselect.reports.data._MOST_MEASURED", 400 * 3 * 3)
    few = report_of(fit, **options).associations
    assert len(few.table.rows) == 3


def cards_of(fit, performance=None):
    return cards(FitMaterial(fit._fit, performance))


def stability_card(fit, **changes):
    return cards_of(changed(fit, resampled=dataclasses.replace(fit._fit.resampled, **changes)))[1]


def test_the_nested_score_stands_in_place_of_the_tuning_score(cross_validated):
    tuning = cards_of(cross_validated)[0]
    glance = cross_validated.glance().iloc[0]
    assert (tuning.head, tuning.value) == ("R2, cross-validated", f"{glance['cv_score']:.3f}")
    assert "Optimistic: the same folds chose the number of terms." in tuning.details[0]
    assert tuning.details[1].startswith("On the same rows: ")
    found = cross_validated.performance(2)
    nested = cards_of(cross_validated, found)[0]
    assert (nested.head, nested.value) == ("R2, nested cross-validation", f"{found.mean:.3f}")
    low, high = found.mean_ci
    assert nested.details[0].startswith(f"95% interval {low:.3f} to {high:.3f}, mean of 2 folds.")
    perfect = dataclasses.replace(found, scores=np.ones(2), errors=np.zeros(2))
    assert cards_of(cross_validated, perfect)[0].details[0].startswith("1 in each fold, mean of 2")
    fit = cross_validated._fit
    nothing = changed(cross_validated, step=min(fit.steps, key=lambda step: step.size))
    assert not nothing.selected
    for report, is_so in ((report_of(cross_validated), True), (report_of(nothing), False)):
        assert ("optimistic" in report.path.lead) is is_so
        assert ("Optimistic" in report.cards[0].details[0]) is is_so
    unknown = dataclasses.replace(found, scores=np.array([np.nan, 1.0]))
    assert cards_of(cross_validated, unknown)[0] == tuning


def test_the_score_is_of_held_out_rows_and_stability_of_enough_resamples(fitted):
    score = cards_of(fitted)[0]
    assert (score.head, score.value) == ("AUC on new rows", "Not assessed")
    held = HeldOutScore("AUC", 0.8449, 709)
    score = cards_of(changed(fitted, held_out=held))[0]
    assert (score.head, score.value) == ("AUC, held-out rows", "0.845")
    assert "on 709 rows not drawn into the sample" in score.details[0]
    undefined = changed(fitted, held_out=dataclasses.replace(held, score=np.nan))
    assert cards_of(undefined)[0] == cards_of(fitted)[0]
    card = cards_of(fitted)[1]
    assert card.head == "Stability, k fixed at 2"
    assert card.value in (
        "Stable", "Partly stable", "Unstable", "Stable up to interchangeable terms",
    )  # fmt: skip
    assert card.details[0].startswith(f"Index {fitted.stability.index:.2f} over 10 bootstrap")
    free = stability_card(fitted, fixed_size=False)
    assert free.head == "Stability"
    selected = fitted._fit.resampled.selected
    few = np.vstack([selected[:3], ~selected[:1]])
    card = stability_card(fitted, selected=few)
    assert card.head == "Stability, k fixed at 2: index"
    assert float(card.value) < 1
    assert card.details[-1] == "A verdict needs at least 10."


@pytest.mark.parametrize(
    ("all_of_them", "why"),
    [(True, "every resample selected all terms that it could"), (False, "no resample selected")],
)
def test_undefined_stability_says_why(fitted, all_of_them, why):
    same = np.full_like(fitted._fit.resampled.selected, all_of_them)
    card = stability_card(fitted, selected=same)
    assert card.value == "Not defined"
    assert card.details[0].startswith(f"The index is not defined: {why}")


def test_nothing_selected(mixed):
    fit = burnt("dose ~ signal + noise", mixed, lam=1e9)
    card = cards_of(fit)[1]
    assert card.value == "Not assessed"
    assert card.details[0].startswith("`fit.resample(100, k=1)`")
    assert fit.resample(2, k=1)._fit.resampled.n_resamples == 2


def test_beside_nothing_there_are_the_first_sizes_of_the_path():
    rng = np.random.default_rng(3)
    noise = pd.DataFrame(rng.normal(size=(60, 4)), columns=[*"abcy"])
    fit = treeselect.select("y ~ .", noise, n_trees=20, seed=1)
    assert fit.selected == ()
    choices = report_of(fit).terms.table
    assert choices.labels == ("0, selected", "1", "2")
    assert [len(table.rows) for table in choices.tables] == [0, 1, 2]
    assert re.search(r"<div>\s*<p>None.</p>\s*</div>", render(report_of(fit)))


def test_rows_classes_and_missing_values(mixed, fitted, tmp_path):
    n = int(mixed["died"].sum())
    card = cards_of(fitted)[2]
    incomplete = int(mixed[["noise", "site"]].isna().any(axis=1).sum())
    assert (card.head, card.value) == ("Data", "400 rows")
    assert card.details == (
        f"{n} with died = True, {400 - n} with False.",
        f"{incomplete} rows have missing values: noise (37) and site (31).",
    )
    counts = dataclasses.replace(fitted.data.design.rows, no_response=3, no_weight=1)
    fewer = changed(fitted, design=dataclasses.replace(fitted.data.design, rows=counts))
    assert cards_of(fewer)[2].details[1:3] == (
        "Excluded because the response is missing: 3.", "Excluded because their weight is 0: 1.",
    )  # fmt: skip
    without = treeselect.load(fitted.save(tmp_path / "fit"))
    assert cards_of(without)[2].details == card.details[:1]


def test_the_page_says_what_the_citation_says(fitted):
    report = report_of(fitted)
    found, page = cite(fitted._fit, MADE["versions"]), html.unescape(render(report))
    section = page[page.index('<section aria-labelledby="cite">') :]
    assert f"<p>{found.methods}</p>" in section
    for text in (*found.limitations, *found.references):
        assert f"<li>{text}</li>" in section
    assert code_text("\n".join(report.cite.call.lines)) == found.call
    options = (f"{name} = {value}" for name, value in fitted.search.method.options().items())
    lines = (f"{line}\n" for line in report.cite.call.lines)
    for text in (found.bibtex, found.fingerprint, "treeselect test", *lines, *options):
        assert text in section


def selected(formula, data, **options):
    return treeselect.select(formula, data, **{"method": "mrmr", "k": 1, "seed": 1} | options)


def test_numbers_are_those_of_describe(fitted):
    section = report_of(fitted).data
    rows = {row[0]: row[1:] for row in section.table.rows}
    assert list(rows) == [
        own
        for name in fitted.variables
        for own in {"site": ["site: Bath", "site: Leeds", "site: York", "site: missing"]}.get(
            name, [name]
        )
    ]
    assert section.table.caption == "Variables in the selected terms, by died"
    table = fitted.data.describe("site")
    head = table[table["kind"] == "missing"]
    assert section.table.columns == (
        "Variable", *(f"{g} (n\u00a0=\u00a0{n})" for g, n in zip(
            ["All", "False", "True"], head["n_group"], strict=True)),
    )  # fmt: skip
    for level, own in table[table["kind"] == "level"].groupby("level"):
        assert rows[f"site: {level}"] == tuple(
            f"{n} ({share:.0%})" for n, share in zip(own["n"], own["share"], strict=True)
        )
    own = fitted.data.describe("signal").iloc[0]
    assert [float(v) for v in re.findall(r"-?[\d.]+", rows["signal"][0])] == pytest.approx(
        [own["median"], own["q25"], own["q75"]], rel=0.006
    )


def test_others_are_folded_and_what_is_rare_or_left_out_said_once(mixed):
    noise = np.random.default_rng(0).normal(size=(400, 30))
    data = mixed.assign(**{f"x{i:02d}": noise[:, i] for i in range(30)})
    fit = selected("died ~ . - dose", data)
    section = report_of(fit).data
    assert section.others.more == 35 - 20
    page = render(report_of(fit))
    assert "and 15 more" in page
    site = mixed["site"].cat.add_categories("Hull")
    site.iloc[:2] = "Hull"
    data = mixed.assign(
        site=site, empty=np.nan, weight=[0] * 5 + [1] * 395, died=mixed["died"].astype(object)
    )
    data.loc[10:15, "died"] = None
    data.loc[20:22, "site"] = "Hull"
    page = render(report_of(selected("died ~ . - dose", data, weights="weight")))
    said = "Levels with fewer than 5 rows: Hull of site (3)."
    assert page.count(said) == 1
    assert (
        page.count(
            "Excluded because the response is missing: 6. Excluded because their weight is 0: 5."
        )
        == 1
    )
    assert page.count("Entirely missing, can&#39;t be selected") == 1


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (None, ""),
        (2, " Each row counts as often as its case weight."),
        (0.5, " Each row counts once, whatever its weight."),
    ],
)
def test_how_rows_are_counted_is_said(mixed, weights, said):
    given = {} if weights is None else {"weights": weights + np.arange(400) % 2}
    page = report_of(selected("died ~ signal + site", mixed, **given))
    assert ("weighted by their case weights" in page.shapes.lead) == (weights == 0.5)
    section = page.data
    assert section.lead.endswith(f"Columns are the classes of died.{said}")


def test_columns_by_times_and_thirds_with_labels_and_honest_shares(mixed):
    times = report_of(small_fit()).data
    assert [c.split(" (")[0] for c in times.table.columns[1:]] == ["All", "event", "censored"]
    assert times.lead.endswith("separate rows with an event from censored rows.")
    thirds = report_of(selected("dose ~ signal + site", mixed)).data
    assert thirds.lead.endswith("Columns are thirds of dose, as nearly equal as ties allow.")
    every = selected("Surv(time, dead) ~ risky + x", small_times().assign(dead=1))
    section = report_of(every).data
    assert section.table.caption == "Variables in the selected terms"
    assert section.lead.endswith("counted where there are any.")
    for n in (1, 2):
        rare = np.where(np.arange(400) < n, "a", "b")
        section = report_of(selected("died ~ rare + signal", mixed.assign(rare=rare))).data
        tables = [table for table in (section.table, section.others) if table]
        rows = {row[0]: row[1:] for table in tables for row in table.rows}
        assert rows["rare: a"][0] == f"{n} (<1%)"
        assert rows["rare: b"][0] == f"{400 - n} (>99%)"
        assert n > 1 or "0" in rows["rare: a"][1:]
    labels = {"signal": "Signal (mV)", "noise": "Two", "copy": "Two", "died": "Death"}
    fit = selected("died ~ log1p(abs(signal)) + noise + copy", mixed, k=3, labels=labels)
    report = report_of(fit)
    names = {row[0].partition(":")[0] for row in report.data.table.rows}
    assert names == {"Signal (mV)", "Two (noise)", "Two (copy)"}
    assert report.data.table.caption.endswith("by Death")
    assert set(fit.data.describe()["variable"]) == {"signal", "noise", "copy"}
    render(report)


def test_nothing_selected_and_no_data(mixed, tmp_path):
    none = selected(
        "dose ~ noise + colour", mixed, method="controlburn", k=None, lam=1e9, forests=1, n_trees=5
    )
    section = report_of(none).data
    assert section.table is None
    assert {row[0].partition(":")[0] for row in section.others.rows} == {"noise", "colour"}
    render(report_of(none))
    loaded = treeselect.load(selected("died ~ signal + site", mixed).save(tmp_path / "m"))
    report = report_of(loaded)
    assert report.data is None
    assert 'id="data"' not in render(report)
    assert report.notes


def stability(counts, scheme="complementary"):
    along = StabilityPath(np.array(counts), 4, 0)
    return stability_of([[1, 0, 0]] * 4, ("a", "<b>", "c"), scheme=scheme, along=along)


def path_section(found):
    groups = SimpleNamespace(terms=[("a",), ("<b>", "d"), ("c",)])
    design = SimpleNamespace(arrays=SimpleNamespace(groups=groups))
    return stability_path(SimpleNamespace(fit=SimpleNamespace(resampled=found, k=1, design=design)))


def test_q_values_have_a_figure_and_a_table_where_there_are_any():
    section = path_section(stability([[4, 0, 0], [4, 3, 1]]))
    assert [line.name for line in section.figure.series] == ["a", "<b>", "c"]
    assert section.table.columns == ("Units (k)", "a", "<b>", "c")
    assert section.table.rows == (("1", "1.00", "0.00", "0.00"), ("2", "1.00", "0.75", "0.25"))
    assert section.q_values.rows[0][0] == "a"
    assert "Dashed curves are units outside the selection" in section.lead
    section = path_section(stability([[4, 0, 0]], scheme="bootstrap"))
    assert section.figure is None
    assert section.q_values is None
    assert "line" not in section.lead
    assert path_section(None) is None
    assert path_section(dataclasses.replace(stability([[1, 0, 0]]), along=None)) is None
    assert path_section(stability([[0, 0, 0]])) is None


@WITH_GAPS
def test_valid_p_values_stand_beside_the_linear_model(fitted, cross_validated, tmp_path):
    found = fitted.inference(repeats=2)
    page = fitted.report(tmp_path / "a.html", inference=found).read_text(encoding="utf-8")
    assert '<h2 id="inference">P-values that account for the selection</h2>' in page
    section = page[page.index('id="inference"') :]
    for row in found.summary().content.rows:
        assert all(f">{html.escape(cell)}<" in section for cell in row)
    assert '"inference"' not in fitted.report(tmp_path / "a.html").read_text(encoding="utf-8")
    with pytest.raises(OptionError, match=r"`inference` must be what `fit.inference\(\)` gives"):
        fitted.report(tmp_path / "b.html", inference=fitted.stability)
    with pytest.raises(OptionError, match="`inference` must belong to the same fit"):
        cross_validated.report(tmp_path / "b.html", inference=found)


def test_subgroups_and_validation_have_sections(mixed, tmp_path):
    given = {"method": "mrmr", "k": 2, "seed": 1, "resamples": 0}
    fit = treeselect.select("died ~ signal + site + dose", mixed, model="glm", **given)
    with pytest.warns(TreeselectWarning, match="fewer than 100 cases"):
        groups = fit.performance(2).by("site")
    found = fit.validate(3)
    path = fit.report(tmp_path / "a.html", validation=found, subgroups=groups)
    page = path.read_text(encoding="utf-8")
    for text in (
        "Performance by site", "Optimism and instability, by the bootstrap", "validation-2",
        "Instability of predictions", "repeated on 3 bootstrap samples of the rows", "Left out",
    ):  # fmt: skip
        assert text in page, text
    assert 'id="interactions"' not in page  # the model is additive
    alone = fit.report(tmp_path / "b.md", validation=found, sections=["validation"])
    assert "Performance by" not in alone.read_text(encoding="utf-8")
    other, refitted = treeselect.select("died ~ signal + dose", mixed, **given), fit.refit("stack")
    assert refitted.validate(2).call.endswith('.refit("stack").validate(2, seed=1)')
    for name, own in (("validation", found), ("subgroups", groups)):
        with pytest.raises(OptionError, match=f"`{name}` must belong to the same fit"):
            refitted.report(tmp_path / "c.html", **{name: own})
        with pytest.raises(OptionError, match=f"`{name}` must belong to the same fit"):
            other.report(tmp_path / "c.html", **{name: own})
        with pytest.raises(OptionError, match=f"`{name}` must be what `fit"):
            fit.report(tmp_path / "c.html", **{name: fit})


def test_other_sizes_and_sets_stand_beside_the_selection(mixed):
    fit = treeselect.select("died ~ .", mixed, seed=1, n_trees=20, resamples=4, progress=False)
    beside = terms(FitMaterial(fit._fit)).table
    sizes = [size for size in fit.path["k"] if size and abs(size - fit.k) <= 2]
    labels = [f"{size}, selected" if size == fit.k else str(size) for size in sizes]
    assert list(beside.labels[: len(sizes)]) == labels
    assert beside.labels[beside.at] == f"{fit.k}, selected"
    assert len(beside.labels) == len(sizes) + min(len(fit.search.alternatives()), 3)
    for label, said, table in zip(beside.labels, beside.said, beside.tables, strict=True):
        if label.isdigit():
            step = fit.path.set_index("k").loc[int(label)]
            assert {row[0] for row in table.rows} == set(step["terms"])
            assert f"{step['cv_score']:.3f} (s.e. {step['cv_se']:.3f})" in said
            assert ("was found to predict better (p < 0.0001)" in said) == (int(label) < fit.k)
    for label, near in zip(
        beside.labels[len(sizes) :], fit.search.alternatives()["terms"], strict=False
    ):
        assert " in place of " in label
        table = beside.tables[beside.labels.index(label)]
        assert [row[0] for row in table.rows] == list(near)
    section, note = terms(FitMaterial(fit._fit, whole=True)), "decrease in impurity in its forest"
    assert isinstance(section.table, Table)
    assert (note in section.notes) == (" plus a random forest" in fit.model.fitted.description)
