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
        Value of the tuning parameter; infinite if nothing has entered.
    selected : ndarray of bool, shape (n_groups,)
    importance : ndarray of float, shape (n_groups,)
        Share of the unpenalised gain, as far as it holds out of bag if the method measures that;
        sums to 1, or is 0 throughout if nothing is selected.
    train_score : float
        Score of the method's own ensemble on its training rows, out of bag if it has bags; NaN if
        not wanted.
    cut_from : int or None
        Number of units of the step that this one was cut from, if it was.
    error : float or None
        Out-of-bag error of a forest on the selected units, if it was decisive: in the backward
        pass, or in the method's own rule.
    gap : float or None
        Optimality gap of a best subset: by which share the objective of another set of the same
        size could be lower; 0 if proved optimal.
    warning : str or None
        A warning to issue about how the step was found.
    warned : str or None
        The same, if it was already issued.
    notes : tuple of str
        Remarks of the method on the step, in full sentences.
    ensemble : WeightedForest or None
        The trees of the step, for methods that weight them; for a cut or pruned step, those of the
        larger one.
    decisions : Decisions or None
        Decisions on all units, for methods that decide themselves; the same for all steps.
    trace : Trace or None
        Record of the search for the set, if there was one; None for a cut or pruned step.
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
        """Whether the search for it ended early, with a positive gap."""
        return self.gap is not None and self.gap > 0


def empty_step(n_groups: int) -> Step:
    """The step at which nothing is selected."""
    nothing = np.zeros(n_groups)
    return Step(np.inf, nothing > 0, nothing, np.nan)


def full_step(n_groups: int) -> Step:
    """The step at which everything is selected."""
    return Step(np.nan, np.ones(n_groups, dtype=np.bool_), np.zeros(n_groups), np.nan)


def step_of_gains(
    tuning: float,
    gains: FloatArray,
    keep: BoolArray,
    train_score: float,
    held: FloatArray | None = None,
) -> Step:
    """The step of an ensemble, given the unpenalised gain of each unit and, if known, the share of
    it that holds out of bag."""
    return Step(
        tuning=tuning,
        selected=(gains > 0) | keep,
        importance=shares(gains if held is None else gains * held),
        train_score=train_score,
    )


def shares(values: FloatArray) -> FloatArray:
    """Non-negative values divided by their sum; unchanged if all are 0."""
    total = np.cumsum(values)[-1] if len(values) else 0.0  # one by one: zeros change no bit of it
    return np.asarray(values / total) if total > 0 else values


def best_of_each_size(steps: Iterable[Step]) -> dict[int, Step]:
    """The first step of each size, or the one of least error where errors are known."""
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
    """The step of a set, with its positive importances as shares."""
    worth = np.where(selected & np.isfinite(importance), np.maximum(importance, 0.0), 0.0)
    return Step(tuning, selected, shares(worth), train_score)
