"""How many units: cross-validated scores by size, the one-standard-error rule, cutting to size."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeselect.algorithms.base import Model, Problem, SelectionMethod, Step, empty_step
from treeselect.design import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError
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
    """

    scores: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean over the folds, shape (max_size + 1,)."""
        return np.asarray(self.scores.mean(axis=0))

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean, shape (max_size + 1,)."""
        n_folds = len(self.scores)
        return np.asarray(self.scores.std(axis=0, ddof=1) / np.sqrt(n_folds))


class Choice(NamedTuple):
    """A path and where it was left.

    Attributes
    ----------
    steps : tuple of Step
    step : Step
        The chosen one.
    scores : ScoreBySize or None
        Cross-validated scores, if the rule needs them.
    """

    steps: tuple[Step, ...]
    step: Step
    scores: ScoreBySize | None


def choose(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    size: int | str | None,
    *,
    folds: int,
    seed: int,
    n_jobs: int | None = None,
    n_threads: int = 1,
    progress: bool | None = None,
) -> Choice:
    """Go along the path of a method and choose a step.

    Parameters
    ----------
    size : int, "1se", "best" or None
        Number of units, or the rule that finds it; None for the method's tuning value.
    """
    most, scores = min(problem.data.n_groups, MOST_UNITS), None
    if isinstance(size, int):
        most = size
    if isinstance(size, str):
        scores = score_by_size(
            problem,
            method,
            weight,
            folds=folds,
            max_size=most,
            seed=stream_seed(seed, "cross-validation"),
            n_jobs=n_jobs,
            progress=progress,
        )
    steps = method.path(
        problem,
        weight,
        max_size=most,
        seed=stream_seed(seed, "fit"),
        every_size=isinstance(size, str),
        n_threads=n_threads,
    )
    return Choice(steps, _step_by_rule(steps, size, scores, problem), scores)


def _step_by_rule(
    steps: Sequence[Step], size: int | str | None, scores: ScoreBySize | None, problem: Problem
) -> Step:
    if size is None:
        return steps[-1]
    if isinstance(size, int):
        return step_of_size(steps, size, problem.groups.keep)
    assert scores is not None
    rule = best_size if size == "best" else one_standard_error_size
    chosen = rule([s.size for s in steps], scores)
    return next(s for s in steps if s.size == chosen)


def assign_folds(problem: Problem, weight: WeightArray, folds: int, seed: int) -> IntArray:
    """Fold of each row, -1 for rows without weight; classes are spread evenly over the folds.

    Raises
    ------
    OptionError
        If there are fewer rows (of a class) than folds, or the response is constant in a fold.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    rows = np.flatnonzero(weight)
    y = problem.y[rows]
    stratify = problem.family.has_classes
    fewest = int(np.unique(y, return_counts=True)[1].min()) if stratify else len(rows)
    if folds > fewest:
        kind = "rows of the rarer class" if stratify else "rows"
        raise OptionError(
            f"`folds` must be at most the number of {kind}, {fewest}.\n"
            f"  Found: {folds}. Give a smaller `folds`, or an integer `k`, which needs none."
        )
    splitter = (StratifiedKFold if stratify else KFold)(
        folds, shuffle=True, random_state=stream_seed(seed, "folds") % 2**32
    )
    fold = np.full(len(weight), -1, dtype=np.int64)
    for number, (_, held_out) in enumerate(splitter.split(rows, y)):
        fold[rows[held_out]] = number
        if y[held_out].min() == y[held_out].max():
            raise OptionError(
                "Cross-validation needs a response that varies in every fold.\n"
                f"  Found: {y[held_out][0]:g} in all {len(held_out)} rows of fold {number + 1} of"
                f" {folds}. Give a smaller `folds`, or an integer `k`, which needs none."
            )
    return fold


def score_by_size(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    *,
    folds: int,
    max_size: int,
    seed: int,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> ScoreBySize:
    """Cross-validate the path: selection and refit are repeated inside each fold."""
    fold = assign_folds(problem, weight, folds, seed)
    calls = [
        (problem, method, weight, fold, number, max_size, stream_seed(seed, "fold", number))
        for number in range(folds)
    ]
    rows = track(run_all(_score_fold, calls, n_jobs), "Cross-validation", folds, progress)
    return ScoreBySize(np.array(list(rows)))


def _score_fold(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    fold: IntArray,
    number: int,
    max_size: int,
    seed: int,
) -> FloatArray:
    train = np.where(fold == number, 0, weight)
    test = np.where(fold == number, weight, 0)
    held_out = test > 0
    scores = np.full(max_size + 1, np.nan)
    empty = method.final_model(problem, train, empty_step(problem.data.n_groups), seed=seed)
    best = _held_out_score(problem, empty, test, held_out)
    steps = {s.size: s for s in method.path(problem, train, max_size=max_size, seed=seed)}
    for size in range(max_size + 1):
        if size in steps and size > 0:
            model = method.final_model(problem, train, steps[size], seed=seed)
            best = _held_out_score(problem, model, test, held_out)
        scores[size] = best
    return scores


def _held_out_score(problem: Problem, model: Model, test: IntArray, held_out: BoolArray) -> float:
    prediction = model.predict(problem)
    return problem.family.score(problem.y[held_out], prediction[held_out], test[held_out])


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
