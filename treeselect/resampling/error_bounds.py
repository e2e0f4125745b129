"""How many units without signal pass a threshold on the selection frequency: bounds on that."""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from treeselect.arguments.checks import check_choice
from treeselect.arguments.scalars import described, finite
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling.tails import ROUNDING, largest_tail, twice

if TYPE_CHECKING:
    from treeselect.resampling.resampled import Resampled

Assumption = Literal["none", "unimodal", "r-concave"]
ASSUMPTIONS = ("none", "unimodal", "r-concave")


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """Bound on the expected number of falsely selected units (per-family error rate).

    Attributes
    ----------
    bound : float
        At most so many units without signal are expected among `units`.
    threshold : float
        On the selection frequency.
    units : tuple of str
        Units whose frequency reaches the threshold, most frequent first; kept ones are not judged.
    q : int
        Units selected on each resample, at most; kept ones are not counted.
    p : int
        Units to select from, kept ones not counted.
    assumption : {"none", "unimodal", "r-concave"}
        About the distribution of the frequencies of units without signal.
    n_resamples : int
    """

    bound: float
    threshold: float
    units: tuple[str, ...]
    q: int
    p: int
    assumption: Assumption
    n_resamples: int

    @property
    def paper(self) -> str:
        """Where the bound is from."""
        if self.assumption == "none":
            return "Meinshausen and Buehlmann 2010"
        return f"Shah and Samworth 2013, {self.assumption}"

    @property
    def tells(self) -> bool:
        """Whether the bound says anything: that of as many units not all are expected to be
        false, or, where there are none, that not all of the p would be."""
        return self.bound < (len(self.units) or self.p)

    def __str__(self) -> str:
        n = len(self.units)
        units = f"{n} unit{'' if n == 1 else 's'}"
        what = (
            f"(expected number; q = {self.q} of p = {self.p} units on each of {self.n_resamples}"
            f" resamples; {self.paper})"
        )
        if n == 0:
            return (
                f"No unit has frequency {self.threshold:g} or more; bound {self.bound:.3g} {what}"
            )
        if not self.tells:
            return (
                f"Nothing is told of the {units} with frequency {self.threshold:g} or more: the"
                f" bound, {self.bound:.3g}, allows {'it' if n == 1 else 'each of them'} to be false"
                f" {what}"
            )
        return (
            f"At most {self.bound:.3g} false among the {units} with frequency"
            f" {self.threshold:g} or more {what}"
        )


def error_bound(stability: Resampled, threshold: float, assumption: Assumption) -> ErrorBound:
    """The bound for one threshold: see ``Stability.pfer``."""
    bound_with = _bound_of(stability, assumption)
    _check_threshold(threshold)
    q, p = _sizes(stability)
    n = stability.n_resamples
    count = stability.selected.sum(axis=0)
    passed = np.flatnonzero(stability.assessed & (count >= _least_count(threshold, n)))
    return ErrorBound(
        bound=bound_with(q, float(threshold)),
        threshold=float(threshold),
        units=tuple(
            stability.units[u]
            for u in sorted(passed, key=lambda u: (-count[u], stability.units[u]))
        ),
        q=q,
        p=p,
        assumption=assumption,
        n_resamples=n,
    )


def least_threshold(stability: Resampled, pfer: float, assumption: Assumption) -> float:
    """The lowest threshold whose bound is at most `pfer`: see ``Stability.threshold``."""
    bound_with = _bound_of(stability, assumption)
    wanted = finite(pfer)
    if wanted is None or wanted <= 0:
        raise OptionError(f"`pfer` must be a number above 0.\n  Found: {described(pfer)}.")
    n, (q, _) = stability.n_resamples, _sizes(stability)
    bound_at = functools.partial(bound_with, q)
    # Frequencies are multiples of 1 / n, and so are the thresholds that differ.
    low, high = n // 2, n  # counts: `low` is not enough, `high` is
    if bound_at(1.0) > pfer:
        raise StabilityError(
            f"No threshold holds the bound to {pfer:g}: at 1 it is {bound_at(1.0):.3g}, with"
            f" {q} units on each resample.\n"
            f"  {_way_out(stability, bound_with, q, float(pfer))}"
        )
    while high - low > 1:
        middle = (low + high) // 2
        if _allowed(bound_at, middle / n) <= pfer:
            high = middle
        else:
            low = middle
    return high / n


def _way_out(
    stability: Resampled, bound_with: Callable[[int, float], float], q: int, pfer: float
) -> str:
    """The most units with which some threshold holds the bound, else the least that can be."""
    fewer = bisect.bisect_right(range(1, q), pfer, key=lambda n: bound_with(n, 1.0))
    if fewer == 0:
        # Rounded up: what is printed is allowed.
        least = math.ceil(bound_with(1, 1.0) * 1000) / 1000
        return f"No number of units does: allow `pfer={least:g}` with one unit on each, or more."
    k = fewer + int(stability.kept.sum())
    return (
        f'Use `fit.resample({stability.n_resamples}, scheme="{stability.scheme}", k={k})`, or allow'
        " more."
    )


def _allowed(bound_at: Callable[[float], float], threshold: float) -> float:
    """The bound, infinite where the threshold is too low for it."""
    try:
        return bound_at(threshold)
    except OptionError:
        return math.inf


def _bound_of(stability: Resampled, assumption: Assumption) -> Callable[[int, float], float]:
    """The bound as a function of the number of units on each resample and the threshold, once it is
    clear that there is one."""
    check_choice("assumption", assumption, ASSUMPTIONS)
    why_not = no_bound(stability)
    if why_not is not None:
        raise StabilityError(why_not)
    _, p = _sizes(stability)
    if assumption == "none":
        return lambda q, threshold: worst_case_bound(q, p, threshold)
    if stability.scheme != "complementary":
        raise StabilityError(
            f'The bound with `assumption="{assumption}"` holds for complementary pairs only.\n'
            f"  Found: scheme {stability.scheme!r}. Use"
            ' `fit.resample(100, scheme="complementary")`, or `assumption="none"`.'
        )
    if stability.n_resamples % 2:
        raise StabilityError(
            f'The bound with `assumption="{assumption}"` needs whole pairs.\n'
            f"  Found: {stability.n_resamples} resamples. Use an even number."
        )
    n_pairs = stability.n_resamples // 2
    bound = unimodal_bound if assumption == "unimodal" else concave_bound
    return lambda q, threshold: bound(q, p, threshold, n_pairs)


def no_bound(stability: Resampled) -> str | None:
    """Why no bound holds for these resamples, and the way out; None if one does."""
    if stability.scheme == "bootstrap":
        return (
            "No error bound holds for bootstrap resamples: it needs subsamples of half the rows.\n"
            '  Use `fit.resample(100, scheme="complementary")` (or `"subsample"`).'
        )
    if not stability.fixed_size:
        size = stability.selected.sum(axis=1)
        return (
            "No error bound holds where the tuning value decides how many units are selected.\n"
            f"  Found: {size.min()} to {size.max()} units on a resample. Use"
            f" `fit.resample(..., k={stability.k})`."
        )
    if _sizes(stability)[0] < 1:
        return (
            "No error bound is needed where only kept units are selected.\n"
            f"  Found: k = {stability.k}, all of them kept. Use `fit.resample(..., k=...)`."
        )
    return None


def _sizes(stability: Resampled) -> tuple[int, int]:
    """Numbers of units selected and of units to select from, kept and constant ones not counted."""
    return stability.k - int(stability.kept.sum()), int(stability.assessed.sum())


def _check_threshold(threshold: object) -> None:
    found = finite(threshold)
    if found is None or not 0.5 < found <= 1:
        raise OptionError(
            f"`threshold` must be a number above 0.5 and at most 1.\n"
            f"  Found: {described(threshold)}."
        )


def _least_count(threshold: float, n: int) -> int:
    """Fewest of n resamples that reach the threshold."""
    return math.ceil(threshold * n - ROUNDING)


# --- the bounds ----------------------------------------------------------------------------------


def worst_case_bound(q: int, p: int, threshold: float) -> float:
    """Bound without further assumptions: q^2 / ((2 threshold - 1) p).

    Theorem 1 of Meinshausen and Buehlmann (2010, JRSS B 72, 417-473).

    Parameters
    ----------
    q : int
        Units selected on each subsample, at least 1.
    p : int
        Units to select from.
    threshold : float
        Above 0.5, at most 1.

    Examples
    --------
    >>> from treeselect.resampling.error_bounds import worst_case_bound
    >>> print(round(worst_case_bound(q=10, p=1000, threshold=0.75), 3))
    0.2
    """
    return q**2 / ((2 * threshold - 1) * p)


def unimodal_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """Bound if the distribution of each noise unit's simultaneous selections is unimodal.

    Theorem 2 of Shah and Samworth (2013, JRSS B 75, 55-80), with theta = q / p: C(t, B) q^2 / p,
    where C is 1 / (2 (2t - 1 - 1 / (2B))) for t up to 3/4 and 4 (1 - t + 1 / (2B)) / (1 + 1 / B)
    above. The threshold is rounded up to the next frequency that 2B resamples can have.

    Parameters
    ----------
    q, p, threshold
        As in :func:`worst_case_bound`.
    n_pairs : int
        Number B of complementary pairs.

    Raises
    ------
    OptionError
        If the threshold is too low, or q is more than 1 / sqrt(3) of p: the theorem is silent.

    Examples
    --------
    >>> from treeselect.resampling.error_bounds import unimodal_bound
    >>> print(round(unimodal_bound(q=10, p=1000, threshold=0.75, n_pairs=50), 3))
    0.102
    """
    theta, b = q / p, n_pairs
    _check_few(q, p, 1 / math.sqrt(3))
    count = _least_count(threshold, 2 * b)
    floor = 0.5 + min(theta**2, 1 / (2 * b) + 0.75 * theta**2)
    least = max(math.floor(floor * 2 * b + ROUNDING) + 1, b + 2)
    if count < least:
        raise _too_low(threshold, least, 2 * b)
    t = count / (2 * b)
    if t <= 0.75:
        factor = 1 / (2 * (2 * t - 1 - 1 / (2 * b)))
    else:
        factor = 4 * (1 - t + 1 / (2 * b)) / (1 + 1 / b)
    return factor * q**2 / p


def concave_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """Bound if these distributions are r-concave.

    Equation 8 of Shah and Samworth (2013), with theta = q / p:
    p min(D(theta^2, 2t - 1, B, -1/2), D(theta, t, 2B, -1/4)), where D is :func:`largest_tail`. The
    proportions of simultaneous selections are taken to be -1/2-concave and the frequencies to be
    -1/4-concave.

    Parameters
    ----------
    q, p, threshold, n_pairs
        As in :func:`unimodal_bound`.

    Raises
    ------
    OptionError
        If the threshold is too low, or q is more than half of p.

    Examples
    --------
    >>> from treeselect.resampling.error_bounds import concave_bound
    >>> print(round(concave_bound(q=10, p=1000, threshold=0.75, n_pairs=50), 3))
    0.024
    """
    theta, b = q / p, n_pairs
    _check_few(q, p, 0.5)
    count = _least_count(threshold, 2 * b)
    # `count` of 2B resamples at least means count - B of B pairs with both halves at least.
    tail = min(largest_tail(theta**2, count - b, b, -0.5), largest_tail(theta, count, 2 * b, -0.25))
    if tail == 1.0:
        least = min(b + twice(theta**2, b), twice(theta, 2 * b)) + 1
        raise _too_low(threshold, least, 2 * b)
    # With few pairs the shape may say less than Markov's inequality, which needs no shape.
    return min(p * tail, worst_case_bound(q, p, threshold))


def _check_few(q: int, p: int, share: float) -> None:
    if q > share * p:
        raise OptionError(
            f"This bound needs at most {int(share * p)} of {p} units on each resample.\n"
            f'  Found: {q}. Use `fit.resample(..., k=...)`, or `assumption="none"`.'
        )


def _too_low(threshold: float, least: int, n: int) -> OptionError:
    """The error for a threshold that less than `least` of `n` resamples reach."""
    if least > n:
        return OptionError(
            f"This bound needs more than {n} resamples: it says nothing for any threshold.\n"
            '  Use `fit.resample(100, scheme="complementary")`, or `assumption="none"`.'
        )
    return OptionError(
        f"`threshold` must be at least {least / n:g} for this bound with so many units and"
        f" resamples.\n  Found: {threshold:g}."
    )
