"""The learning curve: score and stability by the number of rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import described, numbers_in
from treeselect.designs.problem import Problem
from treeselect.designs.scoring import is_lost
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, quoted
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.cross_validation import differences, paired_difference, standard_error
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Split, Splitter, mean_repeats, part_rows
from treeselect.resampling.outer_folds import nested_selection, one_fold, outer_folds
from treeselect.resampling.records import Scored
from treeselect.running.parallel import Workers, run_all


@dataclass(frozen=True)
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

    def tidy(self) -> Any:
        """One row per share of the training rows.

        Returns
        -------
        frame, in the library of the data
            ``share``; ``rows``, mean number over the folds; ``score``, mean on the held-out rows;
            ``standard_error``; ``k``, mean number of selected units; ``stability``, Nogueira's
            index over the folds, with its 95% Monte Carlo interval ``stability_low`` and
            ``stability_high``. With one fold the standard error and the index are missing; so is
            the index if every fold selects all units or none.
        """
        measures = np.full((len(self.shares), 4), np.nan)
        if self.scores.shape[1] > 1:
            for row, scores, sets in zip(measures, self.scores, self.selected, strict=True):
                agreement, interval = stability_index(sets[:, self.assessed])
                row[:] = standard_error(scores, self.repeats), agreement, *interval
        error, index, low, high = measures.T
        table = pd.DataFrame(
            {
                "share": self.shares,
                "rows": self.n_train.mean(axis=1),
                "score": self.scores.mean(axis=1),
                "standard_error": error,
                "k": self.selected.sum(axis=2).mean(axis=1),
                "stability": index,
                "stability_low": low,
                "stability_high": high,
            }
        )
        return self._frame(table)

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
            f" (95% interval {found.low:+.3f} to {found.high:+.3f}, paired by fold)"
            if np.isfinite(found.low)
            else ""
        )
        said = (
            f"From {before['rows']:,.0f} to {rows}, the mean {held_out} changed by"
            f" {last['score'] - before['score']:+.3f}{interval}, to {last['score']:.3f}."
        )
        if np.isfinite([before["stability"], last["stability"]]).all():
            old, new = f"{before['stability']:.2f}", f"{last['stability']:.2f}"
            moved = f"stayed at {new}" if old == new else f"changed from {old} to {new}"
            said += (
                f" The stability index of the selected sets {moved}; larger training sets share"
                " more rows, which in itself raises the index."
            )
        return f"{said} {self.score_words}".rstrip()

    def __repr__(self) -> str:
        return f"<LearningCurve, {len(self.shares)} shares, {self.scores.shape[1]} folds>"


def learn(
    result: Fit,
    shares: Sequence[float],
    folds: int | Splitter | Sequence[int],
    *,
    inner_folds: int | Splitter | Sequence[int] | None,
    seed: int,
    workers: Workers,
    **given: Any,
) -> LearningCurve:
    """See :meth:`SelectionResult.learning_curve`; other arguments are those of `outer_folds`."""
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
    outer = outer_folds(result, folds, scoring=None, seed=stream_seed(seed, "learning"), **given)
    nested, groups = nested_selection(result, outer, inner_folds), outer.here.arrays.groups
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
        **outer.scored(result, seed),
    )


def _part(problem: Problem, weights: RowWeights, split: Split, share: float, seed: int) -> Split:
    """A split with a share of its training rows; smaller shares are subsets of larger ones."""
    if share == 1:
        return split
    rows, _ = part_rows(problem, split.weights(weights)[0], share, seed)
    if len(rows) < 2:
        raise OptionError(
            f"`shares` must leave at least two training rows.\n  Found: {len(rows)}, with"
            f" {share:g} of {len(split.train):,}."
        )
    return dataclasses.replace(split, train=rows)
