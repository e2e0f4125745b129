"""``treeselect methods``: the methods with their options and papers."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from typing import TYPE_CHECKING, Any

from treeselect.cli.flags import Flag, add_flags, flags_in, given
from treeselect.cli.output import (
    check_places,
    json_text,
    print_written,
    put,
    records,
    write_text,
)
from treeselect.cli.parser import command

if TYPE_CHECKING:
    import pandas as pd

FLAGS = {
    "output": (
        Flag("json", ("--json",), "write the full table as JSON", "FILE"),
        Flag("csv", ("--csv",), "write the full table as CSV", "FILE"),
    )
}

EXAMPLES = """\
treeselect methods
treeselect methods grrf
treeselect methods --csv methods.csv"""


def add_methods(commands: Any) -> None:
    """Add the command to the parser."""
    listed = command(
        commands,
        "methods",
        "[options] [NAME]",
        "List the methods, or show one of them with its options, their defaults and its paper.",
        EXAMPLES,
        short="list the methods",
    )
    listed.add_argument(
        "name", metavar="NAME", nargs="?", help="a method whose options and paper are shown"
    )
    add_flags(listed, FLAGS)
    listed.set_defaults(run=_methods)


def _methods(options: argparse.Namespace) -> None:
    from treeselect.algorithms.registry import find_method, methods

    asked = given(options, flags_in(FLAGS))
    check_places(asked)
    table, width = methods(), max(shutil.get_terminal_size().columns, 20)
    if options.name is not None:
        table = table[table["method"] == find_method(options.name, {}).name]
    put("\n".join(_listed(table, width) if options.name is None else _full(table, width)))
    written = []
    if "json" in asked:
        tables = json_text({"methods": records(table)})
        written.append(f"Tables: {write_text(asked['json'], tables, 'json')}")
    if "csv" in asked:
        text = table.to_csv(index=False)
        written.append(f"Table: {write_text(asked['csv'], text, 'csv')}")
    print_written(written)


def _listed(table: pd.DataFrame, width: int) -> list[str]:
    """Names and titles in two columns."""
    first = max(map(len, table["method"])) + 2
    lines: list[str] = []
    for row in table.itertuples():
        lines += textwrap.wrap(
            f"{row.method:{first}}{row.title}", width, subsequent_indent=" " * first
        )
    said = "Options and paper of a method: treeselect methods NAME"
    return [*lines, "", *textwrap.wrap(said, width)]


def _full(table: pd.DataFrame, width: int) -> list[str]:
    """Title, options and paper of each method."""
    lines: list[str] = []
    for row in table.itertuples():
        lines += textwrap.wrap(f"{row.method}: {row.title}", width, subsequent_indent="  ")
        for head, said in (("options", row.options), ("paper", row.paper)):
            lines += textwrap.wrap(
                f"{head}: {said}",
                width,
                initial_indent="  ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )
    return lines
