"""Documents for Word, written by python-docx, an optional extra."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from treeselect.errors import needed
from treeselect.printing.markup import figure_spaces
from treeselect.printing.text import SummaryContent, aligned, code_and_words
from treeselect.shown import shown

_WIDEST = 6 * 914_400
"""Width of a picture, six inches in the format's units."""


class Word:
    """A document that grows at its end."""

    def __init__(self, title: str) -> None:
        self.document: Any = needed("docx", "word", "A document for Word").Document()
        self._pictures: Any = None
        self.document.core_properties.title = shown(title)
        self.document.core_properties.author = ""
        self.add(title, "Title")

    def add(
        self, text: str, style: str | None = None, *, head: str = "", code: bool = False
    ) -> None:
        """A paragraph, in which code stands between backticks, or all of which is code."""
        paragraph = self.document.add_paragraph(style=style)
        self._pictures = None
        if head:
            paragraph.add_run(f"{shown(head)}: ").bold = True
        pieces = [(text, True)] if code else code_and_words(shown(text))
        for piece, is_code in pieces:
            run = paragraph.add_run(piece)
            if is_code:
                run.font.name = "Courier New"

    def add_table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table, with points of numbers below each other."""
        table = self.document.add_table(len(rows) + 1, len(columns), style="Light Shading")
        for j, (head, *cells) in enumerate(zip(columns, *rows, strict=True)):
            numbers = aligned(cells, figure_spaces)
            for cell, text in zip(table.columns[j].cells, [head, *(numbers or cells)], strict=True):
                cell.text = shown(text)
                cell.paragraphs[0].alignment = 0 if numbers is None else 2
        self.document.add_paragraph()

    def add_picture(self, png: bytes, words: str) -> None:
        """A picture with what it shows in words, beside a picture before it where there is room."""
        self._pictures = self._pictures or self.document.add_paragraph()
        shape = self._pictures.add_run().add_picture(io.BytesIO(png))
        scale = min(1.0, _WIDEST / shape.width)
        shape.width, shape.height = int(shape.width * scale), int(shape.height * scale)
        shape._inline.docPr.set("descr", shown(words))

    def content(self) -> bytes:
        """The bytes of the file."""
        file = io.BytesIO()
        self.document.save(file)
        return file.getvalue()


def as_word(content: SummaryContent) -> Word:
    """A summary: facts, tables, notes."""
    word = Word(content.title)
    for name, value in content.facts:
        word.add(value, head=name, code=name == "Call")
    for table in content.tables:
        word.add_table(table.columns, table.rows)
    for note in content.notes:
        word.add(note, "List Bullet")
    return word
