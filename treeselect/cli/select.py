"""``treeselect select``: arguments to :func:`treeselect.select`, and its result in files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import USUAL_METHOD, check_count, check_resamples
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
from treeselect.cli.words import read_whole
from treeselect.errors import OptionError

if TYPE_CHECKING:
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.performance import Performance
    from treeselect.result import SelectionResult

_FOLDS = 5
"""Folds of `--performance` without a number."""

METHOD = Flag(
    "method",
    ("--method", "-m"),
    f"a method listed by `treeselect methods` (default: {USUAL_METHOD})",
    "NAME",
)
SET = Flag(
    "set",
    ("--set",),
    "option of the method, such as gamma=0.3; may be repeated; `treeselect methods NAME` lists"
    " them",
    "OPTION=VALUE",
    read_settings,
    repeated=True,
)
K = Flag(
    "k",
    ("-k",),
    "number of terms: a whole number, auto (the fewest that no larger set beats, by tests), or"
    " chosen by cross-validation: 1se or best (default: auto, unless the method determines it;"
    " with --folds or --repeats 1se)",
    "K",
    read_whole,
)
RESAMPLES = Flag(
    "resamples",
    ("--resamples",),
    "number of resamples for assessing stability (default: 20 half-samples if tests choose k,"
    " otherwise 0)",
    "B",
    read_whole,
)
PERFORMANCE = Flag(
    "performance",
    ("--performance",),
    "estimate performance on held-out rows by nested cross-validation with this many folds"
    f" ({_FOLDS} without a number); 0 for none (default)",
    "FOLDS",
    read_whole,
    alone=str(_FOLDS),
)
EFFECTS = Flag(
    "effects",
    ("--effects",),
    "also fit the final model of each resample, and print the effects of the selected terms with"
    " intervals; needs --resamples",
)
COEFFICIENTS = Flag(
    "coefficients",
    ("--coefficients",),
    "also fit a linear model of the terms that each resample selected, and print how selection"
    " affects the coefficients; needs --resamples",
)
SAVE = Flag("save", ("--save",), "save the model for `treeselect predict`", "FILE")

FLAGS = {
    "method and number of terms": (METHOD, SET, K),
    "data": READING,
    "model": PROBLEM,
    "cross-validation": FOLDING,
    "further analyses": (RESAMPLES, PERFORMANCE, EFFECTS, COEFFICIENTS),
    "computing": (SEED, JOBS, checkpoint("resample and each fold of --performance")),
    "output": (REPORT, SAVE, JSON, CONFIG, SAVE_CONFIG),
}

CALLED = {flag.argument for flag in (METHOD, K, *PROBLEM, *FOLDING, SEED, JOBS)}
"""Arguments of :func:`treeselect.select` that are passed on as they are."""

EXAMPLES = """\
treeselect select "died ~ . - id" trial.csv
treeselect select "died ~ ." trial.csv -k 4 --keep age --report trial.html
treeselect select "died ~ ." trial.csv --method grrf --set gamma=0.3
treeselect select "died ~ ." trial.csv --groups "blood panel=hb,wbc"
treeselect select "died ~ ." trial.csv --resamples 100 --performance
treeselect select "died ~ ." 'years/*.parquet' --rows 100000
treeselect select "died ~ ." trial.csv --seed 1 --save-config study.toml
treeselect select --config study.toml --jobs 2"""


def add_select(commands: Any) -> None:
    """Add the command to the parser."""
    select = command(
        commands,
        "select",
        "[options] FORMULA DATA",
        "Select terms and print the summary.",
        EXAMPLES,
        short="select terms and print the summary",
    )
    add_data(select)
    add_flags(select, FLAGS)
    select.set_defaults(run=_select)


def _select(options: argparse.Namespace) -> None:
    from treeselect.selection import select

    asked = read_arguments(options, flags_in(FLAGS))
    check(asked)
    result = select(asked["formula"], data_of(asked), **passed_on(asked))
    finish(asked, result, "select")


def passed_on(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the call, which draws no resamples if these are drawn later."""
    settings = without_none(asked.get("set", {}))
    if _in_parts(asked) and asked.get("resamples"):
        settings["resamples"] = 0
    names = {*CALLED, "resamples"}
    return {name: value for name, value in asked.items() if name in names} | settings


def _in_parts(asked: Mapping[str, Any]) -> bool:
    return "checkpoint" in asked or asked.get("effects", False)


def finish(asked: Mapping[str, Any], result: SelectionResult, command: str) -> None:
    """Do, print and write what is asked of a result."""
    resamples = asked.get("resamples", 0)
    if _in_parts(asked) and resamples and result.k > 0:
        result = result.resample(
            resamples, checkpoint=asked.get("checkpoint"), effects=asked.get("effects", False)
        )
    put(str(result.summary()))
    found = None
    if asked.get("performance"):
        found = result.performance(asked["performance"], checkpoint=asked.get("checkpoint"))
        put("", str(found.summary()))
    coefficients = _coefficients(result) if asked.get("coefficients") else None
    _write(asked, result, found, coefficients, command)
    end_stopped(result._fit.resampled, found)


def check(asked: Mapping[str, Any]) -> None:
    """Raise an OptionError before the work starts if what is not an argument of the call is wrong,
    or a file can't be written later."""
    resamples = check_resamples(asked.get("resamples", 0))
    for name in ("effects", "coefficients"):
        if asked.get(name) and not resamples:
            raise OptionError(f"`--{name}` needs `--resamples`, for example `--resamples 100`.")
    if asked.get("performance", 0) != 0:
        check_count("performance", asked["performance"], least=2)
    settings = asked.get("set", {})
    known = sorted(settings.keys() & {*CALLED, "formula", "data", "resamples", "trusted"})
    if known:
        raise OptionError(
            f"`--set` must name options of the method.\n  Found: `{known[0]}`, which is an argument"
            " of the call."
        )
    check_places(asked)
    check_checkpoint(asked)


def _coefficients(result: SelectionResult) -> CoefficientStability | None:
    if result._fit.resampled is None:
        put("", "No coefficients on resamples: no term was selected.")
        return None
    if result.stability.partial:
        put("", "No coefficients on resamples: resampling was stopped.")
        return None
    coefficients = result.model.coefficient_stability()
    put("", str(coefficients.summary()))
    return coefficients


def _write(
    asked: Mapping[str, Any],
    result: SelectionResult,
    performance: Performance | None,
    coefficients: CoefficientStability | None,
    command: str,
) -> None:
    written = []
    if asked.get("report"):
        page = result.report(asked["report"], performance=performance, coefficients=coefficients)
        written.append(f"Report: {page}")
    if asked.get("save"):
        written.append(f"Model: {result.save(asked['save'])}")
    if asked.get("json"):
        tables = json_text(tables_of(result, performance, coefficients))
        written.append(f"Tables: {write_text(asked['json'], tables, 'json')}")
    print_written([*written, *save_arguments(asked, command)])


def tables_of(
    result: SelectionResult,
    performance: Performance | None = None,
    coefficients: CoefficientStability | None = None,
) -> dict[str, Any]:
    """Tables of a result: ``glance`` is an object; ``tidy``, ``path`` and the tables of a search
    and of resamples are lists of objects; ``performance`` is an object with the first two."""
    tables: dict[str, Any] = {
        "call": result._fit.call.text,
        "formula": result.formula,
        "selected": result.selected,
        "groups": result.groups,
        "variables": result.variables,
        "glance": records(result.glance())[0],
        "tidy": records(result.tidy()),
        "path": records(result.path),
    }
    if result.search.step.trace is not None:
        tables["exchanges"] = records(result.search.exchanges())
        tables["alternatives"] = records(result.search.alternatives())
    if result._fit.effect_record is not None:
        tables["effects"] = records(result.model.effects())
    if result._fit.resampled is not None:
        tables["stability"] = records(result.stability.tidy())
        tables["models"] = records(result.stability.models(None))
        tables["pairs"] = records(result.stability.pairs())
        tables["substitutes"] = records(result.stability.substitutes)
        tables["partial"] = result.stability.partial
    if coefficients is not None:
        tables["coefficients"] = records(coefficients.tidy())
    if performance is not None:
        tables["performance"] = {
            "partial": performance.partial,
            "glance": records(performance.glance())[0],
            "tidy": records(performance.tidy()),
        }
    return tables
