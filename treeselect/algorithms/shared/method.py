"""What every method is: the class that all of them inherit from, others' methods, too.

A method answers one question: given a problem, what is the path of selected units? All else that
is asked of it has a default here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from treeselect.algorithms.shared.base import Step, ranked_step
from treeselect.algorithms.shared.references import Reference, texts
from treeselect.algorithms.shared.scoring import score_of
from treeselect.algorithms.shared.task import Task
from treeselect.arguments.scalars import NotGiven, described
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.errors import MethodError, quoted
from treeselect.models.forest import refit_forest
from treeselect.models.model import Model

if TYPE_CHECKING:
    from typing import Self

    from typing_extensions import TypeIs

OWN = "own"
"""The tuning value of a method that finds one set, of a size that is its own business."""


@dataclass(frozen=True)
class Method:
    """A feature-selection method: a frozen dataclass whose fields are its options.

    One's own method inherits from this class and has a `name` and a :meth:`path`; everything else
    has a default. An object of it is accepted wherever the name of a method is. Options are checked
    in ``__post_init__``; there a :class:`treeselect.errors.MethodError` is the one to raise.

    Attributes
    ----------
    name : str
        What it is called: in tables, and, if it is registered, in calls.
    title : str
        Name for people.
    references : tuple of Reference
        Papers, of :mod:`treeselect.algorithms.shared.references`, which :meth:`citation` of a
        result gives as BibTeX, too; none by default.
    paper : str
        Reference for people, that of `references` by default.
    tuning_name : str
        Option that holds the tuning value of the path; empty if there is none.
    splits_exactly : bool
        Whether it wants a bin for each value of a number (``Problem.exact``). False by default.
    reads_columns : bool
        Whether it wants the columns before they are binned (``Problem.columns``). False by default.
    scores_out_of_bag : bool
        Whether the training scores of its steps are those of out-of-bag predictions, as those of
        :meth:`scored_step` are. True by default.
    left_out : str
        Why units never enter the path: half a sentence.
    own_value : float or None
        Tuning value at which the method decides by itself which units are in, where nobody says
        anything of their number. None, the default: scores choose it.

    Examples
    --------
    Units in the order of their names, of which nobody can make any use:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import treeselect
    >>> @dataclass(frozen=True)
    ... class Alphabet(treeselect.Method):
    ...     name = "alphabet"
    ...
    ...     def path(self, task):
    ...         names = np.array(task.problem.groups.names)
    ...         ranks = names.argsort().argsort()
    ...         sizes = range(task.max_size + 1)
    ...         return [self.scored_step(task, n, ranks < n, np.ones(len(ranks))) for n in sizes]
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age + parch", data, method=Alphabet(), k=2)
    >>> sorted(fit.selected)
    ['age', 'parch']
    """

    tuning_name: ClassVar[str] = ""
    splits_exactly: ClassVar[bool] = False
    scores_out_of_bag: ClassVar[bool] = True
    left_out: ClassVar[str] = "the others do not improve the ensemble"
    own_value: ClassVar[float | None] = None

    # --- what it is ---

    @property
    def name(self) -> str:
        """What it is called; every method has its own."""
        raise _incomplete(type(self), "name")

    @property
    def title(self) -> str:
        """Name for people; the name by default."""
        return self.name

    @property
    def references(self) -> tuple[Reference, ...]:
        """Papers, which get into BibTeX; none by default."""
        return ()

    @property
    def paper(self) -> str:
        """Reference for people; without `references` the module that it is from."""
        if self.references:
            return texts(self.references)
        return f"The method {self.name}, from {type(self).__module__.split('.')[0]}."

    @property
    def origin(self) -> str:
        """The package that its class is from, with the version, for those who do not have it."""
        module = type(self).__module__.split(".")[0]
        if module == "__main__":
            return "a script"
        found = metadata.packages_distributions().get(module)
        if not found:
            return f"the module {quoted(module)}"
        return f"the package {quoted(found[0])} {metadata.version(found[0])}"

    @property
    def missing(self) -> str | None:
        """What it lacks to select again, where a file held it and its code is not here."""
        return None

    @property
    def reads_columns(self) -> bool:
        """Whether ``Problem.columns`` must be there; by default binned columns are enough."""
        return False

    @property
    def predicts_any_set(self) -> bool:
        """Whether :meth:`final_model` has a model for a set that is no step of the path, so that
        sizes which it jumps over can be scored; True by default."""
        return True

    @property
    def was_fitted(self) -> bool:
        """Whether its trees were grown before, on rows that nobody knows; False by default."""
        return False

    @property
    def note(self) -> str | None:
        """What a reader of any result with these options should know; None by default."""
        return None

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether the training scores are out of bag with these options; `scores_out_of_bag` by
        default."""
        return self.scores_out_of_bag

    @property
    def why_left_out(self) -> str:
        """Why units never enter the path with these options; `left_out` by default."""
        return self.left_out

    @property
    def tuning_value(self) -> float | str | None:
        """The tuning value that the user fixed, None to go through the path; ``"own"`` for one set
        that is not tuned. By default the option of the tuning value's name."""
        fixed: float | str | None = getattr(self, self.tuning_name) if self.tuning_name else None
        return fixed

    # --- what it does ---

    def path(self, task: Task) -> Sequence[Step]:
        """Path of selected units for the rows with positive weight, sizes rising.

        Goes on until ``task.max_size`` units are selected or no more can be; if the user fixed the
        tuning value, until that value, whose step is the last. Kept units
        (``task.problem.groups.keep``) are in all of its steps.

        Parameters
        ----------
        task : Task

        Returns
        -------
        sequence of Step
            At least one.
        """
        raise _incomplete(type(self), "path")

    def final_model(self, task: Task, step: Step) -> Model:
        """The model that predicts from the units of a step, with the seed of its path.

        By default a forest of 200 trees on these units.
        """
        return refit_forest(
            task.problem, task.weights, step.selected, seed=task.seed, n_threads=task.n_threads
        )

    def scored_step(
        self, task: Task, tuning: float, selected: BoolArray, worth: FloatArray
    ) -> Step:
        """A step of the path, for methods without an ensemble of their own to score.

        Parameters
        ----------
        task : Task
        tuning : float
            The tuning value; infinite where nothing has entered but what is kept.
        selected : ndarray of bool, shape (n_groups,)
        worth : ndarray of float, shape (n_groups,)
            Any measure of importance; of the selected units its positive part counts.

        Returns
        -------
        Step
            With the out-of-bag score of a forest of 100 trees on the units as training score.
        """
        return ranked_step(tuning, selected, worth, score_of(task, selected))

    # --- its options ---

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Names of the options and their defaults."""
        return {field.name: _default(field) for field in dataclasses.fields(cls)}

    def options(self) -> dict[str, Any]:
        """All options by name, for people and files."""
        return {name: getattr(self, name) for name in self.defaults()}

    def changed(self) -> dict[str, Any]:
        """The options that are not the default."""
        defaults, known = self.defaults(), self.options()
        return {
            name: value
            for name, value in known.items()
            if name in defaults and not _is_same(value, defaults[name])
        }

    def tuned(self, value: float | None) -> Self:
        """The same method at a tuning value, or, with None, for the whole path."""
        if not self.tuning_name:
            return self
        return dataclasses.replace(self, **{self.tuning_name: value})

    def giving_way(self, k: object) -> Self:
        """The same where `k` asks for a number of units; a set of its own size may give way."""
        return self

    @property
    def inside(self) -> str | None:
        """Name of the object that it is made of, whose options are given where that is made."""
        return None

    # --- in words ---

    @property
    def text(self) -> str:
        """The call that makes it, without what is the default."""
        return f"{type(self).__name__}({_listed(self.changed())})"

    @property
    def label(self) -> str:
        """It and its options in a few words: ``rrf(n_trees=50)``."""
        return f"{self.name}({_listed(self.changed())})"

    @property
    def tuning_words(self) -> str:
        """The fixed tuning value, for people: ``"lam = 0.1"``."""
        value = self.tuning_value
        if value == OWN:
            return f"k chosen by {self.name}"
        return f"{self.tuning_name} = {value if isinstance(value, str | None) else f'{value:g}'}"

    def record(self) -> tuple[str, dict[str, Any]]:
        """What a model file holds of it: name and options."""
        return self.name, self.options()


def is_method(value: object) -> TypeIs[Method]:
    """Whether it is a method, and not the class of one."""
    return isinstance(value, Method)


def deciding(method: Method, k: object) -> Method:
    """The method for what was said of `k`: where nothing was, one that decides by itself does."""
    said = k is not None and not isinstance(k, NotGiven)
    if said or method.own_value is None or method.tuning_value is not None:
        return method
    return method.tuned(method.own_value)


def check_kind(kind: type[Any]) -> None:
    """Raise a MethodError unless objects of a class are methods."""
    if not issubclass(kind, Method):
        raise MethodError(
            f"{kind.__name__} must be a subclass of `treeselect.Method` that defines `name` and"
            " `path`."
        )
    for needed in ("name", "path"):
        if getattr(kind, needed) is getattr(Method, needed):
            raise _incomplete(kind, needed)


def _incomplete(kind: type[Any], needed: str) -> MethodError:
    way = {
        "name": f'Add `name = "{kind.__name__.lower()}"` to the class.',
        "path": "Add `def path(self, task): ...` to the class; it returns a list of steps.",
    }
    return MethodError(f"{kind.__name__} must define `{needed}`.\n  {way[needed]}")


def steps_of(method: Method, task: Task) -> tuple[Step, ...]:
    """The path of a method, which may be anybody's; where it tells no training scores, and they are
    wanted, with those of forests of 100 trees on the units.

    Raises
    ------
    MethodError
        If these are no steps, or their sizes fall.
    """
    found = method.path(task)
    where = f"`path` of {type(method).__name__}"
    steps = tuple(found) if isinstance(found, tuple | list) else ()
    if not steps or not all(isinstance(step, Step) for step in steps):
        raise MethodError(f"{where} must return at least one step.\n  Found: {described(found)}.")
    n = len(task.problem.groups.names)
    for step in steps:
        _check_units(where, "selected", step.selected, "b", n)
        _check_units(where, "importance", step.importance, "f", n)
        if (step.importance < 0).any() or step.importance[~step.selected].any():
            raise MethodError(
                f"{where} must give an `importance` of at least 0, and 0 for terms not selected."
                f"\n  Found: {described(step.importance)}. `self.scored_step(...)` ensures this."
            )
    sizes = [step.size for step in steps]
    if sizes != sorted(sizes):
        raise MethodError(f"{where} must return steps of increasing size.\n  Found: sizes {sizes}.")
    return tuple(_scored(step, task) for step in steps)


def _scored(step: Step, task: Task) -> Step:
    if not np.isnan(step.train_score) or not task.problem.wants_scores:
        return step
    return dataclasses.replace(step, train_score=score_of(task, step.selected))


def _check_units(where: str, name: str, values: Any, kind: str, n: int) -> None:
    """Raise a MethodError unless there is one value of a kind for each unit."""
    fits = isinstance(values, np.ndarray) and values.shape == (n,) and values.dtype.kind == kind
    if not fits or not np.isfinite(values).all():
        words = "True or False" if kind == "b" else "a finite number"
        raise MethodError(
            f"{where} must give {words} in `{name}` for each of {n} terms.\n"
            f"  Found: {described(values)}."
        )


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _is_same(value: Any, default: Any) -> bool:
    try:
        return bool(value == default)
    except ValueError:  # of arrays
        return False


def _listed(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())
