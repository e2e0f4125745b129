"""Writes the completion scripts: ``python tests/cli/completions.py``, after a flag has changed."""

from __future__ import annotations

import argparse

import shtab

from treeselect.cli import compare, completion, demo, methods, predict, report, select, update
from treeselect.cli.flags import flags_in
from treeselect.cli.main import make_parser

MODULES = (select, compare, predict, report, methods, demo, update)
FILES = {"in": shtab.FILE, "out": shtab.FILE, "folder": shtab.DIRECTORY}
PLACES = {"data": shtab.FILE, "model": shtab.FILE}


def script(shell: str) -> str:
    """The completion script of a shell."""
    parser = make_parser()
    files = {f.argument: FILES[f.file] for m in MODULES for f in flags_in(m.FLAGS) if f.file}
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    for command in commands.choices.values():
        command.usage = None  # shtab reads the description, which must be on one line
        command.description = " ".join(command.description.split())
        for action in command._actions:
            known = files | PLACES if not action.option_strings else files
            if action.dest in known:
                action.complete = known[action.dest]
    return shtab.complete(parser, shell=shell).rstrip("\n") + "\n"


if __name__ == "__main__":
    for name in completion.SHELLS:
        completion.script_path(name).write_text(script(name), encoding="utf-8")
