"""An estimator of scikit-learn as the final model: of the columns of a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from treeselect.designs import estimators
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights, median
from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.threads import one_thread
from treeselect.models.forest import null_response
from treeselect.models.linear.data import check_size
from treeselect.models.linear.model import by_code_of
from treeselect.models.model import ColumnModel, permuted_changes

_LEAST_COUNT = 1e-6
"""Least predicted count, of which the logarithm is a number."""


@dataclass(frozen=True, slots=True)
class ColumnCoding:
    """The columns of an estimator that are made of one column of the data, by its codes; other
    codes than those of the fit have the mean."""

    table: FloatArray  # (256, n_made)
    is_number: bool

    def of(self, values: AnyArray) -> FloatArray:
        """From numbers, or from codes of a factor, shape (n_rows, n_made)."""
        if values.dtype.kind == "u":
            return self.table[values]
        if not self.is_number:
            return self.table[np.zeros(len(values), dtype=np.uint8)]
        made = np.zeros((len(values), self.table.shape[1]))
        made[:, :1] = values[:, np.newaxis]
        return np.where(np.isfinite(values)[:, np.newaxis], made, self.table[0])


def estimator_words(estimator: estimators.Estimator) -> str:
    return f"{estimator} on the selected terms"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class EstimatorModel(ColumnModel):
    """A fitted estimator and how its columns are made; its constant is the mean response."""

    asked: estimators.Estimator
    estimator: Any  # fitted; None without columns
    codings: tuple[ColumnCoding, ...]
    order: IntArray  # of the columns of the selected units, as they are passed

    _importance: ClassVar[str] = (
        "Share in the summed changes (root mean squares) of predictions when the values of a term"
        " are permuted"
    )
    stored_as: ClassVar[str] = "estimator"

    @property
    def is_link(self) -> bool:
        return False

    @property
    def description(self) -> str:
        return "the null model" if self.estimator is None else estimator_words(self.asked)

    def _of(self, columns: Sequence[NDArray[Any]], n_rows: int) -> FloatArray:
        if self.estimator is None or not n_rows:  # for which scikit-learn has an error
            return np.tile(self.constant, (n_rows, 1))
        made = [self.codings[j].of(columns[j]) for j in self.order]
        x = np.hstack([np.empty((n_rows, 0)), *made])
        with estimators.fitting(self.estimator), one_thread():
            if self.family.has_classes:
                shares = estimators.class_shares(self.estimator, x, self.asked.classes)
                return shares if self.family.n_classes > 2 else shares[:, 1:]
            found = np.asarray(self.estimator.predict(x), dtype=np.float64).reshape(len(x), 1)
        return found if self.family.loss.is_squared else np.maximum(found, _LEAST_COUNT)


def refit_estimator(
    problem: Problem,
    weights: RowWeights,
    selected: BoolArray,
    *,
    estimator: estimators.Estimator,
    seed: int,
    wants_importance: bool = True,
    **_: Any,
) -> EstimatorModel:
    """Fit a copy of an estimator to the selected units: numbers as they are, indicators of levels
    but the first, units in an order drawn from the seed. A missing number is the median, with an
    indicator, unless the estimator takes it."""
    coded, rows, family = problem.columns, weights.rows, problem.family
    assert coded is not None
    share = weights.values[rows].astype(np.float64)
    own = np.flatnonzero(selected[coded.groups.ids])
    order = np.argsort(problem.groups.ranks(seed)[coded.groups.ids[own]], kind="stable")
    twin = estimators.seeded(estimator.unfitted, seed)
    codings = [
        _coding(
            coded.columns[j][rows], problem.data.column(j)[rows], share, estimator.takes_missing,
            is_number=coded.n_levels[j] is None,
        )
        for j in own.tolist()
    ]  # fmt: skip
    blocks = [codings[k].of(coded.columns[own[k]][rows]) for k in order.tolist()]
    x = np.hstack([np.empty((len(rows), 0)), *blocks])
    names = [coded.column_names[own[k]] for k in order for _ in range(codings[k].table.shape[1])]
    check_size(pd.DataFrame(x, columns=names))
    if x.shape[1]:
        y: Any = problem.y[rows]
        if family.has_classes:
            y = np.array(estimator.classes)[y.astype(np.int64)]
        copies, given = estimators.copies_or_shares(
            twin, weights.of(rows), estimator.name, 'choose another `model`, such as "glm"'
        )
        every = np.arange(len(rows)) if copies is None else np.repeat(np.arange(len(rows)), copies)
        with estimators.fitting(twin), one_thread():
            twin.fit(x[every], y[every], **given)
    model = EstimatorModel(
        selected, None, null_response(problem, weights.values), np.zeros(len(selected)), family,
        asked=estimator, estimator=twin if x.shape[1] else None, codings=tuple(codings),
        order=order,
    )  # fmt: skip
    if wants_importance:
        units = own[order], coded.groups.ids[own[order]]
        names = list(dict.fromkeys(units[1].tolist()))
        parts = [units[0][units[1] == name] for name in names]
        model.importance[names] = permuted_changes(model, coded, weights.values, parts, seed)
    return model


def _coding(
    values: AnyArray, codes: AnyArray, share: FloatArray, passes: bool, *, is_number: bool
) -> ColumnCoding:
    """Of a number itself, with an indicator of missing values unless they are passed; of a factor
    treatment contrasts of the levels that occur."""
    if not is_number:
        made = np.equal.outer(values, np.unique(values)[1:]).astype(np.float64)
    else:
        gaps = ~np.isfinite(values)
        middle = 0.0 if gaps.all() else median(values[~gaps], share[~gaps])
        full, with_gaps = np.where(gaps, middle, values), bool(gaps.any()) and not passes
        made = np.column_stack([full, gaps] if with_gaps else [full]).astype(np.float64)
        made = made[:, : 0 if gaps.all() else 2]
    if not made.shape[1]:
        return ColumnCoding(np.zeros((256, 0)), is_number)
    share = share / share.sum()  # sums of huge numbers overflow
    mean = np.average(made, axis=0, weights=share)
    table = mean + by_code_of(codes, made - mean, share)
    if is_number and passes:
        table[0] = np.nan
    return ColumnCoding(table, is_number)
