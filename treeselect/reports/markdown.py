"""A page as Markdown, for GitHub, Quarto and Pandoc: its text and its tables, without figures.

The page is rendered first and then read, so that both formats have the same sections and words.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from treeselect.printing.markup import markdown, pipe_table

_HEADINGS = {"h1": "#", "h2": "##", "h3": "###", "h4": "####"}

_BLOCKS = frozenset({*_HEADINGS, "p", "dt", "dd", "li", "pre", "caption", "summary", "figcaption"})
"""Elements with a text of their own."""

_UNSHOWN = frozenset({"head", "svg", "nav", "fieldset", "script", "style"})

_SCREEN_ONLY = frozenset({"tools", "on-paper", "kicker"})
"""Classes of what serves the page on screen or paper only."""

_VOID = frozenset({"br", "img", "meta", "input", "hr", "link"})

_NOTE = (
    "Text and tables only. Sentences on lines, dots, bars and panels refer to the figures of the"
    " HTML report of the same call."
)


def markdown_page(page: str) -> str:
    """A page of ours as GitHub-flavoured Markdown.

    Parameters
    ----------
    page : str
        HTML, from :func:`treeselect.reports.render.render`.

    Examples
    --------
    >>> from treeselect.reports.markdown import markdown_page
    >>> page = "<main><h1>Which?</h1><p>Use <code>fit</code>.</p></main>"
    >>> print(markdown_page(page).splitlines()[-1])
    Use `fit`.
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    first, *rest = reader.parts or [""]
    return "\n\n".join([first, f"*{_NOTE}*", *_joined(rest)]) + "\n"


def _joined(parts: list[str]) -> list[str]:
    """The parts with the items of a list below each other."""
    found: list[str] = []
    for part in parts:
        if found and part.startswith("- ") and found[-1].startswith("- "):
            found[-1] += f"\n{part}"
        else:
            found.append(part)
    return found


class _Reader(HTMLParser):
    """Collects the blocks of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._text: list[str] | None = None
        self._open: list[tuple[str, bool]] = []  # elements, and whether they aren't shown
        self._rows: list[list[str]] | None = None
        self._caption = ""
        self._term = ""
        self._said: list[str] = []

    # --- what is read ---

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        given = dict(attrs)
        classes = set((given.get("class") or "").split())
        unshown = tag in _UNSHOWN or bool(classes & _SCREEN_ONLY) or "download" in given
        self._open.append((tag, unshown or self._is_unshown))
        if self._is_unshown:
            return
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th"):
            self._text = []
        elif tag == "dd":
            self._said, self._text = [], []
        elif tag in _BLOCKS:
            self._text = []
        elif tag == "small" and self._text is not None:
            self._text.append("(")
        elif tag == "code" and self._text is not None and not self._is_pre:
            self._text.append("`")

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID or not any(name == tag for name, _ in self._open):
            return
        unshown = self._is_unshown
        while self._open.pop()[0] != tag:
            pass
        if unshown:
            return
        if tag == "code" and self._text is not None and not self._is_pre:
            self._text.append("`")
        elif tag == "small" and self._text is not None:
            self._text.append(")")
        elif tag in ("td", "th"):
            if self._rows:
                self._rows[-1].append(_plain(self._taken()))
        elif tag == "table":
            self._add_table()
        elif tag in _BLOCKS:
            self._add_block(tag)

    def handle_data(self, data: str) -> None:
        if self._text is not None and not self._is_unshown:
            self._text.append(data)

    @property
    def _is_unshown(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    @property
    def _is_pre(self) -> bool:
        return any(name == "pre" for name, _ in self._open)

    # --- what is written ---

    def _taken(self) -> list[str]:
        text, self._text = self._text or [], None
        return text

    def _add_block(self, tag: str) -> None:
        text = self._taken()
        if tag == "pre":
            self.parts.append(_fenced("".join(text).strip("\n")))
            return
        prose = _prose(text)
        if tag == "caption":
            self._caption = prose
        elif tag == "dt":
            self._term = prose
        elif tag == "dd":
            said = " ".join(part for part in (*self._said, prose) if part)
            self.parts.append(f"- **{self._term}:** {said}")
            self._said = []
        elif not prose or tag == "summary":
            return  # a table has its caption
        elif tag == "p" and any(name == "dd" for name, _ in self._open):
            self._said.append(prose if prose.endswith((".", ":")) else f"{prose}.")
        elif tag == "li":
            self.parts.append(f"- {prose}")
        else:
            self.parts.append(f"{_HEADINGS[tag]} {prose}" if tag in _HEADINGS else prose)

    def _add_table(self) -> None:
        rows, self._rows = [row for row in self._rows or [] if row], None
        if len(rows) < 2:
            return
        width = max(map(len, rows))
        head, *body = [[*row, *[""] * (width - len(row))] for row in rows]
        if self._caption:
            self.parts.append(f"**{self._caption}**")
        self.parts.append(pipe_table(head, body))


def _plain(text: list[str]) -> str:
    return " ".join("".join(text).split())


def _prose(text: list[str]) -> str:
    """Text with its code between backticks, and everything else that Markdown acts on escaped."""
    found, is_code = [], False
    for part in text:
        if part == "`":
            is_code = not is_code
            found.append("`")
        else:
            found.append(part if is_code else markdown(part))
    line = " ".join("".join(found).split())
    return re.sub(r"^([-+]|\d+\.) ", r"\\\1 ", line)


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
