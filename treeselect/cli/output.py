"""Output of the commands: text on standard output, tables as JSON, and files."""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from treeselect._version import __version__
from treeselect.arguments.checks import file_path, reason
from treeselect.errors import OptionError
from treeselect.shown import HIDDEN, shown
from treeselect.writing import check_place, write_file

if TYPE_CHECKING:
    import pandas as pd


def end_stopped(*found: Any) -> None:
    """Exit as a stopped command does if any result is partial; finished work has been written."""
    if any(result is not None and result.partial for result in found):
        raise KeyboardInterrupt


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table for JSON; missing and infinite values are null."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def _plain(value: Any) -> Any:
    import pandas as pd

    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


WRITTEN = {
    "report": "report",
    "save": "model",
    "json": "tables",
    "csv": "table",
    "output": "predictions",
    "save_config": "configuration",
}
"""What each option writes."""


def check_places(arguments: Mapping[str, Any], *names: str) -> None:
    """Raise an OptionError before the work starts if a file can't be written later.

    Parameters
    ----------
    arguments : mapping of str to object
        Paths by the names of their arguments, among others.
    *names : str
        These names; by default all that name a file to write.
    """
    for name in names or WRITTEN:
        if arguments.get(name):
            flag = f"--{name.replace('_', '-')}"
            check_place(file_path(arguments[name], name=flag), what=WRITTEN[name])


SCHEMA = 1
"""Version of the form of the JSON; keys may be added within a version, and none is removed."""


def json_text(tables: Mapping[str, Any]) -> str:
    """Tables and single values as JSON, with the versions of the package and of their form.

    Control characters are escaped as in JSON, so that every reader restores them.
    """
    import json

    versioned = {"treeselect": __version__, "schema": SCHEMA, **tables}
    text = json.dumps(versioned, indent=1, allow_nan=False, ensure_ascii=False)
    return "\n".join(HIDDEN.sub(_json_escape, line) for line in text.split("\n")) + "\n"


def _json_escape(found: re.Match[str]) -> str:
    import json

    return json.dumps(found[0])[1:-1]


def write_text(path: str, text: str, option: str) -> str:
    """Write the file of an option.

    Raises
    ------
    OptionError
        If it can't be written.
    """
    return str(write_file(Path(path), text, what=WRITTEN[option]))


def put(*lines: str) -> None:
    """Print on standard output; nothing once its reader has closed the pipe (``| head -1``).

    Raises
    ------
    OptionError
        If standard output can't be written to.
    """
    with _standard_output() as output:
        output.write("\n".join(lines) + "\n")


def end_output() -> None:
    """Flush standard output; raises as :func:`put` does."""
    if sys.stdout is not None:
        with _standard_output() as output:
            output.flush()


@contextlib.contextmanager
def _standard_output() -> Iterator[IO[str]]:
    if sys.stdout is None:
        raise OptionError("Can't write to standard output.\n  It is closed.")
    try:
        yield sys.stdout
    except OSError as error:
        _print_to_nowhere()
        if not isinstance(error, BrokenPipeError):  # files are still to be written then
            raise OptionError(f"Can't write to standard output.\n  {reason(error)}") from None


def _print_to_nowhere() -> None:
    """Otherwise Python would flush once more at exit and report an error."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def print_written(files: Sequence[str]) -> None:
    """List the files that were written, below the earlier output."""
    if files:
        put("", *map(shown, files))
