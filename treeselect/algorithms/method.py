"""The base class of all methods, including those of other packages.

A method answers one question: which terms are selected at each step of a path? Everything else
that is required of it has a default here. The file is long because it documents these defaults.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from treeselect.algorithms.forests.scoring import score_of
from treeselect.algorithms.options import check_options
from treeselect.algorithms.references import Reference, texts, with_references
from treeselect.algorithms.task import Step, Task, ranked_step
from treeselect.arguments.checks import NotGiven, described
from treeselect.designs.estimators import Estimator
from treeselect.designs.families import Family
from treeselect.designs.problem import FinalModel, Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.errors import MethodError, OptionError, quoted
from treeselect.models.boosting import refit_boosting
from treeselect.models.estimator import estimator_words, refit_estimator
from treeselect.models.forest import REFITTED_TREES, refit_forest
from treeselect.models.linear.model import linear_words, refit_linear
from treeselect.models.model import TreeModel
from treeselect.models.stacked import refit_stack
from treeselect.shown import shown

if TYPE_CHECKING:
    from typing_extensions import TypeIs

OWN = "own"
"""Tuning parameter of a method that finds a single set and chooses its size."""


@dataclass(frozen=True)
class Method:
    """A selection method: a frozen dataclass whose fields are its options.

    To write a method, subclass Method and define `name` and :meth:`path`; everything else has a
    default. An instance is accepted wherever the name of a method is. Check options in
    ``__post_init__`` and raise :class:`treeselect.errors.MethodError` there.

    In the arrays of a problem, a unit is what is selected: a group (``groups=``), or a term that is
    in no group.

    Attributes
    ----------
    name : str
        Name in tables and, once registered, in calls.
    title : str
        Name in summaries and reports.
    references : tuple of Reference
        Papers, as :mod:`treeselect.algorithms.references`, which :meth:`citation` of a
        result also gives as BibTeX; none by default.
    paper : str
        The reference in words; by default, that of `references`.
    tuning_name : str
        Option that holds the tuning parameter of the path; empty if there is none.
    splits_exactly : bool
        Whether it needs a bin for each value of a numeric column (``Problem.exact``). False by
        default.
    reads_columns : bool
        Whether it needs the columns before binning (``Problem.columns``). False by default.
    scores_out_of_bag : bool
        Whether the training scores of its steps are out of bag, as those of :meth:`scored_step`
        are. True by default.
    searches_on : int or None
        Most rows on which it searches for sets; None, the default, for all. On data of more than
        twice as many rows, the others score the sets (``choosing.spared_rows``).
    left_out : str
        Why terms never enter the path, as a clause.
    own_model : str or None
        Final model as which a selection by this method is published, ``"glm"`` of linear methods,
        scored by ``compare(model="own")``. None, the default, for `usual_model`.
    usual_model : str or None
        Final model of ``select()`` if none is given, ``"stack"`` of exchange search. None, the
        default, for that of :meth:`final_model`, a forest.
    own_value : float or None
        Value of the tuning parameter at which the method itself decides what is selected if `k` is
        not given. None, the default: `k` is chosen by cross-validation.

    Examples
    --------
    Terms in alphabetical order, which is of no use:

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
    searches_on: ClassVar[int | None] = None
    left_out: ClassVar[str] = "the others do not improve the ensemble"
    own_value: ClassVar[float | None] = None
    own_model: ClassVar[FinalModel | None] = None
    usual_model: ClassVar[FinalModel | None] = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = vars(cls)
        with_references(cls, own.get("cited", own.get("references")))

    def __post_init__(self) -> None:
        check_options(self)

    # --- what it is ---

    @property
    def name(self) -> str:
        """Name in tables and calls; every method has its own."""
        raise _incomplete(type(self), "name")

    @property
    def title(self) -> str:
        """Name in summaries and reports; `name` by default."""
        return self.name

    @property
    def references(self) -> tuple[Reference, ...]:
        """Papers, which are also given as BibTeX; none by default."""
        return ()

    @property
    def paper(self) -> str:
        """The reference in words; without `references`, the module that defines the method."""
        if self.references:
            return texts(self.references)
        return f"The method {self.name}, from {type(self).__module__.split('.')[0]}."

    @property
    def origin(self) -> str:
        """The package that defines the class, with its version."""
        module = type(self).__module__.split(".")[0]
        if module == "__main__":
            return "a script"
        found = metadata.packages_distributions().get(module)
        if not found:
            return f"the module {quoted(module)}"
        return f"the package {quoted(found[0])} {metadata.version(found[0])}"

    @property
    def missing(self) -> str | None:
        """What is missing to select again, if the method's code is missing; else None."""
        return None

    @property
    def reads_columns(self) -> bool:
        """Whether ``Problem.columns`` is needed; by default, binned columns are enough."""
        return False

    @property
    def predicts_any_set(self) -> bool:
        """Whether :meth:`final_model` can fit sets that are no steps; True by default.

        Sizes that the path skips can then be scored.
        """
        return True

    @property
    def n_final_trees(self) -> int:
        """Most trees of its final forest, also of the one that `model` names; 200 by default."""
        return REFITTED_TREES

    @property
    def was_fitted(self) -> bool:
        """Whether its trees were grown before, on unknown rows; False by default."""
        return False

    @property
    def note(self) -> str | None:
        """What a reader of any result with these options should know; None by default."""
        return None

    @property
    def tells_out_of_bag(self) -> bool:
        """Whether training scores are out of bag; `scores_out_of_bag` by default."""
        return self.scores_out_of_bag

    @property
    def scored_before(self) -> str:
        """What its sets went through after they were scored, as an adverbial; none by default."""
        return ""

    @property
    def why_left_out(self) -> str:
        """Why terms never enter the path with these options; `left_out` by default."""
        return self.left_out

    @property
    def tuning_value(self) -> float | str | None:
        """The tuning parameter if the user fixed it; None for a path.

        ``"own"`` stands for a single set without tuning. By default, the option that `tuning_name`
        names.
        """
        fixed: float | str | None = getattr(self, self.tuning_name) if self.tuning_name else None
        return fixed

    # --- what it does ---

    def path(self, task: Task) -> Sequence[Step]:
        """Path of selected units for the rows with positive weight, in order of increasing size.

        It continues until ``task.max_size`` units are selected or no more can be. If the user fixed
        the tuning parameter, it continues to that value, whose step is the last. Units that are
        forced in (``task.problem.groups.keep``) are in all steps.

        Parameters
        ----------
        task : Task

        Returns
        -------
        sequence of Step
            At least one.
        """
        raise _incomplete(type(self), "path")

    def steps(self, task: Task) -> Iterator[Step]:
        """The steps of :meth:`path` one by one, for a method that can stop in between."""
        yield from self.path(task)

    def final_model(self, task: Task, step: Step) -> TreeModel:
        """The final model, fitted to the units of a step with the seed of its path.

        By default, a random forest of at most `n_final_trees`: on long data, as many as its error
        needs.
        """
        return _refitted("forest", self, task, step)

    def step_of_set(self, task: Task, step: Step) -> Step:
        """A step whose set is not on the path, with what a step of the path tells of its set."""
        return step

    def scored_step(
        self, task: Task, tuning: float, selected: BoolArray, worth: FloatArray
    ) -> Step:
        """A step of the path, for methods without an ensemble of their own to score: its training
        score is the out-of-bag score of a forest of 100 trees on the units. `tuning` is infinite
        where nothing has entered except what is forced in; of `worth`, any measure of importance of
        shape (n_groups,), the positive part for selected units is used."""
        return ranked_step(tuning, selected, worth, score_of(task, selected))

    # --- its options ---

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Names of the options and their defaults."""
        return {
            own.name: own.default
            if own.default_factory is dataclasses.MISSING
            else own.default_factory()
            for own in dataclasses.fields(cls)
        }

    def options(self) -> dict[str, Any]:
        """All options by name, for display and model files."""
        return {name: getattr(self, name) for name in self.defaults()}

    def changed(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        defaults, known = self.defaults(), self.options()
        return {
            name: value
            for name, value in known.items()
            if name in defaults and not same(value, defaults[name])
        }

    def tuned(self, value: float | None) -> Self:
        """The same method with its tuning parameter fixed, or, with None, for the whole path."""
        if not self.tuning_name:
            return self
        return dataclasses.replace(self, **{self.tuning_name: value})

    def giving_way(self, k: object) -> Self:
        """The same if `k` is a number; a set of a size that the method chose may give way to it."""
        return self

    # --- in words ---

    @property
    def text(self) -> str:
        """The call that creates it, without defaults."""
        return f"{type(self).__name__}({_listed(self.changed())})"

    @property
    def label(self) -> str:
        """Name and changed options: ``rrf(n_trees=50)``."""
        return f"{self.name}({_listed(self.changed())})"

    @property
    def tuning_words(self) -> str:
        """The fixed tuning parameter in words: ``"lam = 0.1"``."""
        value = self.tuning_value
        if value == OWN:
            return f"k chosen by {self.name}"
        return f"{self.tuning_name} = {value if isinstance(value, str | None) else f'{value:g}'}"

    def record(self) -> tuple[str, dict[str, Any]]:
        """Name and options, as stored in a model file."""
        return self.name, self.options()


def is_method(value: object) -> TypeIs[Method]:
    return isinstance(value, Method)


def deciding(method: Method, k: object) -> Method:
    """The method to use for a given `k`: without `k`, a method with its own value decides."""
    said = k is not None and not isinstance(k, NotGiven)
    if said or method.own_value is None or method.tuning_value is not None:
        return method
    return method.tuned(method.own_value)


def check_kind(kind: type[Any]) -> None:
    """Raise a MethodError unless a class is a complete method."""
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


REFITS: dict[str, Callable[..., TreeModel]] = {
    "stack": refit_stack,
    "forest": refit_forest,
    "boosting": refit_boosting,
    "glm": refit_linear,
    "gam": partial(refit_linear, bends=True),
}
"""Final models by name: of a problem that is ready, weights and selected units."""


def refit_by(model: FinalModel | Estimator) -> Callable[..., TreeModel]:
    if isinstance(model, Estimator):
        return partial(refit_estimator, estimator=model)
    return REFITS[model]


def model_words(model: FinalModel | Estimator, family: Family) -> str:
    if isinstance(model, Estimator):
        return estimator_words(model)
    if model in ("glm", "gam"):
        return linear_words(family, bends=model == "gam")
    return {
        "stack": "an additive model plus a random forest of its residuals",
        "forest": "a random forest",
        "boosting": "a gradient boosting model",
    }[model] + " on the selected terms"


def check_final(method: Method, model: object) -> None:
    """Raise an OptionError if a method's trees must predict, and another model is asked for."""
    if model is not None and not method.predicts_any_set:
        raise OptionError(
            f"`model` must be left out: with these options {method.name} predicts with the trees"
            f" that it selected by.\n  Found: model={described(model)}."
        )


def final_model(method: Method, task: Task, step: Step, *, usual: bool = False) -> TreeModel:
    """The final model that the problem names, or the method's own; or the `usual` forest."""
    problem, weights = task.problem.ready(task.weights, step.selected)
    if problem is not task.problem:
        task = dataclasses.replace(task, problem=problem, weights=weights)
    named = "forest" if usual else task.problem.model
    own = method.final_model(task, step) if named is None else _refitted(named, method, task, step)
    return _with_imputer(own, problem)


def _refitted(name: FinalModel | Estimator, method: Method, task: Task, step: Step) -> TreeModel:
    return refit_by(name)(
        task.problem, task.weights, step.selected, seed=task.seed, n_threads=task.n_threads,
        n_trees=task.n_final_trees or method.n_final_trees, wants_importance=task.wants_importance,
    )  # fmt: skip


def named_model(
    name: FinalModel | Estimator,
    problem: Problem,
    weights: RowWeights,
    units: BoolArray,
    **options: Any,
) -> TreeModel:
    """A final model that is asked for."""
    problem, weights = problem.ready(weights, units)
    return _with_imputer(refit_by(name)(problem, weights, units, **options), problem)


def _with_imputer(model: TreeModel, problem: Problem) -> TreeModel:
    if problem.imputer is None:
        return model
    own = problem.imputer.only(model.groups[problem.groups.ids])
    return dataclasses.replace(model, imputer=own)


def steps_of(method: Method, task: Task) -> tuple[Step, ...]:
    """The path of any method, checked, with training scores.

    Scores that are wanted and missing are those of forests of 100 trees.
    """
    found = method.path(task)
    where = _where(method)
    steps = tuple(found) if isinstance(found, tuple | list) else ()
    if not steps or not all(isinstance(step, Step) for step in steps):
        raise MethodError(f"{where} must return at least one step.\n  Found: {described(found)}.")
    return tuple(_checked(steps, method, task))


def steps_along(method: Method, task: Task) -> Iterator[Step]:
    """The same steps one by one; what is not asked for need not be found."""
    if type(method).steps is Method.steps:
        return iter(steps_of(method, task))
    return _checked(method.steps(task), method, task)


def _where(method: Method) -> str:
    return f"`path` of {type(method).__name__}"


def _checked(steps: Iterable[Step], method: Method, task: Task) -> Iterator[Step]:
    where, n, sizes = _where(method), len(task.problem.groups.names), [0]
    for step in steps:
        _check_units(where, "selected", step.selected, "b", n)
        _check_units(where, "importance", step.importance, "f", n)
        if (step.importance < 0).any() or step.importance[~step.selected].any():
            raise MethodError(
                f"{where} must give an `importance` of at least 0, and 0 for terms not selected."
                f"\n  Found: {described(step.importance)}. `self.scored_step(...)` ensures this."
            )
        sizes.append(step.size)
        if sizes[-1] < sizes[-2]:
            raise MethodError(
                f"{where} must return steps of increasing size.\n  Found: sizes {sizes[1:]}."
            )
        if np.isnan(step.train_score) and task.problem.wants_scores:
            step = dataclasses.replace(step, train_score=score_of(task, step.selected))
        yield step


def _check_units(where: str, name: str, values: Any, kind: str, n: int) -> None:
    fits = isinstance(values, np.ndarray) and values.shape == (n,) and values.dtype.kind == kind
    if not fits or not np.isfinite(values).all():
        words = "True or False" if kind == "b" else "a finite number"
        raise MethodError(
            f"{where} must give {words} in `{name}` for each of {n} terms.\n"
            f"  Found: {described(values)}."
        )


def same(value: Any, default: Any) -> bool:
    try:
        return bool(value == default)
    except ValueError:  # of arrays
        return False


def _listed(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


# --- Stand-in for a method whose code is missing when a model file is loaded ---------------------

_TEXTS = ("name", "title", "paper", "origin", "tuning_name")
_FLAGS = ("scores_out_of_bag", "was_fitted")
_PLAIN = (str, int, float, bool, type(None))


def _of_file(name: str) -> Any:
    return property(lambda self: self.said[name], doc=f"The `{name}` in the file.")


@dataclass(frozen=True)
class MissingMethod(Method):
    """A method whose code is missing: it keeps its description and can't select."""

    said: Mapping[str, Any] = field(hash=False)  # the description that :func:`told` stored
    why: str  # why the method could not be found

    name, title, paper, origin, tuning_name = map(_of_file, _TEXTS)
    scores_out_of_bag, was_fitted = map(_of_file, _FLAGS)

    @property
    def tuning_value(self) -> float | str | None:
        value = self.said["tuning_value"]
        return value if isinstance(value, float | int | None) else str(value)

    @property
    def missing(self) -> str:
        return (
            f"Can't find the method {quoted(self.name)} of {shown(self.origin)}, which made this"
            f" selection: the model can predict, but not select again.\n  {self.why}"
        )

    def path(self, task: Task) -> tuple[Step, ...]:
        """A MethodError that says what is missing."""
        raise MethodError(self.missing)

    def options(self) -> dict[str, Any]:
        return dict(self.said["options"])

    def changed(self) -> dict[str, Any]:
        return {name: self.options().get(name) for name in map(str, self.said["changed"])}

    def tuned(self, value: float | None) -> MissingMethod:
        """Itself: it can't select at any value."""
        return self


def check_told(said: Mapping[str, Any]) -> None:
    """Raise a ValueError unless that is a description by :func:`told`."""
    texts = all(isinstance(said.get(name), str) for name in _TEXTS)
    flags = all(isinstance(said.get(name), bool) for name in _FLAGS)
    options, changed = said.get("options"), said.get("changed")
    if not texts or not flags or not isinstance(options, dict) or not isinstance(changed, list):
        raise ValueError("an incomplete record of a method")


def told(method: Method, name: str) -> dict[str, Any]:
    """Description of another package's method for a model file, by the name under which it is
    found."""
    return {
        "name": name,
        "title": method.title,
        "paper": method.paper,
        "origin": method.origin,
        "tuning_name": method.tuning_name,
        "tuning_value": method.tuning_value,
        "scores_out_of_bag": method.tells_out_of_bag,
        "was_fitted": method.was_fitted,
        "options": plain_options(method.options()),
        "changed": list(method.changed()),
    }


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that a file can hold; others as text."""
    return {name: value if is_plain(value) else repr(value) for name, value in options.items()}


def is_plain(value: Any) -> bool:
    """Whether a file can hold a value as it is."""
    if type(value) is dict:
        return all(type(key) is str and is_plain(own) for key, own in value.items())
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    return type(value) in _PLAIN and (type(value) is not int or -(2**63) <= value < 2**64)
