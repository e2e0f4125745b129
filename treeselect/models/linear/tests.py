"""Tests of terms by the models nested in a linear model, and profile intervals of coefficients."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy

from treeselect.brief import brief
from treeselect.designs.linear import USUAL, LinearCoding
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.designs.preparing import shown_names
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.errors import DataError, OptionError
from treeselect.frames.tables import PrintedTable, in_library
from treeselect.models.linear.coefficients import (
    Reference,
    bent_columns,
    coefficient_table,
    reference_levels,
    wald_test,
)
from treeselect.models.linear.data import (
    FIRTH,
    GAMMA,
    NEGATIVE_BINOMIAL,
    ORDINAL,
    LinearData,
    linear_data,
)
from treeselect.models.linear.fit import LinearFit, fit_linear, fit_quietly, with_infinite
from treeselect.models.linear.likelihood import glm_optimum
from treeselect.printing import SummaryContent, decimal_form, number_text, p_text


@dataclass(frozen=True, slots=True)
class FittedTerms:
    """A linear model of some terms, which can be fitted again without some of them."""

    data: LinearData  # all columns, also those that are linear combinations of others
    fit: LinearFit  # the model of the columns that are free
    name: str  # name of the response
    classes: tuple[Any, ...]  # its classes
    factors_of: dict[str, frozenset[str]]  # factors of each term
    names: dict[str, str]  # labels of terms in print
    call: str  # the call of the model
    formula: str
    references: dict[str, Reference]  # reference levels of factors, by term
    coding: LinearCoding = USUAL

    __repr__ = brief

    @property
    def family(self) -> str:
        return self.fit.family

    @property
    def terms(self) -> tuple[str, ...]:
        found = dict.fromkeys(self.data.term_of)
        return tuple(term for term in found if term in self.factors_of)

    @property
    def droppable(self) -> tuple[str, ...]:
        """Terms that no other term contains, which the principle of marginality allows to drop."""
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
        if self.family == GAMMA:
            return float(self.fit.result.scale)
        return self.fit.dispersion if self.fit.is_quasi else None

    def without(self, terms: Sequence[str]) -> Nested:
        """The model without some terms, fitted to the same rows."""
        return self._of(np.array([term not in terms for term in self.data.term_of], dtype=bool))

    def straight(self, term: str) -> Nested:
        """The model with a straight line in place of the spline of a term."""
        return self._of(~bent_columns(map(str, self.data.matrix), self.data.term_of, term))

    def _of(self, here: BoolArray) -> Nested:
        part = beside(self.data.of_columns(here), self.data, self.family)
        free: BoolArray = part.is_free if part.matrix.shape[1] else np.zeros(0, dtype=bool)
        return self._nested(fit_linear(part.of_columns(free), self.family, self.name, self.classes))

    def with_products(self, term: str, other: str) -> FittedTerms:
        """The model with the products of the columns of two terms, fitted to the same rows."""
        data, owner = self.data, np.array(self.data.term_of, dtype=object)
        x = data.matrix.to_numpy(dtype=np.float64)
        parts = [x[:, (owner == name) & data.is_free] for name in (term, other)]
        made = (parts[0][:, :, np.newaxis] * parts[1][:, np.newaxis]).reshape(len(x), -1)
        pair = f"{term}:{other}"
        extra = pd.DataFrame(made, columns=[f"{pair}[{i}]" for i in range(made.shape[1])])
        whole = dataclasses.replace(
            data,
            matrix=pd.concat([data.matrix, extra], axis=1),
            term_of=(*data.term_of, *[pair] * made.shape[1]),
        )
        part = whole.of_columns(whole.is_free)
        fit = fit_linear(part, self.family, self.name, self.classes)
        return dataclasses.replace(self, data=whole, fit=fit)

    @property
    def whole(self) -> Nested:
        return self._nested(self.fit)

    @property
    def n_events(self) -> float:
        """Events, or rows of the positive class, with copies; missing for other responses."""
        if self.fit.n_events is not None:
            return float(self.fit.n_events)
        if self.family not in ("binomial", FIRTH):
            return float("nan")
        return float(self.data.row_weights.copies @ (self.data.y > 0))

    def _nested(self, fit: LinearFit) -> Nested:
        weights, deviance = self.data.row_weights, deviance_of(fit.result, self.family)
        known = weights.are_copies and not self.fit.is_quasi and self.family not in (FIRTH, GAMMA)
        return Nested(fit, deviance, float(weights.n_observations), known)


@dataclass(frozen=True, slots=True)
class Nested:
    """One of several nested models."""

    fit: LinearFit
    deviance: float
    n: float  # number of rows, with copies
    has_likelihood: bool  # whether the likelihood is known, not up to scale only

    @property
    def rank(self) -> int:
        """Number of coefficients, thresholds among them."""
        return len(self.fit.estimate) + len(getattr(self.fit.result, "thresholds", ()))

    @property
    def df_resid(self) -> float:
        return self.n - self.rank

    @property
    def aic(self) -> float:
        """Akaike's criterion, as R's ``extractAIC``, but it counts theta; missing if unknown."""
        if not self.has_likelihood:
            return np.nan
        if self.fit.family == "gaussian":
            with np.errstate(divide="ignore"):
                return float(self.n * np.log(self.deviance / self.n) + 2 * self.rank)
        if self.fit.is_quasi:  # statsmodels divides its likelihood by the dispersion
            return float(2 * self.rank - 2 * self.fit.result.llf_scaled(1.0))
        return float(self.fit.result.aic) + 2.0 * (self.fit.family == NEGATIVE_BINOMIAL)


def beside(part: LinearData, whole: LinearData, family: str) -> LinearData:
    """The data of a nested model; Firth's penalty is that of the whole."""
    if family != FIRTH:
        return part
    columns = whole.matrix.to_numpy(dtype=np.float64)[:, whole.is_free]
    return dataclasses.replace(part, whole=columns)


def deviance_of(result: Any, family: str) -> float:
    """Residual sum of squares, deviance, or minus twice the log-likelihood of some results."""
    with np.errstate(all="ignore"):  # computed here, of estimates that may diverge
        if family in ("multinomial", ORDINAL, "cox", NEGATIVE_BINOMIAL):
            return float(-2 * result.llf)
        if family == FIRTH:
            return float(-2 * result.penalised)
        if hasattr(result, "ssr"):
            return float(result.ssr)
        return float(result.deviance)


def fit_terms(
    data: ModelData, terms: Sequence[str], coding: LinearCoding = USUAL
) -> tuple[LinearData, tuple[str, ...], LinearFit]:
    """The linear model of some terms on all complete cases."""
    rows, weights = np.arange(len(data.weight)), data.row_weights
    full = linear_data(data, terms, rows, weights.groups, coding)
    free = full.is_free
    left_out = tuple(str(c) for c in full.matrix.columns[~free])
    distribution = coding.distribution or data.response.family.name
    fit, too_few = _fitted(data, full, free, distribution), ""
    if isinstance(fit, str):  # few clusters; a sandwich of sampling weights has no other form
        full, too_few = linear_data(data, terms, rows, None, coding), fit
        fit = _fitted(data, full, free, distribution)
        assert not isinstance(fit, str)
    fit = with_infinite(fit)
    if too_few:
        fit = dataclasses.replace(fit, problems=tuple(dict.fromkeys([*fit.problems, too_few])))
    return full, left_out, fit


def fitted_terms(
    data: ModelData, full: LinearData, fit: LinearFit, call: str, coding: LinearCoding
) -> FittedTerms:
    """The model as the tests of its terms use it; `full` has all columns."""
    terms = (term for term in dict.fromkeys(full.term_of) if term != INTERCEPT)
    return FittedTerms(
        data=full,
        fit=fit,
        name=data.response.name,
        classes=data.response.classes,
        factors_of={
            spec.term.name: frozenset(factor.name for factor in spec.term.factors)
            for spec in data.spec.terms
        },
        names=shown_names(data),
        call=call,
        formula=data.spec.formula.text_of(terms),
        references=reference_levels(data, full),
        coding=coding,
    )


def _fitted(
    data: ModelData, full: LinearData, free: BoolArray, distribution: str
) -> LinearFit | str:
    """The model of the free columns; if it has clusters that allow none, the reason."""
    response, weights = data.response, full.row_weights
    here = full.of_columns(free)
    try:
        fit = fit_linear(here, distribution, response.name, response.classes)
    except DataError as error:
        if weights.groups is None or weights.is_sample:
            raise
        return " ".join(str(error).split())
    if fit.problems and weights.groups is not None and not weights.is_sample:
        return fit.problems[0]
    return fit


NULL, NONE = "(null model)", "(none)"
"""The rows of the models that others are compared with."""

NONLINEAR = " (nonlinear)"
"""Behind a term: the test of its spline against a straight line."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TermTests(PrintedTable):
    """Tests of the terms of a linear model.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> fit.refit("glm").drop1().tidy()["term"].tolist()
    ['(none)', 'pclass', 'sex']
    """

    def tidy(self) -> Any:
        """One row per term, after that of the model with which they are compared.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``df`` of the test; ``deviance``, the part that the term explains: a sum of
            squares (gaussian), or twice the difference of log-likelihoods; ``resid_df`` and
            ``resid_deviance`` of the model of the row (minus twice the log-likelihood, but for
            sums of squares and the deviance of a GLM), and its ``aic`` (as R's ``extractAIC``, with
            theta as ``AIC``; missing where ``glance()`` has none); ``statistic``: F (where there is
            a dispersion), likelihood ratio, or with robust errors Wald's; ``p_value``.
        """
        return in_library(self.table, self.library)


def sequential_tests(found: FittedTerms, notes: tuple[str, ...], library: str) -> TermTests:
    """Each term given those before it, as R's ``anova(fit)``: F, likelihood ratio or Wald tests."""
    terms = found.terms
    models = [found.without(terms[i:]) for i in range(len(terms))] + [found.whole]
    rows = [_row(NULL, models[0], None, models[0], found)]
    rows += [
        _row(term, after, before, after, found)
        for term, before, after in zip(terms, models, models[1:], strict=False)
    ]
    how = "each term given those above it (sequential)"
    title = "Analysis of deviance: sequential tests of terms"
    return TermTests(pd.DataFrame(rows), partial(_content, title, rows, found, how, notes), library)


def drop_tests(found: FittedTerms, notes: tuple[str, ...], library: str) -> TermTests:
    """Each term given all others, as R's ``drop1(fit)``, but for terms that an interaction
    contains; splines also against a straight line."""
    whole = found.whole
    rows = [_row(NONE, whole, None, whole, found)]
    for term in found.droppable:
        less = found.without([term])
        rows.append(_row(term, less, less, whole, found))
        if term in found.data.splines:
            line = found.straight(term)
            rows.append(_row(term, line, line, whole, found, bent=True))
    how = "each term given all others"
    left = [found.names.get(t, t) for t in found.terms if t not in found.droppable]
    if left:
        notes = (*notes, f"Not dropped, because an interaction contains them: {', '.join(left)}.")
    title = "Tests of terms given all others"
    return TermTests(pd.DataFrame(rows), partial(_content, title, rows, found, how, notes), library)


def added_test(found: FittedTerms, term: str, other: str) -> dict[str, Any]:
    """The row of the products of two terms, in the model with them."""
    more, product = found.with_products(term, other), f"{term}:{other}"
    whole = more.whole
    below = more.without([product]) if found.family == FIRTH else found.whole  # of one penalty
    return _row(product, whole, below, whole, more)


def _row(
    term: str, model: Nested, below: Nested | None, above: Nested, found: FittedTerms,
    *, bent: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """A row: the numbers of a model, and the test of a term, or of what is `bent` of it."""
    row: dict[str, Any] = {
        "term": term + NONLINEAR * bent, "df": np.nan, "deviance": np.nan,
        "resid_df": model.df_resid,
        "resid_deviance": model.deviance, "aic": model.aic, "statistic": np.nan, "p_value": np.nan,
    }  # fmt: skip
    if below is None:
        return row
    df = above.rank - below.rank
    row |= {"df": float(df), "deviance": below.deviance - above.deviance}
    if df:
        fit = above.fit
        tested = bent_columns(fit.names, fit.terms, term) if bent else fit.of_term(term)
        pair = _test(tested, df, row, above, found)
        row |= dict(zip(("statistic", "p_value"), pair, strict=True))
    return row


def _test(
    tested: BoolArray, df: int, row: dict[str, Any], above: Nested, found: FittedTerms
) -> tuple[float, float]:
    if found.is_robust:
        try:
            return wald_test(above.fit, tested)
        except np.linalg.LinAlgError as error:
            raise DataError(f"The term can't be tested.\n  {error}") from error
    scale = found.scale
    if scale is None:
        ratio = max(row["deviance"], 0.0)  # of equal models the difference is rounding error
        return ratio, float(scipy.stats.chi2.sf(ratio, df))
    with np.errstate(divide="ignore", invalid="ignore"):
        f = np.divide(max(row["deviance"], 0.0) / df, scale)
    return float(f), float(scipy.stats.f.sf(f, df, found.whole.df_resid))


def statistic_name(found: FittedTerms) -> str:
    if found.is_robust:
        return "Wald" if found.fit.df is None else "Wald F"
    return "LR" if found.scale is None else "F"


def _content(
    title: str, rows: Sequence[dict[str, Any]], found: FittedTerms, how: str, notes: tuple[str, ...]
) -> SummaryContent:
    squares = found.family == "gaussian"
    return SummaryContent(
        title=title,
        facts=(
            ("Call", found.call),
            ("Formula", found.formula),
            ("Model", found.fit.model),
            ("Tests", f"{test_words(found)}; {how}"),
        ),
        columns=(
            "Term", "Df", "Sum of sq." if squares else "Deviance", "Resid. df",
            "RSS" if squares else _MINUS_TWICE.get(found.family, "Resid. dev."), "AIC",
            statistic_name(found), "P-value",
        ),
        rows=tuple(_cells(row, found) for row in rows),
        notes=notes * (len(rows) > 1),
    )  # fmt: skip


_MINUS_TWICE = {FIRTH: "-2 penalised log-lik.", NEGATIVE_BINOMIAL: "-2 log-lik."}
"""Of models with another deviance, which their summary has."""


def _cells(row: dict[str, Any], found: FittedTerms) -> tuple[str, ...]:
    two, three = decimal_form(2, ","), decimal_form(3)
    forms = {
        "df": ".0f", "deviance": two, "resid_df": ",.0f", "resid_deviance": two, "aic": two,
        "statistic": three,
    }  # fmt: skip
    numbers = (number_text(row[name], form, "") for name, form in forms.items())
    p = p_text(row["p_value"]) if np.isfinite(row["p_value"]) else ""
    term = row["term"].removesuffix(NONLINEAR)
    behind = NONLINEAR if term != row["term"] else ""
    return (found.names.get(term, term) + behind, *numbers, p)


def test_words(found: FittedTerms) -> str:
    return "penalised " * (found.family == FIRTH) + _TEST_WORDS[statistic_name(found)]


_TEST_WORDS = {
    "F": "F tests",
    "LR": "likelihood ratio tests",
    "Wald": "Wald tests with robust standard errors",
    "Wald F": "Wald F tests with robust standard errors",
}


PROFILED = ("binomial", FIRTH, ORDINAL, "poisson", "cox")
"""Families whose coefficients are profiled."""

_DOUBLINGS = 8
"""An end more than 2**8 times the Wald distance away is infinite: the terms separate the rows."""

_CROSSED = 1e-3
"""Most that the deviance differs from its limit at an end."""


def intervals(
    found: FittedTerms, method: str | None, level: float, argument: str = "method"
) -> FloatArray:
    """Lower and upper ends for each coefficient, shape (n_coefficients, 2), by Wald or by the
    profile likelihood (Venzon and Moolgavkar 1988)."""
    wald = coefficient_table(found.fit, level)[["ci_low", "ci_high"]].to_numpy(dtype=np.float64)
    has_profile = found.family in PROFILED and not found.is_robust
    if method == "wald" or (found.family == "gaussian" and not found.is_robust):
        return wald
    if method is None and (found.fit.problems or not has_profile):
        return wald
    if not has_profile:
        why = "its likelihood is not profiled"
        if found.family == "multinomial":
            why = "more than two classes are not profiled, as in R's `confint`"
        if found.is_robust:
            why = "its standard errors are robust, and the likelihood is not"
        raise OptionError(
            f"`{argument}` must be 'wald' for this model: {why}.\n"
            f'  Found: {method!r}. Use `{argument}="wald"`.'
        )
    if found.fit.problems:
        raise DataError(
            "The likelihood of this model can't be profiled.\n"
            f'  {found.fit.problems[0]} Use `{argument}="wald"`.'
        )
    data = found.data
    free = data.of_columns(data.is_free)
    top, limit = deviance_of(found.fit.result, found.family), float(scipy.stats.chi2.ppf(level, 1))
    if found.scale is not None:
        limit = found.scale * float(scipy.stats.f.ppf(level, 1, found.whole.df_resid))
    ends = np.empty_like(wald)
    for j, estimate in enumerate(found.fit.estimate.tolist()):
        excess = _excess(free, j, found, top + limit)
        for side in (0, 1):
            ends[j, side] = _end(excess, estimate, wald[j, side] - estimate)
    return ends


def _excess(data: LinearData, j: int, found: FittedTerms, limit: float) -> Callable[[float], float]:
    """How far the deviance with coefficient j fixed is above a limit. The others start where they
    are expected to be, from the covariance of the estimates."""
    fit, others = found.fit, np.arange(data.matrix.shape[1]) != j
    matrix, column = data.matrix.to_numpy(dtype=np.float64), np.zeros(len(others))
    column[j], column[others] = 1.0, fit.covariance[others, j] / fit.covariance[j, j]
    rest = beside(data.of_columns(others), data, found.family)
    at_best = matrix @ fit.estimate + data.base

    def excess(value: float) -> float:
        moved = at_best + (value - fit.estimate[j]) * (matrix @ column)
        fixed = dataclasses.replace(rest, offset=moved)
        if found.family in ("binomial", "poisson"):
            return glm_optimum(fixed, found.family)[1] - limit
        return deviance_of(fit_quietly(fixed, found.family, found.name), found.family) - limit

    return excess


def _end(excess: Callable[[float], float], estimate: float, step: float) -> float:
    """Where the deviance crosses its limit on one side of the estimate; infinite if it can't be
    followed so far, because fits fail or it jumps."""
    inner, outer = 0.0, 1.0  # in steps
    with contextlib.suppress(np.linalg.LinAlgError, ValueError):
        for _ in range(_DOUBLINGS):
            if (above := excess(estimate + outer * step)) < 0:
                inner, outer = outer, 2 * outer
                continue
            if np.isfinite(above):
                root = scipy.optimize.brentq(
                    lambda at: excess(estimate + at * step), inner, outer, rtol=1e-7, xtol=1e-12
                )
                end = estimate + float(root) * step
                if abs(excess(end)) < _CROSSED:
                    return end
            break
    return float(np.copysign(np.inf, step))
