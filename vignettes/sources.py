"""Text sources to cells: code that is run, and prose with values that are filled in."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import jupytext

RAISES = "raises-exception"
"""Tag of a cell that must end in an error, which the page shows."""

STDERR = "stderr"
"""Tag of a cell that may write to standard error."""

CHECK = "check"
"""Tag of a cell that is run and not shown: it asserts what the prose says of the results."""

TAGS = (CHECK, RAISES, STDERR)

_HEADER = "---\njupyter:\n  jupytext:\n    main_language: python\n---\n"
"""Said to jupytext before each source; by itself it takes the language that most blocks have."""

_INLINE = re.compile(r"`\{python\} ([^`]+)`")


class VignetteError(Exception):
    """A vignette can't be built; the text says which, where and why."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a cell has shown.

    Attributes
    ----------
    kind : {"text", "stderr", "error", "html", "svg", "png"}
    content : str
        Of a picture in PNG the base64 text, of an error its class and message.
    """

    kind: Literal["text", "stderr", "error", "html", "svg", "png"]
    content: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of a vignette.

    Attributes
    ----------
    kind : {"prose", "code"}
    text : str
        Markdown, or code.
    line : int
        Of the source, from 1, where `text` begins.
    language : {"python", "bash"}
        Of code.
    alt : str
        What a figure of this cell shows, for those who do not see it.
    tags : tuple of str
    outputs : tuple of Output
        After the run.
    """

    kind: Literal["prose", "code"]
    text: str
    line: int
    language: Literal["python", "bash"] = "python"
    alt: str = ""
    tags: tuple[str, ...] = ()
    outputs: tuple[Output, ...] = ()

    @property
    def expressions(self) -> tuple[str, ...]:
        """What prose asks for, as in ``there are `{python} len(data)` rows``."""
        return tuple(_INLINE.findall(self.text)) if self.kind == "prose" else ()

    def filled(self, values: list[str]) -> Cell:
        """Prose with a text in the place of each of its expressions."""
        left = iter(values)
        return replace(self, text=_INLINE.sub(lambda _: next(left), self.text))


@dataclass(frozen=True, slots=True)
class Vignette:
    """A source, in the order of its cells."""

    path: Path
    cells: tuple[Cell, ...]

    def fails(self, cell: Cell, problem: str) -> VignetteError:
        """The error that names file, cell and problem."""
        number = self.cells.index(cell) + 1
        code = "\n".join(f"    {line}" for line in cell.text.strip().splitlines())
        told = problem.strip().replace("\n", "\n  ")
        place = f"{self.path.name}, line {cell.line}, cell {number} of {len(self.cells)}"
        shown = f"\n{code}" if cell.kind == "code" else ""
        return VignetteError(f"{place} ({cell.kind}) fails:{shown}\n  {told}")


def read_vignette(path: Path) -> Vignette:
    """Read a source in jupytext's Markdown format.

    Parameters
    ----------
    path : path
        Markdown in which blocks marked ``python`` or ``bash`` are cells. ``alt="..."`` and
        ``tags=["..."]`` may stand behind the mark.

    Returns
    -------
    Vignette
        Without outputs.

    Raises
    ------
    VignetteError
        If there is no such file, or a cell has a tag that nobody knows.
    """
    if not path.is_file():
        raise VignetteError(f"There is no vignette {path.name} in {path.parent}.")
    text = path.read_text(encoding="utf-8")
    cells = []
    end = 0
    for found in jupytext.reads(_HEADER + text, fmt="md").cells:
        source = found.source.removeprefix("%%bash\n")
        begin = text.find(source, end)
        end = begin + len(source)
        is_code = found.cell_type == "code"
        cell = Cell(
            kind="code" if is_code else "prose",
            text=source,
            line=text.count("\n", 0, begin) + 1,
            language="bash" if source != found.source else "python",
            alt=found.metadata.get("alt", ""),
            tags=tuple(found.metadata.get("tags", ())),
        )
        cells.append(cell)
    vignette = Vignette(path, tuple(cells))
    for cell in vignette.cells:
        unknown = [tag for tag in cell.tags if tag not in TAGS]
        if unknown:
            raise vignette.fails(cell, f"Unknown tag {unknown[0]!r}. Tags: {', '.join(TAGS)}.")
    return vignette
