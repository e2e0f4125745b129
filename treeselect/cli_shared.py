"""What several commands share: arguments, and how tables and files are written."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeselect._version import __version__
from treeselect.csv_files import EncodedFile
from treeselect.errors import OptionError, quoted
from treeselect.shown import HIDDEN, shown

if TYPE_CHECKING:
    import pandas as pd


def add_data(parser: argparse.ArgumentParser) -> None:
    """The formula and the data."""
    parser.add_argument("formula", metavar="FORMULA", help="for example 'y ~ . - id'")
    add_file(parser)


def add_file(parser: argparse.ArgumentParser) -> None:
    """The file with the data, and how its text is written."""
    parser.add_argument("data", metavar="DATA", help="a .csv, .csv.gz, .parquet or .feather file")
    parser.add_argument(
        "--encoding", help="that of a CSV file, such as latin-1 or utf-16 (default: utf-8)"
    )


def data_of(options: argparse.Namespace) -> str | EncodedFile:
    """The file of :func:`add_file`.

    Raises
    ------
    OptionError
        If the encoding is not known, or the file has its own.
    """
    if options.encoding is None:
        return str(options.data)
    return EncodedFile(options.data, options.encoding)


def add_problem(parser: argparse.ArgumentParser) -> None:
    """What is modelled, apart from formula and data, and how it is scored."""
    parser.add_argument(
        "--family", default="auto", help="auto, gaussian, binomial, multinomial or poisson"
    )
    parser.add_argument("--weights", metavar="COLUMN", help="column with case weights")
    parser.add_argument("--offset", metavar="COLUMN", help="column with the offset")
    parser.add_argument(
        "--fold-groups",
        metavar="COLUMN",
        help="column whose groups of rows are kept together",
    )
    parser.add_argument(
        "--scoring", metavar="SCORE", help="a scorer of scikit-learn, such as neg_log_loss"
    )
    parser.add_argument(
        "--keep", metavar="TERM", action="append", help="a term that is always in; may be repeated"
    )


def add_run(parser: argparse.ArgumentParser, *, seed: int | None) -> None:
    """Randomness and processes."""
    drawn = "drawn and printed" if seed is None else seed
    parser.add_argument("--seed", type=int, default=seed, help=f"default: {drawn}")
    parser.add_argument("--jobs", "-j", type=int, help="processes, -1 for all")


def read_size(text: str) -> int | str:
    """A whole number if it is one, else the text."""
    return int(text) if text.lstrip("-").isdigit() else text


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table for JSON; what is missing or infinite is null."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def _plain(value: Any) -> Any:
    import pandas as pd

    if value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def check_places(**files: str | None) -> None:
    """Raise an OptionError if a file has no place where it is wanted: before the work, not after.

    Parameters
    ----------
    **files : str or None
        Paths by what is written there.
    """
    for what, path in files.items():
        if path and (Path(path).is_dir() or not Path(path).parent.is_dir()):
            folder = quoted(str(Path(path).parent))
            found = "It is a folder." if Path(path).is_dir() else f"Can't find the folder {folder}."
            raise OptionError(f"Can't write the {what} {quoted(path)}.\n  {found}")


def json_text(tables: Mapping[str, Any]) -> str:
    """Tables and single values as JSON, with the version that they come from.

    Control characters are escaped as JSON does it, so that every reader gets them back.
    """
    import json

    versioned = {"treeselect": __version__, **tables}
    text = json.dumps(versioned, indent=1, allow_nan=False, ensure_ascii=False)
    return "\n".join(HIDDEN.sub(_json_escape, line) for line in text.split("\n")) + "\n"


def _json_escape(found: re.Match[str]) -> str:
    import json

    return json.dumps(found[0])[1:-1]


def write_text(path: str, text: str) -> str:
    """Write a file; half a character, which UTF-8 can't hold, as its escape.

    Raises
    ------
    OptionError
        If it can't be written.
    """
    try:
        Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise OptionError(f"Can't write {quoted(path)}.\n  {error}") from None
    return path


def print_written(files: Sequence[str]) -> None:
    """Say which files were written, below what was printed before."""
    if files:
        print("", *map(shown, files), sep="\n")
