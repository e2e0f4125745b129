"""Columns that separate the classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.errors import listing

_FAR = 50.0
"""Model-based errors this many times the robust ones are those of an estimate that diverges."""


def separation_problems(result: Any, covariance: FloatArray, names: Sequence[str]) -> list[str]:
    """A sentence on the columns whose estimates diverge; none without any.

    Where the response is the same in all rows of a level, its coefficient is infinite. The
    model-based error then grows with the iterations, whereas the residuals of these rows, and the
    robust error with them, go to 0: a test would be significant without evidence.

    Parameters
    ----------
    result : statsmodels results
    covariance : ndarray of float, shape (n_columns, n_columns)
        Robust.
    names : sequence of str
    """
    own = np.asarray(result.normalized_cov_params, dtype=np.float64)
    if own.shape != covariance.shape:
        return []
    far = np.sqrt(np.diag(own)) > _FAR * np.sqrt(np.diag(covariance))
    found = [names[i] for i in np.flatnonzero(far).tolist()]
    if not found:
        return []
    return [
        f"The estimates of {listing(found, most=5)} diverge, because the classes are separated;"
        " their robust standard errors are not valid."
    ]


_CERTAIN = 1e-8
"""Fitted probabilities this close to 0 or 1 are numerically 0 or 1."""


def near_certain(result: Any) -> bool:
    """Whether some class is fitted with a probability that is numerically 0 or 1."""
    with np.errstate(all="ignore"):  # of diverging estimates
        fitted = np.asarray(result.predict())
    return bool((np.minimum(fitted, 1 - fitted) < _CERTAIN).any())
