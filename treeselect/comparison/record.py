"""Records of comparisons: of methods (scores by size, differences, stability), and of two fits."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from treeselect.arguments.checks import SCORE_RULES, check_choice, check_rule, described, whole
from treeselect.designs.survival import FollowUp
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import falling, first_largest, levels
from treeselect.errors import OptionError, listing
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
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.choosing import best_size, one_standard_error_size
from treeselect.resampling.cross_validation import (
    FoldPath,
    PairedDifference,
    ScoreBySize,
    differences,
    paired_difference,
    standard_error,
    test_share,
)

# --- the Pareto front of a set of points -------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class Contest:
    """Methods compared on the same folds, and the tables that follow.

    Attributes
    ----------
    runs : tuple of Run
        One for each method, in the user's order.
    units : tuple of str, length n_groups
    terms_of_unit : tuple of tuple of str, length n_groups
    assessed : ndarray of bool, shape (n_groups,)
        Units that are not forced in.
    rule : int, "1se" or "best"
        Size, or rule for the size, at which methods are compared.
    repeat_of_fold : ndarray of int64, shape (n_folds,)
        From 0.
    n_train, n_test : ndarray of int64, shape (n_folds,)
        Numbers of rows used.
    repeats : float
        How often a row is held out, on average.
    response, family, score_name, score_words, scheme, call, data : str
        `score_words` is a sentence that explains the score, or empty.
    score_bounds : (float, float)
        Smallest and largest possible score; infinite if unknown.
    seed : int
    notes : tuple of str
    unshown : tuple of str
        Arguments in whose place the call has their name only.
    library : str
        Data frame library of the tables.
    asked : int or None
        Number of folds requested, if the call was stopped before all were done.
    follow_up : FollowUp or None
        Description of the follow-up of a survival response; None for other responses.
    weights_facts : tuple of (str, str)
        The case weights and their kind in print, if there are any.
    labels : mapping of str to str
        Labels of terms, units and the response in print, by name; those without are absent.
    reference_run : Run or None
        The null and the full model, which are no methods; None if they were not fitted.
    """

    runs: tuple[Run, ...]
    units: tuple[str, ...]
    terms_of_unit: tuple[tuple[str, ...], ...]
    assessed: BoolArray
    rule: int | str
    repeat_of_fold: IntArray
    n_train: IntArray
    n_test: IntArray
    repeats: float
    response: str
    family: str
    score_name: str
    score_words: str
    score_bounds: tuple[float, float]
    scheme: str
    call: str
    data: str
    seed: int
    notes: tuple[str, ...]
    library: str = "pandas"
    asked: int | None = None
    follow_up: FollowUp | None = None
    weights_facts: tuple[tuple[str, str], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    unshown: tuple[str, ...] = ()
    reference_run: Run | None = None

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
    def partial(self) -> bool:
        """Whether the call was stopped, so that only the finished folds are here."""
        return self.asked is not None

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(run.label for run in self.runs)

    @property
    def best(self) -> str:
        """The method with the best mean score where compared; the first of several equal ones."""
        return self.methods[first_largest([self._scores(run).mean() for run in self.runs])]

    # --- tables --------------------------------------------------------------------------------

    def fold_table(self, references: bool = False) -> pd.DataFrame:
        """``Comparison.tidy`` as a pandas frame."""
        frame = pd.DataFrame([row for run in self.runs for row in self._fold_rows(run)])
        if references:
            run = self.reference_run
            added = () if run is None else self._fold_rows(run)
            names = [REFERENCES[int(row["k"] > 0)] for row in added]
            more = pd.DataFrame(added, columns=frame.columns).assign(method=names, reference=True)
            frame = pd.concat([frame.assign(reference=False), more], ignore_index=True)
        return frame.astype({"k": "Int64"})

    def reference_table(self) -> pd.DataFrame:
        """``Comparison.references`` as a pandas frame."""
        run = self.reference_run
        columns = ["reference", "k", "score", "standard_error", "seconds"]
        rows = [] if run is None else [self._row(run, place) for place in range(len(REFERENCES))]
        named = [{"reference": name} | row for name, row in zip(REFERENCES, rows, strict=False)]
        return pd.DataFrame(named, columns=columns).astype({"k": "Int64"})

    def _fold_rows(self, run: Run) -> list[dict[str, Any]]:
        """A row for each fold and size."""
        return [
            {
                "method": run.label,
                "repeat": int(self.repeat_of_fold[number]) + 1,
                "fold": self._fold_in_repeat(number) + 1,
                "k": run.size_at(place),
                "n_selected": len(units),
                "score": float(fold.scores[place]),
                "seconds": float(fold.seconds[place]),
                "terms": tuple(name for g in units for name in self.terms_of_unit[g]),
            }
            for number, fold in enumerate(run.folds)
            for place, units in enumerate(fold.units)
        ]

    def curve_table(self) -> pd.DataFrame:
        """``Comparison.curves`` as a pandas frame."""
        points = [(run, place) for run in self.runs for place in range(run.scores.shape[1])]
        frame = pd.DataFrame([self._row(run, place) for run, place in points])
        frame["front"] = _front(frame)
        return frame.astype({"k": "Int64"})

    def glance_table(self) -> pd.DataFrame:
        """``Comparison.glance`` as a pandas frame."""
        frame = pd.DataFrame([self._row(run, self._place(run)) for run in self.runs])
        frame["k_1se"] = [
            None if run.sizes is None else run.sizes[self._place(run, "1se")] for run in self.runs
        ]
        frame["front"] = _front(frame)
        return frame.astype({"k": "Int64", "k_1se": "Int64"})

    def ranked_table(self) -> pd.DataFrame:
        """:meth:`glance_table`, best score first, as in tables and figures."""
        frame = self.glance_table()
        return frame.iloc[falling(frame["score"].to_numpy(float))]

    def difference_table(self, reference: str | None = None, k: int | None = None) -> pd.DataFrame:
        """``Comparison.differences`` as a pandas frame."""
        base = self._run(self.best if reference is None else reference)
        at = self._place(base, k)
        share = test_share(self.n_train, self.n_test)
        rows = []
        for run in self.runs:
            if run is base:
                continue
            place = self._place(run, k)
            found = paired_difference(differences(run.scores[:, place], base.scores[:, at]), share)
            rows.append(
                {
                    "method": run.label,
                    "reference": base.label,
                    "k": run.size_at(place),
                    "k_reference": base.size_at(at),
                    "difference": found.mean,
                    "ci_low": found.low,
                    "ci_high": found.high,
                    "p_value": found.p_value,
                }
            )
        columns = [
            "method", "reference", "k", "k_reference", "difference", "ci_low", "ci_high", "p_value",
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=columns).astype({"k": "Int64", "k_reference": "Int64"})

    def coefficient_table(self) -> pd.DataFrame:
        """Differences from the best method, under the names of a table of coefficients."""
        from scipy import stats

        found = self.difference_table()
        half = (found["ci_high"] - found["ci_low"]) / 2
        error = half / stats.t.ppf(0.975, max(len(self.n_test) - 1, 1))
        return found.rename(columns={"method": "column", "difference": "estimate"}).assign(
            std_error=error, statistic=(found["difference"] / error).where(error > 0)
        )

    def term_table(self) -> pd.DataFrame:
        """``Comparison.terms`` as a pandas frame."""
        counts = {run.label: self._term_counts(run) for run in self.runs}
        total: Counter[str] = Counter()
        for found in counts.values():
            total.update(found)
        order = sorted(total, key=lambda name: (-total[name], name))
        rows = [
            {
                "method": label,
                "term": name,
                "folds": found[name],
                "frequency": found[name] / len(self.n_test),
            }
            for name in order
            for label, found in counts.items()
        ]
        return pd.DataFrame(rows, columns=["method", "term", "folds", "frequency"])

    def _term_counts(self, run: Run) -> Counter[str]:
        place = self._place(run)
        return Counter(
            name for fold in run.folds for g in fold.units[place] for name in self.terms_of_unit[g]
        )

    # --- parts ---------------------------------------------------------------------------------

    def choices(self, run: Run) -> tuple[int, ...]:
        """Sizes that a rule may choose, without the constant model if units are forced in.

        Parameters
        ----------
        run : Run
            One of ``runs``.
        """
        sizes = run.sizes or ()
        return sizes if self.assessed.all() else tuple(size for size in sizes if size > 0)

    def _fold_in_repeat(self, number: int) -> int:
        before: BoolArray = self.repeat_of_fold[:number] == self.repeat_of_fold[number]
        return int(before.sum())

    def _run(self, label: str) -> Run:
        check_choice("reference", label, self.methods)
        return self.runs[self.methods.index(label)]

    def _place(self, run: Run, rule: int | str | None = None) -> int:
        """Position of a method's size by a rule, that of the comparison by default."""
        rule = self.rule if rule is None else rule
        if run.sizes is None:
            return 0
        if isinstance(rule, str):
            check_rule(rule, "a size that was scored", SCORE_RULES)
            places = [run.sizes.index(size) for size in self.choices(run)]
            scores = ScoreBySize(run.scores, repeats=self.repeats)
            return (best_size if rule == "best" else one_standard_error_size)(places, scores)
        size = whole(rule)
        if size is None or size not in run.sizes:
            raise OptionError(
                f"`k` must be a size that was scored: {listing(map(str, run.sizes))}.\n"
                f"  Found: {described(rule)}."
            )
        return run.sizes.index(size)

    def _scores(self, run: Run) -> FloatArray:
        return np.asarray(run.scores[:, self._place(run)])

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


def _front(frame: pd.DataFrame) -> BoolArray:
    """Rows on the Pareto front of score, number of units and stability."""
    return pareto_front(np.column_stack([frame["score"], -frame["n_selected"], frame["stability"]]))


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


def span(counts: Sequence[int] | IntArray) -> str:
    """A count, or the smallest and the largest of several: "80 to 81"."""
    low, high = int(min(counts)), int(max(counts))
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


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


NO_VARIANCE = (
    "A difference that is the same in every fold has no interval and no p-value: its variance"
    " cannot be estimated."
)
