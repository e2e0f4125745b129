"""The linear model of the selected terms, fitted to each imputed frame and pooled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy

from treeselect.arguments.checks import check_flag
from treeselect.designs.preparing import in_labels
from treeselect.engine.survival.curves import Baseline
from treeselect.errors import DataError, listing
from treeselect.frames.tables import in_library
from treeselect.imputation.record import Imputed, both_ways, in_frame
from treeselect.models.linear.coefficients import (
    dropped_words,
    estimates_table,
    exponentiated,
    few_events_notes,
    in_print,
    leads_with_ratios,
    left_out_note,
    pool,
    ratio_notes,
    table_head,
    table_rows,
)
from treeselect.models.linear.data import LinearData
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.rule import pooled_rule
from treeselect.models.linear.statistics import dispersion_fact
from treeselect.models.linear.tests import fit_terms
from treeselect.printing import OfContent, SummaryContent
from treeselect.results.linear_model import UNAFFECTED
from treeselect.results.linear_predictor import (
    SELECTED_HERE,
    LinearPredictor,
    Predicting,
    linear_predictor,
)
from treeselect.results.refitting import group_notes, weight_notes
from treeselect.running.machine import warn


@dataclass(frozen=True, slots=True)
class PooledFit(OfContent, Predicting):
    """A linear model of the selected terms, pooled over imputed frames by Rubin's rules.

    Attributes
    ----------
    results : tuple of statsmodels results, or of LikelihoodFit
        One per frame.
    n_used, n_dropped : int
        Rows used in each frame, and rows dropped because a selected term is missing.
    left_out : tuple of str
        Columns that are linear combinations of others and have no coefficient.
    ratio : str
        What the exponential of a coefficient is, such as "odds ratio"; empty if nothing.
    """

    results: tuple[Any, ...]
    n_used: int
    n_dropped: int
    left_out: tuple[str, ...]
    write: Callable[[], SummaryContent]
    table: pd.DataFrame
    library: str = "pandas"
    ratio: str = ""
    predictor: LinearPredictor | None = None  # None if columns mean another thing in each frame

    def tidy(self, *, exponentiate: bool = False) -> Any:
        """One row per coefficient.

        Parameters
        ----------
        exponentiate : bool
            Whether ``estimate``, ``ci_low`` and ``ci_high`` are ratios, as in ``GlmFit.tidy``.

        Returns
        -------
        frame, in the library of the data
            ``term``, ``column``, ``estimate``, ``std_error``, ``statistic``, ``df`` (degrees of
            freedom of the t distribution, infinite for a normal one), ``p_value``, ``ci_low``,
            ``ci_high`` (95%), ``riv`` (relative increase in variance due to missing values) and
            ``fmi`` (fraction of missing information). P-values and intervals are not valid after
            selection on the same rows. With more than two classes without an order, ``column``
            begins with the class that is compared with the first one.

        Raises
        ------
        OptionError
            If ratios are requested for a linear model of a numeric response.
        """
        check_flag("exponentiate", exponentiate)
        table = exponentiated(self.table, self.ratio) if exponentiate else self.table
        return in_library(table, self.library)

    def __repr__(self) -> str:
        n = len(self.results)
        return f"<PooledFit over {n} frames of {self.n_used:,} rows, {self.n_dropped:,} dropped>"


def pool_glm(found: Imputed) -> PooledFit:
    """See ``ImputedSelection.pooled``."""
    fitted = []
    for number, one in enumerate(found.records):
        with in_frame(number, found.n_imputations):
            fitted.append(fit_terms(one.design, found.selected))
    data, left_out, fits = zip(*fitted, strict=True)
    _check_rows(data)
    _check_names(fits)
    if problems := _problems(fits):
        warn(" ".join(problems))
    estimates = np.array([fit.estimate for fit in fits])
    with np.errstate(invalid="ignore"):
        variances = np.array([np.diag(fit.covariance) for fit in fits])
        # The variance may be negative in a singular fit and 0 in an exact one: none is defined.
        variances[~(variances > 0)] = np.nan
    known = [fit.df for fit in fits if fit.df is not None]
    pooled = pool(estimates, variances, min(known) if known else None)
    table = estimates_table(fits[0], pooled.estimate, pooled.std_error, scipy.stats.t(pooled.df))
    table.insert(5, "df", pooled.df)
    table = table.assign(riv=pooled.riv, fmi=pooled.fmi)
    printed = in_print(found.records[0].design, table)
    learned = _learned_note(found)
    strata = {f.levels for one in found.records if (f := one.design.response.follow_up)}
    normal = "Rubin (1987), as the complete-data tests are normal"
    law = "Barnard and Rubin (1999)" if known else normal
    is_chosen = any(own.is_chosen for own in found.records)
    notes = (
        *([SELECTED_HERE if is_chosen else UNAFFECTED] if found.selected else []),
        f"Pooled over {found.n_imputations} imputed frames by Rubin's rules, with degrees of"
        f" freedom of {law}. FMI: fraction of missing information on a coefficient.",
        *group_notes(found.records[0].choice.folds.groups_name, found.records[0].design, fits),
        *problems,
        *ratio_notes(fits[0], printed),
        *few_events_notes(fits, "frame"),
        *left_out_note(left_out[0], fits[0]),
        *weight_notes(found.records[0].design, fits[0]),
        *learned,
    )
    return PooledFit(
        results=tuple(fit.result for fit in fits),
        n_used=data[0].row_weights.n_observations,
        n_dropped=data[0].n_dropped,
        left_out=left_out[0],
        write=partial(_content, found, fits, data[0], printed, notes),
        table=table,
        library=found.library,
        ratio=fits[0].ratio,
        predictor=None if learned or len(strata) > 1 else _predictor(found, data, fits),
    )


def _predictor(
    found: Imputed, data: Sequence[LinearData], fits: Sequence[LinearFit]
) -> LinearPredictor:
    """The columns of the first frame, with pooled coefficients and the mean baseline hazard."""
    own = [
        linear_predictor(one.design, full, fit)
        for one, full, fit in zip(found.records, data, fits, strict=True)
    ]
    known = [one.baseline for one in own if one.baseline is not None]
    rule = pooled_rule([one.rule for one in own])
    return dataclasses.replace(own[0], rule=rule, baseline=_mean_baseline(known) if known else None)


def _mean_baseline(known: Sequence[Baseline]) -> Baseline:
    """The mean of cumulative baseline hazards with the same strata, whose times may differ."""
    level = known[0].level
    parts = [[np.split(own.time, own.begin[1:-1])[s] for own in known] for s in range(len(level))]
    times = [np.unique(np.concatenate(own)) for own in parts]
    size, time = [len(own) for own in times], np.concatenate(times)
    stratum = np.repeat(np.arange(len(level)), size)
    hazards = [own.cumulative_hazard(time, stratum, level[stratum]) for own in known]
    until = np.min([own.until for own in known], axis=0)
    return Baseline(time, np.cumsum([0, *size]), np.mean(hazards, axis=0), level, until)


# --- what must be the same ---------------------------------------------------------------------


def _check_rows(data: Sequence[LinearData]) -> None:
    """Rubin's rules need the same rows in each frame."""
    for number, other in enumerate(data[1:], start=2):
        for one, lacking, there, here in both_ways(data[0], other, f"frame {number}"):
            if lost := len(np.setdiff1d(one.rows, lacking.rows)):
                raise DataError(
                    "Pooling needs complete selected terms in the same rows of all frames.\n"
                    f"  Found: {lost:,} row{'s' if lost > 1 else ''} with a missing value in"
                    f" {here}, complete in {there}. Impute all selected terms in all frames."
                )


def _check_names(fits: Sequence[LinearFit]) -> None:
    for number, fit in enumerate(fits[1:], start=2):
        if fit.names == fits[0].names:
            continue
        said = [
            f"{listing(lost)} in {one} and not in {other}"
            for own, others, one, other in both_ways(fits[0].names, fit.names, f"frame {number}")
            if (lost := [name for name in own if name not in others])
        ]
        raise DataError(
            "Pooling needs the same coefficients of the linear model in all frames.\n"
            f"  Found: {'; '.join(said)}.\n"
            "  A level that only some imputations contain makes such a difference: combine rare"
            " levels, or use frames that contain all levels."
        )


def _problems(fits: Sequence[LinearFit]) -> list[str]:
    where: dict[str, list[str]] = {}
    for number, fit in enumerate(fits, start=1):
        for problem in fit.problems:
            where.setdefault(problem, []).append(str(number))
    return [
        f"{problem} (Frame{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}.)"
        for problem, numbers in where.items()
    ]


# --- words -------------------------------------------------------------------------------------


def _learned_note(found: Imputed) -> tuple[str, ...]:
    """Terms whose data-dependent parameters differ between frames."""
    specs = [fit.design.spec for fit in found.records]
    odd = [
        name
        for name in found.selected
        if any(
            not _equal(specs[0].state[factor.name], other.state[factor.name])
            for factor in specs[0][name].term.factors
            for other in specs[1:]
        )
    ]
    if not odd:
        return ()
    return (
        f"The data-dependent parameters of {listing(odd)} (a mean, knots) differ between frames, so"
        " the pooled coefficients do not mean the same in each. Compare fitted values, or fix the"
        " parameters in the formula.",
    )


def _equal(one: Any, other: Any) -> bool:
    """Whether a transform has the same parameters in two frames."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(np.array_equal(one, other))


def _content(
    found: Imputed, fits: Sequence[LinearFit], data: LinearData, table: pd.DataFrame,
    notes: tuple[str, ...],
) -> SummaryContent:  # fmt: skip
    letter = "t" if np.isfinite(table["df"]).any() else "z"
    return SummaryContent(
        title="Linear model of the selected terms, pooled over imputations",
        facts=(
            ("Call", f"{found.call}.pooled()"),
            ("Formula", found.formula),
            ("Model", ", or ".join(dict.fromkeys(fit.model for fit in fits))),
            ("Response", in_labels(found.records[0].design).response.in_linear_models),
            *found.records[0].design.weights_facts,
            *dispersion_fact(fits),
            ("Rows used", f"{len(data.y):,} in each frame"),
            ("Rows dropped", dropped_words(data.n_dropped)),
            ("Seed", str(found.seed)),
        ),
        columns=(*table_head(fits[0], 0.95, letter, ("df",)), "FMI"),
        rows=table_rows(table, with_ratios=leads_with_ratios(fits[0])),
        notes=notes,
    )
