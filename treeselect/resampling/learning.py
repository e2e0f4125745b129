"""The learning curve: score and stability by the number of rows, and how many rows would make the
selection stable."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import described, numbers_in, read_seed
from treeselect.designs.problem import Problem
from treeselect.designs.row_sample import varies
from treeselect.designs.scoring import is_lost
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, quoted
from treeselect.printing import Summarised, SummaryContent, decimal_text, interval_text, signed
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.cross_validation import (
    differences,
    paired_difference,
    standard_error,
    test_share,
)
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Split, Splitter, mean_repeats, part_rows
from treeselect.resampling.outer_folds import nested_selection, one_fold, outer_folds
from treeselect.resampling.records import InLibrary, Scored
from treeselect.running.parallel import Workers, run_all


@dataclass(frozen=True, eq=False)
class LearningCurve(Scored):
    """Scores on the same held-out rows, and selected sets, by the number of training rows.

    Attributes
    ----------
    score_name, score_words, scheme, call, seed, library
        As of :class:`treeselect.resampling.records.Scored`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> curve = fit.search.learning_curve([0.5, 1.0], folds=2)
    >>> print(*curve.tidy().columns)
    share rows score standard_error k stability stability_low stability_high
    """

    shares: tuple[float, ...]  # of the training rows of each fold, increasing
    n_train: IntArray  # (n_shares, n_folds)
    test_share: float  # ratio of held-out to all training rows, mean over the folds
    scores: FloatArray  # (n_shares, n_folds); greater is better
    selected: BoolArray  # (n_shares, n_folds, n_groups)
    assessed: BoolArray  # (n_groups,); units that are neither forced in nor constant
    repeats: float  # how often a row is held out, on average
    ratio: float = 1.0  # as `test_share`, with rows that have no part in any training
    # (n_pairs, 2); successive folds whose training sets share no rows
    apart: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64), repr=False)

    def tidy(self) -> Any:
        """One row per share of the training rows.

        Returns
        -------
        frame, in the library of the data
            ``share``; ``rows``, mean number over the folds; ``score``, mean on the held-out rows;
            ``standard_error``; ``k``, mean number of selected units; ``stability``, Nogueira's
            index over the folds, with its 95% Monte Carlo interval ``stability_low`` and
            ``stability_high``, missing if every fold selects all units or none.
        """
        agreement = [stability_index(sets[:, self.assessed]) for sets in self.selected]
        index, low, high = np.array([(own, *ends) for own, ends in agreement]).T
        table = pd.DataFrame({
            "share": self.shares, "rows": self.n_train.mean(axis=1),
            "score": self.scores.mean(axis=1),
            "standard_error": standard_error(self.scores.T, self.repeats),
            "k": self.selected.sum(axis=2).mean(axis=1), "stability": index, "stability_low": low,
            "stability_high": high,
        })  # fmt: skip
        return self._frame(table)

    def rows_needed(
        self, index: float | Sequence[float] = (0.75, 0.9), *, seed: int | None = None
    ) -> RowsNeeded:
        """How many rows would make the selection stable, as far as this curve can tell.

        Parameters
        ----------
        index : float or sequence of float
            Stability indices to reach, above 0 and below 1. Above 0.75 agreement is called
            excellent, below 0.4 poor [1]_.
        seed : int, optional
            Of the bootstrap samples; default: as of the curve.

        Returns
        -------
        RowsNeeded
            ``.summary()``, ``.tidy()``, ``.words``.

        Raises
        ------
        OptionError
            If `index` is not allowed, or the curve has fewer than three shares or than five pairs
            of training sets that share no rows, as the halves of ``folds=2, repeats=10``: rows that
            sets share make them more similar than two samples would be.

        Notes
        -----
        One less the index between disjoint training sets is taken for a power of their size. The
        interval is of bootstrap samples of as many pairs as could be drawn without sharing rows
        with each other: one of halves, four of eighths. It does not cover that the law may be
        another. No number beyond four times the largest training set is given.

        References
        ----------
        .. [1] S. Nogueira, K. Sechidis, G. Brown (2018). On the Stability of Feature Selection
           Algorithms. JMLR 18(174).

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated").head(400)
        >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=3, seed=1)
        >>> curve = fit.search.learning_curve((0.25, 0.5, 1), folds=2, repeats=5)
        >>> curve.rows_needed(0.75).limit
        800
        """
        return _rows_needed(self, index, self.seed if seed is None else read_seed(seed))

    @property
    def words(self) -> str:
        """What the last training rows added, and what the score is, in sentences."""
        table = self.in_pandas.tidy()
        last = table.iloc[-1]
        rows, held_out = f"{last['rows']:,.0f} training rows", f"{self.score_name} on held-out rows"
        if len(table) == 1:
            said = f"With {rows}, the mean {held_out} is {last['score']:.3f}."
            return f"{said} {self.score_words}".rstrip()
        before = table.iloc[-2]
        found = paired_difference(differences(self.scores[-1], self.scores[-2]), self.test_share)
        interval = (
            f" (95% interval {interval_text(found.low, found.high, '+.3f')}, paired by fold)"
            if np.isfinite(found.low)
            else ""
        )
        said = (
            f"From {before['rows']:,.0f} to {rows}, the mean {held_out} changed by"
            f" {signed(last['score'] - before['score'], '+.3f')}{interval}, to {last['score']:.3f}."
        )
        if np.isfinite([before["stability"], last["stability"]]).all():
            old, new = f"{before['stability']:.2f}", f"{last['stability']:.2f}"
            moved = f"stayed at {new}" if old == new else f"changed from {old} to {new}"
            are_halves = self.scores.shape[1] == 2 and len(self.apart) == 1
            shared = "; larger training sets share more rows, which in itself raises the index"
            shared = "" if are_halves else shared
            said += f" The stability index of the selected sets {moved}{shared}."
        return f"{said} {self.score_words}".rstrip()

    def __repr__(self) -> str:
        return f"<LearningCurve, {len(self.shares)} shares, {self.scores.shape[1]} folds>"


def learn(
    result: Fit,
    shares: Sequence[float],
    folds: int | Splitter | Sequence[int],
    *,
    seed: int,
    workers: Workers,
    **given: Any,
) -> LearningCurve:
    """See :meth:`SearchView.learning_curve`; other arguments are those of `outer_folds`."""
    parts = numbers_in(shares, lambda share: 0 < share <= 1)
    if not parts or parts != sorted(set(parts)):
        raise OptionError(
            "`shares` must be increasing numbers above 0 and at most 1, such as `[0.25, 0.5, 1]`.\n"
            f"  Found: {described(shares)}."
        )
    family = result.design.response.family
    if is_lost(family):
        raise OptionError(
            f"The score of the fit, {quoted(family.score_name)}, is a function, which a model file"
            " does not hold: a loaded model has no learning curve by it.\n"
            "  Use the fit before it is saved, or select with the name of a scorer, which a model"
            " file holds."
        )
    outer = outer_folds(result, folds, seed=stream_seed(seed, "learning"), **given)
    nested, groups = nested_selection(result, outer), outer.here.arrays.groups
    n_folds = len(outer.splits)
    places = [(share, number) for share in parts for number in range(n_folds)]
    seeds = [stream_seed(seed, "learning", number) for number in range(n_folds)]
    splits = [
        _part(nested.asked.problem, outer.weights, outer.splits[number], share, seeds[number])
        for share, number in places
    ]
    calls = [
        (nested, split, seeds[number], f"{number + 1} of {n_folds}, with {share:g} of its rows")
        for split, (share, number) in zip(splits, places, strict=True)
    ]
    found = run_all(one_fold, calls, workers, "Fits", result.progress)
    shape = len(parts), n_folds
    selected = np.zeros((len(splits), len(groups.names)), dtype=bool)
    for row, fold in zip(selected, found, strict=True):
        row[fold.units] = True
    return LearningCurve(
        shares=tuple(parts),
        n_train=outer.n_used(splits)[0].reshape(shape),
        test_share=outer.test_share,
        scores=np.array([fold.score for fold in found]).reshape(shape),
        selected=selected.reshape(*shape, -1),
        assessed=outer.here.free,
        repeats=mean_repeats(outer.splits),
        ratio=test_share(*outer.n_used(outer.splits, every=True)),
        apart=_apart(outer.splits),
        **outer.scored(result, seed),
    )


def _apart(splits: Sequence[Split]) -> IntArray:
    """Successive splits, two by two, whose training sets share no rows."""
    pairs = [(i, i + 1) for i in range(0, len(splits) - 1, 2)]
    found = [(i, j) for i, j in pairs if not np.isin(splits[i].train, splits[j].train).any()]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _part(problem: Problem, weights: RowWeights, split: Split, share: float, seed: int) -> Split:
    """A split with a share of its training rows; smaller shares are subsets of larger ones."""
    if share == 1:
        return split
    rows, _ = part_rows(problem, split.weights(weights)[0], share, seed)
    if len(rows) < 2 or not varies(problem, rows):
        raise OptionError(
            "`shares` must leave at least two training rows, between which the response varies.\n"
            f"  Found: {len(rows)}, with {share:g} of {len(split.train):,}. Use larger shares."
        )
    return dataclasses.replace(split, train=rows)


# --- how many rows would make a selection stable -------------------------------------------------

_DRAWS = 500
_LEAST_PAIRS = 5
_LEAST_SHARES = 3
_POWERS = np.linspace(0.0, 3.0, 151)
"""Powers of the number of rows that are tried."""

REACH = 4
"""Times the largest training set up to which the curve is extrapolated."""


@dataclass(frozen=True, eq=False)
class RowsNeeded(Summarised, InLibrary):
    """Number of rows at which a selection would reach a stability index.

    Returned by :meth:`treeselect.resampling.learning.LearningCurve.rows_needed`.

    Attributes
    ----------
    limit : int
        Largest number of rows to which the curve is extrapolated.
    power, power_low, power_high : float
        Power of the number of rows with which instability falls, with its interval.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated").head(400)
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=3, seed=1)
    >>> curve = fit.search.learning_curve((0.25, 0.5, 1), folds=2, repeats=5)
    >>> list(curve.rows_needed(0.75).tidy().columns)
    ['index', 'rows', 'low', 'high']
    """

    index: tuple[float, ...]
    rows: FloatArray
    low: FloatArray
    high: FloatArray
    limit: int
    n_train: FloatArray  # (n_shares,)
    stability: FloatArray  # (n_shares,); the index between training sets that share no rows
    fitted: FloatArray  # (n_shares,); the fitted curve
    power: float
    power_low: float
    power_high: float
    n_pairs: int
    seed: int
    call: str

    def tidy(self) -> Any:
        """One row per index that is asked for.

        Returns
        -------
        frame, in the library of the data
            ``index``, ``rows``, ``low`` and ``high`` (95%); not below the smallest training set,
            and infinite beyond four times the largest, where the curve supports no number.
        """
        names = ("index", "rows", "low", "high")
        table = pd.DataFrame({name: np.asarray(getattr(self, name)) for name in names})
        return self._frame(table)

    @property
    def words(self) -> str:
        """The answer in a sentence for each index."""
        return " ".join(self._sentence(i) for i in range(len(self.index)))

    def _sentence(self, i: int) -> str:
        target, most = f"A stability index of {self.index[i]:.2f}", f"{self.limit:,}"
        if not np.isfinite(self.low[i]):
            return f"{target} is not in sight: it needs more than {most} rows, if rows help at all."
        high = f"{self.high[i]:,.0f}" if np.isfinite(self.high[i]) else f"more than {most}"
        if not np.isfinite(self.rows[i]):
            return (
                f"{target} needs more than {most} rows, beyond which the curve says nothing; at"
                f" least {self.low[i]:,.0f} (95%)."
            )
        low, few = f"{self.low[i]:,.0f}", self.n_train[0]
        if self.rows[i] <= few:
            return f"{target} is reached by the fewest rows tried, {few:,.0f} (95%: up to {high})."
        return f"{target} needs {self.rows[i]:,.0f} rows (95% interval {low} to {high})."

    def _content(self) -> SummaryContent:
        rows = [
            (f"{n:,.0f}", decimal_text(seen, 2), decimal_text(fitted, 2))
            for n, seen, fitted in zip(self.n_train, self.stability, self.fitted, strict=True)
        ]
        told = interval_text(self.power_low, self.power_high, ".2f")
        return SummaryContent(
            title="Rows needed for a stable selection",
            facts=(
                ("Call", self.call),
                ("Pairs", f"{self.n_pairs:,} pairs of training sets that share no rows"),
                *(("Rows needed", self._sentence(i)) for i in range(len(self.index))),
                ("Power", f"{self.power:.2f} (95% interval {told}); at 0 more rows do not help"),
                ("Seed", str(self.seed)),
            ),
            columns=("Training rows", "Stability index", "Fitted"),
            rows=tuple(rows),
            notes=(
                "Index: Nogueira's, between sets selected on training sets that share no rows. One"
                " less the index is a power of the number of rows, fitted by least squares; the"
                " intervals are those of bootstrap samples of as many pairs as could share no rows"
                " with each other, given that law.",
                f"Extrapolated to at most {REACH} times the largest training set. More rows of the"
                " same kind are meant, with the same candidate terms.",
            ),
        )

    def __repr__(self) -> str:
        return f"<RowsNeeded: {self.words}>"


def _rows_needed(curve: LearningCurve, index: float | Sequence[float], seed: int) -> RowsNeeded:
    """See :meth:`LearningCurve.rows_needed`."""
    asked = numbers_in(np.atleast_1d(np.asarray(index, dtype=object)), lambda own: 0 < own < 1)
    if not asked:
        raise OptionError(
            "`index` must be one or several numbers above 0 and below 1.\n"
            f"  Found: {described(index)}."
        )
    n_shares, n_pairs = len(curve.shares), len(curve.apart)
    if n_shares < _LEAST_SHARES or n_pairs < _LEAST_PAIRS:
        raise OptionError(
            f"`rows_needed()` needs at least {_LEAST_SHARES} shares, and {_LEAST_PAIRS} pairs of"
            f" training sets that share no rows.\n  Found: {n_shares} and {n_pairs}. Use"
            " `learning_curve((0.25, 0.5, 1), folds=2, repeats=10)`."
        )
    n_train = curve.n_train[:, curve.apart.ravel()].mean(axis=1).astype(np.float64)
    sets = curve.selected[:, curve.apart][..., curve.assessed].astype(np.float64)
    unlike = ((sets[:, :, 0] - sets[:, :, 1]) ** 2 / 2).mean(axis=2)  # (n_shares, n_pairs)
    share = sets.mean(axis=(2, 3))
    targets, rng = np.array(asked), np.random.default_rng(seed)
    # Two pairs share this part of their rows: these are worth so many pairs that share none.
    overlap = 2 * np.array(curve.shares) / (1 + curve.ratio)
    worth = 1 / (overlap + (1 - overlap) / n_pairs)
    draws = rng.integers(n_pairs, size=(_DRAWS, n_pairs))
    off = np.empty((1 + _DRAWS, n_shares))
    for i, n in enumerate(np.maximum(worth.round().astype(np.int64), 1)):
        off[0, i] = _instability(unlike[i], share[i])
        off[1:, i] = _instability(unlike[i, draws[:, :n]], share[i, draws[:, :n]])
    scale, power = _laws(n_train, off, worth)
    with np.errstate(all="ignore"):
        needed = (scale[:, np.newaxis] / (1 - targets)) ** (1 / power[:, np.newaxis])
    limit = int(REACH * n_train[-1])
    needed[~(needed <= limit)] = np.inf
    needed = np.where(scale[:, np.newaxis] == 0, n_train[0], np.maximum(needed, n_train[0]))
    low, high = np.quantile(needed[1:], [0.025, 0.975], axis=0, method="inverted_cdf")
    ends = np.quantile(power[1:], [0.025, 0.975])
    return RowsNeeded(
        index=tuple(asked),
        rows=needed[0],
        low=low,
        high=high,
        limit=limit,
        n_train=n_train,
        stability=1 - off[0],
        fitted=1 - scale[0] * n_train ** -power[0],
        power=float(power[0]),
        power_low=float(ends[0]),
        power_high=float(ends[1]),
        n_pairs=n_pairs,
        seed=seed,
        call=f"{curve.call}.rows_needed({described(index)}, seed={seed})",
        library=curve.library,
    )


def _instability(unlike: FloatArray, share: FloatArray) -> FloatArray:
    """One less Nogueira's index of the pairs in the last axis, from the variance of their
    selections and the share that they select; 0 if all select all or nothing."""
    q = share.mean(axis=-1)
    spread = np.maximum(q * (1 - q), 1e-9)
    return np.asarray(unlike.mean(axis=-1) / spread)


def _laws(n: FloatArray, off: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least squares of ``scale * n ** -power`` for each row of `off`, shape (n_draws, n_shares)."""
    basis = n ** -_POWERS[:, np.newaxis]
    scale = np.maximum((off * weight) @ basis.T / (basis**2 @ weight), 0.0)
    errors = (off[:, np.newaxis] - scale[..., np.newaxis] * basis) ** 2 @ weight
    best: IntArray = errors.argmin(axis=1)
    return scale[np.arange(len(off)), best], _POWERS[best]
