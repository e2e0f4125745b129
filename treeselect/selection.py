"""``select()``: formula and data to a design, to a method's path, to a result."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from treeselect.algorithms.registry import find_method, method_text
from treeselect.algorithms.shared.method import OWN, Method, deciding
from treeselect.algorithms.shared.sizes import skipped_sizes
from treeselect.arguments.checks import (
    USUAL_METHOD,
    USUAL_SIZE,
    check_choice,
    check_resamples,
    is_one_of,
    read_seed,
)
from treeselect.arguments.scalars import described
from treeselect.designs.design import FeatureGroups, check_size
from treeselect.designs.encoding import NewLevels
from treeselect.designs.nouns import noun_of
from treeselect.designs.preparing import prepare
from treeselect.designs.problem import Problem
from treeselect.designs.request import Request
from treeselect.designs.scoring import Scoring
from treeselect.errors import OptionError, TreeselectWarning, quoted
from treeselect.frames.labels import labels_in
from treeselect.frames.libraries import library_of
from treeselect.frames.reading import read_data
from treeselect.models.baseline import baseline_of
from treeselect.resampling.asked_folds import read_folds
from treeselect.resampling.choosing import (
    Choice,
    Chosen,
    best_size,
    most_units,
    run_selection,
    scored_sizes,
    wanted_size,
)
from treeselect.resampling.fit import Call
from treeselect.resampling.folds import Folds, Splitter
from treeselect.result import SelectionResult
from treeselect.results.calls import call_text, data_text
from treeselect.running.parallel import check_n_jobs, workers_for
from treeselect.running.progress import announce_compilation, read_progress


def select(
    formula: str,
    data: Any,
    *,
    method: Any = USUAL_METHOD,
    k: int | Literal["1se", "best"] | None = USUAL_SIZE,
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
    labels: Mapping[str, str | None] | None = None,
    progress: bool | None = None,
    **method_options: Any,
) -> SelectionResult:
    """Select the few terms that carry the signal.

    Parameters
    ----------
    formula : str
        R formula: ``"y ~ . - id"``, ``"log(price) ~ C(zip) + age"``. The
        unit of selection is the term: a factor is kept or dropped whole. Times to an event are
        ``"Surv(time, event) ~ ."``, or ``"Surv(start, stop, event) ~ ."`` for rows that are under
        observation after ``start`` up to ``stop``. The event is a truth value or 0 and 1, or is
        named: ``Surv(time, status == "dead")``, all other levels being censored. ``+ strata(site)``
        gives each site, or each combination of several columns, a baseline hazard of its own; it
        is not selected.
    data : frame or path
        One row per observation: a pandas, polars (eager or lazy) or pyarrow table, or the path of
        a ``.csv``, ``.csv.gz``, ``.parquet`` or ``.feather`` file. Tables of the result are given
        in the same library.
        Missing values are allowed everywhere; rows are dropped only if the response, or a
        stratum, is missing.
    method : str, method or selector
        A name in ``treeselect.methods()``: ``"exchange"``, ``"controlburn"``, ``"rrf"``,
        ``"grrf"``, ``"rboost"``, ``"gbfs"``, and the baselines; an object such as
        ``ControlBurn(forests=1)``; or a selector of scikit-learn such as ``SelectKBest()``
        (:class:`treeselect.ForeignSelector` has the options).
    k : int, "1se", "best" or None
        Number of units to keep: an integer; ``"1se"``, the fewest whose cross-validated score is
        within one standard error of the best; ``"best"``; or None, where the method's tuning
        value decides (giving that value implies it). ``"1se"`` and ``"best"`` consider up to 30
        units. Where the path jumps over a size, the next larger set is cut to it. A method that
        decides by itself (``"boruta"``), or a selector of scikit-learn that finds a set of its own
        size, has its way by default, and is cut where `k` is given.
    family : {"auto", "gaussian", "binomial", "multinomial", "poisson", "cox"}
        ``"auto"`` takes text, truth values, categories and numbers that are only 0 and 1 for
        classes, two (binomial) or more (multinomial), other numbers for gaussian; counts must be
        asked for. Of two classes the positive one is 1, True, the last category, else the second
        in sorted order. ``Surv()`` on the left is cox, proportional hazards: methods reduce the
        partial likelihood, with Efron's ties, weights as R's ``coxph`` has them, and risk sets
        within strata, or take its gradients, the martingale residuals, as forests do, which split
        these log-rank scores; ``docs/extending.md`` says which does what.
    weights : str or array of float, shape (n_rows,), optional
        Column or array with case weights, at least 0. A row of weight 0 is as if it were not there.
        If all are whole numbers a weight of 2 is two copies of the row; otherwise weights are
        relative, and a row counts once where rows are counted (the least size of a leaf, draws of
        resamples). Where rows are drawn (bags of trees, folds, resamples) copies go together: in
        rows of their own some would be in the bag and others out of it, and errors out of bag too
        good to be true; the standard errors of a search count them as one observation. Methods that
        draw none give the same answer either way; what transforms in
        the formula learn (a mean, knots) is learned from the rows without their weights. The column
        is not among the terms of ``.``.
    offset : str or array of float, shape (n_rows,), optional
        Column or array with a known part of the linear predictor: it is added, and not selected. On
        the scale of the link: the response's own for numbers, log-odds for two classes, the
        logarithm of the exposure for counts, of the relative risk for times; not for more classes.
        Prediction needs it, too. The column is not among the terms of ``.``.
    groups : dict of str to list of str, optional
        Terms (or variables) that are selected and paid for as one.
    costs : dict of str to float, optional
        Price of a term, variable or group: 0, or from 1e-100 to 1e100; 1 otherwise.
    keep : str or list of str, optional
        Terms, variables or groups that are always in. They count towards `k`.
    resamples : int
        Bootstrap resamples to assess stability on, 2 to 100,000; 0 for none.
    folds : int, splitter or array of int, shape (n_rows,)
        Folds of the cross-validation behind ``"1se"`` and ``"best"``: their number, at least 2,
        with classes, or events, spread evenly; a splitter of scikit-learn such as
        ``TimeSeriesSplit()``, which sees the rows that are used (those with a known response and a
        positive weight), numbered from 0 in their order, and draws by `seed` if its
        ``random_state`` is None; or the number of
        each row's fold, negative for rows that are in every training set.
    repeats : int
        How often to draw a number of `folds`, 1 to 10,000. The standard error is the standard
        deviation over all folds of all repeats, divided by the root of the number of folds in one:
        repeats are not independent (Bengio and Grandvalet 2004).
    fold_groups : str or array, shape (n_rows,), optional
        Column or array, for example of patients or sites: rows of one group belong together, and
        are drawn and held out together everywhere. They are never in the training and the held-out
        rows of a fold; bags of trees, resamples and ``inference()`` draw whole groups, so that
        errors out of bag, which the methods and the forest that predicts choose their sizes by, are
        those of other groups; boosting ends by groups that are held out; standard errors over rows
        are those of sums over groups. Of a series give blocks of time (months, say): with
        ``folds=TimeSeriesSplit()`` alone no fold looks ahead, but rows are drawn into bags one by
        one, and neighbours tell each other. Where such a splitter cuts a block in two, its training
        rows are left out. Each row that is used must have a group, of which there must be two. The
        column is not among the terms of ``.``.
    scoring : str or callable, optional
        Score on held-out rows, greater is better: the name of a scorer of scikit-learn such as
        ``"neg_log_loss"``, a scorer made by ``make_scorer``, or ``scorer(y_true, prediction,
        sample_weight=None)``, where two classes are 0 and 1 (the positive one), more are numbered
        from 0, and a prediction is the mean or the probability of the positive class, of more
        classes a column for each. Times to an event are a structured array with the fields
        ``event`` and ``time`` as scikit-survival has it, and ``start`` and ``stratum`` if the
        formula has a start or strata; the prediction is the relative risk; concordances of
        scikit-survival can be given as they are. By name they have ``"harrell_c"``; ``"uno_c"``,
        concordance weighted by the inverse of the squared probability of being under observation,
        of the events before the time by which 90% of them are; ``"integrated_brier"``, 1 - IBS /
        IBS without terms from the first event to that time, Breslow's hazard and the weights those
        of the training rows (these two need rows without a start); ``"cox_deviance"``, the share of
        the partial likelihood's deviance that is explained, with risk sets of the scored rows.
        Weights are passed to functions that take them. None is the family's: R2, AUC, the share of
        the deviance that is explained, or Harrell's C.
    seed : int, optional
        All randomness, 0 to 2**64 - 1. The same seed gives the same answer for every `n_jobs` and
        every order of the columns. None draws one, which the summary tells.
    n_jobs : int, optional
        Processes for folds and resamples, as joblib counts them; None follows
        ``joblib.parallel_config``, else this process alone.
    new_levels : {"error", "missing", "other"}
        What `predict` does with labels that are not in `data`.
    trusted : bool
        Allow any Python expression in the formula. Never set it for a formula from elsewhere.
    labels : dict of str to str, optional
        What columns are called in summaries, reports, figures and tables for print:
        ``{"wbc": "White blood cells (10^9/l)"}``. Of a term with several variables the label is
        made of theirs; a term can have its own: ``{"log(wbc)": "White blood cells, log scale"}``.
        Names stay names in frames, errors and the formula. None, or empty text, is no label.
        Labels in the data count where none is given here: those of a pandas frame under
        ``data.attrs["labels"]`` or ``["variable_labels"]`` (a dictionary), or of ``read_spss``;
        what pandas keeps of these in a Parquet or Feather file; and the metadata ``label`` of the
        fields of an Arrow table or file. Of a Stata file give
        ``labels=pandas.io.stata.StataReader(path).variable_labels()``.
    progress : bool, optional
        Progress on standard error; None shows it in a terminal only.
    **method_options
        Options of the method, for example ``n_trees=200``.

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
    OutOfMemoryError, WorkerError
        If memory runs out, or a process can't be given its work.
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
    n_jobs = check_n_jobs(n_jobs)
    resamples = check_resamples(resamples)
    seed, progress = read_seed(seed), read_progress(progress)
    asked_method = find_method(method, method_options).giving_way(k)
    chosen_method = deciding(asked_method, k)
    request = Request(
        formula, family, weights, offset, groups, costs, keep, fold_groups, scoring, new_levels,
        trusted, labels,
    )  # fmt: skip
    frame = read_data(data)
    asked_folds = read_folds(folds, repeats, fold_groups, frame)
    model_data = prepare(request, frame, labels_in(data))
    model_data = dataclasses.replace(model_data, library=library_of(data))
    problem = model_data.problem_for(chosen_method)
    choice = Choice(
        _check_k(k, chosen_method, problem), asked_folds.for_rows(model_data.response.rows)
    )
    announce_compilation(progress)
    found = run_selection(
        problem,
        chosen_method,
        model_data.row_weights,
        choice,
        seed=seed,
        workers=workers_for(n_jobs),
        progress=progress,
    )
    if found.step.warning is not None:
        warnings.warn(found.step.warning, TreeselectWarning, stacklevel=2)
    decides = asked_method.tuning_value is None
    rule = _rule(found, choice, chosen_method, problem, decides=decides)
    text = call_text(
        "select", formula, data,
        {"method": method_text(method), "k": k, "resamples": resamples, "folds": folds,
         "repeats": repeats, **request.arguments(), **method_options},
    )  # fmt: skip
    result = SelectionResult(
        design=model_data,
        call=Call(text, data_text(data, frame), rule),
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
                *_notes(found, choice.k, chosen_method, problem.groups),
                *_fold_notes(choice.folds),
                _resample_note(resamples, found.step.size, problem.groups),
                chosen_method.note,
                found.model.note,
            )
            if note is not None
        ),
        choice=choice,
        baseline=baseline_of(
            problem, model_data.weight, found.model, workers_for(n_jobs).n_threads
        ),
    )
    if resamples and found.step.size > 0:
        return result.resample(resamples)
    return result


# --- arguments ---------------------------------------------------------------------------------


def _check_k(k: object, method: Method, problem: Problem) -> int | str | None:
    """The rule for the number of units: a number, a rule's name, or None for the tuning value."""
    if method.tuning_value is not None:
        if k is None or is_one_of(k, ["1se"]):  # the default gives way to an explicit tuning value
            return None
        if method.tuning_value == OWN and isinstance(k, str):
            raise OptionError(
                f"`k={described(k)}` needs sizes to choose from, and {method.name} gives one set,"
                " of its own size.\n  Give a number, to which the set is cut, or leave `k` out."
            )
        raise OptionError(
            f"`k` and `{method.tuning_name}` can't decide both.\n"
            f"  Found: k={described(k)} and {method.tuning_name}={method.tuning_value!r}."
            " Leave one out."
        )
    if k is None:
        way = f"`{method.tuning_name}`, or `k`" if method.tuning_name else "`k`"
        none = "" if method.tuning_name else f" {method.name} has none."
        raise OptionError(
            f"`k=None` lets the tuning value decide, which must then be given.{none}\n  Give {way}."
        )
    if isinstance(k, str):
        check_choice("k", k, ("1se", "best"))
        return str(k)
    return check_size(k, problem.groups)


# --- choice ------------------------------------------------------------------------------------


def _rule(found: Chosen, choice: Choice, method: Method, problem: Problem, *, decides: bool) -> str:
    """How the number of units was chosen, in words."""
    if choice.k is None:
        if decides:
            return f"decided by {method.name} ({method.tuning_words})"
        own = method.tuning_value == OWN
        return f"{method.tuning_words}{'' if own else ' (fixed)'}"
    if isinstance(choice.k, int):
        return "k fixed" if found.step.size == choice.k else f"k = {choice.k} requested"
    assert found.scores is not None
    score, done = problem.family.score_name, choice.folds.words(len(found.scores.scores))
    if choice.k == "best":
        return f"best {score} in {done}"
    best = best_size(scored_sizes(found.scores, problem.groups.keep), found.scores)
    return f"1 s.e. rule, {done} (best {score} at k = {best})"


def _fold_notes(folds: Folds) -> tuple[str, ...]:
    if not isinstance(folds.groups_name, str):
        return ()
    return (
        f"Rows with the same {quoted(folds.groups_name)} stay together in folds, bags of trees and"
        " resamples; `.` in the formula does not include this column.",
    )


def _resample_note(resamples: int, size: int, groups: FeatureGroups) -> str | None:
    """That no resamples were drawn although the call requests them."""
    if not resamples or size > 0:
        return None
    one = noun_of(groups.terms, 1)
    return (
        f"No resamples were drawn, because no {one} was selected; `resample(100, k=1)` selects one"
        f" {one} on each resample."
    )


def _notes(
    found: Chosen, k: int | str | None, method: Method, groups: FeatureGroups
) -> tuple[str, ...]:
    step, steps, many = found.step, found.steps, noun_of(groups.terms)
    notes = [said for said in (step.warning, step.warned) if said is not None]
    if step.cut_from is not None:
        below = max((s.size for s in steps if s.size < step.size), default=0)
        notes.append(
            f"The path jumps from {below} to {step.cut_from} {many}: the larger set was cut to the"
            f" {step.size} most important."
        )
    notes += step.notes
    size = wanted_size(k, found.scores, groups.keep)
    if size is not None and step.size < size and not step.was_cut_short:
        why = "Cross-validation favours" if isinstance(k, str) else "The call requests"
        notes.append(
            f"{why} {size} {noun_of(groups.terms, size)}, but only {step.size}"
            f" {'enters' if step.size == 1 else 'enter'} the path: {method.why_left_out}."
        )
    skipped = skipped_sizes(steps)
    if isinstance(k, str) and skipped:
        *others, last = map(str, skipped)
        sizes = f"{', '.join(others)} or {last}" if others else last
        these = "these sizes" if others else "this size"
        instead = "the next smaller one was scored instead"
        if method.predicts_any_set:
            instead = f"the next larger one was cut to {these}"
        notes.append(
            f"No model with exactly {sizes} {noun_of(groups.terms, skipped[-1])} lies on the path;"
            f" {instead}."
        )
    most = most_units(groups)
    if isinstance(k, str) and step.size == most < len(groups.names):
        notes.append(f"At most {most} {many} were considered; give `k` to select more.")
    return tuple(notes)
