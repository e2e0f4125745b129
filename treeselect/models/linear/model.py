"""A linear model as the final model: of the columns of the selected units, or of splines of them.

It is the model of ``refit("glm", missing="indicator")``, fitted to arrays, so that it can be
repeated in folds and resamples and predicts every row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from treeselect.designs.evaluation import spline_basis, spline_knots
from treeselect.designs.families import Family
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights, median
from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray
from treeselect.engine.linear.glm import Glm
from treeselect.models.linear.data import reduced
from treeselect.models.linear.likelihood import proportional_odds
from treeselect.models.model import ColumnModel, null_predictor

_N_KNOTS = 4


@dataclass(frozen=True, slots=True)
class LinearPart:
    """The part of one column in a linear predictor; codes that the fit lacks get the average."""

    table: FloatArray  # (256, n_outputs): by code; of a number, if it is missing
    slopes: FloatArray  # (n_basis, n_outputs): none for a factor
    mean: FloatArray  # (n_outputs,): subtracted
    knots: FloatArray  # (n_knots,): of the standardised number; none if it is linear
    centre: float
    scale: float

    def of(self, values: AnyArray) -> FloatArray:
        """Part of each row, shape (n_rows, n_outputs), from numbers, or from codes of a factor."""
        if values.dtype.kind == "u":
            return self.table[values]
        if not len(self.slopes):
            return self.table[np.zeros(len(values), dtype=np.uint8)]
        with np.errstate(over="ignore"):  # of numbers as large as there are
            z = (values - self.centre) / self.scale
            found = spline_basis(z, self.knots) @ self.slopes - self.mean
        return np.where(np.isnan(values)[:, np.newaxis], self.table[0], found)


def linear_words(family: Family, bends: bool) -> str:
    kind = {"cox": "Cox", "ordinal": "proportional odds"}.get(family.name, "generalised linear")
    bent = ", with restricted cubic splines of numbers" if bends else ""
    return f"a {kind} model of the selected terms{bent}"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class LinearModel(ColumnModel):
    """A constant and a part for each column of the selected units; of ordered classes the log odds
    of at most each class but the last, in proportional odds."""

    parts: tuple[LinearPart, ...]
    bends: bool = False  # whether numbers have splines

    _importance: ClassVar[str] = (
        "Share in the summed standard deviations of the terms' parts of the linear predictor, over"
        " rows weighted by their information"
    )
    stored_as: ClassVar[str] = "linear"

    @property
    def description(self) -> str:
        return linear_words(self.family, self.bends) if self.parts else "the null model"

    @property
    def is_link(self) -> bool:
        return not self.family.is_ordered  # whose classes have no linear predictor each

    def _centred(self, score: FloatArray) -> FloatArray:
        found = super(LinearModel, self)._centred(score)
        return found if self.is_link else self._mean(found, None)

    def _of(self, columns: Sequence[NDArray[Any]], n_rows: int) -> FloatArray:
        eta = np.tile(self.constant, (n_rows, 1))
        for part, values in zip(self.parts, columns, strict=True):
            eta += part.of(values)
        return eta

    def _mean(self, score: FloatArray, offset: FloatArray | None) -> FloatArray:
        if self.family.is_ordered:
            return self.family.shares(scipy.special.expit(score))
        return super(LinearModel, self)._mean(score, offset)


@dataclass(frozen=True, slots=True)
class _Coding:
    """Columns of a linear model that are made of one column of the data."""

    values: FloatArray  # (n_rows, n_made)
    is_number: bool
    knots: FloatArray = field(default_factory=lambda: np.empty(0))
    centre: float = 0.0
    scale: float = 1.0

    def part(self, slopes: FloatArray, mean: FloatArray, by_code: FloatArray) -> LinearPart:
        """The part of the linear predictor, less its mean."""
        n_basis = max(len(self.knots) - 1, 1) if self.is_number and len(slopes) else 0
        return LinearPart(by_code, slopes[:n_basis], mean, self.knots, self.centre, self.scale)


def _coded_number(x: FloatArray, share: FloatArray, bends: bool) -> _Coding:
    """The number or its splines, standardised, with an indicator of missing values."""
    gaps = np.isnan(x)
    known, own = x[~gaps], share[~gaps]
    if not len(known):
        return _Coding(np.empty((len(x), 0)), is_number=True)
    size = float(np.abs(known).max()) or 1.0
    centre = float(np.average(known / size, weights=own)) * size
    scale = float(np.sqrt(np.average(((known - centre) / size) ** 2, weights=own))) * size or size
    z = (known - centre) / scale
    knots = spline_knots(z, own, _N_KNOTS) if bends else np.empty(0)
    full = np.full(len(x), median(z, own))
    full[~gaps] = z
    made = spline_basis(full, knots)
    if gaps.any():
        made = np.column_stack([made, gaps.astype(np.float64)])
    return _Coding(made, True, knots, centre, scale)


def refit_linear(
    problem: Problem, weights: RowWeights, selected: BoolArray, *, bends: bool = False, **_: Any
) -> LinearModel:
    """Fit a generalised linear model of the selected units; a missing number is the median, with an
    indicator. With `bends` numbers have restricted cubic splines with four knots."""
    coded, family, rows = problem.columns, problem.family, weights.rows
    assert coded is not None
    constant = null_predictor(problem, weights.values)
    if family.is_ordered:
        constant = scipy.special.logit(np.cumsum(family.mean(constant[np.newaxis])[0])[:-1])
    share = weights.values[rows].astype(np.float64)
    own = np.flatnonzero(selected[coded.groups.ids])
    single = [name for name in coded.column_names if coded.column_names.count(name) == 1]
    codings = []
    for j in own.tolist():
        values = coded.columns[j][rows]
        if coded.n_levels[j] is None:
            bent = bends and coded.column_names[j] in single
            codings.append(_coded_number(values, share, bent))
        else:  # treatment contrasts of the levels that occur, missing values among them
            contrasts = np.equal.outer(values, np.unique(values)[1:])
            codings.append(_Coding(contrasts.astype(np.float64), is_number=False))
    made = [coding.values for coding in codings]
    *starts, n_made = np.cumsum([0, *(x.shape[1] for x in made)]).tolist()
    estimate = np.zeros((n_made, len(constant)))
    if estimate.size:
        intercept, estimate = _estimated(problem, weights, np.column_stack(made))
        constant = constant if family.has_times else intercept
    parts: list[LinearPart] = []
    sums = [np.zeros((len(rows), len(constant))) for _ in range(int(selected.sum()))]
    unit = (np.cumsum(selected) - 1)[coded.groups.ids[own]]
    for j, coding, at, into in zip(own.tolist(), codings, starts, unit, strict=True):
        slopes = estimate[at : at + coding.values.shape[1]]
        effect = coding.values @ slopes
        mean = np.average(effect, axis=0, weights=share)
        sums[into] += effect - mean
        constant = constant if family.has_times else constant + mean
        by_code = by_code_of(problem.data.column(j)[rows], effect - mean, share)
        parts.append(coding.part(slopes, mean, by_code))
    eta = np.sum([np.tile(constant, (len(rows), 1)), *sums], axis=0)
    importance = np.zeros(len(selected))
    # Standard deviations of the parts under the information of the rows
    information = _information(problem, weights, eta)
    share = information / np.maximum(information.sum(axis=0), 1e-300)
    centred = (part - (share * part).sum(axis=0) for part in sums)
    importance[selected] = [float(np.sqrt((share * part**2).sum())) for part in centred]
    return LinearModel(
        selected, None, constant, importance, family, parts=tuple(parts), bends=bends
    )


def _estimated(
    problem: Problem, weights: RowWeights, matrix: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Intercepts, shape (n_outputs,), and coefficients, shape (n_columns, n_outputs), the smallest
    ones where columns are linear combinations of others."""
    rows, family = weights.rows, problem.family
    loss, mass = family.loss, weights.values[rows].astype(np.float64)
    mass /= 1.0 if weights.are_copies else mass.mean()
    centre = np.average(matrix, axis=0, weights=mass)
    spread = np.sqrt(np.average((matrix - centre) ** 2, axis=0, weights=mass))
    scale = np.where(spread > 0, spread, np.inf)
    z, offset = (matrix - centre) / scale, None if problem.offset is None else problem.offset[rows]
    if family.is_ordered:
        thresholds, slopes = proportional_odds(
            z, problem.y[rows].astype(np.int64), mass, family.n_classes
        )
        slopes = np.tile(-slopes[:, np.newaxis] / scale[:, np.newaxis], len(thresholds))
        return thresholds - centre @ slopes, slopes
    glm = Glm(z, np.array([0, z.shape[1]]), problem.y[rows], mass, loss, offset)
    eta = glm.eta(glm.fit(np.array([True])))
    eta = (eta if offset is None else eta - offset).reshape(len(rows), -1)
    if eta.shape[1] > 1:  # no class has a linear predictor of 0 only because it is the reference
        eta -= eta.mean(axis=1, keepdims=True)
    constant = np.full(len(rows), float(loss.has_constant))
    short = reduced(np.column_stack([constant, z, eta]), root=np.sqrt(mass))
    n = 1 + z.shape[1]
    found = np.linalg.lstsq(short[:, :n], short[:, n:], rcond=1e-9)[0]
    slopes = found[1:] / scale[:, np.newaxis]
    return found[0] - centre @ slopes, slopes


def _information(problem: Problem, weights: RowWeights, eta: FloatArray) -> FloatArray:
    """Weight of each row times the curvature of its loss, shape (n_rows, n_outputs): nothing where
    the model is certain, as of a level that separates the classes."""
    rows = weights.rows
    own = eta if problem.offset is None else eta + problem.offset[rows][:, np.newaxis]
    if problem.family.is_ordered:
        chance = scipy.special.expit(eta)
        return np.asarray(weights.values[rows][:, np.newaxis] * chance * (1 - chance))
    loss = problem.family.loss.of(problem.y[rows], weights.values[rows])
    curvature = loss.curvature(own if own.shape[1] > 1 else own[:, 0])
    return np.asarray(weights.values[rows][:, np.newaxis] * curvature.reshape(own.shape))


def by_code_of(codes: AnyArray, effect: FloatArray, share: FloatArray) -> FloatArray:
    """Mean effect by code, shape (256, n_outputs)."""
    total = np.bincount(codes, share, 256)
    sums = np.column_stack([np.bincount(codes, share * x, 256) for x in effect.T])
    return np.asarray(sums / np.where(total > 0, total, 1.0)[:, np.newaxis])
