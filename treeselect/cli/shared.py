"""Shared by several commands: arguments, and writing of tables and files."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from treeselect._version import __version__
from treeselect.arguments.paths import file_path, reason
from treeselect.arguments.scalars import described
from treeselect.designs.weights import KINDS
from treeselect.errors import OptionError
from treeselect.frames.csv_files import EncodedFile
from treeselect.shown import HIDDEN, shown
from treeselect.writing import check_place, write_file

if TYPE_CHECKING:
    import pandas as pd


def add_data(parser: argparse.ArgumentParser) -> None:
    """The formula and the data."""
    parser.add_argument(
        "formula", metavar="FORMULA", help="model formula, for example 'y ~ . - id'"
    )
    add_file(parser)


def add_file(parser: argparse.ArgumentParser) -> None:
    """The data file and its encoding."""
    parser.add_argument("data", metavar="DATA", help="a .csv, .csv.gz, .parquet or .feather file")
    parser.add_argument(
        "--encoding", help="encoding of a CSV file, such as latin-1 or utf-16 (default: utf-8)"
    )


def data_of(options: argparse.Namespace) -> str | EncodedFile:
    """The file of :func:`add_file`.

    Raises
    ------
    OptionError
        If the encoding is unknown, or the file format fixes its encoding.
    """
    if options.encoding is None:
        return str(options.data)
    return EncodedFile(options.data, options.encoding)


def add_problem(parser: argparse.ArgumentParser) -> None:
    """Options of the model other than formula and data, and its score."""
    parser.add_argument(
        "--family",
        default="auto",
        help="auto (default), gaussian, binomial, multinomial, poisson or cox",
    )
    parser.add_argument("--weights", metavar="COLUMN", help="column with case weights")
    parser.add_argument(
        "--weights-kind", choices=KINDS, help="what the weights are; see the documentation"
    )
    parser.add_argument("--offset", metavar="COLUMN", help="column with the offset")
    parser.add_argument(
        "--fold-groups",
        metavar="COLUMN",
        help="column that identifies clusters of rows, which folds and resamples keep together",
    )
    parser.add_argument(
        "--scoring",
        metavar="SCORE",
        help="score: a scikit-learn scorer such as neg_log_loss or, for times to an event, uno_c",
    )
    parser.add_argument(
        "--keep",
        metavar="TERM",
        action="append",
        help="term that is always included; may be repeated",
    )
    parser.add_argument(
        "--label",
        metavar="NAME=LABEL",
        action="append",
        help="label of a column or term in summary and report; may be repeated",
    )


def labels_of(options: argparse.Namespace) -> dict[str, str] | None:
    """The labels of :func:`add_problem`, by name; None without any.

    Raises
    ------
    OptionError
        If one of them is not a name and a label.
    """
    pairs = [text.partition("=") for text in options.label or []]
    for name, sign, _ in pairs:
        if not sign:
            raise OptionError(
                f"`--label` must be NAME=LABEL.\n  Found: {described(name)}. Write, for"
                " example, `--label 'wbc=White blood cells (10^9/l)'`."
            )
    return {name.strip(): label for name, _, label in pairs} or None


def add_run(parser: argparse.ArgumentParser, *, seed: int | None) -> None:
    """Randomness and processes."""
    default = "random, and printed" if seed is None else seed
    parser.add_argument(
        "--seed", type=read_whole, default=seed, help=f"random seed (default: {default})"
    )
    parser.add_argument(
        "--jobs", "-j", type=read_whole, help="number of processes; -1 for all processors"
    )


def add_checkpoint(parser: argparse.ArgumentParser, pieces: str) -> None:
    """The folder for finished pieces."""
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help=f"save each finished {pieces} in FOLDER, so that repeating the command resumes where"
        " it was stopped; needs --seed",
    )


def check_checkpoint(options: argparse.Namespace) -> None:
    """Raise an OptionError if a repeated command could not reuse the saved pieces."""
    if options.checkpoint is not None and options.seed is None:
        raise OptionError(
            "`--checkpoint` needs `--seed`: without it each command draws a new seed and can't"
            " reuse saved work."
        )


def end_stopped(*found: Any) -> None:
    """Exit as a stopped command does if any result is partial; finished work has been written."""
    if any(result is not None and result.partial for result in found):
        raise KeyboardInterrupt


def read_whole(text: str) -> int | str:
    """A whole number if it is one; otherwise the text, which later checks refuse."""
    try:
        return int(text)
    except ValueError:
        return text


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


_WRITTEN = {"report": "report", "save": "model", "json": "tables", "output": "predictions"}
"""What each option writes."""


def check_places(**files: str | None) -> None:
    """Raise an OptionError before the work starts if a file can't be written later.

    Parameters
    ----------
    **files : str or None
        Paths by their options.
    """
    for option, path in files.items():
        if path:
            check_place(file_path(path, name=f"--{option}"), what=_WRITTEN[option])


def json_text(tables: Mapping[str, Any]) -> str:
    """Tables and single values as JSON, with the version of the package.

    Control characters are escaped as in JSON, so that every reader restores them.
    """
    import json

    versioned = {"treeselect": __version__, **tables}
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
    return str(write_file(Path(path), text, what=_WRITTEN[option]))


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
