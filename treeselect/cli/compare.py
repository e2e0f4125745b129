"""``treeselect compare``: arguments to :func:`treeselect.compare` to a summary or a report."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import USUAL_METHOD, USUAL_SIZE
from treeselect.cli.shared import (
    add_checkpoint,
    add_data,
    add_problem,
    add_run,
    check_checkpoint,
    check_places,
    data_of,
    end_stopped,
    json_text,
    labels_of,
    print_written,
    put,
    read_whole,
    records,
    write_text,
)

if TYPE_CHECKING:
    from treeselect.comparing import Comparison

DEFAULT_METHODS = (USUAL_METHOD, "controlburn", "rrf", "grrf", "gbfs", "lasso", "importance")
"""The default method, one method of each paper, the linear model, and the most common ranking."""


def add_compare(commands: Any) -> None:
    """Add the command to the parser."""
    compare = commands.add_parser(
        "compare",
        help="compare methods on the same folds",
        description="Compare methods on the same folds: score against number of terms, paired"
        " differences, stability and computing time. Every method repeats its selection on the"
        " training rows of each fold.",
    )
    add_data(compare)
    compare.add_argument(
        "--methods",
        "-m",
        metavar="A,B,C",
        default=",".join(DEFAULT_METHODS),
        help="methods listed by `treeselect methods`, comma-separated (default: %(default)s)",
    )
    compare.add_argument(
        "-k",
        default=USUAL_SIZE,
        type=_sizes,
        help="number of terms at which methods are compared: chosen for each method by 1se"
        " (default) or best, one whole number for all, or a list of sizes to score such as 3,5,10",
    )
    compare.add_argument(
        "--folds", metavar="N", type=read_whole, default=5, help="number of folds (default: 5)"
    )
    compare.add_argument(
        "--repeats",
        metavar="R",
        type=read_whole,
        default=1,
        help="repeat the cross-validation R times with new folds (default: 1)",
    )
    add_problem(compare)
    add_run(compare, seed=None)
    add_checkpoint(compare, "combination of method and fold")
    compare.add_argument("--report", metavar="FILE.html", help="write an HTML report")
    compare.add_argument("--json", metavar="FILE", help="write the tables as JSON")
    compare.set_defaults(run=_compare)


def _sizes(text: str) -> int | str | list[int | str]:
    """A size, a rule, or comma-separated sizes."""
    return (
        [read_whole(part.strip()) for part in text.split(",")] if "," in text else read_whole(text)
    )


def _compare(options: argparse.Namespace) -> None:
    from treeselect.comparing import compare

    check_places(report=options.report, json=options.json)
    check_checkpoint(options)
    found = compare(
        options.formula,
        data_of(options),
        [name.strip() for name in options.methods.split(",")],
        k=options.k,
        folds=options.folds,
        repeats=options.repeats,
        fold_groups=options.fold_groups,
        scoring=options.scoring,
        family=options.family,
        weights=options.weights,
        weights_kind=options.weights_kind,
        offset=options.offset,
        keep=options.keep,
        labels=labels_of(options),
        seed=options.seed,
        n_jobs=options.jobs,
        checkpoint=options.checkpoint,
    )
    put(str(found.summary()))
    written = []
    if options.report:
        written.append(f"Report: {found.report(options.report)}")
    if options.json:
        written.append(f"Tables: {write_text(options.json, json_text(_tables(found)), 'json')}")
    print_written(written)
    end_stopped(found)


def _tables(found: Comparison) -> dict[str, Any]:
    """Tables of a comparison as lists of objects, one for each row."""
    return {
        "call": found.call,
        "seed": found.seed,
        "partial": found.partial,
        "score": found.score_name,
        "best": found.best,
        "glance": records(found.glance()),
        "curves": records(found.curves()),
        "differences": records(found.differences()),
        "terms": records(found.terms()),
        "tidy": records(found.tidy()),
    }
