"""Would the selection be the same on another sample? Resamples, frequencies, and one index."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treeselect.algorithms.shared.base import SelectionMethod
from treeselect.arguments.checks import MOST_RESAMPLES, check_choice, check_count, check_size
from treeselect.designs.design import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.designs.problem import Problem
from treeselect.engine.random import stream_seed
from treeselect.errors import StabilityError
from treeselect.frames.libraries import in_library
from treeselect.resampling.choosing import step_of_size
from treeselect.resampling.error_bounds import Assumption, ErrorBound, error_bound, least_threshold
from treeselect.resampling.folds import Folds, known_groups
from treeselect.running.parallel import run_all
from treeselect.running.progress import track

if TYPE_CHECKING:
    import pandas as pd

Scheme = Literal["bootstrap", "subsample", "complementary"]
SCHEMES = ("bootstrap", "subsample", "complementary")

_FEW = 0.05
"""Share of resamples below which nothing is said about what stood in."""

_Z95 = 1.959963984540054


def stability_index(selected: BoolArray) -> tuple[float, tuple[float, float]]:
    """Stability index of Nogueira, Sechidis and Brown, with its 95 % interval.

    How much the selected sets agree, corrected for the agreement expected by chance: 1 when every
    resample selects the same units, about 0 when each picks at random.

    Parameters
    ----------
    selected : ndarray of bool, shape (n_resamples, n_groups)
        ``selected[m, g]`` tells whether resample ``m`` selected unit ``g``.

    Returns
    -------
    index : float
        At most 1. NaN when every resample selected no unit, or every unit: chance agreement is
        then complete already.
    interval : tuple of float
        Normal interval for the index over resamples of these data, at most 1.

    Raises
    ------
    StabilityError
        If there are fewer than two resamples.

    Notes
    -----
    Definition 4, Theorem 7 and Corollary 8 of [1]_.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis, G. Brown (2018). On the Stability of Feature Selection
       Algorithms. JMLR 18(174).

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.stability import stability_index
    >>> selected = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]], dtype=bool)
    >>> print(round(stability_index(selected)[0], 3))
    0.333
    """
    n, d = selected.shape
    if n < 2:
        raise StabilityError(f"The stability index needs at least two resamples.\n  Found: {n}.")
    z = selected.astype(np.float64)
    frequency = z.mean(axis=0)
    size = z.sum(axis=1)
    mean_size = size.mean()
    if mean_size == 0 or mean_size == d:
        return float("nan"), (float("nan"), float("nan"))
    chance = mean_size / d * (1 - mean_size / d)
    variance = n / (n - 1) * frequency * (1 - frequency)
    index = 1 - variance.mean() / chance
    each = (
        (z @ frequency) / d
        - size * mean_size / d**2
        + index / 2 * (2 * mean_size * size / d**2 - size / d - mean_size / d + 1)
    ) / chance
    spread = 4 / n**2 * np.sum((each - each.mean()) ** 2)
    half = _Z95 * np.sqrt(spread)
    return float(index), (float(index - half), float(min(index + half, 1.0)))


def wilson_interval(successes: IntArray, trials: int) -> tuple[FloatArray, FloatArray]:
    """95 % score interval of Wilson (1927) for proportions, each of shape (n,)."""
    p = successes / trials
    z2 = _Z95**2 / trials
    centre = (p + z2 / 2) / (1 + z2)
    half = _Z95 / (1 + z2) * np.sqrt(p * (1 - p) / trials + z2 / (4 * trials))
    # At 0 and 1 the bound is exact; rounding must not push it past.
    low = np.where(successes == 0, 0.0, centre - half)
    high = np.where(successes == trials, 1.0, centre + half)
    return np.asarray(low), np.asarray(high)


@dataclass(frozen=True, slots=True)
class StandIn:
    """A unit of the fit and what stood in for it in the resamples where it was missing.

    Attributes
    ----------
    unit : str
        Selected in the fit.
    missing : int
        Resamples that did not select it.
    others : tuple of (str, int)
        Units outside the fit, with the number of those resamples that selected them, most
        frequent first.
    exactly_one : float
        Share of all resamples that selected exactly one of `unit` and `others`.
    """

    unit: str
    missing: int
    others: tuple[tuple[str, int], ...]
    exactly_one: float


@dataclass(frozen=True, slots=True)
class Stability:
    """Selections on resamples of the rows.

    Attributes
    ----------
    units : tuple of str, length n_groups
    fitted : ndarray of bool, shape (n_groups,)
        What the fit on all rows selected.
    assessed : ndarray of bool, shape (n_groups,)
        Units that the method was free to select: those that are not kept.
    selected : ndarray of bool, shape (n_resamples, n_groups)
    scheme : {"bootstrap", "subsample", "complementary"}
    k : int
        Units asked for on each resample.
    seed : int
    library : str
        In which tables are given.
    groups_name : str or bool
        Column whose groups of rows were drawn as a whole; else whether an array of them was given.
    fixed_size : bool
        Whether no resample could select more than `k` units; False if the method's tuning value
        decided how many.
    association : callable or None
        Strength of the association of two units in the data, in [0, 1]; None without the data.
    """

    units: tuple[str, ...]
    fitted: BoolArray
    assessed: BoolArray
    selected: BoolArray
    scheme: Scheme
    k: int
    seed: int
    library: str = "pandas"
    groups_name: str | bool = False
    fixed_size: bool = True
    association: Callable[[str, str], float] | None = field(default=None, repr=False, compare=False)

    @property
    def words(self) -> str:
        """What was drawn: ``"100 bootstrap resamples"``, and of whole groups if it was."""
        name = f" of {self.groups_name}" if isinstance(self.groups_name, str) else ""
        whole = f" of whole groups{name}" if self.groups_name else ""
        return f"{self.n_resamples:,} {self.scheme} resamples{whole}"

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.selected)

    @property
    def frequency(self) -> FloatArray:
        """Share of resamples that selected each unit, shape (n_groups,)."""
        return np.asarray(self.selected.mean(axis=0))

    @property
    def index(self) -> float:
        """Nogueira's stability index over the units that are not kept (see `stability_index`)."""
        return stability_index(self.selected[:, self.assessed])[0]

    @property
    def index_ci(self) -> tuple[float, float]:
        """Its 95 % Monte Carlo interval."""
        return stability_index(self.selected[:, self.assessed])[1]

    def tidy(self) -> Any:
        """One row per unit, by falling frequency.

        Returns
        -------
        frame, in the library of the data
            Columns ``term``, ``frequency``, ``ci_low``, ``ci_high`` (95 % Wilson interval) and
            ``selected`` (in the fit).
        """
        return in_library(self.table(), self.library)

    def table(self) -> pd.DataFrame:
        """:meth:`tidy` as a pandas frame."""
        import pandas as pd

        low, high = wilson_interval(self.selected.sum(axis=0), self.n_resamples)
        frame = pd.DataFrame(
            {
                "term": self.units,
                "frequency": self.frequency,
                "ci_low": low,
                "ci_high": high,
                "selected": self.fitted,
            }
        )
        return frame.sort_values(["frequency", "term"], ascending=[False, True], ignore_index=True)

    def pfer(self, threshold: float = 0.75, assumption: Assumption = "none") -> ErrorBound:
        """Bound on the expected number of false selections above a threshold on the frequency.

        Parameters
        ----------
        threshold : float
            Above 0.5, at most 1. Values between 0.6 and 0.9 are usual.
        assumption : {"none", "unimodal", "r-concave"}
            About the frequencies of units without signal; a stronger one gives a lower bound.
            ``"unimodal"`` and ``"r-concave"`` need ``scheme="complementary"``.

        Returns
        -------
        ErrorBound
            ``.bound``, ``.units`` (those above the threshold), ``.q``, ``.p``, ``.threshold``.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the threshold too low for the assumption.
        StabilityError
            For bootstrap resamples, where the tuning value decided the size, and for a scheme that
            the assumption does not fit.

        Notes
        -----
        q units are selected on each subsample of half the rows, of p; kept units are in neither.
        ``"none"`` is theorem 1 of [1]_: q^2 / ((2 threshold - 1) p), for the average over all
        subsamples, if units without signal are exchangeable and the method does no worse than
        guessing. The others are theorem 2 and equation 8 of [2]_, for any number of complementary
        pairs. In [2]_ (as for ``"none"`` with pairs) nothing needs to be exchangeable if "false"
        is read as "selected on half of the rows with a probability of at most q / p". Prices that
        differ make units unequal, too. See :mod:`treeselect.resampling.error_bounds`.

        References
        ----------
        .. [1] N. Meinshausen, P. Buehlmann (2010). Stability selection. Journal of the Royal
           Statistical Society B 72, 417-473.
        .. [2] R. D. Shah, R. J. Samworth (2013). Variable selection with error control: another
           look at stability selection. Journal of the Royal Statistical Society B 75, 55-80.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, k=1, seed=1, forests=1, n_trees=10)
        >>> bound = fit.resample(10, scheme="complementary").stability.pfer(0.8)
        >>> bound.units, bound.q, bound.p, round(bound.bound, 2)
        (('sex',), 1, 9, 0.19)
        """
        return error_bound(self, threshold, assumption)

    def threshold(self, pfer: float = 1.0, assumption: Assumption = "none") -> float:
        """The lowest threshold on the frequency at which :meth:`pfer` is at most a wanted bound.

        Parameters
        ----------
        pfer : float
            Expected number of false selections, above 0.
        assumption : {"none", "unimodal", "r-concave"}
            As in :meth:`pfer`.

        Returns
        -------
        float
            Above 0.5, at most 1: a frequency that so many resamples can have.

        Raises
        ------
        OptionError
            If an argument is not allowed.
        StabilityError
            As :meth:`pfer` does; and if no threshold is high enough: fewer units on each resample
            are needed.
        """
        return least_threshold(self, pfer, assumption)

    @property
    def stand_ins(self) -> tuple[StandIn, ...]:
        """What stood in for each fitted unit that some resample did not select.

        Only for units that at least a twentieth of the resamples missed. A unit is listed if it
        came in at least a tenth of the resamples without the fitted unit, and more often there
        than in the others.
        """
        found = []
        for unit, others in self._replaced():
            without = ~self.selected[:, unit]
            place = self.selected[:, [unit, *others]].sum(axis=1)
            found.append(
                StandIn(
                    self.units[unit],
                    int(without.sum()),
                    tuple((self.units[o], int(self.selected[without, o].sum())) for o in others),
                    float((place == 1).mean()),
                )
            )
        return tuple(found)

    @property
    def substitutes(self) -> Any:
        """What stood in for the fitted units where these were missing, and how alike they are.

        A unit is listed for each fitted one that at least a twentieth of the resamples missed, if
        it is not in the fit, came in at least a tenth of those resamples, and more often there than
        in the others.

        Returns
        -------
        frame, in the library of the data
            One row per pair: ``term``, in the fit; ``substitute``; ``n_without``, resamples that
            did not select the term; ``share``, of those that selected the substitute;
            ``share_otherwise``, of the others (missing where there are none); ``association`` of
            the two in the data, in [0, 1] (rank correlation, correlation ratio or Cramer's V; of
            units with several columns the strongest; missing in a model without its data).

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ .", data, k=2, seed=1, forests=1, n_trees=10)
        >>> table = fit.resample(20).stability.substitutes
        >>> list(table)
        ['term', 'substitute', 'n_without', 'share', 'share_otherwise', 'association']
        """
        return in_library(self.substitute_table(), self.library)

    def substitute_table(self) -> pd.DataFrame:
        """:attr:`substitutes` as a pandas frame."""
        import pandas as pd

        rows = []
        for unit, others in self._replaced():
            without = ~self.selected[:, unit]
            for other in others:
                beside = self.selected[~without, other]
                names = self.units[unit], self.units[other]
                rows.append(
                    (
                        *names,
                        int(without.sum()),
                        float(self.selected[without, other].mean()),
                        float(beside.mean()) if len(beside) else np.nan,
                        np.nan if self.association is None else self.association(*names),
                    )
                )
        columns = ["term", "substitute", "n_without", "share", "share_otherwise", "association"]
        return pd.DataFrame(rows, columns=columns)

    def _replaced(self) -> list[tuple[int, NDArray[np.intp]]]:
        """Fitted units that were missing often enough, each with those that stood in for it."""
        found = []
        for unit in np.flatnonzero(self.fitted & self.assessed):
            without = ~self.selected[:, unit]
            n_without = int(without.sum())
            if n_without == 0 or n_without < _FEW * len(without):
                continue
            rate_without = self.selected[without].mean(axis=0)
            rate_with = self.selected[~without].mean(axis=0) if n_without < len(without) else 0.0
            others = np.flatnonzero(
                (rate_without >= 0.1) & (rate_without > rate_with) & ~self.fitted
            )
            others = others[np.argsort(-rate_without[others], kind="stable")]
            if len(others):
                found.append((int(unit), others))
        return found


def resample_weights(
    weight: WeightArray,
    scheme: Scheme,
    number: int,
    seed: int,
    groups: IntArray | None = None,
) -> WeightArray:
    """Weights of one resample, shape (n_rows,): how often each row is in it, times its weight.

    Bootstrap: as many draws with replacement as there are rows. Subsample: half of the rows.
    Complementary: resamples 2i and 2i + 1 are the two halves of one split.

    Parameters
    ----------
    groups : ndarray of int64, shape (n_rows,), optional
        Groups are drawn in place of rows, each with all its rows (the cluster bootstrap: Davison
        and Hinkley 1997, section 3.8): rows of one patient resemble each other, and drawn one by
        one they would make the selection look more stable than it is.
    """
    rows = np.flatnonzero(weight)
    pair = number // 2 if scheme == "complementary" else number
    rng = np.random.default_rng(stream_seed(seed, scheme, pair))
    if groups is None:
        return _drawn(rows, len(weight), scheme, number, rng) * weight
    names, place = np.unique(groups[rows], return_inverse=True)
    times = np.zeros(len(weight), dtype=np.int64)
    times[rows] = _drawn(np.arange(len(names)), len(names), scheme, number, rng)[place]
    return times * weight


def _drawn(
    items: IntArray, n: int, scheme: Scheme, number: int, rng: np.random.Generator
) -> IntArray:
    """How often each of n things is drawn, of which only some can be."""
    count = np.zeros(n, dtype=np.int64)
    if scheme == "bootstrap":
        np.add.at(count, rng.choice(items, size=len(items), replace=True), 1)
        return count
    order = rng.permutation(items)
    half = len(items) // 2
    first = scheme == "subsample" or number % 2 == 0
    count[order[:half] if first else order[half : 2 * half]] = 1
    return count


def assess(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    fitted: BoolArray,
    *,
    n_resamples: int,
    k: int,
    scheme: Scheme,
    seed: int,
    folds: Folds | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Stability:
    """Repeat the selection on resamples; of whole groups if `folds` have them.

    Raises
    ------
    OptionError
        If `n_resamples` or `scheme` is not allowed, or a row has no known group.
    StabilityError
        If k is 0, or a resample holds one class only.
    """
    check_choice("scheme", scheme, SCHEMES)
    n_resamples = check_count("n", n_resamples, least=2, most=MOST_RESAMPLES)
    k = check_count("k", k, least=0)
    if k == 0:
        raise StabilityError(
            "Can't assess the stability of an empty selection.\n"
            "  Give `k`, the number of units to select on each resample."
        )
    k = check_size(k, problem.groups)
    problem = dataclasses.replace(problem, wants_scores=False)
    groups = None if folds is None else folds.groups
    if groups is not None:
        known_groups(groups[weight > 0])
    calls = [
        (problem, method, weight, scheme, number, k, seed, groups) for number in range(n_resamples)
    ]
    results = track(run_all(_one_resample, calls, n_jobs), "Resamples", len(calls), progress)
    return Stability(
        units=problem.groups.names,
        fitted=fitted,
        assessed=~problem.groups.keep,
        selected=np.array(list(results)),
        scheme=scheme,
        k=k,
        seed=seed,
        groups_name=False if folds is None else folds.groups_name,
        fixed_size=method.tuning_value is None,
    )


def _one_resample(
    problem: Problem,
    method: SelectionMethod,
    weight: WeightArray,
    scheme: Scheme,
    number: int,
    k: int,
    seed: int,
    groups: IntArray | None,
) -> BoolArray:
    drawn = resample_weights(weight, scheme, number, seed, groups)
    rows = drawn > 0
    if len(np.unique(problem.y[rows])) < 2:
        raise StabilityError(
            f"Resample {number + 1} holds only one value of the response: there are too few"
            f" {'rows' if groups is None else 'groups with rows'} of a class to resample."
        )
    own_seed = stream_seed(seed, "resample", number)
    path = method.path(problem, drawn, max_size=k, seed=own_seed, every_size=False)
    if method.tuning_value is not None:
        return path[-1].selected
    return step_of_size(path, k, problem.groups.keep).selected
