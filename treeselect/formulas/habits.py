"""Functions of R formulas that are not supported here: what to write instead."""

from __future__ import annotations

_SMOOTH = (
    "Trees fit non-linear effects of the plain column. For linear methods write `cr(x, df=4)`, a"
    " natural cubic spline, `bs(x, df=4)` or `poly(x, 2)`."
)

INSTEAD: dict[str, str] = {
    "cluster": "Pass the column as `fold_groups=`: the rows of a cluster then stay in one fold, and"
    " the standard errors of `inference()` are cluster-robust.",
    "frailty": "Random effects can't be fitted. With times to an event, `strata(site)` gives each"
    " site its own baseline hazard; `fold_groups=` keeps the rows of a cluster in one fold.",
    "tt": "Time-varying effects can't be fitted. Time-varying covariates can: write one row for"
    " each interval in which they are constant, and `Surv(start, stop, event)`.",
    "offset": "Pass the column as `offset=` instead.",
    "factor": "Write `C(x)`.",
    "ns": _SMOOTH,
    "pspline": _SMOOTH,
    "rcs": _SMOOTH,
}
"""By the name of the function, a sentence or two."""

OPERATORS_OF_R: dict[str, str] = {
    "$": "Name columns without their data frame: `time`, not `data$time`.",
    "::": "Name functions without their package: `Surv(time, event)`.",
}
"""By the operator, a sentence."""
