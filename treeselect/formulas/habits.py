"""What R formulas have and ours do not: what to write instead.

In the sentences ``{x}`` stands for the first argument as the user wrote it.
"""

from __future__ import annotations

import re

_SMOOTH = (
    "Trees fit non-linear effects of the plain column. For linear methods write `cr({x}, df=4)`, a"
    " natural cubic spline, `bs({x}, df=4)` or `poly({x}, 2)`."
)

_RANDOM = (
    "Random effects can't be fitted. `fold_groups=` keeps the rows of a cluster in one fold, and"
    " makes the standard errors of `refit()` and `inference()` cluster-robust."
)

_FACTOR = "Write `C({x})`."

_COMPUTED = (
    "Add the computed column to `data` first: a formula is evaluated row by row, except for"
    " `center`, `scale`, `poly` and splines."
)

_DATES = (
    "Compute it in `data` first, for example `data['year'] = pandas.to_datetime(data['date'])"
    ".dt.year`."
)

_ORDERED = (
    "Give the column an order in `data` first: `data['x'] = pandas.Categorical(data['x'],"
    " categories=[...], ordered=True)`."
)

_NUMERIC = (
    "Write `{x}`, and convert text in `data` first: `pandas.to_numeric(data['x'],"
    " errors='coerce')`."
)

_PARALLEL = "of two values per row write `np.{name}(x, z)`."

INSTEAD: dict[str, str] = {
    "cluster": "Pass the column as `fold_groups=`: the rows of a cluster then stay in one fold, and"
    " the standard errors of `refit()` and `inference()` are cluster-robust.",
    "frailty": "Random effects can't be fitted. With times to an event, `strata(site)` gives each"
    " site its own baseline hazard; `fold_groups=` keeps the rows of a cluster in one fold.",
    "tt": "Time-varying effects can't be fitted. Time-varying covariates can: write one row for"
    " each interval in which they are constant, and `Surv(start, stop, event)`.",
    "offset": "Pass the column as `offset=` instead. For an expression, add the computed column to"
    " `data` first.",
    "weights": "Pass the column as `weights=` instead.",
    "factor": _FACTOR,
    "as.factor": _FACTOR,
    "as_factor": _FACTOR,
    "as.character": _FACTOR,
    "droplevels": "Write `{x}`: levels that do not occur are ignored.",
    "relevel": "Trees need no reference level. For linear methods write"
    " `C({x}, contr.treatment('a'))`, where 'a' is the reference level.",
    "ordered": _ORDERED,
    "as.ordered": _ORDERED,
    "interaction": "Write `a:b`; columns of numbers need `C()`, as in `C(a):C(b)`.",
    "as.numeric": _NUMERIC,
    "as.double": _NUMERIC,
    "as.integer": "Write `{x}`, or `np.trunc({x})` to drop the decimals.",
    "as.logical": "Write a comparison, for example `I({x} != 0)`.",
    "as.Date": _DATES,
    "year": _DATES,
    "month": _DATES,
    "is.na": "Trees split on missing values without an indicator. To have one, add it to `data`"
    " first: `data['missing'] = data['x'].isna()`.",
    "cut": "Trees choose their own cut points: write `{x}`. For a fixed one write a comparison,"
    " for example `I({x} > 40)`.",
    "cut2": "Trees choose their own cut points: write `{x}`. For a fixed one write a comparison,"
    " for example `I({x} > 40)`.",
    "ifelse": "Write `np.where(condition, yes, no)`.",
    "if_else": "Write `np.where(condition, yes, no)`.",
    "pmin": "Write `np.minimum(x, z)`.",
    "pmax": "Write `np.maximum(x, z)`.",
    "min": f"For the smaller {_PARALLEL.format(name='minimum')}",
    "max": f"For the larger {_PARALLEL.format(name='maximum')}",
    "round": "Write `np.rint({x})`.",
    "ceiling": "Write `ceil({x})`.",
    "trunc": "Write `np.trunc({x})`.",
    "sign": "Write `np.sign({x})`.",
    "square": "Write `I({x} ** 2)`.",
    "c": "A formula has no lists of values. Compare with each value instead, for example"
    " `I((x == 1) | (x == 2))`.",
    "cbind": "Fit each response separately. Write counts of successes and failures as two rows"
    " with a response of 1 and 0, and pass the counts as `weights=`.",
    "Error": _RANDOM,
    "re": _RANDOM,
    **dict.fromkeys(
        ["ns", "pspline", "rcs", "rcspline", "s", "t2", "lo", "lsp", "pol"],
        _SMOOTH,
    ),
    **dict.fromkeys(
        ["mean", "median", "sd", "var", "sum", "cumsum", "diff", "rank", "quantile", "ave",
         "nchar", "substr", "paste", "paste0"],
        _COMPUTED,
    ),
}  # fmt: skip
"""By the name of the function, a sentence or two."""

OPERATORS_OF_R: dict[str, str] = {
    "$": "Name columns without their data frame: `time`, not `data$time`.",
    "::": "Name functions without their package: `Surv(time, event)`.",
    "|": f"Join terms with `+`. {_RANDOM}",
    "||": f"Join terms with `+`. {_RANDOM}",
    "!": "Write `I(~x)` for the opposite of a logical column.",
    "=": "Response and terms are separated by `~`, as in `y ~ x + z`.",
    ",": "The formula ends with its last term: other arguments stand outside its quotation marks.",
    "%%": "Write `I(x % 2)` for the remainder of a division.",
    "%/%": "Write `I(x // 2)` for whole quotients.",
}
"""By the operator, a sentence."""

CONSTANTS_OF_R: dict[str, str] = {
    "TRUE": "Write `True`.",
    "T": "Write `True`.",
    "FALSE": "Write `False`.",
    "F": "Write `False`.",
    "NULL": "Write `None`.",
    "NA": "No value equals a missing one. Add an indicator to `data` first, for example"
    " `data['missing'] = data['x'].isna()`.",
    "pi": "Write 3.141592653589793.",
}
"""By the name of the constant, a sentence."""

_INSIDE = (
    (r"%in%", INSTEAD["c"]),
    (r"%%", OPERATORS_OF_R["%%"]),
    (r"%/%", OPERATORS_OF_R["%/%"]),
    (r"\$", OPERATORS_OF_R["$"]),
    (r"::", OPERATORS_OF_R["::"]),
    (r"&&|\|\|", "Write `&` and `|`, with parentheses around each comparison."),
    (r"!(?!=)", "Write `~` for `!`, as in `I(~x)`, or `I(~(x > 1))`."),
)
"""Operators that may stand inside an expression of R, and what to say of them."""

_CALLED = re.compile(r"([A-Za-z][\w.]*)\s*\((?=\s*([\w.]*))")


def call_instead(name: str, argument: str = "") -> str | None:
    """What to write for a call of R with this first argument; None if it is none that is known."""
    said = INSTEAD.get(name)
    plain = argument if 0 < len(argument) <= 40 else "x"
    return None if said is None else said.replace("{x}", plain)


def said_of(expression: str) -> str | None:
    """What to say of an expression that Python can't read; None if it is not one of R."""
    for name, argument in _CALLED.findall(expression):
        if "." in name and (said := call_instead(name, argument)):
            return said
    return next((said for sign, said in _INSIDE if re.search(sign, expression)), None)


def power_instead(expression: str) -> str:
    """What to write for an expression with R's sign for powers.

    Examples
    --------
    >>> power_instead("log(x^2 + 1)")
    'Write powers as `**`: `log(x ** 2 + 1)`.'
    """
    is_plain = len(expression) <= 100 and not re.search("[`'\"]", expression)
    written = re.sub(r"\s*\^\s*", " ** ", expression) if is_plain else "I(x ** 2)"
    return f"Write powers as `**`: `{written}`."
