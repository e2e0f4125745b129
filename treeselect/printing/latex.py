"""A summary as a LaTeX table: caption, label, booktabs, notes below, within the text's width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from treeselect.printing.columns import Column, column_of, set_cell
from treeselect.printing.content import SummaryContent
from treeselect.printing.latex_text import escaped, fallbacks, prose, typed

# --- tables as LaTeX, no wider than the text ---------------------------------------------------

# What is too wide is smaller, with words on more lines. Widths are estimated, since only TeX knows
# them: in digits, half an em each, with the usual widths of letters and signs.


@dataclass(frozen=True, slots=True)
class Size:
    """A size of letters.

    Attributes
    ----------
    commands : tuple of str
        What chooses it.
    room : float
        Digits on a line of 345 points, the text of an article.
    gap : float
        What stands between two columns, in digits.
    least : int
        Digits of a head that is not broken.
    """

    commands: tuple[str, ...]
    room: float
    gap: float
    least: int


SIZES = (
    Size((), 68.0, 2.4, 10),
    Size((r"\footnotesize", r"\setlength{\tabcolsep}{4pt}"), 80.0, 1.9, 6),
    Size((r"\scriptsize", r"\setlength{\tabcolsep}{3pt}"), 86.0, 1.5, 6),
)
"""From the largest, which is taken if it is wide enough."""

_LEAST_WORDS = 12
"""Digits of a column of words, at least."""

_WIDE = {" ": 0.67, "%": 1.67, "m": 1.67, "w": 1.45, "M": 1.84, "W": 2.06}
_WIDE |= dict.fromkeys(".,:;'|!il", 0.56) | dict.fromkeys("()[]fjrtsI", 0.78)
_WIDE |= dict.fromkeys("-+<>\u2212", 1.56) | dict.fromkeys("0123456789", 1.0)
"""Widths of characters in digits, of Computer Modern."""

Table = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Head and rows."""


def fitting_size(tables: Sequence[Table]) -> Size:
    """The largest size in which tables fit, columns of words on more lines in the smaller ones."""
    for size in SIZES[:-1]:
        if all(_Layout.of(table, size).width <= size.room for table in tables):
            return size
    for size in SIZES[1:]:
        if all(_Layout.of(table, size).least <= size.room for table in tables):
            return size
    return SIZES[-1]


def tabular(table: Table, size: Size) -> str:
    """A ``tabular`` in the style of booktabs."""
    rows = table[1]
    layout = _Layout.of(table, size)
    kinds, limits = layout.kinds, layout.limits()
    places = "".join(
        "r" if kind.is_number else "l" if limit is None else f"p{{{limit:.2f}\\linewidth}}"
        for kind, limit in zip(kinds, limits, strict=True)
    )
    head = " & ".join(map(_head, layout.heads))
    # Text that is set ragged ends its lines by the same sign as a table its rows.
    end = r" \\" if all(limit is None for limit in limits) else r" \tabularnewline"
    ragged = ["" if limit is None else r"\raggedright " for limit in limits]
    lines = [
        " & ".join(ragged[j] + _cell(kinds[j], cell) for j, cell in enumerate(row)) + end
        for row in rows
    ]
    inner = "\n".join([r"\toprule", f"{head} \\\\", r"\midrule", *lines, r"\bottomrule"])
    return f"\\begin{{tabular}}{{@{{}}{places}@{{}}}}\n{inner}\n\\end{{tabular}}"


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the columns of a table are set: which are numbers, the lines of their heads, their widths
    in digits."""

    size: Size
    kinds: tuple[Column, ...]
    heads: tuple[tuple[str, ...], ...]
    widths: tuple[float, ...]

    @classmethod
    def of(cls, table: Table, size: Size) -> _Layout:
        """The layout of a table in some size."""
        kinds, heads, widths = [], [], []
        for j, name in enumerate(table[0]):
            cells = [row[j] for row in table[1]]
            kind = column_of(cells)
            below = max(_digits(set_cell(kind, cell, write=_as_is)) for cell in cells)
            head = _stacked(name, max(below, size.least)) if kind.is_number else (name,)
            kinds.append(kind)
            heads.append(head)
            widths.append(max(below, *map(_digits, head)))
        return cls(size, tuple(kinds), tuple(heads), tuple(widths))

    @property
    def width(self) -> float:
        """Of all columns and the gaps between them."""
        return sum(self.widths) + self._gaps

    @property
    def least(self) -> float:
        """The same with columns of words as narrow as they may be."""
        return self._gaps + sum(
            width if kind.is_number else min(width, _LEAST_WORDS)
            for width, kind in zip(self.widths, self.kinds, strict=True)
        )

    @property
    def _gaps(self) -> float:
        return self.size.gap * (len(self.widths) - 1)

    def limits(self) -> list[float | None]:
        """Share of the line that each column of words may take; None where it takes what it
        needs."""
        limits: list[float | None] = [None] * len(self.widths)
        if self.width <= self.size.room:
            return limits
        words = [j for j, kind in enumerate(self.kinds) if not kind.is_number]
        left = self.size.room - self._gaps
        left -= sum(width for j, width in enumerate(self.widths) if j not in words)
        # The narrow ones take what they need, the wide ones share the rest.
        for n, j in enumerate(sorted(words, key=lambda j: self.widths[j])):
            width = self.widths[j]
            own = max(min(width, left / (len(words) - n)), min(width, _LEAST_WORDS))
            if own < width:
                limits[j] = own / self.size.room
            left -= own
        return limits


def _as_is(number: str) -> str:
    return number


def _digits(text: str) -> float:
    """Width of a text in digits."""
    return sum(_WIDE.get(c, 1.4 if c.isupper() else 1.0) for c in text)


def _head(lines: tuple[str, ...]) -> str:
    joined = r"\\".join(map(escaped, lines))
    return joined if len(lines) == 1 else f"\\shortstack[r]{{{joined}}}"


def _stacked(head: str, room: float) -> tuple[str, ...]:
    """A head on two lines where it is wider than what stands below it."""
    words = head.split(" ")
    if _digits(head) <= room or len(words) == 1:
        return (head,)
    splits = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return min(splits, key=lambda own: max(map(_digits, own)))


def _cell(kind: Column, cell: str) -> str:
    """A cell with its numbers padded invisibly, so that their decimal points align."""
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


# --- A summary as a LaTeX table ----------------------------------------------------------------


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
