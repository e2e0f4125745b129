"""The whole selection again in each fold, scored on the rows that are held out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treeselect.algorithms.shared.method import Method
from treeselect.designs.families import Family
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.designs.scoring import Scoring, check_scoring, is_lost, with_scoring
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import MethodError, OptionError, quoted
from treeselect.frames.reading import read_data
from treeselect.resampling.asked_folds import in_own_groups, read_folds, with_groups
from treeselect.resampling.choosing import Choice, run_selection
from treeselect.resampling.cross_validation import held_out_score
from treeselect.resampling.folds import Folds, Split, Splitter, mean_repeats
from treeselect.resampling.performance import Performance
from treeselect.resampling.saved import number_read, some, units_read
from treeselect.resampling.splitting import split_rows
from treeselect.running.parallel import Workers
from treeselect.running.pieces import Course, Kind, run_pieces

if TYPE_CHECKING:
    import pandas as pd

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
    choice = _inner_choice(result.choice, here, frame, inner_folds)
    inside = in_own_groups(here, result.choice.folds, data).row_weights
    if inside.groups is None and result.choice.folds.groups_name is not False:
        inside = outer.weights  # those of the fit are in no file
    family_inside, _ = _families(here.response.family, scoring)
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
    by_fold = run_pieces(_one_fold, calls, _kind_of(names), course)
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


class OuterFolds(NamedTuple):
    """How rows are held out to be predicted by what the others give.

    Attributes
    ----------
    folds : Folds
        As they were asked for.
    splits : tuple of Split
    weights : RowWeights
        Of the rows, in the groups that are held out whole.
    family : Family
        With the score of the held-out rows.
    """

    folds: Folds
    splits: tuple[Split, ...]
    weights: RowWeights
    family: Family


def outer_folds(
    result: Fit,
    here: ModelData,
    frame: pd.DataFrame,
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    fold_groups: str | Sequence[Any] | None,
    scoring: Scoring,
    data: Any,
    seed: int,
) -> OuterFolds:
    """Split the rows of a fit as an argument `folds` says, in the fit's groups or others.

    Raises
    ------
    OptionError
        If an argument is not allowed, or the rows can't be split.
    """
    in_groups, grouped = with_groups(here, result.choice.folds, fold_groups, data)
    asked = dataclasses.replace(
        read_folds(folds, repeats, None, frame).for_rows(here.response.rows),
        groups_name=grouped.groups_name,
        choose=False,
    )
    _, family = _families(here.response.family, scoring)
    check_scoring(family, here.response.y, here.weight)
    problem = dataclasses.replace(here.problem, family=family, wants_scores=False)
    splits = split_rows(problem, in_groups.row_weights, asked, seed)
    return OuterFolds(asked, splits, in_groups.row_weights, family)


def _one_fold(
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
) -> tuple[float, IntArray]:
    """Score on the held-out rows, and the units selected on the others, most important first."""
    train, test = split.weights(weights)
    try:
        found = run_selection(
            problem, method, train, choice, seed=seed, workers=Workers(1, n_threads), progress=False
        )
    except MethodError:  # it is not about the folds
        raise
    except OptionError as error:
        raise OptionError(
            f"{error}\n  This was among the training rows of fold {where}, which are split again to"
            " choose `k`; `inner_folds` says how."
        ) from None
    score = held_out_score(
        dataclasses.replace(problem, family=family), found.model, test, n_threads
    )
    units = np.flatnonzero(found.step.selected)
    return score, units[falling(found.model.importance[units])]


def _inner_choice(
    of_fit: Choice,
    here: ModelData,
    frame: pd.DataFrame,
    inner_folds: int | Splitter | Sequence[int] | None,
) -> Choice:
    """The fit's choice of size, with other folds if they are given."""
    asked = None if inner_folds is None else read_folds(inner_folds, 1, None, frame, "inner_folds")
    if asked is None or not isinstance(of_fit.k, str):
        return of_fit
    own = asked.for_rows(here.response.rows)
    return dataclasses.replace(
        of_fit, folds=dataclasses.replace(of_fit.folds, folds=own.folds, repeats=1)
    )


def _families(of_fit: Family, scoring: Scoring) -> tuple[Family, Family]:
    """The family with the score that chooses k, and with that of the held-out rows."""
    outside = with_scoring(of_fit, scoring)
    if not is_lost(of_fit):
        return of_fit, outside
    if scoring is None:
        raise OptionError(
            f"`scoring` must be given: that of the fit, {quoted(of_fit.score_name)}, is a function,"
            " which is not in the file that the model was loaded from."
        )
    return outside, outside


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
