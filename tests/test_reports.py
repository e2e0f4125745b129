"""The HTML report: one whole page under snapshot, hostile names, size, and what may be missing."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import treeselect
from treeselect.errors import OptionError
from treeselect.reports.figures import bar_figure, dot_figure, nice_ticks, path_figure, shorten
from treeselect.reports.gather import enumeration, gather, software_versions
from treeselect.reports.render import render
from treeselect.reports.templates import template_folder

HOSTILE = "<script>alert('1')</script>"


def page_of(result):
    return render(gather(result, written="2026-01-02 03:04", versions={"treeselect": "test"}))


def test_whole_page(fitted, snapshot):
    assert page_of(fitted) == snapshot


def test_whole_page_with_cross_validation(cross_validated):
    page = page_of(cross_validated)
    assert "3-fold cross-validation (bars: one standard error)" in page
    assert "cross-validated R2 of" in page
    assert "Not assessed: there are no resamples." in page
    n_steps = len(cross_validated.path)
    assert page.count('class="error"') == 3 * n_steps
    assert page.count('class="ring"') == 1


def test_numbers_on_the_page_are_those_of_the_tables(fitted):
    page = page_of(fitted)
    for row in fitted.tidy().query("selected").itertuples():
        assert f"<td>{row.importance:.3f}</td>" in page
        assert f"<td>{row.ci_low:.2f} to {row.ci_high:.2f}</td>" in page
    assert f"{fitted.stability.index:.2f}" in page


def test_the_page_stands_alone(fitted):
    page = page_of(fitted)
    assert "<script" not in page
    assert not re.search(r"""(src|href)\s*=|@import|url\(""", page)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert '<html lang="en">' in page
    assert page.count('role="img"') == page.count("<svg") == 3
    assert page.count("<desc>") == 3


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


def test_nothing_selected(mixed):
    fit = treeselect.select("dose ~ . - died", mixed, lam=1e9, seed=1, forests=1, n_trees=5)
    page = page_of(fit)
    assert "keeps none for dose" in page
    assert "Nothing is selected at this penalty." in page


def test_groups_and_costs_are_shown(mixed):
    fit = treeselect.select(
        "died ~ . - dose - copy", mixed, k=1, seed=1, forests=1, n_trees=5,
        groups={"lab": ["signal", "noise"]}, costs={"lab": 7.0},
    )  # fmt: skip
    page = page_of(fit)
    assert '<th scope="col">Group</th>' in page
    assert "<td>lab</td>" in page
    assert "<td>7</td>" in page


def test_every_resample_the_same_is_said(mixed):
    fit = treeselect.select(
        "died ~ signal + site", mixed, k=2, seed=1, forests=1, n_trees=5, resamples=3
    )
    assert "not defined" in page_of(fit)


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


def test_size_stays_small(fitted):
    assert len(render(many(fitted, 50)).encode()) < 300_000
    assert len(page_of(fitted).encode()) < 40_000


def test_wide_data_are_cut_to_the_first_units():
    rng = np.random.default_rng(1)
    import pandas as pd

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
    with pytest.raises(OptionError, match="There is no folder"):
        fitted.report(tmp_path / "no" / "out.html")
    with pytest.raises(OptionError, match="It is a folder"):
        fitted.report(tmp_path)
    with pytest.raises(OptionError, match="Can't find the template"):
        fitted.report(tmp_path / "out.html", template=tmp_path / "none.j2")
    assert list(tmp_path.iterdir()) == []


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


def test_ticks_of_one_value():
    assert nice_ticks(0.5, 0.5)[0] < 0.5 < nice_ticks(0.5, 0.5)[-1]


def test_path_geometry():
    figure = path_figure([0, 1, 4], [0.5, 0.7, 0.8], [0.0, 0.02, 0.01], chosen=1)
    x = [p.x for p in figure.points]
    assert x[2] - x[1] == pytest.approx(3 * (x[1] - x[0]))
    assert [p.chosen for p in figure.points] == [False, True, False]
    assert all(p.high <= p.y <= p.low for p in figure.points)  # y runs downwards
    assert [t.label for t in figure.x_ticks] == ["0", "1", "2", "3", "4"]


def test_bars_start_together_and_keep_proportion():
    figure = bar_figure(["a", "b"], [0.8, 0.2], 0)
    assert figure.bars[0].length == pytest.approx(4 * figure.bars[1].length, abs=0.2)


def test_words():
    assert enumeration(("a",)) == "a"
    assert enumeration(("a", "b")) == "a and b"
    assert enumeration(("a", "b", "c")) == "a, b and c"
    assert enumeration(tuple("abcdefghij")) == "a, b, c, d, e, f, g, h and 2 more"
    assert shorten("x" * 30) == "x" * 23 + "…"
