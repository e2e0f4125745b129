"""Selectors of scikit-learn, and objects with the same interface, as methods."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treeselect.algorithms.forests.scoring import score_of
from treeselect.algorithms.linear.penalised import LinearColumns, standard_columns
from treeselect.algorithms.method import OWN
from treeselect.algorithms.options import MOST_UNITS, flag, refuse_costs, refuse_offset
from treeselect.algorithms.search.revision import RefinedMethod
from treeselect.algorithms.selectors import (
    SIZES,
    ColumnSearch,
    Support,
    Words,
    looks_like_selector,
    not_a_method,
    warning_note,
    words_of,
)
from treeselect.algorithms.task import Step, Task, ranked_step
from treeselect.arguments.checks import described, is_one_of, plain, whole
from treeselect.designs.estimators import copies_or_shares, copy_of
from treeselect.designs.problem import Problem
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.threads import one_thread
from treeselect.errors import MethodError, listing, quoted

IN_FILES = "selector"
"""Name of all selectors in model files."""


def _of_words(name: str) -> Any:
    return property(lambda self: getattr(self.words, name), doc=f"See :attr:`Words.{name}`.")


@dataclass(frozen=True)
class ForeignSelector(RefinedMethod):
    """A selector of scikit-learn, or any object with ``fit(X, y)`` and ``get_support()``.

    ``select(..., method=SelectKBest())`` creates a ForeignSelector from the selector.

    Parameters
    ----------
    selector : object
        For example ``SelectKBest()``, ``RFE(LogisticRegression())``, or a pipeline that ends in a
        selector. It is copied before each fit and never changed.
    columns : "auto", "own", int or None
        Number of columns that the selector selects. ``"own"``: the number that it chooses. An
        integer: that number, if the selector has a parameter ``k``, ``n_features_to_select`` or
        ``max_features``. None: `k` decides, and the selector's own number is ignored. ``"auto"``:
        None if the selector has one of these parameters or if `k` is a number, otherwise ``"own"``.
    standardise : bool
        Whether columns are scaled to mean 0 and variance 1. Set it to False for
        ``VarianceThreshold`` and ``chi2``, which need the original numbers and levels coded 0 and
        1.
    prune, refine : bool
        As for :class:`RRF`.

    Raises
    ------
    MethodError
        If an option is out of range; if the selector can't be fitted, with its own message; or if
        there are `costs`, an offset with classes or counts, or weights that it can't use.

    Notes
    -----
    The selector is fitted to the columns of the rows with positive weight. Missing
    numbers are set to the median, with an indicator; a factor has an indicator for each level,
    missing included; constant columns are dropped. The order of terms is drawn from the seed, so
    that exact copies are not favoured by their position. The response is passed as class numbers
    from 0, as numbers (minus the offset), or, for right-censored times, as martingale residuals of
    the null model, with offset and strata; for times, the selector must therefore be one for
    regression. A term, or a group (``groups=``), is selected if any of its columns is. Its
    importance is the sum over its selected columns of ``scores_``, else of the importances or
    absolute coefficients of ``estimator_``, else of ``1 / ranking_``; otherwise all columns count
    equally.

    The number of columns is increased from 1 until enough terms are selected; it is the tuning
    parameter of the step. An ``RFE`` that removes one column at a time is fitted once for all
    numbers, so its importances are ``1 / ranking_``. A selector without such a parameter gives one
    set, which is cut by importance if `k` is smaller.

    Weights are passed as ``sample_weight`` if ``fit`` has that argument, in a pipeline that of its
    last step. Otherwise they must be multiples of the smallest weight, and rows are repeated. A
    selector that cross-validates may then have copies of a row in both parts of a fold, and it
    ignores `fold_groups`. Each ``random_state`` of None is set from the seed. Warnings of the
    selector are issued again; those of the fit to all rows also become a note. The training score
    is the out-of-bag score of a forest of 100 trees on the terms of the step, grown like the final
    model.

    Examples
    --------
    >>> import treeselect
    >>> from sklearn.feature_selection import SelectKBest
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method=SelectKBest(), k=3, seed=1)
    >>> "sex" in fit.selected
    True
    """

    selector: Any
    columns: int | str | None = "auto"
    standardise: bool = field(default=True, metadata=flag())

    tuning_name: ClassVar[str] = "columns"
    left_out: ClassVar[str] = "the selector does not select the others"
    reads_columns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.selector, Words) and not looks_like_selector(self.selector):
            raise not_a_method(self.selector)
        asked = plain(self.columns)
        number = whole(asked)
        is_number = number is not None and 0 < number <= MOST_UNITS
        if not is_number and asked is not None and not is_one_of(asked, ("auto", OWN)):
            raise MethodError(
                "`columns` of ForeignSelector must be a whole number of at least 1, 'auto', 'own'"
                f" or None.\n  Found: {described(asked)}."
            )
        object.__setattr__(self, "columns", asked)
        if is_number and not self.words.size:
            raise MethodError(
                f"`columns` can't be a number for {self.name}, which has none of the parameters"
                f" {listing(SIZES)}.\n"
                f"  Found: `columns={asked}`. Set `k`, the number of terms, instead."
            )

    def __repr__(self) -> str:
        return f"ForeignSelector({self.label})"

    # --- what it is ---

    @property
    def words(self) -> Words:
        return self.selector if isinstance(self.selector, Words) else words_of(self.selector)

    name, title, references, paper = map(_of_words, ("name", "title", "references", "paper"))

    @property
    def note(self) -> str:
        scale = "all columns standardised" if self.standardise else "no column standardised"
        size = self.words.size if self.tuning_value != OWN else ""
        own = f' Its own `{size}` has no effect without `columns="own"`.' if size else ""
        return (
            f"{self.name} was fitted to coded columns: missing numbers set to the median, with an"
            f" indicator; an indicator for each factor level; {scale}. A term (or group) is"
            f" selected if any of its columns is.{own}"
        )

    @property
    def tuning_value(self) -> int | str | None:
        """The number of columns, or ``"own"``; None for the path."""
        return (None if self.words.size else OWN) if self.columns == "auto" else self.columns

    def options(self) -> dict[str, Any]:
        """All options by name: the call that creates the selector, and all its parameters."""
        words = self.words
        return {"selector": words.text, **self._plain_options(), "parameters": words.parameters}

    def _plain_options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("columns", "standardise", "prune", "refine")}

    def giving_way(self, k: object) -> ForeignSelector:
        gives_way = self.columns == "auto" and self.tuning_value == OWN
        is_number = isinstance(k, int | np.integer)
        return dataclasses.replace(self, columns=None) if gives_way and is_number else self

    @property
    def text(self) -> str:
        return repr(self)

    @property
    def label(self) -> str:
        changed = self.changed()
        whole = changed.pop("selector")
        return ", ".join([str(whole), *(f"{name}={value!r}" for name, value in changed.items())])

    # --- model files ---

    def record(self) -> tuple[str, dict[str, Any]]:
        return IN_FILES, {"selector": asdict(self.words), **self._plain_options()}

    @classmethod
    def lost(cls, record: Mapping[str, Any]) -> ForeignSelector:
        """The method of a model file, which stores no selector."""
        words = Words(**{name: str(value) for name, value in record["selector"].items()})
        return cls(**dict(record) | {"selector": words})

    # --- the path ---

    def path(self, task: Task) -> tuple[Step, ...]:
        problem = task.problem
        self._check_problem(problem)
        columns = standard_columns(task, standardise=self.standardise)
        search = self._search(task, columns)
        longest = self.longest(task)
        with one_thread():
            found = self._supports(search, columns, problem.groups.keep, longest, task.every_size)
        for warning in search.warned:
            warnings.warn(warning, stacklevel=2)
        note = warning_note(self.name, search.warned)
        steps: dict[int, Step] = {}
        for support in found:
            selected, worth = _of_units(support, columns, problem.groups.keep)
            if int(selected.sum()) not in steps:
                score = score_of(task, selected)
                tuning = support.size if (selected & ~problem.groups.keep).any() else np.inf
                step = ranked_step(float(tuning), selected, worth, score)
                steps[step.size] = dataclasses.replace(step, warned=note)
        return self.revised(list(steps.values()), task)

    def _check_problem(self, problem: Problem) -> None:
        if isinstance(self.selector, Words):
            raise MethodError(
                f"Can't select again with {self.name}, as model files don't store selectors.\n"
                f"  It was {self.words.text}. Fit again with it as `method`."
            )
        refuse_costs(self.selector, problem.groups)
        if not problem.family.has_times:  # the residuals of these include the offset
            refuse_offset(self, problem)

    def _search(self, task: Task, columns: LinearColumns) -> ColumnSearch:
        problem, weight = task.problem, task.weight
        rows = np.flatnonzero(weight > 0)
        y: NDArray[Any] = problem.y[rows]
        if problem.family.has_classes:
            y = y.astype(np.int64)
        elif problem.family.has_times:
            y = problem.gradient(weight)[rows]
        elif problem.offset is not None:
            y = y - problem.offset[rows]
        copies, given = copies_or_shares(
            self.selector, task.weights.of(rows), self.name,
            "choose a method that takes weights, such as `exchange`",
        )  # fmt: skip
        x = columns.x if copies is None else np.repeat(columns.x, copies, axis=0)
        scaled = "\n  The columns were standardised; `standardise=False` passes them unchanged."
        return ColumnSearch(
            self.selector,
            x,
            y if copies is None else np.repeat(y, copies),
            given,
            task.seed,
            advice=scaled if self.standardise else "",
        )

    def _supports(
        self,
        search: ColumnSearch,
        columns: LinearColumns,
        keep: BoolArray,
        longest: int,
        every_size: bool,
    ) -> list[Support]:
        """Selected columns, from few to many; first none, if sizes decide."""
        n = columns.x.shape[1]
        nothing = Support(np.zeros(n, dtype=bool), np.zeros(n))
        parameter, tuning = self.words.size, self.tuning_value
        if n == 0:
            return [nothing]
        if tuning == OWN:
            return [search.own()]
        if not parameter:
            return [nothing, search.own()]
        take, is_quick = search.by_size()
        if tuning is not None:
            return [self._taken(take, parameter, min(int(tuning), n))]
        one_by_one = every_size or is_quick
        found, size = [nothing], 1 if one_by_one else max(1, longest - int(keep.sum()))
        while size <= n:
            support = self._taken(take, parameter, size)
            found.append(support)
            in_there = int(_of_units(support, columns, keep)[0].sum())
            if in_there >= longest or support.size < size:
                break
            size += 1 if one_by_one else longest - in_there
        return found

    def _taken(self, take: Any, parameter: str, size: int) -> Support:
        support: Support = take(size)
        if support.size > size:
            raise MethodError(
                f"{quoted(parameter)} of {self.name} must set the number of columns that it"
                f" selects.\n  Found: {support.size} columns at `{parameter}={size}`. With"
                f' `columns="own"`, {self.name} chooses the number.'
            )
        return support


def foreign_selector(selector: Any) -> ForeignSelector:
    if not looks_like_selector(selector):
        raise not_a_method(selector)
    return ForeignSelector(copy_of(selector))


def _of_units(
    support: Support, columns: LinearColumns, keep: BoolArray
) -> tuple[BoolArray, FloatArray]:
    """Units with any selected column, or forced in, and the sum of the importances of their
    columns."""
    worth = np.bincount(columns.unit, support.worth, len(keep)).astype(np.float64)
    taken = np.bincount(columns.unit, support.taken, len(keep)) > 0
    return taken | keep, worth
