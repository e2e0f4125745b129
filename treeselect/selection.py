"""``select()``: formula and data to a design, to a method's path, to a result."""

from __future__ import annotations

import dataclasses
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treeselect.algorithms.base import Problem, SelectionMethod, Step
from treeselect.algorithms.registry import find_method
from treeselect.arguments import check_choice, check_count, check_size
from treeselect.choosing import (
    MOST_UNITS,
    ScoreBySize,
    best_size,
    one_standard_error_size,
    score_by_size,
    skipped_sizes,
    step_of_size,
)
from treeselect.encoding import NewLevels, build_design
from treeselect.engine.random import stream_seed
from treeselect.errors import (
    OptionError,
    quoted,
)
from treeselect.formula import parse_formula
from treeselect.frames import check_rows, read_data
from treeselect.libraries import library_of
from treeselect.modeldata import ModelData, RowCounts
from treeselect.parallel import check_n_jobs, engine_threads
from treeselect.progress import announce_compilation
from treeselect.response import read_response
from treeselect.results import Call, SelectionResult
from treeselect.units import make_units
from treeselect.weights import check_offset, check_weight, read_offset, read_weights

if TYPE_CHECKING:
    import pandas as pd

_NEW_LEVELS = ("error", "missing", "other")


def select(
    formula: str,
    data: Any,
    *,
    method: str | SelectionMethod = "controlburn",
    k: int | Literal["1se", "best"] | None = "1se",
    family: str = "auto",
    weights: str | Sequence[float] | None = None,
    offset: str | Sequence[float] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    keep: Iterable[str] | str | None = None,
    resamples: int = 0,
    folds: int = 5,
    seed: int | None = None,
    n_jobs: int | None = None,
    new_levels: NewLevels = "error",
    trusted: bool = False,
    progress: bool | None = None,
    **method_options: Any,
) -> SelectionResult:
    """Select the few terms that carry the signal.

    Parameters
    ----------
    formula : str
        R formula as formulaic reads it: ``"y ~ . - id"``, ``"log(price) ~ C(zip) + age"``. The
        unit of selection is the term: a factor is kept or dropped whole.
    data : frame or path
        One row per observation: a pandas, polars (eager or lazy) or pyarrow table, or the path of
        a ``.csv``, ``.csv.gz``, ``.parquet`` or ``.feather`` file. Tables of the result are given
        in the same library.
        Missing values are allowed everywhere; rows are dropped only if the response is missing.
    method : str or method
        A name in ``treeselect.methods()``: ``"controlburn"``, ``"rrf"``, ``"grrf"``, ``"rboost"``,
        ``"gbfs"``, and the baselines; or an object such as ``ControlBurn(forests=1)``.
    k : int, "1se", "best" or None
        Number of units to keep: an integer; ``"1se"``, the fewest whose cross-validated score is
        within one standard error of the best; ``"best"``; or None, where the method's tuning
        value decides (giving that value implies it). ``"1se"`` and ``"best"`` consider up to 30
        units. Where the path jumps over an integer, the next larger support is cut to it.
    family : {"auto", "gaussian", "binomial", "multinomial", "poisson"}
        ``"auto"`` takes text, truth values, categories and numbers that are only 0 and 1 for
        classes, two (binomial) or more (multinomial), other numbers for gaussian; counts must be
        asked for. Of two classes the positive one is 1, True, the last category, else the second
        in sorted order.
    weights : str or array of float, shape (n_rows,), optional
        Column or array with case weights, at least 0. If all are whole numbers a weight of 2 is
        two copies of the row; otherwise weights are relative, and a row counts once where rows are
        counted (the least size of a leaf, draws of resamples). The column is not among the terms of
        ``.``.
    offset : str or array of float, shape (n_rows,), optional
        Column or array with a known part of the linear predictor: it is added, and not selected. On
        the scale of the link: the response's own for numbers, log-odds for two classes, the
        logarithm of the exposure for counts; not for more classes. Prediction needs it, too. The
        column is not among the terms of ``.``.
    groups : dict of str to list of str, optional
        Terms (or variables) that are selected and paid for as one.
    costs : dict of str to float, optional
        Price of a term, variable or group, at least 0; 1 otherwise.
    keep : str or list of str, optional
        Terms, variables or groups that are always in. They count towards `k`.
    resamples : int
        Bootstrap resamples to assess stability on; 0 for none.
    folds : int
        Folds of the cross-validation behind ``"1se"`` and ``"best"``, at least 2.
    seed : int, optional
        All randomness, at least 0. The same seed gives the same answer for every `n_jobs` and
        every order of the columns. None draws one, which the summary tells.
    n_jobs : int, optional
        Processes for folds and resamples, as joblib counts them; None follows
        ``joblib.parallel_config``, else this process alone.
    new_levels : {"error", "missing", "other"}
        What `predict` does with labels that are not in `data`.
    trusted : bool
        Allow any Python expression in the formula. Never set it for a formula from elsewhere.
    progress : bool, optional
        Progress on standard error; None shows it in a terminal only.
    **method_options
        Options of the method, for example ``forests=1``.

    Returns
    -------
    SelectionResult

    Raises
    ------
    FormulaError
        If the formula can't be read, names what is not there, or would run code.
    DataError
        If the data can't be used as they are.
    OptionError, MethodError
        If an argument, the method, or one of its options is not allowed.
    NotBuiltError
        For what is planned but not in this version.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, k=3, seed=1)
    >>> fit.k
    3
    >>> "sex" in fit.selected
    True
    """
    check_choice("new_levels", new_levels, _NEW_LEVELS)
    check_n_jobs(n_jobs)
    check_count("folds", folds, least=2)
    check_count("resamples", resamples, least=0)
    if not isinstance(trusted, bool):
        raise OptionError(f"`trusted` must be True or False.\n  Found: {trusted!r}.")
    arguments = {
        "method": method,
        "k": k,
        "family": family,
        "weights": weights,
        "offset": offset,
        "groups": groups,
        "costs": costs,
        "keep": keep,
        "resamples": resamples,
        "folds": folds,
        "new_levels": new_levels,
        "trusted": trusted,
        **method_options,
    }
    chosen_method = find_method(method, method_options)
    frame = read_data(data)
    model_data = _encode(
        formula, frame, weights, offset, groups, costs, keep, family, new_levels, trusted=trusted
    )
    model_data = dataclasses.replace(model_data, library=library_of(data))
    seed = _check_seed(seed)
    problem, weight = model_data.problem_for(chosen_method), model_data.weight
    size = _check_k(k, chosen_method, problem)
    announce_compilation(progress)
    scores = None
    if isinstance(size, str):
        scores = score_by_size(
            problem,
            chosen_method,
            weight,
            folds=folds,
            max_size=min(problem.data.n_groups, MOST_UNITS),
            seed=stream_seed(seed, "cross-validation"),
            n_jobs=n_jobs,
            progress=progress,
        )
    most = size if isinstance(size, int) else min(problem.data.n_groups, MOST_UNITS)
    fit_seed = stream_seed(seed, "fit")
    threads = engine_threads(n_jobs)
    steps = chosen_method.path(
        problem,
        weight,
        max_size=most,
        seed=fit_seed,
        every_size=isinstance(size, str),
        n_threads=threads,
    )
    step, rule = _choose(steps, size, scores, chosen_method, problem)
    result = SelectionResult(
        design=model_data,
        call=Call(_call_text(formula, data, arguments), _data_text(data, frame), rule),
        chosen_method=chosen_method,
        steps=steps,
        step=step,
        scores=scores,
        model=chosen_method.final_model(problem, weight, step, seed=fit_seed, n_threads=threads),
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
        notes=_notes(step, steps, size),
    )
    if resamples and step.size > 0:
        return result.resample(resamples)
    return result


# --- encoding ----------------------------------------------------------------------------------


def _encode(
    formula: str,
    frame: pd.DataFrame,
    weights: str | Sequence[float] | None,
    offset: str | Sequence[float] | None,
    groups: Mapping[str, Sequence[str]] | None,
    costs: Mapping[str, float] | None,
    keep: Iterable[str] | str | None,
    family: str,
    new_levels: NewLevels,
    *,
    trusted: bool,
) -> ModelData:
    check_rows(frame)
    hidden = [name for name in (weights, offset) if isinstance(name, str)]
    parsed = parse_formula(formula, list(frame.columns), hidden=hidden, trusted=trusted)
    if isinstance(offset, str) and offset in parsed.response.variables:
        raise OptionError(
            f"`offset` must not be the response.\n  Found: {offset!r}, which is on the left."
        )
    units = make_units(parsed.terms, groups, costs, keep)
    response = read_response(parsed, frame, family, trusted=trusted)
    weight = read_weights(weights, frame)[response.rows]
    check_weight(weight, response.y)
    known = read_offset(offset, frame)
    check_offset(known, response.rows)
    if known is not None and response.family.n_classes > 2:
        raise OptionError(
            "`offset` must be left out for more than two classes, each of which has its own linear"
            f" predictor.\n  Found: {response.family.n_classes} classes in {quoted(response.name)}."
        )
    used = frame if response.n_dropped == 0 else frame.iloc[response.rows].reset_index(drop=True)
    design, spec, notes = build_design(parsed, used, units, new_levels=new_levels, trusted=trusted)
    if isinstance(weights, str):
        notes.append(f"Case weights: {quoted(weights)}, which is not among the terms of `.`.")
    if offset is not None:
        name = quoted(offset) if isinstance(offset, str) else "an array"
        notes.append(f"Offset: {name}, added to the linear predictor of every model.")
    sources = used[list(spec.variables)]
    return ModelData(
        arrays=design,
        spec=spec,
        response=response,
        weight=weight,
        weights=weights if isinstance(weights, str) else weights is not None,
        offset=None if known is None else known[response.rows],
        offset_name=offset if isinstance(offset, str) else offset is not None,
        rows=RowCounts(int((weight > 0).sum()), response.n_dropped, int((weight == 0).sum())),
        notes=tuple(notes),
        sources=sources,
    )


# --- arguments ---------------------------------------------------------------------------------


def _check_seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbelow(2**31)
    check_count("seed", seed, least=0)
    return int(seed)


def _check_k(k: object, method: SelectionMethod, problem: Problem) -> int | str | None:
    """The rule for the number of units: a number, a rule's name, or None for the tuning value."""
    if method.tuning_value is not None:
        if k in (None, "1se"):  # the default gives way to an explicit tuning value
            return None
        raise OptionError(
            f"`k` and `{method.tuning_name}` can't decide both.\n"
            f"  Found: k={k!r} and {method.tuning_name}={method.tuning_value!r}. Leave one out."
        )
    if k is None:
        raise OptionError(
            f"`k=None` lets the tuning value decide, which must then be given.\n"
            f"  Give `{method.tuning_name}`, or `k`."
        )
    if isinstance(k, str):
        check_choice("k", k, ("1se", "best"))
        return k
    check_size(k, problem.groups)  # type: ignore[arg-type]
    return int(k)  # type: ignore[call-overload]


# --- choice ------------------------------------------------------------------------------------


def _choose(
    steps: Sequence[Step],
    size: int | str | None,
    scores: ScoreBySize | None,
    method: SelectionMethod,
    problem: Problem,
) -> tuple[Step, str]:
    """The chosen step and the rule in words."""
    if size is None:
        return steps[-1], f"{method.tuning_name} = {method.tuning_value:g} as asked"
    if isinstance(size, int):
        return step_of_size(steps, size, problem.groups.keep), "as asked"
    assert scores is not None
    sizes = [s.size for s in steps]
    folds, score = len(scores.scores), problem.family.score_name
    if size == "best":
        chosen = best_size(sizes, scores)
        rule = f"best {score} in {folds}-fold cross-validation"
    else:
        chosen = one_standard_error_size(sizes, scores)
        best = best_size(sizes, scores)
        rule = f"1 s.e. rule, {folds}-fold cross-validation ({score} is best at {best})"
    return next(s for s in steps if s.size == chosen), rule


def _notes(step: Step, steps: Sequence[Step], size: int | str | None) -> tuple[str, ...]:
    notes = []
    if step.cut_from is not None:
        below = max((s.size for s in steps if s.size < step.size), default=0)
        notes.append(
            f"The path jumps from {below} to {step.cut_from} units: the larger set was cut to"
            f" {step.size} by importance."
        )
    if step.gap is not None:
        notes.append(
            f"Best subset of {step.size} by the loss of its trees: "
            + (
                f"the best that was found in time; another set may have a loss up to {step.gap:.1%}"
                " lower."
                if step.gap > 0
                else "it is proved that no other set of its size has a lower one."
            )
        )
    if isinstance(size, int) and step.size < size:
        notes.append(
            f"Asked for {size} units, but no more than {step.size} enter the path: the others are"
            " not used by any tree that helps."
        )
    skipped = skipped_sizes(steps)
    if isinstance(size, str) and skipped:
        notes.append(f"Sizes that no step of the path has: {', '.join(map(str, skipped))}.")
    if isinstance(size, str) and step.size == MOST_UNITS:
        notes.append(f"The most units that were considered: {MOST_UNITS}. Give `k` for more.")
    return tuple(notes)


# --- words -------------------------------------------------------------------------------------


_DEFAULTS = {
    "method": "controlburn",
    "k": "1se",
    "family": "auto",
    "resamples": 0,
    "folds": 5,
    "new_levels": "error",
    "trusted": False,
}


def _call_text(formula: str, data: object, arguments: Mapping[str, Any]) -> str:
    """The call as it could be typed again, without the arguments that have their default."""
    source = repr(str(data)) if isinstance(data, str | os.PathLike) else "data"
    given = [
        f"{name}={value!r}" if isinstance(value, _SHORT) else f"{name}={name}"
        for name, value in arguments.items()
        if not (value is None and name in _NONE) and not _is_default(name, value)
    ]
    return f"select({', '.join([repr(formula), source, *given])})"


_NONE = ("weights", "offset", "groups", "costs", "keep")
"""Arguments without a value by default; an option of a method may be None on purpose."""


def _is_default(name: str, value: object) -> bool:
    return name in _DEFAULTS and value == _DEFAULTS[name]


_SHORT = (str, int, float, dict, list, tuple, SelectionMethod, type(None))
"""Values that are shown; an array is shown by the name of its argument."""


def _data_text(data: object, frame: pd.DataFrame) -> str:
    if isinstance(data, str | os.PathLike):
        return Path(data).name
    return f"a data frame of {frame.shape[0]:,} rows and {frame.shape[1]:,} columns"
