"""``treeselect predict``: a saved model and new data to predictions as CSV."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import described
from treeselect.cli.arguments import READING, add_data, check_data, data_of
from treeselect.cli.flags import Flag, add_flags, flags_in, given
from treeselect.cli.output import check_places, put, write_text
from treeselect.cli.parser import command
from treeselect.cli.words import read_number
from treeselect.errors import OptionError
from treeselect.shown import guarded

if TYPE_CHECKING:
    import pandas as pd


def _numbers(text: str, flag: str, example: str) -> list[float]:
    """Comma-separated numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"`{flag}` must be comma-separated numbers.\n  Found: {described(text)}. Write, for"
            f" example, `{flag} {example}`."
        ) from None


FLAGS = {
    "predictions": (
        Flag(
            "type",
            ("--type",),
            "response (default), link or class; quantile for a numeric response; survival or"
            " cumulative_hazard for times to an event",
            "TYPE",
        ),
        Flag(
            "times",
            ("--times",),
            "comma-separated times for --type survival and cumulative_hazard: one column for each",
            "T1,T2,...",
            lambda text: _numbers(text, "--times", "365,730"),
        ),
        Flag(
            "quantiles",
            ("--quantiles",),
            "comma-separated levels for --type quantile (default: 0.05,0.5,0.95)",
            "Q1,Q2,...",
            lambda text: _numbers(text, "--quantiles", "0.1,0.9"),
        ),
        Flag(
            "interval",
            ("--interval",),
            "prediction: a prediction interval of a numeric response",
            "KIND",
        ),
        Flag(
            "level",
            ("--level",),
            "coverage of the interval (default: 0.95)",
            "LEVEL",
            read_number,
        ),
    ),
    "data": READING,
    "output": (
        Flag(
            "output",
            ("--output", "-o"),
            "file for the predictions (default: standard output)",
            "FILE.csv",
        ),
        Flag(
            "guard_formulas",
            ("--guard-formulas",),
            "put an apostrophe before labels and names that begin with =, +, -, @, a tab or a"
            " carriage return, so that no spreadsheet runs them as formulas; numbers are unchanged"
            " (default: labels are written unchanged)",
        ),
    ),
}

_PASSED = ("type", "times", "quantiles", "interval", "level")

EXAMPLES = """\
treeselect predict trial.treeselect new.csv > predicted.csv
treeselect predict trial.treeselect new.csv --type class -o predicted.csv
treeselect predict trial.treeselect new.csv --type survival --times 365,730"""


def add_predict(commands: Any) -> None:
    """Add the command to the parser."""
    predict = command(
        commands,
        "predict",
        "[options] MODEL DATA",
        "Predict new data from a model saved by `treeselect select --save`. Prints CSV with one"
        " line for each row of the data.",
        EXAMPLES,
        short="predict new data from a saved model",
    )
    predict.add_argument("model", metavar="MODEL", help="a file written by --save")
    add_data(predict, formula=False)
    add_flags(predict, FLAGS)
    predict.set_defaults(run=_predict)


def _predict(options: argparse.Namespace) -> None:
    from treeselect.loading import load

    asked = given(options, flags_in(FLAGS))
    if "data" in options:
        asked["data"] = options.data
    check_data(asked, options.usage)
    check_places(asked)
    how = {name: asked[name] for name in _PASSED if name in asked}
    fitted = load(options.model).predict(data_of(asked), **how)
    frame = fitted if fitted.ndim == 2 else fitted.to_frame()
    if asked.get("guard_formulas"):
        frame = guard_formulas(frame)
    text = frame.to_csv(index=False)
    if asked.get("output"):
        write_text(asked["output"], text, "output")
    else:
        put(text.removesuffix("\n"))


def guard_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with names and texts ``shown.guarded``; numbers are unchanged."""
    done = frame.rename(columns=lambda name: guarded(str(name)))
    for j in range(done.shape[1]):
        column = done.iloc[:, j]
        if column.dtype.kind not in "biufc":
            texts = [guarded(v) if isinstance(v, str) else v for v in column.astype(object)]
            done.isetitem(j, texts)
    return done
