"""What can be taken from a page: its tables as CSV, in links that hold all of it."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from urllib.parse import quote

from treeselect.reports.parts import Table
from treeselect.shown import shown

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
"""What a spreadsheet takes for the beginning of a formula, or of a call of another program."""

_NUMBER = re.compile(r"[+-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?")

_PLAIN = "/:,;()[]!*?@$'~=+"
"""Beside letters and digits, what stands in a link as it is."""

_MOST_CHARACTERS = 40


def csv_link(table: Table) -> str:
    """A link that saves a table: UTF-8 with the mark by which spreadsheets know it."""
    return f"data:text/csv;charset=utf-8,{quote(chr(0xFEFF) + csv_text(table), safe=_PLAIN)}"


def csv_text(table: Table) -> str:
    """A table as CSV, with what its pictures say in columns of their own.

    Texts that a spreadsheet would run as a formula get an apostrophe before them, as OWASP advises:
    names are anybody's text. Numbers lose the commas between their thousands.
    """
    columns: list[tuple[str, ...]] = []
    for i, head in enumerate(table.columns):
        columns.append((head, *(row[i] for row in table.rows)))
        texts = tuple(mark.text if mark else "" for mark in table.marks.get(i, ()))
        if any(texts):
            columns.append((f"{head}, interval", *texts))
    if table.outside:
        columns.append(("Selected", *("no" if out else "yes" for out in table.outside)))
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerows([_cell(text) for text in row] for row in zip(*columns, strict=True))
    return written.getvalue()


def _cell(text: str) -> str:
    text = shown(text)
    plain = text.replace("\N{EN DASH}", "-") if text[1:2].isdigit() else text
    if _NUMBER.fullmatch(plain):
        return plain.replace(",", "")
    return f"'{text}" if text.startswith(_FORMULA) else text


def file_name(text: str) -> str:
    """A short name for a file, of letters, digits and hyphens."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", ascii_only.lower())
    return "-".join(words)[:_MOST_CHARACTERS].strip("-") or "table"
