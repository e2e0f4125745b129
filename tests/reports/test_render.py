"""The HTML report: one whole page under snapshot, hostile names, size, and what may be missing."""

import dataclasses
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from markup import page_of, plain, report_of, without_style
from quick import WITH_GAPS, burnt, by_mrmr, changed, quick_fit, stability_of
from round_numbers import EXCHANGES, RIVALS, with_trace

import treeselect
from treeselect.figures.marks import Plane
from treeselect.printing import enumeration
from treeselect.reports.parts import Mark, Report, Section
from treeselect.reports.render import code, css_text, render
from treeselect.reports.resamples import models, stability_section
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.results.curves import curves
from treeselect.results.tables import decision_table

HOSTILE = "<script>alert('1')</script>"


def scale_of(panel):
    return (panel.y if isinstance(panel, Plane) else panel.x).label


ROUND_SHAPES = {
    "signal": pd.DataFrame({
        "signal": [-2.0, -0.5, 0.5, 2.0, np.nan], "share": [0.25, 0.25, 0.25, 0.125, 0.125],
        "effect": [-0.25, -0.125, 0.125, 0.25, 0.0],
        "low": [-0.3125, -0.1875, 0.0625, np.nan, -0.0625],
        "high": [-0.125, -0.0625, 0.1875, np.nan, 0.0625],
    }),
    "site": pd.DataFrame({
        "site": ["Bath", "Leeds", "York", None], "share": [0.25, 0.25, 0.375, 0.125],
        "effect": [-0.0625, -0.0625, 0.125, 0.0],
    }),
}  # fmt: skip
ROUND_TREES = pd.DataFrame(
    {
        "tree": [2, 1], "weight": [1.5, 0.5], "share": [0.75, 0.25], "depth": [2, 1],
        "leaves": [4, 2], "terms": [("signal", "site"), ("signal",)],
    }
)  # fmt: skip
ROUND_EFFECTS = pd.DataFrame(
    [
        ("signal", "up", "quartiles", "-0.75", "0.75", 0.375),
        ("site", "by level", "levels", "Bath", "York", 0.1875),
        ("site", "by level", "levels", "Bath", "missing", -0.0625),
    ],
    columns=["term", "direction", "step", "from", "to", "effect"],
).assign(low=np.nan, high=np.nan)
ROUND_PAIRS = pd.DataFrame(
    [("signal", "site", 0.125, 0.0625)], columns=["term", "other", "strength", "size"]
)


def round_shape(result, term, other):
    return ROUND_SHAPES.get(term, ROUND_SHAPES["signal"].rename(columns={"signal": term}))


@pytest.fixture
def fixed(fitted, monkeypatch):
    """`fitted` with round numbers, so that the page depends on nothing that the engine computes."""
    monkeypatch.setattr("treeselect.results.curves.shape_table", round_shape)
    monkeypatch.setattr("treeselect.results.citation.data_fingerprint", lambda design: "0f" * 32)
    monkeypatch.setattr("treeselect.reports.parts.effect_table", lambda fit, most: ROUND_EFFECTS)
    monkeypatch.setattr("treeselect.reports.model.interaction_table", lambda fit: ROUND_PAIRS)
    monkeypatch.setattr("treeselect.reports.model.tree_table", lambda fit: ROUND_TREES)
    names = fitted.data.design.arrays.groups.names
    worth = {"signal": 0.6, "site": 0.3, "noise": 0.1}
    entry = [[], ["signal"], ["signal", "site"], ["signal", "site", "noise", "copy"]]

    def shares(members):
        return np.array([worth.get(name, 0.0) if name in members else 0.0 for name in names])

    steps = tuple(
        dataclasses.replace(
            fitted.search.step, tuning=np.inf if not members else 0.25 / i,
            selected=np.isin(names, members), importance=shares(members),
            train_score=0.5 + 0.125 * i, cut_from=None,
        )
        for i, members in enumerate(entry)
    )  # fmt: skip
    drawn = np.zeros((20, len(names)), dtype=bool)
    drawn[:, names.index("site")] = True
    drawn[:15, names.index("signal")] = True
    drawn[15:, names.index("copy")] = True
    return changed(
        fitted,
        steps=steps,
        step=steps[2],
        notes=(),
        scores=ScoreBySize(
            np.array([[0.5, 0.625, 0.75, 0.75, 0.75], [0.5, 0.6875, 0.875, 0.8125, 0.8125]])
        ),
        model=dataclasses.replace(fitted.model.fitted, importance=shares(["signal", "site"])),
        resampled=stability_of(drawn, names, fitted=steps[2].selected, k=2, seed=1),
    )


def test_whole_page(fixed, snapshot):
    assert without_style(page_of(fixed)) == snapshot


def test_what_was_asked_is_said_once_and_chosen_sections_are_printed(fixed):
    once = [name for name, _ in report_of(fixed).asked.facts]
    assert once == ["Data", "Family", "Selected (k)"]
    whole = report_of(fixed, whole=True).asked.facts
    assert [name for name, _ in whole] == [
        "Call", "Data", "Rows", "Family", "Method", "Selected (k)", "Final model", "AUC",
        "Stability", "Seed",
    ]  # fmt: skip
    alone = report_of(fixed, sections=("asked",)).asked.facts
    assert alone == whole
    chosen = report_of(fixed, sections=("sparse_forest",))
    page = render(chosen, sections=("sparse_forest",))
    assert 'class="sub" aria-labelledby="sparse-forest"' in page
    always = dataclasses.replace(
        fixed._fit.resampled, selected=np.tile(fixed._fit.resampled.fitted, (20, 1))
    )
    report = report_of(changed(fixed, resampled=always))
    assert len(report.models.table.rows) == 1
    assert report_of(changed(fixed, resampled=None)).models is None


def test_effects_that_the_table_of_terms_has_are_not_told_again(fixed, monkeypatch):
    first = ROUND_EFFECTS.drop_duplicates("term")
    monkeypatch.setattr("treeselect.reports.parts.effect_table", lambda fit, most: first)
    report = report_of(fixed)
    assert report.effects is None
    meaning = "Effects are changes in P(died = True) under the final model"
    assert meaning in report.terms.notes
    chosen = report_of(fixed, sections=("terms", "effects"))
    assert chosen.effects.lead.startswith(meaning)
    assert meaning not in chosen.terms.notes
    with_intervals = first.assign(low=-0.5, high=0.5)
    monkeypatch.setattr("treeselect.reports.parts.effect_table", lambda *_: with_intervals)
    assert report_of(fixed).effects is not None


def test_kept_terms_are_marked_and_not_called_stable(fixed, mixed):
    kept = np.isin(fixed._fit.resampled.units, ["site"])
    resampled = dataclasses.replace(fixed._fit.resampled, assessed=~kept)
    report = report_of(changed(fixed, resampled=resampled))
    assert "site was selected" not in report.answer[-1]
    table = report.stability.table
    outside = {row[0]: out for row, out in zip(table.rows, table.outside, strict=True)}
    assert {name for name, out in outside.items() if not out} == {"site", "signal"}
    assert {row[0]: row[1:] for row in table.rows}["site"] == ("forced in", "")
    fit = by_mrmr("died ~ signal + noise + site", mixed, k=2, keep="site")
    answer = report_of(fit).answer[0]
    assert "site (always included)" in answer
    assert answer.count("always included") == 1


def test_long_paths_and_sizes_between_steps_are_marked(fixed):
    cut = dataclasses.replace(
        fixed.search.steps[3],
        selected=np.isin(fixed._fit.resampled.units, ["signal", "site", "noise"]),
        cut_from=4,
    )
    report = report_of(changed(fixed, step=cut, scores=None, resampled=None))
    (steps,) = report.path.figure.series
    assert not any(steps.ringed)
    assert steps.x[2] < report.path.figure.rules[0].at < steps.x[3]
    assert "3. No model with exactly 3 terms lies on the path" in report.path.lead
    assert [row[0] for row in report.path.table.rows] == ["0", "1", "2", "4 (cut to 3)"]
    names = fixed._fit.resampled.units
    many_steps = fixed.search.steps[:3] + (fixed.search.steps[3],) * 100
    assert len(names) > 4
    report = report_of(changed(fixed, steps=many_steps, step=fixed.search.steps[3]))
    assert len(report.path.table.rows) == 50
    assert report.path.table.more == 53
    assert "4 (chosen)" in [row[0] for row in report.path.table.rows]


def test_a_path_of_one_step_and_nothing_selected_are_sentences(mixed):
    fit = burnt("dose ~ signal + noise", mixed, lam=1e9)
    section = report_of(fit).path
    assert section.figure is None
    assert section.lead.startswith("The path has one step, with 0 terms. ")
    assert "dashed" not in section.lead
    assert 'id="scores-title"' not in page_of(fit)
    fit = burnt("dose ~ . - died", mixed, lam=1e9)
    page = page_of(fit)
    assert "selected none of 6 candidate terms to predict dose" in page
    assert "No term was selected at lam = " in page
    assert "Final model" not in page


def test_whole_page_with_cross_validation(cross_validated):
    page = page_of(cross_validated)
    assert "mean of 3 folds ± one standard error" in page
    assert "<dt>R2, cross-validated</dt>" in page
    assert "Not assessed, because there are no resamples." in page
    n_steps = len(cross_validated.path)
    assert page.count('class="error"') == 2 * n_steps  # for a desk and for a phone
    assert page.count('class="ring"') == 2


def test_the_search_has_a_section_of_its_own(fitted, snapshot):
    fit = with_trace(fitted, EXCHANGES, RIVALS, n_rivals=60, n_judged=70)
    page = page_of(fit)
    section = page[page.index('<section aria-labelledby="search">') :]
    assert section[: section.index("</section>")] == snapshot
    assert page.count("`.alternatives()`") == 0
    assert page.count("evaluated with all its trees") == 1
    assert page.count("given the bootstrap samples of the trees") == 1


def test_a_search_that_has_nothing_to_tell_has_no_section(fitted):
    found = report_of(fitted), report_of(with_trace(fitted, n_judged=0))
    assert [report.search for report in found] == [None, None]
    alone = report_of(with_trace(fitted, n_judged=5))
    assert (alone.search.exchanges, alone.search.rivals) == (None, None)
    assert "none has an out-of-bag error" in render(alone)


def test_the_page_stands_alone_and_stays_small_for_many_terms(fitted):
    page = page_of(fitted)
    assert "<script" not in page
    assert not re.search(r"""src\s*=|href="(?!#|data:(?:text|image)/)|@import|url\(""", page)
    n_panels = sum(len(row.panels) for row in report_of(fitted).shapes.rows)
    assert page.count("</desc>") == 2 + n_panels
    assert page.count("<svg") - page.count('<svg class="spark"') == 2 * 2 + n_panels
    drawn = page.count("<svg") - page.count('aria-hidden="true"')
    assert drawn == page.count('role="img"') - page.count('<span class="mark"')
    labels = re.findall(r'aria-(?:labelledby|describedby)="([^"]+)"', page)
    assert len(labels) > 6
    assert all(page.count(f'id="{label}"') == 1 for label in labels)
    rng = np.random.default_rng(1)
    names = [f"concentration of marker {i:02d}" for i in range(60)]
    data = pd.DataFrame(rng.normal(size=(90, 60)), columns=names)
    data["y"] = data[names[:50]].sum(axis=1)
    fit = burnt("y ~ .", data, k=50, resamples=2)
    assert fit.k > 25
    assert len(page_of(fit).encode()) < 300_000
    assert len(render(many(fitted, 50)).encode()) < 300_000
    assert len(render(cut_to_the_page(fitted, 7129)).encode()) < 2_000_000
    assert len(page_of(fitted).encode()) < 90_000  # with what can be taken from it


def test_hostile_names_levels_and_classes_are_escaped(mixed):
    data = mixed.rename(columns={"signal": HOSTILE, "died": '"><img src=x>'})
    fit = quick_fit('`"><img src=x>` ~ . - dose - copy', data, k=2)
    assert HOSTILE in fit.selected
    page = page_of(fit)
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;") >= 4
    data = mixed.assign(
        site=mixed["site"].astype(object).map({"Bath": HOSTILE, "York": "</svg><b>", "Leeds": "&"}),
        dose=pd.cut(mixed["dose"], 3, labels=["<i>low", "middle", "</desc><i>high"]),
    )
    fit = treeselect.select(
        "dose ~ site + signal", data, k=2, seed=1, method="rrf", n_trees=10, keep=["site"]
    )
    page = page_of(fit)
    assert page.count("&lt;script&gt;") >= 2
    for tag in ("<script", "<b>", "<i>", "</desc><"):
        assert tag not in page


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`a` is 0 & 1", "<code>a</code> is 0 &amp; 1"),
        ("`<b>`, `c`", "<code>&lt;b&gt;</code>, <code>c</code>"),
        ("an odd ` <b>", "an odd ` &lt;b&gt;"),
        ("", ""),
    ],
)
def test_backticks_become_code(text, html):
    assert code(text) == html


def test_text_in_a_style_stays_text():
    assert css_text("Units (k)") == r"'Units \28 k\29 '"
    hostile = css_text("';}</style><b \n\\")
    assert re.fullmatch(r"'(?:[\w ]|\\[0-9a-f]+ )*'", hostile)


def test_the_sparse_forest_may_predict_by_itself(mixed):
    fit = treeselect.select(
        "dose ~ . - died", mixed, method="controlburn", k=2, seed=1, forests=1, refit=None
    )
    page = page_of(fit)
    assert f"The final model is the sparse forest of {len(fit.model.trees())} weighted" in page
    assert "does not predict" not in page
    assert "random forest of" not in re.sub('<caption>.*?</caption>|aria-label=".*?"', "", page)
    assert "Importance: share of the trees&#39; summed weighted standard deviations" in page
    assert "Centred partial dependence of the mean response on the most important terms" in page


def test_without_the_data_shapes_are_left_out(fitted, tmp_path):
    loaded = treeselect.load(fitted.save(tmp_path / "fit"))
    page = page_of(loaded)
    assert "need the data of the fit, which were not saved with it" in page
    assert 'id="shapes">' not in page
    assert 'id="interactions">' not in page
    assert 'id="sparse-forest">' in page
    whole = treeselect.load(fitted.save(tmp_path / "whole", include_data=True))
    assert page_of(whole).count('id="shapes">') == 1


def test_each_class_has_a_row_of_shapes_or_the_one_that_varies_most(mixed):
    data = mixed.assign(dose=pd.cut(mixed["dose"], 3, labels=["<low>", "middle", "high"]))
    fit = treeselect.select("dose ~ . - died", data, k=2, seed=1, method="rrf", n_trees=20)
    learned = report_of(fit)
    classes = ["<low>", "middle", "high"]
    assert [row.title for row in learned.shapes.rows] == [f"dose: {label}" for label in classes]
    for label, row in zip(classes, learned.shapes.rows, strict=True):
        assert [panel.head for panel in row.panels] == list(fit.selected)
        assert set(map(scale_of, row.panels)) == {f"P(dose = {label})"}
    effects = [
        curve.points[0].effect
        for label in ("<low>", "high")
        for curve in curves(fit._fit, fit.selected[0])
        if curve.of_class == label
    ]
    assert learned.shapes.table.columns[3:] == tuple(f"Effect on {label}" for label in classes)
    first, last = (float(learned.shapes.table.rows[0][i]) for i in (3, 5))
    assert [first, last] == pytest.approx(effects, abs=0.002)
    assert learned.sparse_forest is None
    assert "There is one row of panels for each class." in learned.shapes.lead
    page = page_of(fit)
    assert "<low>" not in page
    assert "<h4>dose: &lt;low&gt;</h4>" in page
    labels = re.findall(r'id="(shape-[^"]+)"', page)
    assert len(labels) == len(set(labels)) == 2 * 3 * 2
    data = mixed.assign(dose=pd.cut(mixed["dose"], 5, labels=list("abcde")))
    fit = treeselect.select("dose ~ signal + noise", data, k=2, seed=1, method="rrf", n_trees=20)
    learned = report_of(fit)
    (row,) = learned.shapes.rows
    shapes = [fit.model.shape(term) for term in fit.selected]
    spreads = {
        label: sum(own["share"] @ own[f"effect_{label}"] ** 2 for own in shapes)
        for label in "abcde"
    }
    most = max(spreads, key=spreads.get)
    assert set(map(scale_of, row.panels)) == {f"P(dose = {most})"}
    table = re.search("<caption>Selected terms.*?</table>", page_of(fit), re.DOTALL)
    assert "points=" not in table[0]  # a step is on a class of its own
    assert f"Of the 5 classes, only the one with the most variable effects is shown: {most}." in (
        learned.shapes.lead
    )


def test_terms_of_several_variables_one_term_groups_and_costs(mixed):
    fit = treeselect.select(
        "dose ~ signal:noise + log(signal ** 2) + bs(noise, 4) + site:colour", mixed, seed=1, k=4,
        method="rrf", n_trees=10, keep=["signal:noise", "site:colour"],
    )  # fmt: skip
    learned = report_of(fit)
    (row,) = learned.shapes.rows
    assert {panel.head for panel in row.panels} == {t for t in fit.selected if ":" not in t}
    assert all(panel.x.label in ("signal", "noise") for panel in row.panels)
    fit = burnt("dose ~ signal", mixed, k=1)
    learned = report_of(fit)
    assert learned.interactions is None
    assert 'id="interactions">' not in page_of(fit)
    fit = burnt(
        "died ~ . - dose - copy",
        mixed,
        k=1,
        groups={"lab": ["signal", "noise"]},
        costs={"lab": 7.0},
    )
    page = plain(page_of(fit))
    assert '<th scope="col">Group</th>' in page
    assert "<td>lab</td>" in page
    assert page.count("<td>7</td>") == 1  # paid once for both terms
    assert "that of a group is shown at its first term" in page


def many(result, n):
    """The report of `result` with `n` units in its tables and figures."""
    report = report_of(result)
    table = dataclasses.replace(
        report.stability.table, rows=tuple((f"gene_{i}", "0.50", "0.40 to 0.60") for i in range(n)),
        marks={1: (Mark(0.5, 0.4, 0.6, "0.40 to 0.60"),) * n}, outside=(True,) * n,
    )  # fmt: skip
    section = Section("stability", "Stability", table=table)
    return Report(**{**vars(report), "stability": section})


def cut_to_the_page(result, n):
    """The report of `result` as if it had assessed `n` units with long names."""
    names = tuple(f"probe_{i:05d}_" + "x" * 40 for i in range(n))
    zeros = np.zeros((3, n), dtype=bool)
    resampled = dataclasses.replace(
        result._fit.resampled, units=names, fitted=zeros[0], assessed=~zeros[0], selected=zeros
    )
    section = stability_section(resampled, [], "term")
    assert section.table.more == n - 30
    return Report(**{**vars(report_of(result)), "stability": section})


def test_performance_has_a_section_of_its_own(cross_validated, tmp_path):
    found = cross_validated.performance(2)
    page = cross_validated.report(tmp_path / "r.html", performance=found).read_text()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    start = text.rindex("Performance: nested cross-validation")
    section = text[start : text.rindex("Methods text and citation")]
    low, high = found.mean_ci
    assert f"R2 {found.mean:.3f} (95% interval {low:.3f} to {high:.3f})" in section
    assert "Folds 2-fold cross-validation" in section
    assert all(f"{score:.3f}" in section for score in found.scores)
    assert found.summary().content.notes[-1] in section
    without = cross_validated.report(tmp_path / "r.html").read_text()
    assert 'id="performance"' in page
    assert 'id="performance"' not in without
    assert "R2, nested cross-validation" not in without
    assert "<dt>R2, cross-validated</dt>" in without
    assert text.index(f"R2, nested cross-validation {found.mean:.3f}") < start
    assert "<dt>R2, cross-validated</dt>" not in page


@WITH_GAPS
def test_coefficients_have_a_section_of_their_own(mixed, tmp_path):
    """With a level and a term of hostile names, and terms that come and go."""
    data = mixed.rename(columns={"noise": HOSTILE})
    data["site"] = data["site"].astype(object).replace({"York": "<b>York"})
    fit = treeselect.select(
        f"died ~ signal + site + flag + colour + `{HOSTILE}`", data, method="stepwise",
        penalty=1.0, seed=1, resamples=10,
    )  # fmt: skip
    found = fit.model.coefficient_stability()
    report = report_of(fit, coefficients=found)
    rows = {row[0]: row for row in report.coefficients.table.rows}
    of_signal = found.table.set_index("column").loc["signal"]
    assert rows["signal"][4] == f"{of_signal['rmsd_ratio']:.2f}"
    assert report.coefficients.sentences == found.notes()
    assert "Fitted to 10 of 10 bootstrap resamples, each time" in report.coefficients.lead
    assert found.response in report.coefficients.lead
    page = fit.report(tmp_path / "r.html", coefficients=found).read_text()
    assert "How selection affects the coefficients" in page
    assert "<b>" not in page
    assert "<script" not in page
    assert "&lt;b&gt;York" in page
    assert "How selection affects the coefficients" not in page_of(fit)


def test_sets_are_the_most_frequent_with_their_members(fitted, fixed):
    names = tuple(f"x{i:02d}" for i in range(40))
    drawn = np.random.default_rng(0).random((50, 40)) < np.linspace(1, 0, 40)
    own = drawn[drawn.sum(axis=1).argmax()]
    stability = stability_of(drawn, names, scheme="subsample", k=20, fitted=own)
    material = SimpleNamespace(fit=changed(fitted, resampled=stability)._fit)
    listed = models(material).table
    assert listed.more == stability.n_models - len(listed.rows)
    assert "x00" in listed.rows[0][1]
    rank = 1 + int(stability.models(None)["selected"].to_numpy().argmax())
    assert (listed.rows[-1][0], len(listed.rows)) == (f"{rank}, as the fit", 11)
    table = models(SimpleNamespace(fit=fixed._fit)).table
    found = fixed.stability.models()
    for row, terms, same in zip(table.rows, found["terms"], found["selected"], strict=True):
        assert row[1] == enumeration(terms)
        assert row[0].endswith(", as the fit") == same


def test_decisions_have_a_section_of_their_own(mixed, fitted, tmp_path):
    fit = treeselect.select(
        "dose ~ . - died", mixed, method="boruta", seed=1, n_trees=30, max_rounds=14
    )
    page = fit.report(tmp_path / "r.html").read_text()
    section = page[page.index('id="decisions">') : page.index('id="path">')]
    table, bar = decision_table(fit._fit)
    history = fit.search.history()
    assert f"the best shadow, {bar:.2f}" in section
    for row in table.itertuples():
        own = history[history["term"] == row.term]
        assert row.hits == (own["importance"] > own["shadow_max"]).sum()
        assert row.rounds == own["importance"].notna().sum()
        assert row.median == own["importance"].median()
        assert f"{row.term}: {row.median:.2f} ({row.low:.2f} to {row.high:.2f})" in section
    assert "All-relevant selection" in page
    assert "Minimal selection" not in page
    assert 'id="decisions"' not in fitted.report(tmp_path / "r.html").read_text()
