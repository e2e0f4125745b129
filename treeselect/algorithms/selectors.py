"""Selectors of other packages: description, and the columns that they select."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.algorithms.references import Reference
from treeselect.arguments.checks import answer
from treeselect.designs.estimators import is_pipeline, last_step, options_of, seeded, text_of
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import MethodError, TreeselectError, said_by
from treeselect.quiet import own_filters

SIZES = ("k", "n_features_to_select", "max_features")
"""Parameters for the number of columns that a selector selects."""

SCIKIT_LEARN = Reference(
    ("F. Pedregosa", "others"),
    2011,
    "Scikit-learn: Machine Learning in Python",
    journal="JMLR",
    volume="12",
    pages="2825-2830",
)


# --- what it is ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Words:
    """Description of a selector, as stored in a model file."""

    name: str  # its class
    title: str  # the name with its package
    paper: str
    text: str  # the call that creates it, without defaults
    parameters: str  # all of its parameters
    size: str  # the parameter for the number of columns

    @property
    def references(self) -> tuple[Reference, ...]:
        return (SCIKIT_LEARN,) if self.paper == SCIKIT_LEARN.text else ()


def looks_like_selector(value: object) -> bool:
    """Whether it has ``fit`` and ``get_support``, or may have ``support_`` once fitted."""
    if isinstance(value, type):
        return False
    last = last_step(value)
    # An object with `predict` and no `get_support` is a model; a transformer shows after its fit.
    could = _has(last, "transform") and not _has(last, "predict")
    return _has(value, "fit") and (_has(last, "get_support") or could)


def not_a_method(found: object) -> MethodError:
    what = type(found).__name__
    advice = "It has no `get_support()`." if answer(found, "fit") is not None else ""
    if isinstance(found, type):
        what, advice = f"the class {found.__name__}", f"Write `{found.__name__}(...)`."
    elif callable(answer(found, "path")):
        advice = "It has a `path`: make its class a subclass of `treeselect.Method`."
    elif advice and answer(found, "predict") is not None:
        advice += " Wrap an estimator in `SelectFromModel` or `RFE`."
    return MethodError(
        "`method` must be the name of a method, a method such as ControlBurn(), or a scikit-learn"
        f" selector such as SelectKBest().\n  Found: {what}. {advice}".rstrip()
    )


def _has(value: object, method: str) -> bool:
    return callable(answer(value, method))


def size_parameter(selector: Any) -> str | None:
    last = last_step(selector)
    known = last.get_params(deep=False) if hasattr(last, "get_params") else {}
    return next((name for name in SIZES if name in known), None)


def words_of(selector: Any) -> Words:
    last = last_step(selector)
    name, package = type(last).__name__, type(last).__module__.split(".")[0]
    origin = {"sklearn": " (scikit-learn)", "__main__": ""}.get(package, f" ({package})")
    title = f"{name}{origin}{'' if last is selector else ' in a pipeline'}"
    paper = SCIKIT_LEARN.text if package == "sklearn" else f"The selector {name}{origin}."
    return Words(
        name=name,
        title=title,
        paper=paper,
        text=text_of(selector),
        parameters=options_of(selector, full=True),
        size=size_parameter(selector) or "",
    )


def warning_note(name: str, warned: Sequence[Warning]) -> str | None:
    """A note on the warnings of a selector; None without any."""
    if not warned:
        return None
    first = textwrap.shorten(str(warned[0]), 200, placeholder=" ...")
    more = f" Other warnings: {len(warned) - 1}." if len(warned) > 1 else ""
    return f"{name} issued a {type(warned[0]).__name__}: {first}{more}"


# --- Columns that a selector of another package selects when fitted to some rows -----------------


@dataclass(frozen=True, slots=True)
class Support:
    """Columns that a fitted selector selects."""

    taken: BoolArray  # (n_columns,)
    worth: FloatArray  # (n_columns,): importance of each column, at least 0

    @property
    def size(self) -> int:
        return int(self.taken.sum())


class ColumnSearch:
    """Fits of one selector to the columns of some rows."""

    def __init__(
        self,
        selector: Any,
        x: FloatArray,
        y: NDArray[Any],
        given: dict[str, FloatArray],
        seed: int,
        advice: str = "",
    ) -> None:
        self._selector, self._x, self._y, self._seed = selector, x, y, seed
        self._advice = advice
        self._given = given
        self.warned: list[Warning] = []
        self._arriving = np.arange(x.shape[1])  # at the last step, as far as is known

    def own(self) -> Support:
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
                selector.fit(self._x, self._y, **self._given)
                getattr(last_step(selector), "get_support", tuple)()  # needs importances, perhaps
            except TreeselectError:
                raise
            except Exception as error:  # code of others can fail in any way
                n, p = self._x.shape
                raise MethodError(
                    f"{type(last_step(selector)).__name__} can't be fitted to {n:,} rows and {p:,}"
                    f" columns.\n  {said_by(error)}{self._advice}"
                ) from None
        for said in (item.message for item in caught):
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
