"""The record of a method's answer: the steps of a path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from treeselect.algorithms.shared.decisions import Decisions
from treeselect.algorithms.shared.searched import Trace
from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import at_least
from treeselect.models.weighted import WeightedForest


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path.

    Attributes
    ----------
    tuning : float
        Value of the method's tuning parameter; infinite where nothing has entered.
    selected : ndarray of bool, shape (n_groups,)
    importance : ndarray of float, shape (n_groups,)
        Share of the unpenalised gain, as far as it holds outside the bags where the method knows
        how far; summing to 1, or all 0 if nothing is selected.
    train_score : float
        Score of the method's own ensemble on its training rows, out of bag where it has bags; NaN
        if it was not wanted.
    cut_from : int or None
        Number of units of the step that this one was cut from, if it was.
    error : float or None
        Out-of-bag error of a forest on the selected units, if it decided: in the backward pass, or
        by the method's own rule.
    gap : float or None
        Optimality gap of a best subset: how much lower, as a share, the objective of another set
        of the size could be; 0 if it is proved that none is.
    warning : str or None
        What a reader must know of how the step was found.
    warned : str or None
        The same, where it was warned of already.
    notes : tuple of str
        What the method says of the step, in whole sentences.
    ensemble : WeightedForest or None
        The trees behind the step, of methods that weight them; of a cut or pruned step still those
        of the larger one.
    decisions : Decisions or None
        What the method says of all units, if it decides by itself; the same of all steps.
    trace : Trace or None
        What the search for the set has seen, if there was one; None of a cut or pruned step.
    """

    tuning: float
    selected: BoolArray
    importance: FloatArray
    train_score: float
    cut_from: int | None = None
    error: float | None = None
    gap: float | None = None
    warning: str | None = None
    warned: str | None = None
    notes: tuple[str, ...] = ()
    ensemble: WeightedForest | None = None
    decisions: Decisions | None = None
    trace: Trace | None = None

    __repr__ = brief

    @property
    def size(self) -> int:
        """Number of selected units."""
        return int(self.selected.sum())

    @property
    def was_cut_short(self) -> bool:
        """Whether the search for it ended before it was done, with no more than a gap proved."""
        return self.gap is not None and self.gap > 0


def empty_step(n_groups: int) -> Step:
    """The step at which nothing is selected."""
    nothing = np.zeros(n_groups)
    return Step(np.inf, nothing > 0, nothing, np.nan)


def step_of_gains(
    tuning: float,
    gains: FloatArray,
    keep: BoolArray,
    train_score: float,
    held: FloatArray | None = None,
) -> Step:
    """The step of an ensemble by the unpenalised gain of each unit in it, and, if it is known, the
    share of it that holds outside the bags."""
    return Step(
        tuning=tuning,
        selected=(gains > 0) | keep,
        importance=shares(gains if held is None else gains * held),
        train_score=train_score,
    )


def shares(values: FloatArray) -> FloatArray:
    """Each of some values, at least 0, by their sum; as they are if all are 0."""
    total = np.cumsum(values)[-1] if len(values) else 0.0  # one by one: zeros change no bit of it
    return np.asarray(values / total) if total > 0 else values


def best_of_each_size(steps: Iterable[Step]) -> dict[int, Step]:
    """Of the steps of each size the first, or that of the least error where errors are known."""
    best: dict[int, Step] = {}
    for step in steps:
        other = best.setdefault(step.size, step)
        errors = step.error, other.error
        if None not in errors and not at_least(*errors):
            best[step.size] = step
    return best


def ranked_step(
    tuning: float, selected: BoolArray, importance: FloatArray, train_score: float
) -> Step:
    """The step of a set, with the positive importances as shares."""
    worth = np.where(selected & np.isfinite(importance), np.maximum(importance, 0.0), 0.0)
    return Step(tuning, selected, shares(worth), train_score)
