"""Plain data to one HTML file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from jinja2 import (
    Environment,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    pass_environment,
)
from jinja2.bccache import Bucket, BytecodeCache
from markupsafe import Markup

from treeselect.errors import OptionError, quoted, said_by
from treeselect.printing.folder import template_folder
from treeselect.reports.downloads import csv_link, file_name, with_svg_link
from treeselect.shown import shown

SELECTION = "report.html.j2"
COMPARISON = "comparison.html.j2"

_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
_UNPRINTED = re.compile(
    r'<section class="[^"]*\bunprinted"[^>]*>\s*<h2 [^>]*>(.*?)</h2>', re.DOTALL
)


def render(
    report: object,
    template: Path | None = None,
    *,
    standard: str = SELECTION,
    sections: Sequence[str] | None = None,
) -> str:
    """The page as text.

    Parameters
    ----------
    report : Report, or what another template knows as ``report``
    template : path, optional
        A template of the user's own. It may extend or include the files of ``templates/``.
    standard : str
        The file of ``templates/`` that is used without one, and the model to copy.
    sections : sequence of str, optional
        Blocks of the standard template, in the order in which they are shown; all by default.

    Raises
    ------
    OptionError
        If the template does not exist or can't be rendered.
    """
    folders = [template_folder()]
    name = standard
    if template is not None:
        if not os.path.isfile(template):  # unlike the question of a Path, of names of any length
            raise OptionError(
                f"Can't find the template {quoted(str(template))}.\n"
                f"  Copy {quoted(standard)} from {quoted(str(folders[0]))} to begin with."
            )
        folders.insert(0, template.resolve().parent)
        name = template.name
    environment = template_environment(folders)
    try:
        return environment.get_template(name).render(report=report, sections=sections)
    except Exception as error:  # what a template of the user's own asks for can fail in any way
        if template is None:
            raise
        line = getattr(error, "lineno", None)
        said = error.message if isinstance(error, TemplateError) else None
        raise OptionError(
            f"Can't render the template {quoted(str(template))}.\n"
            f"  {f'Line {line}: ' if line else ''}{said or said_by(error)}\n"
            f"  Compare it with {quoted(standard)} from {quoted(str(template_folder()))}."
        ) from error


class _Compiled(BytecodeCache):
    """Templates that this process has compiled, by their text."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is known of a template; the bucket refuses what is of another text."""
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        self._code[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


def template_environment(folders: Sequence[Path]) -> Environment:
    """What templates are read with, from the first folder that has them, and the filters that they
    know."""
    environment = Environment(
        loader=FileSystemLoader(folders, encoding="utf-8"),
        # Names of columns are anybody's text: everything is escaped, whatever the file's ending.
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_COMPILED,
    )
    environment.filters |= {
        "code": code, "contents": contents, "css_text": css_text, "csv_link": csv_link,
        "file_name": file_name, "unprinted": unprinted,
        "with_svg": _with_svg,
    }  # fmt: skip
    environment.globals["number"] = count(1).__next__  # for identifiers, of which each is one
    return environment


def _shown(value: object) -> object:
    """What a template prints: text without control characters; what is markup already was text
    that a template has printed, or is the template's own. Whole places have no decimals."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def code(text: str) -> Markup:
    """Text with what stands between backticks as code; all of it escaped."""
    text = shown(text)
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner is part of some name
        return Markup.escape(text)
    joined = Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else Markup.escape(part)
        for i, part in enumerate(parts)
    )
    return joined


@pass_environment
def _with_svg(environment: Environment, figure: Markup, name: str) -> Markup:
    """A figure with a link that saves it; the style is that of the template's page."""
    style = environment.get_template("report.css").render()
    return with_svg_link(figure, name, style)


def css_text(text: str) -> str:
    """Text as a string of CSS: all but letters, digits and spaces as their numbers."""
    written = (c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in shown(text))
    return f"'{''.join(written)}'"


def contents(page: Markup) -> list[tuple[str, Markup]]:
    """The headings of a page's sections, those of a template's own, too: anchors and texts.

    What a page shows of the data is escaped, so that none of it looks like a heading.
    """
    return [(anchor, Markup(text)) for anchor, text in _HEADING.findall(page)]


def unprinted(page: Markup) -> list[Markup]:
    """The headings of sections that are left out on paper."""
    return [Markup(text) for text in _UNPRINTED.findall(page)]
