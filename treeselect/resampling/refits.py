"""The linear model of what each resample selected, fitted to that resample."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.designs.linear_coding import USUAL, LinearCoding
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import DataError, OptionError, StabilityError, TreeselectError, said_by
from treeselect.models.independence import independent_columns
from treeselect.models.linear import LinearFit, fit_linear
from treeselect.models.linear_data import LinearData, linear_data
from treeselect.resampling.assessing import resample_weights
from treeselect.resampling.model_frequencies import distinct_sets
from treeselect.resampling.resampled import Scheme
from treeselect.running.parallel import Workers, run_all

if TYPE_CHECKING:
    from treeselect.resampling.stability import Stability

Key = tuple[str, str]
"""A coefficient: its term and its column."""


@dataclass(frozen=True, slots=True)
class Refit:
    """One linear model.

    Attributes
    ----------
    terms : tuple of str
    estimate : dict of tuple to float
        Coefficients that could be estimated.
    std_error : dict of tuple to float
    failure : str
        Why it could not be fitted, in a sentence; empty if it could.
    model : str
        The model, in words.
    n_dropped : int
        Rows that a model of all rows omits because a term is missing.
    """

    terms: tuple[str, ...]
    estimate: dict[Key, float]
    std_error: dict[Key, float]
    failure: str = ""
    model: str = ""
    n_dropped: int = 0


def fit_terms(data: ModelData, terms: Sequence[str], coding: LinearCoding = USUAL) -> Refit:
    """The linear model of some terms on all rows, as ``refit("glm")`` fits it; its standard errors
    are cluster-robust if the rows are clustered."""
    terms = tuple(terms)
    n_rows = len(data.row_weights.rows)
    if len(terms) >= n_rows:
        return Refit(terms, {}, {}, f"There are {len(terms):,} terms for {n_rows:,} rows.")
    try:
        rows = np.arange(len(data.weight))
        here = linear_data(data, terms, rows, data.row_weights.groups, coding)
        fit = _fitted(data, here.of_columns(here.is_free))
        return dataclasses.replace(_read(terms, fit), n_dropped=here.n_dropped)
    except OptionError:
        raise
    except (TreeselectError, np.linalg.LinAlgError) as error:
        return Refit(terms, {}, {}, said_by(error))


def refit_resamples(
    data: ModelData,
    stability: Stability,
    workers: Workers,
    progress: bool | None,
    coding: LinearCoding = USUAL,
) -> tuple[Refit, ...]:
    """The linear model of each resample, in order.

    Columns are encoded once for each set of terms, from all rows: a level that is absent from a
    resample must not change the reference level of the others.

    Raises
    ------
    StabilityError
        If the call that resampled was stopped.
    """
    if stability.asked is not None:  # which of them were finished is not known
        raise StabilityError(
            "`coefficient_stability()` needs all requested resamples.\n"
            f"  Found: {stability.n_resamples:,} of {stability.asked:,}, as the call was stopped."
            " Resample again; with the same `checkpoint` it resumes."
        )
    sets, _ = distinct_sets(stability.selected)
    numbers = [np.flatnonzero((stability.selected == own).all(axis=1)) for own in sets]
    names = np.array(stability.units, dtype=object)
    calls = [
        (data, data.terms_of(names[own]), stability.scheme, stability.seed, here, coding)
        for own, here in zip(sets, numbers, strict=True)
    ]
    found = run_all(_of_one_set, calls, workers, "Refits", progress)
    refits: list[Refit | None] = [None] * stability.n_resamples
    for here, own_refits in zip(numbers, found, strict=True):
        for number, own in zip(here, own_refits, strict=True):
            refits[number] = own
    return tuple(own for own in refits if own is not None)


def _of_one_set(
    data: ModelData,
    terms: tuple[str, ...],
    scheme: Scheme,
    seed: int,
    numbers: IntArray,
    coding: LinearCoding = USUAL,
    *,
    n_threads: int = 1,
) -> list[Refit]:
    """Linear models of one set of terms on the resamples that selected it."""
    try:
        every = linear_data(data, terms, np.arange(len(data.weight)), coding=coding)
        every = every.of_columns(every.is_free)
    except (TreeselectError, np.linalg.LinAlgError) as error:
        return [Refit(terms, {}, {}, said_by(error))] * len(numbers)
    found = []
    for number in numbers.tolist():
        weights = resample_weights(data.problem, data.row_weights, scheme, number, seed)
        found.append(_of_one_resample(data, terms, every.drawn(weights.in_groups(None))))
    return found


def _of_one_resample(data: ModelData, terms: tuple[str, ...], here: LinearData) -> Refit:
    matrix = here.compared
    occurs = np.asarray(matrix.any(axis=0))
    try:
        if not independent_columns(matrix[:, occurs]).all():
            raise DataError("Columns of the resample are collinear.")
        return _read(terms, _fitted(data, here.of_columns(occurs)))
    except OptionError:
        raise
    except (TreeselectError, np.linalg.LinAlgError) as error:
        return Refit(terms, {}, {}, said_by(error))


def _fitted(data: ModelData, here: LinearData) -> LinearFit:
    response = data.response
    fit = fit_linear(here, response.family.name, response.name, response.classes)
    if fit.problems:
        raise DataError(fit.problems[0])
    return fit


def _read(terms: tuple[str, ...], fit: LinearFit) -> Refit:
    keys = list(zip(fit.terms, fit.names, strict=True))
    error = np.sqrt(np.diag(fit.covariance))
    return Refit(
        terms,
        dict(zip(keys, fit.estimate.tolist(), strict=True)),
        dict(zip(keys, error.tolist(), strict=True)),
        model=fit.model,
    )


def estimates_of(refits: Sequence[Refit], keys: Sequence[Key]) -> tuple[FloatArray, BoolArray]:
    """Estimates of coefficients, and whether each was in the model.

    Returns
    -------
    estimate : ndarray of float, shape (n_refits, n_keys)
        0 if the term is not in the model; missing if the term is in the model without this
        coefficient, and if there is no model.
    in_model : ndarray of bool, shape (n_refits, n_keys)
    """
    estimate = np.full((len(refits), len(keys)), np.nan)
    for i, refit in enumerate(refits):
        if refit.failure:
            continue
        inside = {INTERCEPT, *refit.terms}
        for j, key in enumerate(keys):
            absent = np.nan if key[0] in inside else 0.0
            estimate[i, j] = refit.estimate.get(key, absent)
    has_term = np.array(
        [[key[0] == INTERCEPT or key[0] in refit.terms for key in keys] for refit in refits],
        dtype=bool,  # also without keys
    ).reshape(estimate.shape)
    return estimate, has_term & np.isfinite(estimate)
