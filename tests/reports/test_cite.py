"""The section that can be pasted into a paper."""

from __future__ import annotations

import html

from treeselect.reports.pages import gather
from treeselect.reports.render import render
from treeselect.results.calls import code_text
from treeselect.results.citation import cite

VERSIONS = {"treeselect": "9.9"}


def test_the_page_says_what_the_citation_says(fitted):
    report = gather(fitted._fit, written="today", versions=VERSIONS)
    found, page = cite(fitted._fit, VERSIONS), html.unescape(render(report))
    assert found.methods == report.cite.methods
    assert tuple(found.limitations) == report.cite.limitations
    assert tuple(found.references) == report.cite.references
    assert tuple(found.bibtex.splitlines()) == report.cite.bibtex.lines
    section = page[page.index('<section aria-labelledby="cite">') :]
    assert f"<p>{found.methods}</p>" in section
    for text in (*found.limitations, *found.references):
        assert f"<li>{text}</li>" in section
    assert found.bibtex in section
    for line in report.cite.call.lines:
        assert f"{line}\n" in section
    assert code_text("\n".join(report.cite.call.lines)) == found.call
    assert found.fingerprint in section
    for name, value in fitted.search.method.options().items():
        assert f"{name} = {value}" in section
    assert "treeselect 9.9" in section
