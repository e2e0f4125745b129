"""How many rows a regression model needs for its candidate parameters, before there are data."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_between, check_choice, check_count
from treeselect.errors import OptionError
from treeselect.printing import Summarised, SummaryContent, cells, decimal_text, interval_text

_FAMILIES = ("gaussian", "binomial", "cox")

_MOST_PARAMETERS = 1_000_000
_MARGIN = 0.05
"""Optimism of R2 as a share of the largest, and error of the overall risk, that are accepted."""

_TIMES = 1.1
"""Margin of a mean, as a factor."""

_Z = 1.96
_PERSONS = 10_000
"""Events are rounded up among so many rows, as in pmsampsize."""


@dataclass(frozen=True, slots=True)
class SampleSize(Summarised):
    """Least number of rows for the development of a regression model, by Riley's criteria.

    Returned by :func:`treeselect.sample_size`.

    Attributes
    ----------
    r2, largest : float
        Expected R2 of the model (Cox and Snell's, unless the response is a number), and the
        largest possible one.
    criteria : tuple of (str, int, float)
        Of each criterion what it asks for, the number of rows, and the expected shrinkage factor
        with these.

    Examples
    --------
    >>> import treeselect
    >>> found = treeselect.sample_size(24, "binomial", r2=0.288, prevalence=0.174)
    >>> found.n, round(found.events, 1)
    (662, 115.2)
    """

    family: str
    parameters: int  # number of candidate parameters
    r2: float
    largest: float
    criteria: tuple[tuple[str, int, float], ...]
    event_share: float = float("nan")  # expected number of events per row; NaN for numbers
    # overall risk at the horizon with its interval; NaN if there is none
    risk: tuple[float, float, float] = (float("nan"),) * 3

    @property
    def n(self) -> int:
        """Number of rows that meets all criteria."""
        return max(n for _, n, _ in self.criteria)

    @property
    def events(self) -> float:
        """Expected number of events among them; NaN for numbers."""
        return self.n * self.event_share

    def tidy(self) -> pd.DataFrame:
        """One row per criterion.

        Returns
        -------
        pandas.DataFrame
            ``criterion``; ``n``, the rows that it asks for; ``shrinkage``, the expected shrinkage
            factor with these; ``per_parameter``, events (of numbers, rows) per candidate parameter.
        """
        each = 1.0 if math.isnan(self.event_share) else self.event_share
        table = pd.DataFrame(self.criteria, columns=["criterion", "n", "shrinkage"])
        return table.assign(per_parameter=table["n"] * each / self.parameters)

    def _content(self) -> SummaryContent:
        events = "" if math.isnan(self.events) else f", {math.ceil(self.events):,} with the event"
        share = f"{decimal_text(self.r2, 3)} of at most {decimal_text(self.largest, 3)}"
        risk, low, high = self.risk
        overall = f"{decimal_text(risk, 3)} (95% interval {interval_text(low, high, '.3f')})"
        each = "Rows" if math.isnan(self.event_share) else "Events"
        columns, rows = cells.table(
            self.tidy(),
            [
                ("Criterion", "criterion"),
                ("Rows", cells.count("n")),
                ("Shrinkage", cells.decimal("shrinkage", 3)),
                (f"{each} per parameter", cells.number("per_parameter", ",.2f")),
            ],
        )
        return SummaryContent(
            title="Sample size for a regression model",
            facts=(
                ("Family", self.family),
                ("Candidate parameters", f"{self.parameters:,}"),
                ("Expected R2", share),
                ("Rows needed", f"{self.n:,}{events}"),
                *((("Overall risk", overall),) if risk == risk else ()),
            ),
            columns=columns,
            rows=rows,
            notes=(
                "The criteria are those of Riley et al. (2019, 2020) for an unpenalised regression"
                " model with all candidate parameters. Trees and searches over many terms need more"
                " rows.",
            ),
        )

    def __repr__(self) -> str:
        return f"<SampleSize: {self.n:,} rows for {self.parameters:,} candidate parameters>"


# --- the criteria --------------------------------------------------------------------------------


def sample_size(
    parameters: int,
    family: Literal["gaussian", "binomial", "cox"],
    *,
    r2: float | None = None,
    explained: float | None = None,
    auc: float | None = None,
    prevalence: float | None = None,
    rate: float | None = None,
    follow_up: float | None = None,
    horizon: float | None = None,
    mean: float | None = None,
    sd: float | None = None,
    shrinkage: float = 0.9,
) -> SampleSize:
    """Least number of rows for the development of a prediction model, by Riley's criteria.

    Parameters
    ----------
    parameters : int
        Number of candidate parameters: coefficients of all candidate terms, a factor of 4 levels
        counting 3.
    family : {"gaussian", "binomial", "cox"}
    r2 : float, optional
        Expected R2 of the model on new rows: for two classes and times to an event Cox and Snell's.
    explained : float, optional
        Instead of `r2`, its share of the largest possible R2 (Nagelkerke's R2). By default 0.15,
        the value suggested where nothing is known [1]_.
    auc : float, optional
        Instead of `r2`, for two classes: expected area under the ROC curve, from which R2 follows
        if linear predictors are normal with equal variances [2]_.
    prevalence : float, optional
        Share of the positive class; required for two classes.
    rate, follow_up : float, optional
        Events per unit of time, and mean follow-up; required for times to an event.
    horizon : float, optional
        For times to an event: where the precision of the overall risk is told.
    mean, sd : float, optional
        Of the response, for the precision of the mean of a numeric response.
    shrinkage : float
        Least shrinkage factor that is accepted, above 0 and below 1.

    Returns
    -------
    SampleSize
        ``.n``, ``.events``, ``.tidy()``, ``.summary()``.

    Raises
    ------
    OptionError
        If an argument is not allowed, missing, or not for the family.

    Notes
    -----
    Of p parameters, an R2 of r and a shrinkage factor S: ``p / ((S - 1) log(1 - r / S))`` rows, and
    as many with the S at which R2 is optimistic by 0.05 of its largest value; for two classes the
    overall risk is known to within 0.05 [1]_. For a numeric response see [3]_. The package
    pmsampsize gives the same numbers.

    References
    ----------
    .. [1] R. D. Riley, J. Ensor, K. I. E. Snell et al. (2020). Calculating the sample size required
       for developing a clinical prediction model. BMJ 368, m441.
    .. [2] R. D. Riley, B. Van Calster, G. S. Collins (2021). A note on estimating the Cox-Snell R2
       from a reported C statistic (AUROC). Statistics in Medicine 40, 859-864.
    .. [3] R. D. Riley, K. I. E. Snell, J. Ensor et al. (2019). Minimum sample size for developing a
       multivariable prediction model: Part I, continuous outcomes. Statistics in Medicine 38,
       1262-1275.

    Examples
    --------
    >>> import treeselect
    >>> treeselect.sample_size(20, "cox", r2=0.1, rate=0.065, follow_up=2.07).n
    1699
    """
    parameters = check_count("parameters", parameters, least=1, most=_MOST_PARAMETERS)
    check_choice("family", family, _FAMILIES)
    given: dict[str, object] = {
        "auc": auc, "prevalence": prevalence, "rate": rate, "follow_up": follow_up,
        "horizon": horizon, "mean": mean, "sd": sd,
    }  # fmt: skip
    known = _read(family, given)
    shrinkage = check_between("shrinkage", shrinkage, 0, _HIGHEST)
    share = known.get("prevalence", float("nan"))
    if family == "cox":
        share = known["rate"] * known["follow_up"]
        check_between("rate * follow_up", share, _LEAST, 1 + _LEAST)
    largest = largest_r2(family, share)
    expected = _read_r2(r2, explained, known, largest, shrinkage)
    if family == "gaussian":
        of_numbers = _of_numbers(parameters, expected, shrinkage, known)
        return SampleSize(family, parameters, expected, largest, of_numbers)
    precise = expected / (expected + _MARGIN * largest)
    said = (
        (f"shrinkage of at least {shrinkage:g}", shrinkage),
        (f"optimism of R2 at most {_MARGIN:g} of the largest", precise),
    )
    criteria: tuple[tuple[str, int, float], ...] = tuple(
        (name, math.ceil(_rows(parameters, expected, own)), own) for name, own in said
    )
    if family == "binomial":
        n = math.ceil((_Z / _MARGIN) ** 2 * share * (1 - share))
        criteria += ((f"overall risk within {_MARGIN:g}", n, _factor(parameters, expected, n)),)
    found = SampleSize(family, parameters, expected, largest, criteria, share)
    if "horizon" not in known:
        return found
    error = _Z * math.sqrt(known["rate"] / (known["follow_up"] * found.n))
    rates = (known["rate"], max(known["rate"] - error, 0.0), known["rate"] + error)
    risk, low, high = (1 - math.exp(-own * known["horizon"]) for own in rates)
    return SampleSize(family, parameters, expected, largest, criteria, share, (risk, low, high))


def _rows(p: int, r2: float, factor: float) -> float:
    """The number of rows with which a shrinkage factor is expected."""
    return p / ((factor - 1) * math.log(1 - r2 / factor))


def _factor(p: int, r2: float, n: int) -> float:
    """The shrinkage factor that is expected with so many rows."""
    from scipy.optimize import brentq

    low = r2 * (1 + 1e-12)
    if _rows(p, r2, low) >= n:
        return r2
    return float(brentq(lambda own: _rows(p, r2, own) - n, low, 1 - 1e-12))


def largest_r2(family: str, event_share: float) -> float:
    """The largest R2 that a model can have: of Cox and Snell's, by the events per row."""
    if family == "gaussian":
        return 1.0
    if family == "cox":
        events = math.ceil(event_share * _PERSONS) / _PERSONS
        return 1 - math.exp(2 * (events * math.log(events) - events))
    return 1 - event_share ** (2 * event_share) * (1 - event_share) ** (2 * (1 - event_share))


def least_rows(family: str, parameters: int, event_share: float = float("nan")) -> int:
    """Number of rows by these criteria, if 15% of what can be explained is explained."""
    share = min(max(event_share, 2 * _LEAST), 1 - 2 * _LEAST)
    given = {"binomial": {"prevalence": share}, "cox": {"rate": share, "follow_up": 1.0}}
    own: dict[str, Any] = {"family": family, **given.get(family, {})}
    return sample_size(min(parameters, _MOST_PARAMETERS), **own).n


def _of_numbers(
    p: int, r2: float, shrinkage: float, known: dict[str, float]
) -> tuple[tuple[str, int, float], ...]:
    """Of numbers: shrinkage, optimism of R2, residual standard deviation, mean."""

    def factor(n: int) -> float:
        return 1 + (p - 2) / (n * math.log(1 - (r2 * (n - p - 1) + p) / (n - 1)))

    # Of hardly more rows than parameters it falls at first, as so few explain nearly everything.
    looked_at = (math.ceil((p + 2) * 1.05**i) for i in range(400))
    least = next((n for n in looked_at if factor(n) < shrinkage), p + 2)
    found = {
        f"shrinkage of at least {shrinkage:g}": _first(least, lambda n: factor(n) >= shrinkage),
        f"optimism of R2 at most {_MARGIN:g}": math.ceil(1 + p * (1 - r2) / _MARGIN),
        "residual standard deviation within 10%": 234 + p,
    }
    if "mean" in known:
        from scipy.stats import t

        mean, spread = abs(known["mean"]), known["sd"] * math.sqrt(1 - r2)

        def is_precise(n: int) -> bool:
            half = spread / math.sqrt(n) * float(t.ppf(0.975, n - p - 1))
            return (mean + half) / mean <= _TIMES

        found["mean within 10%"] = _first(max(found.values()), is_precise)
    return tuple((name, n, min(factor(n), 1.0)) for name, n in found.items())


def _first(least: int, holds: Callable[[int], bool]) -> int:
    """The first number from the least on for which something holds, and then for all larger."""
    high = least
    while not holds(high):
        least, high = high + 1, 2 * high
    return least + bisect_left(range(least, high), True, key=holds)


def _r2_of_auc(auc: float, prevalence: float) -> float:
    """Cox and Snell's R2 of a normal linear predictor that is shifted by `mu` in the events."""
    from scipy.special import ndtri

    mu = math.sqrt(2) * float(ndtri(auc))
    nodes, weights = np.polynomial.hermite_e.hermegauss(201)
    base = math.log(prevalence / (1 - prevalence)) - mu**2 / 2
    lost = [
        share * weights @ np.logaddexp(0, sign * (base + mu * (nodes + shift)))
        for share, shift, sign in ((prevalence, mu, -1), (1 - prevalence, 0.0, 1))
    ]
    model = sum(lost) / weights.sum()
    null = -sum(q * math.log(q) for q in (prevalence, 1 - prevalence))
    return float(1 - math.exp(-2 * (null - model)))


# --- arguments -----------------------------------------------------------------------------------

_NEEDED = {"gaussian": (), "binomial": ("prevalence",), "cox": ("rate", "follow_up")}
_ALLOWED = {"gaussian": ("mean", "sd"), "binomial": ("auc",), "cox": ("horizon",)}
_LEAST, _HIGHEST = 1e-6, 0.9999
"""R2 and shares of rows are above the least, shrinkage factors below the highest."""

_BOUNDS = {
    "auc": (0.5, 1 - _LEAST),
    "prevalence": (_LEAST, 1 - _LEAST),
    "mean": (-math.inf, math.inf),
}


def _read(family: str, given: dict[str, object]) -> dict[str, float]:
    needed, allowed = _NEEDED[family], _NEEDED[family] + _ALLOWED[family]
    for name, value in given.items():
        if value is not None and name not in allowed:
            raise OptionError(f"`{name}` must be left out for the family {family}.")
        if value is None and name in needed:
            raise OptionError(f"`{name}` must be given for the family {family}.")
    known = {
        name: check_between(name, value, *_BOUNDS.get(name, (0.0, math.inf)))
        for name, value in given.items()
        if value is not None
    }
    mean, sd = known.get("mean", 1.0), known.get("sd", 1.0)
    if ("mean" in known) != ("sd" in known) or abs(mean) < _LEAST * sd:
        raise OptionError(
            "`mean` and `sd` must be given together, and the mean must not be about 0: its"
            " precision is relative.\n  Omit both to leave this criterion out."
        )
    return known


def _read_r2(
    r2: object, explained: object, known: dict[str, float], largest: float, shrinkage: float
) -> float:
    """The expected R2, given in one of three ways."""
    if sum(value is not None for value in (r2, explained, known.get("auc"))) > 1:
        raise OptionError("Only one of `r2`, `explained` and `auc` can be given.")
    if "auc" in known:
        found = _r2_of_auc(known["auc"], known["prevalence"])
    elif r2 is not None:
        return check_between("r2", r2, _LEAST, min(largest, shrinkage))
    elif explained is not None:
        found = check_between("explained", explained, _LEAST, 1) * largest
    else:
        found = 0.15 * largest
    if not 0 < found < shrinkage:
        raise OptionError(
            "`shrinkage` must be above the expected R2.\n"
            f"  Found: {shrinkage:g}, and an R2 of {found:.4g}."
        )
    return found
