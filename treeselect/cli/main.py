"""Command line: arguments to calls of the package to summaries and reports."""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from treeselect._version import __version__
from treeselect.cli.arguments import flags_in
from treeselect.cli.commands import COMMANDS, Command
from treeselect.cli.output import end_output
from treeselect.errors import TreeselectError, TreeselectWarning
from treeselect.shown import shown

REFUSED = 2
"""Exit code for wrong input, and for files that can't be read or written."""

STOPPED = 130
"""Exit code of a stopped command: 128 and the number of the signal, as shells have it."""

_CODES = """\
exit codes:
  0    done
  1    a defect of treeselect: please report the error
  2    wrong input, or a file can't be read or written; the reason is on
       standard error, and existing files are unchanged
  130  stopped by Ctrl-C; finished results have been printed and written

`treeselect COMMAND --help` lists the options of a command."""

_PLACES = {
    "formula": "model formula, for example 'y ~ . - id'",
    "saved": "a file written by --save",
    "data": "a CSV, Parquet, Feather, Stata, SPSS, SAS or Excel file, a folder of Parquet files, or"
    " a pattern such as 'folder/*.parquet'",
    "name": "a method whose options and paper are shown",
}
"""What is given by its place."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 2 or 130."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # escape characters that the terminal can't encode
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with _short_warnings():
            _run(arguments)
    except TreeselectError as error:
        return _failed(_as_typed(str(error)), REFUSED)
    except KeyboardInterrupt:
        return _failed("stopped.", STOPPED)
    except MemoryError:
        return _failed("there is not enough memory.", REFUSED)
    return 0


def _run(arguments: Sequence[str] | None) -> None:
    try:
        typed = vars(make_parser().parse_args(arguments))
        command = typed.pop("command")
        flags = flags_in(command.flags)
        texts = {flag.argument: flag.read for flag in flags}
        given = {  # argparse takes `--` out of what is given
            key: ["--" if part == [] else part for part in own] or "--"
            if isinstance(own, list) else own for key, own in typed.items()
        }  # fmt: skip
        command.run({key: texts.get(key, str)(value) for key, value in given.items()})
    finally:
        end_output()


def _failed(said: str, code: int) -> int:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):  # there is nowhere left to print it
            print(f"treeselect: {said}", file=sys.stderr)
    return code


@contextlib.contextmanager
def _short_warnings() -> Iterator[None]:
    """Warnings of the package without the place in its code where they arise."""
    usual = warnings.formatwarning

    def short(message, category, *place, **line):  # type: ignore[no-untyped-def]
        if issubclass(category, TreeselectWarning):
            return f"treeselect: warning: {_as_typed(str(message))}\n"
        return usual(message, category, *place, **line)

    warnings.formatwarning = short
    try:
        yield
    finally:
        warnings.formatwarning = usual


def _as_typed(text: str) -> str:
    """A message of the package with the arguments and values that a command takes as typed there;
    those of other calls stay as they are."""
    flags = {flag.argument: flag for c in reversed(COMMANDS) for flag in flags_in(c.flags)}

    def typed(found: re.Match[str]) -> str:
        flag, value = flags.get(found[1]), found[2]
        if flag is None or not (value == "True" or value.isdigit() or value in flag.help):
            return found[0]
        first = flag.names.split()[0]
        return f"`{first}`" if flag.metavar is None else f"`{first} {value}`"

    return re.sub(r'`(\w+)="?([\w.]+)"?`', typed, text)


# --- the parser: options and file names in any order, help that fits -----------------------------


_WAY_OUT = """
  `treeselect COMMAND --help` lists the options; one of a method is written `--set gamma=0.3`."""


class Parser(argparse.ArgumentParser):
    """A parser whose error messages contain no control characters from the command line."""

    def error(self, message: str) -> NoReturn:
        unknown = message.startswith("unrecognized")
        super().error(shown(message) + _WAY_OUT * unknown)


class CommandParser(Parser):
    """The parser of one command."""

    _within = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options may stand between FORMULA and DATA."""
        if self._within:  # as the method below does, once for options and once for the others
            return super().parse_known_args(args, namespace)
        self._within = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._within = False


def make_parser() -> Parser:
    parser = Parser(
        prog="treeselect",
        usage="treeselect [-h] [--version] COMMAND ...",
        description=_filled(
            "Which few of these variables carry the signal, and how stable is the answer?"
        ),
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"treeselect {__version__}")
    commands = parser.add_subparsers(
        required=True, metavar="COMMAND", title="commands", prog="treeselect",
        parser_class=CommandParser,
    )  # fmt: skip
    for command in COMMANDS:
        _add(commands, command)
    return parser


def _add(commands: Any, command: Command) -> None:
    # `--model` is an option of some commands, so the place of a model has another name.
    shown = {place: "MODEL" if place == "saved" else place.upper() for place in command.places}
    places = " ".join(f"[{text}]" if place == "name" else text for place, text in shown.items())
    made = commands.add_parser(
        command.name,
        usage=f"treeselect {command.name} [options] {places}".rstrip(),
        help=command.short,
        description=_filled(command.description),
        epilog="\n".join(["examples:", *(f"  {line}" for line in command.examples)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
    )
    made.set_defaults(command=command)
    made._negative_number_matcher = re.compile(r"-\.?\d")  # also the first of several: --na -9,-8
    for dest, text in shown.items():
        nargs = "?" if dest == "name" else None
        made.add_argument(dest, metavar=text, nargs=nargs, help=_PLACES[dest])
    for title, flags in command.flags.items():
        group = made.add_argument_group(title)
        for flag in flags:
            how: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
            if flag.metavar is not None:
                action = "append" if flag.repeated else "store"
                how = {"metavar": flag.metavar, "action": action}
            group.add_argument(*flag.names.split(), dest=flag.argument, help=flag.help, **how)


def _filled(text: str) -> str:
    """A paragraph as wide as the terminal, at most 80 columns."""
    return textwrap.fill(text, max(20, min(shutil.get_terminal_size().columns, 80) - 2))
