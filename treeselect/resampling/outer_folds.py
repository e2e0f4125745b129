"""Outer folds around a whole selection."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treeselect.arguments.checks import SCORE_RULES
from treeselect.designs.families import Family
from treeselect.designs.modeldata import ModelData
from treeselect.designs.scoring import Scoring, check_scoring, is_lost, with_scoring
from treeselect.designs.weights import RowWeights, check_order
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import MethodError, OptionError, quoted
from treeselect.resampling.choosing import Procedure, run_selection
from treeselect.resampling.cross_validation import sampling_error, score_predictions, test_share
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import (
    Folds,
    Split,
    Splitter,
    in_own_groups,
    read_folds,
    split_rows,
)
from treeselect.resampling.held_out import survival_at
from treeselect.running.parallel import Workers


@dataclass(frozen=True, slots=True)
class OuterFolds:
    """How rows are held out around a whole selection."""

    here: ModelData  # the rows, those of the fit
    folds: Folds  # as requested
    splits: tuple[Split, ...]
    weights: RowWeights  # case weights of the rows, with the clusters of the folds
    family: Family  # with the score on held-out rows

    def told(self, result: Fit, seed: int) -> dict[str, Any]:
        """What all results on these folds say of where they come from."""
        return {
            "scheme": self.folds.words(len(self.splits)), "call": result.call.text,
            "is_chosen": result.is_chosen, "seed": seed, "library": result.design.library,
        }  # fmt: skip

    def scored(self, result: Fit, seed: int) -> dict[str, Any]:
        """The same of results with scores."""
        score = {"score_name": self.family.score_name, "score_words": self.family.score_words}
        return self.told(result, seed) | score

    def n_used(self, splits: Sequence[Split], *, every: bool = False) -> tuple[IntArray, IntArray]:
        """Numbers of training and held-out rows of each split that are used, or of `every` row."""
        copies = self.weights.copies
        counted = copies if every else copies * self.here.problem.in_training
        sizes = [(counted[split.train].sum(), copies[split.test].sum()) for split in splits]
        train, test = np.array(sizes, dtype=np.int64).T
        return train, test

    @property
    def test_share(self) -> float:
        """Ratio of held-out to training rows, mean over the folds."""
        return test_share(*self.n_used(self.splits))


def outer_folds(
    result: Fit,
    folds: int | Splitter | Sequence[int] | Folds,
    *,
    repeats: int,
    seed: int,
    scoring: Scoring = None,
    fold_groups: str | Sequence[Any] | None = None,
) -> OuterFolds:
    """Split the rows of a fit according to `folds`, of which ``Folds(None)`` has none, with the
    fit's clusters or others; the score may be a function that is not here."""
    here = result.design
    check_order(result.given, folds=folds)
    in_groups, grouped = result.in_groups(fold_groups)
    asked, weights = folds, in_groups.row_weights
    if not isinstance(asked, Folds):
        asked = read_folds(asked, repeats, None, here.rows.total).for_rows(here.response.rows)
    asked = dataclasses.replace(asked, groups_name=grouped.groups_name, choose=False)
    family = with_scoring(here.response.family, scoring, here.response.follow_up)
    check_scoring(family, here.response.y, here.weight)
    problem = dataclasses.replace(here.problem, family=family, wants_scores=False)
    splits = () if asked.folds is None else split_rows(problem, weights, asked, seed)
    return OuterFolds(here, asked, splits, weights, family)


def check_known(family: Family) -> None:
    """Raise an OptionError if the held-out score is a function that is not here."""
    if is_lost(family):
        raise OptionError(
            f"`scoring` must be given: that of the fit, {quoted(family.score_name)}, is a function,"
            " which a model file does not hold."
        )


# --- the selection in a fold ---------------------------------------------------------------------


class Nested(NamedTuple):
    """The selection that is repeated in each fold."""

    asked: Procedure  # with the score that chooses k, and the clusters of the selection inside
    family: Family  # with the score on held-out rows
    clusters: IntArray | None  # of the outer folds
    horizon: float | None = None  # at which survival is predicted


def nested_selection(result: Fit, outer: OuterFolds) -> Nested:
    """The selection of a fit as it is repeated in outer folds: with its choice of k, and its
    clusters."""
    here, choice, method = outer.here, result.choice, result.chosen_method
    inside = in_own_groups(here, choice.folds, result.source).row_weights
    if inside.groups is None and choice.folds.groups_name is not False:
        inside = outer.weights  # a model file does not hold the clusters of the fit
    check_known(outer.family)
    family = outer.family if is_lost(here.response.family) else here.response.family
    problem = dataclasses.replace(here.problem_for(method), family=family, wants_scores=False)
    return Nested(Procedure(problem, method, inside, choice), outer.family, outer.weights.groups)


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
    asked, family, clusters, horizon = nested
    problem = asked.problem
    train, test = split.weights(asked.weights)
    try:
        own = asked._replace(weights=train)
        found, model = run_selection(own, seed, Workers(1, n_threads), progress=False)
    except MethodError:  # not about the folds
        raise
    except OptionError as error:
        why = ", which are split again to choose `k`" if asked.choice.k in SCORE_RULES else ""
        raise OptionError(
            f"{error}\n  This was in the training rows of fold {where}{why}."
        ) from None
    predicted = model.predict(problem, n_threads)
    scored = dataclasses.replace(problem, family=family)
    score = score_predictions(scored, predicted, train, test)
    units = np.flatnonzero(found.step.selected)
    units = units[falling(model.importance[units])]
    drawn = stream_seed(seed, "held-out rows")
    s_e = sampling_error(scored, predicted, train, test.in_groups(clusters), drawn)
    event = None if horizon is None else 1 - survival_at(problem, train.values, predicted, horizon)
    rows = test.rows
    return Fold(score, units, predicted[rows], s_e, None if event is None else event[rows])
