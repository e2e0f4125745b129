"""The record of a comparison of methods: scores by size, differences, stability."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from treeselect import printing
from treeselect.arguments import checks
from treeselect.designs.survival import FollowUp
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import falling, first_largest, levels
from treeselect.errors import OptionError, listing
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.choosing import best_size, one_standard_error_size
from treeselect.resampling.cross_validation import (
    FoldPath,
    ScoreBySize,
    differences,
    paired_difference,
    test_share,
)
from treeselect.resampling.records import Scored, Stoppable


def pareto_front(points: FloatArray) -> BoolArray:
    """Points that no other point dominates. A point dominates another if it is at least as good in
    every respect and better in one. A respect in which either point is missing (NaN) is ignored."""
    told = np.array([levels(respect) for respect in points.T], dtype=np.float64).T
    points = np.where(np.isnan(points), np.nan, told)
    ours, others = points[:, np.newaxis], points[np.newaxis]
    no_worse = ~(others < ours)
    dominated = np.all(no_worse, axis=2) & np.any(others > ours, axis=2)
    return np.asarray(~np.any(dominated, axis=1))


# --- the record of a comparison of methods -----------------------------------------------------

REFERENCES = ("null", "full")
"""Names of the reference models, by increasing size."""


@dataclass(frozen=True, slots=True)
class Run:
    """One method in all folds."""

    label: str  # its name in the comparison
    title: str  # its full name
    options: dict[str, Any]  # Non-default options
    # Sizes that were scored; None for the single set that its tuning parameter yields
    sizes: tuple[int, ...] | None
    folds: tuple[FoldPath, ...]
    paper: str = ""  # its publication

    @property
    def scores(self) -> FloatArray:
        """Shape (n_folds, n_sizes)."""
        return np.array([fold.scores for fold in self.folds])

    @property
    def n_selected(self) -> IntArray:
        """Number of selected units, shape (n_folds, n_sizes)."""
        return np.array([[len(units) for units in fold.units] for fold in self.folds])

    @property
    def seconds(self) -> FloatArray:
        """Shape (n_folds, n_sizes)."""
        return np.array([fold.seconds for fold in self.folds])

    def size_at(self, place: int) -> int | None:
        """The size at a position; None if the tuning parameter determines it."""
        return None if self.sizes is None else self.sizes[place]

    def selected(self, place: int, n_groups: int) -> BoolArray:
        """Sets of one size, shape (n_folds, n_groups)."""
        found = np.zeros((len(self.folds), n_groups), dtype=bool)
        for row, fold in zip(found, self.folds, strict=True):
            row[fold.units[place]] = True
        return found


@dataclass(frozen=True, eq=False)
class Contest(Scored, Stoppable):
    """Methods compared on the same folds, and the tables that follow.

    Attributes
    ----------
    runs : tuple of Run
        One for each method, in the user's order.
    units : tuple of str, length n_groups
    terms_of_unit : tuple of tuple of str, length n_groups
    assessed : ndarray of bool, shape (n_groups,)
        Units that are neither forced in nor constant.
    rule : int, "1se" or "best"
        Size, or rule for the size, at which methods are compared.
    place_of_fold : ndarray of int64, shape (n_folds, 2)
        Repeat, and fold within it, from 0.
    n_train, n_test : ndarray of int64, shape (n_folds,)
        Numbers of rows used.
    reference_run : Run or None
        The null and the full model, which are no methods; None if they were not fitted.
    score_name, score_words, scheme, call, seed, asked, library
        As of :class:`treeselect.resampling.records.Scored` and ``Stoppable``.
    """

    runs: tuple[Run, ...]
    units: tuple[str, ...]
    terms_of_unit: tuple[tuple[str, ...], ...]
    assessed: BoolArray
    rule: int | str
    place_of_fold: IntArray
    n_train: IntArray
    n_test: IntArray
    repeats: float  # how often a row is held out, on average
    response: str
    family: str
    score_bounds: tuple[float, float]  # smallest and largest possible score; infinite if unknown
    data: str
    notes: tuple[str, ...]
    follow_up: FollowUp | None = None  # of a survival response
    # the case weights and their kind in print, if there are any
    weights_facts: tuple[tuple[str, str], ...] = ()
    # labels of terms, units and the response in print, by name
    labels: Mapping[str, str] = field(default_factory=dict)
    unshown: tuple[str, ...] = ()  # arguments in whose place the call has their name only
    reference_run: Run | None = None
    n_kept: int = 0  # number of units that are forced in
    # other rows of each fold that no training uses, for a missing value
    n_left_out: IntArray | int = 0

    def as_shown(self) -> Contest:
        """The same with labels in place of the names of terms, units and response."""

        def shown(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(self.labels.get(name, name) for name in names)

        return dataclasses.replace(
            self,
            units=shown(self.units),
            terms_of_unit=tuple(map(shown, self.terms_of_unit)),
            response=self.labels.get(self.response, self.response),
            labels={},
        )

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(run.label for run in self.runs)

    @property
    def best(self) -> str:
        """The method with the best mean score where compared; the first of several equal ones."""
        means = [run.scores[:, self._place(run)].mean() for run in self.runs]
        return self.methods[first_largest(means)]

    # --- tables --------------------------------------------------------------------------------

    def tidy(self) -> Any:
        """One row for each method, fold and size.

        Returns
        -------
        frame, in the library of the data
            ``method``; ``repeat`` and ``fold`` within it, from 1; ``k``, 0 for the constant model,
            missing if a tuning parameter determines it; ``n_selected``, number of units in the
            largest set of at most ``k``; ``score`` on the held-out rows; ``seconds`` for the whole
            path and the refitted model; ``terms``, tuple of terms, most important first.
        """
        places = (self.place_of_fold + 1).tolist()
        rows = [
            {
                "method": run.label,
                "repeat": repeat,
                "fold": number,
                "k": run.size_at(place),
                "n_selected": len(units),
                "score": float(fold.scores[place]),
                "seconds": float(fold.seconds[place]),
                "terms": tuple(name for g in units for name in self.terms_of_unit[g]),
            }
            for run in self.runs
            for (repeat, number), fold in zip(places, run.folds, strict=True)
            for place, units in enumerate(fold.units)
        ]
        return self._frame(pd.DataFrame(rows).astype({"k": "Int64"}))

    def references(self) -> Any:
        """Scores of the null and the full model on the same folds.

        The null model has no terms; the full model, that of `model` or else a random forest of at
        most 200 trees, has all candidate terms and is fitted to the training rows of each fold.
        They are not methods: ranks, differences and the Pareto front omit them.

        Returns
        -------
        frame, in the library of the data
            ``reference`` ("null" or "full"), ``k`` (0 or the number of units), mean ``score``, its
            ``standard_error`` and median ``seconds``.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> found = treeselect.compare("survived ~ .", data, ["mrmr"], k=2, folds=2, seed=1)
        >>> found.references()["reference"].tolist()
        ['null', 'full']
        """
        run = self.reference_run
        columns = ["reference", "k", "score", "standard_error", "seconds"]
        rows = [] if run is None else [self._row(run, place) for place in range(len(REFERENCES))]
        named = [{"reference": name} | row for name, row in zip(REFERENCES, rows, strict=False)]
        frame = pd.DataFrame(named, columns=columns).astype({"k": "Int64"})
        return self._frame(frame)

    def curves(self) -> Any:
        """One row for each method and size, averaged over the folds.

        Returns
        -------
        frame, in the library of the data
            ``method``, ``k``, mean ``n_selected``, mean ``score``, its ``standard_error``,
            ``stability`` (Nogueira's index over the folds; missing if every fold selects all units
            or none), median ``seconds``, and ``front``: whether the row is on the Pareto front of
            score, number of units and stability.
        """
        points = [(run, place) for run in self.runs for place in range(run.scores.shape[1])]
        frame = pd.DataFrame([self._row(run, place) for run, place in points])
        frame["front"] = _front(frame)
        return self._frame(frame.astype({"k": "Int64"}))

    def glance(self) -> Any:
        """One row for each method, at the size at which it is compared.

        Returns
        -------
        frame, in the library of the data
            As :meth:`curves`, with ``k_1se``, the size by the one-standard-error rule; ``front`` is
            the Pareto front of these rows alone.
        """
        frame = pd.DataFrame([self._row(run, self._place(run)) for run in self.runs])
        frame["k_1se"] = [
            None if run.sizes is None else run.sizes[self._place(run, "1se")] for run in self.runs
        ]
        frame["front"] = _front(frame)
        return self._frame(frame.astype({"k": "Int64", "k_1se": "Int64"}))

    def ranked_table(self) -> pd.DataFrame:
        """:meth:`glance` in pandas, best score first, as in tables and figures."""
        frame: pd.DataFrame = self.in_pandas.glance()
        return frame.iloc[falling(frame["score"].to_numpy(float))]

    def differences(self, reference: str | None = None, *, k: int | None = None) -> Any:
        """Scores of the other methods minus that of a reference, paired by fold.

        Parameters
        ----------
        reference : str, optional
            A name in :attr:`methods`; the best method by default.
        k : int, optional
            Size at which all methods are compared; by default that of the comparison. It does not
            apply to methods with a given tuning parameter.

        Returns
        -------
        frame, in the library of the data
            ``method``, ``reference``, ``k``, ``k_reference``, mean ``difference``, ``ci_low``,
            ``ci_high`` (95%) and ``p_value`` by the corrected resampled t test (see
            :func:`treeselect.resampling.cross_validation.paired_difference`). Intervals and
            p-values are not adjusted for the number of methods, nor for choosing the best one as
            the reference.

        Raises
        ------
        OptionError
            If the method is unknown, or the size was not scored.
        """
        reference = self.best if reference is None else reference
        checks.check_choice("reference", reference, self.methods)
        base = self.runs[self.methods.index(reference)]
        at = self._place(base, k)
        share = test_share(self.n_train, self.n_test)
        rows = []
        for run in (own for own in self.runs if own is not base):
            place = self._place(run, k)
            found = paired_difference(differences(run.scores[:, place], base.scores[:, at]), share)
            rows.append((run.label, base.label, run.size_at(place), base.size_at(at), *found))
        columns = [
            "method", "reference", "k", "k_reference", "difference", "ci_low", "ci_high", "p_value",
        ]  # fmt: skip
        frame = pd.DataFrame(rows, columns=columns).astype({"k": "Int64", "k_reference": "Int64"})
        return self._frame(frame)

    def terms(self) -> Any:
        """Selection frequency of each term over the folds, by method, at the size compared.

        Returns
        -------
        frame, in the library of the data
            ``method``, ``term``, ``folds`` that selected it, and ``frequency``, their share. The
            most frequent terms over all methods come first; terms that were never selected are
            omitted.
        """
        counts = {
            run.label: Counter(
                name
                for fold in run.folds
                for g in fold.units[self._place(run)]
                for name in self.terms_of_unit[g]
            )
            for run in self.runs
        }
        total = sum(counts.values(), Counter[str]())
        rows = [
            (label, name, found[name], found[name] / len(self.n_test))
            for name in sorted(total, key=lambda name: (-total[name], name))
            for label, found in counts.items()
        ]
        frame = pd.DataFrame(rows, columns=["method", "term", "folds", "frequency"])
        return self._frame(frame)

    # --- parts ---------------------------------------------------------------------------------

    def _place(self, run: Run, rule: int | str | None = None) -> int:
        """Position of a method's size by a rule, that of the comparison by default."""
        rule = self.rule if rule is None else rule
        if run.sizes is None:
            return 0
        if isinstance(rule, str):
            checks.check_rule(rule, "a size that was scored", checks.SCORE_RULES)
            places = [run.sizes.index(size) for size in choices(self, run)]
            scores = ScoreBySize(run.scores, repeats=self.repeats)
            return (best_size if rule == "best" else one_standard_error_size)(places, scores)
        size = checks.whole(rule)
        if size is None or size not in run.sizes:
            raise OptionError(
                f"`k` must be a size that was scored: {listing(map(str, run.sizes))}.\n"
                f"  Found: {checks.described(rule)}."
            )
        return run.sizes.index(size)

    def _row(self, run: Run, place: int) -> dict[str, Any]:
        scores = ScoreBySize(run.scores, repeats=self.repeats)
        index, _ = stability_index(run.selected(place, len(self.units))[:, self.assessed])
        return {
            "method": run.label,
            "k": run.size_at(place),
            "n_selected": float(run.n_selected[:, place].mean()),
            "score": float(scores.mean[place]),
            "standard_error": float(scores.standard_error[place]),
            "stability": index,
            "seconds": float(np.median(run.seconds[:, place])),
        }


def choices(found: Contest, run: Run) -> tuple[int, ...]:
    """Sizes that a rule may choose, without the constant model if units are forced in."""
    return tuple(size for size in run.sizes or () if size >= found.n_kept)


def _front(frame: pd.DataFrame) -> BoolArray:
    """Rows on the Pareto front of score, number of units and stability."""
    return pareto_front(np.column_stack([frame["score"], -frame["n_selected"], frame["stability"]]))


def difference_cells(row: Mapping[Any, Any]) -> tuple[str, str, str]:
    """A difference with its interval and its p-value."""
    return (
        printing.decimal_text(row["difference"], 3, "+"),
        printing.interval_text(row["ci_low"], row["ci_high"], printing.decimal_form(3, "+")),
        printing.p_text(row["p_value"]),
    )


NO_VARIANCE = (
    "A difference that is the same in every fold has no interval and no p-value: its variance"
    " cannot be estimated."
)
