"""How many units: cross-validated scores by size, the one-standard-error rule, cutting to size."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from treeselect.algorithms.base import Model, Problem, SelectionMethod, Step, empty_step
from treeselect.design import BoolArray, FloatArray, WeightArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, quoted
from treeselect.folds import Folds, Split, mean_repeats, split_rows
from treeselect.parallel import run_all
from treeselect.progress import track

MOST_UNITS = 30
"""Largest size that ``k="1se"`` and ``k="best"`` consider."""


@dataclass(frozen=True, slots=True)
class ScoreBySize:
    """Cross-validated scores, aligned by size.

    Attributes
    ----------
    scores : ndarray of float, shape (n_folds, max_size + 1)
        Score of each fold's refitted model on its held-out rows, for its largest set of at most
        s units; the constant model where there is none.
    repeats : float
        How often a row is held out, on average; the folds are those of all repeats.
    """

    scores: FloatArray
    repeats: float = 1.0

    @property
    def mean(self) -> FloatArray:
        """Mean over the folds, shape (max_size + 1,)."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean, shape (max_size + 1,): see :func:`standard_error`."""
        return np.asarray(standard_error(self.scores, self.repeats))


def standard_error(scores: FloatArray, repeats: float) -> Any:
    """Standard error over folds: their standard deviation by the root of their number.

    Parameters
    ----------
    scores : ndarray of float, shape (n_folds, ...)
        Of the folds of all repeats.
    repeats : float
        How often a row is held out. The deviation is that over the folds of all repeats; the number
        is that of one repeat, as repeats split the same rows again and are not independent. Folds
        are not either, since they share training rows: no unbiased estimate of their variance
        exists (Bengio and Grandvalet 2004), and this one is an approximation.
    """
    return scores.std(axis=0, ddof=1) / np.sqrt(len(scores) / repeats)


@dataclass(frozen=True, slots=True)
class Choice:
    """How the number of units is chosen.

    Attributes
    ----------
    k : int, "1se", "best" or None
        Where it is None, the method's tuning value decides.
    folds : Folds
        Of the cross-validation behind ``"1se"`` and ``"best"``.
    """

    k: int | str | None = None
    folds: Folds = field(default_factory=Folds)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a selection comes to: see the attributes of that name of ``SelectionResult``."""

    steps: tuple[Step, ...]
    step: Step
    scores: ScoreBySize | None
    model: Model


def run_selection(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    choice: Choice,
    *,
    seed: int,
    n_jobs: int | None = None,
    n_threads: int = 1,
    progress: bool | None = None,
) -> Chosen:
    """The whole selection on the rows with a positive weight: path, choice of size, last model.

    Raises
    ------
    OptionError
        If the rows can't be split into the folds.
    """
    steps, step, scores = choose(
        problem, method, weight, choice, seed=seed, n_jobs=n_jobs, n_threads=n_threads,
        progress=progress,
    )  # fmt: skip
    fit_seed = stream_seed(seed, "fit")
    model = method.final_model(problem, weight, step, seed=fit_seed, n_threads=n_threads)
    return Chosen(steps, step, scores, model)


class Left(NamedTuple):
    """A path and where it was left: see :class:`Chosen`."""

    steps: tuple[Step, ...]
    step: Step
    scores: ScoreBySize | None


def choose(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    choice: Choice,
    *,
    seed: int,
    n_jobs: int | None = None,
    n_threads: int = 1,
    progress: bool | None = None,
) -> Left:
    """Go along the path of a method and choose a step.

    Raises
    ------
    OptionError
        If the rows can't be split into the folds.
    """
    k, most = choice.k, min(problem.data.n_groups, MOST_UNITS)
    scores = None
    if isinstance(k, str):
        scores = score_by_size(
            problem,
            method,
            weight,
            folds=choice.folds,
            max_size=most,
            seed=stream_seed(seed, "cross-validation"),
            n_jobs=n_jobs,
            progress=progress,
        )
    steps = method.path(
        problem,
        weight,
        max_size=k if isinstance(k, int) else most,
        seed=stream_seed(seed, "fit"),
        every_size=isinstance(k, str),
        n_threads=n_threads,
    )
    return Left(steps, choose_step(steps, k, scores, problem.groups.keep), scores)


def choose_step(
    steps: Sequence[Step], k: int | str | None, scores: ScoreBySize | None, keep: BoolArray
) -> Step:
    """The step that `k` stands for (see `Choice`)."""
    if k is None:
        return steps[-1]
    if isinstance(k, int):
        return step_of_size(steps, k, keep)
    assert scores is not None
    sizes = [s.size for s in steps]
    rule = best_size if k == "best" else one_standard_error_size
    chosen = rule(sizes, scores)
    return next(s for s in steps if s.size == chosen)


def score_by_size(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    *,
    folds: Folds,
    max_size: int,
    seed: int,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> ScoreBySize:
    """Cross-validate the path: selection and refit are repeated inside each fold.

    Raises
    ------
    OptionError
        If the rows can't be split into the folds, or a score is not defined.
    """
    splits = split_rows(problem, weight, folds, seed)
    problem = dataclasses.replace(problem, wants_scores=False)
    calls = [
        (problem, method, weight, split, max_size, stream_seed(seed, "fold", number))
        for number, split in enumerate(splits)
    ]
    rows = track(run_all(_score_fold, calls, n_jobs), "Cross-validation", len(calls), progress)
    return ScoreBySize(np.array(list(rows)), mean_repeats(splits))


def _score_fold(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    split: Split,
    max_size: int,
    seed: int,
) -> FloatArray:
    train, test = split.weights(weight)
    scores = np.full(max_size + 1, np.nan)
    empty = method.final_model(problem, train, empty_step(problem.data.n_groups), seed=seed)
    best = held_out_score(problem, empty, test)
    steps = {s.size: s for s in method.path(problem, train, max_size=max_size, seed=seed)}
    for size in range(max_size + 1):
        if size in steps and size > 0:
            model = method.final_model(problem, train, steps[size], seed=seed)
            best = held_out_score(problem, model, test)
        scores[size] = best
    return scores


def held_out_score(problem: Problem, model: Model, test: WeightArray) -> float:
    """Score of a model on the rows with a positive weight in `test`.

    Raises
    ------
    OptionError
        If the score is not defined for these rows.
    """
    rows = test > 0
    family = problem.family
    score = family.score(problem.y[rows], model.predict(problem)[rows], test[rows])
    if not np.isfinite(score):
        raise OptionError(
            "`scoring` must be a score that is defined for the held-out rows of every fold.\n"
            f"  Found: {quoted(family.score_name)} is {score:g} for {int(rows.sum())} of them. Give"
            " another score, or fewer folds."
        )
    return score


def best_size(sizes: Sequence[int], cv: ScoreBySize) -> int:
    """Size with the best mean score; of equal ones the smallest."""
    means = cv.mean[list(sizes)]
    return int(sizes[int(np.argmax(means))])


def one_standard_error_size(sizes: Sequence[int], cv: ScoreBySize) -> int:
    """Smallest size whose mean score is within one standard error of the best.

    The standard error is that of the best size (Breiman et al. 1984, section 3.4.3).
    """
    best = best_size(sizes, cv)
    bound = cv.mean[best] - cv.standard_error[best]
    return next(size for size in sizes if cv.mean[size] >= bound)


def skipped_sizes(path: Sequence[Step]) -> list[int]:
    """Sizes between those of the first and the last step that no step has."""
    sizes = {step.size for step in path}
    return [size for size in range(min(sizes), max(sizes)) if size not in sizes]


def step_of_size(path: Sequence[Step], size: int, keep: BoolArray) -> Step:
    """The step with `size` units; where the path jumps over it, the next larger one is cut.

    Units are cut by their importance in the weighted ensemble, kept ones never. If the path ends
    before `size`, its last step.
    """
    step = next((s for s in path if s.size >= size), path[-1])
    if step.size <= size:
        return step
    worth = np.where(keep, np.inf, np.where(step.selected, step.importance, -np.inf))
    chosen = np.argsort(-worth, kind="stable")[:size]
    selected = np.zeros_like(step.selected)
    selected[chosen] = True
    importance = np.where(selected, step.importance, 0.0)
    total = importance.sum()
    return dataclasses.replace(
        step,
        selected=selected,
        importance=importance / total if total > 0 else importance,
        cut_from=step.size,
    )
