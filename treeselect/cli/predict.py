"""``treeselect predict``: a saved model and new data to predictions as CSV."""

from __future__ import annotations

import argparse
from typing import Any

from treeselect.arguments.scalars import described
from treeselect.cli.arguments import ENCODING, data_of
from treeselect.cli.flags import Flag, add_flags, flags_in, given
from treeselect.cli.output import check_places, put, write_text
from treeselect.cli.parser import command
from treeselect.cli.spreadsheets import guard_formulas
from treeselect.errors import OptionError


def _times(text: str) -> list[float]:
    """Comma-separated numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"`--times` must be comma-separated numbers.\n  Found: {described(text)}. Write, for"
            " example, `--times 365,730`."
        ) from None


FLAGS = {
    "predictions": (
        Flag(
            "type",
            ("--type",),
            "response (default), link or class; for times to an event, also survival or"
            " cumulative_hazard",
            "TYPE",
        ),
        Flag(
            "times",
            ("--times",),
            "comma-separated times for --type survival and cumulative_hazard: one column for each",
            "T1,T2,...",
            _times,
        ),
        ENCODING,
    ),
    "output": (
        Flag(
            "output",
            ("--output", "-o"),
            "file for the predictions (default: standard output)",
            "FILE.csv",
            file="out",
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
    predict.add_argument("data", metavar="DATA", help="a data file, as for `treeselect select`")
    add_flags(predict, FLAGS)
    predict.set_defaults(run=_predict)


def _predict(options: argparse.Namespace) -> None:
    from treeselect.loading import load

    asked = {"data": options.data, **given(options, flags_in(FLAGS))}
    check_places(asked)
    how = {name: asked[name] for name in ("type", "times") if name in asked}
    fitted = load(options.model).predict(data_of(asked), **how)
    frame = fitted if fitted.ndim == 2 else fitted.to_frame()
    if asked.get("guard_formulas"):
        frame = guard_formulas(frame)
    text = frame.to_csv(index=False)
    if asked.get("output"):
        write_text(asked["output"], text, "output")
    else:
        put(text.removesuffix("\n"))
