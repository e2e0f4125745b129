"""The flags of several commands. Their help states the defaults of :func:`treeselect.select`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any

from treeselect.cli.flags import Flag
from treeselect.cli.words import lists, numbers, pairs, read_value, read_whole
from treeselect.errors import OptionError
from treeselect.frames.csv_files import EncodedFile

# --- data ----------------------------------------------------------------------------------------

ENCODING = Flag(
    "encoding",
    ("--encoding",),
    "encoding of a CSV file, such as latin-1 or utf-16 (default: utf-8)",
    "NAME",
)


def add_data(parser: argparse.ArgumentParser) -> None:
    """The formula and the data; either may be in the configuration file instead."""
    for dest, text in (
        ("formula", "model formula, for example 'y ~ . - id'"),
        ("data", "a .csv, .csv.gz, .parquet or .feather file"),
    ):
        parser.add_argument(
            dest, metavar=dest.upper(), nargs="?", default=argparse.SUPPRESS, help=text
        )


def data_of(arguments: Mapping[str, Any]) -> Any:
    """The file that is named by ``data`` and ``encoding``.

    Raises
    ------
    OptionError
        If the encoding is unknown, or the file format fixes its encoding.
    """
    if "encoding" not in arguments:
        return arguments["data"]
    return EncodedFile(str(arguments["data"]), str(arguments["encoding"]))


# --- the model -----------------------------------------------------------------------------------

FAMILY = Flag(
    "family",
    ("--family",),
    "auto (default), gaussian, binomial, multinomial, poisson or cox",
    "NAME",
)
WEIGHTS = Flag("weights", ("--weights",), "column with case weights", "COLUMN")
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
PROBLEM = (FAMILY, WEIGHTS, OFFSET, GROUPS, COSTS, KEEP, LABELS, NEW_LEVELS)
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
        file="folder",
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
    return {name: read_value(text) for name, text in given.items()}


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
    file="in",
)
SAVE_CONFIG = Flag(
    "save_config",
    ("--save-config",),
    "write all arguments, FORMULA, DATA and the seed to FILE, to repeat the study",
    "FILE.toml",
    file="out",
)
REPORT = Flag("report", ("--report",), "write an HTML report", "FILE.html", file="out")
JSON = Flag(
    "json",
    ("--json",),
    "write the tables as JSON, as described by `treeselect schema`",
    "FILE",
    file="out",
)
