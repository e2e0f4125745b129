"""``compare()`` and the comparison that it returns.

Each method calls the module that does the work; the file is long because of their documentation.
"""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np

from treeselect.algorithms.method import check_final, deciding, model_words
from treeselect.arguments.checks import (
    USUAL_SCORE_RULE,
    check_choice,
    check_digits,
    described,
    file_path,
    found_near,
    members,
    read_seed,
)
from treeselect.comparison.fits import FitComparison, compare_fits
from treeselect.comparison.methods import (
    AllTerms,
    Contestant,
    Methods,
    read_methods,
    read_sizes,
    run_methods,
    run_notes,
    summarise_comparison,
)
from treeselect.comparison.record import Contest
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import Request, prepare, response_label, shown_names
from treeselect.designs.problem import FinalModel
from treeselect.designs.row_sample import check_size_of_sample
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import check_order
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError
from treeselect.frames.tables import library_of, open_table
from treeselect.printing import Summarised, chosen_digits
from treeselect.printing.numbers import counted
from treeselect.resampling.folds import Splitter, mean_repeats, read_folds, split_rows
from treeselect.results.calls import call_text, data_text, once
from treeselect.running.machine import announce_compilation, read_progress
from treeselect.running.parallel import check_n_jobs, workers_for
from treeselect.running.pieces import Course, Piece, read_course
from treeselect.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.base import BaseEstimator

    from treeselect.printing import SummaryContent
    from treeselect.result import SelectionResult


@overload
def compare(
    formula: Sequence[SelectionResult],
    *,
    folds: int | Splitter | Sequence[int] = 5,
    repeats: int = 1,
    scoring: Scoring = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> FitComparison: ...


@overload
def compare(formula: str, data: Any, methods: Methods, **arguments: Any) -> Comparison: ...


def compare(
    formula: str | Sequence[SelectionResult],
    data: Any = None,
    methods: Methods | None = None,
    *,
    k: int | Sequence[int] | Literal["1se", "best"] = USUAL_SCORE_RULE,
    folds: int | Splitter | Sequence[int] = 5,
    repeats: int = 1,
    fold_groups: str | Sequence[Any] | None = None,
    scoring: Scoring = None,
    family: str = "auto",
    weights: str | Sequence[float] | None = None,
    offset: str | Sequence[float] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    costs: Mapping[str, float] | None = None,
    keep: Iterable[str] | str | None = None,
    monotone: Mapping[str, int] | None = None,
    model: FinalModel | BaseEstimator | Literal["own"] | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    on_piece: Callable[[Piece], object] | None = None,
    **options: Any,
) -> Comparison | FitComparison:
    """Compare methods by held-out score, number of terms, stability over the folds, and time.

    In each fold, every method computes its selection path on the training rows; the set of each
    size is refitted and scored on the held-out rows. Folds, seeds and encoded data are the same for
    all methods. The score at k is that of the largest set of at most k terms.

    ``compare([fit_a, fit_b])`` compares selections instead, as R's ``anova()`` of two models.

    Parameters
    ----------
    formula : str, or list of SelectionResult
        As in :func:`treeselect.select`; or fits of the same response to the same rows, with the
        same case weights, offset and clusters: ``[fit.update(missing=rule) for rule in ("level",
        "impute", "drop")]`` puts treatments of missing values side by side. Then only `folds`,
        `repeats`, `scoring` (by default that of the fits), `seed` (by default that of the first),
        `n_jobs` and `progress` apply.
    data : frame or path
        As in :func:`treeselect.select`; not given for fits.
    methods : list of str, method or selector, or dict of str to these
        Names in ``treeselect.methods()``, objects such as ``RRF(n_trees=50)``, or scikit-learn
        selectors such as ``SelectKBest()``; the keys of a dict name the methods in the comparison.
        A method with a given tuning parameter is compared at the set that it yields, whatever its
        size; so is a selector that determines its own number.
    k : int, list of int, "1se" or "best"
        Size at which methods are compared. An integer: at most k terms for every method, with all
        sizes up to k scored. ``"1se"`` and ``"best"``: each method at its own size by that rule, at
        most 30. A list: only these sizes are scored, and each method is compared at one of them, by
        the one-standard-error rule.
    folds, repeats, fold_groups, scoring
        As in :func:`treeselect.select`: how rows are held out, and how they are scored.
    family, weights, offset, groups, costs, keep, monotone, model
        As in :func:`treeselect.select`; all methods are scored with the same `model`, but with
        ``model="own"`` the lasso and stepwise selection by a generalised linear model of their
        terms, as they are published, exchange search by the model of ``select()``, and the others
        by their forests. By default all have forests. Methods that cannot use costs refuse them.
    seed : int, optional
        Seed of all randomness, 0 to 2**64 - 1. A method's scores by size are those of
        ``select(..., method, seed=seed).path`` with the same folds and final model.
    n_jobs : int, optional
        As in :func:`treeselect.select`.
    checkpoint, on_piece : path, callable, optional
        As in :meth:`SelectionResult.resample`; a piece is a method on a fold. `checkpoint` needs a
        `seed`.
    **options
        The arguments below.

    Other Parameters
    ----------------
    weights_kind, positive, new_levels, trusted, labels, na, missing, rows, progress
        As in :func:`treeselect.select`. The rows that were drawn are the same for all methods.

    Returns
    -------
    Comparison
        ``.summary()``, ``.plot(kind)``, ``.report(path)``; tables ``.glance()``, ``.curves()``,
        ``.differences()``, ``.terms()``, ``.tidy()``.
    FitComparison
        For fits: ``.summary()``, ``.tidy()``, ``.glance()``, ``.difference``: the second fit minus
        the first.

    Raises
    ------
    FormulaError
        If the formula can't be read, names unknown columns, or would run code.
    DataError
        If the data can't be used as they are; for fits if they have other responses, rows,
        weights, offsets or clusters, or were loaded without their data.
    OptionError, MethodError
        If an argument, a method, or one of its options is not allowed; for fits also if their
        scores differ.
    OutOfMemoryError, WorkerError
        If memory runs out, or a process ends before its work is done or can't be given it.

    Notes
    -----
    If the call is stopped (Ctrl-C), it returns the folds in which all methods are finished,
    provided that there are two or more. ``.partial`` is then True, and summary and report say so.

    In each fold all fits are selected anew on the training rows, each with its formula, method and
    rule for `k`. Refitting the terms that were selected on all rows would be optimistic for all,
    and more so for the larger search, because held-out rows took part in the selection. The
    difference is paired by fold, with the standard error of Nadeau and Bengio [1]_.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52,
       239-281.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> methods = [treeselect.RRF(n_trees=20), "mrmr"]
    >>> found = treeselect.compare("survived ~ .", data, methods, k=3, folds=3, seed=1)
    >>> found.glance()["method"].tolist()
    ['rrf', 'mrmr']
    >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
    >>> bool(treeselect.compare([fit, fit.update("~ . - sex")], folds=3).difference.high < 0)
    True
    """
    given: dict[str, Any] = {
        "formula": formula, "methods": once(methods), "k": k, "folds": folds, "repeats": repeats,
        "fold_groups": fold_groups, "scoring": scoring, "family": family, "weights": weights,
        "offset": offset, "groups": groups, "costs": costs, "keep": once(keep),
        "monotone": monotone, "model": model, "seed": seed,
    }  # fmt: skip
    if not isinstance(formula, str):
        others = {"data": data, "checkpoint": checkpoint, "on_piece": on_piece}
        return _compare_fits(formula, {**given, **others}, n_jobs, options)
    others = _other_arguments(options)
    workers, progress = workers_for(check_n_jobs(n_jobs)), read_progress(others["progress"])
    course = read_course(workers, progress, checkpoint, on_piece)
    if checkpoint is not None and seed is None:
        raise OptionError(
            "`checkpoint` needs a `seed`: without one, the next call draws another and can't"
            " resume.\n  Found: seed=None."
        )
    given["seed"] = seed = read_seed(seed)
    contestants = tuple(
        Contestant(label, deciding(method, k)) for label, method in read_methods(given["methods"])
    )
    own_models = isinstance(model, str) and model == "own"
    if isinstance(model, str):
        check_choice("model", model, (*get_args(FinalModel), "own"))
    for _, method in contestants:
        check_final(method, None if own_models else model)
    known = {**given, **others}
    asked_for = known | ({"model": None} if own_models else {})
    request = Request(**{own.name: asked_for[own.name] for own in dataclasses.fields(Request)})
    rows = check_size_of_sample(others["rows"])
    check_order(
        data, **{name: asked_for[name] for name in ("weights", "offset", "fold_groups", "folds")}
    )
    table = open_table(data, rows)
    # Here an integer `k` needs folds too, so errors must not advise one.
    asked = dataclasses.replace(read_folds(folds, repeats, fold_groups, len(table)), choose=False)
    model_data = prepare(request, table, table.labels, rows=rows, seed=seed)
    rule, sizes = read_sizes(k, model_data.arrays.groups)
    announce_compilation(course.progress)
    asked = asked.for_rows(model_data.response.rows)
    splits = split_rows(
        model_data.problem, model_data.row_weights, asked, stream_seed(seed, "cross-validation")
    )
    fitted = (*contestants, Contestant(AllTerms().name, AllTerms()))
    problems = model_data.problems_for([method for _, method in fitted])
    if own_models:
        problems = [
            dataclasses.replace(problem, model=method.own_model or method.usual_model)
            for problem, (_, method) in zip(problems, fitted, strict=True)
        ]
    own_sizes = [sizes if method.tuning_value is None else None for _, method in contestants]
    own_sizes.append((0, len(model_data.arrays.groups.names)))  # the null and the full model
    (*runs, reference_run), done = run_methods(
        problems, fitted, model_data.row_weights, splits, own_sizes, seed, course
    )
    n_asked = len(splits)
    per_repeat = asked.folds if isinstance(asked.folds, int) else n_asked
    splits = tuple(splits[number] for number in done)
    typed = call_text("compare", data, {**known, "k": members(k) or k}, _defaults())
    copies, response = model_data.row_weights.copies, model_data.response
    training = copies * model_data.problem.in_training
    names, notes = model_data.arrays.groups.names, []
    if (sample := model_data.sample) is not None:
        of = f"{model_data.rows.used:,} of {sample.of:,} rows, stratified by {sample.by}"
        notes = [f"Compared on a sample of {of}."]
    return Comparison(
        runs=tuple(runs),
        reference_run=reference_run,
        units=names,
        terms_of_unit=tuple(model_data.terms_of([name]) for name in names),
        assessed=model_data.free,
        n_kept=int(model_data.arrays.groups.keep.sum()),
        rule=rule,
        place_of_fold=np.column_stack(np.divmod(done, per_repeat)),
        n_train=np.array([training[s.train].sum() for s in splits], dtype=np.int64),
        n_left_out=np.array([(copies - training)[s.train].sum() for s in splits], dtype=np.int64),
        n_test=np.array([copies[s.test].sum() for s in splits], dtype=np.int64),
        repeats=mean_repeats(splits),
        response=response.name,
        family=response.family_text,
        score_name=response.family.score_name,
        score_words=response.family.score_words,
        score_bounds=response.family.score_bounds,
        scheme=asked.words(n_asked),
        call=typed.text,
        unshown=typed.unshown,
        data=data_text(data, (len(table), len(table.columns))),
        seed=seed,
        notes=(
            *notes,
            _model_note(model_data, contestants if own_models else ()),
            *run_notes(contestants, runs, model_data.notes),
        ),
        library=library_of(data),
        asked=n_asked if len(splits) < n_asked else None,
        follow_up=response.follow_up,
        weights_facts=model_data.weights_facts,
        labels=shown_names(model_data) | response_label(model_data),
    )


OTHERS: dict[str, Any] = {
    "weights_kind": None, "positive": None, "new_levels": "error", "trusted": False,
    "labels": None, "na": None, "missing": "level", "rows": None, "progress": None,
}  # fmt: skip
"""Arguments that are rarely needed."""


def _defaults() -> dict[str, Any]:
    own = inspect.signature(compare).parameters
    return {name: parameter.default for name, parameter in own.items()} | OTHERS


def _other_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in OTHERS:
            known = _defaults()
            raise OptionError(
                f"`compare()` has no argument `{name}`.\n{found_near(name, known)}\n"
                "  Options of a method are given with it: `[RRF(n_trees=50)]`."
            )
    return OTHERS | dict(options)


def _compare_fits(
    fits: Any, given: Mapping[str, Any], n_jobs: int | None, options: Mapping[str, Any]
) -> FitComparison:
    """Selections, after a check that nothing was given that would be ignored."""
    from treeselect.result import SelectionResult

    listed = fits if isinstance(fits, list | tuple) else [fits]
    if len(listed) < 2 or not all(isinstance(fit, SelectionResult) for fit in listed):
        found = ", ".join(map(described, listed[:3])) or "none"
        raise OptionError(
            "`compare()` needs a formula, data and methods, or a list of results of"
            f" `select()`, two or more.\n  Found: {found}."
        )
    defaults, others = _defaults(), _other_arguments(options)
    for name, value in {**given, **others}.items():
        apart = name in ("formula", "folds", "repeats", "scoring", "seed", "progress")
        if not apart and value is not defaults[name]:
            raise OptionError(
                f"`{name}` must be left out where fits are compared.\n  Found: {described(value)}."
            )
    workers = workers_for(check_n_jobs(n_jobs))
    return compare_fits(
        [fit._fit for fit in fits], given["folds"], repeats=given["repeats"],
        scoring=given["scoring"], seed=given["seed"],
        course=Course(workers, read_progress(others["progress"])),
    )  # fmt: skip


def _model_note(data: ModelData, own: Sequence[Contestant]) -> str:
    if data.model is not None:
        words = model_words(data.model, data.response.family)
        return f"The scores of all methods are those of {words}."
    family, others = data.response.family, dict[FinalModel, list[str]]()
    for label, method in own:
        if (model := method.own_model or method.usual_model) is not None:
            others.setdefault(model, []).append(label)
    apart = [f"for {', '.join(n)} those of {model_words(m, family)}" for m, n in others.items()]
    said = "The scores are those of a random forest of the selected terms"
    if own:
        return f"{said}{', but ' if apart else ''}{'; '.join(apart)}."
    return (
        f'{said}, unless the options of a method say otherwise. `model="own"` scores what each'
        " method fits by itself."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Summarised, Contest):
    """Methods compared on the same folds.

    Returned by :func:`treeselect.compare`. Its attributes are those of
    :class:`treeselect.comparison.record.Contest`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> found = treeselect.compare("survived ~ .", data, ["mrmr", "stepwise"], k=2, folds=2, seed=1)
    >>> found.methods
    ('mrmr', 'stepwise')
    >>> found.tidy()["score"].between(0.5, 1).all()
    np.True_
    """

    def _content(self) -> SummaryContent:
        return summarise_comparison(self)

    def plot(self, kind: str = "scores", *, ax: Axes | None = None) -> Axes:
        """Draw one figure with matplotlib, an optional extra.

        Parameters
        ----------
        kind : {"scores", "differences"}
            Score against size, plus and minus one standard error; differences from the best, with
            their intervals.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        OptionError
            If the figure is unknown, or differences are requested for a single method.
        MissingPackageError
            If matplotlib is not installed.
        """
        from treeselect.reports.plots import plot_comparison

        return plot_comparison(self, kind, ax)

    def report(
        self,
        path: str | os.PathLike[str],
        template: str | os.PathLike[str] | None = None,
        *,
        sections: Iterable[str] | None = None,
        digits: int | None = None,
    ) -> Path:
        """Write the comparison as a self-contained HTML file, as Markdown or for Word.

        Parameters
        ----------
        path, template, sections, digits
            As in :meth:`SelectionResult.report`, but with the template ``comparison.html.j2`` and
            the sections that are its blocks, such as ``["methods", "scores"]``.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        OptionError
            As for :meth:`SelectionResult.report`.
        """
        from treeselect.reports.pages import write_comparison

        own = None if template is None else file_path(template, name="template")
        with chosen_digits(check_digits(digits)):
            return write_comparison(self, file_path(path), own, sections)

    def __repr__(self) -> str:
        methods = counted(len(self.runs), "method")
        best = f"{self.score_name} best for {shown(self.best)}"
        return f"<Comparison: {methods} in {len(self.n_test)} folds, {best}>"
