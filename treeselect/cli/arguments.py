"""Flags: how the arguments of a call are typed in a shell, and how their text is read.

A flag has the name of the argument and no default: what is not given is left to the call. Signs
inside brackets and quotation marks do not divide, so that terms such as ``poly(x, 2)`` can be typed
as they are. A name that contains a comma, an equals sign or a lone bracket is put between double
quotes, in which a double quote is doubled, as in CSV files.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from treeselect.arguments.checks import described
from treeselect.errors import OptionError, quoted

# --- names, numbers and pairs --------------------------------------------------------------------

_OPEN = dict(zip(")]}", "([{", strict=True))


def split(text: str, sign: str, most: int = -1) -> list[str] | None:
    """Parts of a text between the signs outside brackets and quotation marks; None if a bracket or
    quotation mark is not closed.

    Examples
    --------
    >>> split('age,poly(dose, 2),"a,b"', ",")
    ['age', 'poly(dose, 2)', '"a,b"']
    """
    parts: list[str] = []
    inside: list[str] = []
    start, mark = 0, ""
    for place, letter in enumerate(text):
        if mark:
            mark = "" if letter == mark else mark
        elif letter in '"`':
            mark = letter
        elif letter in "([{":
            inside.append(letter)
        elif letter in _OPEN:
            if not inside or inside.pop() != _OPEN[letter]:
                return None
        elif letter == sign and not inside and len(parts) != most:
            parts.append(text[start:place])
            start = place + 1
            if len(parts) == most:  # the rest is text of any kind
                break
    else:
        if inside or mark:
            return None
    return [*parts, text[start:]]


def name(text: str) -> str:
    """A name without the blanks and the double quotes around it.

    Examples
    --------
    >>> name(' "5\\"\\" nail" ')
    '5" nail'
    """
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        return bare[1:-1].replace('""', '"')
    return bare


def read_whole(text: str) -> int | str:
    """A whole number if it is one; otherwise the text, which later checks refuse."""
    try:
        return int(text)
    except ValueError:
        return text


def read_number(text: str) -> int | float | str:
    """A number if it is one; otherwise the text, which later checks refuse."""
    found = read_whole(text)
    if isinstance(found, str):
        with contextlib.suppress(ValueError):
            return float(text)
    return found


def read_value(text: str) -> Any:
    """The value of a method's option: a number, true, false, none, a list or quoted text as in
    JSON; otherwise the text itself.

    Examples
    --------
    >>> [read_value(text) for text in ("5", "0.3", "true", "none", "[1, 2]", '"5"', "gini")]
    [5, 0.3, True, None, [1, 2], '5', 'gini']
    """
    bare = text.strip()
    plain = {"true": True, "false": False, "none": None}
    if bare.lower() in plain:
        return plain[bare.lower()]
    if bare.startswith(("[", '"')):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(bare)
    return read_number(bare)


def read_names(text: str) -> list[str] | str:
    """Comma-separated names; the text itself if a bracket or quotation mark is not closed."""
    parts = split(text, ",")
    return text if parts is None else [name(part) for part in parts]


def read_levels(flag: str, example: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"`{flag}` must be comma-separated numbers.\n  Found: {described(text)}. Write, for"
            f" example, `{flag} {example}`."
        ) from None


def pairs(
    texts: Iterable[str],
    flag: str,
    form: str,
    example: str,
    read: Callable[[str], Any] | None = None,
    *,
    last: bool = False,
) -> dict[str, Any]:
    """Names and what follows the first equals sign outside brackets and quotation marks, or the
    last sign of all: the text, or what is read of it, which must be none."""
    known: dict[str, Any] = {}
    for text in texts:
        found = text.rsplit("=", 1) if last else split(text, "=", most=1)
        if found is None or len(found) == 1 or not found[0].strip():
            raise _not_of(form, flag, text, example)
        key, value = name(found[0]), read(found[1]) if read else found[1]
        if key in known:
            raise OptionError(f"`{flag}` must name {quoted(key)} once.\n  Found: it twice.")
        if read and isinstance(value, str):
            raise _not_of(form, flag, text, example)
        known[key] = value
    return known


def _not_of(form: str, flag: str, text: str, example: str) -> OptionError:
    return OptionError(
        f"`{flag}` must be {form}.\n  Found: {described(text)}. Write, for example,"
        f" `{flag} {example}`. A name that contains a comma, an equals sign or a lone bracket needs"
        " double quotes around it."
    )


def read_codes(texts: Iterable[str]) -> list[Any] | dict[str, list[Any]]:
    """Codes for missing values: a list, or lists by column.

    Examples
    --------
    >>> read_codes(["?,-9", '"a=b"'])
    ['?', -9, '-9', 'a=b']
    >>> read_codes(["income=8", "smoker=unknown"])
    {'income': [8, '8'], 'smoker': ['unknown']}
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
    """Text between double quotes; otherwise what is typed, as a number too if it is one."""
    parts = [part.strip() for part in split(text, ",") or [text]]
    both = ([name(p)] if p.startswith('"') else [read_number(p), p] for p in parts)
    return list(dict.fromkeys(code for codes in both for code in codes))


def read_settings(
    texts: Iterable[str], form: str = "OPTION=VALUE", example: str = "gamma=0.3"
) -> dict[str, Any]:
    """Options of a method: names and values of any type."""
    return {key: read_value(text) for key, text in pairs(texts, "--set", form, example).items()}


# --- flags ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Flag:
    """An argument in a shell."""

    names: str  # as typed, separated by blanks
    help: str  # one sentence
    metavar: str | None = None  # stands for the value; None for a switch, --name and --no-name
    # From the text (or, if it may be repeated, a list of texts) to the value
    read: Callable[[Any], Any] = lambda text: text
    repeated: bool = False
    called: str = ""  # name of the argument in Python, if it is not that of the flag

    @property
    def argument(self) -> str:
        return self.called or self.names.split()[0].lstrip("-").replace("-", "_")


ENCODING = Flag("--encoding", "encoding of a CSV, Stata, SPSS or SAS file, such as latin-1 or"
                " utf-16 (default: utf-8, or what the file says)", "NAME")  # fmt: skip
SHEET = Flag("--sheet", "sheet of a workbook", "NAME")
READING = (ENCODING, SHEET)
"""How the data are read."""

PROBLEM = (
    Flag(
        "--family",
        "auto (default), gaussian, binomial, multinomial, ordinal, poisson or cox",
        "NAME",
    ),
    Flag("--weights", "column with case weights", "COLUMN"),
    Flag("--weights-kind", "what the weights are: frequency, sampling or precision (default: by"
         " their values)", "KIND"),
    Flag("--offset", "column with the offset", "COLUMN"),
    Flag("--groups", "terms that enter and leave the model together; may be repeated", "NAME=A,B",
         lambda texts: pairs(
             texts, "--groups", "NAME=A,B,...", "'blood panel=hb,wbc'", read_names), True),
    Flag("--costs", "cost of a term, variable or group (default: 1 each); may be repeated",
         "NAME=COST", lambda texts: pairs(
             texts, "--costs", "NAME=COST", "mri=40", read_number, last=True), True),
    Flag("--keep", "term that is always included; may be repeated", "TERM", repeated=True),
    Flag("--monotone", "term with which predictions must not decrease (1) or not increase (-1); may"
         " be repeated", "TERM=1|-1",
         lambda texts: pairs(
             texts, "--monotone", "TERM=1 or TERM=-1", "age=1", read_number, last=True), True),
    Flag("--model", "what predicts: stack, forest, boosting, glm or gam (default: that of the"
         " method)", "NAME"),
    Flag("--labels --label", "label of a column or term in summary and report; may be repeated",
         "NAME=LABEL", lambda texts: pairs(
             texts, "--labels", "NAME=LABEL", "'wbc=White blood cells (10^9/l)'"), True),
    Flag("--positive", "the positive one of two classes of the response", "CLASS"),
    Flag("--new-levels", "how prediction treats factor levels that are not in DATA: error"
         " (default), missing or other", "RULE"),
    Flag("--na", "codes for missing values, in all columns or in one; may be repeated",
         "CODE|NAME=CODE", read_codes, True),
    Flag("--missing", "missing values of terms: level (default), impute or drop", "RULE"),
    Flag("--rows", "most rows to select on, drawn in proportion to strata of the response (default:"
         " all rows of a file, 200000 of a folder or pattern of Parquet files)", "N", read_whole),
)  # fmt: skip
"""What is modelled."""

FOLDING = (
    Flag("--folds", "number of folds (default: 5)", "N", read_whole),
    Flag("--repeats", "number of repeats of the cross-validation, each with new folds (default: 1)",
         "R", read_whole),
    Flag("--fold-groups", "column that identifies clusters of rows, which folds and resamples keep"
         " together", "COLUMN"),
    Flag("--scoring", "score: a scikit-learn scorer such as neg_log_loss or, for times to an event,"
         " uno_c", "SCORE"),
)  # fmt: skip
"""How rows are held out and scored."""

SEED = Flag("--seed", "random seed (default: random, and printed)", "N", read_whole)
JOBS = Flag(
    "--jobs -j", "number of processes; -1 for all processors", "N", read_whole, called="n_jobs"
)
REPORT = Flag("--report", "write a report: HTML; FILE.md, FILE.docx for Markdown, Word", "FILE")
JSON = Flag("--json", "write the tables as JSON", "FILE")


def checkpoint(pieces: str) -> Flag:
    return Flag(
        "--checkpoint",
        f"save each finished {pieces} in FOLDER, so that repeating the command resumes where it was"
        " stopped; needs --seed",
        "FOLDER",
    )


def flags_in(groups: Mapping[str, Iterable[Flag]]) -> tuple[Flag, ...]:
    return tuple(flag for flags in groups.values() for flag in flags)


# --- what they say together ----------------------------------------------------------------------


def check_checkpoint(arguments: Mapping[str, Any]) -> None:
    """Raise an OptionError if a repeated command could not reuse the saved pieces."""
    if "checkpoint" in arguments and "seed" not in arguments:
        raise OptionError(
            "`--checkpoint` needs `--seed`: without it each command draws a new seed and can't"
            " reuse saved work."
        )


def data_of(arguments: Mapping[str, Any]) -> Any:
    """The file that is named by ``data``, ``encoding`` and ``sheet``."""
    how = [arguments.get(key) for key in ("encoding", "sheet")]
    if how == [None, None]:
        return arguments["data"]
    from treeselect.frames.files import DataFile

    return DataFile(arguments["data"], *how)
