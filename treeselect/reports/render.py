"""From plain data to one HTML file."""

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
    report : Report, or any object that a template uses as ``report``
    template : path, optional
        A custom template. It may extend or include the files of ``templates/``.
    standard : str
        The file of ``templates/`` used without a custom template, and the model to copy.
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
        if not os.path.isfile(template):  # unlike Path.is_file, it accepts names of any length
            raise OptionError(
                f"Can't find the template {quoted(str(template))}.\n"
                f"  Start with a copy of {quoted(standard)} from {quoted(str(folders[0]))}."
            )
        folders.insert(0, template.resolve().parent)
        name = template.name
    environment = template_environment(folders)
    try:
        return environment.get_template(name).render(report=report, sections=sections)
    except Exception as error:  # a custom template can fail in any way
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
    """Templates compiled by this process, by their text."""

    def __init__(self) -> None:
        self._code: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a compiled template; the bucket refuses one compiled from another text."""
        if bucket.key in self._code:
            bucket.bytecode_from_string(self._code[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a compiled template."""
        self._code[bucket.key] = bucket.bytecode_to_string()


_COMPILED = _Compiled()


def template_environment(folders: Sequence[Path]) -> Environment:
    """The environment of templates, read from the first folder that contains them, with its
    filters."""
    environment = Environment(
        loader=FileSystemLoader(folders, encoding="utf-8"),
        # Column names are untrusted: everything is escaped, whatever the file name extension.
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
    environment.globals["number"] = count(1).__next__  # for unique identifiers
    return environment


def _shown(value: object) -> object:
    """The output of a template: text without control characters. Markup is unchanged, because it is
    output already or part of a template. Whole coordinates have no decimals."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def code(text: str) -> Markup:
    """Escaped text in which parts between backticks become code."""
    text = shown(text)
    parts = text.split("`")
    if len(parts) % 2 == 0:  # an unpaired backtick is part of a name
        return Markup.escape(text)
    joined = Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 else Markup.escape(part)
        for i, part in enumerate(parts)
    )
    return joined


@pass_environment
def _with_svg(environment: Environment, figure: Markup, name: str) -> Markup:
    """A figure with a link that saves it, in the style of the template's page."""
    style = environment.get_template("report.css").render()
    return with_svg_link(figure, name, style)


def css_text(text: str) -> str:
    """Text as a CSS string, with all characters except letters, digits and spaces escaped."""
    written = (c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in shown(text))
    return f"'{''.join(written)}'"


def contents(page: Markup) -> list[tuple[str, Markup]]:
    """The headings of all sections of a page, including custom ones: anchors and texts.

    Data on a page are escaped, so that they can't look like a heading.
    """
    return [(anchor, Markup(text)) for anchor, text in _HEADING.findall(page)]


def unprinted(page: Markup) -> list[Markup]:
    """The headings of sections that are not printed."""
    return [Markup(text) for text in _UNPRINTED.findall(page)]
