"""What can be taken from a page."""

from __future__ import annotations

import csv
import io
import re
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from treeselect.reports.parts import Mark, Table
from treeselect.reports.render import csv_link, csv_text, file_name, with_svg_link

TABLE = Table(
    ("Term", "Frequency", "=Change"),
    (("=cmd|' /C calc'!A0", "0.90", "+1,234.5"), ('a, "b"\n', "forced in", "–0.5")),
    marks={1: (Mark(0.9, 0.8, 1.0, "0.80 to 1.00"), None)},
    outside=(False, True),
)


def test_a_spreadsheet_runs_nothing_and_reads_the_numbers():
    assert list(csv.reader(io.StringIO(csv_text(TABLE)))) == [
        ["Term", "Frequency", "Frequency, 95% interval", "'=Change", "Selected"],
        ["'=cmd|' /C calc'!A0", "0.90", "0.80 to 1.00", "+1234.5", "yes"],
        ['a, "b"\\n', "forced in", "", "-0.5", "no"],
    ]


@pytest.mark.parametrize("first", "=+-@|%")
def test_no_cell_begins_like_a_formula(first):
    text = csv_text(Table((f"{first}a",), ((f"{first}1+1",), (f"{first}",))))
    assert all(line.startswith("'") for line in text.splitlines())


def test_a_link_holds_the_whole_table():
    link = csv_link(Table(("Größe", "n"), (('<"&#>', "1"), ("50 %", "2"))))
    head, _, data = link.partition(",")
    assert head == "data:text/csv;charset=utf-8"
    assert not set(link) & set(' "<>#\n')
    assert unquote(data) == '\ufeffGröße,n\r\n"<""&#>",1\r\n50 %,2\r\n'


def test_names_of_files_are_plain():
    assert (
        file_name("Selected terms, most important first") == "selected-terms-most-important-first"
    )
    assert file_name("../../é<b>") == "e-b"
    assert file_name("日本") == "table"


STYLE = """
:root { --ink: #111; --accent: #1f5f8b; }
@media (prefers-color-scheme: dark) { :root { --ink: #eee; } svg .dot { fill: red; } }
p { margin: 0; }
svg text { fill: var(--ink); } /* a } comment */
svg .dot, svg .bar { fill: var(--accent); }
svg .band { fill: none; }
"""


def test_a_drawing_stands_alone():
    drawn = Markup(
        '<div class="figure">\n<svg class="wide" viewBox="0 0 720 300" role="img">\n'
        '<title id="x-title">&lt;b&gt; &amp; &#34;x&#34; é #1</title>\n<desc>Said.</desc>'
        '<g><title>Tip</title><circle class="dot" r="3"/></g>\n</svg>\n'
        '<svg class="narrow" viewBox="0 0 9 9"></svg></div>'
    )
    page = with_svg_link(drawn, "Score <against> size", STYLE)
    assert page.startswith(drawn)
    link = page.removeprefix(drawn)
    assert 'download="score-against-size.svg"' in link
    assert "Score &lt;against&gt; size" in link
    href = re.search('href="([^"]*)"', link)[1]
    assert not set(href) & set(" <>&#\n")
    root = ElementTree.fromstring(unquote(href.partition(",")[2]))
    assert root.attrib == {"viewBox": "0 0 720 300", "width": "720", "height": "300"}
    style, title, group = root
    assert title.text == '<b> & "x" é #1'
    assert [own.attrib for own in group] == [{"class": "dot", "r": "3"}]
    assert ":root{--ink:#111;--accent:#1f5f8b}svg text{fill: var(--ink)}" in style.text
    assert style.text.endswith("svg .dot{fill: var(--accent)}")
    assert not any(own in style.text for own in ("#eee", "red", "margin", "band", ".bar"))


def test_what_is_not_drawn_is_not_saved():
    assert with_svg_link(Markup("<p>Nothing.</p>"), "x", STYLE) == "<p>Nothing.</p>"
