"""What a method is given and what it returns: a task, and the steps of a path."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from treeselect.brief import brief
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least, falling, levels, slack
from treeselect.models.model import WeightedForest


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A task: find the path of a problem, or fit the final model at one of its steps.

    Attributes
    ----------
    problem : Problem
    weights : RowWeights
        Weights of the rows; rows of weight 0 are ignored.
    max_size : int
        Largest number of units for which steps are wanted.
    seed : int
        Seed of all random numbers.
    every_size : bool
        Whether smaller sizes are wanted, too, if they take extra work to find.
    n_threads : int
        Threads that may be used; results do not depend on them.
    wants_importance : bool
        Whether the importances of the final model are needed; they are not where it is only scored.
    n_final_trees : int or None
        Most trees of a final forest; None leaves them to the method.
    n_judge_trees : int or None
        Most trees of a forest that judges a set, where nothing but the sets is needed; None leaves
        them to the method.
    """

    problem: Problem
    weights: RowWeights
    _: KW_ONLY
    max_size: int
    seed: int
    every_size: bool = True
    n_threads: int = 1
    wants_importance: bool = True
    n_final_trees: int | None = None
    n_judge_trees: int | None = None
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    __repr__ = brief

    def __post_init__(self) -> None:
        problem, weights = self.problem.ready(self.weights)
        object.__setattr__(self, "problem", problem)
        object.__setattr__(self, "weights", weights)

    def once(self, make: Callable[..., Any], *given: Hashable) -> Any:
        """``make(self, *given)``, made at the first call and then kept with this task."""
        key = (make, *given)
        if key not in self._made:
            self._made[key] = make(self, *given)
        return self._made[key]

    @property
    def weight(self) -> WeightArray:
        """Weights as trees use them: integers count copies."""
        return self.weights.values

    def seeded(self, *names: str | int) -> Task:
        """The same task with its own seed, derived from the names and the seed of this one."""
        return dataclasses.replace(self, seed=stream_seed(self.seed, *names))


# --- steps ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
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
        Out-of-bag error of a model of the selected units, if it was decisive: in the backward
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
        return int(self.selected.sum())

    @property
    def was_cut_short(self) -> bool:
        """Whether the search for it ended early, with a positive gap."""
        return self.gap is not None and self.gap > 0


def empty_step(n_groups: int) -> Step:
    nothing = np.zeros(n_groups)
    return Step(np.inf, nothing > 0, nothing, np.nan)


def step_of_gains(
    tuning: float,
    gains: FloatArray,
    keep: BoolArray,
    train_score: float,
    held: FloatArray | None = None,
) -> Step:
    """The step of an ensemble, given the unpenalised gain of each unit and, if known, the share of
    it that holds out of bag."""
    gains = np.where(gains > slack(gains), gains, 0.0)
    importance = shares(gains if held is None else gains * held)
    return Step(tuning, (gains > 0) | keep, importance, train_score)


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


# --- sizes of a path, and rankings ---------------------------------------------------------------


def skipped_sizes(path: Sequence[Step]) -> list[int]:
    """Sizes between the first and the last step that no step has."""
    sizes = {step.size for step in path}
    return [size for size in range(min(sizes), max(sizes)) if size not in sizes]


def step_within(path: Sequence[Step], size: int) -> Step:
    """The last step of at most `size` units; the first one if all have more."""
    return next((step for step in reversed(path) if step.size <= size), path[0])


def step_of_size(path: Sequence[Step], size: int, keep: BoolArray) -> Step:
    """The step with `size` units; if the path skips this size, the next larger step, cut.

    Units are cut by increasing importance in the weighted ensemble; those forced in are never cut.
    If the path ends before `size`, its last step.
    """
    step = next((s for s in path if s.size >= size), path[-1])
    if step.size <= size:
        return step
    if size == 0:
        return empty_step(len(keep))
    worth = np.where(keep, np.inf, np.where(step.selected, step.importance, -np.inf))
    selected = first_units(falling(worth), size, len(keep))
    return dataclasses.replace(part_of(step, selected), cut_from=step.size)


def part_of(step: Step, selected: BoolArray) -> Step:
    """The step of some of its units, without what was said and seen of the larger set."""
    importance = shares(np.where(selected, step.importance, 0.0))
    return dataclasses.replace(step, selected=selected, importance=importance, notes=(), trace=None)


def ranking(importance: FloatArray, keep: BoolArray, ranks: IntArray) -> IntArray:
    """Units in order: those forced in, then by decreasing importance, then by rank.

    Units without importance (minus infinity) are omitted, unless they are forced in.
    """
    order = np.lexsort((ranks, -levels(importance), ~keep))
    return np.asarray(order[(importance[order] > -np.inf) | keep[order]])


def first_units(order: IntArray, size: int, n_groups: int) -> BoolArray:
    selected = np.zeros(n_groups, dtype=bool)
    selected[order[:size]] = True
    return selected


# --- what a step tells of decisions and of a search ----------------------------------------------


CONFIRMED, TENTATIVE, REJECTED = 1, 0, -1

WORDS = {CONFIRMED: "confirmed", TENTATIVE: "tentative", REJECTED: "rejected"}


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions on all units, and the importances of each round."""

    decision: IntArray  # shape (n_groups,): ``CONFIRMED``, ``TENTATIVE`` or ``REJECTED``
    # shape (n_rounds, n_groups): importance in each round; NaN once a unit is rejected
    history: FloatArray
    # shape (n_rounds, 3): minimum, mean and maximum importance of the shadows. The maximum is at
    # least 0; a unit must exceed it for a hit
    shadows: FloatArray

    def are(self, decision: int) -> BoolArray:
        return np.asarray(self.decision == decision)

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(WORDS[int(d)] for d in self.decision)


MOST_RIVALS = 50
"""Sets nearly as good that are kept; more are counted."""


class Exchange(NamedTuple):
    """An exchange of a selected for an unselected unit."""

    out: int  # the unit that leaves, and the one that enters
    into: int
    # increase of the out-of-bag error (negative for a decrease) as a share of its former value, and
    # its standard error over rows, or over clusters, given the bags that all sets share. With
    # costs, an exchange lowers the error per cost and may raise the error itself
    rise: float
    spread: float


class Rival(NamedTuple):
    """A near-equivalent set of the same size."""

    units: tuple[int, ...]  # in increasing order
    # how much higher its error is, as a share of that of the selected set; see `Exchange`
    rise: float
    spread: float


@dataclass(frozen=True, slots=True)
class Trace:
    """Record of the search for a set."""

    exchanges: tuple[Exchange, ...]  # that led to the set, in order
    # other sets of its size whose error is at most one standard error higher, by increasing error;
    # at most 50
    rivals: tuple[Rival, ...]
    n_rivals: int  # number of such sets
    n_judged: int  # number of other sets of its size that were judged with all trees


def trace_of(exchanges: Sequence[Exchange], rivals: Sequence[Rival], n_judged: int) -> Trace:
    return Trace(tuple(exchanges), tuple(rivals[:MOST_RIVALS]), len(rivals), n_judged)
