"""Command line: arguments to :func:`treeselect.select` to a summary or a report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from treeselect._version import __version__
from treeselect.errors import TreeselectError

DEMO_FORMULA = "survived ~ . - name - ticket - cabin - boat - body - home_dest"
"""The raw passenger list without its identifiers and without what was recorded afterwards."""

_DEMO_SEED = 1912

_DEMO_FOLDS = 10
"""The standard error behind the choice of size is too noisy from five folds of 1,309 rows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code, 0 or 2.

    Parameters
    ----------
    arguments : sequence of str, optional
        ``sys.argv[1:]`` by default.
    """
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except TreeselectError as error:
        print(f"treeselect: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("treeselect: stopped.", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="treeselect",
        description="Which few of these variables carry the signal, and how stable is the answer?",
    )
    parser.add_argument("--version", action="version", version=f"treeselect {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    select = commands.add_parser(
        "select",
        help="select terms and print the summary",
        description="Select terms and print the summary.",
    )
    select.add_argument("formula", metavar="FORMULA", help="for example 'y ~ . - id'")
    select.add_argument("data", metavar="DATA", help="a .csv, .csv.gz or .parquet file")
    select.add_argument("--method", "-m", default="controlburn", help="see `treeselect methods`")
    select.add_argument(
        "-k", default="1se", type=_units, help="a whole number, 1se (the default) or best"
    )
    select.add_argument("--family", default="auto", help="auto, gaussian or binomial")
    select.add_argument("--weights", metavar="COLUMN", help="column with case weights")
    select.add_argument(
        "--keep", metavar="TERM", action="append", help="a term that is always in; may be repeated"
    )
    _add_common(select, resamples=0, seed=None)
    select.add_argument("--report", metavar="FILE.html", help="write an HTML report")
    select.set_defaults(run=_select)

    listed = commands.add_parser(
        "methods",
        help="list the methods",
        description="List the methods with their options and papers.",
    )
    listed.set_defaults(run=_methods)

    demo = commands.add_parser(
        "demo",
        help="the passengers of the Titanic: summary and titanic.html",
        description="Select terms for the survival of the Titanic's passengers, print the summary"
        " and write the report.",
    )
    _add_common(demo, resamples=100, seed=_DEMO_SEED)
    demo.set_defaults(jobs=-1)
    demo.add_argument("--report", metavar="FILE.html", default="titanic.html")
    demo.set_defaults(run=_demo)
    return parser


def _add_common(parser: argparse.ArgumentParser, *, resamples: int, seed: int | None) -> None:
    parser.add_argument(
        "--resamples",
        metavar="B",
        type=int,
        default=resamples,
        help=f"bootstrap resamples to assess stability on (default: {resamples})",
    )
    drawn = "drawn and printed" if seed is None else seed
    parser.add_argument("--seed", type=int, default=seed, help=f"default: {drawn}")
    parser.add_argument("--jobs", "-j", type=int, help="processes, -1 for all")


def _units(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text


def _select(options: argparse.Namespace) -> None:
    from treeselect.selection import select

    result = select(
        options.formula,
        options.data,
        method=options.method,
        k=options.k,
        family=options.family,
        weights=options.weights,
        keep=options.keep,
        resamples=options.resamples,
        seed=options.seed,
        n_jobs=options.jobs,
    )
    print(result.summary())
    if options.report:
        print(f"\nReport: {result.report(options.report)}")


def _methods(options: argparse.Namespace) -> None:
    from treeselect.algorithms.registry import methods

    for row in methods().itertuples():
        print(f"{row.method}: {row.title}\n  options: {row.options}\n  paper: {row.paper}")


def _demo(options: argparse.Namespace) -> None:
    from treeselect import datasets
    from treeselect.selection import select

    result = select(
        DEMO_FORMULA,
        datasets.load("titanic"),
        folds=_DEMO_FOLDS,
        resamples=options.resamples,
        seed=options.seed,
        n_jobs=options.jobs,
    )
    print(result.summary())
    print(f"\nReport: {result.report(options.report)}")
