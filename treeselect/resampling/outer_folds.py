"""Outer folds around a whole selection: how rows are held out, and the selection in a fold."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treeselect.algorithms.method import Method
from treeselect.designs.families import Family
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.designs.response import Response
from treeselect.designs.scoring import Scoring, check_scoring, is_lost, with_scoring
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import MethodError, OptionError, quoted
from treeselect.resampling.choosing import Choice, run_selection
from treeselect.resampling.cross_validation import sampling_error, score_predictions, test_share
from treeselect.resampling.folds import (
    Folds,
    Split,
    Splitter,
    in_own_groups,
    read_folds,
    split_rows,
    with_groups,
)
from treeselect.running.parallel import Workers

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


class OuterFolds(NamedTuple):
    """How rows are held out."""

    folds: Folds  # the folds as requested
    splits: tuple[Split, ...]
    weights: RowWeights  # case weights of the rows, with the clusters of the folds
    family: Family  # family with the score on held-out rows

    @property
    def test_share(self) -> float:
        """Ratio of held-out to training rows, mean over the folds."""
        used = self.weights.used
        sizes = np.array([(used[s.train].sum(), used[s.test].sum()) for s in self.splits])
        return test_share(*sizes.T)


def outer_folds(
    result: Fit,
    here: ModelData,
    frame: Sized,
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    fold_groups: str | Sequence[Any] | None,
    scoring: Scoring,
    data: Any,
    seed: int,
) -> OuterFolds:
    """Split the rows of a fit according to `folds`, with the fit's clusters or others."""
    in_groups, grouped = with_groups(here, result.choice.folds, fold_groups, data)
    asked = dataclasses.replace(
        read_folds(folds, repeats, None, len(frame)).for_rows(here.response.rows),
        groups_name=grouped.groups_name,
        choose=False,
    )
    _, family = families(here.response, scoring)
    check_scoring(family, here.response.y, here.weight)
    problem = dataclasses.replace(here.problem, family=family, wants_scores=False)
    splits = split_rows(problem, in_groups.row_weights, asked, seed)
    return OuterFolds(asked, splits, in_groups.row_weights, family)


class Fold(NamedTuple):
    """The selection on the training rows of a fold."""

    score: float  # on the held-out rows
    units: IntArray  # selected units, most important first
    # (n_test,), or (n_test, n_classes); predictions of the held-out rows with a weight, in order,
    # on the scale of the response
    predicted: FloatArray
    # Standard error of the score: see ``treeselect.resampling.cross_validation.sampling_error``
    error: float


def one_fold(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    split: Split,
    choice: Choice,
    family: Family,
    seed: int,
    where: str,
    *,
    n_threads: int = 1,
) -> Fold:
    """The whole selection on the training rows, and its predictions of the held-out rows."""
    train, test = split.weights(weights)
    try:
        found = run_selection(
            problem, method, train, choice, seed=seed, workers=Workers(1, n_threads), progress=False
        )
    except MethodError:  # not about the folds
        raise
    except OptionError as error:
        raise OptionError(
            f"{error}\n  This was in the training rows of fold {where}, which are split again to"
            " choose `k`; `inner_folds` sets how."
        ) from None
    predicted = found.model.predict(problem, n_threads)
    score = score_predictions(dataclasses.replace(problem, family=family), predicted, train, test)
    units = np.flatnonzero(found.step.selected)
    units = units[falling(found.model.importance[units])]
    drawn = stream_seed(seed, "held-out rows")
    s_e = sampling_error(family, problem.y, predicted, train, test, drawn)
    return Fold(score, units, predicted[test.rows], s_e)


def inner_choice(
    of_fit: Choice,
    here: ModelData,
    frame: Sized,
    inner_folds: int | Splitter | Sequence[int] | None,
) -> Choice:
    """The fit's choice of k, with other folds if they are given."""
    asked = (
        None if inner_folds is None else read_folds(inner_folds, 1, None, len(frame), "inner_folds")
    )
    if asked is None or not isinstance(of_fit.k, str):
        return of_fit
    own = asked.for_rows(here.response.rows)
    return dataclasses.replace(
        of_fit, folds=dataclasses.replace(of_fit.folds, folds=own.folds, repeats=1)
    )


def families(response: Response, scoring: Scoring) -> tuple[Family, Family]:
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


def inside_weights(result: Fit, here: ModelData, outer: OuterFolds, data: Any) -> RowWeights:
    """Weights with the clusters of the selection inside a fold: those of the fit or, if a model
    file did not hold them, those of the outer folds."""
    inside = in_own_groups(here, result.choice.folds, data).row_weights
    are_lost = inside.groups is None and result.choice.folds.groups_name is not False
    return outer.weights if are_lost else inside
