"""Two fits on the same rows, by the same folds: what ``compare([a, b])`` does and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import read_seed
from treeselect.comparison.record import NO_VARIANCE
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import shown_names
from treeselect.designs.scoring import Scoring
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.errors import DataError, OptionError, quoted
from treeselect.frames.tables import in_library
from treeselect.printing import (
    Rounded,
    SummaryContent,
    decimal_form,
    decimal_text,
    enumeration,
    interval_text,
    p_text,
    plain_score,
    score_text,
)
from treeselect.printing.numbers import span
from treeselect.resampling.cross_validation import (
    PairedDifference,
    differences,
    paired_difference,
    standard_error,
    test_share,
)
from treeselect.resampling.fit import Fit
from treeselect.resampling.folds import Splitter
from treeselect.resampling.performance import measure
from treeselect.running.pieces import Course


@dataclass(frozen=True, slots=True)
class FitComparison(Rounded):
    """Two fits compared on held-out rows of the same folds.

    Returned by :func:`treeselect.compare` for two fits.

    Attributes
    ----------
    scores : ndarray of float, shape (2, n_folds)
        On the held-out rows; greater is better.
    selected : (tuple of str, tuple of str)
        Terms that each fit selected on all rows.
    k : ndarray of int64, shape (2, n_folds)
        Number of units selected in each fold.
    n_train, n_test : ndarray of int64, shape (n_folds,)
    repeats : float
        How often a row is held out, on average.
    score_name, score_words, scheme : str
    calls : (str, str)
        The calls of the fits.
    seed : int
    library : str
        Data frame library of the tables.
    labels : mapping of str to str
        Labels of terms in print, by name.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> one = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
    >>> found = treeselect.compare([one, one.update(k=2)], folds=3)
    >>> found.tidy().columns.to_list()
    ['fold', 'score_1', 'score_2', 'difference', 'k_1', 'k_2', 'n_train', 'n_test']
    """

    scores: FloatArray
    selected: tuple[tuple[str, ...], tuple[str, ...]]
    k: IntArray
    n_train: IntArray
    n_test: IntArray
    repeats: float
    score_name: str
    score_words: str
    scheme: str
    calls: tuple[str, str]
    seed: int
    library: str = "pandas"
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def difference(self) -> PairedDifference:
        """Score of the second fit minus that of the first, with a 95% interval and a p-value by the
        corrected resampled t test: ``treeselect.resampling.cross_validation.paired_difference``."""
        share = test_share(self.n_train, self.n_test)
        return paired_difference(differences(self.scores[1], self.scores[0]), share)

    def tidy(self) -> Any:
        """One row per fold.

        Returns
        -------
        frame, in the library of the data
            ``fold``, numbered from 1 through all repeats; ``score_1`` and ``score_2`` on the
            held-out rows; ``difference``, the second minus the first; ``k_1`` and ``k_2``, numbers
            of units selected; ``n_train`` and ``n_test``.
        """
        frame = pd.DataFrame(
            {
                "fold": np.arange(1, self.scores.shape[1] + 1),
                "score_1": self.scores[0],
                "score_2": self.scores[1],
                "difference": differences(self.scores[1], self.scores[0]),
                "k_1": self.k[0],
                "k_2": self.k[1],
                "n_train": self.n_train,
                "n_test": self.n_test,
            }
        )
        return in_library(frame, self.library)

    def glance(self) -> Any:
        """One row for all folds together.

        Returns
        -------
        frame, in the library of the data
            ``score`` (its name), ``mean_1``, ``mean_2``, ``difference``, ``ci_low``, ``ci_high``
            (95%), ``p_value``, ``folds`` (in all repeats), ``repeats``, ``seed``.
        """
        found = self.difference
        row = {
            "score": self.score_name,
            "mean_1": float(self.scores[0].mean()),
            "mean_2": float(self.scores[1].mean()),
            "difference": found.mean,
            "ci_low": found.low,
            "ci_high": found.high,
            "p_value": found.p_value,
            "folds": self.scores.shape[1],
            "repeats": self.repeats,
            "seed": self.seed,
        }
        return in_library(pd.DataFrame([row]), self.library)

    def _content(self) -> SummaryContent:
        return _content(self)

    def __repr__(self) -> str:
        found = self.difference
        return (
            f"<FitComparison: {self.score_name} {plain_score(self.scores[0].mean())} and"
            f" {plain_score(self.scores[1].mean())}, difference"
            f" {decimal_text(found.mean, 3, '+')}>"
        )


_MOST_SHOWN = 12


def _content(found: FitComparison) -> SummaryContent:
    errors = [float(standard_error(scores, found.repeats)) for scores in found.scores]
    paired = found.difference
    gap = (
        decimal_text(paired.mean, 3, "+"),
        interval_text(paired.low, paired.high, decimal_form(3, "+")),
        p_text(paired.p_value),
    )
    rows = tuple(
        (
            f"Model {i + 1}",
            span(found.k[i]),
            score_text(found.scores[i].mean(), errors[i]),
            *(gap if i else ("", "", "")),
        )
        for i in range(2)
    )
    return SummaryContent(
        title="Comparison of two selections: repeated inside each fold",
        facts=(
            ("Model 1", found.calls[0]),
            ("Model 2", found.calls[1]),
            *_terms(found),
            ("Folds", f"{found.scheme}, the same for both"),
            ("Score", f"{found.score_name} on held-out rows"),
            ("Seed", str(found.seed)),
        ),
        columns=("Model", "k", found.score_name, "Difference", "95% interval", "P-value"),
        rows=rows,
        notes=_notes(found),
    )


def _terms(found: FitComparison) -> tuple[tuple[str, str], ...]:
    """Which terms the fits on all rows share, and which not."""
    one, two = found.selected
    parts = (
        ("In both", [name for name in one if name in two]),
        ("Only in model 1", [name for name in one if name not in two]),
        ("Only in model 2", [name for name in two if name not in one]),
    )
    shown = found.labels
    return tuple(
        (head, enumeration([shown.get(n, n) for n in names], _MOST_SHOWN) if names else "no term")
        for head, names in parts
    )


def _notes(found: FitComparison) -> tuple[str, ...]:
    notes = [found.score_words] if found.score_words else []
    notes += [
        "The difference is model 2 minus model 1, paired by fold: corrected resampled t (Nadeau and"
        " Bengio 2003).",
        "In each fold both selections are repeated on the training rows, with the choice of k and"
        " the final model. The procedures are compared, not the terms selected on all rows: scored"
        " with fixed terms, held-out rows would have taken part in the selection, and the larger"
        " search would be favoured.",
        "An interval that covers 0 is not evidence that the models predict equally well.",
    ]
    notes += [NO_VARIANCE] if np.isnan(found.difference.p_value) else []
    return tuple(notes)


# --- how two fits are compared -------------------------------------------------------------------


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
