"""``compare_fits()``: two fits on the same rows, by the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treeselect.arguments.checks import described, read_seed
from treeselect.comparison.record import FitComparison
from treeselect.designs.labels import shown_names
from treeselect.designs.modeldata import ModelData
from treeselect.designs.scoring import Scoring
from treeselect.errors import DataError, OptionError, quoted
from treeselect.resampling.folds import Splitter
from treeselect.result import SelectionResult


def compare_fits(
    a: SelectionResult,
    b: SelectionResult,
    folds: int | Splitter | Sequence[int] = 5,
    *,
    repeats: int = 1,
    scoring: Scoring = None,
    seed: int | None = None,
    n_jobs: int | None = None,
    data: Any = None,
    weights: Sequence[float] | None = None,
    offset: Sequence[float] | None = None,
) -> FitComparison:
    """Compare two selections on the same rows by the same folds, as R's ``anova()`` of two models.

    In each fold both selections are repeated on the training rows, each with its formula, method
    and rule for `k`, and their final models are scored on the held-out rows. The difference is
    paired by fold, with the standard error of Nadeau and Bengio [1]_.

    Parameters
    ----------
    a, b : SelectionResult
        Fits of the same response to the same rows, with the same case weights, offset and clusters.
        Formula, method, `k`, groups and costs may differ.
    folds, repeats : int, splitter or array of int; int
        The folds, given as in :func:`treeselect.select`.
    scoring : str or callable, optional
        Score on the held-out rows; by default that of the fits, which must then be the same.
    seed : int, optional
        Default: that of `a`.
    n_jobs : int, optional
        Default: as in the fits. Results do not depend on it.
    data : frame or path, optional
        The data of the fits, required if one was loaded from a file without data.
    weights, offset : sequence of float, optional
        Case weights and offset for `data`, if the fits were given them as arrays.

    Returns
    -------
    FitComparison
        ``.summary()``, ``.tidy()``, ``.glance()``, ``.difference``: the second fit minus the first.

    Raises
    ------
    OptionError
        If `a` or `b` is not a selection, their scores differ, or an argument is not allowed.
    DataError
        If the fits have other responses, rows, weights, offsets or clusters, or the data are
        required.
    OutOfMemoryError, WorkerError
        If memory runs out, or work can't be passed to a process.

    Notes
    -----
    Re-selection in each fold compares the two procedures. Refitting the terms that were selected on
    all rows would be optimistic for both, and more so for the larger search, because held-out rows
    took part in the selection.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52,
       239-281.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
    >>> found = treeselect.compare_fits(fit, treeselect.update(fit, "~ . - sex"), folds=3)
    >>> bool(found.difference.high < 0)
    True
    """
    for name, fit in (("a", a), ("b", b)):
        if not isinstance(fit, SelectionResult):
            raise OptionError(
                f"`{name}` must be a result of `select()`.\n  Found: {described(fit)}."
            )
    designs = [fit.design.again(data, weights, offset) for fit in (a, b)]
    _check_same(*designs)
    names = [fit.design.response.family.score_name for fit in (a, b)]
    if scoring is None and names[0] != names[1]:
        raise OptionError(
            "`scoring` must be given: the fits have different scores.\n"
            f"  Found: {names[0]} and {names[1]}."
        )
    seed = a.seed if seed is None else read_seed(seed)
    one, two = (
        fit.performance(
            folds, repeats=repeats, scoring=scoring, seed=seed, n_jobs=n_jobs, data=data,
            weights=weights, offset=offset,
        )
        for fit in (a, b)
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
                "  Fit both to the same data; `update()` changes one thing and keeps the rest."
            )


def _are_equal(left: Any, right: Any) -> bool:
    if left is None or right is None:
        return left is right
    return np.array_equal(np.asarray(left), np.asarray(right))
