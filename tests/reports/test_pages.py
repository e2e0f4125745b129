"""The report as a file, and templates of one's own."""

import re

import numpy as np
import pytest
from markup import own_page, page_of, report_of
from quick import WITH_GAPS

import treeselect
from treeselect.errors import OptionError
from treeselect.printing.markup import template_folder
from treeselect.reports.pages import COMPARISON_SECTIONS, SELECTION_SECTIONS
from treeselect.reports.render import COMPARISON, SELECTION, render
from treeselect.results.versions import software_versions

pytestmark = WITH_GAPS


def test_one_file_by_a_template_of_ones_own_too(fitted, tmp_path):
    path = fitted.report(tmp_path / "out.html")
    assert path == tmp_path / "out.html"
    assert [p.name for p in tmp_path.iterdir()] == ["out.html"]
    page = path.read_text(encoding="utf-8")
    for name, version in software_versions().items():
        assert f"{name} {version}" in page
    own = tmp_path / "own.j2"
    own.write_text("{{ report.title }}|{% include 'report.css' %}", encoding="utf-8")
    page = fitted.report(tmp_path / "out.html", template=own).read_text(encoding="utf-8")
    assert page.startswith("Which terms predict died?|:root")
    standard = (template_folder() / "report.html.j2").read_text()
    assert len(own_page(fitted, tmp_path, standard)) > 5_000


def test_a_template_chooses_sections_and_their_order(fitted, tmp_path):
    page = own_page(
        fitted,
        tmp_path,
        '{% extends "report.html.j2" %}\n'
        "{% block sections %}\n"
        '{{ self.path() }}<h2 id="plan">Plan</h2>\n'
        "{% for row in report.terms.table.rows %}<i>{{ row[0] }}</i>{% endfor %}"
        "{{ self.terms() }}\n"
        "{% endblock %}",
    )
    headings = re.findall('<h2 id="(.*?)"', page)
    assert headings == ["path", "plan", "terms"] == re.findall('<a href="#(.*?)"', page)
    assert set(fitted.selected) <= set(re.findall("<i>(.*?)</i>", page))
    whole = render(report_of(fitted, whole=True))
    for name in ("path", "terms"):
        found = re.compile(f'<section aria-labelledby="{name}">.*?</section>', re.DOTALL)
        assert _unfolded(found.search(page)[0]) == _unfolded(found.search(whole)[0])
    assert '<details class="part">' not in page


def _unfolded(section):
    """Without what folds a section and its notes."""
    fold = r"</?details[^>]*>|<summary>How to read this</summary>|</?summary>|\n"
    return re.sub(fold, "", section)


def test_sections_are_chosen_and_ordered(fitted, tmp_path):
    page = fitted.report(tmp_path / "a.html", sections=iter(["path", "terms"])).read_text()
    assert re.findall('<h2 id="(.*?)"', page) == ["path", "terms"]
    assert re.findall('<a href="#(.*?)"', page) == ["path", "terms"]
    whole = fitted.report(tmp_path / "a.html").read_text()
    assert re.findall('<a href="#(.*?)"', whole) == re.findall('<h2 id="(.*?)"', whole)
    assert (
        'class="contents"' not in fitted.report(tmp_path / "a.html", sections=["notes"]).read_text()
    )
    assert (
        '<section class="sub"'
        in fitted.report(tmp_path / "a.html", sections=["effects"]).read_text()
    )


@pytest.mark.parametrize(
    ("sections", "says"),
    [
        (
            ["terms", "pathh"],
            r"must name sections of the report\.\n  Found: 'pathh'\. Allowed: 'as",
        ),
        (["answer"], "Found: 'answer'"),
        ([3], "Found: 3"),
        ("terms", "must be a list of names of sections"),
        (np.array(3), "`sections` must be a list"),
        (7, "must be a list of names of sections"),
        ([], "at least one section, each only once"),
        (["path", "path"], "at least one section, each only once"),
    ],
)
def test_sections_that_are_none(fitted, tmp_path, sections, says):
    with pytest.raises(OptionError, match=says):
        fitted.report(tmp_path / "a.html", sections=sections)
    assert not list(tmp_path.iterdir())


def test_a_template_chooses_sections_itself(fitted, tmp_path):
    with pytest.raises(OptionError, match=r"{% block sections %}{{ self.path\(\) }}{% endblock"):
        fitted.report(tmp_path / "a.html", template=tmp_path / "no.j2", sections=["path"])


def test_a_template_replaces_sections_and_leaves_them_out(fitted, tmp_path):
    page = own_page(
        fitted,
        tmp_path,
        '{% extends "report.html.j2" %}\n'
        "{% block notes %}{% endblock %}\n"
        "{% block interactions %}{% endblock %}\n"
        '{% block stability %}{{ tables.table(report.stability.table, "Mine") }}{% endblock %}',
    )
    every = re.findall('<h2 id="(.*?)"', page_of(fitted))
    left = [name for name in every if name not in ("notes", "interactions", "stability")]
    assert re.findall('<h2 id="(.*?)"', page) == left
    assert 'id="interactions"' not in page
    assert 'id="shapes"' in page
    assert "<caption>Mine</caption>" in page


@pytest.mark.parametrize(
    ("names", "standard"), [(SELECTION_SECTIONS, SELECTION), (COMPARISON_SECTIONS, COMPARISON)]
)
def test_every_section_that_is_gathered_is_shown(names, standard):
    folder = template_folder()
    text = (folder / standard).read_text() + (folder / "page.html.j2").read_text()
    for name in names:
        assert f"{{% block {name} %}}" in text
        assert f"report.{name}" in text


def test_what_belongs_to_another_fit_or_other_data_is_refused(cross_validated, fitted, tmp_path):
    with pytest.raises(OptionError, match=r"must be what `fit.coefficient_stability\(\)` gives"):
        cross_validated.report(tmp_path / "r.html", coefficients=fitted.stability)
    with pytest.raises(OptionError, match="`coefficients` must belong to the same fit"):
        cross_validated.report(
            tmp_path / "r.html", coefficients=fitted.model.coefficient_stability()
        )
    assert not list(tmp_path.iterdir())
    with pytest.raises(OptionError, match=r"must be what `fit.performance\(\)` gives"):
        cross_validated.report(tmp_path / "r.html", performance=0.9)
    with pytest.raises(OptionError, match="must belong to the same fit"):
        cross_validated.report(tmp_path / "r.html", performance=fitted.performance(2))
    assert not list(tmp_path.iterdir())
    data = treeselect.datasets.load("titanic_correlated")
    fits = [
        treeselect.select("survived ~ age + sex", part, method="mrmr", k=1, seed=1)
        for part in (data, data.iloc[::-1].reset_index(drop=True), data.head(600))
    ]
    assert len({fit._fit.call.text for fit in fits}) == 1
    for own in fits[1:]:
        found = {
            "performance": own.performance(2),
            "linear": own.refit("glm"),
            "coefficients": own.resample(3).model.coefficient_stability(),
        }
        for name, value in found.items():
            with pytest.raises(OptionError, match=f"(?s)`{name}` must belong.*on other data"):
                fits[0].report(tmp_path / "r.html", **{name: value})
    assert not list(tmp_path.iterdir())
