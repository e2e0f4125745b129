"""A linear model and the models nested in it: the numbers that tests of terms are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.brief import brief
from treeselect.designs.linear import USUAL, LinearCoding
from treeselect.designs.modeldata import ModelData
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.errors import DataError
from treeselect.models.linear import LinearFit, fit_linear
from treeselect.models.linear_data import LinearData, linear_data
from treeselect.models.references import Reference
from treeselect.models.separation import near_certain


@dataclass(frozen=True, slots=True)
class FittedTerms:
    """A linear model of some terms, which can be fitted again without some of them.

    Attributes
    ----------
    data : LinearData
        All columns, also those that are linear combinations of others.
    fit : LinearFit
        The model of the columns that are free.
    family : str
    name : str
        Name of the response.
    classes : tuple
        Its classes.
    factors_of : dict of str to frozenset of str
        Factors of each term.
    names : dict of str to str
        Labels of terms in print.
    call : str
        The call of the model.
    formula : str
    references : dict of str to Reference
        Reference levels of factors, by term.
    """

    data: LinearData
    fit: LinearFit
    family: str
    name: str
    classes: tuple[Any, ...]
    factors_of: dict[str, frozenset[str]]
    names: dict[str, str]
    call: str
    formula: str
    references: dict[str, Reference]

    __repr__ = brief

    @property
    def terms(self) -> tuple[str, ...]:
        """The terms, in the order of the columns."""
        found = dict.fromkeys(self.data.term_of)
        return tuple(term for term in found if term in self.factors_of)

    @property
    def droppable(self) -> tuple[str, ...]:
        """Terms that no other term contains: those that the principle of marginality allows to
        drop."""
        own = self.factors_of
        return tuple(t for t in self.terms if not any(own[t] < own[other] for other in self.terms))

    @property
    def is_robust(self) -> bool:
        """Whether standard errors are robust, so that the likelihood has no test."""
        return self.data.row_weights.error_groups is not None

    @property
    def scale(self) -> float | None:
        """Variance by which deviances are divided in F tests: of the residuals of a gaussian model,
        the dispersion of a quasi-Poisson one; None for likelihood ratio tests."""
        if self.family == "gaussian":
            return self.whole.deviance / self.whole.df_resid
        return self.fit.dispersion if self.fit.is_quasi else None

    def without(self, terms: Sequence[str]) -> Nested:
        """The model without some terms, fitted to the same rows.

        Raises
        ------
        DataError
            If it can't be fitted.
        """
        here = np.array([term not in terms for term in self.data.term_of], dtype=bool)
        part = self.data.of_columns(here)
        free: BoolArray = part.is_free if part.matrix.shape[1] else np.zeros(0, dtype=bool)
        return self._nested(fit_linear(part.of_columns(free), self.family, self.name, self.classes))

    @property
    def whole(self) -> Nested:
        """The model itself."""
        return self._nested(self.fit)

    @property
    def n_events(self) -> float:
        """Events, or rows of the positive class, with copies; missing for other responses."""
        if self.fit.n_events is not None:
            return float(self.fit.n_events)
        if self.family != "binomial":
            return float("nan")
        weights = self.data.row_weights
        mass = weights.values if weights.are_copies else np.ones(len(weights))
        return float(mass @ (self.data.y > 0))

    def criteria(self, model: Nested) -> dict[str, float]:
        """Log-likelihood, AIC and BIC of a gaussian model with its variance as a parameter, as R's
        ``AIC(lm)``; nothing for other models."""
        if self.family != "gaussian" or not model.has_likelihood:
            return {}
        with np.errstate(divide="ignore"):
            likelihood = -model.n / 2 * (np.log(2 * np.pi * model.deviance / model.n) + 1)
        p = model.rank + 1
        return {
            "log_lik": float(likelihood), "aic": float(2 * p - 2 * likelihood),
            "bic": float(p * np.log(model.n) - 2 * likelihood), "deviance": model.deviance,
        }  # fmt: skip

    def _nested(self, fit: LinearFit) -> Nested:
        weights = self.data.row_weights
        n = float(weights.values.sum()) if weights.are_copies else float(len(weights))
        return Nested(
            fit, self.family, deviance_of(fit.result, self.family), len(fit.estimate), n,
            weights.are_copies and not self.fit.is_quasi,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Nested:
    """One of several nested models.

    Attributes
    ----------
    fit : LinearFit
    family : str
    deviance : float
        Residual sum of squares of a gaussian model, minus twice the log-likelihood (up to a
        constant) of others.
    rank : int
        Number of coefficients.
    n : float
        Number of rows, with copies.
    has_likelihood : bool
        Whether the likelihood is known, not up to scale only: weights are frequencies, and the
        model is not quasi-Poisson.
    """

    fit: LinearFit
    family: str
    deviance: float
    rank: int
    n: float
    has_likelihood: bool

    @property
    def df_resid(self) -> float:
        """Residual degrees of freedom."""
        return self.n - self.rank

    @property
    def aic(self) -> float:
        """Akaike's criterion, as R's ``extractAIC``: up to a constant for gaussian models, missing
        if the likelihood is not known."""
        if self.family == "gaussian":
            with np.errstate(divide="ignore"):
                return float(self.n * np.log(self.deviance / self.n) + 2 * self.rank)
        return float(self.fit.result.aic) if self.has_likelihood else np.nan


def deviance_of(result: Any, family: str) -> float:
    """Residual sum of squares, deviance, or minus twice the log-likelihood of some results."""
    with np.errstate(all="ignore"):  # computed here, of estimates that may diverge
        if family in ("multinomial", "cox"):
            return float(-2 * result.llf)
        if hasattr(result, "ssr"):
            return float(result.ssr)
        return float(result.deviance)


def wald_statistic(fit: LinearFit, term: str) -> tuple[float, int]:
    """Wald statistic of all coefficients of a term, and their number."""
    at = np.flatnonzero(np.array(fit.terms, dtype=object) == term)
    if not len(at):
        return np.nan, 0
    own: FloatArray = fit.estimate[at]
    try:
        return float(own @ np.linalg.solve(fit.covariance[np.ix_(at, at)], own)), len(at)
    except np.linalg.LinAlgError as error:
        raise DataError(f"The term can't be tested.\n  {error}") from error


def fit_terms(
    data: ModelData, terms: Sequence[str], coding: LinearCoding = USUAL
) -> tuple[LinearData, tuple[str, ...], LinearFit]:
    """The linear model of some terms on all complete cases.

    Returns
    -------
    full : LinearData
        All columns.
    left_out : tuple of str
        Columns dropped because they are linear combinations of others.
    fit : LinearFit

    Raises
    ------
    DataError
        If there are too few rows, or statsmodels fails.
    """
    rows, weights = np.arange(len(data.weight)), data.row_weights
    full = linear_data(data, terms, rows, weights.groups, coding)
    free = full.is_free
    left_out = tuple(str(c) for c in full.matrix.columns[~free])
    fit, too_few = _fitted(data, full, free), ""
    if isinstance(fit, str):  # few clusters; a sandwich of sampling weights has no other form
        full, too_few = linear_data(data, terms, rows, None, coding), fit
        fit = _fitted(data, full, free)
        assert not isinstance(fit, str)
    if not fit.problems and data.response.family.has_classes and near_certain(fit.result):
        fit = dataclasses.replace(
            fit,
            problems=(
                "Fitted probabilities of 0 or 1: the terms may separate the classes; some estimates"
                " are then infinite.",
            ),
        )
    if too_few:
        fit = dataclasses.replace(fit, problems=(*fit.problems, too_few))
    return full, left_out, fit


def _fitted(data: ModelData, full: LinearData, free: BoolArray) -> LinearFit | str:
    """The model of the free columns; if it has clusters that allow none, the reason."""
    response, weights = data.response, full.row_weights
    here = full.of_columns(free)
    try:
        fit = fit_linear(here, response.family.name, response.name, response.classes)
    except DataError as error:
        if weights.groups is None or weights.is_sample:
            raise
        return " ".join(str(error).split())
    if fit.problems and weights.groups is not None and not weights.is_sample:
        return fit.problems[0]
    return fit
