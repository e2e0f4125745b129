"""Coefficients of a linear model: estimates, intervals and tests, and how they are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.models.linear import LinearFit
from treeselect.printing import p_text

if TYPE_CHECKING:
    import pandas as pd


def coefficient_table(fit: LinearFit, level: float = 0.95) -> pd.DataFrame:
    """One row per coefficient: ``term``, ``column``, ``estimate``, ``std_error``, ``statistic``,
    ``p_value``, ``ci_low``, ``ci_high``."""
    import pandas as pd
    from scipy import stats

    variance = np.diag(fit.covariance)
    # Of a singular fit a variance may be negative: it has no standard error.
    error = np.sqrt(np.where(variance >= 0, variance, np.nan))
    with np.errstate(divide="ignore", invalid="ignore"):  # an exact fit has errors of 0
        statistic = fit.estimate / error
    law = stats.norm() if fit.df is None else stats.t(fit.df)
    half = law.ppf((1 + level) / 2) * error
    return pd.DataFrame(
        {
            "term": fit.terms,
            "column": fit.names,
            "estimate": fit.estimate,
            "std_error": error,
            "statistic": statistic,
            "p_value": 2 * law.sf(np.abs(statistic)),
            "ci_low": fit.estimate - half,
            "ci_high": fit.estimate + half,
        }
    )


def term_p_value(fit: LinearFit, term: str) -> float:
    """P-value of the Wald (or F) test that all coefficients of a term are 0; 1 if it has none."""
    from scipy import stats

    at = np.flatnonzero(np.array(fit.terms, dtype=object) == term)
    if not len(at):
        return 1.0
    own = fit.estimate[at]
    wald = float(own @ np.linalg.solve(fit.covariance[np.ix_(at, at)], own))
    if fit.df is None:
        return float(stats.chi2.sf(wald, len(at)))
    return float(stats.f.sf(wald / len(at), len(at), fit.df))


def table_head(fit: LinearFit | None, level: float) -> tuple[str, ...]:
    """Head of a printed table of coefficients."""
    letter = "z" if fit is None or fit.df is None else "t"
    interval = f"{100 * level:g} % interval"
    return ("Column", "Estimate", "Std. error", letter, f"P(>|{letter}|)", interval)


def table_row(row: Any) -> tuple[str, ...]:
    """A printed row of ``linear.coefficient_table``."""
    return (
        row.column,
        f"{row.estimate:.4g}",
        f"{row.std_error:.4g}",
        f"{row.statistic:.3f}",
        p_text(row.p_value),
        f"{row.ci_low:.4g} to {row.ci_high:.4g}",
    )
