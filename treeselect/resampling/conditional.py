"""Conditional importance: what a term adds to the other selected terms, with a test."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import found_near, read_names, whole
from treeselect.designs.labels import shown_names
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError, listing
from treeselect.frames.tables import in_library
from treeselect.models.forest import refit_forest
from treeselect.printing import (
    Rounded,
    SummaryContent,
    decimal_form,
    decimal_text,
    interval_text,
    p_text,
)
from treeselect.resampling.cross_validation import (
    PairedDifference,
    differences,
    held_out_score,
    paired_difference,
)
from treeselect.resampling.folds import Split, Splitter
from treeselect.resampling.outer_folds import outer_folds
from treeselect.running.parallel import Workers, run_all

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


@dataclass(frozen=True, slots=True)
class ConditionalImportance(Rounded):
    """Loss of score on held-out rows without each of some units, given the other selected ones.

    Attributes
    ----------
    units : tuple of str
        In decreasing order of loss.
    selected : ndarray of bool, shape (n_units,)
        Whether the unit is selected. A unit that is not selected is added instead of removed.
    score : ndarray of float, shape (n_folds,)
        Score of a forest on the selected units, on the held-out rows of each fold of all repeats.
    others : ndarray of float, shape (n_folds, n_units)
        Score of a forest without the unit or, if it is not selected, with it.
    test_share : float
        Ratio of held-out to training rows.
    score_name : str
    score_words : str
        A sentence that explains the score; empty if its name suffices.
    scheme : str
        How rows are held out, in words.
    call : str
        The call, after that of the fit.
    seed : int
    library : str
        Data frame library of the tables.
    labels : mapping of str to str
        Labels of units in print, by name; units without a label are absent.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> found = fit.conditional_importance(repeats=2)
    >>> print(*found.tidy().columns)
    term selected score_with score_without importance ci_low ci_high p_value
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
        """Score with a unit minus score without it: mean, interval, two-sided p-value."""
        return paired_difference(self._losses(unit), self.test_share)

    def p_value(self, unit: int) -> float:
        """One-sided p-value: the score is no better with the unit than without it. NaN if
        :meth:`lost` has none."""
        found = self.lost(unit)
        return found.p_value / 2 if found.mean > 0 else 1 - found.p_value / 2

    def tidy(self) -> Any:
        """One row per unit, in decreasing order of loss.

        Returns
        -------
        frame, in the library of the data
            ``term`` (a group has one row); ``selected``; ``score_with`` and ``score_without``, mean
            scores over the folds with and without the unit; ``importance``, their difference;
            ``ci_low`` and ``ci_high``, its 95% interval; ``p_value``, one-sided.
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

    def _content(self) -> SummaryContent:
        return _content(self)

    def __repr__(self) -> str:
        n = len(self.units)
        return f"<ConditionalImportance: {n} term{'' if n == 1 else 's'}, {self.scheme}>"

    def _losses(self, unit: int) -> FloatArray:
        with_it, without = self.score, self.others[:, unit]
        if not self.selected[unit]:
            with_it, without = without, with_it
        return differences(with_it, without)


def _content(found: ConditionalImportance) -> SummaryContent:
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
        title="Conditional importance: loss of score without a term",
        facts=(
            ("Call", found.call),
            ("Folds", found.scheme),
            (
                found.score_name,
                f"{decimal_text(found.score.mean(), 3)} with the selected terms, on held-out rows",
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
        "In each fold, a forest on the selected terms and a forest without the term are grown on"
        f" the training rows and scored on the held-out rows.{added} A term that the others make"
        " redundant loses nothing.",
        "Corrected resampled t (Nadeau and Bengio 2003): intervals are two-sided, tests one-sided;"
        " neither is adjusted for multiplicity.",
        "The terms were selected on all rows, including those held out here. After selection from"
        " many terms, importances are too large and p-values anti-conservative; `inference()` tests"
        " on rows that were not used for selection.",
    )


# --- forests with and without each of some units, scored on held-out rows ------------------------

_REPEATS = 5
"""Default number of repeats of the folds."""


def leave_out(
    result: Fit,
    folds: int | Splitter | Sequence[int],
    *,
    terms: str | Sequence[str] | None,
    repeats: int | None,
    seed: int,
    workers: Workers,
    **given: Any,
) -> ConditionalImportance:
    """See :meth:`SelectionResult.conditional_importance`; the other arguments are those of
    `outer_folds`."""
    units = _units(result, terms)
    usual = 1 if whole(folds) is None else _REPEATS
    outer = outer_folds(
        result, folds, repeats=usual if repeats is None else repeats,
        seed=stream_seed(seed, "conditional"), **given,
    )  # fmt: skip
    here, family = outer.here, outer.family
    problem = dataclasses.replace(here.problem, family=family, wants_scores=False)
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
        score_name=family.score_name,
        score_words=family.score_words,
        labels=shown_names(result.design),
        **outer.told(result, seed),
    )


def _units(result: Fit, terms: str | Sequence[str] | None) -> list[int]:
    """The named units, by their names or those of their terms; by default the selected units."""
    known = result.design.arrays.groups
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
