"""Tables of texts, and names in sentences."""

import csv
import io
import re
from urllib.parse import unquote

import pytest
from quick import normal

import treeselect
from treeselect.errors import MissingPackageError, OptionError
from treeselect.figures.charts import difference_figure
from treeselect.printing import enumeration
from treeselect.reports.parts import Card, Facts, Mark, Report, Section, Table, bars
from treeselect.reports.render import csv_link, csv_text, markdown_page


def test_numbers_stand_flush_bars_are_shares_and_tables_made_into_blocks():
    table = Table(("a", "b", "c", "d"), (("x", "1,234", "0.1 to 0.2", ""), ("y", "-0.5", "", "∞")))
    assert table.numeric == (False, True, False, True)
    rows = (("a", "+0.1", "(2.6)", "<0.001", "-0.1 to +0.2"), ("b", "-0.2", "3", "–", ""))
    assert Table(("m", "d", "k", "p", "i"), rows).numeric == (False, True, True, True, False)
    assert enumeration(("a",)) == "a"
    assert enumeration(("a", "b")) == "a and b"
    assert enumeration(("a", "b", "c")) == "a, b and c"
    assert enumeration(tuple("abcdefghij")) == "a, b, c, d, e, f, g, h and 2 more"
    long = ("a" * 100, "b" * 100, "c" * 100)
    assert enumeration(long) == f"{long[0]}, {long[1]} and 1 more"
    assert enumeration(("a" * 300, "b")) == f"{'a' * 300} and 1 more"
    assert bars([0.5, 0.25, -0.01]) == (Mark(1.0), Mark(0.5), Mark(0.0))
    assert bars([0.0]) == (Mark(0.0),)
    assert bars([]) == ()
    assert [Table(("x",) * n, ()).stacks for n in (2, 3, 4, 12, 13)] == [
        False, False, True, True, False,
    ]  # fmt: skip


TABLE = Table(
    ("Term", "Frequency", "=Change"),
    (("=cmd|' /C calc'!A0", "0.90", "+1,234.5"), ('a, "b"\n', "forced in", "-0.5")),
    marks={1: (Mark(0.9, 0.8, 1.0, "0.80 to 1.00"), None)},
    outside=(False, True),
)


def test_spreadsheets_and_links_hold_the_whole_table_under_plain_names():
    assert list(csv.reader(io.StringIO(csv_text(TABLE)))) == [
        ["Term", "Frequency", "Frequency, 95% interval", "'=Change", "Selected"],
        ["'=cmd|' /C calc'!A0", "0.90", "0.80 to 1.00", "+1234.5", "yes"],
        ['a, "b"\\n', "forced in", "", "-0.5", "no"],
    ]
    link = csv_link(Table(("Größe", "n"), (('<"&#>', "1"), ("50 %", "2"))))
    head, _, data = link.partition(",")
    assert head == "data:text/csv;charset=utf-8"
    assert not set(link) & set(' "<>#\n')
    assert unquote(data) == '\ufeffGröße,n\r\n"<""&#>",1\r\n50 %,2\r\n'


@pytest.mark.parametrize("first", "=+-@|%")
def test_no_cell_begins_like_a_formula(first):
    text = csv_text(Table((f"{first}a",), ((f"{first}1+1",), (f"{first}",))))
    assert all(line.startswith("'") for line in text.splitlines())


@pytest.fixture(scope="module")
def data():
    return normal(2, 60, ["a|b", "x_*y*", "<c>"], **{"a|b": 1})


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


def test_markdown_has_the_sections_of_the_page_and_tables_whatever_the_names(fit, tmp_path):
    page = fit.report(tmp_path / "r.html").read_text(encoding="utf-8")
    text = fit.report(tmp_path / "r.md").read_text(encoding="utf-8")
    own = [line.lstrip("# ") for line in text.splitlines() if re.match(r"##? ", line)]
    assert own == headings(page)
    assert "Text and tables only" in text.split("\n\n")[1]
    assert "```\ntreeselect.select(" in text
    assert not re.search(r"<(p|svg|div|table|style)\b", text)
    others = len(re.findall('name="choice"', page)) - 1  # sets beside the selection
    assert len(tables(text)) == len(re.findall("<table", page)) - others
    assert others > 0
    for lines in tables(text):
        cells = {len(re.split(r"(?<!\\)\|", line)) for line in lines}
        assert len(cells) == 1
        assert re.fullmatch(r"\|( :?-+:? \|)+", lines[1])
    assert r"a\|b" in text
    assert r"x\_\*y\*" in text
    text = fit.report(tmp_path / "r.md", sections=["terms"]).read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Selected terms"]


def test_a_document_for_word_has_the_sections_and_tables_of_the_page(fit, tmp_path, monkeypatch):
    docx = pytest.importorskip("docx")
    sections = ["terms", "path", "shapes", "stability", "asked"]
    page = fit.report(tmp_path / "r.html", sections=sections).read_text(encoding="utf-8")
    word = docx.Document(str(fit.report(tmp_path / "r.docx", sections=sections)))
    heads = [p.text for p in word.paragraphs if p.style.name in ("Title", "Heading 1")]
    assert heads == headings(page)
    assert len(word.tables) == len(re.findall("<table", page))
    assert len(word.inline_shapes) > 2
    assert max(shape.width.inches for shape in word.inline_shapes) <= 6
    texts = [cell.text for cell in word.tables[0].columns[0].cells]
    assert "a|b" in texts or "x_*y*" in texts
    labels = dict.fromkeys(fit.variables, "\N{MATHEMATICAL BOLD SCRIPT CAPITAL A}")
    fit.update(labels=labels).report(tmp_path / "r.docx", sections=["shapes"])  # no font has it
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    bare = docx.Document(str(fit.report(tmp_path / "r.docx", sections=["path"])))
    assert len(bare.inline_shapes) == 0
    assert "Text and tables only" in bare.paragraphs[1].text
    monkeypatch.setitem(__import__("sys").modules, "docx", None)
    with pytest.raises(MissingPackageError, match=r"treeselect\[word\]"):
        fit.report(tmp_path / "r.docx")


def test_a_comparison(data, tmp_path):
    found = treeselect.compare("y ~ .", data, ["mrmr", "cfs"], k=[1], folds=2, seed=1)
    page = found.report(tmp_path / "c.html").read_text(encoding="utf-8")
    text = found.report(tmp_path / "c.md").read_text(encoding="utf-8")
    own = [line.lstrip("# ") for line in text.splitlines() if re.match(r"##? ", line)]
    assert own == headings(page)


@pytest.mark.parametrize("name", ["r.odt", "r.pdf", "r.xyz"])
def test_another_suffix_is_refused(name, fit, tmp_path):
    with pytest.raises(OptionError, match=r"must end in \.html, \.md or \.docx") as caught:
        fit.report(tmp_path / name)
    assert name in str(caught.value)
    assert ("pandoc" in str(caught.value)) == (name != "r.xyz")
    assert not (tmp_path / name).exists()


def test_the_parts_of_a_page():
    figure = difference_figure(["a"], [(0.1, 0.0, 0.2)], more=3)  # says so in its place
    section = Section(
        "a", "Why_", lead="1. Not a list, `a_b`.", figure=figure, said=("one", "two"),
        facts=Facts([("x", "`y`")]),
    )  # fmt: skip
    report = Report(
        title="Which & why?", answer=(), cards=(Card("Head", "3", ("Said.",)),), section=section
    )
    assert markdown_page(report).split("\n\n")[0] == r"# Which \& why?"
    assert markdown_page(report).split("\n\n")[2:] == [
        "- **Head:** 3. Said.", r"## Why\_", r"\1. Not a list, `a_b`.",
        "- one\n- two\n- **x:** `y`\n",
    ]  # fmt: skip
