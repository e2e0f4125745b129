"""What is printed: facts, a table and notes, set as text, LaTeX or HTML; names in sentences."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.shown import shown

if TYPE_CHECKING:
    from statsmodels.iolib.table import SimpleTable


MOST_ROWS = 30
"""Rows of the table of terms; the rest is in ``tidy()``."""


_WIDTH = 88


@dataclass(frozen=True, slots=True)
class SmallTable:
    """A further table: words, and numbers beside them, in as many columns as other such tables.

    Attributes
    ----------
    columns : tuple of str
        Its head.
    rows : tuple of tuple of str
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def shown(self) -> SmallTable:
        """The same without control characters."""
        rows = tuple(tuple(map(shown, row)) for row in self.rows)
        return SmallTable(tuple(map(shown, self.columns)), rows)


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """All that a summary says, as text.

    Attributes
    ----------
    title : str
    facts : tuple of (str, str)
        Header: what and its value.
    columns : tuple of str
        Head of the table of terms, the first that of the terms themselves.
    rows : tuple of tuple of str
    notes : tuple of str
        Footer, one sentence or two each.
    more : tuple of SmallTable
        Between the table of terms and the footer.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    more: tuple[SmallTable, ...] = ()

    def shown(self) -> SummaryContent:
        """The same without control characters, which names and labels may hold."""
        return SummaryContent(
            title=shown(self.title),
            facts=tuple((shown(name), shown(value)) for name, value in self.facts),
            columns=tuple(map(shown, self.columns)),
            rows=tuple(tuple(map(shown, row)) for row in self.rows),
            notes=tuple(map(shown, self.notes)),
            more=tuple(table.shown() for table in self.more),
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that prints as text.

    Attributes
    ----------
    content : SummaryContent
    """

    content: SummaryContent

    def as_text(self) -> str:
        """Plain text, at most 88 characters wide unless names are longer."""
        c = self.content.shown()
        table = _table(c.columns, c.rows).as_text() if c.rows else ""
        width = max([_WIDTH, *(len(line) for line in table.splitlines())])
        label = max(len(name) for name, _ in c.facts) + 2
        lines = [c.title.center(width).rstrip(), "=" * width]
        for name, value in c.facts:
            lines += textwrap.wrap(
                value,
                width,
                initial_indent=f"{name}:".ljust(label),
                subsequent_indent=" " * label,
                break_long_words=False,
                break_on_hyphens=False,
            )
        lines += table.splitlines() if table else ["-" * width]
        lines += _small_lines(c.more)
        for note in c.notes:
            lines += textwrap.wrap(
                note, width, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
            )
        return "\n".join(lines)

    def as_latex(self) -> str:
        """LaTeX: a tabular of the header, one of the terms, and the notes below."""
        c = self.content.shown()
        facts = "\n".join(f"{_latex(name)}: & {_latex(value)} \\\\" for name, value in c.facts)
        notes = "\n".join(f"  \\item {_latex(note)}" for note in c.notes)
        parts = [
            f"\\textbf{{{_latex(c.title)}}}\n",
            f"\\begin{{tabular}}{{lp{{0.75\\linewidth}}}}\n{facts}\n\\end{{tabular}}\n",
        ]
        if c.rows:
            columns = [_latex(cell) for cell in c.columns]
            rows = [[_latex(cell) for cell in row] for row in c.rows]
            table = _table(columns, rows)
            # The cells are escaped already, more completely than SimpleTable does it.
            parts.append(table.as_latex_tabular(replacements={}))
        parts += map(_small_latex, c.more)
        parts.append(f"\\begin{{itemize}}\n{notes}\n\\end{{itemize}}\n")
        return "\n".join(parts)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        """HTML for notebooks; SimpleTable's own is not used because it escapes nothing."""
        c = self.content.shown()
        facts = "".join(
            f"<tr><th scope='row' style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in c.facts
        )
        tables = "".join(
            _html_table(columns, rows)
            for columns, rows in [(c.columns, c.rows), *((t.columns, t.rows) for t in c.more)]
        )
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in c.notes)
        return f"<h4>{html.escape(c.title)}</h4><table>{facts}</table>{tables}<ul>{notes}</ul>"


def enumeration(names: Sequence[str], most: int = 8, room: int = 240) -> str:
    """Names in a sentence: "a, b and c"; at most so many, and so many characters."""
    shown, taken = 0, 0
    while shown < min(most, len(names)) and (shown == 0 or taken + len(names[shown]) <= room):
        taken += len(names[shown])
        shown += 1
    if len(names) > shown:
        return f"{', '.join(names[:shown])} and {len(names) - shown:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def score_text(mean: float, standard_error: float, name: str = "s.e.") -> str:
    """A mean score with its standard error: "0.853 (s.e. 0.012)". What is below 1, or above 0, is
    not rounded to it."""
    if mean == 1 and standard_error == 0:
        return "1 in each fold"
    return f"{plain_score(mean)} ({name} {error_text(standard_error)})"


def plain_score(score: float) -> str:
    """A score with three decimals; one that is nearly 1 is not rounded to it."""
    return ">0.999" if 0.9995 <= score < 1 else f"{score:.3f}"


def error_text(standard_error: float) -> str:
    """A standard error with three decimals; a small one is not rounded to none."""
    return "<0.001" if 0 < standard_error < 0.0005 else f"{standard_error:.3f}"


def p_text(p: float) -> str:
    """A p-value as it is printed."""
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _table(columns: tuple[str, ...] | list[str], rows: object) -> SimpleTable:
    from statsmodels.iolib.table import SimpleTable

    cells = [list(row[1:]) for row in rows]  # type: ignore[attr-defined]
    stubs = [row[0] for row in rows]  # type: ignore[attr-defined]
    return SimpleTable(
        cells,
        headers=list(columns[1:]),
        stubs=stubs,
        txt_fmt={"colsep": "  ", "table_dec_above": "=", "table_dec_below": "="},
    )


def _small_lines(tables: Sequence[SmallTable]) -> list[str]:
    """Small tables, one below the other: words flush left and wrapped, numbers flush right."""
    if not tables:
        return []
    cells = [row for table in tables for row in (table.columns, *table.rows)]
    words, *numbers = (max(map(len, column)) for column in zip(*cells, strict=True))
    rest = sum(numbers) + 2 * len(numbers)
    longest = max(len(word) for row in cells for word in row[0].split()) + 2
    words = min(words, max(_WIDTH - rest, longest))
    lines = []
    for table in tables:
        for row in (table.columns, *table.rows):
            first, *more = textwrap.wrap(
                row[0],
                words,
                subsequent_indent="  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
            beside = [cell.rjust(n) for cell, n in zip(row[1:], numbers, strict=True)]
            lines += ["  ".join([first.ljust(words), *beside]), *more]
            lines += ["-" * (words + rest)] if row is table.columns else []
        lines.append("-" * (words + rest))
    return [*lines[:-1], "=" * (words + rest)]


def _html_table(columns: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> str:
    head = "".join(f"<th scope='col'>{html.escape(cell)}</th>" for cell in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _small_latex(table: SmallTable) -> str:
    """A tabular in the style of that of the terms."""
    head, *rows = (
        " & ".join(_latex(cell) for cell in row) + r" \\" for row in (table.columns, *table.rows)
    )
    inner = "\n".join([r"\toprule", head, r"\midrule", *rows, r"\bottomrule"])
    places = "l" + "r" * (len(table.columns) - 1)
    tabular = f"\\begin{{tabular}}{{{places}}}\n{inner}\n\\end{{tabular}}"
    return f"\\begin{{center}}\n{tabular}\n\\end{{center}}\n"


def _latex(text: str) -> str:
    """Text with everything that LaTeX would act on escaped."""
    return "".join(_LATEX.get(character, character) for character in text)


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
