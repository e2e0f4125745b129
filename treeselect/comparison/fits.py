"""Two fits on the same rows, by the same folds: what ``compare([a, b])`` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treeselect.arguments.checks import read_seed
from treeselect.comparison.record import FitComparison
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import shown_names
from treeselect.designs.scoring import Scoring
from treeselect.errors import DataError, OptionError, quoted
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Splitter
from treeselect.resampling.performance import measure
from treeselect.running.pieces import Course


def compare_fits(
    fits: Sequence[Fit],
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    scoring: Scoring,
    seed: int | None,
    course: Course,
) -> FitComparison:
    """Two fits on the same folds: see :func:`treeselect.compare`."""
    a, b = fits
    for fit in fits:
        fit.design.check_data()
    _check_same(a.design, b.design)
    names = [fit.design.response.family.score_name for fit in fits]
    if scoring is None and names[0] != names[1]:
        raise OptionError(
            "`scoring` must be given: the fits have different scores.\n"
            f"  Found: {names[0]} and {names[1]}."
        )
    seed = a.seed if seed is None else read_seed(seed)
    one, two = (
        measure(
            fit, folds, repeats=repeats, fold_groups=None, inner_folds=None, scoring=scoring,
            seed=seed, course=course,
        )
        for fit in fits
    )  # fmt: skip
    if one.partial or two.partial:  # other folds may be finished of each
        raise KeyboardInterrupt
    return FitComparison(
        scores=np.stack([one.scores, two.scores]),
        selected=(a.selected, b.selected),
        k=np.stack([one.k, two.k]),
        n_train=one.n_train,
        n_test=one.n_test,
        repeats=one.repeats,
        score_name=one.score_name,
        score_words=one.score_words,
        scheme=one.scheme,
        calls=(a.call.text, b.call.text),
        seed=seed,
        library=a.design.library,
        labels=shown_names(b.design) | shown_names(a.design),
    )


def _check_same(one: ModelData, two: ModelData) -> None:
    """Raise a DataError unless the rows that are scored are the same."""
    first, second = one.response, two.response
    if (first.name, first.family.name, first.classes) != (
        second.name,
        second.family.name,
        second.classes,
    ):
        raise DataError(
            "The fits must have the same response: scores of different responses can't be"
            " compared.\n"
            f"  Found: {quoted(first.name)}, {first.family.name}, and {quoted(second.name)},"
            f" {second.family.name}."
        )
    parts = {
        "rows": (first.rows, second.rows),
        "values of the response": (first.y, second.y),
        "case weights": (one.row_weights.values, two.row_weights.values),
        "offset": (one.offset, two.offset),
        "clusters (`fold_groups`)": (one.row_weights.groups, two.row_weights.groups),
    }
    for what, (left, right) in parts.items():
        if not _are_equal(left, right):
            raise DataError(
                f"The fits must be to the same rows.\n  Found: different {what}"
                f" ({len(first.rows):,} and {len(second.rows):,} rows used).\n"
                "  Fit both to the same data; `fit.update()` changes one thing and keeps the rest."
            )


def _are_equal(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    return np.array_equal(np.asarray(left), np.asarray(right))
