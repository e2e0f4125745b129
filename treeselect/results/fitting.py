"""The flow of ``select()``: from its arguments to a fit, and of its resamples."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from treeselect.algorithms.method import OWN, Method, check_final, deciding
from treeselect.algorithms.registry import find_method
from treeselect.algorithms.task import skipped_sizes
from treeselect.arguments.checks import (
    AUTO,
    SCORE_RULES,
    USUAL_METHOD,
    USUAL_SCORE_RULE,
    USUAL_SIZE,
    NotGiven,
    check_count,
    check_flag,
    check_resamples,
    check_rule,
    described,
    read_seed,
)
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.problem import FeatureGroups, Problem, check_size, noun_of
from treeselect.designs.response import with_positive
from treeselect.designs.row_sample import check_size_of_sample, outcomes, read_all
from treeselect.designs.weights import check_order, read_offset
from treeselect.engine.arrays import AnyArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least
from treeselect.errors import (
    FormulaError,
    NewDataError,
    OptionError,
    StabilityError,
    listing,
    quoted,
)
from treeselect.formulas.guard import updated_formula
from treeselect.frames.files import one_line
from treeselect.frames.tables import Table, library_of, open_table
from treeselect.models.model import TreeModel, baseline_of
from treeselect.printing.numbers import every
from treeselect.resampling.assessing import assess
from treeselect.resampling.choosing import (
    Choice,
    Chosen,
    Procedure,
    best_size,
    most_units,
    n_shown,
    path_is_short,
    reduced_words,
    run_selection,
    scored_sizes,
    sufficient_words,
    wanted_size,
)
from treeselect.resampling.cross_validation import all_units, standard_error
from treeselect.resampling.fit import Asked, Call, Fit, HeldOutScore
from treeselect.resampling.folds import read_folds
from treeselect.resampling.resampled import Scheme
from treeselect.results.calls import NO_PART, call_text, data_text, once
from treeselect.results.effects import effect_points, make_record
from treeselect.running.machine import announce_compilation, memory_errors, read_progress, warn
from treeselect.running.parallel import check_n_jobs, workers_for
from treeselect.running.pieces import Course

_HALVES = 20
"""Half-samples by default, where tests choose the number of units."""

ARGUMENTS: dict[str, Any] = {
    "method": USUAL_METHOD, "k": USUAL_SIZE, "family": "auto", "weights": None, "offset": None,
    "groups": None, "costs": None, "keep": None, "monotone": None, "model": None,
    "resamples": None, "folds": None, "fold_groups": None, "scoring": None, "seed": None,
    "n_jobs": None, "weights_kind": None, "repeats": None, "positive": None,
    "new_levels": "error", "trusted": False, "labels": None, "na": None, "missing": "level",
    "rows": None, "progress": None,
}  # fmt: skip
"""Arguments of ``select()`` and their defaults."""


def fit_selection(data: Any, formula: str, options: Mapping[str, Any]) -> Fit:
    """Select from one table; `options` are arguments of ``select()`` and of the method."""
    given = ARGUMENTS | {name: value for name, value in options.items() if name in ARGUMENTS}
    own = {name: value for name, value in options.items() if name not in ARGUMENTS}
    k, folds, repeats = given["k"], given["folds"], given["repeats"]
    if isinstance(k, NotGiven) and not (folds is None and repeats is None):
        k = USUAL_SCORE_RULE
    n_jobs, resamples = check_n_jobs(given["n_jobs"]), given["resamples"]
    resamples = None if resamples is None else check_resamples(resamples)
    seed, progress = read_seed(given["seed"]), read_progress(given["progress"])
    asked = {**given, "formula": formula, "keep": once(given["keep"]), "seed": seed}
    asked_method = find_method(given["method"], own).giving_way(k)
    method = deciding(asked_method, k)
    check_final(method, asked["model"])
    names = [field.name for field in dataclasses.fields(Request)]
    request = Request(**{name: asked[name] for name in names})
    rows = check_size_of_sample(asked["rows"])
    check_order(
        data, **{name: given[name] for name in ("weights", "offset", "fold_groups", "folds")}
    )
    table = open_table(data, rows)
    asked_folds = read_folds(
        5 if folds is None else folds, 1 if repeats is None else repeats,
        given["fold_groups"], len(table),
    )  # fmt: skip
    design = prepare(request, table, table.labels, rows=rows, seed=seed)
    design = dataclasses.replace(design, library=library_of(data))
    if design.model is None:
        design = design.with_model(method.usual_model)
    problem, workers = design.problem_for(method), workers_for(n_jobs)
    choice = Choice(_check_k(k, method, problem), asked_folds.for_rows(design.response.rows))
    idle = [name for name in ("folds", "repeats") if given[name] is not None]
    idle = [] if choice.k in SCORE_RULES else idle
    if idle and choice.k == AUTO:
        raise OptionError(
            f'`{idle[0]}` needs `k="1se"` or `k="best"`, which choose the number of terms by'
            f' cross-validated scores.\n  Found: k="auto". Omit `{idle[0]}` (in'
            f" `update()`: `{idle[0]}=None`), or `k`."
        )
    announce_compilation(progress)
    procedure = Procedure(problem, method, design.row_weights, choice)
    found, model = run_selection(procedure, seed, workers, progress)
    if found.step.warning is not None:
        warn(found.step.warning)
    n_units = int(all_units(problem, design.row_weights).sum())
    own_notes = _notes(found, choice, method, problem.groups, n_units, resamples or 0)
    held_out, unscored = confirm(design, model, table, request, workers.n_threads)
    unused = f"Not used, as no scores chose `k`: {listing(idle)}." if idle else None
    notes = (*own_notes, unused, method.note, model.note if model.n_trees else None, unscored)
    arguments = {name: value for name, value in asked.items() if name not in NO_PART} | own
    typed = call_text("select", data, arguments, ARGUMENTS)
    fit = Fit(
        design=design,
        call=Call(
            typed.text, data_text(data, (len(table), len(table.columns))),
            _rule(found, choice, method, problem, n_units, asked_method.tuning_value is None),
            unshown=" ".join(typed.unshown),
        ),
        chosen_method=method,
        steps=found.steps,
        step=found.step,
        scores=found.scores,
        p_values=found.p_values,
        model=model,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
        notes=tuple(note for note in notes if note is not None),
        choice=choice,
        baseline=baseline_of(problem, design.weight, model, workers.n_threads),
        asked=Asked(arguments, data),
        held_out=held_out,
        n_able=n_units,
    )  # fmt: skip
    return _with_halves(dataclasses.replace(fit, scored=fit.final), resamples)


def _with_halves(fit: Fit, resamples: int | None) -> Fit:
    """The fit with the requested resamples, or those that come with ``k="auto"``."""
    n = resamples if resamples is not None else _HALVES if fit.choice.k == AUTO else 0
    if n == 0 or fit.k == 0:
        return fit
    try:
        return dataclasses.replace(resample(fit, n), call=fit.call)
    except StabilityError as error:
        if resamples is not None:
            raise
        note = f"No half-samples were searched. {error}"
        return dataclasses.replace(fit, notes=(*fit.notes, note))


def resample(
    fit: Fit,
    n: int,
    *,
    scheme: Scheme | None = None,
    k: Any = None,
    path: bool | int = False,
    seed: int | None = None,
    effects: bool = False,
    course: Course | None = None,
) -> Fit:
    """See :meth:`SelectionResult.resample`."""
    course = Course(workers_for(fit.n_jobs), fit.progress) if course is None else course
    seed = fit.seed if seed is None else seed
    effects = check_flag("effects", effects) and bool(fit.selected)
    here, folds = fit.in_groups()
    method = fit.chosen_method if k is None else fit.chosen_method.tuned(None)
    choice = _choice_on_resamples(fit, k)
    usual: Scheme = "complementary" if choice.k == AUTO else "bootstrap"
    scheme = usual if scheme is None else scheme
    halves = choice.k == AUTO == fit.choice.k and scheme == "complementary"
    known = dataclasses.replace(fit, design=here)
    points = effect_points(known) if effects else None
    found, scores, readings = assess(
        Procedure(here.problem_for(method), method, here.row_weights, choice),
        fit.step.selected,
        n_resamples=n,
        scheme=scheme,
        path=path,
        n_scored=n_shown(fit.k, here.arrays.groups) if halves else 0,
        seed=stream_seed(seed, "stability"),
        groups_name=folds.groups_name,
        probes=None if points is None else points.probes,
        course=course,
    )
    return dataclasses.replace(
        fit,
        resampled=found,
        scored=fit.scored if scores is None else fit.final,
        scores=fit.scores if scores is None else scores,
        effect_record=None if points is None else make_record(known, points, readings),
    )


def _choice_on_resamples(fit: Fit, k: Any) -> Choice:
    """How resamples choose their number of units."""
    if k is None and fit.choice.k not in (None, AUTO):
        k = fit.k
    if isinstance(k, str):
        check_rule(k)
    elif k is not None:
        k = check_count("k", k, least=0)
    return fit.choice if k is None else dataclasses.replace(fit.choice, k=k)


def _check_k(k: object, method: Method, problem: Problem) -> int | str | None:
    """The rule for the number of units: a number, a rule's name, or None (tuning parameter)."""
    if method.tuning_value is not None:
        if k is None or isinstance(k, NotGiven):  # a tuning parameter overrides the default
            return None
        if method.tuning_value == OWN and isinstance(k, str):
            raise OptionError(
                f"`k={described(k)}` needs several sizes to choose from, and {method.name} finds a"
                " single set.\n  Give an integer, to which the set is cut, or omit `k`."
            )
        raise OptionError(
            f"`k` and `{method.tuning_name}` can't both determine the number of terms.\n"
            f"  Found: k={described(k)} and {method.tuning_name}={method.tuning_value!r}."
            " Omit one of them."
        )
    if k is None:
        way = f"`{method.tuning_name}`, or `k`" if method.tuning_name else "`k`"
        none = "" if method.tuning_name else f" {method.name} has none."
        raise OptionError(
            "`k=None` leaves the number of terms to the tuning parameter, which must then be"
            f" given.{none}\n  Give {way}."
        )
    if isinstance(k, str):
        check_rule(k)
        return str(k)
    return check_size(k, problem.groups)


# --- the score on the rows that were not drawn, which had no part in the selection ---------------

MOST_SCORED = 5_000_000
"""Most rows that are scored: the standard error of an AUC is then about 0.0003 or less."""


@memory_errors()
def confirm(
    design: ModelData, model: TreeModel, table: Table, request: Request, n_threads: int
) -> tuple[HeldOutScore | None, str | None]:
    """Score the final model on rows in use that were not drawn; None if all were drawn, or the
    model can't predict them, and then why. The response of all rows is in memory, but of their
    columns no more than a batch. Levels that are not among those of the sample are none of the
    levels, whatever `new_levels` says."""
    if design.sample is None or design.rows.not_drawn == 0:
        return None, None
    parsed, codes = design.spec.formula, design.spec.na
    frame = outcomes(parsed, table, codes, request.hidden)
    every, full = read_all(parsed, frame, request.weights, request.weights_kind, request.family)
    full = with_positive(full, request.positive)
    offset = read_offset(request.offset, frame)
    del frame
    own = np.searchsorted(full.rows, design.response.rows)
    drawn: AnyArray = np.bincount(own, design.weight, len(full.rows)).astype(every.values.dtype)
    others = np.flatnonzero(every.values[full.rows] > drawn)
    n = min(len(others), MOST_SCORED)
    # A score of the family may need the training rows, too.
    spaced = others[np.arange(n) * len(others) // max(n, 1)]
    place = np.union1d(np.flatnonzero(drawn), spaced)
    y, rows, drawn = full.y[place], full.rows[place], drawn[place]
    held_out = every.of(rows).valued(every.values[rows] - drawn)
    del full, others, every
    known = None if offset is None else offset[rows]
    try:
        predicted = _predictions(design, model, table, known, rows, n_threads)
    except NewDataError as error:
        return None, f"The rows that were not drawn were not scored. {one_line(str(error))}"
    family = design.response.family
    score = family.held_out_score(y, predicted, held_out.values, drawn)
    return HeldOutScore(family.score_name, float(score), held_out.n_observations), None


def _predictions(
    design: ModelData,
    model: TreeModel,
    table: Table,
    offset: FloatArray | None,
    rows: IntArray,
    n_threads: int,
) -> FloatArray:
    """Mean response of these rows, read in batches."""
    n, width = len(rows), design.response.family.n_classes
    if not model.groups.any():
        return model.without_trees(n, offset)
    names = design.arrays.groups.terms
    terms = [term for g in np.flatnonzero(model.groups) for term in names[g]]
    variables = list(dict.fromkeys(v for name in terms for v in design.spec[name].term.variables))
    spec = dataclasses.replace(
        design.spec, new_levels="missing" if design.spec.new_levels == "missing" else "other"
    )
    found = np.empty((n, width) if width > 2 else n)
    for start, frame in table.batches(variables):
        low, high = np.searchsorted(rows, [start, start + len(frame)])
        if low == high:
            continue
        if high - low < len(frame):
            frame = frame.iloc[rows[low:high] - start].reset_index(drop=True)
        known = None if offset is None else offset[low:high]
        columns = spec.encode(frame, terms)
        found[low:high] = model.predict_columns(design.arrays, columns, known, n_threads)
    return found


# --- choice ------------------------------------------------------------------------------------


def _rule(
    found: Chosen, choice: Choice, method: Method, problem: Problem, n_units: int, decides: bool
) -> str:
    """How the number of units was chosen, of so many that can be selected, in words."""
    if choice.k is None:
        if method.tuning_value == OWN:
            return method.tuning_words
        way = f"chosen by {method.name} ({{}})" if decides else "{} (fixed)"
        return way.format(method.tuning_words)
    if isinstance(choice.k, int):
        return "k fixed" if found.step.size == choice.k else f"k = {choice.k} requested"
    if found.p_values is not None:
        is_short = path_is_short(found.steps, found.p_values)
        return sufficient_words(found.p_values, n_units, is_short=is_short)
    assert found.scores is not None
    score, done = problem.family.score_name, found.scores.words(choice.folds)
    if choice.k == "best":
        return f"best {score}, {done}"
    best = best_size(scored_sizes(found.scores, problem.groups.keep), found.scores)
    return f"1 s.e. rule, {done} (best {score} at k = {best})"


def _end_notes(found: Chosen, groups: FeatureGroups, n_units: int) -> Iterator[str]:
    """That the path ends before all units are in that can be, and where these predict better."""
    scores, n_all, most = found.scores, len(groups.names), most_units(groups)
    if scores is None or scores.full is None:
        return
    one = noun_of(groups.terms, 1)
    last = max((size for size in scores.sizes if size < n_units), default=0)
    if last < min(most, n_units - 1):
        one_path = scores.spared is not None
        ends = "The path ends with" if one_path else "Most paths end with at most"
        yield (
            f"{ends} {last} {noun_of(groups.terms, last)}: of larger sets, only that"
            f" of {every(n_all, one)} has a score."
        )
    least = scores.full_mean - standard_error(scores.full, scores.repeats)
    if n_units not in scores.sizes and not at_least(max(scores.mean[scores.sizes]), least):
        yield (
            f"A model with {every(n_all, one)} predicts better than those with up to {last}, by"
            " more than one standard error."
        )


def _notes(
    found: Chosen,
    choice: Choice,
    method: Method,
    groups: FeatureGroups,
    n_units: int,
    resamples: int,
) -> Iterator[str]:
    """What a reader should know of this selection, of so many units that can be selected."""
    k, step, steps = choice.k, found.step, found.steps
    many, one = noun_of(groups.terms), noun_of(groups.terms, 1)
    yield from filter(None, (step.warning, step.warned))
    if step.cut_from is not None:
        below = max((s.size for s in steps if s.size < step.size), default=None)
        leaps = "begins with" if below is None else f"jumps from {below} to"
        yield (
            f"The path {leaps} {step.cut_from} {many}: the larger set was cut to the"
            f" {step.size} most important."
        )
    yield from step.notes
    size = wanted_size(k, found.scores, groups.keep)
    if size is not None and step.size < size and not step.was_cut_short:
        why = "Cross-validation favours" if isinstance(k, str) else "The call requests"
        yield (
            f"{why} {size} {noun_of(groups.terms, size)}, but only {step.size}"
            f" {'enters' if step.size == 1 else 'enter'} the path: {method.why_left_out}."
        )
    yield from _end_notes(found, groups, n_units)
    yield from reduced_words(step, found.p_values, many)
    by_tests = found.p_values is not None
    skipped = skipped_sizes([s for s in steps if by_tests or not np.isnan(s.tuning)] or steps)
    if isinstance(k, str) and skipped:
        *others, last = map(str, skipped)
        sizes = f"{', '.join(others)} or {last}" if others else last
        these = "these sizes" if others else "this size"
        instead = "the next smaller one was scored instead"
        if method.predicts_any_set:
            instead = f"the next larger one was cut to {these}"
        yield (
            f"No model with exactly {sizes} {noun_of(groups.terms, skipped[-1])} lies on the path;"
            f" {instead}."
        )
    most = most_units(groups)
    if isinstance(k, str) and step.size == most < n_units:
        yield f"At most {most} {many} were considered; give `k` to select more."
    if isinstance(name := choice.folds.groups_name, str):
        yield (
            f"Rows with the same {quoted(name)} stay together in folds, bags of trees and"
            " resamples; `.` in the formula does not include this column."
        )
    if resamples and step.size == 0:
        yield (
            f"No resamples were drawn, because no {one} was selected; `resample(100, k=1)` selects"
            f" one {one} on each resample."
        )


# --- the same call with changes ------------------------------------------------------------------


def updated_arguments(
    fit: Fit, formula: str | None, data: Any, changes: Mapping[str, Any]
) -> tuple[Any, str, dict[str, Any]]:
    """Data, formula and other arguments of the new call of ``select()``."""
    if fit.asked is None:
        raise OptionError(
            "`update()` needs the arguments of the fit, which its model file does not hold.\n"
            f"  Call `select()` again; the old call was {fit.call.text}."
        )
    asked = fit.asked
    if formula is None and data is None and not changes:
        raise OptionError(
            "`update()` needs a change: a formula, `data`, or an argument of `select()`.\n"
            '  For example `fit.update("~ . - age")` or `fit.update(k=3)`.'
        )
    used = asked.data if data is None else data
    lost = ["data"] * (used is None) + [name for name in asked.lost if name not in changes]
    if lost:
        raise OptionError(
            "`update()` needs all arguments of the fit, which a model file, or a copy of a fit,"
            f" does not hold.\n  Missing: {listing(lost)}."
            f" Use `fit.update({', '.join(f'{name}=...' for name in lost)})`."
        )
    arguments = _merged(asked, changes)
    if formula is not None:
        if not isinstance(formula, str):
            raise FormulaError(
                f"`formula` must be text such as `~ . - age`.\n  Found: {described(formula)}."
            )
        arguments["formula"] = updated_formula(str(asked.arguments["formula"]), formula)
    new = {"n_jobs": fit.n_jobs, "progress": fit.progress} | arguments
    return used, new.pop("formula"), new


def _merged(asked: Asked, changes: Mapping[str, Any]) -> dict[str, Any]:
    old, known = dict(asked.arguments), ("formula", *ARGUMENTS)
    if "method" in changes:
        method = changes["method"]
        before = find_method(old.get("method", method), {})  # a file holds no selectors of others
        after = find_method(method, {})
        shared = after.defaults().keys() if isinstance(method, str) else set()
        shared -= {before.tuning_name, after.tuning_name}
        old = {name: value for name, value in old.items() if name in known or name in shared}
    elif changes.get("k") is not None and isinstance(old["method"], Method):
        old["method"] = old["method"].tuned(None)
    new = {**old, **changes}
    own = {name: value for name, value in new.items() if name not in known}
    tuning = find_method(new["method"], own).tuning_name
    dropped = [tuning if changes.get("k") is not None else "k" if tuning in changes else ""]
    dropped += ["weights_kind"] * (new.get("weights") is None)
    return {name: value for name, value in new.items() if name in changes or name not in dropped}
