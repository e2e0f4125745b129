"""Columns that a selector of another package selects when fitted to some rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.algorithms.shared.selectors import (
    is_pipeline,
    last_step,
    seeded,
    size_parameter,
    text_of,
)
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import MethodError, TreeselectError, quoted, said_by
from treeselect.quiet import own_filters


@dataclass(frozen=True, slots=True)
class Support:
    """Columns that a fitted selector selects.

    Attributes
    ----------
    taken : ndarray of bool, shape (n_columns,)
    worth : ndarray of float, shape (n_columns,)
        Importance of each column, at least 0; 0 for columns that are not selected.
    """

    taken: BoolArray
    worth: FloatArray

    @property
    def size(self) -> int:
        """Number of columns."""
        return int(self.taken.sum())


class ColumnSearch:
    """Fits of one selector to the columns of some rows.

    Parameters
    ----------
    selector : object
        Copied and seeded before each fit.
    x : ndarray of float, shape (n_rows, n_columns)
    y : ndarray of float or int64, shape (n_rows,)
    weight : ndarray of float, shape (n_rows,), or None
        Passed to ``fit`` as ``sample_weight``.
    seed : int
    advice : str
        Added to the error message if a fit fails.

    Attributes
    ----------
    warned : list of Warning
        Distinct warnings of the fits so far.
    """

    def __init__(
        self,
        selector: Any,
        x: FloatArray,
        y: NDArray[Any],
        weight: FloatArray | None,
        seed: int,
        advice: str = "",
    ) -> None:
        self._selector, self._x, self._y, self._seed = selector, x, y, seed
        self._advice = advice
        self._extra = {} if weight is None else {"sample_weight": weight}
        self.warned: list[Warning] = []
        self._arriving = np.arange(x.shape[1])  # at the last step, as far as is known

    def own(self) -> Support:
        """The columns that the unchanged selector selects."""
        return self._read(self._fitted(seeded(self._selector, self._seed)))

    def by_size(self) -> tuple[Callable[[int], Support], bool]:
        """A function from a number of columns to the selected columns, and whether it is fast.

        The selector is fitted once if that gives the same columns as a fit for each number: the
        scores of ``SelectKBest`` and the estimator of ``SelectFromModel`` do not depend on the
        number, and ``RFE`` that removes one column at a time passes through the same sets.
        """
        from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest

        kind, alone = type(last_step(self._selector)), not is_pipeline(self._selector)
        if kind is SelectKBest:
            fitted = self._fitted(self._with_size(1))
            return (lambda size: self._read(fitted, k=size)), True
        if kind is SelectFromModel and alone and not self._selector.prefit:
            fitted = self._fitted(self._with_size(self._x.shape[1]))
            return (lambda size: self._read(self._fitted(_around(fitted, size)))), True
        if kind is RFE and self._x.shape[1] > 1:
            fitted = self._fitted(self._with_size(1))
            ranking = last_step(fitted).ranking_
            if len(np.unique(ranking)) == len(ranking):
                columns = self._passed(fitted)
                return (lambda size: self._spread(columns, ranking <= size, 1 / ranking)), True
        return self._refitted, False

    def _refitted(self, size: int) -> Support:
        if size >= len(self._arriving) and size_parameter(self._selector) != "max_features":
            everything = np.ones(len(self._arriving), dtype=bool)  # some refuse to select all
            return self._spread(self._arriving, everything, everything.astype(np.float64))
        return self._read(self._fitted(self._with_size(size)))

    def _with_size(self, size: int) -> Any:
        twin, name = seeded(self._selector, self._seed), size_parameter(self._selector)
        last_step(twin).set_params(**{str(name): size})
        return twin

    def _fitted(self, selector: Any) -> Any:
        with own_filters(record=True) as caught:
            warnings.simplefilter("always")
            try:
                selector.fit(self._x, self._y, **self._extra)
            except TreeselectError:
                raise
            except Exception as error:  # code of others can fail in any way
                n, p = self._x.shape
                raise MethodError(
                    f"{type(last_step(selector)).__name__} can't be fitted to {n:,} rows and {p:,}"
                    f" columns.\n  {said_by(error)}{self._advice}"
                ) from None
        for item in caught:
            said = item.message
            if isinstance(said, Warning) and repr(said) not in map(repr, self.warned):
                self.warned.append(said)
        return selector

    def _read(self, fitted: Any, **parameters: int) -> Support:
        last, columns = last_step(fitted), self._passed(fitted)
        self._arriving = columns
        if parameters:
            last.set_params(**parameters)
        taken = _mask(last, len(columns))
        return self._spread(columns, taken, _worth(last, taken))

    def _spread(self, columns: IntArray, taken: BoolArray, worth: FloatArray) -> Support:
        """Support among all columns, from that among the columns that reach the last step."""
        found = Support(np.zeros(self._x.shape[1], dtype=bool), np.zeros(self._x.shape[1]))
        found.taken[columns] = taken
        found.worth[columns] = np.where(taken, worth, 0.0)
        return found

    def _passed(self, fitted: Any) -> IntArray:
        """Columns that reach the last step of a pipeline."""
        n = self._x.shape[1]
        if not is_pipeline(fitted) or len(fitted.steps) == 1:
            return np.arange(n)
        names = [f"x{j}" for j in range(n)]
        place = {name: j for j, name in enumerate(names)}
        try:
            return np.array([place[name] for name in fitted[:-1].get_feature_names_out(names)])
        except Exception:  # a step without names, or with columns that it has made
            raise MethodError(
                "Steps before the selector in a pipeline must keep the columns' names, as scalers"
                " and selectors do.\n"
                f"  Found: {text_of([step for _, step in fitted.steps[:-1]])}, whose columns can't"
                " be traced back."
            ) from None


def _around(fitted: Any, size: int) -> Any:
    """``SelectFromModel`` with an estimator that is already fitted."""
    parameters = fitted.get_params(deep=False)
    known = {"estimator": fitted.estimator_, "prefit": True, "max_features": size}
    return type(fitted)(**parameters | known)


def _mask(fitted: Any, n_columns: int) -> BoolArray:
    name = type(fitted).__name__
    if hasattr(fitted, "get_support"):
        found = np.asarray(fitted.get_support())
    elif hasattr(fitted, "support_"):
        found = np.asarray(fitted.support_)
    else:
        raise MethodError(
            "`method` must be a selector with `get_support()`, or `support_` once fitted.\n"
            f"  Found: {name}, which has neither."
        )
    if found.shape != (n_columns,) or found.dtype != np.bool_:
        raise MethodError(
            f"`get_support()` of {name} must return True or False for each of {n_columns} columns."
            f"\n  Found: an array of {found.dtype} of shape {found.shape}."
        )
    return found


def _worth(fitted: Any, taken: BoolArray) -> FloatArray:
    """Scores, else importances of the inner estimator, else inverse ranks, else all equal."""
    estimator = getattr(fitted, "estimator_", None)
    coefficients = getattr(estimator, "coef_", None)
    if coefficients is not None:
        coefficients = np.abs(np.atleast_2d(coefficients)).sum(axis=0)
    ranking = getattr(fitted, "ranking_", None)
    for values in (
        getattr(fitted, "scores_", None),
        getattr(estimator, "feature_importances_", None),
        coefficients,
        None if ranking is None else 1 / np.maximum(ranking, 1),
    ):
        found = _of_columns(values, taken)
        if found is not None:
            return found
    return taken.astype(np.float64)


def _of_columns(values: Any, taken: BoolArray) -> FloatArray | None:
    """Finite non-negative numbers for all columns; None if they are not available or all 0."""
    try:
        known = np.ravel(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        return None
    if len(known) == len(taken):
        found = known.copy()
    elif len(known) == taken.sum():
        found = np.zeros(len(taken))
        found[taken] = known
    else:
        return None
    found[np.isnan(found) | ~taken] = 0.0
    largest = found[np.isfinite(found)].max(initial=0.0)
    found = np.clip(found, 0.0, 2 * largest if largest > 0 else 1.0)  # infinite: beyond the others
    return found if found.any() else None


def check_taken(name: str, parameter: str, asked: int, found: int) -> None:
    """Raise a MethodError if more columns were selected than requested."""
    if found > asked:
        raise MethodError(
            f"{quoted(parameter)} of {name} must set the number of columns that it selects.\n"
            f"  Found: {found} columns at `{parameter}={asked}`. With"
            f' `columns="own"`, {name} chooses the number.'
        )
