"""``treeselect schema``: the form of the JSON that ``--json`` writes, as JSON Schema."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from treeselect.cli.output import put
from treeselect.cli.parser import command

NAMES = ("select", "compare", "methods")

EXAMPLES = """\
treeselect schema select
treeselect schema compare > compare.schema.json"""


def schema_text(name: str) -> str:
    """The schema of a command's JSON."""
    path = Path(__file__).with_name("schemas") / f"{name}.json"
    return path.read_text(encoding="utf-8")


def add_schema(commands: Any) -> None:
    """Add the command to the parser."""
    schema = command(
        commands,
        "schema",
        "COMMAND",
        "Print the JSON Schema of the file that `--json` of a command writes.",
        EXAMPLES,
        short="describe the JSON of a command",
    )
    schema.add_argument("of", metavar="COMMAND", choices=NAMES, help=f"one of {', '.join(NAMES)}")
    schema.set_defaults(run=_schema)


def _schema(options: argparse.Namespace) -> None:
    put(schema_text(options.of).removesuffix("\n"))
