"""A summary as a LaTeX table: caption, label, booktabs, notes below, within the text's width."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from treeselect.printing.code import code_and_words
from treeselect.printing.columns import Column, column_of, set_cell
from treeselect.printing.content import SummaryContent

_ROOM = 72
"""Characters of a line of 345 points in 10 points, about; columns take two more each."""

_SMALL = 88
"""The same in the size of footnotes."""

_LEAST = 12
"""Characters of a column of words, at least."""


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
    is_small = any(_width(columns, rows) > _ROOM for columns, rows in tables)
    tabulars = [_tabular(columns, rows, _SMALL if is_small else _ROOM) for columns, rows in tables]
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
        *_fallbacks(body + head),
        f"\\caption{{{head}}}{named}",
        *([r"\footnotesize", r"\setlength{\tabcolsep}{4pt}"] if is_small else []),
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


# --- tables ------------------------------------------------------------------------------------


def _tabular(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> str:
    kinds = _kinds(columns, rows)
    widths = _widths(columns, rows, kinds)
    limits = _limits(widths, kinds, room)
    places = "".join(
        "r" if kind.is_number else "l" if limit is None else f"p{{{limit:.2f}\\linewidth}}"
        for kind, limit in zip(kinds, limits, strict=True)
    )
    head = " & ".join(
        _head(name, kind, [row[j] for row in rows])
        for j, (name, kind) in enumerate(zip(columns, kinds, strict=True))
    )
    # Text that is set ragged ends its lines by the same sign as a table its rows.
    end = r" \\" if all(limit is None for limit in limits) else r" \tabularnewline"
    ragged = ["" if limit is None else r"\raggedright " for limit in limits]
    lines = [
        " & ".join(ragged[j] + _cell(kinds[j], cell) for j, cell in enumerate(row)) + end
        for row in rows
    ]
    inner = "\n".join([r"\toprule", f"{head} \\\\", r"\midrule", *lines, r"\bottomrule"])
    return f"\\begin{{tabular}}{{@{{}}{places}@{{}}}}\n{inner}\n\\end{{tabular}}"


def _kinds(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Column]:
    return [column_of([row[j] for row in rows]) for j in range(len(columns))]


def _widths(
    columns: Sequence[str], rows: Sequence[Sequence[str]], kinds: Sequence[Column]
) -> list[int]:
    """Characters of each column; heads of numbers stand on two lines."""
    return [
        max(
            max(
                map(len, _stacked(head, [row[j] for row in rows]) if kinds[j].is_number else [head])
            ),
            max(len(row[j]) for row in rows),
        )
        for j, head in enumerate(columns)
    ]


def _width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    widths = _widths(columns, rows, _kinds(columns, rows))
    return sum(widths) + 2 * (len(widths) - 1)


def _limits(widths: Sequence[int], kinds: Sequence[Column], room: int) -> list[float | None]:
    """Share of the line that columns of words may take where the table would be too wide."""
    gaps = 2 * (len(widths) - 1)
    if sum(widths) + gaps <= room:
        return [None] * len(widths)
    words = [j for j, kind in enumerate(kinds) if not kind.is_number]
    left = room - gaps - sum(w for j, w in enumerate(widths) if j not in words)
    limits: list[float | None] = [None] * len(widths)
    # The narrow ones take what they need, the wide ones share the rest.
    for n, j in enumerate(sorted(words, key=lambda j: widths[j])):
        own = max(min(widths[j], left // (len(words) - n)), min(widths[j], _LEAST))
        if own < widths[j]:
            limits[j] = own / room
        left -= own
    return limits


def _head(name: str, kind: Column, cells: Sequence[str]) -> str:
    if not kind.is_number:
        return escaped(name)
    lines = [escaped(line) for line in _stacked(name, cells)]
    joined = r"\\".join(lines)
    return joined if len(lines) == 1 else f"\\shortstack[r]{{{joined}}}"


def _stacked(head: str, cells: Sequence[str]) -> list[str]:
    """A head on two lines where it is wider than what stands below it."""
    room = max([10, *map(len, cells)])
    words = head.split(" ")
    if len(head) <= room or len(words) == 1:
        return [head]
    splits = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return list(min(splits, key=lambda own: max(map(len, own))))


def _cell(kind: Column, cell: str) -> str:
    """A cell with its numbers padded by what is not seen, so that their points align."""
    if kind.parts(cell) is None:
        return escaped(cell)
    return set_cell(kind, cell, _phantom, _number)


def _phantom(text: str) -> str:
    return f"\\phantom{{{_number(text)}}}" if text else ""


def _number(text: str) -> str:
    """A number: minus signs and powers of ten as mathematics has them."""
    mantissa, _, exponent = text.partition("e")
    shown = "".join(_SIGNS.get(c, c) for c in mantissa)
    return f"{shown}$\\times10^{{{int(exponent)}}}$" if exponent else shown


_SIGNS = {"-": "$-$", "−": "$-$", "<": "$<$", ">": "$>$", "%": r"\%", "+": "$+$"}


# --- text --------------------------------------------------------------------------------------


def escaped(text: str) -> str:
    """Text with everything that LaTeX would act on escaped, ligatures and brackets included."""
    return _LIGATURE.sub(r"\1{}", "".join(_LATEX.get(c, c) for c in text))


def prose(text: str) -> str:
    """A sentence, in which code stands between backticks."""
    return "".join(
        _typed(part) if is_code else escaped(part) for part, is_code in code_and_words(text)
    )


def _code(name: str, value: str) -> str:
    return _typed(value) if name == "Call" else prose(value)


def _typed(text: str) -> str:
    """Code in typewriter letters; its quotation marks are straight."""
    straight = escaped(text).replace("'", r"\textquotesingle{}")
    return f"\\texttt{{{straight}}}"


_LIGATURE = re.compile(r"([-'`,!?])(?=[-'`,])")
"""What TeX draws as one: dashes, quotation marks."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "[": "{[}",  # after the end of a row it would be its argument, as a star would be
    "]": "{]}",
    "*": "{*}",
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
    '"': r"{\char34}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "→": r"$\rightarrow$",
    "²": r"$^2$",
    "³": r"$^3$",
    "µ": r"$\mu$",
    "°": r"$^\circ$",
}

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi . pi rho varsigma"
    " sigma tau upsilon phi chi psi omega"
)
_CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_LATEX |= {chr(0x3B1 + i): f"$\\{name}$" for i, name in enumerate(_GREEK.split()) if name != "."}
_LATEX |= dict(zip("ΓΔΘΛΞΠΣΥΦΨΩ", (f"$\\{n}$" for n in _CAPITALS.split()), strict=True))


_KNOWN = "–—\u2018\u2019“”…•†‡€"
"""Of the characters behind the Latin ones, those that pdfLaTeX knows."""


def _fallbacks(text: str) -> list[str]:
    """What pdfLaTeX prints for a character that it does not know, where it would stop; LuaLaTeX and
    XeLaTeX never ask for it."""
    odd = sorted({c for c in text if ord(c) >= 0x180 and c not in _KNOWN})
    return [
        f"\\ifcsname u8:\\detokenize{{{c}}}\\endcsname\\else"
        f"\\expandafter\\def\\csname u8:\\detokenize{{{c}}}\\endcsname{{[U+{ord(c):04X}]}}\\fi"
        for c in odd
    ]
