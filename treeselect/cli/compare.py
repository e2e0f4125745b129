"""``treeselect compare``: arguments to :func:`treeselect.compare` to a summary or a report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import USUAL_METHOD
from treeselect.cli.arguments import (
    CONFIG,
    FOLDING,
    JOBS,
    JSON,
    PROBLEM,
    READING,
    REPORT,
    SAVE_CONFIG,
    SEED,
    add_data,
    check_checkpoint,
    checkpoint,
    data_of,
    read_settings,
    without_none,
)
from treeselect.cli.config import read_arguments, save_arguments
from treeselect.cli.flags import Flag, add_flags, flags_in
from treeselect.cli.output import (
    check_places,
    end_stopped,
    json_text,
    print_written,
    put,
    records,
    write_text,
)
from treeselect.cli.parser import command
from treeselect.cli.words import read_names, read_whole
from treeselect.errors import OptionError, listing, quoted

if TYPE_CHECKING:
    from treeselect.comparing import Comparison

DEFAULT_METHODS = (USUAL_METHOD, "controlburn", "rrf", "grrf", "gbfs", "lasso", "importance")
"""The default method, one method of each paper, the linear model, and the most common ranking."""


def _sizes(text: str) -> int | str | list[int | str]:
    """A size, a rule, or comma-separated sizes."""
    return (
        [read_whole(part.strip()) for part in text.split(",")] if "," in text else read_whole(text)
    )


def _settings(texts: list[str]) -> dict[str, dict[str, Any]]:
    """Options by method, of ``rrf.n_trees=50`` and others."""
    found: dict[str, dict[str, Any]] = {}
    for key, value in read_settings(texts, "METHOD.OPTION=VALUE", "grrf.gamma=0.3").items():
        method, dot, option = key.partition(".")
        if not dot:
            raise OptionError(
                "`--set` must name the method as well.\n"
                f"  Found: {quoted(key)}. Write, for example, `--set grrf.gamma=0.3`."
            )
        found.setdefault(method, {})[option] = value
    return found


METHODS = Flag(
    "methods",
    ("--methods", "-m"),
    "methods listed by `treeselect methods`, comma-separated (default:"
    f" {', '.join(DEFAULT_METHODS)})",
    "A,B,C",
    read_names,
)
SET = Flag(
    "set",
    ("--set",),
    "option of a method, such as grrf.gamma=0.3; may be repeated; `treeselect methods NAME` lists"
    " them",
    "METHOD.OPTION=VALUE",
    _settings,
    repeated=True,
)
K = Flag(
    "k",
    ("-k",),
    "number of terms at which methods are compared: chosen for each method by 1se (default) or"
    " best, one whole number for all, or a list of sizes to score such as 3,5,10",
    "K",
    _sizes,
)

FLAGS = {
    "methods and number of terms": (METHODS, SET, K),
    "data": READING,
    "model": PROBLEM,
    "cross-validation": FOLDING,
    "computing": (SEED, JOBS, checkpoint("combination of method and fold")),
    "output": (REPORT, JSON, CONFIG, SAVE_CONFIG),
}

CALLED = {flag.argument for flag in (K, *PROBLEM, *FOLDING, SEED, JOBS)} | {"checkpoint"}
"""Arguments of :func:`treeselect.compare` that are passed on as they are."""

EXAMPLES = """\
treeselect compare "died ~ . - id" trial.csv
treeselect compare "died ~ ." trial.csv -m exchange,lasso --report c.html
treeselect compare "died ~ ." trial.csv -k 3,5,10 --folds 10 --repeats 5
treeselect compare "died ~ ." trial.csv -m rrf,lasso --set rrf.n_trees=50
treeselect compare --config study.toml --json compared.json"""


def add_compare(commands: Any) -> None:
    """Add the command to the parser."""
    compare = command(
        commands,
        "compare",
        "[options] FORMULA DATA",
        "Compare methods on the same folds: score against number of terms, paired differences,"
        " stability and computing time. Every method repeats its selection on the training rows of"
        " each fold.",
        EXAMPLES,
        short="compare methods on the same folds",
    )
    add_data(compare)
    add_flags(compare, FLAGS)
    compare.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> None:
    from treeselect.comparing import compare

    asked = read_arguments(options, flags_in(FLAGS))
    check_places(asked)
    check_checkpoint(asked)
    found = compare(
        asked["formula"],
        data_of(asked),
        _methods(asked),
        **{name: value for name, value in asked.items() if name in CALLED},
    )
    put(str(found.summary()))
    written = []
    if asked.get("report"):
        written.append(f"Report: {found.report(asked['report'])}")
    if asked.get("json"):
        written.append(f"Tables: {write_text(asked['json'], json_text(_tables(found)), 'json')}")
    print_written([*written, *save_arguments(asked, "compare")])
    end_stopped(found)


def _methods(asked: Mapping[str, Any]) -> Any:
    """The names of the methods, or the methods with their options.

    Raises
    ------
    OptionError
        If options are given of a method that is not compared, or are not in a table.
    MethodError
        If a method or an option is unknown.
    """
    names, settings = asked.get("methods", list(DEFAULT_METHODS)), asked.get("set")
    if not settings or not isinstance(names, list):
        return names
    from treeselect.algorithms.registry import find_method

    others = [name for name in settings if name not in names]
    if others:
        raise OptionError(
            "`--set` must name methods that are compared.\n"
            f"  Found: {quoted(others[0])}. Compared: {listing(names)}."
        )
    loose = [name for name, options in settings.items() if not isinstance(options, dict)]
    if loose:
        raise OptionError(
            f"`set` must have a table of options for each method.\n  Found: {quoted(loose[0])}"
            " without one. Write its options under the line `[set.METHOD]`."
        )
    return [
        find_method(name, without_none(settings[name])) if name in settings else name
        for name in names
    ]


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
        "references": records(found.references()),
        "tidy": records(found.tidy()),
    }
