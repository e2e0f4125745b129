"""Sample splitting for inference: one part of the rows for selection, the other for testing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeselect.designs.problem import Problem
from treeselect.designs.strata import labels_of, units_of
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import OptionError
from treeselect.resampling.choosing import Choice
from treeselect.resampling.folds import Split, split_rows

_FEWEST_ROWS = 10
"""Least number of rows in each part of a numeric response."""

_FEWEST_EVENTS = 5
"""Least number of rows that end in an event in each part."""

_FEWEST_OF_CLASS = 2
"""Least number of rows of each class in each part."""

_MOST_DRAWS = 20
"""Largest number of draws of whole clusters until both parts have enough rows and classes."""


def draw_parts(
    problem: Problem, weights: RowWeights, split: float, choice: Choice, seeds: Sequence[int]
) -> list[Split]:
    """The rows for selection (``train``) and for testing (``test``), by seed."""
    if weights.groups is not None:
        return [_draw_groups(problem, weights, split, choice, seed) for seed in seeds]
    # Without clusters, every draw has the same number of rows of each class in each part.
    parts = [Split(*part_rows(problem, weights, split, seed)) for seed in seeds]
    _check_rows(problem, weights, split, choice, parts[0])
    return parts


def part_rows(
    problem: Problem,
    weights: RowWeights,
    split: float,
    seed: int,
) -> tuple[IntArray, IntArray]:
    """Rows for selection and rows for testing, at random: the same share of each class, or of the
    events.

    Clustered rows are drawn as whole clusters. A cluster with rows of several classes counts
    towards the rarest of them, so that rare classes are spread. If every row is a cluster, the
    parts are the same as without clusters.
    """
    rng = np.random.default_rng(seed)
    units, rows = units_of(problem, weights), weights.rows
    in_first = np.zeros(len(units.stratum), dtype=bool)
    for stratum in np.unique(units.stratum):
        order = rng.permutation(np.flatnonzero(units.stratum == stratum))
        in_first[order[: _share(split, len(order))]] = True
    of_row = in_first[units.of_row]
    return rows[of_row], rows[~of_row]


def _row_strata(problem: Problem, weights: RowWeights) -> list[IntArray]:
    rows = weights.rows
    labels = labels_of(problem, rows)
    if labels is None:
        return [rows]
    if problem.family.has_times:
        return [rows[labels == 1]]
    return [rows[labels == c] for c in np.unique(labels)]


def _share(split: float, n: int) -> int:
    return int(np.floor(split * n + 0.5))


# --- clusters ----------------------------------------------------------------------------------


def _draw_groups(
    problem: Problem, weights: RowWeights, split: float, choice: Choice, seed: int
) -> Split:
    """The first draw of whole clusters whose parts are large enough.

    The draw depends on rows and classes only, not on the columns, so tests on the second part
    remain valid.
    """
    for number in range(_MOST_DRAWS):
        own = seed if number == 0 else stream_seed(seed, "parts", number)
        parts = Split(*part_rows(problem, weights, split, own))
        try:
            _check_rows(problem, weights, split, choice, parts)
            _check_folds(problem, weights, choice, parts, seed)
        except OptionError as error:
            why = error
        else:
            return parts
    raise why


def _check_folds(
    problem: Problem, weights: RowWeights, choice: Choice, parts: Split, seed: int
) -> None:
    """Raise an OptionError if the first part can't be split into the folds that choose `k`."""
    if not isinstance(choice.k, str):
        return
    try:
        own = stream_seed(seed, "cross-validation")  # as `choose` draws them
        split_rows(problem, parts.weights(weights)[0], choice.folds, own)
    except OptionError as error:
        said = " ".join(str(error).split())
        raise OptionError(
            "`split` must leave enough clusters for selection in folds: give a larger one, or an"
            f" integer `k`.\n  Found, in the last of {_MOST_DRAWS} draws of whole clusters: {said}"
        ) from None


def _check_rows(
    problem: Problem, weights: RowWeights, split: float, choice: Choice, parts: Split
) -> None:
    """Raise an OptionError if a part has too few rows, rows of a class or rows with an event."""
    strata = _row_strata(problem, weights)
    folds, times = choice.folds.folds, problem.family.has_times
    n_folds = folds if isinstance(folds, int) and isinstance(choice.k, str) else 0
    least, of = _FEWEST_ROWS, ""
    if problem.family.has_classes:
        least, of = _FEWEST_OF_CLASS, " of each class"
    elif times:
        least, of = _FEWEST_EVENTS, " with an event"
    whole = "" if weights.groups is None else ", in whole clusters"
    for rows, needed, why in (
        (
            parts.train,
            max(least, n_folds),
            "for selection" + f" in {n_folds} folds" * (n_folds > 0),
        ),
        (parts.test, least, "for testing"),
    ):
        fewest = min(int(np.isin(own, rows).sum()) for own in strata)
        if fewest < needed:
            raise OptionError(
                f"`split` must leave at least {needed} rows{of} {why}{whole}.\n"
                f"  Found: {fewest}, with `split={split:g}` of"
                f" {sum(len(own) for own in strata):,} {'events' if times else 'rows'}."
            )
