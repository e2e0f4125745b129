"""The commands: what is typed for each, and what is done, printed and written."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from treeselect.arguments.checks import USUAL_METHOD, check_count, check_resamples
from treeselect.cli import output
from treeselect.cli.arguments import (
    FOLDING,
    JOBS,
    JSON,
    PROBLEM,
    READING,
    REPORT,
    SEED,
    Flag,
    check_checkpoint,
    checkpoint,
    data_of,
    read_levels,
    read_names,
    read_number,
    read_settings,
    read_whole,
)
from treeselect.errors import OptionError, listing, quoted

if TYPE_CHECKING:
    from treeselect.resampling.coefficient_stability import CoefficientStability
    from treeselect.result import SelectionResult


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the command line."""

    name: str
    places: tuple[str, ...]  # what is given by its place
    short: str  # for the list of commands
    description: str
    flags: Mapping[str, Iterable[Flag]]  # under the headings of the help
    examples: tuple[str, ...]
    run: Callable[[dict[str, Any]], None]  # with the arguments by name


# --- select --------------------------------------------------------------------------------------

RESAMPLES = Flag("--resamples", "number of resamples for assessing stability (default: 20"
                 " half-samples if tests choose k, otherwise 0)", "B", read_whole)  # fmt: skip

CHOICE = (
    Flag("--method -m", f"a method listed by `treeselect methods` (default: {USUAL_METHOD})",
         "NAME"),
    Flag("-k", "number of terms: a whole number, auto (the fewest that no larger set beats, by"
         " tests), or chosen by cross-validation: 1se or best (default: auto, unless the method"
         " determines it; with --folds or --repeats 1se)", "K", read_whole),
)  # fmt: skip

SELECT = {
    "method and number of terms": (
        *CHOICE,
        Flag("--set", "option of the method, such as gamma=0.3; may be repeated; `treeselect"
             " methods NAME` lists them", "OPTION=VALUE", read_settings, True),
    ),
    "data": READING,
    "model": PROBLEM,
    "cross-validation": FOLDING,
    "further analyses": (
        RESAMPLES,
        Flag("--performance", "estimate performance on held-out rows by nested cross-validation"
             " with this many folds; 0 for none (default)", "FOLDS", read_whole),
        Flag("--effects", "also fit the final model of each resample, and print the effects of the"
             " selected terms with intervals; needs --resamples"),
        Flag("--coefficients", "also fit a linear model of the terms that each resample selected,"
             " and print how selection affects the coefficients; needs --resamples"),
    ),
    "computing": (SEED, JOBS, checkpoint("resample and each fold of --performance")),
    "output": (
        REPORT,
        Flag("--save", "save the model for `treeselect predict`", "FILE"),
        Flag("--include-data", "store the rows in the model, as --interval and --type quantile of"
             " `treeselect predict` need them; needs --save"),
        JSON,
    ),
}  # fmt: skip

SELECT_CALLED = {flag.argument for flag in (*CHOICE, *PROBLEM, *FOLDING, SEED, JOBS)}
"""Arguments of :func:`treeselect.select` that are passed on as they are."""


def _select(asked: dict[str, Any]) -> None:
    from treeselect.selection import select

    _check(asked)
    check_checkpoint(asked)
    _finish(asked, select(asked["formula"], data_of(asked), **_passed_on(asked)))


def _check(asked: Mapping[str, Any]) -> None:
    """Raise an OptionError before the work starts for what is not an argument of the call."""
    resamples = check_resamples(asked.get("resamples", 0))
    for name in ("effects", "coefficients"):
        if asked.get(name) and not resamples:
            raise OptionError(f"`--{name}` needs `--resamples`, for example `--resamples 100`.")
    if "checkpoint" in asked and not resamples and not asked.get("performance"):
        raise OptionError("`--checkpoint` needs `--resamples` or `--performance`, which it saves.")
    if asked.get("include_data") and not asked.get("save"):
        raise OptionError("`--include-data` needs `--save`, the file of the model.")
    if asked.get("performance", 0) != 0:
        check_count("performance", asked["performance"], least=2)
    of_call = {*SELECT_CALLED, "formula", "data", "resamples", "trusted"}
    known = sorted(asked.get("set", {}).keys() & of_call)
    if known:
        raise OptionError(
            f"`--set` must name options of the method.\n  Found: `{known[0]}`, which is an argument"
            " of the call."
        )
    output.check_places(asked)


def _in_parts(asked: Mapping[str, Any]) -> bool:
    return "checkpoint" in asked or asked.get("effects", False)


def _passed_on(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the call, which draws no resamples if these are drawn later."""
    names = {*SELECT_CALLED, "resamples"}
    given = {name: value for name, value in asked.items() if name in names} | asked.get("set", {})
    later = _in_parts(asked) and asked.get("resamples")
    return given | ({"resamples": 0} if later else {})


def _finish(asked: Mapping[str, Any], result: SelectionResult) -> None:
    resamples, performance = asked.get("resamples", 0), None
    if _in_parts(asked) and resamples and result.k > 0:
        result = result.resample(
            resamples, checkpoint=asked.get("checkpoint"), effects=asked.get("effects", False)
        )
    output.put(str(result.summary()))
    if asked.get("performance") and not output.stopped(result._fit.resampled):
        performance = result.performance(asked["performance"], checkpoint=asked.get("checkpoint"))
        output.put("", str(performance.summary()))
    more = asked.get("coefficients") and not output.stopped(performance)
    coefficients = _coefficients(result) if more else None
    output.write_all(
        asked,
        report=partial(result.report, performance=performance, coefficients=coefficients),
        save=partial(result.save, include_data=asked.get("include_data", False)),
        json=lambda _: output.json_text(output.tables_of(result, performance, coefficients)),
    )
    if output.stopped(result._fit.resampled, performance):
        raise KeyboardInterrupt


def _coefficients(result: SelectionResult) -> CoefficientStability | None:
    lost = "no term was selected" if result._fit.resampled is None else "resampling was stopped"
    if result._fit.resampled is None or result.stability.partial:
        output.put("", f"No coefficients on resamples: {lost}.")
        return None
    coefficients = result.model.coefficient_stability()
    output.put("", str(coefficients.summary()))
    return coefficients


# --- compare -------------------------------------------------------------------------------------

DEFAULT_METHODS = (USUAL_METHOD, "controlburn", "rrf", "grrf", "gbfs", "lasso", "importance")
"""The default method, one method of each paper, the linear model, and the most common ranking."""


def _sizes(text: str) -> int | str | list[int | str]:
    """A size, a rule, or comma-separated sizes."""
    sizes = [read_whole(part.strip()) for part in text.split(",")]
    return sizes if "," in text else sizes[0]


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


SIZES = Flag("-k", "number of terms at which methods are compared: chosen for each method by 1se"
             " (default) or best, one whole number for all, or a list of sizes to score such as"
             " 3,5,10", "K", _sizes)  # fmt: skip

COMPARE = {
    "methods and number of terms": (
        Flag("--methods -m", "methods listed by `treeselect methods`, comma-separated (default:"
             f" {', '.join(DEFAULT_METHODS)})", "A,B,C", read_names),
        Flag("--set", "option of a method, such as grrf.gamma=0.3; may be repeated; `treeselect"
             " methods NAME` lists them", "METHOD.OPTION=VALUE", _settings, True),
        SIZES,
    ),
    "data": READING,
    "model": PROBLEM,
    "cross-validation": FOLDING,
    "computing": (SEED, JOBS, checkpoint("combination of method and fold")),
    "output": (REPORT, JSON),
}  # fmt: skip

COMPARE_CALLED = {f.argument for f in (SIZES, *PROBLEM, *FOLDING, SEED, JOBS)} | {"checkpoint"}
"""Arguments of :func:`treeselect.compare` that are passed on as they are."""


def _compare(asked: dict[str, Any]) -> None:
    from treeselect.comparing import compare

    output.check_places(asked)
    check_checkpoint(asked)
    how = {name: value for name, value in asked.items() if name in COMPARE_CALLED}
    found = compare(asked["formula"], data_of(asked), _methods_of(asked), **how)
    output.put(str(found.summary()))
    tables = output.tables_of_comparison
    output.write_all(asked, report=found.report, json=lambda _: output.json_text(tables(found)))
    if output.stopped(found):
        raise KeyboardInterrupt


def _methods_of(asked: Mapping[str, Any]) -> Any:
    """The names of the methods, or the methods with their options."""
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
    return [find_method(name, settings[name]) if name in settings else name for name in names]


# --- a saved model -------------------------------------------------------------------------------

HOW = (
    Flag("--type", "response (default), link or class; quantile for a numeric response; survival or"
         " cumulative_hazard for times to an event", "TYPE"),
    Flag("--times", "comma-separated times for --type survival and cumulative_hazard: one column"
         " for each", "T1,T2,...", partial(read_levels, "--times", "365,730")),
    Flag("--quantiles", "comma-separated levels for --type quantile (default: 0.05,0.5,0.95)",
         "Q1,Q2,...", partial(read_levels, "--quantiles", "0.1,0.9")),
    Flag("--interval", "prediction: a prediction interval of a numeric response", "KIND"),
    Flag("--level", "coverage of the interval (default: 0.95)", "LEVEL", read_number),
)  # fmt: skip

PREDICT = {
    "predictions": HOW,
    "data": READING,
    "output": (
        Flag("--output -o", "file for the predictions (default: standard output)", "FILE.csv"),
    ),
}  # fmt: skip


_SCALES = {"response": "P({})", "link": "log odds of {}"}
"""Names of predictions of one of two classes."""


def _predict(asked: dict[str, Any]) -> None:
    from treeselect.result import SelectionResult
    from treeselect.selection import load

    output.check_places(asked)
    how = {flag.argument: asked[flag.argument] for flag in HOW if flag.argument in asked}
    model = load(asked["saved"])
    if strange := how.keys() - inspect.signature(model.predict).parameters:
        raise OptionError(f"A linear model has no {listing(sorted(strange))}: leave it out.")
    fitted = model.predict(data_of(asked), **how)
    scale = _SCALES.get(how.get("type", "response"))
    if isinstance(model, SelectionResult) and scale and fitted.ndim == 1:
        response = model._fit.design.response
        if response.classes:
            fitted = fitted.rename(scale.format(f"{response.name} = {response.classes[-1]}"))
    text = (fitted if fitted.ndim == 2 else fitted.to_frame()).to_csv(index=False)
    if asked.get("output"):
        output.write_text(asked["output"], text, "output")
    else:
        output.put(text.removesuffix("\n"))


PAGE = (
    Flag("--output -o", "HTML; FILE.md, FILE.docx for Markdown, Word (default: report.html)",
         "FILE", called="report"),
    Flag("--sections", "comma-separated sections below the first screen, in this order (default:"
         " all that apply)", "A,B,...", read_names),
    Flag("--digits", "number of printed digits, 1 to 10", "N", read_whole),
)  # fmt: skip


def _report(asked: dict[str, Any]) -> None:
    from treeselect.result import SelectionResult
    from treeselect.selection import load

    path = asked.get("report", "report.html")
    output.check_places({**asked, "report": path})
    how: Any = {name: asked.get(name) for name in ("sections", "digits")}
    fit = load(asked["saved"])
    if not isinstance(fit, SelectionResult):
        raise OptionError(
            f"{quoted(asked['saved'])} must hold a selection.\n"
            "  Found: a linear model, from which `treeselect predict` predicts."
        )
    output.put(*output.written({"report": path}, report=partial(fit.report, **how)))


# --- methods and demo ----------------------------------------------------------------------------


def _methods(asked: dict[str, Any]) -> None:
    from treeselect.algorithms.registry import find_method, methods

    table = methods()
    wrap = partial(textwrap.wrap, width=max(shutil.get_terminal_size().columns, 20))
    if "name" in asked:
        (row,) = table[table["method"] == find_method(asked["name"], {}).name].itertuples()
        whole = partial(wrap, break_long_words=False, break_on_hyphens=False)
        lines = wrap(f"{row.method}: {row.title}", subsequent_indent="  ")
        for text in (f"options: {row.options}", f"paper: {row.paper}"):
            lines += whole(text, initial_indent="  ", subsequent_indent="    ")
    else:
        first = max(map(len, table["method"])) + 2
        lines = []
        for row in table.itertuples():
            lines += wrap(f"{row.method:{first}}{row.title}", subsequent_indent=" " * first)
        lines += ["", *wrap("Options and paper of a method: treeselect methods NAME")]
    output.put("\n".join(lines))


DEMO_FORMULA = "survived ~ . - name - ticket - cabin - boat - body - home_dest"
"""The raw passenger list without identifiers and without columns recorded afterwards."""

DEMO = tuple(
    replace(flag, help=text)
    for flag, text in (
        (RESAMPLES, "number of half-samples (default: 20)"),
        (SEED, "random seed (default: 1, as in the README)"),
        (JOBS, "number of processes (default: -1, all processors)"),
        (REPORT, "file for the HTML report (default: titanic.html)"),
    )
)


def _demo(asked: dict[str, Any]) -> None:
    from treeselect import datasets
    from treeselect.selection import select

    asked = {"seed": 1, "n_jobs": -1, "report": "titanic.html", **asked}
    output.check_places(asked)
    page = asked.pop("report")
    result = select(DEMO_FORMULA, datasets.load("titanic"), **asked)
    output.put(str(result.summary()))
    output.write_all({"report": page}, report=result.report)


def _warm(asked: dict[str, Any]) -> None:
    from treeselect.cli.warm import warm

    output.put(warm())


VALIDATION = (replace(REPORT, help="also write the page: HTML, or Markdown for FILE.md"),)


def _validate(asked: dict[str, Any]) -> None:
    from treeselect.cli.validate import as_page, validate

    output.check_places(asked)
    found, passed = validate()
    output.put(str(found))
    output.write_all(
        asked,
        report=lambda path: found.as_markdown() if path.lower().endswith(".md") else as_page(found),
    )
    if not passed:
        raise SystemExit(1)


# --- all of them ---------------------------------------------------------------------------------

COMMANDS = (
    Command(
        "select", ("formula", "data"), "select terms and print the summary",
        "Select terms and print the summary.", SELECT,
        (
            'treeselect select "died ~ . - id" trial.csv',
            'treeselect select "died ~ ." trial.csv -k 4 --keep age --report trial.html',
            'treeselect select "died ~ ." trial.csv --method grrf --set gamma=0.3',
            'treeselect select "died ~ ." trial.csv --groups "blood panel=hb,wbc"',
            'treeselect select "died ~ ." trial.csv --resamples 100 --performance 5',
            "treeselect select \"died ~ .\" 'years/*.parquet' --rows 100000",
        ), _select,
    ),
    Command(
        "compare", ("formula", "data"), "compare methods on the same folds",
        "Compare methods on the same folds: score against number of terms, paired differences,"
        " stability and computing time. Every method repeats its selection on the training rows of"
        " each fold.", COMPARE,
        (
            'treeselect compare "died ~ . - id" trial.csv',
            'treeselect compare "died ~ ." trial.csv -m exchange,lasso --report c.html',
            'treeselect compare "died ~ ." trial.csv -k 3,5,10 --folds 10 --repeats 5',
            'treeselect compare "died ~ ." trial.csv -m rrf,lasso --set rrf.n_trees=50',
        ), _compare,
    ),
    Command(
        "predict", ("saved", "data"), "predict new data from a saved model",
        "Predict new data from a model saved by `treeselect select --save`. Prints CSV with one"
        " line for each row of the data.", PREDICT,
        (
            "treeselect predict trial.treeselect new.csv > predicted.csv",
            "treeselect predict trial.treeselect new.csv --type class -o predicted.csv",
            "treeselect predict trial.treeselect new.csv --type survival --times 365,730",
        ), _predict,
    ),
    Command(
        "report", ("saved",), "write the report of a saved model",
        "Write the report of a model saved by `treeselect select --save`.", {"report": PAGE},
        (
            "treeselect report trial.treeselect",
            "treeselect report trial.treeselect -o trial.html --sections terms,path",
        ), _report,
    ),
    Command(
        "methods", ("name",), "list the methods",
        "List the methods, or show one of them with its options, their defaults and its paper.",
        {}, ("treeselect methods", "treeselect methods grrf"), _methods,
    ),
    Command(
        "demo", (), "analyse the passengers of the Titanic and write titanic.html",
        "Select terms that predict the survival of the Titanic's passengers, print the summary and"
        " write the report.", {"options": DEMO},
        ("treeselect demo", "treeselect demo --resamples 50 --report passengers.html"), _demo,
    ),
    Command(
        "validate", (), "check that this installation answers as it should",
        "Check this installation, in about a minute: reference answers of all methods and families,"
        " results of R, and that the same question asked in other ways has the same answer. Exit"
        " code 1 if a check fails.", {"output": VALIDATION},
        ("treeselect validate", "treeselect validate --report validation.html"), _validate,
    ),
    Command(
        "warm", (), "compile the tree kernels that do not come with the package",
        "Compile the tree kernels that do not come with the package for this platform, so that no"
        " call waits for the compiler. They are kept in the user's cache, or in the folder that"
        " TREESELECT_CACHE_DIR names.", {}, ("treeselect warm",), _warm,
    ),
)  # fmt: skip
