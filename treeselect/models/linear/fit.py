"""Linear models of the selected terms, by statsmodels; for survival times, by our Cox model."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.designs.modeldata import INTERCEPT
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.survival.times import EVENT
from treeselect.errors import DataError, OptionError, listing, quoted
from treeselect.models.linear.data import (
    COUNTS,
    FIRTH,
    GAMMA,
    NEGATIVE_BINOMIAL,
    ORDINAL,
    LinearData,
    reduced,
)
from treeselect.models.linear.likelihood import but_of_far, fit_cox, fit_ordinal
from treeselect.quiet import own_filters

_SINGULAR = 1e-7
"""A cluster-robust covariance is rank-deficient if some combination of coefficients has less than
this share of the largest variance, relative to the model-based covariance. Rounding leaves less
than 1e-12."""


@dataclass(frozen=True, slots=True)
class LinearFit:
    """A fitted linear model, with its coefficients as one vector."""

    result: Any
    model: str  # the model and the software that fitted it, in words
    names: tuple[str, ...]  # columns, of several classes with the class before it
    terms: tuple[str, ...]
    estimate: FloatArray  # (n_coefficients,)
    covariance: FloatArray  # (n_coefficients, n_coefficients)
    df: float | None  # of t and F statistics; None for normal and chi-squared ones
    problems: tuple[str, ...]  # problems of the fit, in sentences
    n_groups: int | None = None  # clusters of a cluster-robust covariance
    n_events: int | None = None  # number of events
    ratio: str = ""  # what the exponential of a coefficient is
    dispersion: float | None = None
    is_quasi: bool = False  # whether the covariance is multiplied by the dispersion
    family: str = ""  # the distribution of the response

    def of_term(self, term: str) -> BoolArray:
        """Which coefficients are those of a term."""
        return np.array([own == term for own in self.terms])  # numpy's == cuts off a NUL


def fit_linear(data: LinearData, family: str, name: str, classes: Sequence[Any]) -> LinearFit:
    """Fit the linear model of a family. Counts that vary more than chance allows are quasi-Poisson
    (McCullagh and Nelder 1989, section 6.2.3); the covariance is linearised for sampling weights,
    as in R's ``survey`` (Lumley 2004), and cluster-robust with clusters (Cameron and Miller 2015),
    with t and F tests on G - 1 degrees of freedom. Weights that are no copies are divided by their
    mean."""
    n_rows, n_columns = data.matrix.shape
    groups = data.row_weights.groups
    n_groups = None if groups is None else len(np.unique(groups))
    if n_rows <= n_columns:
        raise DataError(
            "A linear model needs more complete cases than columns.\n"
            f"  Found: {n_rows} complete cases and {n_columns} columns. Select fewer terms."
        )
    _check_variation(data, classes)
    if family not in ("cox", ORDINAL, FIRTH):  # which scale their columns
        _check_sizes(data)
    others = [f"{c}: " for c in classes[1:]] if family == "multinomial" else [""]
    if n_groups is not None and n_groups <= n_columns * len(others):
        raise DataError(
            "Cluster-robust standard errors need more clusters than coefficients.\n"
            f"  Found: {n_groups} clusters and {n_columns * len(others)} coefficients. Select fewer"
            " terms, or fit on a larger part."
        )
    problems: list[str] = []
    with _noting(problems, "separate the classes" if len(classes) else "predict the response"):
        try:
            result, model = _fitted(data, family, name)
            estimate = np.asarray(result.params, dtype=np.float64).ravel(order="F")
            covariance = np.asarray(result.cov_params(), dtype=np.float64)
            told = (getattr(result, "mle_retvals", None) or {}).get("converged", True)
            converged = getattr(result, "converged", told)
            n_events = int(result.size) if data.has_times else None
        except OptionError:
            raise
        except (np.linalg.LinAlgError, ValueError, FloatingPointError) as error:
            raise DataError(f"The linear model can't be fitted.\n  {error}") from error
    if not converged:
        problems.append(_NOT_CONVERGED)
    with np.errstate(invalid="ignore"):
        if not (np.isfinite(estimate).all() and np.isfinite(np.sqrt(np.diag(covariance))).all()):
            problems.append(_NO_ERRORS)
    columns = [str(c) for c in data.matrix.columns]
    names = tuple(prefix + column for prefix in others for column in columns)
    problems += result.problems(names) if data.has_times or family == ORDINAL else []
    if n_groups is not None and not problems:
        problems += _without_groups(result, covariance, names)
    if data.row_weights.is_sample:
        from treeselect.models.linear.solving import diverging

        far = diverging(result, covariance, family)
        if far.any():
            found = [name for name, there in zip(names, far, strict=True) if there]
            why = "the classes are separated" if len(classes) else "events or counts are all 0"
            problems.append(
                f"The estimates of {listing(found, most=5)} diverge, because {why}; their standard"
                " errors are not robust."
            )
            covariance = but_of_far(covariance, np.asarray(result.normalized_cov_params), far)
    dispersion = None
    if family == "poisson":  # Pearson's, 1 on average for a Poisson response
        with np.errstate(all="ignore"):  # without residual degrees of freedom, or at a mean of 0
            dispersion = float(np.divide(result.pearson_chi2, result.df_resid))
    return LinearFit(
        result=result,
        model=model,
        names=names,
        terms=data.term_of * len(others),
        estimate=estimate,
        covariance=covariance,
        df=_degrees_of_freedom(result, data, n_groups),
        problems=tuple(dict.fromkeys(problems)),
        n_groups=n_groups,
        n_events=n_events,
        ratio=_RATIOS.get(family, ""),
        dispersion=dispersion,
        is_quasi=family == "poisson" and result.use_t and result.cov_type == "nonrobust",
        family=family,
    )


def with_infinite(fit: LinearFit) -> LinearFit:
    """The same, and as a problem if estimates may be infinite, where the fit has no other, or only
    those of which this is the reason."""
    from treeselect.models.linear.solving import is_endless, near_certain

    problem = ""
    if fit.family in ("binomial", FIRTH, "multinomial") and near_certain(fit.result):
        problem = (
            "Fitted probabilities of 0 or 1: the terms may separate the classes; some estimates"
            " are then infinite."
        )
    elif fit.family in COUNTS and is_endless(fit.result):
        problem = (
            "The likelihood has no maximum: some estimates diverge, as of a level whose rows are"
            " all 0."
        )
    is_why = problem and not set(fit.problems) - {_NOT_CONVERGED, _NO_ERRORS}
    return dataclasses.replace(fit, problems=(problem,)) if is_why else fit


_NOT_CONVERGED, _NO_ERRORS = "The fit did not converge.", "The standard errors can't be computed."


def fit_quietly(data: LinearData, family: str, name: str) -> Any:
    """The statsmodels results, or LikelihoodFit, of a family, without warnings or checks."""
    with _noting([]):
        return _fitted(data, family, name)[0]


def _fitted(data: LinearData, family: str, name: str) -> tuple[Any, str]:
    if family == "cox":
        return fit_cox(data), "Cox proportional hazards, Efron ties"
    if family == ORDINAL:
        return fit_ordinal(data), "Proportional odds (cumulative logit), maximum likelihood"
    from treeselect.models.linear.solving import FITS

    return FITS[family](data, name)


ONLY_FOR = {
    NEGATIVE_BINOMIAL: "poisson",
    FIRTH: "binomial",
    ORDINAL: "multinomial",
    GAMMA: "gaussian",
}
"""Models of one family."""

_RATIOS = {
    "binomial": "odds ratio",
    FIRTH: "odds ratio",
    GAMMA: "mean ratio",
    "multinomial": "odds ratio",
    ORDINAL: "odds ratio",
    "poisson": "rate ratio",
    NEGATIVE_BINOMIAL: "rate ratio",
    "cox": "hazard ratio",
}


def _check_variation(data: LinearData, classes: Sequence[Any]) -> None:
    """Raise a DataError if the response does not vary in these rows."""
    here = f" in {len(data.y)} complete cases."
    if data.has_times:
        if not data.y[:, EVENT].any():
            raise DataError(f"A Cox model needs events.\n  Found: none{here}")
        return
    n = len(np.unique(data.y))
    if n < max(len(classes), 2):
        raise DataError(
            "A linear model needs a response that varies, and rows of every class.\n"
            f"  Found: {n} distinct value{'' if n == 1 else 's'}{here}"
        )


_RESOLVED = 1e-13
"""Least ratio of singular values of the columns: statsmodels takes those below 1e-15 for 0."""


def _check_sizes(data: LinearData) -> None:
    """Raise a DataError if columns differ so much in size that one is lost beside another."""
    matrix = data.matrix.to_numpy(dtype=np.float64)
    size = np.linalg.svd(reduced(matrix), compute_uv=False)
    if len(size) and not size.min() > _RESOLVED * size.max():
        largest = np.abs(matrix).max(axis=0)
        odd = int(np.argmax(np.abs(np.log(largest))))
        raise DataError(
            "Columns of a linear model must not differ so much in size that one is lost beside"
            f" another.\n  Found: {quoted(str(data.matrix.columns[odd]))}, with values up to"
            f" {largest[odd]:.2g}. Rescale it, or subtract its mean."
        )


def _degrees_of_freedom(result: Any, data: LinearData, n_groups: int | None) -> float | None:
    if n_groups is not None:
        return float(n_groups - 1)
    if data.row_weights.is_sample:  # of Cox models none, as in R's `svycoxph`
        return None if data.has_times else float(len(data.y) - np.size(result.params))
    return float(result.df_resid) if result.use_t else None


def _without_groups(result: Any, covariance: FloatArray, names: Sequence[str]) -> list[str]:
    """Problems of a cluster-robust covariance V, which must have full rank: beside the model-based
    ``L L'`` no eigenvalue of ``inv(L) V inv(L)'`` may be 0."""
    if not names:
        return []
    try:
        root = np.linalg.cholesky(np.asarray(result.normalized_cov_params, dtype=np.float64))
    except np.linalg.LinAlgError:
        return [_NO_ERRORS]
    half = np.linalg.solve(root, covariance)
    values, vectors = np.linalg.eigh(np.linalg.solve(root, half.T))
    lost = values <= _SINGULAR * values[-1]
    if not lost.any():
        return []
    inverse = np.linalg.inv(root)
    size = np.abs(root @ vectors[:, lost]).max(axis=1) * np.sqrt((inverse**2).sum(axis=0))
    found = [names[i] for i in np.flatnonzero(size > 1e-4 * size.max()).tolist()]
    # A reference level shows in the other levels, not in the intercept.
    found = [name for name in found if name.split(": ")[-1] != INTERCEPT] or found
    return [
        f"Cluster-robust standard errors can't be computed for {listing(found)}, which"
        f" var{'ies' if len(found) == 1 else 'y'} in too few clusters."
    ]


@contextmanager
def _noting(problems: list[str], what: str = "") -> Iterator[None]:
    """Turn statsmodels' warnings into sentences; others are issued unchanged."""
    from statsmodels.tools import sm_exceptions

    with own_filters(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        yield
    for warning in caught:
        kind = warning.category
        if issubclass(kind, sm_exceptions.PerfectSeparationWarning):
            problems.append(f"The terms {what} completely: estimates diverge.")
        elif issubclass(kind, sm_exceptions.ConvergenceWarning):
            problems.append(_NOT_CONVERGED)
        elif issubclass(kind, sm_exceptions.HessianInversionWarning):
            problems.append(_NO_ERRORS)
        elif not issubclass(kind, RuntimeWarning | sm_exceptions.ModelWarning):
            warnings.warn_explicit(warning.message, kind, warning.filename, warning.lineno)
