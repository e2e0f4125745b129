"""The page of a comparison: its whole text under snapshot, hostile names, size, and odd cases."""

import dataclasses
import re

import numpy as np
import pytest
from comparison_data import made
from markup import MADE, own_page, without_style

from treeselect.comparison.methods import summarise_comparison
from treeselect.errors import OptionError
from treeselect.figures.marks import Dot
from treeselect.figures.svg import drawn
from treeselect.printing.markup import template_folder
from treeselect.reports.pages import gather_comparison
from treeselect.reports.render import COMPARISON, render
from treeselect.resampling.cross_validation import FoldPath
from treeselect.results.versions import software_versions

HOSTILE = "<script>alert('1')</script>"


def gathered(found):
    return gather_comparison(found, **MADE)


def page_of(found):
    return render(gathered(found), standard=COMPARISON)


@pytest.fixture(scope="module")
def four():
    return made(4, own=(3,))


def with_scores(found, scores, n_selected=None):
    """`found` with scores that are a little apart in the folds, and sets of these sizes."""
    runs = []
    for i, run in enumerate(found.runs):
        folds = []
        for number, fold in enumerate(run.folds):
            score = np.array(scores[i]) * (1 + 0.001 * (number % 2))
            units = fold.units
            if n_selected is not None:
                units = tuple(np.arange(n) for n in n_selected[i])
            folds.append(FoldPath(score, units, fold.seconds, ()))
        runs.append(dataclasses.replace(run, folds=tuple(folds)))
    return dataclasses.replace(found, runs=tuple(runs))


def test_whole_page(snapshot):
    assert without_style(page_of(made(3, (0, 1, 3), 5, own=(2,)))) == snapshot


def test_the_page_stands_alone_and_stays_small(four):
    page = page_of(four)
    assert "<script" not in page
    assert not re.search(r"""src\s*=|href="(?!#|data:(?:text|image)/)|@import|url\(""", page)
    assert page.count('role="img"') == 2 * page.count("</desc>") == 2 * 2
    bars = re.findall(r'<svg class="spark" [^>]*><rect class="bar" width="(.*?)"', page)
    stability = four.glance().sort_values("score", ascending=False)["stability"]
    whole = [f"{100 * max(index, 0):.1f}%" for index in stability if np.isfinite(index)]
    assert bars[: len(whole)] == whole, "shares of the width that they have there"
    labels = re.findall(r'aria-(?:labelledby|describedby)="([^"]+)"', page)
    assert len(labels) > 10
    assert all(page.count(f'id="{label}"') == 1 for label in labels)
    assert (
        len(page_of(four).encode()) < 90_000
    )  # figures stand there twice, for a desk and for a phone
    names = [f"concentration of marker {i:03d}" for i in range(500)]
    labels = [f"rrf(lam=0.{i}, n_trees=1000, criterion='entropy')" for i in range(12)]
    many = made(12, range(31), 500, names=names, labels=labels, own=(5,), n_folds=3, rule=20)
    page = page_of(many)
    assert len(page.encode()) < 300_000
    assert page.count('<g class="hue-') == 2 * (8 + 8)  # lines and their names
    assert page.count("and 4 more") == 1
    report = gathered(many)
    assert len(report.terms.table.rows) == 30
    assert report.terms.table.more == many.terms()["term"].nunique() - 30
    assert len(set(report.terms.table.columns)) == 13


def test_hostile_names_are_escaped_everywhere():
    found = made(
        3, labels=[HOSTILE, '"><img src=x>', "</desc><b>"], own=(2,), n_units=4,
        names=[HOSTILE, "<img>", "</svg><i>", '" onload="x'], response="<h1>", score_name="<u>",
        call="compare('<s>')", data="<em>.csv", family="<q>", scheme="<tt>",
        notes=("`<kbd>` & <sup>",),
    )  # fmt: skip
    found = dataclasses.replace(
        found,
        runs=tuple(
            dataclasses.replace(run, title="<var>", options={"<dfn>": "<wbr>"}, paper="<hr>")
            for run in found.runs
        ),
    )
    page = page_of(found)
    for tag in (
        "<script", "<img", "<b>", "<i>", "<h1><", "<u>", "<s>", "<em>", "<q>", "<tt>", "<kbd>",
        "<sup>", "<var>", "<dfn>", "<wbr>", "<hr>", "</desc><b", '" onload="x',
    ):  # fmt: skip
        assert tag not in page
    assert page.count("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;") >= 4
    assert "<code>&lt;kbd&gt;</code> &amp; &lt;sup&gt;" in page


def test_the_answer_names_what_is_alike_and_worse_and_the_units_selected():
    found = made(2, (12,), rule=12)
    answer = gathered(found).answer
    assert answer[0].endswith("using all 12 terms.")
    found = made(1, own=(0,))
    assert "using 4 terms." in gathered(found).answer[0]
    run = found.runs[0]
    fold = dataclasses.replace(run.folds[0], units=(np.arange(1),))
    uneven = dataclasses.replace(
        found, runs=(dataclasses.replace(run, folds=(fold, *run.folds[1:])),)
    )
    assert "using 3.4 terms on average." in gathered(uneven).answer[0]
    found = made(3, (1, 2, 4), 6, rule="best")
    found = with_scores(
        found, [[0.5, 0.6, 0.8], [0.5, 0.7, 0.65], [0.5, 0.5, 0.8]], [[1, 2, 4]] * 3
    )
    assert gathered(found).answer == (
        "Of 3 methods, method0 has the best mean AUC for predicting died on held-out rows: 0.800"
        " (standard error <0.001), using 4 terms; method2 has the same mean.",
        "By the 95% intervals of the paired differences, method2 does not differ detectably from"
        " it; method1 scores lower.",
    )


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (
            0.8,
            "By the 95% intervals of the paired differences, no other method differs detectably.",
        ),
        (0.6, "By the 95% intervals of the paired differences, method1 scores lower."),
    ],
)
def test_all_alike_or_all_worse(second, says):
    found = with_scores(made(2, (1, 2), 6), [[0.5, 0.8], [0.5, second]], [[1, 2]] * 2)
    assert gathered(found).answer[1] == says
    three = with_scores(made(3, (1, 2), 6), [[0.5, 0.8]] + [[0.5, second]] * 2, [[1, 2]] * 3)
    assert gathered(three).answer[1] == says.replace("method1 scores", "all other methods score")
    for report, others in (
        (gathered(found), "method1 has"),
        (gathered(three), "method1 and method2 have"),
    ):
        assert (f" terms; {others} the same mean." in report.answer[0]) == (second == 0.8)
    tied = f"from {found.best}, one of 2 with the best mean score"
    assert (tied in " ".join(summarise_comparison(found).notes)) == (second == 0.8)


def test_a_difference_that_is_the_same_in_every_fold_has_no_interval():
    found = made(2)
    first, second = found.runs
    folds = tuple(dataclasses.replace(fold, scores=fold.scores - 0.125) for fold in first.folds)
    # By quarters, so that rounding does not tell the folds apart.
    rounded = [
        tuple(dataclasses.replace(f, scores=np.round(f.scores * 64) / 64) for f in those)
        for those in (first.folds, folds)
    ]
    runs = (
        dataclasses.replace(first, folds=rounded[0]),
        dataclasses.replace(second, folds=rounded[1]),
    )
    found = dataclasses.replace(found, runs=runs)
    (row,) = gathered(found).differences.figure.rows
    assert row.dots == [Dot(-0.125, -0.125, -0.125, kind=1)]
    text = str(found.summary())
    assert "-0.125" in text
    assert "has no interval and no p-value" in text
    assert "nan" not in text
    assert "NaN" not in page_of(found)
    assert found.differences()[["ci_low", "ci_high", "p_value"]].isna().all(axis=None)


def test_comparisons_without_differences_sizes_stability_or_selection():
    report = gathered(made(1))
    assert report.differences is None
    assert report.title == "How well does method0 predict died?"
    assert len(report.answer) == 1
    assert "Paired differences" not in page_of(made(1))
    found = made(2, own=(0, 1))
    report = gathered(found)
    assert [row[0] for row in report.scores.table.rows] == ["given"]
    assert "constant model" not in report.scores.lead
    assert "given tuning parameter is one point" in report.scores.lead
    assert 'class="leader"' not in drawn(report.scores.figure)
    assert "(4.0)" in page_of(found)
    report = gathered(made(3, (2, 5, 9), repeats=3))
    assert [row[0] for row in report.scores.table.rows] == ["2", "5", "9"]
    assert "constant model" not in report.scores.lead
    found = made(2, (0, 4), n_units=4, rule=4)  # nothing or all four units
    report = gathered(found)
    assert "–" in report.methods.table.rows[0]
    assert set(report.methods.table.marks.values()) == {(None, None)}
    assert report.cards[1].value == "Not defined"
    found = with_scores(made(1, (0, 1)), [[0.5, 0.5]], [[0, 0]])
    report = gathered(found)
    assert report.terms.lead.startswith("No method selected any term")
    assert "using 0 terms" in report.answer[0]
    assert "No method selected any term at the size at which it is compared." in page_of(found)


def test_sections_are_chosen(tmp_path):
    found = made(3, (0, 1, 3), 5)
    page = found.report(tmp_path / "a.html", sections=["terms", "scores"]).read_text()
    assert re.findall('<h2 id="(.*?)"', page) == ["terms", "scores"]
    with pytest.raises(OptionError, match="Allowed: 'asked', 'differences', 'methods'"):
        found.report(tmp_path / "a.html", sections=["term"])


def test_reports_of_comparisons_are_written_and_their_templates_copied(four, tmp_path):
    path = four.report(tmp_path / "out.html")
    assert [p.name for p in tmp_path.iterdir()] == ["out.html"]
    page = path.read_text(encoding="utf-8")
    for name, version in software_versions().items():
        assert f"{name} {version}" in page
    standard = (template_folder() / COMPARISON).read_text(encoding="utf-8")
    assert "Which method predicts died best?" in own_page(four, tmp_path, standard)
    again = four.report(str(path), template=str(tmp_path / "mine.html.j2"))
    assert "Which method predicts died best?" in again.read_text(encoding="utf-8")


def test_a_template_chooses_sections_and_their_order(four, tmp_path):
    page = own_page(
        four, tmp_path, '{% extends "comparison.html.j2" %}\n'
        "{% block sections %}{{ self.terms() }}{{ self.scores() }}{% endblock %}",
    )  # fmt: skip
    assert re.findall('<h2 id="(.*?)"', page) == ["terms", "scores"]
    assert page.count('<svg class="wide"') == page.count('<svg class="narrow"') == 1


def test_what_can_t_be_written(four, tmp_path):
    with pytest.raises(
        OptionError, match=r"Can't find the template.*\n  Start with a copy of `comparison\.html"
    ):
        four.report(tmp_path / "out.html", template=tmp_path / "none.j2")
    broken = tmp_path / "broken.j2"
    broken.write_text("{{ report.nonsense }}", encoding="utf-8")
    with pytest.raises(OptionError, match=r"'nonsense'\n  Compare it with `comparison\.html"):
        four.report(tmp_path / "out.html", template=broken)
    assert [p.name for p in tmp_path.iterdir()] == ["broken.j2"]
