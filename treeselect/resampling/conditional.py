"""Conditional importance: what a term tells that the other selected terms do not, with a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_digits
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.frames.libraries import in_library
from treeselect.printing import decimal_form, decimal_text, interval_text, p_text
from treeselect.printing.summary import Summarised
from treeselect.resampling.paired import PairedDifference, differences, paired_difference

if TYPE_CHECKING:
    from treeselect.printing import Summary, SummaryContent


@dataclass(frozen=True, slots=True)
class ConditionalImportance(Summarised):
    """What the score on held-out rows loses without each of some units, the others staying.

    Attributes
    ----------
    units : tuple of str
        In the order of their loss, the largest first.
    selected : ndarray of bool, shape (n_units,)
        Whether the unit is selected. One that is not is added to the selected ones instead.
    score : ndarray of float, shape (n_folds,)
        Of a forest on the selected units, on the held-out rows of each fold of all repeats.
    others : ndarray of float, shape (n_folds, n_units)
        Of a forest without the unit, or, where it is not selected, with it.
    test_share : float
        Held-out rows for each training row.
    score_name : str
    score_words : str
        What the score is, a sentence; empty where its name says so.
    scheme : str
        How rows are held out, in words.
    call : str
        The call of the fit.
    seed : int
    library : str
        In which tables are given.
    labels : mapping of str to str
        What units are called in print, by name, as far as they have labels.
    """

    units: tuple[str, ...]
    selected: BoolArray
    score: FloatArray
    others: FloatArray
    test_share: float
    score_name: str
    score_words: str
    scheme: str
    call: str
    seed: int
    library: str = "pandas"
    labels: Mapping[str, str] = field(default_factory=dict)

    def lost(self, unit: int) -> PairedDifference:
        """The score with a unit less that without it: mean, interval, two-sided p-value."""
        return paired_difference(self._losses(unit), self.test_share)

    def p_value(self, unit: int) -> float:
        """One-sided p-value: that the score is no better with the unit than without it; not a
        number where :meth:`lost` has none."""
        found = self.lost(unit)
        return found.p_value / 2 if found.mean > 0 else 1 - found.p_value / 2

    def tidy(self) -> Any:
        """One row per unit, the largest loss first.

        Returns
        -------
        frame, in the library of the data
            ``term`` (a group has one row); ``selected``; ``score_with`` and ``score_without``, mean
            scores over the folds with the unit and without it; ``importance``, their difference;
            ``ci_low`` and ``ci_high``, a 95% interval; ``p_value``, one-sided.
        """
        import pandas as pd

        found = [self.lost(unit) for unit in range(len(self.units))]
        own, other = self.score.mean(), self.others.mean(axis=0)
        return in_library(
            pd.DataFrame(
                {
                    "term": pd.Series(list(self.units), dtype=pd.Series(["text"]).dtype),
                    "selected": self.selected,
                    "score_with": np.where(self.selected, own, other),
                    "score_without": np.where(self.selected, other, own),
                    "importance": np.array([one.mean for one in found]),
                    "ci_low": np.array([one.low for one in found]),
                    "ci_high": np.array([one.high for one in found]),
                    "p_value": np.array([self.p_value(unit) for unit in range(len(found))]),
                }
            ),
            self.library,
        )

    def summary(self, *, digits: int | None = None) -> Summary:
        """Printed summary.

        Parameters
        ----------
        digits : int, optional
            Decimals of scores and losses, with their intervals. From 1 to 10; by default each kind
            of number has its own.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, ``as_markdown()``, ``as_gt()``, and HTML
            in notebooks.
        """
        from treeselect.printing import Summary, chosen_digits

        with chosen_digits(check_digits(digits)):
            return Summary(_content(self))

    def __repr__(self) -> str:
        n = len(self.units)
        return f"<ConditionalImportance: {n} term{'' if n == 1 else 's'}, {self.scheme}>"

    def _losses(self, unit: int) -> FloatArray:
        with_it, without = self.score, self.others[:, unit]
        if not self.selected[unit]:
            with_it, without = without, with_it
        return differences(with_it, without)


def _content(found: ConditionalImportance) -> SummaryContent:
    from treeselect.printing import SummaryContent

    is_mixed = not found.selected.all()
    rows = []
    for unit, name in enumerate(found.units):
        lost = found.lost(unit)
        which = ("yes" if found.selected[unit] else "no",) if is_mixed else ()
        p_value = found.p_value(unit)
        told = p_text(p_value) if np.isfinite(p_value) else "unknown"
        between = interval_text(lost.low, lost.high, decimal_form(3), "unknown")
        rows.append(
            (found.labels.get(name, name), *which, decimal_text(lost.mean, 3), between, told)
        )
    return SummaryContent(
        title="Conditional importance: what the score loses without a term",
        facts=(
            ("Call", found.call),
            ("Folds", found.scheme),
            (
                found.score_name,
                f"{decimal_text(found.score.mean(), 3)} with the selection, on held-out rows",
            ),
            ("Seed", str(found.seed)),
        ),
        columns=("Term", *(("Selected",) if is_mixed else ()), "Loss", "95% interval", "p"),
        rows=tuple(rows),
        notes=_notes(found.score_words, is_mixed=is_mixed),
    )


def _notes(score_words: str, *, is_mixed: bool) -> tuple[str, ...]:
    added = " A term that is not selected is added to the selected ones." if is_mixed else ""
    return (
        *([score_words] if score_words else []),
        "In each fold a forest on the selected terms, and one without the term, is grown on the"
        f" training rows and scored on the others.{added} Where others tell the same as a term,"
        " nothing is lost without it.",
        "Corrected resampled t (Nadeau and Bengio 2003): intervals are two-sided, tests"
        " one-sided, neither adjusted for their number.",
        "The terms were selected on all rows, those that are held out here included: of terms that"
        " were picked from many, importances are too large and p-values too small. `inference()`"
        " tests on rows that the selection has not seen.",
    )
