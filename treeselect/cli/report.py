"""``treeselect report``: a saved model to a report."""

from __future__ import annotations

import argparse
from typing import Any

from treeselect.cli.flags import Flag, add_flags, flags_in, given
from treeselect.cli.output import check_places, put
from treeselect.cli.parser import command
from treeselect.cli.words import read_names, read_whole
from treeselect.shown import shown

FLAGS = {
    "report": (
        Flag(
            "report",
            ("--output", "-o"),
            "file to write: HTML, or Markdown for FILE.md (default: report.html)",
            "FILE",
        ),
        Flag(
            "sections",
            ("--sections",),
            "comma-separated sections below the first screen, in this order (default: all that"
            " apply)",
            "A,B,...",
            read_names,
        ),
        Flag("digits", ("--digits",), "number of printed digits, 1 to 10", "N", read_whole),
    )
}

EXAMPLES = """\
treeselect report trial.treeselect
treeselect report trial.treeselect -o trial.html --sections terms,path"""


def add_report(commands: Any) -> None:
    """Add the command to the parser."""
    report = command(
        commands,
        "report",
        "[options] MODEL",
        "Write the report of a model saved by `treeselect select --save`.",
        EXAMPLES,
        short="write the report of a saved model",
    )
    report.add_argument("model", metavar="MODEL", help="a file written by --save")
    add_flags(report, FLAGS)
    report.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> None:
    from treeselect.loading import load

    asked = {"report": "report.html", **given(options, flags_in(FLAGS))}
    check_places(asked)
    page = load(options.model).report(
        asked["report"], sections=asked.get("sections"), digits=asked.get("digits")
    )
    put(shown(f"Report: {page}"))
