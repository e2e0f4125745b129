"""How selection affects the coefficients of the linear model: table and summary."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from treeselect import printing
from treeselect.designs.linear import POOLED, warn_of_gaps
from treeselect.designs.modeldata import INTERCEPT, ModelData, data_fingerprint
from treeselect.designs.preparing import column_labels, in_labels
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import DataError, StabilityError
from treeselect.models.linear.data import LinearData, independent_columns, linear_data
from treeselect.models.linear.fit import fit_linear, with_infinite
from treeselect.printing import cells
from treeselect.printing.numbers import number_text
from treeselect.resampling.agreement import distinct_sets, known_quantiles
from treeselect.resampling.assessing import resample_weights
from treeselect.resampling.fit import Fit
from treeselect.resampling.records import InLibrary
from treeselect.resampling.resampled import Scheme
from treeselect.resampling.sample_splitting import why_not
from treeselect.resampling.stability import Stability
from treeselect.running.parallel import Workers, run_all

# --- the linear model of what each resample selected, fitted to that resample --------------------

Key = tuple[str, str]
"""A coefficient: its term and its column."""


@dataclass(frozen=True, slots=True)
class Refit:
    """One linear model."""

    terms: tuple[str, ...]
    estimate: dict[Key, float] = field(default_factory=dict)  # those that could be estimated
    std_error: dict[Key, float] = field(default_factory=dict)
    failure: str = ""  # why it could not be fitted, in a sentence; empty if it could
    problem: str = ""  # why estimates may be infinite, in a sentence
    model: str = ""  # the model, in words
    n_dropped: int = 0  # rows that a model of all rows omits because a term is missing


def fit_terms(data: ModelData, terms: Sequence[str]) -> Refit:
    """The linear model of some terms on all rows, as ``refit("glm")`` fits it; its standard errors
    are cluster-robust if the rows are clustered."""
    terms = tuple(terms)
    n_rows = len(data.row_weights.rows)
    if len(terms) >= n_rows:
        return Refit(terms, failure=f"There are {len(terms):,} terms for {n_rows:,} rows.")
    with why_not() as failure:
        rows = np.arange(len(data.weight))
        here = linear_data(data, terms, rows, data.row_weights.groups)
        fitted = _fitted(data, terms, here.of_columns(here.is_free))
        return dataclasses.replace(fitted, n_dropped=here.n_dropped)
    return Refit(terms, failure=failure[0])


def _of_one_set(
    data: ModelData,
    terms: tuple[str, ...],
    scheme: Scheme,
    seed: int,
    numbers: IntArray,
    *,
    n_threads: int = 1,
) -> list[Refit]:
    """Linear models of one set of terms on the resamples that selected it. Columns are encoded once
    from all rows: a level that is absent from a resample must not change the reference level."""
    with why_not() as failure:
        every = linear_data(data, terms, np.arange(len(data.weight)))
        every = every.of_columns(every.is_free)
    if failure:
        return [Refit(terms, failure=failure[0])] * len(numbers)
    found = []
    for number in numbers.tolist():
        weights = resample_weights(data.problem, data.row_weights, scheme, number, seed)
        here = every.drawn(weights.in_groups(None))
        occurs = np.asarray(here.compared.any(axis=0))
        with why_not() as failure:
            if not independent_columns(here.compared[:, occurs]).all():
                raise DataError("Columns of the resample are collinear.")
            found.append(_fitted(data, terms, here.of_columns(occurs)))
        found += [Refit(terms, failure=why) for why in failure]
    return found


def _fitted(data: ModelData, terms: tuple[str, ...], here: LinearData) -> Refit:
    response = data.response
    fit = fit_linear(here, response.family.name, response.name, response.classes)
    if fit.problems:
        raise DataError(fit.problems[0])
    keys = list(zip(fit.terms, fit.names, strict=True))
    estimates = dict(zip(keys, fit.estimate.tolist(), strict=True))
    errors = dict(zip(keys, np.sqrt(np.diag(fit.covariance)).tolist(), strict=True))
    problem = "".join(with_infinite(fit).problems)
    return Refit(terms, estimates, errors, model=fit.model, problem=problem)


def estimates_of(refits: Sequence[Refit], keys: Sequence[Key]) -> tuple[FloatArray, BoolArray]:
    """Estimates of coefficients, and whether each was in the model, shape (n_refits, n_keys): 0 if
    the term is not in the model, missing if only the coefficient is not, or there is no model."""
    estimate = np.full((len(refits), len(keys)), np.nan)
    has_term = np.zeros(estimate.shape, dtype=bool)
    for i, refit in enumerate(refits):
        inside = {INTERCEPT, *refit.terms}
        for j, key in enumerate(keys):
            has_term[i, j] = key[0] in inside
            if not refit.failure:
                estimate[i, j] = refit.estimate.get(key, np.nan if has_term[i, j] else 0.0)
    return estimate, has_term & np.isfinite(estimate)


BOUNDS = (0.025, 0.5, 0.975)
"""Quantiles of the estimates over the resamples."""


def coefficient_spread(
    estimate: FloatArray, in_model: BoolArray, full: FloatArray, error: FloatArray
) -> dict[str, FloatArray | IntArray]:
    """Measures of each coefficient over the resamples, missing where none has it: those of Heinze,
    Wallisch and Dunkler (2018), section 3.2, and quantiles."""
    known = np.isfinite(estimate)
    n = known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0 is missing
        rmsd = np.sqrt(np.where(known, (estimate - full) ** 2, 0.0).sum(axis=0) / n)
        conditional = np.where(in_model, estimate, 0.0).sum(axis=0) / in_model.sum(axis=0)
        ratio, bias = rmsd / error, (conditional - full) / full
    low, median, high = known_quantiles(np.where(known, estimate, np.nan), BOUNDS)
    return {
        "rmsd_ratio": np.where(np.isfinite(ratio), ratio, np.nan),
        "relative_conditional_bias": np.where(np.isfinite(bias), bias, np.nan),
        "median": median,
        "ci_low": low,
        "ci_high": high,
        "n": n,
    }


# --- table and summary ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CoefficientStability(printing.Summarised, InLibrary):
    """Coefficients of the linear models of the terms that the resamples selected.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> found = fit.resample(5).model.coefficient_stability()
    >>> list(found.tidy().columns[:2])
    ['term', 'column']
    """

    table: pd.DataFrame
    resamples: str  # number and kind of the resamples
    n_resamples: int
    n_refitted: int  # resamples with a linear model
    failures: tuple[tuple[str, int], ...]  # why the others have none, each with its count
    full_failure: str  # why the model of all terms could not be fitted; empty if it could
    problem: str  # why estimates may be infinite, and of which models, in a sentence
    n_dropped: int  # rows that the model of all terms omits because a term is missing
    model: str  # the fitted model, in words
    response: str  # the response, with the class that is modelled or the reference class
    call: str  # the call, after that of the fit
    k_of_fit: int
    seed: int
    labels: tuple[str, ...] = ()  # labels in print of the coefficients, in the order of the rows
    fingerprint: str | None = None  # of the data

    def tidy(self) -> Any:
        """One row per coefficient: the intercept, then those of the most frequent terms first.

        Returns
        -------
        frame, in the library of the data
            ``term``; ``column``; ``frequency``, the selection frequency of the term;
            ``full_estimate`` and ``full_std_error`` in the full model, which has all terms;
            ``estimate`` and ``std_error`` in the linear model of the selected terms, on all rows
            (missing if the term is not selected); ``rmsd_ratio``;
            ``relative_conditional_bias``, as a proportion; ``median``, ``ci_low`` and ``ci_high``,
            the 50, 2.5 and 97.5% quantiles over the resamples, with 0 for a coefficient whose term
            is not selected; ``n``, the number of resamples behind these.
        """
        return self._frame(self.table)

    @property
    def printed(self) -> pd.DataFrame:
        """The table with the coefficients' labels in print."""
        return self.table.assign(column=list(self.labels))

    def _content(self) -> printing.SummaryContent:
        shown = self.printed.head(printing.MOST_ROWS)
        more = len(self.table) - len(shown)
        notes = (f"{more:,} more coefficients in `.tidy()`.",) if more else ()
        columns, rows = cells.table(shown, COLUMNS)
        title = "Stability of the coefficients"
        return printing.SummaryContent(title, self.facts(), columns, rows, (*self.notes(), *notes))

    def facts(self) -> tuple[tuple[str, str], ...]:
        """The fitted model, and the resamples."""
        return (
            ("Call", self.call),
            ("Response", self.response),
            ("Model", self.model if self.model else "none could be fitted"),
            ("Resamples", self.resamples),
            ("Refitted", f"{self.n_refitted:,} of {self.n_resamples:,}"),
            ("Seed", str(self.seed)),
        )

    def notes(self) -> tuple[str, ...]:
        """How to read the table, and what is missing from it, in sentences."""
        said = []
        if not self.full_failure:
            said += [
                "Full: the model of all terms. Selected: the model of the selected terms. Both are"
                " fitted to the data, not to a resample.",
                "RMSD ratio: root mean squared difference between a coefficient on the resamples"
                " and in the full model, over its standard error in the full model. Above 1,"
                " selection adds to the uncertainty of the coefficient; below 1, it reduces it.",
                "Bias: relative conditional bias, how much further from 0 a coefficient is than in"
                " the full model, on average over the resamples that select its term. Negative:"
                " closer to 0; below -100: the sign is reversed. If a term is selected by a narrow"
                " margin, its coefficient tends to be too large when it is selected.",
            ]
            if self.n_dropped:
                said.append(
                    "Each model omits the rows in which one of its terms is missing, the full"
                    f" model {self.n_dropped:,}. RMSD ratio and bias include this difference in"
                    f" rows. {POOLED}"
                )
        else:
            said.append(
                "The linear model of all terms, the reference for the coefficients, could not be"
                f" fitted: {self.full_failure}"
            )
        said.append(
            "Median and quantiles are over the resamples; a coefficient counts as 0 if its term was"
            " not selected (Heinze, Wallisch and Dunkler 2018)."
        )
        said += [self.problem] * bool(self.problem)
        for why, count in self.failures:
            said.append(f"Resamples without a linear model ({count:,}): {why}")
        return tuple(said)

    def __repr__(self) -> str:
        return f"<CoefficientStability on {self.resamples}>"


def _full(row: cells.Record) -> str:
    full = _number(row["full_estimate"])
    return full and f"{full} ({printing.significant_text(row['full_std_error'], 2)})"


_ENDS = "ci_low", "ci_high"

COLUMNS: tuple[tuple[str, cells.Cell], ...] = (
    ("Column", "column"),
    ("Freq.", cells.decimal("frequency", 2)),
    ("Full (s.e.)", _full),
    ("Selected", lambda row: _number(row["estimate"])),
    ("RMSD ratio", lambda row: number_text(row["rmsd_ratio"], ".2f", "")),
    ("Bias, %", lambda row: number_text(100 * row["relative_conditional_bias"], "+.0f", "")),
    ("Median", lambda row: _number(row["median"])),
    ("2.5 to 97.5%", lambda row: " to ".join(_number(row[e], 2) for e in _ENDS if row["n"])),
)
"""The printed table, by rows of :meth:`CoefficientStability.tidy`."""


def _number(value: float, digits: int = 3) -> str:
    """An estimate; empty if it is missing, and never "-0"."""
    return printing.significant_text(value + 0.0, digits) if np.isfinite(value) else ""


def coefficient_stability(
    result: Fit, stability: Stability, workers: Workers
) -> CoefficientStability:
    """See :meth:`ModelView.coefficient_stability`."""
    data = result.in_groups()[0]
    terms = tuple(spec.term.name for spec in data.spec.terms)
    warn_of_gaps(data, terms, "coefficient_stability()")
    if stability.asked is not None:  # which of them were finished is not known
        raise StabilityError(
            "`coefficient_stability()` needs all requested resamples.\n"
            f"  Found: {stability.n_resamples:,} of {stability.asked:,}, as the call was stopped."
            " Resample again; with the same `checkpoint` it resumes."
        )
    full, own = fit_terms(data, terms), fit_terms(data, result.selected)
    sets, names = distinct_sets(stability.selected)[0], np.array(stability.units, dtype=object)
    numbers = [np.flatnonzero((stability.selected == chosen).all(axis=1)) for chosen in sets]
    calls = [
        (data, data.terms_of(names[chosen]), stability.scheme, stability.seed, here)
        for chosen, here in zip(sets, numbers, strict=True)
    ]
    found = run_all(_of_one_set, calls, workers, "Refits", result.progress)
    order = np.argsort(np.concatenate(numbers))
    every = [refit for of_set in found for refit in of_set]
    refits = [every[place] for place in order]
    failures = Counter(refit.failure for refit in refits if refit.failure)
    models = (refit.model for refit in (full, own, *refits) if refit.model)
    table = _table(data, stability, full, own, refits)
    return CoefficientStability(
        table=table,
        resamples=stability.words,
        n_resamples=stability.n_resamples,
        n_refitted=sum(not refit.failure for refit in refits),
        failures=tuple(failures.most_common()),
        full_failure=full.failure,
        problem=_problem(full, refits),
        n_dropped=full.n_dropped,
        model=next(models, ""),
        response=in_labels(data).response.in_linear_models,
        call=result.call.text,
        k_of_fit=result.k,
        fingerprint=data_fingerprint(data),
        seed=result.seed,
        library=data.library,
        labels=tuple(column_labels(data, table["column"], table["term"])),
    )


def _problem(full: Refit, refits: Sequence[Refit]) -> str:
    """Why estimates of the model of all terms, or of resamples, may be infinite."""
    problems = [refit.problem for refit in refits if refit.problem]
    where = ["the full model"] * bool(full.problem)
    where += [f"{len(problems):,} of {len(refits):,} resamples"] * bool(problems)
    return f"{full.problem or problems[0]} So in {' and '.join(where)}." if where else ""


def _table(
    data: ModelData, stability: Stability, full: Refit, own: Refit, refits: Sequence[Refit]
) -> pd.DataFrame:
    """The coefficients, those of the most frequent terms first, after the intercept."""
    share, unit_of = stability.frequency.tolist(), data.arrays.groups.unit_of
    of_terms = {spec.term.name: share[unit_of[spec.term.name]] for spec in data.spec.terms}
    frequency = {INTERCEPT: 1.0} | dict(sorted(of_terms.items(), key=lambda item: -item[1]))
    place = {term: i for i, term in enumerate(frequency)}
    known = dict.fromkeys(key for refit in (full, own, *refits) for key in refit.estimate)
    keys = sorted(known, key=lambda key: place[key[0]])
    estimate, in_model = estimates_of(refits, keys)
    of_full = _values(full.estimate, keys)
    error = _values(full.std_error, keys)
    return pd.DataFrame(
        {
            "term": [term for term, _ in keys],
            "column": [column for _, column in keys],
            "frequency": [frequency[term] for term, _ in keys],
            "full_estimate": of_full,
            "full_std_error": error,
            "estimate": _values(own.estimate, keys),
            "std_error": _values(own.std_error, keys),
            **coefficient_spread(estimate, in_model, of_full, error),
        }
    )


def _values(known: dict[Key, float], keys: Sequence[Key]) -> FloatArray:
    return np.array([known.get(key, np.nan) for key in keys], dtype=np.float64)
