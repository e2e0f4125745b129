"""Simulated survival times with a known answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_count, check_flag, check_number, read_seed
from treeselect.datasets.simulated import Simulated

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_ROWS = 10_000_000
_MOST_STRATA = 26
_NUMBERS, _FACTORS, _LEVELS = 40, 12, "abcd"
_COPIED = (1, 2, 3, 4, 21, 22, 23, 24)
"""Numeric columns with a near-duplicate: four that affect the hazard, four that do not."""

_TRUE_NUMBERS, _TRUE_FACTORS = range(1, 10), range(1, 4)
_SCALE, _SHAPE = 1000.0, 1.5  # days; of the Weibull times at a linear predictor of 0
_LAST_ENTRY = 500.0  # days


def simulate_survival(
    n: int = 500,
    *,
    seed: int,
    censored: float = 0.3,
    strata: int = 1,
    left_truncated: bool = False,
) -> Simulated:
    """Simulate survival times that depend on 12 of 60 columns.

    ``x01`` to ``x40`` are standard normal, ``f01`` to ``f12`` factors with levels ``a`` to ``d``,
    all independent. ``x01_near`` to ``x04_near`` and ``x21_near`` to ``x24_near`` are
    near-duplicates of the columns they are named after (correlation 0.98). Times are Weibull with
    hazard ``(1.5 / 1000) (t / 1000)^0.5 exp(eta)`` per day, where::

        eta = 0.6 x01 - 0.6 x02 + 0.5 x03 - 0.5 x04 + 0.5 x07 + 0.9 [x05 > 0] + 0.4 x06^2
              + 1.2 [x08 > 0] [x09 > 0]
              + 0.9 [f01 = a] + 0.8 ([f02 = b] - [f02 = c]) + 0.8 [f03 = c or d]

    Parameters
    ----------
    n : int, default 500
        Number of rows, 2 to 10 million.
    seed : int
        Seed of the random numbers.
    censored : float, default 0.3
        Proportion of censored rows, from 0 up to but not including 1, attained to the nearest row;
        at least one event remains. Follow-up is uniform from 0 to the length that gives this
        proportion.
    strata : int, default 1
        Number of sites, at most 26. If there are at least 2, the column ``site`` has levels ``A``,
        ``B``, ..., each with its own baseline hazard (scale and shape differ), and the formula
        has them as strata.
    left_truncated : bool, default False
        Whether entry is delayed, to ``entry`` (uniform on 500 days): rows whose event is earlier
        are not observed.

    Returns
    -------
    Simulated
        The last columns are ``time``, whole days from 1, and ``event``, 0 or 1, preceded by
        ``entry`` if entry is delayed. The truth has twelve terms: ``x01`` or ``x01_near`` and so on
        to ``x04``, then ``x05`` to ``x09``, ``f01``, ``f02`` and ``f03``.

    Raises
    ------
    OptionError
        If an argument is not allowed.

    Examples
    --------
    >>> from treeselect.datasets import simulate_survival
    >>> simulated = simulate_survival(seed=1, censored=0.7)
    >>> simulated.formula, simulated.data.shape, int(simulated.data["event"].sum())
    ('Surv(time, event) ~ .', (500, 62), 150)
    >>> [sorted(terms) for terms in simulated.truth][3:5]
    [['x04', 'x04_near'], ['x05']]
    """
    import pandas as pd

    n = check_count("n", n, least=2, most=_MOST_ROWS)
    most = math.nextafter(1.0, 0.0)
    censored = check_number("censored", censored, least=0.0, most=most)
    strata = check_count("strata", strata, least=1, most=_MOST_STRATA)
    left_truncated = check_flag("left_truncated", left_truncated)
    rng = np.random.default_rng(read_seed(seed))

    x, codes, site, entry, time = _seen(rng, n, strata, left_truncated)
    time, event = _followed(rng, entry, time, censored)
    columns: dict[str, object] = {f"x{j + 1:02}": x[:, j] for j in range(_NUMBERS)}
    levels = pd.Index(list(_LEVELS))
    for j in range(_FACTORS):
        columns[f"f{j + 1:02}"] = pd.Categorical.from_codes(codes[:, j], levels)
    for j in _COPIED:
        columns[f"x{j:02}_near"] = x[:, j - 1] + 0.2 * rng.standard_normal(n)
    if strata > 1:
        names = pd.Index([chr(ord("A") + j) for j in range(strata)])
        columns["site"] = pd.Categorical.from_codes(site, names)
    if left_truncated:
        columns["entry"] = np.floor(entry).astype(np.int64)
    columns["time"] = np.floor(time).astype(np.int64) + 1
    columns["event"] = event.astype(np.int64)

    response = "Surv(entry, time, event)" if left_truncated else "Surv(time, event)"
    terms = ". - site + strata(site)" if strata > 1 else "."
    return Simulated(pd.DataFrame(columns), f"{response} ~ {terms}", _truth())


def _truth() -> tuple[frozenset[str], ...]:
    """The twelve terms; a column and its near-duplicate are interchangeable."""
    numbers = (f"x{j:02}" for j in _TRUE_NUMBERS)
    near = {f"x{j:02}": f"x{j:02}_near" for j in _COPIED}
    truth = [{name, near[name]} if name in near else {name} for name in numbers]
    return tuple(map(frozenset, [*truth, *({f"f{j:02}"} for j in _TRUE_FACTORS)]))


def _seen(
    rng: np.random.Generator, n: int, strata: int, left_truncated: bool
) -> tuple[NDArray[Any], ...]:
    """Numbers, codes of factors and sites, entries and times of n rows that were observed.

    Rows whose event precedes their entry are drawn again.
    """
    drawn, count = [], 0
    while count < n:
        x = rng.standard_normal((n, _NUMBERS))
        codes = rng.integers(len(_LEVELS), size=(n, _FACTORS))
        site = rng.integers(strata, size=n)
        shape = _SHAPE * 0.8**site
        hazard_time = rng.standard_exponential(n) * np.exp(-linear_predictor(x, codes))
        time = _SCALE * 0.7**site * hazard_time ** (1 / shape)
        entry = rng.uniform(0, _LAST_ENTRY, n) if left_truncated else np.zeros(n)
        seen = time > entry
        drawn.append([part[seen] for part in (x, codes, site, entry, time)])
        count += int(seen.sum())
    return tuple(np.concatenate(parts)[:n] for parts in zip(*drawn, strict=True))


def linear_predictor(x: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """The logarithm of the relative hazard; `x` of shape (n, 40), `codes` (n, 12) from 0 to 3."""
    eta = 0.6 * x[:, 0] - 0.6 * x[:, 1] + 0.5 * x[:, 2] - 0.5 * x[:, 3] + 0.5 * x[:, 6]
    eta += 0.9 * (x[:, 4] > 0) + 0.4 * x[:, 5] ** 2 + 1.2 * ((x[:, 7] > 0) & (x[:, 8] > 0))
    eta += 0.9 * (codes[:, 0] == 0) + 0.8 * (codes[:, 2] >= 2)
    eta += 0.8 * (codes[:, 1] == 1)
    eta -= 0.8 * (codes[:, 1] == 2)
    return eta


def _followed(
    rng: np.random.Generator, entry: NDArray[np.float64], time: NDArray[np.float64], censored: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Time seen and whether it is the event's, after a follow-up that is uniform on (0, end).

    Follow-up u * end is shorter than the time to the event where that over u exceeds `end`: the
    order statistic that leaves the wanted number of events is `end`.
    """
    share = 1.0 - rng.random(len(time))
    needed = (time - entry) / share
    n_events = max(1, round((1 - censored) * len(time)))
    end = np.sort(needed)[n_events - 1]
    event = needed <= end
    return np.where(event, time, entry + share * end), event
