"""Calls that R's formulas know and these do not: what to write instead."""

from __future__ import annotations

_SMOOTH = (
    "Trees bend by themselves: name the column. For linear methods there are `cr(x, df=4)`, a"
    " natural cubic spline, `bs(x, df=4)` and `poly(x, 2)`."
)

INSTEAD: dict[str, str] = {
    "cluster": "Name the column outside of the formula: `fold_groups=` keeps rows that belong"
    " together in one fold, and makes the standard errors of `inference()` cluster-robust.",
    "frailty": "Random effects can't be fitted. Of times to an event `strata(site)` gives each site"
    " a baseline hazard of its own; `fold_groups=` keeps rows that belong together in one fold.",
    "tt": "Effects that change with time can't be fitted. Values that change with time can: a row"
    " for each span in which they do not, and `Surv(start, stop, event)`.",
    "offset": "Name the column outside of the formula: `offset=`.",
    "factor": "Write `C(x)`.",
    "ns": _SMOOTH,
    "pspline": _SMOOTH,
    "rcs": _SMOOTH,
}
"""By the name of the function, a sentence or two."""

OPERATORS_OF_R: dict[str, str] = {
    "$": "Columns are named without their table: `time`, not `data$time`.",
    "::": "Functions are named without their package: `Surv(time, event)`.",
}
"""By the operator, a sentence."""
