"""The parser of the command line: options and file names in any order, help that fits."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from treeselect.shown import shown

_NUMBER = re.compile(r"[+-]?\d+")


class Parser(argparse.ArgumentParser):
    """A parser whose error messages contain no control characters from the command line."""

    def __init__(self, *, examples: str = "", **how: Any) -> None:
        """`examples` are commands, shown below the help as they are."""
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **how)
        self.epilog = examples or None

    def error(self, message: str) -> NoReturn:
        super().error(shown(message))


class CommandParser(Parser):
    """The parser of one command."""

    _within = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options may stand between FORMULA and DATA, which the configuration file may have made
        optional, and ``--performance`` takes a number or nothing."""
        if self._within:  # as the method below does, once for options and once for the others
            return super().parse_known_args(args, namespace)
        self._within = True
        try:
            return self.parse_known_intermixed_args(self._with_numbers(args), namespace)
        finally:
            self._within = False

    def _with_numbers(self, args: Sequence[str]) -> list[str]:
        """The arguments with the value it stands for behind an option that has none; otherwise
        argparse would take the formula as its value."""
        optional = {
            name: action
            for action in self._actions
            if action.nargs == "?"
            for name in action.option_strings
        }
        found: list[str] = []
        for place, text in enumerate(args):
            if text == "--":
                return [*found, *args[place:]]
            found.append(text)
            following = args[place + 1] if place + 1 < len(args) else ""
            if len(text) > 3 and not _NUMBER.fullmatch(following):
                known = [action for name, action in optional.items() if name.startswith(text)]
                if known and not self._others_start(text, optional):
                    found[-1] = f"{known[0].option_strings[0]}={known[0].const}"
        return found

    def _others_start(self, text: str, optional: Any) -> bool:
        return any(name.startswith(text) for name in {*self._option_string_actions} - {*optional})


def command(
    commands: Any, name: str, usage: str, description: str, examples: str, *, short: str = ""
) -> CommandParser:
    """Add the parser of a command.

    Parameters
    ----------
    commands : argparse action of sub-commands
    name, usage, description, examples : str
        Examples are one command each line.
    short : str
        Help in the list of commands; by default the description.
    """
    made: CommandParser = commands.add_parser(
        name,
        usage=f"treeselect {name} {usage}",
        help=short or description,
        description=fill(description),
        examples="examples:\n" + "\n".join(f"  {line}" for line in examples.splitlines()),
        allow_abbrev=True,
    )
    made.set_defaults(usage=made.error)
    return made


def fill(text: str) -> str:
    """A paragraph as wide as the terminal, at most 80 columns."""
    import shutil
    import textwrap

    return textwrap.fill(text, max(20, min(shutil.get_terminal_size().columns, 80) - 2))
