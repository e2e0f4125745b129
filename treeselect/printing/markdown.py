"""A summary as Markdown: a pipe table with its facts and notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from treeselect.printing.code import code_and_words
from treeselect.printing.columns import column_of
from treeselect.printing.content import SummaryContent

_ACTS = re.compile(r"([\\`*_\[\]<>&|~$#])")
"""What a reader of Markdown, of GitHub's or of Pandoc's, acts on."""


def as_markdown(content: SummaryContent) -> str:
    """Title, facts, pipe tables and notes."""
    c = content.shown()
    tables = [(c.columns, c.rows), *((table.columns, table.rows) for table in c.more)]
    parts = [
        f"**{escaped(c.title)}**",
        "\n".join(f"- {escaped(name)}: {_value(name, value)}" for name, value in c.facts),
        *(pipe_table(columns, rows) for columns, rows in tables if rows),
        "\n".join(f"- {_prose(note)}" for note in c.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def pipe_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; columns of numbers are flush right."""
    right = [column_of([row[j] for row in rows]).is_number for j in range(len(columns))]
    lines = [columns, ["---:" if is_number else ":---" for is_number in right]]
    lines += [[escaped(cell) for cell in row] for row in rows]
    lines[0] = [escaped(cell) for cell in columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """Text with everything that Markdown would act on escaped."""
    return _ACTS.sub(r"\\\1", text)


def _prose(text: str) -> str:
    return "".join(
        f"`{part}`" if is_code else escaped(part) for part, is_code in code_and_words(text)
    )


def _value(name: str, value: str) -> str:
    """The call as code, unless it holds a backtick."""
    return f"`{value}`" if name == "Call" and "`" not in value else _prose(value)
