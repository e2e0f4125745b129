"""A summary for papers and pages: as LaTeX, Markdown, HTML in notebooks, and for Word."""

from __future__ import annotations

import html
import io
import re
import textwrap
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from treeselect.errors import needed
from treeselect.printing.text import SmallTable, SummaryContent, aligned, code_and_words
from treeselect.shown import shown


def _prose(text: str, word: Callable[[str], str], code: Callable[[str], str]) -> str:
    """A sentence, in which code stands between backticks."""
    return "".join(code(part) if is_code else word(part) for part, is_code in code_and_words(text))


# --- LaTeX ---------------------------------------------------------------------------------------

_SHRUNK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""A table that is wider than the text becomes as wide as the text."""

_LONG = 40
"""Characters of a column of words that is broken into lines."""

_WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def as_latex(content: SummaryContent, caption: str | None = None, label: str | None = None) -> str:
    r"""A ``table`` to paste into a paper that loads the packages booktabs and graphicx."""
    c = content.shown()
    facts = [
        f"\\textit{{{latex(name)}:}} "
        + (_typed(value) if name == "Call" else _latex_prose(value.removesuffix(".")))
        for name, value in c.facts
    ]
    notes = [*([f"{'; '.join(facts)}."] if facts else []), *map(_latex_prose, c.notes)]
    parts = [*map(_tabular, c.tables)]
    if notes:  # as wide as the text, one a paragraph
        folded = ("\n".join(textwrap.wrap(note, 96, **_WHOLE_WORDS)) for note in notes)
        below = ["\\begin{minipage}{\\linewidth}", "\\footnotesize\\raggedright"]
        parts.append("\n".join([*below, *(f"{n}\\par" for n in folded), "\\end{minipage}"]))
    body = "\n\n\\medskip\n".join(parts)
    head = latex(c.title) if caption is None else caption
    named = "" if label is None else f"\\label{{{label}}}"
    fonts = "" if (body + head).isascii() else r" and \usepackage[T1]{fontenc}"
    if any(c.isalpha() and c > "\u024f" for c in body + head):  # beyond Latin
        fonts = " and, with LuaLaTeX or XeLaTeX, a font that has all letters,"
    lines = [
        rf"% Needs \usepackage{{booktabs,graphicx}}{fonts} in the preamble.",
        r"\begin{table}[htbp]",
        r"\centering",
        f"\\caption{{{head}}}{named}",
        body,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _tabular(table: SmallTable) -> str:
    """A ``tabular`` in the style of booktabs, no wider than the text."""
    heads, places, columns = [], "", []
    for head, *cells in zip(table.columns, *table.rows, strict=True):
        longest = max(map(len, cells))
        numbers = aligned(cells, _phantom, _number, latex)
        is_long = numbers is None and longest > _LONG
        places += "p{0.4\\linewidth}" if is_long else "l" if numbers is None else "r"
        heads.append(latex(head))
        ragged = r"\raggedright " if is_long else ""
        columns.append([ragged + latex(c) for c in cells] if numbers is None else numbers)
    # Text that is set ragged ends its lines by the same sign as a table its rows.
    rows = [" & ".join(row) + r" \tabularnewline" for row in zip(*columns, strict=True)]
    top = [rf"\begin{{tabular}}{{@{{}}{places}@{{}}}}", r"\toprule", rf"{' & '.join(heads)} \\"]
    lines = [_SHRUNK, *top, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}}"]
    return "\n".join(lines)


def _phantom(text: str) -> str:
    """An invisible number, with which decimal points align."""
    return f"\\phantom{{{_number(text)}}}" if text else ""


def _number(text: str) -> str:
    """A number: minus signs and powers of ten as mathematics has them."""
    mantissa, _, exponent = text.partition("e")
    shown = "".join(_SIGNS.get(c, c) for c in mantissa)
    return f"{shown}$\\times10^{{{int(exponent)}}}$" if exponent else shown


_SIGNS = {"-": "$-$", "−": "$-$", "<": "$<$", ">": "$>$", "%": r"\%", "+": "$+$"}


def latex(text: str) -> str:
    """Text with everything that LaTeX would act on escaped, ligatures and brackets included."""
    return _LIGATURE.sub(r"\1{}", "".join(_LATEX.get(c, c) for c in text))


def _latex_prose(text: str) -> str:
    return _prose(text, latex, _typed)


def _typed(text: str) -> str:
    """Code in typewriter letters; its quotation marks are straight."""
    straight = latex(text).replace("'", r"\textquotesingle{}")
    return f"\\texttt{{{straight}}}"


_LIGATURE = re.compile(r"([-'`,!?])(?=[-'`,])")
"""What TeX draws as one: dashes, quotation marks."""

_LATEX = {c: f"\\{c}" for c in "{}$&%#_"} | {c: f"{{{c}}}" for c in "[]*"}
"""After the end of a row, brackets would be its argument, as a star would be."""

_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
           "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"{\char34}",
           "`": r"\textasciigrave{}", "−": "$-$", "²": "$^2$", "³": "$^3$"}  # fmt: skip
_NAMED = "αβγδεζηθικλμνξπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ×±≤≥≠≈∞√→µ"
_NAMES = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho varsigma sigma tau
upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega times pm leq
geq neq approx infty surd rightarrow mu
"""
_LATEX |= {c: f"$\\{name}$" for c, name in zip(_NAMED, _NAMES.split(), strict=True)}
_LATEX["°"] = r"$^\circ$"

# --- Markdown ------------------------------------------------------------------------------------

_ACTS = re.compile(r"([\\`*_\[\]<>&|~$#])")
"""What a reader of Markdown, of GitHub's or of Pandoc's, acts on."""


def as_markdown(content: SummaryContent) -> str:
    c = content.shown()
    parts = [
        f"**{markdown(c.title)}**",
        "\n".join(  # the call is code, unless it holds a backtick
            f"- {markdown(name)}: "
            + (f"`{v}`" if name == "Call" and "`" not in v else markdown_prose(v))
            for name, v in c.facts
        ),
        *(pipe_table(table.columns, table.rows) for table in c.tables),
        "\n".join(f"- {markdown_prose(note)}" for note in c.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def pipe_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; columns of numbers are flush right."""
    marks = [":---" if aligned(cells) is None else "---:" for cells in zip(*rows, strict=True)]
    lines = [list(map(markdown, columns)), marks, *(list(map(markdown, row)) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown(text: str) -> str:
    """Text with everything that Markdown would act on escaped."""
    return _ACTS.sub(r"\\\1", text)


def markdown_prose(text: str) -> str:
    """A sentence with its code between backticks and everything else escaped."""
    return _prose(text, markdown, lambda code: f"`{code}`")


# --- HTML for notebooks --------------------------------------------------------------------------


def as_html(content: SummaryContent) -> str:
    c = content.shown()
    tables = (_table(table.columns, table.rows) for table in c.tables)
    items = "".join(f"<li>{_html_prose(text)}</li>" for text in c.notes)
    # Open, as they say which numbers not to trust
    notes = f"<details open><summary>Notes</summary><ul>{items}</ul></details>" if items else ""
    parts = [f'<p class="title">{_text(c.title)}</p>', _facts(c.facts), *tables, notes]
    inside = "\n".join(filter(None, parts))
    return f'<div class="treeselect"><style>{style_sheet()}</style>\n{inside}\n</div>'


def _facts(pairs: Sequence[tuple[str, str]]) -> str:
    rows = "".join(
        f"<div><dt>{_text(name)}</dt>"
        + (f'<dd class="code">{_text(value)}' if name == "Call" else f"<dd>{_html_prose(value)}")
        + "</dd></div>"
        for name, value in pairs
    )
    return f"<dl>{rows}</dl>" if pairs else ""


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; numbers are flush right with their points below each other."""
    heads, cells = "", []
    for j, (head, *column) in enumerate(zip(columns, *rows, strict=True)):
        numbers = aligned(column, figure_spaces)
        kind = "" if numbers is None else ' class="number"'
        heads += f'<th scope="col"{kind}>{_text(head)}</th>'
        name, scope = ("td", "") if j else ("th", ' scope="row"')
        texts = column if numbers is None else numbers
        cells.append([f"<{name}{scope}{kind}>{_text(text)}</{name}>" for text in texts])
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
    return (
        f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def figure_spaces(missing: str) -> str:
    """Spaces as wide as digits, and as points, in numbers of one width."""
    return "".join("\u2008" if c in ".," else "\u2007" for c in missing)


def _text(text: str) -> str:
    return html.escape(shown(text))


def _html_prose(text: str) -> str:
    return _prose(text, _text, lambda code: f"<code>{_text(code)}</code>")


@cache
def style_sheet() -> str:
    """The report's style sheet and that of notebooks, nested in the rule of one element."""
    names = ("report.css", "tables.css", "notebook.css")
    css = "\n".join((template_folder() / name).read_text(encoding="utf-8") for name in names)
    css = re.sub(r"/\*.*?\*/|@page\s*{[^}]*}", "", css, flags=re.DOTALL)
    css = re.sub(r"(?m)^(\s*)(:root|html|body|main)(?=[\s>:.\[,{])", r"\1&", css)
    return f".treeselect{{{' '.join(css.split())}}}"


def template_folder() -> Path:
    """Folder of the templates and style sheets: in the package, or at the top of a checkout."""
    package = Path(__file__).resolve().parent.parent
    candidates = (package / "templates", package.parent / "templates")
    for folder in candidates:
        if folder.is_dir():
            return folder
    looked = " and ".join(f"'{folder}'" for folder in candidates)
    raise FileNotFoundError(
        f"Can't find the report templates: looked for the folders {looked}. "
        "Install treeselect again, or run it from a full checkout of its repository."
    )


# --- Word, by python-docx, an optional extra -----------------------------------------------------

_WIDEST = 6 * 914_400
"""Width of a picture, six inches in the format's units."""

_LONGEST = 255
"""Most characters of a document's properties."""


class Word:
    """A document that grows at its end."""

    def __init__(self, title: str) -> None:
        self.document: Any = needed("docx", "word", "A document for Word").Document()
        self._pictures: Any = None
        self.document.core_properties.title = shown(title)[:_LONGEST]
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
        file = io.BytesIO()
        self.document.save(file)
        return file.getvalue()


def as_word(content: SummaryContent) -> Word:
    word = Word(content.title)
    for name, value in content.facts:
        word.add(value, head=name, code=name == "Call")
    for table in content.tables:
        word.add_table(table.columns, table.rows)
    for note in content.notes:
        word.add(note, "List Bullet")
    return word
