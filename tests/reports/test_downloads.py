"""What can be taken from a page."""

from __future__ import annotations

import csv
import io
from urllib.parse import unquote

import pytest

from treeselect.reports.downloads import csv_link, csv_text, file_name
from treeselect.reports.parts import Mark, Table

TABLE = Table(
    ("Term", "Frequency", "=Change"),
    (("=cmd|' /C calc'!A0", "0.90", "+1,234.5"), ('a, "b"\n', "kept by request", "–0.5")),
    marks={1: (Mark(0.9, 0.8, 1.0, "95 % interval 0.80 to 1.00"), None)},
    outside=(False, True),
)


def test_a_spreadsheet_runs_nothing_and_reads_the_numbers():
    assert list(csv.reader(io.StringIO(csv_text(TABLE)))) == [
        ["Term", "Frequency", "Frequency, interval", "'=Change", "Selected"],
        ["'=cmd|' /C calc'!A0", "0.90", "95 % interval 0.80 to 1.00", "+1234.5", "yes"],
        ['a, "b"\\n', "kept by request", "", "-0.5", "no"],
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
