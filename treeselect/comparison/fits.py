"""Fits on the same rows, by the same folds: what ``compare([a, b])`` does and returns."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from treeselect import printing
from treeselect.arguments.checks import read_seed
from treeselect.comparison.record import NO_VARIANCE, difference_cells
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import shown_names
from treeselect.designs.scoring import Scoring, scoring_record
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.errors import DataError, OptionError, quoted
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
from treeselect.resampling.outer_folds import check_known
from treeselect.resampling.performance import measure
from treeselect.resampling.records import Scored
from treeselect.running.pieces import Course, Fingerprints

_DIFFERENCE = ("difference", "ci_low", "ci_high", "p_value")


@dataclass(frozen=True, eq=False)
class FitComparison(printing.Summarised, Scored):
    """Fits compared on held-out rows of the same folds.

    Returned by :func:`treeselect.compare` for a list of fits.

    Attributes
    ----------
    selected : tuple of tuple of str
        Terms that each fit selected on all rows.
    score_name, score_words, scheme, seed, library
        As of :class:`treeselect.resampling.records.Scored`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> one = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
    >>> found = treeselect.compare([one, one.update(k=2)], folds=3)
    >>> found.tidy().columns.to_list()
    ['fold', 'score_1', 'score_2', 'difference', 'k_1', 'k_2', 'n_train', 'n_test']
    """

    scores: FloatArray  # (n_fits, n_folds); on the held-out rows, greater is better
    selected: tuple[tuple[str, ...], ...]
    k: IntArray  # (n_fits, n_folds); number of units selected in each fold
    n_train: IntArray  # (n_fits, n_folds); rows that train, which a fit may drop
    n_test: IntArray  # (n_folds,)
    repeats: float  # how often a row is held out, on average
    calls: tuple[str, ...]  # the calls of the fits
    labels: Mapping[str, str] = field(default_factory=dict)  # labels of terms in print, by name

    @property
    def difference(self) -> PairedDifference:
        """Score of the second fit minus that of the first, with a 95% interval and a p-value by the
        corrected resampled t test: ``treeselect.resampling.cross_validation.paired_difference``."""
        return self.differences[0]

    @property
    def differences(self) -> tuple[PairedDifference, ...]:
        """The same of each fit but the first."""
        first, least = self.scores[0], np.minimum(self.n_train[0], self.n_train)
        return tuple(
            paired_difference(differences(own, first), test_share(n_train, self.n_test))
            for own, n_train in zip(self.scores[1:], least[1:], strict=True)
        )

    @property
    def _ends(self) -> list[str]:
        """What stands behind the names of columns of differences."""
        n = len(self.scores)
        return [""] if n == 2 else [f"_{i}" for i in range(2, n + 1)]

    def tidy(self) -> Any:
        """One row per fold.

        Returns
        -------
        frame, in the library of the data
            ``fold``, numbered from 1 through all repeats; ``score_1``, ``score_2`` and so on, on
            the held-out rows; ``difference``, the second minus the first, of more than two fits
            ``difference_2``, ``difference_3``, each minus the first; ``k_1``, ``k_2``, numbers of
            units selected; ``n_train``, rows that train (the least number, where a fit drops
            some), and ``n_test``.
        """
        first, *others = self.scores
        found: dict[str, Any] = {"fold": np.arange(1, len(first) + 1)}
        found |= {f"score_{i}": own for i, own in enumerate(self.scores, 1)}
        found |= {
            f"difference{end}": differences(own, first)
            for end, own in zip(self._ends, others, strict=True)
        }
        found |= {f"k_{i}": own for i, own in enumerate(self.k, 1)}
        frame = pd.DataFrame(found | {"n_train": self.n_train.min(axis=0), "n_test": self.n_test})
        return self._frame(frame)

    def glance(self) -> Any:
        """One row for all folds together.

        Returns
        -------
        frame, in the library of the data
            ``score`` (its name), ``mean_1``, ``mean_2``, ``difference``, ``ci_low``, ``ci_high``
            (95%), ``p_value``, ``folds`` (in all repeats), ``repeats``, ``seed``; of more than two
            fits the differences end in ``_2``, ``_3``, as in :meth:`tidy`.
        """
        row: dict[str, Any] = {"score": self.score_name}
        row |= {f"mean_{i}": float(own.mean()) for i, own in enumerate(self.scores, 1)}
        for end, own in zip(self._ends, self.differences, strict=True):
            row |= {f"{name}{end}": value for name, value in zip(_DIFFERENCE, own, strict=True)}
        row |= {"folds": self.scores.shape[1], "repeats": self.repeats, "seed": self.seed}
        return self._frame(pd.DataFrame([row]))

    def _content(self) -> printing.SummaryContent:
        told = (dict(zip(_DIFFERENCE, own, strict=True)) for own in self.differences)
        gaps = [("", "", ""), *map(difference_cells, told)]
        scores = [
            printing.score_text(own.mean(), float(standard_error(own, self.repeats)))
            for own in self.scores
        ]
        rows = tuple(
            (f"Model {i}", span(k), score, *gap)
            for i, (k, score, gap) in enumerate(zip(self.k, scores, gaps, strict=True), 1)
        )
        both, two = ("both", "two") if len(rows) == 2 else ("all", f"{len(rows)}")
        return printing.SummaryContent(
            title=f"Comparison of {two} selections: repeated inside each fold",
            facts=(
                *((f"Model {i}", call) for i, call in enumerate(self.calls, 1)),
                *_terms(self),
                ("Folds", f"{self.scheme}, the same for {both}"),
                ("Score", f"{self.score_name} on held-out rows"),
                ("Seed", str(self.seed)),
            ),
            columns=("Model", "k", self.score_name, "Difference", "95% interval", "P-value"),
            rows=rows,
            notes=_notes(self),
        )

    def __repr__(self) -> str:
        means = " and ".join(printing.plain_score(own.mean()) for own in self.scores)
        gaps = ", ".join(printing.decimal_text(own.mean, 3, "+") for own in self.differences)
        return f"<FitComparison: {self.score_name} {means}, difference {gaps}>"


def _terms(found: FitComparison) -> tuple[tuple[str, str], ...]:
    """Which terms the fits on all rows share, and which not."""
    first = found.selected[0]
    shared = [name for name in first if all(name in own for own in found.selected)]
    both, only = ("both", "Only") if len(found.selected) == 2 else ("all", "Also")
    parts = [(f"In {both}", shared)] + [
        (f"{only} in model {i}", [name for name in own if name not in shared])
        for i, own in enumerate(found.selected, 1)
    ]
    named = [(head, [found.labels.get(n, n) for n in names]) for head, names in parts]
    return tuple(
        (head, printing.enumeration(names, 12) if names else "no term") for head, names in named
    )


def _notes(found: FitComparison) -> tuple[str, ...]:
    notes, both = [found.score_words] if found.score_words else [], "both"
    difference = "The difference is model 2 minus model 1"
    if len(found.scores) > 2:
        both, difference = "all", "Differences are from model 1, not adjusted for their number"
    notes += [
        f"{difference}, paired by fold: corrected resampled t (Nadeau and Bengio 2003).",
        f"In each fold {both} selections are repeated on the training rows, with the choice of k"
        " and the final model. The procedures are compared, not the terms selected on all rows:"
        " scored with fixed terms, held-out rows would have taken part in the selection, and the"
        " larger search would be favoured.",
        "An interval that covers 0 is not evidence that the models predict equally well.",
    ]
    notes += [NO_VARIANCE] if any(np.isnan(own.p_value) for own in found.differences) else []
    return tuple(notes)


# --- how fits are compared -------------------------------------------------------------------


def compare_fits(
    fits: Sequence[Fit],
    folds: int | Splitter | Sequence[int],
    *,
    repeats: int,
    scoring: Scoring,
    seed: int | None,
    course: Course,
) -> FitComparison:
    """Fits on the same folds: see :func:`treeselect.compare`."""
    a, *others = fits
    for fit in fits:
        fit.design.check_data()
    for other in others:
        _check_same(a.design, other.design)
    if scoring is None and len(scores := {_score_of(fit): fit for fit in fits}) > 1:
        names = (fit.design.response.family.score_name for fit in scores.values())
        raise OptionError(
            "`scoring` must be given: the fits have different scores.\n"
            f"  Found: {' and '.join(names)}."
        )
    seed = a.seed if seed is None else read_seed(seed)
    done = []
    for fit in fits:
        done.append(measure(fit, folds, repeats=repeats, scoring=scoring, seed=seed, course=course))
        if done[-1].partial:  # stopped: the others have no such folds
            raise KeyboardInterrupt
    one = done[0]
    return FitComparison(
        scores=np.stack([own.scores for own in done]),
        selected=tuple(fit.selected for fit in fits),
        k=np.stack([own.k for own in done]),
        n_train=np.stack([own.n_train for own in done]),
        n_test=one.n_test,
        repeats=one.repeats,
        score_name=one.score_name,
        score_words=one.score_words,
        scheme=one.scheme,
        calls=tuple(fit.call.made for fit in fits),
        seed=seed,
        library=a.design.library,
        labels={k: v for fit in reversed(fits) for k, v in shown_names(fit.design).items()},
    )


def _score_of(fit: Fit) -> str:
    """What tells its score from others: of a function all that it depends on, not its name."""
    family = fit.design.response.family
    check_known(family)
    _, has_name = scoring_record(family) or ("", True)
    if has_name:
        return family.score_name
    with contextlib.suppress(OptionError):  # of parts that can't be read
        return Fingerprints().of(family.score)
    return repr(family.score)


def _check_same(one: ModelData, two: ModelData) -> None:
    """Raise a DataError unless the rows that are scored are the same."""
    first, second = one.response, two.response
    kinds = [(own.name, own.family.name, own.classes) for own in (first, second)]
    if kinds[0] != kinds[1]:
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
        if not np.array_equal(np.asarray(left), np.asarray(right)):
            raise DataError(
                f"The fits must be to the same rows.\n  Found: different {what}"
                f" ({len(first.rows):,} and {len(second.rows):,} rows used).\n"
                "  Fit both to the same data; `fit.update()` changes one thing and keeps the rest."
            )
