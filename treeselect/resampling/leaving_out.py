"""Forests with and without each of some units, scored on held-out rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import found_near, read_names
from treeselect.arguments.scalars import whole
from treeselect.designs.labels import shown_names
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.designs.scoring import Scoring
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError, listing
from treeselect.frames.reading import read_data
from treeselect.models.forest import refit_forest
from treeselect.resampling.conditional import ConditionalImportance
from treeselect.resampling.cross_validation import held_out_score
from treeselect.resampling.folds import Split, Splitter
from treeselect.resampling.outer_folds import outer_folds
from treeselect.running.parallel import Workers, run_all

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


_REPEATS = 5
"""Default number of repeats of the folds."""


def leave_out(
    result: Fit,
    folds: int | Splitter | Sequence[int],
    *,
    terms: str | Sequence[str] | None,
    repeats: int | None,
    fold_groups: str | Sequence[Any] | None,
    scoring: Scoring,
    seed: int,
    workers: Workers,
    data: Any,
    weights: Sequence[float] | None,
    offset: Sequence[float] | None,
) -> ConditionalImportance:
    """See :meth:`SelectionResult.conditional_importance`."""
    here = result.design.again(data, weights, offset)
    frame = here.all_rows() if data is None else read_data(data)
    units = _units(result, here, terms)
    usual = 1 if whole(folds) is None else _REPEATS
    outer = outer_folds(
        result, here, frame, folds, repeats=usual if repeats is None else repeats,
        fold_groups=fold_groups, scoring=scoring, data=data,
        seed=stream_seed(seed, "conditional"),
    )  # fmt: skip
    problem = dataclasses.replace(here.problem, family=outer.family, wants_scores=False)
    own = result.step.selected
    sets = [own, *(own ^ (np.arange(len(own)) == unit) for unit in units)]
    calls = [
        (problem, outer.weights, split, sets, stream_seed(seed, "conditional", number))
        for number, split in enumerate(outer.splits)
    ]
    scores = np.array(run_all(_scores, calls, workers, "Folds", result.progress))
    lost = (scores[:, :1] - scores[:, 1:]).mean(axis=0) * np.where(own[units], 1, -1)
    order = falling(lost)
    names = here.arrays.groups.names
    return ConditionalImportance(
        units=tuple(names[units[i]] for i in order),
        selected=own[units][order],
        score=scores[:, 0],
        others=scores[:, 1:][:, order],
        test_share=outer.test_share,
        score_name=outer.family.score_name,
        score_words=outer.family.score_words,
        scheme=outer.folds.words(len(outer.splits)),
        call=result.call.text,
        seed=seed,
        library=result.design.library,
        labels=shown_names(result.design),
    )


def _units(result: Fit, here: ModelData, terms: str | Sequence[str] | None) -> list[int]:
    """The named units, by their names or those of their terms; by default the selected units."""
    known = here.arrays.groups
    if terms is None:
        if not result.step.selected.any():
            raise OptionError(
                "`terms` must be given because nothing is selected: each of them is then added.\n"
                f"  Known: {listing(known.names)}."
            )
        return np.flatnonzero(result.step.selected).tolist()
    unit_of = known.unit_of | {name: unit for unit, name in enumerate(known.names)}
    found = []
    for term in read_names("terms", terms):
        if term not in unit_of:
            raise OptionError(
                "`terms` must be terms of the formula, or groups of them.\n"
                f"{found_near(term, list(unit_of), f'Known: {listing(known.names)}.')}"
            )
        found.append(unit_of[term])
    if not found:
        raise OptionError("`terms` must name at least one term, or be omitted.\n  Found: none.")
    return list(dict.fromkeys(found))


def _scores(
    problem: Problem,
    weights: RowWeights,
    split: Split,
    sets: Sequence[BoolArray],
    seed: int,
    *,
    n_threads: int = 1,
) -> FloatArray:
    """Held-out score of a forest on each set, grown on the training rows."""
    train, test = split.weights(weights)
    models = (refit_forest(problem, train, one, seed=seed, n_threads=n_threads) for one in sets)
    return np.array([held_out_score(problem, model, train, test, n_threads) for model in models])
