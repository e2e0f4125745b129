"""What a comparison of methods comes to: scores by size, differences, stability, time."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_choice
from treeselect.arguments.paths import file_path
from treeselect.arguments.scalars import described, whole
from treeselect.comparison.paired import differences, paired_difference
from treeselect.comparison.pareto import pareto_front
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import falling, first_largest
from treeselect.errors import OptionError, listing
from treeselect.frames.libraries import in_library
from treeselect.resampling.choosing import best_size, one_standard_error_size
from treeselect.resampling.cross_validation import FoldPath, ScoreBySize
from treeselect.resampling.stability import stability_index
from treeselect.shown import shown

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from treeselect.printing import Summary


@dataclass(frozen=True, slots=True)
class Run:
    """One method in all folds.

    Attributes
    ----------
    label : str
        The name that tells it from the others.
    title : str
        Its name for people.
    options : dict
        Those that are not the default.
    sizes : tuple of int, or None
        Sizes that were scored; None for the one set that its tuning value leads to.
    folds : tuple of FoldPath
    paper : str
        Where it was published.
    """

    label: str
    title: str
    options: dict[str, Any]
    sizes: tuple[int, ...] | None
    folds: tuple[FoldPath, ...]
    paper: str = ""

    @property
    def scores(self) -> FloatArray:
        """Shape (n_folds, n_sizes)."""
        return np.array([fold.scores for fold in self.folds])

    @property
    def n_selected(self) -> IntArray:
        """Units selected, shape (n_folds, n_sizes)."""
        return np.array([[len(units) for units in fold.units] for fold in self.folds])

    @property
    def seconds(self) -> FloatArray:
        """Shape (n_folds, n_sizes)."""
        return np.array([fold.seconds for fold in self.folds])

    def size_at(self, place: int) -> int | None:
        """The size of that number; None where the tuning value decides."""
        return None if self.sizes is None else self.sizes[place]

    def selected(self, place: int, n_groups: int) -> BoolArray:
        """Sets of one size, shape (n_folds, n_groups)."""
        found = np.zeros((len(self.folds), n_groups), dtype=bool)
        for row, fold in zip(found, self.folds, strict=True):
            row[fold.units[place]] = True
        return found


@dataclass(frozen=True, slots=True)
class Comparison:
    """Methods that selected, were refitted and scored in the same folds.

    Attributes
    ----------
    runs : tuple of Run
        One for each method, in the user's order.
    units : tuple of str, length n_groups
    terms_of_unit : tuple of tuple of str, length n_groups
    assessed : ndarray of bool, shape (n_groups,)
        Units that the methods were free to select: those that are not kept.
    rule : int, "1se" or "best"
        Where methods are compared.
    repeat_of_fold : ndarray of int64, shape (n_folds,)
        From 0.
    n_train, n_test : ndarray of int64, shape (n_folds,)
        Rows that were used.
    repeats : float
        How often a row is held out, on average.
    response, family, score_name, scheme, call, data : str
    seed : int
    notes : tuple of str
    library : str
        In which tables are given.
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
    scheme: str
    call: str
    data: str
    seed: int
    notes: tuple[str, ...]
    library: str = "pandas"

    @property
    def methods(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(run.label for run in self.runs)

    @property
    def best(self) -> str:
        """The method with the best mean score where it is compared; of equal ones the first."""
        return self.methods[first_largest([self._scores(run).mean() for run in self.runs])]

    # --- tables --------------------------------------------------------------------------------

    def tidy(self) -> Any:
        """One row for each method, fold and size.

        Returns
        -------
        frame, in the library of the data
            ``method``; ``repeat`` and ``fold`` in it, from 1; ``k``, missing where a tuning value
            decides, 0 for the constant model; ``n_selected``, units of the largest set of at most
            ``k``; ``score`` on the held-out rows; ``seconds`` of the whole path and the refitted
            model; ``terms``, tuple of terms, most important first.
        """
        return in_library(self._tidy(), self.library)

    def _tidy(self) -> pd.DataFrame:
        import pandas as pd

        rows = [
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
            for run in self.runs
            for number, fold in enumerate(run.folds)
            for place, units in enumerate(fold.units)
        ]
        return pd.DataFrame(rows).astype({"k": "Int64"})

    def curves(self) -> Any:
        """One row for each method and size, over the folds.

        Returns
        -------
        frame, in the library of the data
            ``method``, ``k``, mean ``n_selected``, mean ``score``, its ``standard_error``,
            ``stability`` (Nogueira's index over the folds; missing where each selects all or
            nothing), median ``seconds``, and ``front``: whether no other method and size has a
            score, number of units and stability of which none is worse and one better.
        """
        return in_library(self.curve_table(), self.library)

    def curve_table(self) -> pd.DataFrame:
        """:meth:`curves` as a pandas frame."""
        import pandas as pd

        points = [(run, place) for run in self.runs for place in range(run.scores.shape[1])]
        frame = pd.DataFrame([self._row(run, place) for run, place in points])
        frame["front"] = _front(frame)
        return frame.astype({"k": "Int64"})

    def glance(self) -> Any:
        """One row for each method, where it is compared.

        Returns
        -------
        frame, in the library of the data
            As :meth:`curves`, with ``k_1se``, the size that the one-standard-error rule chooses,
            and ``front`` among these rows alone.
        """
        return in_library(self.glance_table(), self.library)

    def glance_table(self) -> pd.DataFrame:
        """:meth:`glance` as a pandas frame."""
        import pandas as pd

        frame = pd.DataFrame([self._row(run, self._place(run)) for run in self.runs])
        frame["k_1se"] = [
            None if run.sizes is None else run.sizes[self._place(run, "1se")] for run in self.runs
        ]
        frame["front"] = _front(frame)
        return frame.astype({"k": "Int64", "k_1se": "Int64"})

    def ranked_table(self) -> pd.DataFrame:
        """:meth:`glance_table` with the best scores first, as tables and figures show them."""
        frame = self.glance_table()
        return frame.iloc[falling(frame["score"].to_numpy(float))]

    def differences(self, reference: str | None = None, *, k: int | None = None) -> Any:
        """Scores of the other methods less that of one, paired by fold.

        Parameters
        ----------
        reference : str, optional
            A name in :attr:`methods`; the best by default.
        k : int, optional
            Size at which all are compared; by default each method where the comparison says.
            Methods whose tuning value decides are as they are.

        Returns
        -------
        frame, in the library of the data
            ``method``, ``reference``, ``k``, ``k_reference``, mean ``difference``, ``ci_low``,
            ``ci_high`` (95 %) and ``p_value`` by the corrected resampled t test (see
            :func:`treeselect.comparison.paired.paired_difference`). Neither is adjusted for the
            number of methods, nor for a reference that was chosen for being the best.

        Raises
        ------
        OptionError
            If there is no such method, or the size was not scored.
        """
        return in_library(self.difference_table(reference, k), self.library)

    def difference_table(self, reference: str | None = None, k: int | None = None) -> pd.DataFrame:
        """:meth:`differences` as a pandas frame."""
        import pandas as pd

        base = self._run(self.best if reference is None else reference)
        at = self._place(base, k)
        share = float(self.n_test.sum() / self.n_train.sum())
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

    def terms(self) -> Any:
        """In how many folds each method selected each term, where it is compared.

        Returns
        -------
        frame, in the library of the data
            ``method``, ``term``, ``folds`` and ``frequency``, their share; terms that no fold of
            any method selected are left out. The most frequent terms over all methods first.
        """
        return in_library(self.term_table(), self.library)

    def term_table(self) -> pd.DataFrame:
        """:meth:`terms` as a pandas frame."""
        import pandas as pd

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

    # --- for people ----------------------------------------------------------------------------

    def summary(self) -> Summary:
        """Printed summary; its first line says that the selection was repeated in each fold.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, and HTML in notebooks.
        """
        from treeselect.comparison.words import summarise_comparison
        from treeselect.printing import Summary

        return Summary(summarise_comparison(self))

    def plot(self, kind: str = "scores", *, ax: Axes | None = None) -> Axes:
        """Draw one figure with matplotlib, an optional extra.

        Parameters
        ----------
        kind : {"scores", "differences", "front"}
            Score against size, with a standard error to each side; differences from the best, with
            their intervals; score against the number of units, with the stability beside each name.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        OptionError
            If there is no such figure, or but one method where differences are asked for.
        MissingPackageError
            Without matplotlib.
        """
        from treeselect.reports.plots.comparison import plot_comparison

        return plot_comparison(self, kind, ax)

    def report(
        self, path: str | os.PathLike[str], template: str | os.PathLike[str] | None = None
    ) -> Path:
        """Write the comparison as one HTML file that needs nothing else.

        Parameters
        ----------
        path : path
            File to write; replaced if it exists, whole or not at all.
        template : path, optional
            A jinja2 template of your own in place of ``comparison.html.j2``.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        OptionError
            If the file can't be written, or there is no such template or it can't be rendered.
        """
        from treeselect.reports.comparison import write_comparison

        own = None if template is None else file_path(template, name="template")
        return write_comparison(self, file_path(path), own)

    def __repr__(self) -> str:
        return (
            f"<Comparison: {len(self.runs)} methods in {len(self.n_test)} folds,"
            f" {self.score_name} best for {shown(self.best)}>"
        )

    # --- parts ---------------------------------------------------------------------------------

    def choices(self, run: Run) -> tuple[int, ...]:
        """Sizes among which a rule chooses: the constant model is without what is kept."""
        sizes = run.sizes or ()
        return sizes if self.assessed.all() else tuple(size for size in sizes if size > 0)

    def _fold_in_repeat(self, number: int) -> int:
        before: BoolArray = self.repeat_of_fold[:number] == self.repeat_of_fold[number]
        return int(before.sum())

    def _run(self, label: str) -> Run:
        check_choice("reference", label, self.methods)
        return self.runs[self.methods.index(label)]

    def _place(self, run: Run, rule: int | str | None = None) -> int:
        """Which of its sizes a method has by some rule, that of the comparison by default."""
        rule = self.rule if rule is None else rule
        if run.sizes is None:
            return 0
        if isinstance(rule, str):
            check_choice("k", rule, ("1se", "best"))
            places = [run.sizes.index(size) for size in self.choices(run)]
            scores = ScoreBySize(run.scores, self.repeats)
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
        scores = ScoreBySize(run.scores, self.repeats)
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
    """Which rows are on the front of score, number of units and stability."""
    return pareto_front(np.column_stack([frame["score"], -frame["n_selected"], frame["stability"]]))
