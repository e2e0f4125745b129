"""``select()``: formula and data to a design, to a method's path, to a result."""

from __future__ import annotations

import dataclasses
import os
import secrets
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from treeselect.algorithms.base import Problem, SelectionMethod, Step
from treeselect.algorithms.registry import find_method
from treeselect.arguments import check_choice, check_count, check_size
from treeselect.choosing import (
    MOST_UNITS,
    Choice,
    Chosen,
    best_size,
    run_selection,
    skipped_sizes,
)
from treeselect.encoding import NewLevels, build_design
from treeselect.errors import OptionError, TreeselectWarning, quoted
from treeselect.folds import Folds, Splitter, read_folds
from treeselect.formula import parse_formula
from treeselect.frames import check_rows, read_data
from treeselect.libraries import library_of
from treeselect.modeldata import ModelData, RowCounts
from treeselect.parallel import check_n_jobs, engine_threads
from treeselect.progress import announce_compilation
from treeselect.response import read_response
from treeselect.results import Call, SelectionResult
from treeselect.scoring import Scoring, check_scoring, with_scoring
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
    folds: int | Splitter | Sequence[int] = 5,
    repeats: int = 1,
    fold_groups: str | Sequence[Any] | None = None,
    scoring: Scoring = None,
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
    folds : int, splitter or array of int, shape (n_rows,)
        Folds of the cross-validation behind ``"1se"`` and ``"best"``: their number, at least 2,
        with classes spread evenly; a splitter of scikit-learn such as ``TimeSeriesSplit()``, which
        sees the rows that are used (those with a known response and a positive weight), numbered
        from 0 in their order; or the number of each row's fold, negative for rows that are in every
        training set.
    repeats : int
        How often to draw a number of `folds`. The standard error is the standard deviation over all
        folds of all repeats, divided by the root of the number of folds in one: repeats are not
        independent (Bengio and Grandvalet 2004).
    fold_groups : str or array, shape (n_rows,), optional
        Column or array, for example of patients or sites: rows of one group are never in the
        training and the held-out rows of a fold. The column is not among the terms of ``.``.
    scoring : str or callable, optional
        Score on held-out rows, greater is better: the name of a scorer of scikit-learn such as
        ``"neg_log_loss"``, a scorer made by ``make_scorer``, or ``scorer(y_true, prediction,
        sample_weight=None)``, where two classes are 0 and 1 (the positive one), more are numbered
        from 0, and a prediction is the mean or the probability of the positive class, of more
        classes a column for each. Weights are passed if it takes them. None is the family's: R2,
        AUC, or the share of the deviance that is explained.
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
        "repeats": repeats,
        "fold_groups": fold_groups,
        "scoring": scoring,
        "new_levels": new_levels,
        "trusted": trusted,
        **method_options,
    }
    chosen_method = find_method(method, method_options)
    frame = read_data(data)
    asked_folds = read_folds(folds, repeats, fold_groups, frame)
    hidden = [name for name in (weights, offset, fold_groups) if isinstance(name, str)]
    model_data = _encode(
        formula,
        frame,
        hidden,
        weights,
        offset,
        groups,
        costs,
        keep,
        family,
        scoring,
        new_levels,
        trusted=trusted,
    )
    model_data = dataclasses.replace(model_data, library=library_of(data))
    seed = _check_seed(seed)
    problem = model_data.problem_for(chosen_method)
    choice = Choice(
        _check_k(k, chosen_method, problem), asked_folds.for_rows(model_data.response.rows)
    )
    announce_compilation(progress)
    found = run_selection(
        problem,
        chosen_method,
        model_data.weight,
        choice,
        seed=seed,
        n_jobs=n_jobs,
        n_threads=engine_threads(n_jobs),
        progress=progress,
    )
    if found.step.warning is not None:
        warnings.warn(found.step.warning, TreeselectWarning, stacklevel=2)
    rule = _rule(found, choice, chosen_method, problem)
    result = SelectionResult(
        design=model_data,
        call=Call(_call_text(formula, data, arguments), _data_text(data, frame), rule),
        chosen_method=chosen_method,
        steps=found.steps,
        step=found.step,
        scores=found.scores,
        model=found.model,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
        notes=tuple(
            note
            for note in (
                *_notes(found.step, found.steps, choice.k, chosen_method),
                *_fold_notes(choice.folds),
                chosen_method.note,
                found.model.note,
            )
            if note is not None
        ),
        choice=choice,
    )
    if resamples and found.step.size > 0:
        return result.resample(resamples)
    return result


# --- encoding ----------------------------------------------------------------------------------


def _encode(
    formula: str,
    frame: pd.DataFrame,
    hidden: Sequence[str],
    weights: str | Sequence[float] | None,
    offset: str | Sequence[float] | None,
    groups: Mapping[str, Sequence[str]] | None,
    costs: Mapping[str, float] | None,
    keep: Iterable[str] | str | None,
    family: str,
    scoring: Scoring,
    new_levels: NewLevels,
    *,
    trusted: bool,
) -> ModelData:
    check_rows(frame)
    parsed = parse_formula(formula, list(frame.columns), hidden=hidden, trusted=trusted)
    if isinstance(offset, str) and offset in parsed.response.variables:
        raise OptionError(
            f"`offset` must not be the response.\n  Found: {offset!r}, which is on the left."
        )
    units = make_units(parsed.terms, groups, costs, keep)
    response = read_response(parsed, frame, family, trusted=trusted)
    weight = read_weights(weights, frame)[response.rows]
    check_weight(weight, response.y)
    scored = with_scoring(response.family, scoring)
    check_scoring(scored, response.y, weight)
    response = dataclasses.replace(response, family=scored)
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


def _rule(found: Chosen, choice: Choice, method: SelectionMethod, problem: Problem) -> str:
    """How the number of units was chosen, in words."""
    if choice.k is None:
        return f"{method.tuning_name} = {method.tuning_value:g} as asked"
    if isinstance(choice.k, int):
        return "as asked" if found.step.size == choice.k else f"{choice.k} were asked for"
    assert found.scores is not None
    score, done = problem.family.score_name, choice.folds.words(len(found.scores.scores))
    if choice.k == "best":
        return f"best {score} in {done}"
    best = best_size([s.size for s in found.steps], found.scores)
    return f"1 s.e. rule, {done} ({score} is best at {best})"


def _fold_notes(folds: Folds) -> tuple[str, ...]:
    if not isinstance(folds.groups_name, str):
        return ()
    return (
        f"Folds keep the rows of each {quoted(folds.groups_name)} together; the column is not among"
        " the terms of `.`.",
    )


def _notes(
    step: Step, steps: Sequence[Step], size: int | str | None, method: SelectionMethod
) -> tuple[str, ...]:
    notes = [] if step.warning is None else [step.warning]
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
                f"the best that was found; another set may have a loss up to {step.gap:.1%} lower."
                " Give the search more time (`time_limit`)."
                if step.gap > 0
                else "it is proved that no other set of its size has a lower one (with its ridge)."
            )
        )
    if isinstance(size, int) and step.size < size and not step.gap:
        notes.append(
            f"Asked for {size} units, but no more than {step.size} enter the path:"
            f" {method.left_out}."
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
    "repeats": 1,
    "new_levels": "error",
    "trusted": False,
}


def _call_text(formula: str, data: object, arguments: Mapping[str, Any]) -> str:
    """The call as it could be typed again, without the arguments that have their default."""
    source = repr(str(data)) if isinstance(data, str | os.PathLike) else "data"
    given = [
        f"{name}={_shown(name, value)}"
        for name, value in arguments.items()
        if not (value is None and name in _NONE) and not _is_default(name, value)
    ]
    return f"select({', '.join([repr(formula), source, *given])})"


_NONE = ("weights", "offset", "groups", "costs", "keep", "fold_groups", "scoring")
"""Arguments without a value by default; an option of a method may be None on purpose."""


def _is_default(name: str, value: object) -> bool:
    return name in _DEFAULTS and isinstance(value, _SHORT) and value == _DEFAULTS[name]


def _shown(name: str, value: object) -> str:
    """A value as it could be typed; what has one value per row by the name of its argument."""
    if name in _PER_ROW and isinstance(value, list | tuple):
        return name
    plain = isinstance(value, _SHORT) or (name == "folds" and isinstance(value, Splitter))
    text = repr(value)
    return text if plain and not text.startswith("<") else name


_SHORT = (str, int, float, dict, list, tuple, SelectionMethod, type(None))
"""Values that are shown; an array is shown by the name of its argument."""

_PER_ROW = ("weights", "offset", "folds", "fold_groups")


def _data_text(data: object, frame: pd.DataFrame) -> str:
    if isinstance(data, str | os.PathLike):
        return Path(data).name
    return f"a data frame of {frame.shape[0]:,} rows and {frame.shape[1]:,} columns"
