"""The question that every method answers, and the record of its answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from treeselect.algorithms.shared.decisions import Decisions
from treeselect.algorithms.shared.task import Task
from treeselect.arguments.scalars import NotGiven
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.rounding import at_least
from treeselect.models.model import Model
from treeselect.models.weighted import WeightedForest

if TYPE_CHECKING:
    from typing_extensions import TypeIs


OWN = "own"
"""The tuning value of a method that finds one set, of a size that is its own business."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path.

    Attributes
    ----------
    tuning : float
        Value of the method's tuning parameter; infinite where nothing has entered.
    selected : ndarray of bool, shape (n_groups,)
    importance : ndarray of float, shape (n_groups,)
        Share of the unpenalised gain, summing to 1, or all 0 if nothing is selected.
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

    @property
    def size(self) -> int:
        """Number of selected units."""
        return int(self.selected.sum())

    @property
    def was_cut_short(self) -> bool:
        """Whether the search for it ended before it was done, with no more than a gap proved."""
        return self.gap is not None and self.gap > 0


@runtime_checkable
class SelectionMethod(Protocol):
    """A feature-selection method: a frozen record of validated options.

    Attributes
    ----------
    name : str
        Name in the registry, or that of a selector of another package.
    title, paper : str
        Name and reference for people.
    tuning_name : str
        Option that holds the path's tuning value.
    splits_exactly : bool
        Whether its trees tell all values of a number apart (``Problem.exact``), or quantiles.
    reads_columns : bool
        Whether it needs the columns before they are binned (``Problem.design``).
    scores_out_of_bag : bool
        Whether the training scores of its steps are those of out-of-bag predictions.
    left_out : str
        Why units never enter the path: half a sentence.
    own_value : float or None
        Tuning value at which the method decides by itself which units are in, where nobody says
        anything of their number; None if scores choose it.
    """

    tuning_name: ClassVar[str]
    splits_exactly: ClassVar[bool]
    scores_out_of_bag: ClassVar[bool]
    left_out: ClassVar[str]
    own_value: ClassVar[float | None]

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def paper(self) -> str: ...

    @property
    def reads_columns(self) -> bool:
        """Whether ``Problem.design`` must be there."""
        ...

    @property
    def was_fitted(self) -> bool:
        """Whether its trees were grown before, on rows that nobody knows."""
        ...

    @property
    def note(self) -> str | None:
        """What a reader of any result with these options should know."""
        ...

    @property
    def tuning_value(self) -> float | str | None:
        """The tuning value that the user fixed, None to go through the path; ``OWN`` for one set
        that is not tuned."""
        ...

    def path(self, task: Task) -> tuple[Step, ...]:
        """Path of selected units for the rows with positive weight, sizes increasing.

        Goes on until ``task.max_size`` units are selected or no more can be; if the user fixed the
        tuning value, until that value, whose step is the last.
        """
        ...

    def final_model(self, task: Task, step: Step) -> Model:
        """The model that predicts from the units that a step selects, with the seed of its path."""
        ...

    def options(self) -> dict[str, Any]:
        """All options by name, for the report."""
        ...


def empty_step(n_groups: int) -> Step:
    """The step at which nothing is selected."""
    nothing = np.zeros(n_groups)
    return Step(np.inf, nothing > 0, nothing, np.nan)


def step_of_gains(tuning: float, gains: FloatArray, keep: BoolArray, train_score: float) -> Step:
    """The step of an ensemble by the unpenalised gain of each unit in it."""
    return Step(
        tuning=tuning,
        selected=(gains > 0) | keep,
        importance=shares(gains),
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


def without_tuning(method: SelectionMethod) -> SelectionMethod:
    """The same method with its tuning value left open, so that a size can decide."""
    free: SelectionMethod = dataclasses.replace(method, **{method.tuning_name: None})  # type: ignore[type-var]
    return free


def settled(method: SelectionMethod, k: object) -> SelectionMethod:
    """The method for what was said of `k`: where nothing was, one that decides by itself does."""
    said = k is not None and not isinstance(k, NotGiven)
    if said or method.own_value is None or method.tuning_value is not None:
        return method
    own: SelectionMethod = dataclasses.replace(method, **{method.tuning_name: method.own_value})  # type: ignore[type-var]
    return own


def tuning_words(method: SelectionMethod) -> str:
    """The fixed tuning value, for people: ``"lam = 0.1"``."""
    value = method.tuning_value
    if value == OWN:
        return f"as {method.name} finds right"
    shown = value if isinstance(value, str | None) else f"{value:g}"
    return f"{method.tuning_name} = {shown}"


def is_method(value: object) -> TypeIs[SelectionMethod]:
    """Whether it is a method: a record of options, and nothing that only answers to every name."""
    return dataclasses.is_dataclass(value) and isinstance(value, SelectionMethod)


def option_defaults(method: Any) -> dict[str, Any]:
    """The options of a method, or of a class of methods, by name, with their defaults.

    They are the fields of the record, or of the one whose keywords are shorthand for these.
    """
    record = getattr(method, "shorthand", method)
    return {field.name: field.default for field in dataclasses.fields(record)}


def changed_options(method: Any) -> dict[str, Any]:
    """The options that are not the default."""
    defaults = option_defaults(method)
    known = method.options()
    return {
        name: known[name] for name in known if name in defaults and known[name] != defaults[name]
    }
