"""The whole selection on parts of the training rows, scored on the same held-out rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import members
from treeselect.arguments.scalars import described, finite
from treeselect.designs.problem import Problem
from treeselect.designs.scoring import is_lost
from treeselect.designs.weights import RowWeights
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError, quoted
from treeselect.frames.reading import read_data
from treeselect.resampling.folds import Split, Splitter, mean_repeats
from treeselect.resampling.halves import part_rows
from treeselect.resampling.learning_curve import LearningCurve
from treeselect.resampling.outer_folds import (
    inner_choice,
    inside_weights,
    one_fold,
    outer_folds,
)
from treeselect.running.parallel import Workers, run_all

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


def learn(
    result: Fit,
    shares: Sequence[float],
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    fold_groups: str | Sequence[Any] | None,
    inner_folds: int | Splitter | Sequence[int] | None,
    seed: int,
    workers: Workers,
    data: Any,
    weights: Sequence[float] | None,
    offset: Sequence[float] | None,
) -> LearningCurve:
    """See :meth:`SelectionResult.learning_curve`."""
    parts = _read_shares(shares)
    here = result.design.again(data, weights, offset)
    family = here.response.family
    if is_lost(family):
        raise OptionError(
            f"The score of the fit, {quoted(family.score_name)}, is a function, which a model file"
            " does not hold: a loaded model has no learning curve by it.\n"
            "  Use the fit before it is saved, or select with the name of a scorer, which a model"
            " file holds."
        )
    frame = here.all_rows() if data is None else read_data(data)
    outer = outer_folds(
        result, here, frame, folds, repeats=repeats, fold_groups=fold_groups, scoring=None,
        data=data, seed=stream_seed(seed, "learning"),
    )  # fmt: skip
    choice = inner_choice(result.choice, here, frame, inner_folds)
    inside = inside_weights(result, here, outer, data)
    problem = dataclasses.replace(here.problem_for(result.chosen_method), wants_scores=False)
    splits = [
        _part(problem, outer.weights, split, share, stream_seed(seed, "learning", number))
        for share in parts
        for number, split in enumerate(outer.splits)
    ]
    n_folds = len(outer.splits)
    calls = [
        (
            problem,
            result.chosen_method,
            inside,
            split,
            choice,
            outer.family,
            stream_seed(seed, "learning", number % n_folds),
            f"{number % n_folds + 1} of {n_folds}, with {parts[number // n_folds]:g} of its rows",
        )
        for number, split in enumerate(splits)
    ]
    found = run_all(one_fold, calls, workers, "Fits", result.progress)
    shape = len(parts), n_folds
    selected = np.zeros((len(splits), len(here.arrays.groups.names)), dtype=bool)
    for own, fold in zip(selected, found, strict=True):
        own[fold.units] = True
    used = here.row_weights.used
    return LearningCurve(
        shares=parts,
        n_train=np.array([used[s.train].sum() for s in splits], dtype=np.int64).reshape(shape),
        test_share=outer.test_share,
        scores=np.array([fold.score for fold in found]).reshape(shape),
        selected=selected.reshape(*shape, -1),
        assessed=~here.arrays.groups.keep,
        repeats=mean_repeats(outer.splits),
        score_name=outer.family.score_name,
        score_words=outer.family.score_words,
        scheme=outer.folds.words(n_folds),
        call=result.call.text,
        seed=seed,
        library=result.design.library,
    )


def _part(problem: Problem, weights: RowWeights, split: Split, share: float, seed: int) -> Split:
    """A split with a share of its training rows: of each class, in whole clusters. Smaller shares
    are subsets of larger ones."""
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
    found = [finite(share) for share in members(shares) or ()]
    numbers = [share for share in found if share is not None and 0 < share <= 1]
    if not numbers or len(numbers) < len(found) or numbers != sorted(set(numbers)):
        raise OptionError(
            "`shares` must be increasing numbers above 0 and at most 1, such as `[0.25, 0.5, 1]`.\n"
            f"  Found: {described(shares)}."
        )
    return tuple(numbers)
