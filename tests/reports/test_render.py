"""The HTML report: one whole page under snapshot, hostile names, size, and what may be missing."""

from __future__ import annotations

import dataclasses
import itertools
import re

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError
from treeselect.reports.figures.axes import nice_ticks, tick_labels
from treeselect.reports.figures.bars import bar_figure
from treeselect.reports.figures.dots import dot_figure, range_figure
from treeselect.reports.figures.labels import distinct, shorten, spread
from treeselect.reports.figures.lines import line_figure
from treeselect.reports.figures.panels import panels
from treeselect.reports.figures.path import path_figure
from treeselect.reports.gather import gather, software_versions, stability_section
from treeselect.reports.learned import learned_section
from treeselect.reports.parts import Table, enumeration
from treeselect.reports.render import code, render
from treeselect.reports.templates import template_folder
from treeselect.resampling.cross_validation import ScoreBySize
from treeselect.resampling.stability import Stability
from treeselect.results.curves import Curve, CurvePoint
from treeselect.results.tables import decision_table

HOSTILE = "<script>alert('1')</script>"


def page_of(result):
    return render(gather(result, written="2026-01-02 03:04", versions={"treeselect": "test"}))


ROUND_SHAPES = {
    "signal": pd.DataFrame(
        {
            "signal": [-2.0, -0.5, 0.5, 2.0, np.nan],
            "share": [0.25, 0.25, 0.25, 0.125, 0.125],
            "effect": [-0.25, -0.125, 0.125, 0.25, 0.0],
        }
    ),
    "site": pd.DataFrame(
        {
            "site": ["Bath", "Leeds", "York", None],
            "share": [0.25, 0.25, 0.375, 0.125],
            "effect": [-0.0625, -0.0625, 0.125, 0.0],
        }
    ),
}
ROUND_TREES = pd.DataFrame(
    {
        "tree": [2, 1],
        "weight": [1.5, 0.5],
        "share": [0.75, 0.25],
        "depth": [2, 1],
        "leaves": [4, 2],
        "terms": [("signal", "site"), ("signal",)],
    }
)
ROUND_PAIRS = pd.DataFrame({"term": ["signal"], "other": ["site"], "strength": [0.125]})


def round_shape(result, term, other):
    return ROUND_SHAPES.get(term, ROUND_SHAPES["signal"].rename(columns={"signal": term}))


@pytest.fixture
def fixed(fitted, monkeypatch):
    """`fitted` with round numbers, so that the page depends on nothing that the engine computes."""
    learned = "treeselect.reports.learned"
    monkeypatch.setattr("treeselect.results.curves.shape_table", round_shape)
    monkeypatch.setattr(f"{learned}.interaction_table", lambda fit: ROUND_PAIRS)
    monkeypatch.setattr(f"{learned}.tree_table", lambda fit: ROUND_TREES)
    names = fitted.design.arrays.groups.names
    worth = {"signal": 0.6, "site": 0.3, "noise": 0.1}
    entry = [[], ["signal"], ["signal", "site"], ["signal", "site", "noise", "copy"]]

    def shares(members):
        return np.array([worth.get(name, 0.0) if name in members else 0.0 for name in names])

    steps = tuple(
        dataclasses.replace(
            fitted.step,
            tuning=np.inf if not members else 0.25 / i,
            selected=np.isin(names, members),
            importance=shares(members),
            train_score=0.5 + 0.125 * i,
            cut_from=None,
        )
        for i, members in enumerate(entry)
    )
    drawn = np.zeros((20, len(names)), dtype=bool)
    drawn[:, names.index("site")] = True
    drawn[:15, names.index("signal")] = True
    drawn[15:, names.index("copy")] = True
    return dataclasses.replace(
        fitted,
        steps=steps,
        step=steps[2],
        notes=(),
        scores=ScoreBySize(
            np.array([[0.5, 0.625, 0.75, 0.75, 0.75], [0.5, 0.6875, 0.875, 0.8125, 0.8125]])
        ),
        model=dataclasses.replace(fitted.model, importance=shares(["signal", "site"])),
        resampled=Stability(
            units=names,
            fitted=steps[2].selected,
            assessed=np.ones(len(names), dtype=bool),
            selected=drawn,
            scheme="bootstrap",
            k=2,
            seed=1,
        ),
    )


def test_whole_page(fixed, snapshot):
    assert page_of(fixed) == snapshot


def test_the_answer_comes_first(fixed):
    assert gather(fixed, written="now", versions={}).answer == (
        "Of 6 terms, ControlBurn keeps 2 for died: signal and site.",
        "The cross-validated AUC is 0.812 (standard error 0.062), with the selection repeated"
        " inside each fold.",
        "Of 20 resamples of the rows, site was selected on at least 95 %; signal was selected on"
        " 75 %. The stability index is 0.70.",
    )


def test_what_is_kept_by_request_is_not_called_stable(fixed):
    kept = np.isin(fixed.resampled.units, ["site"])
    resampled = dataclasses.replace(fixed.resampled, assessed=~kept)
    report = gather(dataclasses.replace(fixed, resampled=resampled), written="now", versions={})
    assert "site was selected" not in report.answer[-1]
    in_fit = {row[0]: row[-1] for row in report.stability.table.rows}
    assert in_fit["site"] == "always (keep)"
    assert in_fit["signal"] == "yes"
    assert in_fit["copy"] == "no"


def test_a_size_between_two_steps_is_marked(fixed):
    cut = dataclasses.replace(
        fixed.steps[3], selected=np.isin(fixed.resampled.units, ["signal", "site", "noise"]),
        cut_from=4,
    )  # fmt: skip
    report = gather(
        dataclasses.replace(fixed, step=cut, scores=None, resampled=None), written="", versions={}
    )
    assert not any(point.chosen for point in report.path.points)
    assert report.path.points[2].x < report.path.marker < report.path.points[3].x
    assert "3, which no step of the path has" in report.path_notes[1]
    assert [row[0] for row in report.path_table.rows] == ["0", "1", "2", "4 (cut to 3)"]


def test_a_long_path_is_shown_around_the_chosen_step(fixed):
    names = fixed.resampled.units
    many_steps = fixed.steps[:3] + (fixed.steps[3],) * 100
    assert len(names) > 4
    report = gather(
        dataclasses.replace(fixed, steps=many_steps, step=fixed.steps[3]), written="", versions={}
    )
    assert len(report.path_table.rows) == 50
    assert report.path_table.more == 53
    assert "4 (chosen)" in [row[0] for row in report.path_table.rows]


def test_whole_page_with_cross_validation(cross_validated):
    page = page_of(cross_validated)
    assert "mean of 3 folds, with one standard error to each side" in page
    assert "The cross-validated R2 is" in page
    assert "Not assessed: there are no resamples." in page
    n_steps = len(cross_validated.path)
    assert page.count('class="error"') == 3 * n_steps
    assert page.count('class="ring"') == 1


def test_numbers_on_the_page_are_those_of_the_tables(fitted):
    page = page_of(fitted)
    for row in fitted.tidy().query("selected").itertuples():
        assert f"</svg>{row.importance:.3f}</td>" in page
        assert f"<td>{row.ci_low:.2f} to {row.ci_high:.2f}</td>" in page
    assert f"{fitted.stability.index:.2f}" in page


def test_the_page_stands_alone(fitted):
    page = page_of(fitted)
    assert "<script" not in page
    assert not re.search(r"""(src|href)\s*=|@import|url\(""", page)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert '<html lang="en">' in page
    assert page.count('role="img"') == page.count("</desc>") == 7
    assert page.count("<svg") == 7 + page.count('aria-hidden="true"')
    labels = re.findall(r'aria-(?:labelledby|describedby)="([^"]+)"', page)
    assert len(labels) > 6
    assert all(page.count(f'id="{label}"') == 1 for label in labels)


def test_hostile_names_are_escaped_everywhere(mixed):
    data = mixed.rename(columns={"signal": HOSTILE, "died": '"><img src=x>'})
    fit = treeselect.select(
        '`"><img src=x>` ~ . - dose - copy', data, k=2, seed=1, forests=1, n_trees=5, resamples=3
    )
    assert HOSTILE in fit.selected
    page = page_of(fit)
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;") >= 4


def test_hostile_levels_and_classes_are_escaped(mixed):
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


def test_fifty_terms_fit_on_a_small_page():
    rng = np.random.default_rng(1)
    names = [f"concentration of marker {i:02d}" for i in range(60)]
    data = pd.DataFrame(rng.normal(size=(90, 60)), columns=names)
    data["y"] = data[names[:50]].sum(axis=1)
    fit = treeselect.select("y ~ .", data, k=50, seed=1, forests=1, n_trees=5, resamples=2)
    assert fit.k > 25
    assert len(page_of(fit).encode()) < 300_000


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


def test_nothing_selected(mixed):
    fit = treeselect.select("dose ~ . - died", mixed, lam=1e9, seed=1, forests=1, n_trees=5)
    page = page_of(fit)
    assert "keeps none for dose" in page
    assert "Nothing is selected at this penalty." in page

    assert "What the model has learned" not in page


def test_learned_numbers_are_those_of_the_tables(fitted):
    page = page_of(fitted)
    for term in fitted.selected:
        rows = fitted.shape(term)
        assert page.count(f'<tr><th scope="row">{term}</th><td') >= len(rows)
        for row in rows.to_dict("records"):
            assert f'<td class="number">{row["share"]:.3f}</td>' in page
    pair = fitted.interactions().iloc[0]
    assert f"<title>{pair['term']} × {pair['other']}: {pair['strength']:.3f}</title>" in page
    for row in fitted.trees().head(15).itertuples():
        assert f'<th scope="row">{row.tree}</th><td class="number">{row.weight:.3f}</td>' in page
    assert "Predictions are those of a forest of 20 trees, refitted on the selection." in page
    assert "and does not predict: the forest refitted" in page
    assert "probability of True" in page


def test_the_sparse_forest_may_predict_by_itself(mixed):
    fit = treeselect.select("dose ~ . - died", mixed, k=2, seed=1, forests=1, refit=None)
    page = page_of(fit)
    assert f"Predictions are those of the sparse forest of {len(fit.trees())} weighted" in page
    assert "does not predict" not in page
    assert "refitted on the selection" not in page
    assert "How much the trees that use a unit move the prediction" in page
    assert "How the linear predictor changes with each term" in page


def test_without_the_data_shapes_are_left_out(fitted, tmp_path):
    loaded = treeselect.load(fitted.save(tmp_path / "fit"))
    page = page_of(loaded)
    assert "need the data of the fit, which were not saved with it" in page
    assert "<h3>Shapes</h3>" not in page
    assert "<h3>Interactions</h3>" not in page
    assert "<h3>Importance along the path</h3>" in page
    assert "<h3>The sparse forest</h3>" in page
    whole = treeselect.load(fitted.save(tmp_path / "whole", include_data=True))
    assert page_of(whole).count("<h3>Shapes</h3>") == 1


def test_of_many_classes_the_one_that_varies_most_is_shown(mixed):
    data = mixed.assign(dose=pd.cut(mixed["dose"], 3, labels=["<low>", "middle", "high"]))
    fit = treeselect.select("dose ~ . - died", data, k=2, seed=1, method="rrf", n_trees=20)
    learned = learned_section(fit)
    shape = fit.shape(fit.selected[0])
    spreads = {c: shape["share"] @ shape[f"effect_{c}"] ** 2 for c in ("<low>", "middle", "high")}
    most = max(spreads, key=spreads.get)
    assert learned.shapes.panels[0].scale_label == f"probability of {most}"
    scales = {panel.scale_label for panel in learned.shapes.panels}
    assert (learned.shapes.table.columns[1] == "Scale") == (len(scales) > 1)
    assert learned.forest is None
    assert "Of the classes the one whose effect varies most is shown." in learned.shapes.lead
    assert "<low>" not in page_of(fit)


def test_terms_of_several_variables_have_no_picture(mixed):
    fit = treeselect.select(
        "dose ~ signal:noise + log(signal ** 2) + bs(noise, 4) + site:colour", mixed, seed=1, k=4,
        method="rrf", n_trees=10, keep=["signal:noise", "site:colour"],
    )  # fmt: skip
    learned = learned_section(fit)
    shown = {panel.title for panel in learned.shapes.panels}
    assert shown == {t for t in fit.selected if ":" not in t}
    assert "each term of one variable" in learned.shapes.lead
    assert all(panel.x_label in ("signal", "noise") for panel in learned.shapes.panels)


def test_one_term_has_no_interactions(mixed):
    fit = treeselect.select("dose ~ signal", mixed, k=1, seed=1, forests=1, n_trees=5)
    learned = learned_section(fit)
    assert learned.interactions is None
    assert learned.path is None  # there is one step only
    assert "<h3>Interactions</h3>" not in page_of(fit)


def test_groups_and_costs_are_shown(mixed):
    fit = treeselect.select(
        "died ~ . - dose - copy", mixed, k=1, seed=1, forests=1, n_trees=5,
        groups={"lab": ["signal", "noise"]}, costs={"lab": 7.0},
    )  # fmt: skip
    page = page_of(fit)
    assert '<th scope="col">Group</th>' in page
    assert "<td>lab</td>" in page
    assert '<td class="number">7</td>' in page
    assert "share their unit&#39;s" in page


def test_every_resample_the_same_is_said(mixed):
    fit = treeselect.select(
        "died ~ signal + site", mixed, k=2, seed=1, forests=1, n_trees=5, resamples=3
    )
    page = page_of(fit)
    assert "not defined" in page
    assert "Each of 3 resamples selected every unit, which tells nothing about stability." in page


def many(result, n):
    """The report of `result` with `n` units in its tables and figures."""
    report = gather(result, written="now", versions={})
    table = dataclasses.replace(
        report.stability.table,
        rows=tuple((f"gene_{i}", "0.50", "0.40 to 0.60", "no") for i in range(n)),
    )
    figure = dot_figure(
        [f"gene_{i}" for i in range(n)], [0.5] * n, [0.4] * n, [0.6] * n, [False] * n, 0
    )
    section = dataclasses.replace(report.stability, table=table, figure=figure)
    return dataclasses.replace(report, stability=section)


def cut_to_the_page(result, n):
    """The report of `result` as if it had assessed `n` units with long names."""
    names = tuple(f"probe_{i:05d}_" + "x" * 40 for i in range(n))
    zeros = np.zeros((3, n), dtype=bool)
    resampled = dataclasses.replace(
        result.resampled, units=names, fitted=zeros[0], assessed=~zeros[0], selected=zeros
    )
    section = stability_section(resampled, [])
    assert section.table.more == n - 50
    return dataclasses.replace(gather(result, written="now", versions={}), stability=section)


def test_size_stays_small(fitted):
    assert len(render(many(fitted, 50)).encode()) < 300_000
    assert len(render(cut_to_the_page(fitted, 7129)).encode()) < 2_000_000
    assert len(page_of(fitted).encode()) < 40_000


def test_wide_data_are_cut_to_the_first_units():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(60, 120)), columns=[f"gene_{i}" for i in range(120)])
    data["y"] = data["gene_3"] + data["gene_7"] + 0.1 * rng.normal(size=60)
    fit = treeselect.select("y ~ .", data, k=2, seed=1, forests=1, n_trees=5, resamples=2)
    report = gather(fit, written="now", versions={})
    assert len(report.stability.figure.dots) == 30
    assert report.stability.figure.more == 90
    assert report.stability.table.more == 70
    assert "and 90 more" in render(report)


def test_report_writes_one_file(fitted, tmp_path):
    path = fitted.report(tmp_path / "out.html")
    assert path == tmp_path / "out.html"
    assert [p.name for p in tmp_path.iterdir()] == ["out.html"]
    page = path.read_text(encoding="utf-8")
    for name, version in software_versions().items():
        assert f"{name} {version}" in page


def test_template_of_ones_own(fitted, tmp_path):
    own = tmp_path / "own.j2"
    own.write_text("{{ report.title }}|{% include 'report.css' %}", encoding="utf-8")
    page = fitted.report(tmp_path / "out.html", template=own).read_text(encoding="utf-8")
    assert page.startswith("Which terms predict died?|:root")


def test_templates_can_be_copied(fitted, tmp_path):
    own = tmp_path / "mine.html.j2"
    own.write_text((template_folder() / "report.html.j2").read_text(), encoding="utf-8")
    fitted.report(tmp_path / "a.html", template=own)
    assert (tmp_path / "a.html").stat().st_size > 5_000


def test_missing_folder_and_template(fitted, tmp_path):
    with pytest.raises(OptionError, match="Can't find the folder"):
        fitted.report(tmp_path / "no" / "out.html")
    with pytest.raises(OptionError, match="It is a folder"):
        fitted.report(tmp_path)
    with pytest.raises(OptionError, match="Can't find the template"):
        fitted.report(tmp_path / "out.html", template=tmp_path / "none.j2")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{ report.title }}\n{% if %}", r"mine\.j2`.\n  Line 2: "),
        ("{{ report.nonsense }}", "no attribute 'nonsense'"),
        ("{% include 'absent.j2' %}", "absent"),
    ],
)
def test_a_broken_template_is_named(fitted, tmp_path, text, says):
    own = tmp_path / "mine.j2"
    own.write_text(text, encoding="utf-8")
    with pytest.raises(OptionError, match=says):
        fitted.report(tmp_path / "out.html", template=own)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.j2"]


def test_a_failed_write_leaves_the_old_file(fitted, tmp_path, monkeypatch):
    path = tmp_path / "out.html"
    path.write_text("old", encoding="utf-8")

    def fail(*names):
        raise OSError("disk full")

    monkeypatch.setattr("treeselect.writing.os.replace", fail)
    with pytest.raises(OptionError, match="disk full"):
        fitted.report(path)
    assert [p.name for p in tmp_path.iterdir()] == ["out.html"]
    assert path.read_text(encoding="utf-8") == "old"


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.5, 0.87, [0.5, 0.6, 0.7, 0.8, 0.9]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-3, 12, [-5, 0, 5, 10, 15]),
        (0.84, 0.86, [0.84, 0.845, 0.85, 0.855, 0.86]),
    ],
)
def test_ticks_are_round_and_cover_the_range(low, high, ticks):
    assert nice_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("low", "high"), [(1e300, 1e300), (-1e140, -1e140), (0, 5e-324), (1, 1 + 1e-15), (1e17, 1e17)]
)
def test_ticks_of_what_rounding_tells_apart(low, high):
    ticks = nice_ticks(low, high)
    assert ticks[0] <= low <= high <= ticks[-1]
    assert 2 < len(ticks) < 12


def test_ticks_of_one_value():
    assert nice_ticks(0.5, 0.5)[0] < 0.5 < nice_ticks(0.5, 0.5)[-1]


def test_path_geometry():
    figure = path_figure([0, 1, 4], [0.5, 0.7, 0.8], [0.0, 0.02, 0.01], chosen=1)
    x = [p.x for p in figure.points]
    assert x[2] - x[1] == pytest.approx(3 * (x[1] - x[0]))
    assert [p.chosen for p in figure.points] == [False, True, False]
    assert all(p.high <= p.y <= p.low for p in figure.points)  # y runs downwards
    assert [t.label for t in figure.x_ticks] == ["0", "1", "2", "3", "4"]
    assert figure.marker == figure.points[1].x


def test_long_axes_have_round_ticks():
    figure = path_figure([1, 33], [0.1, 0.9], None, chosen=33)
    assert [t.label for t in figure.x_ticks] == ["5", "10", "15", "20", "25", "30"]


def test_lines_are_told_apart_without_colour_and_labels_without_overlap():
    values = [[1.0, 0.5, 0.4], [0.0, 0.5, 0.3], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0]]
    figure = line_figure([1, 2, 4], list("abcd"), values, [True] * 3 + [False], 4, 0)
    assert len({line.mark for line in figure.lines}) == 4
    heights = sorted(line.label_y for line in figure.lines)
    assert min(b - a for a, b in itertools.pairwise(heights)) >= 17.9
    assert all(figure.top <= height <= figure.bottom for height in heights)
    assert figure.lines[1].points.count(",") == 3  # from the step before it entered
    assert figure.lines[2].points.count(",") == 2
    assert figure.lines[2].text == "2: 0.000, 4: 0.300"
    assert [line.solid for line in figure.lines] == [True, True, True, False]
    long = line_figure(range(1, 200), ["a"], [[0.5] * 199], [True], 3, 0)
    assert len(long.lines[0].marks) <= 20
    assert long.lines[0].points.count(",") == 199


@pytest.mark.parametrize("wanted", [[5, 5, 5], [0, 100, 99], [100, 100, 1], [50], []])
def test_labels_are_spread(wanted):
    places = spread(wanted, 10, 0, 100)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    ordered = [places[i] for i in order]
    assert all(b - a >= 9.9 for a, b in itertools.pairwise(ordered))
    assert all(0 <= place <= 100 for place in places)


@pytest.mark.parametrize(
    ("ticks", "signed", "labels"),
    [
        ([-0.2, 0.0, 0.2], True, ["-0.2", "0", "+0.2"]),
        ([0, 50_000, 100_000], False, ["0", "5e4", "1e5"]),
        ([-1e-7, 0, 1e-7], True, ["-1e-7", "0", "+1e-7"]),
        ([10, 20], False, ["10", "20"]),
    ],
)
def test_tick_labels(ticks, signed, labels):
    assert tick_labels(ticks, signed=signed) == labels


def curve(points, *, is_number=True, term="x"):
    made = tuple(
        CurvePoint(value if is_number else None, str(value), 1 / len(points), effect, value is None)
        for value, effect in points
    )
    return Curve(term, "x", is_number, "mean response", made, 0)


def test_panels_share_their_scale():
    first, second = panels(
        [
            curve([(0.0, -1.0), (1.0, 0.5), (None, 0.1)]),
            curve([("a", 0.0), ("b", 0.2)], is_number=False),
        ]
    )
    assert first.y_ticks == second.y_ticks
    assert first.zero == second.zero == second.specks[0].y
    assert [t.label for t in first.x_ticks] == ["0", "1", "missing"]
    assert first.specks[-1].is_missing
    assert first.specks[-1].x > first.missing_from > first.specks[1].x
    assert first.line.count(",") == 2  # missing values are no part of the line
    assert second.line == ""
    assert not second.upright
    assert first.text.endswith("lowest, -1, at 0.0; highest, +0.5, at 1.0.")


def test_panels_of_many_levels_and_of_one_value():
    levels = [(f"a rather long level, number {i}", i / 12) for i in range(12)]
    upright, single, flat = panels(
        [
            curve(levels, is_number=False),
            curve([(3.0, 0.0)]),
            curve([(float(i), 0.0) for i in range(20)], term="log(x)"),
        ]
    )
    assert upright.upright
    assert upright.height > single.height
    assert len({tick.label for tick in upright.x_ticks}) == 12
    assert [tick.label for tick in single.x_ticks] == ["3"]
    assert single.left < single.specks[0].x < single.right
    assert flat.x_label == "x"
    places = [tick.at for tick in flat.x_ticks]
    assert 3 <= len(places) <= 6
    assert all(flat.left <= place <= flat.right for place in places)


def test_labels_show_where_names_differ():
    names = [f"probe_{i:05d}_expression" for i in (3, 14, 290)]
    assert distinct(names, 6.0) == ["…00003_…", "…00014_…", "…00290_…"]
    assert distinct(["age", "sex"], 6.0) == ["age", "sex"]
    assert distinct([names[0]] * 2, 6.0)[0] == shorten(names[0], 6.0)


def test_numbers_are_set_flush_right():
    table = Table(("a", "b", "c", "d"), (("x", "1,234", "0.1 to 0.2", ""), ("y", "-0.5", "", "∞")))
    assert table.numeric == (False, True, False, True)


def test_bars_start_together_and_keep_proportion():
    figure = bar_figure(["a", "b"], [0.8, 0.2], 0)
    assert figure.bars[0].length == pytest.approx(4 * figure.bars[1].length, abs=0.2)


def test_words():
    assert enumeration(("a",)) == "a"
    assert enumeration(("a", "b")) == "a and b"
    assert enumeration(("a", "b", "c")) == "a, b and c"
    assert enumeration(tuple("abcdefghij")) == "a, b, c, d, e, f, g, h and 2 more"
    long = ("a" * 100, "b" * 100, "c" * 100)
    assert enumeration(long) == f"{long[0]}, {long[1]} and 1 more"
    assert enumeration(("a" * 300, "b")) == f"{'a' * 300} and 1 more"


def test_labels_keep_both_ends():
    assert shorten("age") == "age"
    labels = [shorten(f"concentration in the second sample, marker {i:02d}") for i in range(30)]
    assert labels[3].startswith("conc")
    assert len(set(labels)) == 30
    assert len(shorten("W" * 40)) < len(shorten("x" * 40)) < len(shorten("i" * 40)) < 40


# --- performance -------------------------------------------------------------------------------


def test_performance_has_a_section_of_its_own(cross_validated, tmp_path):
    found = cross_validated.performance(2)
    page = cross_validated.report(tmp_path / "r.html", performance=found).read_text()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    start = text.index("Performance: selection repeated inside each fold")
    section = text[start : text.index("Method and software")]
    assert f"R2 {found.mean:.3f} (standard error {found.standard_error:.3f})" in section
    assert "Folds 2-fold cross-validation" in section
    assert all(f"{score:.3f}" in section for score in found.scores)
    assert found.summary().content.notes[-1] in section
    plain = cross_validated.report(tmp_path / "r.html").read_text()
    assert 'id="performance"' in page
    assert 'id="performance"' not in plain


def test_decisions_have_a_section_of_their_own(mixed, fitted, tmp_path):
    fit = treeselect.select(
        "dose ~ . - died", mixed, method="boruta", seed=1, n_trees=30, max_rounds=14
    )
    page = fit.report(tmp_path / "r.html").read_text()
    section = page[page.index('id="decisions"') : page.index('id="path"')]
    table, bar = decision_table(fit)
    history = fit.history()
    assert f"greatest shadows, {bar:.2f}" in section
    for row in table.itertuples():
        own = history[history["term"] == row.term]
        assert row.hits == (own["importance"] > own["shadow_max"]).sum()
        assert row.rounds == own["importance"].notna().sum()
        assert row.median == own["importance"].median()
        assert f"{row.term}: {row.median:.2f} ({row.low:.2f} to {row.high:.2f})" in section
    assert "All-relevant selection" in page
    assert "Minimal selection" not in page
    assert 'id="decisions"' not in fitted.report(tmp_path / "r.html").read_text()


def test_ranges_of_any_values_share_an_axis_with_the_marked_one():
    figure = range_figure(["a", "b"], [3.0, -1.0], [2.0, -2.5], [4.5, 0.0], [True, False],
                          ("bar", 1.0), 0)  # fmt: skip
    places = [x for dot in figure.dots for x in (dot.low, dot.x, dot.high)]
    assert all(figure.left <= x <= figure.right for x in places)
    assert figure.dots[1].x < figure.marks[0].at < figure.dots[0].x
    assert [tick.label for tick in figure.x_ticks] == ["-4", "-2", "0", "2", "4", "6"]


def test_performance_must_be_that_of_the_fit(cross_validated, fitted, tmp_path):
    with pytest.raises(OptionError, match=r"must be what `fit.performance\(\)` gives"):
        cross_validated.report(tmp_path / "r.html", performance=0.9)
    with pytest.raises(OptionError, match="must be that of the same fit"):
        cross_validated.report(tmp_path / "r.html", performance=fitted.performance(2))
    assert not list(tmp_path.iterdir())
