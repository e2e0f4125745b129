"""Error control by selection frequencies: bounds on false selections, efp scores, q-values."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from treeselect.arguments import checks
from treeselect.engine.arrays import FloatArray
from treeselect.errors import OptionError, StabilityError
from treeselect.resampling.resampled import Resampled, StabilityPath

_ROUNDING = 1e-9
"""Tolerance: 60 of 100 reach a threshold of 0.6, whatever 0.6 * 100 is in floating point."""

# --- bounds on the expected number of noise units that pass a threshold on selection frequency ---

Assumption = Literal["none", "r-concave"]


@dataclass(frozen=True, slots=True)
class ErrorBound:
    """Bound on the expected number of falsely selected units (per-family error rate).

    Attributes
    ----------
    bound : float
        Upper bound on the expected number of units without signal among `units`.
    threshold : float
        On the selection frequency.
    units : tuple of str
        Units whose frequency reaches the threshold, most frequent first, without those forced in.
    q : int
        Largest number of units selected on a resample, without those forced in.
    p : int
        Number of candidate units, without those forced in.
    assumption : {"none", "r-concave"}
        About the distribution of the frequencies of units without signal.
    n_resamples : int
    one : str
        One of `units` in print: "term", or "unit" where there are groups.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> bound = fit.resample(20, scheme="subsample").stability.pfer(0.9)
    >>> bound.q, bound.p, bound.informative
    (2, 9, True)
    """

    bound: float
    threshold: float
    units: tuple[str, ...]
    q: int
    p: int
    assumption: Assumption
    n_resamples: int
    one: str = "term"

    @property
    def paper(self) -> str:
        """The source of the bound."""
        if self.assumption == "none":
            return "Meinshausen and Buehlmann 2010"
        return f"Shah and Samworth 2013, {self.assumption}"

    @property
    def informative(self) -> bool:
        """Whether the bound says anything: it is smaller than the number of units that reached the
        threshold or, if none did, than p."""
        return self.bound < (len(self.units) or self.p)

    def __str__(self) -> str:
        units = f"{len(self.units)} {self.one}{'' if len(self.units) == 1 else 's'}"
        return (
            f"At most {self.bound:.3g} false selections expected among {units} with selection"
            f" frequency {self.threshold:g} or more (q = {self.q} of p = {self.p} {self.one}s on"
            f" each of {self.n_resamples} resamples; {self.paper})"
            f"{'' if self.informative else '; the bound is uninformative'}"
        )


def error_bound(stability: Resampled, threshold: float, assumption: Assumption) -> ErrorBound:
    """The bound for one threshold: see ``Stability.pfer``."""
    checks.check_choice("assumption", assumption, get_args(Assumption))
    why_not = no_bound(stability, assumption)
    if why_not is not None:
        raise StabilityError(why_not)
    found = checks.finite(threshold)
    if found is None or not 0.5 < found <= 1:
        raise OptionError(
            "`threshold` must be a number above 0.5 and at most 1.\n"
            f"  Found: {checks.described(threshold)}."
        )
    q, p = _sizes(stability)
    n = stability.n_resamples
    count = stability.selected.sum(axis=0)
    passed = stability.assessed & (count >= _least_count(found, n))
    worst = assumption == "none"
    return ErrorBound(
        bound=worst_case_bound(q, p, found) if worst else concave_bound(q, p, found, n // 2),
        threshold=found,
        units=tuple(stability.units[u] for u in stability._by_frequency() if passed[u]),
        q=q,
        p=p,
        assumption=assumption,
        n_resamples=n,
        one=stability.one,
    )


def no_bound(stability: Resampled, assumption: Assumption = "none") -> str | None:
    """Why no bound holds for these resamples, and what to do; None if one holds."""
    if stability.scheme == "bootstrap":
        return (
            "Error bounds need subsamples of half the rows, and these are bootstrap resamples.\n"
            '  Use `fit.resample(100, scheme="complementary")` (or `"subsample"`).'
        )
    if not stability.fixed_size:
        size = stability.selected.sum(axis=1)
        return (
            "No error bound holds unless the number of selected"
            f" {stability.one}s is fixed.\n  Found: {size.min()} to {size.max()} on a resample. Use"
            f" `fit.resample(..., scheme={stability.scheme!r}, k={stability.k})`."
        )
    if _sizes(stability)[0] < 1:
        return (
            f"No error bound is needed if every selected {stability.one} is forced in.\n"
            f"  Found: k = {stability.k}, all forced in. Use"
            f" `fit.resample(..., scheme={stability.scheme!r}, k=...)`."
        )
    if assumption != "none" and not _has_whole_pairs(stability):
        return (
            f'The bound with `assumption="{assumption}"` needs complete complementary pairs.\n'
            f'  Found: {stability.words}. Use `fit.resample(100, scheme="complementary")`, or'
            ' `assumption="none"`.'
        )
    return None


def _sizes(stability: Resampled) -> tuple[int, int]:
    """q and p: numbers of selected and of candidate units, without those forced in or constant."""
    return stability.k - int(stability.kept.sum()), int(stability.assessed.sum())


# --- the bounds ----------------------------------------------------------------------------------


def worst_case_bound(q: int, p: int, threshold: float) -> float:
    """q^2 / ((2 threshold - 1) p), if q of p are selected on each subsample: theorem 1 of
    Meinshausen and Buehlmann (2010, JRSS B 72, 417-473), under exchangeability alone."""
    return q**2 / ((2 * threshold - 1) * p)


def concave_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """Bound if the distributions of each noise unit's selections are r-concave: equation 8 of Shah
    and Samworth (2013), with D as :func:`largest_tail`. An OptionError if the threshold is too low,
    or q exceeds p / 2."""
    theta, b = q / p, n_pairs
    if q > p / 2:
        raise OptionError(
            f"This bound needs at most {p // 2} selected of {p} on each resample.\n"
            f'  Found: {q}. Use `fit.resample(..., k=...)`, or `assumption="none"`.'
        )
    count = _least_count(threshold, 2 * b)
    # `count` of 2B resamples at least means count - B of B pairs with both halves at least.
    tail = min(largest_tail(theta**2, count - b, b, -0.5), largest_tail(theta, count, 2 * b, -0.25))
    if tail == 1.0:
        least, n = min(b + _twice(theta**2, b), _twice(theta, 2 * b)) + 1, 2 * b
        raise OptionError(
            f"This bound needs more than {n} resamples: it is uninformative at every threshold.\n"
            '  Use `fit.resample(100, scheme="complementary")`, or `assumption="none"`.'
            if least > n
            else f"`threshold` must be at least {least / n:g} for this bound, with these numbers of"
            f" selections and resamples.\n  Found: {threshold:g}."
        )
    # With few pairs the shape bound may be weaker than Markov's inequality, which needs no shape.
    return min(p * tail, worst_case_bound(q, p, threshold))


def _least_count(threshold: float, n: int) -> int:
    """Smallest number of n resamples that reaches the threshold."""
    return math.ceil(threshold * n - _ROUNDING)


def _twice(mean: float, n: int) -> int:
    """Twice a mean, as a count of n, rounded up."""
    return math.ceil(2 * mean * n - _ROUNDING)


def largest_tail(mean: float, least: int, n: int, r: float) -> float:
    """Largest P(X >= least) of an r-concave X on {0, ..., n}, r < 0, with mean at most `mean` n:
    that of probabilities proportional to (a + i)^(1/r) (Shah and Samworth 2013, appendices A.2 and
    A.4)."""
    if least <= _twice(mean, n):
        return 1.0
    ends = _full_supports(mean, n, r)
    tails = [0.0]
    for m in range(max(least - 1, min(ends)), n):
        tails.append(_largest_of_support(m, ends[m], ends[m + 1], mean * n, least, r))
    return max(tails)


@functools.lru_cache(maxsize=64)
def _full_supports(mean: float, n: int, r: float) -> dict[int, float]:
    """The `a` with which f(i) ~ (a + i)^(1/r) on {0, ..., m} has the mean, by m."""
    from scipy.optimize import brentq

    def excess(log_a: float, m: int) -> float:
        f = _powers(math.exp(log_a), m, r)
        return float(np.arange(m + 1) @ f / f.sum()) - mean * n

    low, high = math.log(1e-12), math.log(1e9)
    return {
        m: math.exp(brentq(excess, low, high, args=(m,), xtol=1e-12))
        for m in range(1, n + 1)
        if excess(high, m) > 0
    }


def _powers(a: float, m: int, r: float) -> FloatArray:
    """(a + i)^(1/r), divided by a^(1/r), for i = 0, ..., m."""
    return np.asarray((1 + np.arange(m + 1) / a) ** (1 / r))


def _largest_of_support(
    m: int, a_none: float, a_full: float, total: float, least: int, r: float
) -> float:
    """Largest tail among the distributions on {0, ..., m + 1} with the mean `total`."""
    from scipy.optimize import minimize_scalar

    room = m + 1 - np.arange(m + 1)

    def below(log_a: float) -> float:
        f = _powers(math.exp(log_a), m, r)
        return float((m + 1 - total) * f[:least].sum() / (room @ f))

    low, high = math.log(a_full), math.log(a_none)
    inside = minimize_scalar(below, bounds=(low, high), method="bounded", options={"xatol": 1e-7})
    return 1 - min(float(inside.fun), below(low), below(high))


# --- integrated path stability selection (IPSS) --------------------------------------------------

# See ``Stability.q_values``: theorem 1 of Melikechi and Miller (2025), with the uniform measure on
# sizes, and h(x) = (2 x - 1)^power above 1/2 and 0 below.

POWER, CUTOFF, PAIRS = 2, 0.05, 25
"""Of q-values (``benchmarks/qvalues.py``). Pairs are splits of the same rows: however many
there are, they count as at most this many independent ones."""


def size_bound(q: FloatArray, p: int, n_pairs: int, power: int) -> FloatArray:
    """Bound on the sum of h(frequency) over units without signal, if q of p are selected on a half:
    p E(U^power) for the share U of n pairs in which both halves select the unit."""
    t2, b = (np.asarray(q, dtype=np.float64) / p) ** 2, n_pairs
    if power == 1:
        return np.asarray(p * t2)
    if power == 2:
        return np.asarray(p * (t2 + (b - 1) * t2**2) / b)
    return np.asarray(p * (t2 + 3 * (b - 1) * t2**2 + (b - 1) * (b - 2) * t2**3) / b**2)


def sizes_within(q: FloatArray, p: int, n_pairs: int, power: int, cutoff: float) -> int:
    """Number of sizes, at least 1, whose mean bound, which increases, is at most the cutoff."""
    bound = size_bound(np.maximum.accumulate(q), p, n_pairs, power)
    mean = np.cumsum(bound) / np.arange(1, len(bound) + 1)
    return max(1, int(np.searchsorted(mean, cutoff * (1 + 1e-12), side="right")))


def efp_scores(frequency: FloatArray, n_pairs: int, power: int, cutoff: float) -> FloatArray:
    """Expected number of false positives if a unit and all units at least as stable are selected,
    shape (p,), from frequencies in the sets of sizes 1, 2, ..., shape (n_sizes, p). Sizes are used
    as long as the mean bound is at most the cutoff."""
    p = frequency.shape[1]
    q = frequency.sum(axis=1)
    n_sizes = sizes_within(q, p, n_pairs, power, cutoff)
    bound = float(size_bound(q[:n_sizes], p, n_pairs, power).mean())
    score = (np.maximum(2 * frequency[:n_sizes] - 1, 0.0) ** power).mean(axis=0)
    return np.asarray(np.where(score * p > bound, bound / np.where(score > 0, score, 1.0), p))


def q_values_of(efp: FloatArray) -> FloatArray:
    """Smallest false discovery rate at which each unit is selected: the minimum, over thresholds
    that its efp score reaches, of expected false positives over the number selected."""
    ordered = np.sort(efp)
    selected = np.searchsorted(ordered, ordered, side="right")
    least = np.minimum.accumulate((ordered / selected)[::-1])[::-1]
    return np.asarray(least[np.searchsorted(ordered, efp)])


# --- q-values of resamples -----------------------------------------------------------------------

_WAY = '`fit.resample(100, scheme="complementary", path=True)`'


def followed(
    stability: Resampled, wanted: str, way: str = "`fit.resample(100, path=True)`"
) -> StabilityPath:
    """The selection paths of the resamples; a StabilityError if they were not followed."""
    if stability.along is None:
        raise StabilityError(
            f"Can't compute {wanted} without the selection paths of the resamples.\n  Use {way}."
        )
    return stability.along


def efp_of(stability: Resampled) -> FloatArray:
    """Efp scores of the units that are not forced in: see ``Stability.q_values``."""
    if not _has_whole_pairs(stability):
        raise StabilityError(
            f"Q-values need complete complementary pairs.\n  Found: {stability.words}. Use {_WAY}."
        )
    path = followed(stability, "q-values", _WAY)
    n_pairs = min(stability.n_resamples // 2, PAIRS)
    return efp_scores(path.frequency[:, stability.assessed], n_pairs, POWER, CUTOFF)


def has_q_values(stability: Resampled) -> bool:
    return stability.along is not None and _has_whole_pairs(stability)


def _has_whole_pairs(stability: Resampled) -> bool:
    return stability.scheme == "complementary" and stability.n_resamples % 2 == 0
