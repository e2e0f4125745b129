"""``treeselect demo``: the passengers of the Titanic."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from treeselect.cli.arguments import JOBS, REPORT, SEED
from treeselect.cli.flags import add_flags, flags_in, given
from treeselect.cli.output import check_places, print_written, put
from treeselect.cli.parser import command
from treeselect.cli.select import RESAMPLES

DEMO_FORMULA = "survived ~ . - name - ticket - cabin - boat - body - home_dest"
"""The raw passenger list without identifiers and without columns recorded afterwards."""

_USUAL = {"seed": 1912, "n_jobs": -1, "report": "titanic.html"}

FLAGS = {
    "options": tuple(
        dataclasses.replace(flag, help=text)
        for flag, text in (
            (RESAMPLES, "number of half-samples (default: 20)"),
            (SEED, "random seed (default: 1912)"),
            (JOBS, "number of processes (default: -1, all processors)"),
            (REPORT, "file for the HTML report (default: titanic.html)"),
        )
    )
}

EXAMPLES = """\
treeselect demo
treeselect demo --resamples 50 --report passengers.html"""


def add_demo(commands: Any) -> None:
    """Add the command to the parser."""
    demo = command(
        commands,
        "demo",
        "[options]",
        "Select terms that predict the survival of the Titanic's passengers, print the summary and"
        " write the report.",
        EXAMPLES,
        short="analyse the passengers of the Titanic and write titanic.html",
    )
    add_flags(demo, FLAGS)
    demo.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> None:
    from treeselect import datasets
    from treeselect.selection import select

    asked = {**_USUAL, **given(options, flags_in(FLAGS))}
    check_places(asked)
    page = asked.pop("report")
    result = select(DEMO_FORMULA, datasets.load("titanic"), **asked)
    put(str(result.summary()))
    print_written([f"Report: {result.report(page)}"])
