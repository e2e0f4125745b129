"""``treeselect update``: a saved model, its data and what changes to a new selection."""

from __future__ import annotations

import argparse
from typing import Any

from treeselect.cli import select
from treeselect.cli.arguments import CONFIG, SAVE_CONFIG, add_data, check_data, data_of
from treeselect.cli.flags import Flag, add_flags, flags_in, given
from treeselect.cli.parser import command

FORMULA = Flag(
    "formula",
    ("--formula",),
    "new formula, in which . stands for the old terms or, to the left of ~, for the old response;"
    " for example '~ . - age'",
    "FORMULA",
)

FLAGS = {
    "formula": (FORMULA,),
    **{
        title: tuple(flag for flag in flags if flag not in (CONFIG, SAVE_CONFIG))
        for title, flags in select.FLAGS.items()
    },
}

EXAMPLES = """\
treeselect update trial.treeselect trial.csv --formula "~ . - age"
treeselect update trial.treeselect trial.csv -k 3 --save three.treeselect
treeselect update trial.treeselect later.csv --report later.html"""


def add_update(commands: Any) -> None:
    """Add the command to the parser."""
    update = command(
        commands,
        "update",
        "[options] MODEL DATA",
        "Repeat the selection of a saved model with another formula, other options or other data."
        " All that is not given, the seed included, is as in the model; defaults below are those"
        " of `treeselect select`.",
        EXAMPLES,
        short="repeat the selection of a saved model with changes",
    )
    update.add_argument("model", metavar="MODEL", help="a file written by --save")
    add_data(update, formula=False)
    add_flags(update, FLAGS)
    update.set_defaults(run=_update)


def _update(options: argparse.Namespace) -> None:
    from treeselect.loading import load

    asked = given(options, flags_in(FLAGS))
    if "data" in options:
        asked["data"] = options.data
    check_data(asked, options.usage)
    select.check(asked)
    fit = load(options.model)
    result = fit.update(asked.get("formula"), data=data_of(asked), **select.passed_on(asked))
    select.finish(asked, result, "update")
