"""Whether counts vary more than a Poisson response does."""

from __future__ import annotations

from typing import Any

import numpy as np

_TAIL = 1.6449
"""Upper 5% point of the normal distribution."""


def dispersion(result: Any) -> float:
    """Pearson's dispersion of counts, 1 on average for a Poisson response; NaN without residual
    degrees of freedom, or where a mean is 0."""
    with np.errstate(all="ignore"):
        return float(np.divide(result.pearson_chi2, result.df_resid))


def overdispersed(result: Any) -> bool:
    """Whether counts vary more than chance allows a Poisson response (one-sided test at 5%).

    A squared Pearson residual of a Poisson variable with mean m and weight v has the variance
    ``2 + 1 / (v m)``; the normal approximation is to the sum over rows.
    """
    own = result.model
    with np.errstate(all="ignore"):
        variance = own.freq_weights @ (2 + 1 / (own.var_weights * result.mu))
        return bool(result.pearson_chi2 - result.df_resid > _TAIL * np.sqrt(variance))
