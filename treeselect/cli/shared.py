"""What several commands share: arguments, and how tables and files are written."""

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
from treeselect.errors import OptionError
from treeselect.frames.csv_files import EncodedFile
from treeselect.shown import HIDDEN, shown
from treeselect.writing import check_place, write_file

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
        "--family", default="auto", help="auto, gaussian, binomial, multinomial, poisson or cox"
    )
    parser.add_argument("--weights", metavar="COLUMN", help="column with case weights")
    parser.add_argument("--offset", metavar="COLUMN", help="column with the offset")
    parser.add_argument(
        "--fold-groups",
        metavar="COLUMN",
        help="column whose groups of rows are kept together",
    )
    parser.add_argument(
        "--scoring",
        metavar="SCORE",
        help="a scorer of scikit-learn (neg_log_loss), or of times (uno_c)",
    )
    parser.add_argument(
        "--keep", metavar="TERM", action="append", help="a term that is always in; may be repeated"
    )
    parser.add_argument(
        "--label",
        metavar="NAME=LABEL",
        action="append",
        help="what a column or term is called in summary and report; may be repeated",
    )


def labels_of(options: argparse.Namespace) -> dict[str, str] | None:
    """The labels of :func:`add_problem`, by name; None without any.

    Raises
    ------
    OptionError
        If one of them is no name and label.
    """
    pairs = [text.partition("=") for text in options.label or []]
    for name, sign, _ in pairs:
        if not sign:
            raise OptionError(
                f"`--label` must be a name and a label.\n  Found: {described(name)}. Write, for"
                " example, `--label 'wbc=White blood cells (10^9/l)'`."
            )
    return {name.strip(): label for name, _, label in pairs} or None


def add_run(parser: argparse.ArgumentParser, *, seed: int | None) -> None:
    """Randomness and processes."""
    drawn = "drawn and printed" if seed is None else seed
    parser.add_argument("--seed", type=read_whole, default=seed, help=f"default: {drawn}")
    parser.add_argument("--jobs", "-j", type=read_whole, help="processes, -1 for all")


def add_checkpoint(parser: argparse.ArgumentParser, pieces: str) -> None:
    """Where finished pieces are saved."""
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help=f"save each finished {pieces} there, and take those that are there: the same command"
        " goes on where this one was stopped; needs --seed",
    )


def check_checkpoint(options: argparse.Namespace) -> None:
    """Raise an OptionError where a later command would find nothing of this one."""
    if options.checkpoint is not None and options.seed is None:
        raise OptionError(
            "`--checkpoint` needs `--seed`: another command draws another one, and would find"
            " nothing of this one."
        )


def end_stopped(*found: Any) -> None:
    """Exit as a stopped command does, after what was finished has been written, if any of the
    results is partial."""
    if any(result is not None and result.partial for result in found):
        raise KeyboardInterrupt


def read_whole(text: str) -> int | str:
    """A whole number if it is one, else the text, which is refused where numbers are checked."""
    try:
        return int(text)
    except ValueError:
        return text


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


_WRITTEN = {"report": "report", "save": "model", "json": "tables", "output": "predictions"}
"""What is written, by option."""


def check_places(**files: str | None) -> None:
    """Raise an OptionError if a file has no place where it is wanted: before the work, not after.

    Parameters
    ----------
    **files : str or None
        Paths by their options.
    """
    for option, path in files.items():
        if path:
            check_place(file_path(path, name=f"--{option}"), what=_WRITTEN[option])


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


def write_text(path: str, text: str, option: str) -> str:
    """Write the file of an option.

    Raises
    ------
    OptionError
        If it can't be written.
    """
    return str(write_file(Path(path), text, what=_WRITTEN[option]))


def put(*lines: str) -> None:
    """Print on standard output. Once its reader has gone (``| head -1``) nothing is printed.

    Raises
    ------
    OptionError
        If it can't be written to.
    """
    with _standard_output() as output:
        output.write("\n".join(lines) + "\n")


def end_output() -> None:
    """Hand over what was printed; raises as :func:`put` does."""
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
    """Python would try once more when it ends, and complain."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def print_written(files: Sequence[str]) -> None:
    """Say which files were written, below what was printed before."""
    if files:
        put("", *map(shown, files))
