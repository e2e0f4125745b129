"""Reports as Markdown: the sections and words of the page, as text and pipe tables."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError
from treeselect.reports.parts import Card, Facts, Report, Section
from treeselect.reports.render import markdown_page


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a|b", "x_*y*", "<c>"])
    return frame.assign(y=frame["a|b"] + rng.normal(size=60))


@pytest.fixture(scope="module")
def fit(data):
    return treeselect.select("y ~ .", data, method="rrf", n_trees=5, k=2, seed=1).resample(3)


def headings(page):
    """Headings of a page in HTML."""
    found = re.findall(r"<h[12][^>]*>(.*?)</h[12]>", page)
    return [re.sub(r"<[^>]+>", "", text) for text in found]


def tables(text):
    """Pipe tables, each as its lines."""
    return [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]


def test_the_markdown_has_the_sections_of_the_page(fit, tmp_path):
    page = fit.report(tmp_path / "r.html").read_text(encoding="utf-8")
    text = fit.report(tmp_path / "r.md").read_text(encoding="utf-8")
    own = [line.lstrip("# ") for line in text.splitlines() if re.match(r"##? ", line)]
    assert own == headings(page)
    assert "Text and tables only" in text.split("\n\n")[1]
    assert "```\ntreeselect.select(" in text
    assert not re.search(r"<(p|svg|div|table|style)\b", text)
    assert len(tables(text)) == len(re.findall("<table", page))


def test_every_table_is_a_table_whatever_the_names(fit, tmp_path):
    text = fit.report(tmp_path / "r.md").read_text(encoding="utf-8")
    for lines in tables(text):
        cells = {len(re.split(r"(?<!\\)\|", line)) for line in lines}
        assert len(cells) == 1
        assert re.fullmatch(r"\|( :?-+:? \|)+", lines[1])
    assert r"a\|b" in text
    assert r"x\_\*y\*" in text


def test_sections_may_be_chosen(fit, tmp_path):
    text = fit.report(tmp_path / "r.md", sections=["terms"]).read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Selected terms"]


def test_a_comparison(data, tmp_path):
    found = treeselect.compare("y ~ .", data, ["mrmr", "cfs"], k=[1], folds=2, seed=1)
    page = found.report(tmp_path / "c.html").read_text(encoding="utf-8")
    text = found.report(tmp_path / "c.md").read_text(encoding="utf-8")
    own = [line.lstrip("# ") for line in text.splitlines() if re.match(r"##? ", line)]
    assert own == headings(page)


@pytest.mark.parametrize("name", ["r.docx", "r.pdf", "r.xyz"])
def test_another_suffix_is_refused(name, fit, tmp_path):
    with pytest.raises(OptionError, match=r"must end in \.html or \.md") as caught:
        fit.report(tmp_path / name)
    assert name in str(caught.value)
    assert ("pandoc" in str(caught.value)) == (name != "r.xyz")
    assert not (tmp_path / name).exists()


def test_the_parts_of_a_page():
    section = Section(
        "a", "Why_", lead="1. Not a list, `a_b`.", said=("one", "two"), facts=Facts([("x", "`y`")])
    )
    report = Report(
        title="Which & why?", answer=(), cards=(Card("Head", "3", ("Said.",)),), section=section
    )
    assert markdown_page(report).split("\n\n")[0] == r"# Which \& why?"
    assert markdown_page(report).split("\n\n")[2:] == [
        "- **Head:** 3. Said.", r"## Why\_", r"\1. Not a list, `a_b`.",
        "- one\n- two\n- **x:** `y`\n",
    ]  # fmt: skip
