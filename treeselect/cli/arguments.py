"""The flags of several commands. Their help states the defaults of :func:`treeselect.select`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from treeselect.arguments.checks import described
from treeselect.cli.flags import Flag
from treeselect.cli.words import (
    lists,
    name,
    numbers,
    pairs,
    read_number,
    read_value,
    read_whole,
    split,
)
from treeselect.errors import OptionError, quoted
from treeselect.frames.files import EncodedFile

# --- data ----------------------------------------------------------------------------------------

ENCODING = Flag(
    "encoding",
    ("--encoding",),
    "encoding of a CSV, Stata, SPSS or SAS file, such as latin-1 or utf-16 (default: utf-8, or"
    " what the file says)",
    "NAME",
)
SHEET = Flag("sheet", ("--sheet",), "sheet of a workbook", "NAME")
SQL = Flag(
    "sql",
    ("--sql",),
    "query in place of DATA, run by DuckDB, such as \"select * from 'x.parquet'\"; it can read"
    " every file that you can",
    "QUERY",
)
NA = Flag(
    "na",
    ("--na",),
    "codes for missing values, in all columns or in one; may be repeated",
    "CODE|NAME=CODE",
    lambda texts: read_codes(texts),
    repeated=True,
)
READING = (ENCODING, SHEET, SQL)
"""How the data are read."""

_DATA = (
    "a CSV, Parquet, Feather, Stata, SPSS, SAS or Excel file, a folder of Parquet files, or a"
    " pattern such as 'folder/*.parquet'"
)


def add_data(parser: argparse.ArgumentParser, *, formula: bool = True) -> None:
    """The formula and the data; either may be in the configuration file instead."""
    texts = {"formula": "model formula, for example 'y ~ . - id'"} if formula else {}
    for dest, text in (texts | {"data": _DATA}).items():
        parser.add_argument(
            dest, metavar=dest.upper(), nargs="?", default=argparse.SUPPRESS, help=text
        )


def check_data(arguments: Mapping[str, Any], usage: Callable[[str], object]) -> None:
    """Show the usage and exit if neither a file nor a query is given, or both."""
    if "data" not in arguments and "sql" not in arguments:
        usage("the following arguments are required: DATA (or --sql)")
    if "data" in arguments and "sql" in arguments:
        usage("DATA and --sql can't both be given")


def data_of(arguments: Mapping[str, Any]) -> Any:
    """The file, or the rows, that are named by ``data``, ``encoding``, ``sheet`` and ``sql``.

    Raises
    ------
    OptionError
        If these do not suit each other.
    DataError
        If a sheet or query can't be read.
    """
    if "sql" in arguments or "sheet" in arguments:
        from treeselect.frames.opening import read

        how = {key: arguments[key] for key in ("sql", "sheet", "encoding") if key in arguments}
        return read(arguments.get("data"), **how)
    if "encoding" not in arguments:
        return arguments["data"]
    return EncodedFile(str(arguments["data"]), str(arguments["encoding"]))


def read_codes(texts: Iterable[str]) -> list[Any] | dict[str, list[Any]]:
    """Codes for missing values: a list, or lists by column.

    Examples
    --------
    >>> read_codes(["?,-9", '"a=b"'])
    ['?', -9, 'a=b']
    >>> read_codes(["income=8,9", "smoker=unknown"])
    {'income': [8, 9], 'smoker': ['unknown']}
    """
    everywhere: list[Any] = []
    by_column: dict[str, list[Any]] = {}
    for text in texts:
        halves = split(text, "=", most=1) or [text]
        if len(halves) == 2 and halves[0].strip():
            by_column.setdefault(name(halves[0]), []).extend(_codes(halves[1]))
        else:
            everywhere += _codes(text)
    if everywhere and by_column:
        raise OptionError(
            "`--na` must give codes for all columns or by column, not both.\n"
            f"  Found: {described(everywhere[0])} without a column, and one of"
            f" {quoted(next(iter(by_column)))}. A code that contains an equals sign needs double"
            " quotes around it."
        )
    return by_column or everywhere


def _codes(text: str) -> list[Any]:
    return [
        name(part) if part.strip().startswith('"') else read_number(part.strip())
        for part in split(text, ",") or [text]
    ]


# --- the model -----------------------------------------------------------------------------------

FAMILY = Flag(
    "family",
    ("--family",),
    "auto (default), gaussian, binomial, multinomial, poisson or cox",
    "NAME",
)
WEIGHTS = Flag("weights", ("--weights",), "column with case weights", "COLUMN")
WEIGHTS_KIND = Flag(
    "weights_kind",
    ("--weights-kind",),
    "what the weights are: frequency, sampling or precision (default: by their values)",
    "KIND",
)
OFFSET = Flag("offset", ("--offset",), "column with the offset", "COLUMN")
GROUPS = Flag(
    "groups",
    ("--groups",),
    "terms that enter and leave the model together; may be repeated",
    "NAME=A,B",
    lambda texts: lists(texts, "--groups", "NAME=A,B,...", "'blood panel=hb,wbc'"),
    repeated=True,
)
COSTS = Flag(
    "costs",
    ("--costs",),
    "cost of a term, variable or group (default: 1 each); may be repeated",
    "NAME=COST",
    lambda texts: numbers(texts, "--costs", "NAME=COST", "mri=40"),
    repeated=True,
)
MONOTONE = Flag(
    "monotone",
    ("--monotone",),
    "term with which predictions must not decrease (1) or not increase (-1); may be repeated",
    "TERM=1|-1",
    lambda texts: numbers(texts, "--monotone", "TERM=1 or TERM=-1", "age=1"),
    repeated=True,
)
KEEP = Flag(
    "keep",
    ("--keep",),
    "term that is always included; may be repeated",
    "TERM",
    repeated=True,
)
LABELS = Flag(
    "labels",
    ("--labels", "--label"),
    "label of a column or term in summary and report; may be repeated",
    "NAME=LABEL",
    lambda texts: pairs(texts, "--labels", "NAME=LABEL", "'wbc=White blood cells (10^9/l)'"),
    repeated=True,
)
NEW_LEVELS = Flag(
    "new_levels",
    ("--new-levels",),
    "how prediction treats factor levels that are not in DATA: error (default), missing or other",
    "RULE",
)
ROWS = Flag(
    "rows",
    ("--rows",),
    "most rows to select on, drawn in proportion to strata of the response (default: all rows of a"
    " file, 200000 of a folder or pattern of Parquet files)",
    "N",
    read_whole,
)
PROBLEM = (
    FAMILY, WEIGHTS, WEIGHTS_KIND, OFFSET, GROUPS, COSTS, KEEP, MONOTONE, LABELS, NEW_LEVELS, NA,
    ROWS,
)  # fmt: skip
"""What is modelled."""

# --- cross-validation ----------------------------------------------------------------------------

FOLDS = Flag("folds", ("--folds",), "number of folds (default: 5)", "N", read_whole)
REPEATS = Flag(
    "repeats",
    ("--repeats",),
    "number of repeats of the cross-validation, each with new folds (default: 1)",
    "R",
    read_whole,
)
FOLD_GROUPS = Flag(
    "fold_groups",
    ("--fold-groups",),
    "column that identifies clusters of rows, which folds and resamples keep together",
    "COLUMN",
)
SCORING = Flag(
    "scoring",
    ("--scoring",),
    "score: a scikit-learn scorer such as neg_log_loss or, for times to an event, uno_c",
    "SCORE",
)
FOLDING = (FOLDS, REPEATS, FOLD_GROUPS, SCORING)
"""How rows are held out and scored."""

# --- computing -----------------------------------------------------------------------------------

SEED = Flag("seed", ("--seed",), "random seed (default: random, and printed)", "N", read_whole)
JOBS = Flag(
    "n_jobs", ("--jobs", "-j"), "number of processes; -1 for all processors", "N", read_whole
)


def checkpoint(pieces: str) -> Flag:
    """The folder for finished pieces."""
    return Flag(
        "checkpoint",
        ("--checkpoint",),
        f"save each finished {pieces} in FOLDER, so that repeating the command resumes where it was"
        " stopped; needs --seed",
        "FOLDER",
    )


def check_checkpoint(arguments: Mapping[str, Any]) -> None:
    """Raise an OptionError if a repeated command could not reuse the saved pieces."""
    if "checkpoint" in arguments and "seed" not in arguments:
        raise OptionError(
            "`--checkpoint` needs `--seed`: without it each command draws a new seed and can't"
            " reuse saved work."
        )


# --- methods and files ---------------------------------------------------------------------------


def read_settings(
    texts: Iterable[str], form: str = "OPTION=VALUE", example: str = "gamma=0.3"
) -> dict[str, Any]:
    """Options of a method: names and values of any type."""
    given = pairs(texts, "--set", form, example)
    return {option: read_value(text) for option, text in given.items()}


def without_none(settings: Any) -> Any:
    """The same with None for the text ``none``, which stands for it in TOML and in a shell."""
    if isinstance(settings, dict):
        return {key: without_none(value) for key, value in settings.items()}
    return None if isinstance(settings, str) and settings.lower() == "none" else settings


CONFIG = Flag(
    "config",
    ("--config",),
    "read arguments from FILE, written by --save-config or by hand; flags replace them",
    "FILE.toml",
)
SAVE_CONFIG = Flag(
    "save_config",
    ("--save-config",),
    "write all arguments, FORMULA, DATA and the seed to FILE, to repeat the study",
    "FILE.toml",
)
REPORT = Flag("report", ("--report",), "write a report: HTML, or Markdown for FILE.md", "FILE")
JSON = Flag(
    "json",
    ("--json",),
    "write the tables as JSON",
    "FILE",
)
