"""Command line: arguments to calls of the package to summaries and reports."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Iterator, Sequence

from treeselect._version import __version__
from treeselect.cli.compare import add_compare
from treeselect.cli.demo import add_demo
from treeselect.cli.methods import add_methods
from treeselect.cli.output import end_output
from treeselect.cli.parser import CommandParser, Parser, fill
from treeselect.cli.predict import add_predict
from treeselect.cli.report import add_report
from treeselect.cli.select import add_select
from treeselect.cli.update import add_update
from treeselect.errors import TreeselectError, TreeselectWarning

REFUSED = 2
"""Exit code for wrong input, and for files that can't be read or written."""

STOPPED = 130
"""Exit code of a stopped command: 128 and the number of the signal, as shells have it."""

COMMANDS = (
    add_select, add_compare, add_update, add_predict, add_report, add_methods, add_demo,
)  # fmt: skip

_CODES = """\
exit codes:
  0    done
  1    a defect of treeselect: please report the error
  2    wrong input, or a file can't be read or written; the reason is on
       standard error, and existing files are unchanged
  130  stopped by Ctrl-C; finished results have been printed and written

`treeselect COMMAND --help` lists the options of a command."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, 2 or 130.

    Parameters
    ----------
    arguments : sequence of str, optional
        ``sys.argv[1:]`` by default.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # escape characters that the terminal can't encode
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with _short_warnings():
            _run(arguments)
    except TreeselectError as error:
        return _failed(str(error), REFUSED)
    except KeyboardInterrupt:
        return _failed("stopped.", STOPPED)
    except MemoryError:
        return _failed("there is not enough memory.", REFUSED)
    return 0


def _run(arguments: Sequence[str] | None) -> None:
    try:
        options = make_parser().parse_args(arguments)
        options.run(options)
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
            return f"treeselect: warning: {message}\n"
        return usual(message, category, *place, **line)

    warnings.formatwarning = short
    try:
        yield
    finally:
        warnings.formatwarning = usual


def make_parser() -> Parser:
    """The parser of all commands."""
    parser = Parser(
        prog="treeselect",
        usage="treeselect [-h] [--version] COMMAND ...",
        description=fill(
            "Which few of these variables carry the signal, and how stable is the answer?"
        ),
        examples=_CODES,
    )
    parser.add_argument("--version", action="version", version=f"treeselect {__version__}")
    commands = parser.add_subparsers(
        required=True,
        metavar="COMMAND",
        title="commands",
        prog="treeselect",
        parser_class=CommandParser,
    )
    for add in COMMANDS:
        add(commands)
    return parser
