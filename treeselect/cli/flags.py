"""Flags: how an argument of a call is typed in a shell, and how its text is read.

A flag has the name of the argument, so that the same names serve in the configuration file, and no
default: what is not given is left to the call.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Flag:
    """An argument in a shell.

    Attributes
    ----------
    argument : str
        Its name in Python and in the configuration file.
    names : tuple of str
        As they are typed.
    help : str
        One sentence for ``--help``.
    metavar : str or None
        What stands for the value; None for a switch, ``--name`` and ``--no-name``.
    read : callable
        From the text (or, if it may be repeated, a list of texts) to the value.
    repeated : bool
        Whether it may be given several times.
    alone : str or None
        The text it stands for without a value; None if it needs one.
    """

    argument: str
    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    read: Callable[[Any], Any] = lambda text: text
    repeated: bool = False
    alone: str | None = None


def add_flags(parser: argparse.ArgumentParser, groups: Mapping[str, Iterable[Flag]]) -> None:
    """Add flags to a parser under the headings of its help."""
    for title, flags in groups.items():
        group = parser.add_argument_group(title)
        for flag in flags:
            _add(group, flag)


def _add(group: Any, flag: Flag) -> None:
    how: dict[str, Any] = {"metavar": flag.metavar}
    if flag.metavar is None:
        how = {"action": argparse.BooleanOptionalAction}
    elif flag.repeated:
        how["action"] = "append"
    elif flag.alone is not None:
        how |= {"nargs": "?", "const": flag.alone}
    group.add_argument(
        *flag.names, dest=flag.argument, default=argparse.SUPPRESS, help=flag.help, **how
    )


def flags_in(groups: Mapping[str, Iterable[Flag]]) -> tuple[Flag, ...]:
    """All flags of a command."""
    return tuple(flag for flags in groups.values() for flag in flags)


def given(options: argparse.Namespace, flags: Iterable[Flag]) -> dict[str, Any]:
    """The values of the flags that were typed, by argument.

    Raises
    ------
    OptionError
        If the text of one can't be read.
    """
    typed = vars(options)
    return {f.argument: f.read(typed[f.argument]) for f in flags if f.argument in typed}
