"""The whole selection again in each fold, scored on the rows that are held out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.algorithms.shared.method import Method
from treeselect.designs.families import Family
from treeselect.designs.labels import shown_names
from treeselect.designs.scoring import Scoring
from treeselect.engine.random import stream_seed
from treeselect.frames.reading import read_data
from treeselect.resampling.choosing import Choice
from treeselect.resampling.folds import Splitter, mean_repeats
from treeselect.resampling.outer_folds import (
    families,
    inner_choice,
    inside_weights,
    one_fold,
    outer_folds,
)
from treeselect.resampling.performance import Performance
from treeselect.resampling.saved import number_read, some, units_read
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
    by_fold = run_pieces(one_fold, calls, _kind_of(names), course)
    found = list(by_fold.values())
    asked, splits = len(splits), tuple(splits[number] for number in by_fold)
    used = here.row_weights.used
    return Performance(
        scores=np.array([score for score, _ in found]),
        selected=tuple(here.terms_of([names[g] for g in units]) for _, units in found),
        k=np.array([len(units) for _, units in found], dtype=np.int64),
        n_train=np.array([used[s.train].sum() for s in splits], dtype=np.int64),
        n_test=np.array([used[s.test].sum() for s in splits], dtype=np.int64),
        repeats=mean_repeats(splits),
        score_name=outside.score_name,
        score_words=outside.score_words,
        family=result.family,
        method=result.method,
        scheme=outer.folds.words(asked),
        rule=_rule(choice, family_inside, result.chosen_method),
        call=result.call.text,
        k_of_fit=result.k,
        path_score=(
            float(result.scores.mean[result.k])
            if result.scores is not None and scoring is None
            else float("nan")
        ),
        seed=seed,
        library=result.design.library,
        asked=asked if len(splits) < asked else None,
        labels=shown_names(result.design),
    )


def _kind_of(names: Sequence[str]) -> Kind:
    """What folds are: a score and the units selected, most important first."""
    return Kind(
        name="fold",
        many="folds",
        label="Folds",
        write=lambda found: [found[0], found[1].tolist()],
        read=lambda _, said: (number_read(said[0]), units_read(said[1], len(names))),
        found=lambda _, found: {
            "score": float(found[0]),
            "selected": tuple(names[g] for g in found[1]),
        },
        part=some,
    )


def _rule(choice: Choice, family: Family, method: Method) -> str:
    if choice.k is None:
        return f"{method.tuning_words}, as in the fit"
    if isinstance(choice.k, int):
        return f"{choice.k}, as in the fit"
    folds = choice.folds
    count = folds.folds if isinstance(folds.folds, int) else None
    done = "the fit's folds of the training rows" if count is None else folds.words(count)
    name = "1 s.e. rule" if choice.k == "1se" else "best"
    return f"{name} by {family.score_name}, {done} inside each fold"
