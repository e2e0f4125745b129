"""``select()``: from formula and data to a design, a selection path and a result.

The file is long because it documents the arguments of ``select()``.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from treeselect.algorithms.method import OWN, Method, deciding
from treeselect.algorithms.registry import find_method
from treeselect.algorithms.task import skipped_sizes
from treeselect.arguments.checks import (
    AUTO,
    USUAL_METHOD,
    USUAL_SCORE_RULE,
    USUAL_SIZE,
    NotGiven,
    check_resamples,
    check_rule,
    described,
    read_seed,
)
from treeselect.designs.encoding import NewLevels
from treeselect.designs.preparing import Request, prepare
from treeselect.designs.problem import FeatureGroups, Problem, check_size, noun_of
from treeselect.designs.row_sample import check_size_of_sample
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import WeightsKind
from treeselect.engine.rounding import at_least
from treeselect.errors import OptionError, StabilityError, TreeselectWarning, quoted
from treeselect.frames.opening import Codes
from treeselect.frames.tables import library_of, open_table
from treeselect.models.model import baseline_of
from treeselect.resampling.choosing import (
    Choice,
    Chosen,
    Procedure,
    best_size,
    most_units,
    run_selection,
    scored_sizes,
    sufficient_words,
    wanted_size,
)
from treeselect.resampling.cross_validation import standard_error
from treeselect.resampling.fit import Asked, Call
from treeselect.resampling.folds import Folds, Splitter, read_folds
from treeselect.resampling.held_out import confirm
from treeselect.result import SelectionResult
from treeselect.results.calls import call_text, data_text, given_arguments, once
from treeselect.running.machine import announce_compilation, read_progress
from treeselect.running.parallel import check_n_jobs, workers_for

_HALVES = 20
"""Half-samples by default, where tests choose the number of units."""


def select(
    formula: str,
    data: Any,
    *,
    method: Any = USUAL_METHOD,
    k: int | Literal["auto", "1se", "best"] | None = USUAL_SIZE,
    family: str = "auto",
    weights: str | Sequence[float] | None = None,
    weights_kind: WeightsKind | None = None,
    offset: str | Sequence[float] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    keep: Iterable[str] | str | None = None,
    resamples: int | None = None,
    folds: int | Splitter | Sequence[int] | None = None,
    repeats: int | None = None,
    fold_groups: str | Sequence[Any] | None = None,
    scoring: Scoring = None,
    monotone: Mapping[str, int] | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    new_levels: NewLevels = "error",
    trusted: bool = False,
    labels: Mapping[str, str | None] | None = None,
    na: Codes = None,
    rows: int | None = None,
    progress: bool | None = None,
    **method_options: Any,
) -> SelectionResult:
    """Select the terms of a formula that are needed to predict the response.

    `method` orders the candidate terms along a selection path, `k` determines how many of them are
    selected, and a final model of the selected terms makes the predictions.

    Parameters
    ----------
    formula : str
        R formula: ``"y ~ . - id"``, ``"log(price) ~ C(zip) + age"``. Terms are selected, not
        columns: a factor enters or leaves the model as a whole. Right-censored times are
        ``"Surv(time, event) ~ ."``; rows under observation after ``start`` and up to ``stop`` are
        ``"Surv(start, stop, event) ~ ."``. The event is logical, 0 and 1, or a named level: in
        ``Surv(time, status == "dead")`` all other levels are censored. ``+ strata(site)`` gives
        each site, or each combination of several columns, its own baseline hazard; strata are not
        selected.
    data : frame or path
        One row per observation: a pandas, polars (eager or lazy) or pyarrow table, a DuckDB
        relation, or the path of a file: CSV, Parquet, Feather, Stata, SPSS, SAS or Excel, as in
        :func:`treeselect.read`. Tables of results are in the same library. A folder of Parquet
        files, a pattern such as ``"folder/*.parquet"``, an Arrow dataset, a DuckDB relation and a
        Dask DataFrame are read in batches and may be larger than memory: see `rows`. Missing values
        are allowed in all columns; a row is dropped only if its response or stratum is missing.
    method : str, method or selector
        A name in ``treeselect.methods()``: ``"exchange"``, ``"controlburn"``, ``"rrf"``,
        ``"grrf"``, ``"rboost"``, ``"gbfs"`` and the baselines; an object such as
        ``ControlBurn(forests=1)``; or a scikit-learn selector such as ``SelectKBest()``
        (:class:`treeselect.ForeignSelector` has the options).
    k : int, "auto", "1se", "best" or None
        Number of terms to select; a group of `groups` counts as one. ``"auto"``, the default, is
        the fewest terms such that no larger set predicts better, by tests that count the search
        (``resampling.sufficiency``); it may be 0. ``"1se"``, the default if `folds` or `repeats`
        are given, is the smallest number whose cross-validated score is within one standard error
        of the best score, ``"best"`` the number with the best score. All consider at most 30. None
        leaves the number to the tuning parameter of the method, and is implied if that is given. If
        no set on the path has the size, the next larger one is cut to it. Methods that determine
        the set themselves (``"boruta"`` and some scikit-learn selectors) do so by default; an
        integer `k` cuts it.
    family : {"auto", "gaussian", "binomial", "multinomial", "poisson", "cox"}
        ``"auto"`` treats text, logical values, categories and numbers that are all 0 or 1 as
        classes, two (binomial) or more (multinomial), and other numbers as gaussian; counts need
        ``"poisson"``. The positive class of two is 1, True, the last category, or otherwise the
        second in sorted order. A ``Surv()`` response is cox, with proportional hazards: methods
        use the partial likelihood (Efron's method for ties, weights as in R's ``coxph``, risk sets
        within strata) or its gradients, the martingale residuals; forests split these log-rank
        scores.
    weights : str or array of float, shape (n_rows,), optional
        Column or array of case weights, at least 0. A row of weight 0 is ignored. The column is
        excluded from ``.``. Weights that are all equal have no effect, unless `weights_kind` is
        ``"frequency"``. Parameters of transforms in the formula (a mean, knots) are estimated
        without weights other than frequencies.
    weights_kind : {"frequency", "sampling", "precision"}, optional
        ``"frequency"``: counts of identical rows. A weight of 2 stands for two observations, which
        bootstrap samples, folds and resamples draw one by one: a table of counts gives the result
        of the rows that it counts. If the copies are of one observation, give its number as
        `fold_groups`, so that they stay together. More than a million observations, and four per
        row, are drawn in lots of equal rows.
        ``"sampling"``: inverse probabilities of selection, such as survey weights. Weights are
        relative, each row counts once wherever rows are counted (minimum leaf size, draws of
        resamples), and standard errors of linear models are robust. ``"precision"``: inverse
        variances; relative too, with model-based standard errors. None reads whole numbers with a
        mean of at most 10 as frequencies, whole numbers with a larger mean as sampling weights
        (with a TreeselectWarning), and other numbers as precision weights.
    offset : str or array of float, shape (n_rows,), optional
        Column or array with a known component of the linear predictor, which is added and not
        selected. It is on the link scale: the scale of the response if that is gaussian, the log
        odds for two classes, the log of the exposure for counts, the log hazard for survival; more
        than two classes have none. Prediction needs it too. The column is excluded from ``.``.
    groups : dict of str to list of str, optional
        Terms (or variables) that enter and leave the model together, at one cost.
    costs : dict of str to float, optional
        Cost of a term, variable or group: 0, or from 1e-100 to 1e100; 1 by default.
    keep : str or list of str, optional
        Terms, variables or groups that are forced in. They count towards `k`.
    resamples : int, optional
        Number of resamples to assess stability, 2 to 100,000; 0 for none: bootstrap resamples or,
        with ``k="auto"``, random halves of the rows in complementary pairs, which also score sets
        by size. Default: 20 halves with ``k="auto"``, otherwise none.
    folds : int, splitter or array of int, shape (n_rows,), optional
        Folds of the cross-validation behind ``"1se"`` and ``"best"``, which alone use them: a
        number of at least 2, with classes or events balanced over the folds (5 by default); a
        scikit-learn splitter such as ``TimeSeriesSplit()``; or the fold number of each row,
        negative for rows that are in every training set. A splitter receives the rows in use (known
        response, positive weight), numbered from 0 in order, and draws with `seed` if its
        ``random_state`` is None. On more than 20,000 rows, exchange search scores its sets on the
        rows that it spares, in parts of this number, unless a splitter or fold numbers are given
        (see its notes).
    repeats : int, optional
        Number of repeats of that cross-validation, 1 (the default) to 10,000, if `folds` is a
        number. Repeats are not independent: the standard error is the standard deviation over all
        folds of all repeats, divided by the square root of the number of folds in one repeat
        (Bengio and Grandvalet 2004).
    fold_groups : str or array, shape (n_rows,), optional
        Column or array that identifies clusters of rows, such as patients or sites. No cluster is
        ever divided: its rows are never in both the training and the held-out rows of a fold, and
        bootstrap samples of trees, resamples and ``inference()`` draw whole clusters. Out-of-bag
        errors, by which the methods and the final forest choose their sizes, are then errors on
        other clusters; boosting stops by held-out clusters; standard errors over rows are computed
        from sums over clusters. For time series give blocks of time, such as months.
        ``folds=TimeSeriesSplit()`` alone prevents folds from using the future, but trees would
        still draw single rows from a correlated series. If such a splitter divides a block, the
        training rows of that block are left out. Each row in use needs a cluster, and there must be
        at least two. The column is excluded from ``.``.
    scoring : str or callable, optional
        Score on held-out rows; greater is better. None is the default of the family: R2, AUC, the
        proportion of deviance explained, or Harrell's C. Otherwise it is the name of a scikit-learn
        scorer such as ``"neg_log_loss"``, a scorer made by ``make_scorer``, or a function
        ``scorer(y_true, prediction, sample_weight=None)``, which receives weights if it accepts
        them. Two classes are then 0 and 1 (the positive one), more classes are numbered from 0; the
        prediction is the mean, the probability of the positive class, or one column per class.

        For survival, ``y_true`` is a structured array with the fields ``event`` and ``time``, as in
        scikit-survival, and with ``start`` and ``stratum`` if the formula has them; the prediction
        is the relative risk. The concordances of scikit-survival can be given directly. Scores by
        name are ``"harrell_c"``; ``"uno_c"``, concordance weighted by the inverse squared
        probability of being under observation, for the events before the time by which 90% of them
        occur; ``"integrated_brier"``, 1 - IBS / (IBS without terms) from the first event to that
        time, with Breslow's hazard and the weights estimated from the training rows; and
        ``"cox_deviance"``, the proportion of the partial-likelihood deviance explained, with risk
        sets of the scored rows. ``"uno_c"`` and ``"integrated_brier"`` need rows without a start.
    monotone : dict of str to int, optional
        Terms with which predictions must not decrease (1) or must not increase (-1), whatever the
        values of the other terms: ``{"age": 1, "dose": -1}``. The constraint is on the mean, the
        probability of the positive class, the rate, or the hazard. Terms must be numbers of one
        column. The trees of all methods and of the final model observe it; methods without trees
        ignore it in the selection. A split on the term must order the values of its children,
        whose mean bounds all values below it (the "basic" method of LightGBM). A missing value has
        no place in the order. More than two classes are refused.
    seed : int, optional
        Seed of all randomness, 0 to 2**64 - 1. The same seed gives the same result for every
        `n_jobs` and every order of the columns. None draws a seed, which the summary reports.
    n_jobs : int, optional
        Number of processes for folds and resamples, counted as in joblib; None follows
        ``joblib.parallel_config``, and otherwise uses this process alone.
    new_levels : {"error", "missing", "other"}
        How `predict` treats factor levels that are not in `data`.
    trusted : bool
        Allow any Python expression in the formula. Never set it for a formula from elsewhere.
    labels : dict of str to str, optional
        Labels of columns in summaries, reports, figures and tables for print:
        ``{"wbc": "White blood cells (10^9/l)"}``. The label of a term with several variables is
        composed of theirs; a term can have its own:
        ``{"log(wbc)": "White blood cells, log scale"}``. Frames, errors and the formula keep the
        names. None, or empty text, is no label. Labels in the data are used where none is given
        here: those of a pandas frame in ``data.attrs["labels"]`` or ``["variable_labels"]`` (a
        dictionary), also as read by ``read_spss`` or kept by pandas in a Parquet or Feather file,
        the metadata ``label`` of the fields of an Arrow table or file, and those of Stata, SPSS and
        SAS files.
    na : str, number, list or dict, optional
        Codes for missing values: ``na="?"``, ``na=[-9, "n/a"]``, or by column,
        ``na={"income": [8, 9], "smoker": "unknown"}``. Text is compared with text, without the
        blanks around it, and numbers with numbers. A column of text that holds nothing but numbers
        without its codes becomes numeric. The codes hold for new data, too.
    rows : int, optional
        Most rows to select on, at least 20. Of more rows a sample of that size is drawn with
        `seed`, without replacement and in proportion to strata of the response: its classes, ten
        quantile groups of numbers, events of times; with `fold_groups` it consists of whole
        clusters. Search, path and final model see the sample alone; levels of text and bins of
        numbers are those of all rows. ``.held_out`` is the score of the final model on the other
        rows, which had no part in the selection. None uses all rows in memory, and 200,000 of data
        that are read in batches (see `data`); ``docs/large_data`` says what this costs.
    progress : bool, optional
        Show progress on standard error; None shows it in a terminal only.
    **method_options
        Options of the method, for example ``n_trees=200``.

    Returns
    -------
    SelectionResult
        The selected terms are ``.selected``. ``.summary()`` prints the result, ``.report(path)``
        writes it as a page, ``.predict(new)`` uses the final model. ``.performance()`` gives the
        score by nested cross-validation, ``.resample(100)`` the stability of the selection.

    Raises
    ------
    FormulaError
        If the formula can't be read, names unknown columns, or would run code.
    DataError
        If the data can't be used as they are.
    OptionError, MethodError
        If an argument, the method, or one of its options is not allowed.
    StabilityError
        If the response is constant on a resample.
    OutOfMemoryError, WorkerError
        If memory runs out, or a process ends before its work is done or can't be given it.

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
    given = dict(locals())
    if isinstance(k, NotGiven) and not (folds is None and repeats is None):
        k = USUAL_SCORE_RULE
    n_jobs = check_n_jobs(n_jobs)
    resamples = None if resamples is None else check_resamples(resamples)
    seed, progress = read_seed(seed), read_progress(progress)
    keep = once(keep)
    asked_method = find_method(method, method_options).giving_way(k)
    chosen_method = deciding(asked_method, k)
    request = Request(
        formula, family, weights, offset, groups, costs, keep, fold_groups, scoring, new_levels,
        trusted, labels, monotone, weights_kind, na,
    )  # fmt: skip
    rows = check_size_of_sample(rows)
    table = open_table(data, rows)
    asked_folds = read_folds(
        5 if folds is None else folds, 1 if repeats is None else repeats, fold_groups, len(table)
    )
    model_data = prepare(request, table, table.labels, rows=rows, seed=seed)
    model_data = dataclasses.replace(model_data, library=library_of(data))
    problem = model_data.problem_for(chosen_method)
    choice = Choice(
        _check_k(k, chosen_method, problem), asked_folds.for_rows(model_data.response.rows)
    )
    _check_folds(choice.k, folds=folds, repeats=repeats)
    announce_compilation(progress)
    asked = Procedure(problem, chosen_method, model_data.row_weights, choice)
    found, model = run_selection(asked, seed, workers_for(n_jobs), progress)
    if found.step.warning is not None:
        warnings.warn(found.step.warning, TreeselectWarning, stacklevel=2)
    usual = _HALVES if choice.k == AUTO else 0
    n_drawn = (usual if resamples is None else resamples) if found.step.size > 0 else 0
    decides = asked_method.tuning_value is None
    rule = _rule(found, choice, chosen_method, problem, decides=decides)
    arguments = given_arguments(given) | {"seed": seed, "keep": keep}
    typed = call_text(select, data, arguments)
    result = SelectionResult(
        design=model_data,
        call=Call(
            typed.text,
            data_text(data, (len(table), len(table.columns))),
            rule,
            unshown=" ".join(typed.unshown),
        ),
        chosen_method=chosen_method,
        steps=found.steps,
        step=found.step,
        scores=found.scores,
        p_values=found.p_values,
        model=model,
        seed=seed,
        n_jobs=n_jobs,
        progress=progress,
        notes=tuple(
            note
            for note in (
                *_notes(found, choice.k, chosen_method, problem.groups),
                *_fold_notes(choice.folds),
                _resample_note(resamples or 0, found.step.size, problem.groups),
                chosen_method.note,
                model.note,
            )
            if note is not None
        ),
        choice=choice,
        baseline=baseline_of(problem, model_data.weight, model, workers_for(n_jobs).n_threads),
        asked=Asked(arguments, data),
        held_out=confirm(model_data, model, table, request, workers_for(n_jobs).n_threads),
    )
    if not n_drawn:
        return result
    try:
        return dataclasses.replace(result.resample(n_drawn), call=result.call)
    except StabilityError as error:
        if resamples is not None:
            raise
        note = f"No half-samples were searched. {error}"
        return dataclasses.replace(result, notes=(*result.notes, note))


# --- arguments ---------------------------------------------------------------------------------


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


def _check_folds(k: int | str | None, **given: object) -> None:
    """Raise an OptionError for folds that would choose nothing."""
    for name, value in given.items():
        if value is not None and k == AUTO:
            raise OptionError(
                f'`{name}` needs `k="1se"` or `k="best"`, which choose the number of terms by'
                f' cross-validated scores.\n  Found: k="auto". Omit `{name}`, or `k`.'
            )


# --- choice ------------------------------------------------------------------------------------


def _rule(found: Chosen, choice: Choice, method: Method, problem: Problem, *, decides: bool) -> str:
    """How the number of units was chosen, in words."""
    if choice.k is None:
        if method.tuning_value == OWN:
            return method.tuning_words
        way = f"chosen by {method.name} ({{}})" if decides else "{} (fixed)"
        return way.format(method.tuning_words)
    if isinstance(choice.k, int):
        return "k fixed" if found.step.size == choice.k else f"k = {choice.k} requested"
    if found.p_values is not None:
        return sufficient_words(found.p_values)
    assert found.scores is not None
    score, done = problem.family.score_name, found.scores.words(choice.folds)
    if choice.k == "best":
        return f"best {score}, {done}"
    best = best_size(scored_sizes(found.scores, problem.groups.keep), found.scores)
    return f"1 s.e. rule, {done} (best {score} at k = {best})"


def _end_notes(found: Chosen, groups: FeatureGroups) -> list[str]:
    """That the path ends before all units are in, and where these predict better."""
    scores, n_units, most = found.scores, len(groups.names), most_units(groups)
    if scores is None or scores.full is None:
        return []
    notes, many = [], noun_of(groups.terms)
    last = max(size for size in scores.sizes if size < n_units)
    if last < min(most, n_units - 1):
        one_path = scores.spared is not None
        ends = "The path ends with" if one_path else "Most paths end with at most"
        notes.append(
            f"{ends} {last} {noun_of(groups.terms, last)}: of larger sets, only that"
            f" of all {n_units:,} {many} has a score."
        )
    least = scores.full_mean - standard_error(scores.full, scores.repeats)
    if n_units not in scores.sizes and not at_least(max(scores.mean[scores.sizes]), least):
        notes.append(
            f"A model with all {n_units:,} {many} predicts better than those with up to {last}, by"
            " more than one standard error."
        )
    return notes


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
    notes += _end_notes(found, groups)
    skipped = skipped_sizes([s for s in steps if not np.isnan(s.tuning)] or steps)
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
