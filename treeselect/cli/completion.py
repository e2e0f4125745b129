"""``treeselect completion``: what shells need to complete commands, flags and file names.

The scripts are written by shtab from the parser (``python tests/cli/completions.py``) and shipped,
so that users need no further package and a shell starts no Python.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from treeselect.cli.output import put
from treeselect.cli.parser import command

SHELLS = ("bash", "zsh", "fish")

EXAMPLES = """\
source <(treeselect completion bash)
treeselect completion bash >> ~/.bash_completion
treeselect completion zsh > ~/.zfunc/_treeselect
treeselect completion fish > ~/.config/fish/completions/treeselect.fish"""


def script_path(shell: str) -> Path:
    """The script for a shell."""
    return Path(__file__).with_name("completions") / f"treeselect.{shell}"


def add_completion(commands: Any) -> None:
    """Add the command to the parser."""
    completion = command(
        commands,
        "completion",
        "SHELL",
        "Print a script with which a shell completes commands, options and file names.",
        EXAMPLES,
        short="print the completion script of a shell",
    )
    completion.add_argument(
        "shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}"
    )
    completion.set_defaults(run=_completion)


def _completion(options: argparse.Namespace) -> None:
    put(script_path(options.shell).read_text(encoding="utf-8").removesuffix("\n"))
