"""Outer folds around a whole selection, and the learning curve by parts of their training rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from treeselect.arguments.checks import described, numbers_in
from treeselect.designs.families import Family
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.designs.response import Response
from treeselect.designs.scoring import Scoring, check_scoring, is_lost, with_scoring
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import MethodError, OptionError, quoted
from treeselect.frames.reading import read_data
from treeselect.frames.tables import in_library
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.choosing import Procedure, run_selection
from treeselect.resampling.cross_validation import (
    differences,
    paired_difference,
    sampling_error,
    score_predictions,
    standard_error,
    test_share,
)
from treeselect.resampling.folds import (
    Folds,
    Split,
    Splitter,
    in_own_groups,
    mean_repeats,
    part_rows,
    read_folds,
    split_rows,
)
from treeselect.resampling.held_out import survival_at
from treeselect.resampling.records import InLibrary
from treeselect.running.parallel import Workers, run_all

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class OuterFolds:
    """How rows are held out around a whole selection."""

    here: ModelData  # the rows, those of the fit
    data: Any  # as given, or None
    n_rows: int  # of all data
    folds: Folds  # as requested
    splits: tuple[Split, ...]
    weights: RowWeights  # case weights of the rows, with the clusters of the folds
    family: Family  # with the score on held-out rows

    def told(self, result: Fit, seed: int) -> dict[str, Any]:
        """What all results on these folds say of where they come from."""
        return {
            "scheme": self.folds.words(len(self.splits)),
            "call": result.call.text,
            "seed": seed,
            "library": result.design.library,
        }

    def n_used(self, splits: Sequence[Split]) -> tuple[IntArray, IntArray]:
        """Numbers of training and held-out rows of each split that are used."""
        used = self.weights.used
        sizes = [(used[split.train].sum(), used[split.test].sum()) for split in splits]
        train, test = np.array(sizes, dtype=np.int64).T
        return train, test

    @property
    def test_share(self) -> float:
        """Ratio of held-out to training rows, mean over the folds."""
        return test_share(*self.n_used(self.splits))


def outer_folds(
    result: Fit,
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    fold_groups: str | Sequence[Any] | None,
    scoring: Scoring,
    seed: int,
) -> OuterFolds:
    """Split the rows of a fit according to `folds`, with the fit's clusters or others."""
    here, data = result.design, result.source
    in_groups, grouped = result.in_groups(fold_groups)
    n_rows = len(here.all_rows() if data is None else read_data(data))
    asked = dataclasses.replace(
        read_folds(folds, repeats, None, n_rows).for_rows(here.response.rows),
        groups_name=grouped.groups_name,
        choose=False,
    )
    _, family = _families(here.response, scoring)
    check_scoring(family, here.response.y, here.weight)
    problem = dataclasses.replace(here.problem, family=family, wants_scores=False)
    splits = split_rows(problem, in_groups.row_weights, asked, seed)
    return OuterFolds(here, data, n_rows, asked, splits, in_groups.row_weights, family)


def _families(response: Response, scoring: Scoring) -> tuple[Family, Family]:
    """The family with the score that chooses k, and the family with the held-out score."""
    of_fit = response.family
    outside = with_scoring(of_fit, scoring, response.follow_up)
    if not is_lost(of_fit):
        return of_fit, outside
    if scoring is None:
        raise OptionError(
            f"`scoring` must be given: that of the fit, {quoted(of_fit.score_name)}, is a function,"
            " which a model file does not hold."
        )
    return outside, outside


# --- the selection in a fold ---------------------------------------------------------------------


class Nested(NamedTuple):
    """The selection that is repeated in each fold."""

    asked: Procedure  # with the score that chooses k, and the clusters of the selection inside
    family: Family  # with the score on held-out rows
    horizon: float | None = None  # at which survival is predicted


def nested_selection(
    result: Fit,
    outer: OuterFolds,
    inner_folds: int | Splitter | Sequence[int] | None,
    scoring: Scoring = None,
) -> Nested:
    """The selection of a fit as it is repeated in outer folds: with its choice of k, by
    `inner_folds` if they are given, and its clusters."""
    here, choice, method = outer.here, result.choice, result.chosen_method
    if inner_folds is not None:
        inner = read_folds(inner_folds, 1, None, outer.n_rows, "inner_folds")
        if isinstance(choice.k, str):
            numbers = inner.for_rows(here.response.rows).folds
            own = dataclasses.replace(choice.folds, folds=numbers, repeats=1)
            choice = dataclasses.replace(choice, folds=own)
    inside = in_own_groups(here, result.choice.folds, outer.data).row_weights
    if inside.groups is None and result.choice.folds.groups_name is not False:
        inside = outer.weights  # a model file does not hold the clusters of the fit
    family, _ = _families(here.response, scoring)
    problem = dataclasses.replace(here.problem_for(method), family=family, wants_scores=False)
    return Nested(Procedure(problem, method, inside, choice), outer.family)


class Fold(NamedTuple):
    """The selection on the training rows of a fold."""

    score: float  # on the held-out rows
    units: IntArray  # selected units, most important first
    # Predictions of the held-out rows with a weight, in order, on the scale of the response
    predicted: FloatArray  # (n_test,), or (n_test, n_classes)
    error: float  # standard error of the score: see `cross_validation.sampling_error`
    event: FloatArray | None = None  # (n_test,); probability of the event by the horizon


def one_fold(nested: Nested, split: Split, seed: int, where: str, *, n_threads: int = 1) -> Fold:
    """The whole selection on the training rows, and its predictions of the held-out rows."""
    asked, family, horizon = nested
    problem = asked.problem
    train, test = split.weights(asked.weights)
    try:
        own = asked._replace(weights=train)
        found, model = run_selection(own, seed, Workers(1, n_threads), progress=False)
    except MethodError:  # not about the folds
        raise
    except OptionError as error:
        raise OptionError(
            f"{error}\n  This was in the training rows of fold {where}, which are split again to"
            " choose `k`; `inner_folds` sets how."
        ) from None
    predicted = model.predict(problem, n_threads)
    score = score_predictions(dataclasses.replace(problem, family=family), predicted, train, test)
    units = np.flatnonzero(found.step.selected)
    units = units[falling(model.importance[units])]
    drawn = stream_seed(seed, "held-out rows")
    s_e = sampling_error(family, problem.y, predicted, train, test, drawn)
    event = None if horizon is None else 1 - survival_at(problem, train.values, predicted, horizon)
    rows = test.rows
    return Fold(score, units, predicted[rows], s_e, None if event is None else event[rows])


# --- the learning curve --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LearningCurve(InLibrary):
    """Scores on the same held-out rows, and selected sets, by the number of training rows.

    Attributes
    ----------
    shares : tuple of float
        Shares of the training rows of each fold, increasing.
    n_train : ndarray of int64, shape (n_shares, n_folds)
        Number of training rows used.
    test_share : float
        Ratio of held-out to training rows (all of them), mean over the folds.
    scores : ndarray of float, shape (n_shares, n_folds)
        On the held-out rows; greater is better.
    selected : ndarray of bool, shape (n_shares, n_folds, n_groups)
    assessed : ndarray of bool, shape (n_groups,)
        Units that are not forced in.
    repeats : float
        How often a row is held out, on average.
    score_name, scheme, call : str
    seed : int
    library : str
        Data frame library of the tables.
    score_words : str
        A sentence that explains the score; empty if its name suffices.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> curve = fit.search.learning_curve([0.5, 1.0], folds=2)
    >>> print(*curve.tidy().columns)
    share rows score standard_error k stability stability_low stability_high
    """

    shares: tuple[float, ...]
    n_train: IntArray
    test_share: float
    scores: FloatArray
    selected: BoolArray
    assessed: BoolArray
    repeats: float
    score_name: str
    scheme: str
    call: str
    seed: int
    library: str = "pandas"
    score_words: str = ""

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
        return in_library(table, self.library)

    @property
    def words(self) -> str:
        """What the last training rows added, and what the score is, in sentences."""
        return " ".join(filter(None, (self._gain_words(), self.score_words)))

    def _gain_words(self) -> str:
        table = self.in_pandas.tidy()
        last = table.iloc[-1]
        rows, held_out = f"{last['rows']:,.0f} training rows", f"{self.score_name} on held-out rows"
        if len(table) == 1:
            return f"With {rows}, the mean {held_out} is {last['score']:.3f}."
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
        return said

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
    parts = _read_shares(shares)
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
        shares=parts,
        n_train=outer.n_used(splits)[0].reshape(shape),
        test_share=outer.test_share,
        scores=np.array([fold.score for fold in found]).reshape(shape),
        selected=selected.reshape(*shape, -1),
        assessed=~groups.keep,
        repeats=mean_repeats(outer.splits),
        score_name=outer.family.score_name,
        score_words=outer.family.score_words,
        **outer.told(result, seed),
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


def _read_shares(shares: object) -> tuple[float, ...]:
    """The shares; an OptionError unless they are increasing."""
    numbers = numbers_in(shares, lambda share: 0 < share <= 1)
    if not numbers or numbers != sorted(set(numbers)):
        raise OptionError(
            "`shares` must be increasing numbers above 0 and at most 1, such as `[0.25, 0.5, 1]`.\n"
            f"  Found: {described(shares)}."
        )
    return tuple(numbers)
