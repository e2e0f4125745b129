"""Command line: arguments to calls of the package to summaries and reports."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from treeselect._version import __version__
from treeselect.arguments.checks import USUAL_METHOD, USUAL_SIZE, check_resamples
from treeselect.arguments.scalars import described
from treeselect.cli.compare import add_compare
from treeselect.cli.shared import (
    add_checkpoint,
    add_data,
    add_file,
    add_problem,
    add_run,
    check_checkpoint,
    check_places,
    data_of,
    end_output,
    end_stopped,
    json_text,
    labels_of,
    print_written,
    put,
    read_whole,
    records,
    write_text,
)
from treeselect.cli.spreadsheets import guard_formulas
from treeselect.errors import OptionError, TreeselectError
from treeselect.shown import shown

if TYPE_CHECKING:
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.resampling.performance import Performance
    from treeselect.result import SelectionResult

DEMO_FORMULA = "survived ~ . - name - ticket - cabin - boat - body - home_dest"
"""The raw passenger list without identifiers and without columns recorded afterwards."""

_DEMO_SEED = 1912

_FOLDS = 5
"""Folds of `--performance` without a number."""

_DEMO_FOLDS = 10
"""With 1,309 rows, five folds give too noisy a standard error for the choice of k."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code, 0 or 2.

    Parameters
    ----------
    arguments : sequence of str, optional
        ``sys.argv[1:]`` by default.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # escape characters that the terminal can't encode
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        _run(arguments)
    except TreeselectError as error:
        return _failed(str(error))
    except KeyboardInterrupt:
        return _failed("stopped.")
    except MemoryError:
        return _failed("there is not enough memory.")
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser whose error messages contain no control characters from the command line."""

    def error(self, message: str) -> NoReturn:
        super().error(shown(message))


def _run(arguments: Sequence[str] | None) -> None:
    try:
        options = _parser().parse_args(arguments)
        options.run(options)
    finally:
        end_output()


def _failed(said: str) -> int:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):  # there is nowhere left to print it
            print(f"treeselect: {said}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="treeselect",
        description="Which few of these variables carry the signal, and how stable is the answer?",
    )
    parser.add_argument("--version", action="version", version=f"treeselect {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (_add_select, add_compare, _add_predict, _add_methods, _add_demo):
        add(commands)
    return parser


def _add_select(commands: Any) -> None:
    select = commands.add_parser(
        "select",
        help="select terms and print the summary",
        description="Select terms and print the summary.",
    )
    add_data(select)
    select.add_argument(
        "--method",
        "-m",
        default=USUAL_METHOD,
        help="a method listed by `treeselect methods` (default: %(default)s)",
    )
    select.add_argument(
        "-k",
        default=USUAL_SIZE,
        type=read_whole,
        help="number of terms: a whole number, or chosen by cross-validation: 1se or best (default:"
        " 1se, unless the method determines the number)",
    )
    add_problem(select)
    select.add_argument(
        "--new-levels",
        default="error",
        help="how prediction treats labels that are not in DATA: error (default), missing or other",
    )
    select.add_argument(
        "--performance",
        metavar="FOLDS",
        nargs="?",
        type=int,
        const=_FOLDS,
        help="estimate performance on held-out rows by nested cross-validation with this many folds"
        f" (default: {_FOLDS}); must follow FORMULA and DATA",
    )
    select.add_argument(
        "--effects",
        action="store_true",
        help="also fit the final model of each resample, and print the effects of the selected"
        " terms with intervals; needs --resamples",
    )
    select.add_argument(
        "--coefficients",
        action="store_true",
        help="also fit a linear model of the terms that each resample selected, and print how"
        " selection affects the coefficients; needs --resamples",
    )
    _add_common(select, resamples=0, seed=None)
    add_checkpoint(select, "resample and each fold of --performance")
    select.add_argument("--report", metavar="FILE.html", help="write an HTML report")
    select.add_argument("--save", metavar="FILE", help="save the model for `treeselect predict`")
    select.add_argument("--json", metavar="FILE", help="write the tables of the result as JSON")
    select.set_defaults(run=_select)


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser(
        "predict",
        help="predict new data from a saved model",
        description="Predict new data from a model saved by `treeselect select --save`. Prints CSV"
        " with one line for each row of the data.",
    )
    predict.add_argument("model", metavar="MODEL", help="a file written by --save")
    add_file(predict)
    predict.add_argument(
        "--type",
        default="response",
        help="response (default), link or class; for times to an event, also survival or"
        " cumulative_hazard",
    )
    predict.add_argument(
        "--times",
        metavar="T1,T2,...",
        help="comma-separated times for --type survival and cumulative_hazard: one column for each",
    )
    predict.add_argument(
        "--output",
        "-o",
        metavar="FILE.csv",
        help="file for the predictions (default: standard output)",
    )
    predict.add_argument(
        "--guard-formulas",
        action="store_true",
        help="put an apostrophe before labels and names that begin with =, +, -, @, a tab or a"
        " carriage return, so that no spreadsheet runs them as formulas; numbers are unchanged"
        " (default: labels are written unchanged)",
    )
    predict.set_defaults(run=_predict)


def _add_methods(commands: Any) -> None:
    listed = commands.add_parser(
        "methods",
        help="list the methods",
        description="List the methods with their options and papers.",
    )
    listed.set_defaults(run=_methods)


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        help="analyse the passengers of the Titanic and write titanic.html",
        description="Select terms that predict the survival of the Titanic's passengers, print the"
        " summary and write the report.",
    )
    _add_common(demo, resamples=100, seed=_DEMO_SEED)
    demo.set_defaults(jobs=-1)
    demo.add_argument("--report", metavar="FILE.html", default="titanic.html")
    demo.set_defaults(run=_demo)


def _add_common(parser: argparse.ArgumentParser, *, resamples: int, seed: int | None) -> None:
    parser.add_argument(
        "--resamples",
        metavar="B",
        type=read_whole,
        default=resamples,
        help=f"number of bootstrap resamples for assessing stability (default: {resamples})",
    )
    add_run(parser, seed=seed)


def _select(options: argparse.Namespace) -> None:
    from treeselect.selection import select

    if options.effects and not options.resamples:
        raise OptionError("`--effects` needs `--resamples`, for example `--resamples 100`.")
    if options.coefficients and not options.resamples:
        raise OptionError("`--coefficients` needs `--resamples`, for example `--resamples 100`.")
    check_places(report=options.report, save=options.save, json=options.json)
    check_checkpoint(options)
    resamples = check_resamples(options.resamples)
    in_parts = options.checkpoint is not None or options.effects
    result = select(
        options.formula,
        data_of(options),
        method=options.method,
        k=options.k,
        family=options.family,
        weights=options.weights,
        weights_kind=options.weights_kind,
        offset=options.offset,
        fold_groups=options.fold_groups,
        scoring=options.scoring,
        keep=options.keep,
        labels=labels_of(options),
        new_levels=options.new_levels,
        resamples=0 if in_parts else resamples,
        seed=options.seed,
        n_jobs=options.jobs,
    )
    if in_parts and resamples and result.k > 0:
        result = result.resample(resamples, checkpoint=options.checkpoint, effects=options.effects)
    put(str(result.summary()))
    found = None
    if options.performance is not None:
        found = result.performance(options.performance, checkpoint=options.checkpoint)
        put("", str(found.summary()))
    coefficients = None
    if options.coefficients and result.resampled is None:
        put("", "No coefficients on resamples: no term was selected.")
    elif options.coefficients and result.stability.partial:
        put("", "No coefficients on resamples: resampling was stopped.")
    elif options.coefficients:
        coefficients = result.coefficient_stability()
        put("", str(coefficients.summary()))
    written = []
    if options.report:
        page = result.report(options.report, performance=found, coefficients=coefficients)
        written.append(f"Report: {page}")
    if options.save:
        written.append(f"Model: {result.save(options.save)}")
    if options.json:
        tables = json_text(_tables(result, found, coefficients))
        written.append(f"Tables: {write_text(options.json, tables, 'json')}")
    print_written(written)
    end_stopped(result.resampled, found)


def _tables(
    result: SelectionResult,
    performance: Performance | None,
    coefficients: CoefficientStability | None,
) -> dict[str, Any]:
    """Tables of a result: ``glance`` is an object; ``tidy``, ``path`` and the tables of a search
    and of resamples are lists of objects; ``performance`` is an object with the first two."""
    tables: dict[str, Any] = {
        "call": result.call.text,
        "formula": result.formula,
        "selected": result.selected,
        "groups": result.groups,
        "variables": result.variables,
        "glance": records(result.glance())[0],
        "tidy": records(result.tidy()),
        "path": records(result.path),
    }
    if result.step.trace is not None:
        tables["exchanges"] = records(result.exchanges())
        tables["alternatives"] = records(result.alternatives())
    if result.effect_record is not None:
        tables["effects"] = records(result.effects())
    if result.resampled is not None:
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


def _predict(options: argparse.Namespace) -> None:
    from treeselect.loading import load

    check_places(output=options.output)
    fitted = load(options.model).predict(
        data_of(options), type=options.type, times=_times(options.times)
    )
    frame = fitted if fitted.ndim == 2 else fitted.to_frame()
    if options.guard_formulas:
        frame = guard_formulas(frame)
    text = frame.to_csv(index=False)
    if options.output:
        write_text(options.output, text, "output")
    else:
        put(text.removesuffix("\n"))


def _times(text: str | None) -> list[float] | None:
    """Comma-separated numbers."""
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(
            f"`--times` must be comma-separated numbers.\n  Found: {described(text)}. Write, for"
            " example, `--times 365,730`."
        ) from None


def _methods(options: argparse.Namespace) -> None:
    from treeselect.algorithms.registry import methods

    for row in methods().itertuples():
        put(f"{row.method}: {row.title}\n  options: {row.options}\n  paper: {row.paper}")


def _demo(options: argparse.Namespace) -> None:
    from treeselect import datasets
    from treeselect.selection import select

    check_places(report=options.report)
    result = select(
        DEMO_FORMULA,
        datasets.load("titanic"),
        folds=_DEMO_FOLDS,
        resamples=options.resamples,
        seed=options.seed,
        n_jobs=options.jobs,
    )
    put(str(result.summary()))
    print_written([f"Report: {result.report(options.report)}"])
