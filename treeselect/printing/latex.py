"""A summary as a LaTeX table: caption, label, booktabs, notes below, within the text's width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from treeselect.printing.content import SummaryContent
from treeselect.printing.latex_tables import fitting_size, tabular
from treeselect.printing.latex_text import escaped, fallbacks, prose, typed


def as_latex(content: SummaryContent, caption: str | None = None, label: str | None = None) -> str:
    r"""A ``table`` to paste into a paper that loads the package booktabs.

    Parameters
    ----------
    content : SummaryContent
    caption : str, optional
        LaTeX code; by default the title of the summary.
    label : str, optional
        For ``\ref``.
    """
    c = content.shown()
    tables = [(c.columns, c.rows), *((table.columns, table.rows) for table in c.more)]
    tables = [(columns, rows) for columns, rows in tables if rows]
    size = fitting_size(tables)
    tabulars = [tabular(table, size) for table in tables]
    facts = [
        f"\\textit{{{escaped(name)}:}} {_code(name, value.removesuffix(chr(46)))}"
        for name, value in c.facts
    ]
    notes = [*([f"{'; '.join(facts)}."] if facts else []), *map(prose, c.notes)]
    body = "\n\n\\medskip\n".join([*tabulars, _below(notes)] if notes else tabulars)
    head = escaped(c.title) if caption is None else caption
    named = "" if label is None else f"\\label{{{label}}}"
    lines = [
        _needs(body + head),
        r"\begin{table}[htbp]",
        r"\centering",
        *fallbacks(body + head),
        f"\\caption{{{head}}}{named}",
        *size.commands,
        body,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _needs(text: str) -> str:
    fonts = "" if text.isascii() else r" and \usepackage[T1]{fontenc}"
    return rf"% Needs \usepackage{{booktabs}}{fonts} in the preamble."


def _below(notes: Sequence[str]) -> str:
    """Notes as wide as the text, one a paragraph."""
    lines = "\\par\n".join(_folded(note) for note in notes)
    opening = "\\begin{minipage}{\\linewidth}\n\\footnotesize\\raggedright"
    return f"{opening}\n{lines}\\par\n\\end{{minipage}}"


def _folded(note: str) -> str:
    return "\n".join(textwrap.wrap(note, 96, break_long_words=False, break_on_hyphens=False))


def _code(name: str, value: str) -> str:
    return typed(value) if name == "Call" else prose(value)
