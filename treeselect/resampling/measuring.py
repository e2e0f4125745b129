"""Nested cross-validation: the whole selection in each fold, scored on the held-out rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import AUTO
from treeselect.designs.data_fingerprint import data_fingerprint
from treeselect.designs.families import Family
from treeselect.designs.labels import shown_names
from treeselect.designs.scoring import Scoring
from treeselect.engine.arrays import IntArray
from treeselect.engine.random import stream_seed
from treeselect.frames.reading import read_data
from treeselect.resampling.choosing import Choice
from treeselect.resampling.folds import Splitter, mean_repeats
from treeselect.resampling.held_out import gather_held_out
from treeselect.resampling.outer_folds import (
    Fold,
    families,
    inner_choice,
    inside_weights,
    one_fold,
    outer_folds,
)
from treeselect.resampling.performance import Performance
from treeselect.resampling.saved import number_read, some, table_read, table_said, units_read
from treeselect.resampling.score_interval import n_cases
from treeselect.running.pieces import Course, Kind, run_pieces

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


def measure(
    result: Fit,
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    fold_groups: str | Sequence[Any] | None,
    inner_folds: int | Splitter | Sequence[int] | None,
    scoring: Scoring,
    seed: int,
    course: Course,
    data: Any,
    weights: Sequence[float] | None,
    offset: Sequence[float] | None,
) -> Performance:
    """Repeat the whole selection in folds; see :meth:`SelectionResult.performance`."""
    here = result.design.again(data, weights, offset)
    frame = here.all_rows() if data is None else read_data(data)
    outer = outer_folds(
        result, here, frame, folds, repeats=repeats, fold_groups=fold_groups, scoring=scoring,
        data=data, seed=stream_seed(seed, "performance"),
    )  # fmt: skip
    splits, outside = outer.splits, outer.family
    choice = inner_choice(result.choice, here, frame, inner_folds)
    inside = inside_weights(result, here, outer, data)
    family_inside, _ = families(here.response, scoring)
    problem = dataclasses.replace(
        here.problem_for(result.chosen_method), family=family_inside, wants_scores=False
    )
    calls = [
        (
            problem,
            result.chosen_method,
            inside,
            split,
            choice,
            outside,
            stream_seed(seed, "performance", number),
            f"{number + 1} of {len(splits)}",
        )
        for number, split in enumerate(splits)
    ]
    names = here.arrays.groups.names
    tests = [split.weights(inside)[1].rows for split in splits]
    by_fold = run_pieces(one_fold, calls, _kind_of(names, tests, outside.n_classes), course)
    found = list(by_fold.values())
    asked, splits = len(splits), tuple(splits[number] for number in by_fold)
    used = here.row_weights.used
    return Performance(
        scores=np.array([fold.score for fold in found]),
        errors=np.array([fold.error for fold in found]),
        n_cases=n_cases(here.response, here.row_weights),
        selected=tuple(here.terms_of([names[g] for g in fold.units]) for fold in found),
        k=np.array([len(fold.units) for fold in found], dtype=np.int64),
        n_train=np.array([used[s.train].sum() for s in splits], dtype=np.int64),
        n_test=np.array([used[s.test].sum() for s in splits], dtype=np.int64),
        repeats=mean_repeats(splits),
        score_name=outside.score_name,
        score_words=outside.score_words,
        score_bounds=outside.score_bounds,
        family=result.family,
        method=result.method,
        scheme=outer.folds.words(asked),
        rule=_rule(choice, family_inside, result),
        call=result.call.text,
        k_of_fit=result.k,
        fingerprint=data_fingerprint(here),
        path_score=(
            float(result.scores.mean[result.k])
            if result.scores is not None and scoring is None
            else float("nan")
        ),
        seed=seed,
        held_out=gather_held_out(
            here,
            here.response.family,
            [tests[number] for number in by_fold],
            [fold.predicted for fold in found],
            list(by_fold),
            grouped=outer.weights.blocks is not None,
        ),
        library=result.design.library,
        asked=asked if len(splits) < asked else None,
        labels=shown_names(result.design),
    )


def _kind_of(names: Sequence[str], tests: Sequence[IntArray], n_classes: int) -> Kind:
    """How folds are written to and read from files: score, selected units and predictions."""
    n_columns = n_classes if n_classes > 2 else 1

    def read(number: int, said: Any) -> Fold:
        score, units, predicted, error = said
        table = table_read(predicted, (len(tests[number]), n_columns))
        if np.isnan(table).any():
            raise ValueError("predictions that are missing")
        values = table if n_classes > 2 else table[:, 0]
        units = units_read(units, len(names))
        known = float("nan") if error is None else number_read(error)
        return Fold(number_read(score), units, values, known)

    def write(found: Fold) -> Any:
        table = found.predicted.reshape(len(found.predicted), n_columns)
        error = None if np.isnan(found.error) else found.error
        return [found.score, found.units.tolist(), table_said(table), error]

    return Kind(
        name="fold",
        many="folds",
        label="Folds",
        write=write,
        read=read,
        found=lambda _, found: {
            "score": float(found.score),
            "selected": tuple(names[g] for g in found.units),
        },
        part=some,
    )


def _rule(choice: Choice, family: Family, result: Fit) -> str:
    if choice.k is None:
        return f"{result.chosen_method.tuning_words}, as in the fit"
    if isinstance(choice.k, int):
        return f"fixed at {choice.k}, as in the fit"
    if choice.k == AUTO:
        return "smallest sufficient set of each training set"
    name = "1 s.e. rule on" if choice.k == "1se" else "best"
    if result.scores is not None and result.scores.spared is not None:
        # A training set may be too short for that, and is then cross-validated.
        return f"{name} {family.score_name}, held-out rows within each training set"
    folds = choice.folds
    count = folds.folds if isinstance(folds.folds, int) else None
    done = "the fit's folds" if count is None else folds.words(count)
    return f"{name} {family.score_name}, {done} within each training set"
