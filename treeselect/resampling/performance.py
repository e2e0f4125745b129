"""Nested cross-validation: the whole procedure, with the choice of k, inside each fold.

The file is long because of the documentation of its record.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from treeselect import printing
from treeselect.arguments.checks import AUTO, check_choice, check_count
from treeselect.designs.modeldata import data_fingerprint
from treeselect.designs.preparing import shown_names
from treeselect.designs.scoring import Scoring
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.figures.plotting import plotted
from treeselect.printing import cells
from treeselect.printing.numbers import span
from treeselect.resampling.choosing import Procedure
from treeselect.resampling.cross_validation import n_cases, score_interval, standard_error
from treeselect.resampling.decisions import DecisionCurve, decide
from treeselect.resampling.fit import NO_SOURCE, Fit, Source
from treeselect.resampling.folds import Splitter, mean_repeats
from treeselect.resampling.held_out import (
    HeldOut,
    auc_table,
    calibration_table,
    confusion_table,
    gather_held_out,
    horizon_of,
    roc_table,
)
from treeselect.resampling.held_out_figures import drawn
from treeselect.resampling.outer_folds import Fold, nested_selection, one_fold, outer_folds
from treeselect.resampling.records import Scored, Stoppable, stopped
from treeselect.resampling.subgroups import Subgroups, by_subgroup
from treeselect.running.pieces import Course, Kind, run_pieces

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMES = 12
"""Number of terms whose frequency is told."""

_ROOM = 36
"""Characters for the terms of a fold."""

INSIDE_FOLDS = (
    "In each fold, selection, choice of k and final model use the training rows only. Factor"
    " levels, bin edges and the parameters of transforms come from all rows, without the response."
)

INTERVAL = (
    "The interval allows for variation between held-out rows and between folds and, through t"
    " quantiles, between models trained on overlapping rows; the standard error reflects the folds"
    " alone, and tends to be too small."
)


def terms_text(terms: tuple[str, ...]) -> str:
    """As many terms as fit into a column, at least one, and the number of the others."""
    shown = [
        name for i, name in enumerate(terms) if i == 0 or len(", ".join(terms[: i + 1])) <= _ROOM
    ]
    more = len(terms) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


@dataclass(frozen=True, eq=False)
class Performance(printing.Summarised, Scored, Stoppable):
    """Scores of the whole selection on held-out rows, by nested cross-validation.

    Attributes
    ----------
    k_of_fit : int
        Number of units that the fit on all rows selected.
    path_score : float
        Score of the fit at that size on rows that its search did not use; NaN if there is none.
    score_name, score_words, scheme, call, seed, asked, library
        As of :class:`treeselect.resampling.records.Scored` and ``Stoppable``.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ .", data, method="mrmr", k=2, seed=1)
    >>> found = fit.performance(folds=2)
    >>> 0.5 < found.mean < 1
    True
    """

    scores: FloatArray
    errors: FloatArray  # standard errors of the scores over the held-out rows; NaN if unknown
    n_cases: float  # rows, or rows of all classes but the largest, or events
    selected: tuple[tuple[str, ...], ...]
    k: IntArray
    n_train: IntArray
    n_test: IntArray
    repeats: float  # how often a row is held out, on average
    # least and greatest value of the score; infinite where none is known
    score_bounds: tuple[float, float]
    family: str
    method: str
    rule: str  # how the number of units is chosen in each fold, in words
    k_of_fit: int
    path_score: float
    held_out: HeldOut
    labels: Mapping[str, str] = field(default_factory=dict)  # labels of terms in print, by name
    fingerprint: str | None = None  # of the data
    model: str = ""  # the final model, in words
    path_words: str = ""  # which rows those of `path_score` are, and what chose the size
    # the data, for `by`; a copy is without them
    source: Source = field(default=NO_SOURCE, repr=False, compare=False)

    @property
    def mean(self) -> float:
        """Mean score over the folds."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean: the standard deviation over all folds, divided by the square
        root of the number of folds in one repeat."""
        return float(standard_error(self.scores, self.repeats))

    @property
    def mean_ci(self) -> tuple[float, float]:
        """95% interval of the score on new rows of models fitted to as many rows as those of the
        folds; NaN if unknown. See ``treeselect.resampling.cross_validation.score_interval``."""
        repeats = float(self.held_out.times.mean()) if len(self.held_out.times) else self.repeats
        return score_interval(self.scores, self.errors, self.n_cases, repeats, self.score_bounds)

    @property
    def ci_words(self) -> str:
        """The interval in print, such as "0.516 to 0.743"; empty if there is none."""
        return printing.interval_text(*self.mean_ci, printing.decimal_form(3), "")

    @property
    def words(self) -> str:
        """The mean in print, with its interval or, if there is none, its standard error."""
        if self.ci_words:
            return f"{printing.plain_score(self.mean)} (95% interval {self.ci_words})"
        return printing.score_text(self.mean, self.standard_error, "standard error")

    @property
    def frequency(self) -> dict[str, int]:
        """Number of folds that selected each term, the most frequent first."""
        counts = Counter(name for terms in self.selected for name in terms)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def tidy(self) -> Any:
        """One row per fold.

        Returns
        -------
        frame, in the library of the data
            ``fold``, numbered from 1 through all repeats; ``k``, number of units selected;
            ``score`` on the held-out rows; ``selected``, tuple of terms, most important first;
            ``n_train`` and ``n_test``, numbers of rows used.
        """
        table = {
            "fold": np.unique(self.held_out.fold), "k": self.k, "score": self.scores,
            "selected": list(self.selected), "n_train": self.n_train, "n_test": self.n_test,
        }  # fmt: skip
        return self._frame(pd.DataFrame(table))

    def glance(self) -> Any:
        """One row for all folds together.

        Returns
        -------
        frame, in the library of the data
            ``score`` (its name), ``mean``, ``standard_error``, ``ci_low``, ``ci_high`` (95%),
            ``folds`` (in all repeats), ``repeats``, ``k_mean``, ``k_min``, ``k_max``, ``method``,
            ``family``, ``seed``.
        """
        low, high = self.mean_ci
        row = {
            "score": self.score_name, "mean": self.mean, "standard_error": self.standard_error,
            "ci_low": low, "ci_high": high, "folds": len(self.scores), "repeats": self.repeats,
            "k_mean": float(self.k.mean()), "k_min": int(self.k.min()), "k_max": int(self.k.max()),
            "method": self.method, "family": self.family, "seed": self.seed,
        }  # fmt: skip
        return self._frame(pd.DataFrame([row]))

    def predictions(self) -> Any:
        """Predictions of held-out rows.

        Returns
        -------
        frame, in the library of the data
            ``row``, its number in the data, from 0; ``fold``, from 1 through all repeats;
            ``observed``, the response; ``predicted`` on the scale of the response: for two classes
            the probability of the positive one, for more ``predicted_<class>`` for each;
            ``weight``, the case weight, 1 if there are none. Survival responses have ``start``,
            ``time`` and ``event`` instead of ``observed``; their predictions are risks relative to
            the baseline hazard of the fold's training rows, so they are comparable within a fold
            only, while ``probability``, of the event by the horizon, is comparable between folds
            (missing if the training rows have none of the row's stratum, or its follow-up ends
            before). A row that is held out several times has several rows here; a row that is never
            held out has none.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> found = fit.performance(folds=3).predictions()
        >>> found.columns.to_list()
        ['row', 'fold', 'observed', 'predicted', 'weight']
        >>> found["row"].is_unique
        True
        """
        return self._frame(self.held_out.table())

    def calibration(self, n_groups: int = 10) -> Any:
        """Calibration: predicted and observed means in groups of held-out rows by prediction.

        Parameters
        ----------
        n_groups : int
            From 2 to 100. Rows with equal predictions stay together, so there may be fewer groups.

        Returns
        -------
        frame, in the library of the data
            One row per group, and per class if there are more than two: ``class``, whose
            probability is predicted (only for responses with classes); ``group``, from 1; ``n``,
            number of rows (or their total weight); ``predicted``, mean prediction; ``observed``,
            mean response, or proportion of the class; ``ci_low`` and ``ci_high``, its 95% interval:
            Wilson's for proportions, the quasi-Poisson score interval for counts, Student's t for
            other means, of numbers and counts missing for a single row. Of times to an event, both
            are of the event by the horizon, and the observed share with its interval is Kaplan and
            Meier's estimate, missing if follow-up ends before. Numeric
            responses and counts also have ``residual``, mean of observed minus predicted, and
            ``residual_low`` and ``residual_high``, the 10th and 90th percentiles of the residuals.

        Raises
        ------
        OptionError
            If `n_groups` is not allowed.

        Notes
        -----
        The predictions of a row that is held out several times share its weight, so intervals
        reflect the number of rows. With clusters (`fold_groups`), and with weights that are not
        copies of rows, variances are robust, of sums over clusters or rows, and quantiles those of
        t with one degree of freedom less than there are; score intervals then have the number of
        independent rows with the same variance (Korn and Graubard 1998), or of clusters where the
        response does not vary. A group within a single cluster has the interval of its rows.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> found = fit.performance(folds=3).calibration(n_groups=2)
        >>> bool(found["n"].sum() == len(data))
        True
        """
        n_groups = check_count("n_groups", n_groups, least=2, most=100)
        return self._frame(calibration_table(self.held_out, n_groups))

    def roc(self) -> Any:
        """The ROC curve of all held-out predictions together; with more than two classes, one curve
        per class against the others.

        Returns
        -------
        frame, in the library of the data
            One row per corner of a curve: ``class``, the positive one; ``cutoff``, the lowest
            probability that is classified as positive (infinite in the first row);
            ``false_positive_rate`` and ``true_positive_rate``.

        Raises
        ------
        OptionError
            If the response has no classes.
        """
        return self._frame(roc_table(self.held_out))

    def auc(self, times: Sequence[float] | None = None) -> Any:
        """Area under the ROC curve at some times, of held-out rows with times to an event.

        Parameters
        ----------
        times : sequence of float, optional
            By default the `horizon` of :meth:`SelectionResult.performance`.

        Returns
        -------
        frame, in the library of the data
            One row per time: ``time``; ``cases``, weight of rows with the event by then;
            ``controls``, of those under observation after it; ``auc``; ``ci_low`` and ``ci_high``
            (95%, 200 bootstrap samples of rows or clusters; missing with one case or control).

        Raises
        ------
        OptionError
            If the response is not times to an event, rows enter late, or `times` are not allowed.

        Notes
        -----
        Cumulative cases and dynamic controls [1]_: the probability that a row with the event by the
        time has a higher predicted risk than one without it until after the time, ties counting
        half. Each case is weighted by the inverse probability of being still under observation,
        by Kaplan and Meier's estimate from the held-out rows, which assumes that censoring does not
        depend on the terms. The risk is that of the event by the horizon, which folds have in
        common. Of competing events only the named one is an event.

        References
        ----------
        .. [1] H. Uno, T. Cai, L. Tian, L. J. Wei (2007). Evaluating prediction rules for t-year
           survivors with censored regression models. JASA 102, 527-537.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("gbsg2")
        >>> fit = treeselect.select("Surv(time, cens) ~ .", data, method="mrmr", k=3, seed=1)
        >>> found = fit.performance(folds=3, horizon=1460).auc([730, 1460])
        >>> found["auc"].between(0.5, 1).all()
        np.True_
        """
        drawn = stream_seed(self.seed, "areas")
        return self._frame(auc_table(self.held_out, times, drawn))

    def confusion(self, threshold: float | None = None) -> Any:
        """Confusion matrix of the held-out rows: observed class by most probable class.

        Parameters
        ----------
        threshold : float, optional
            For two classes: probability of the positive one from which on a row is assigned to it,
            above 0 and below 1; 0.5 by default. See :meth:`decision_curve` for that of given costs.

        Returns
        -------
        frame, in the library of the data
            One row per pair of classes: ``observed``; ``predicted``; ``n``, number of rows (or
            their total weight); ``share`` of the rows of the observed class, missing if there are
            none.

        Raises
        ------
        OptionError
            If the response has no classes, or the threshold is not allowed.
        """
        return self._frame(confusion_table(self.held_out, threshold))

    def decision_curve(
        self, thresholds: Sequence[float] | None = None, *, costs: tuple[float, float] | None = None
    ) -> DecisionCurve:
        """Net benefit of acting on the predicted risks of held-out rows, beside acting on all rows
        and on none.

        Parameters
        ----------
        thresholds : sequence of float, optional
            Risks from which on a row is treated, above 0 and below 1; by default 0.01 to 0.99.
        costs : (float, float), optional
            Of a false positive and of a false negative. The expected cost of calibrated risks is
            least at the threshold ``cost_fp / (cost_fp + cost_fn)``, which is added to the
            thresholds and marked.

        Returns
        -------
        DecisionCurve
            ``.tidy()``, ``.summary()``, ``.plot()``.

        Raises
        ------
        OptionError
            If an argument is not allowed, or the response has neither two classes nor times.

        Notes
        -----
        At a threshold t, the net benefit [1]_ is ``tp - fp * t / (1 - t)``, with the shares tp and
        fp of all rows that are true and false positives. For times to an event, the share with the
        event by the `horizon` of :meth:`SelectionResult.performance` among the rows that reach t is
        one minus Kaplan and Meier's estimate [2]_; it is missing if their follow-up ends before.
        Intervals are percentiles of 1000 bootstrap samples (on long data fewer) of the held-out
        rows, or of whole clusters; predictions are fixed. A gain has the interval of a difference.

        References
        ----------
        .. [1] A. J. Vickers, E. B. Elkin (2006). Decision curve analysis: a novel method for
           evaluating prediction models. Medical Decision Making 26, 565-574.
        .. [2] A. J. Vickers, A. M. Cronin, E. B. Elkin, M. Gonen (2008). Extensions to decision
           curve analysis. BMC Medical Informatics and Decision Making 8, 53.

        Examples
        --------
        >>> import treeselect
        >>> data = treeselect.datasets.load("titanic_correlated")
        >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
        >>> fit.performance(folds=3).decision_curve(costs=(1, 3)).threshold
        0.25
        """
        return decide(self.held_out, thresholds, costs, **self._told)

    def by(self, column: Any) -> Subgroups:
        """Performance and calibration of the held-out predictions by subgroup.

        Parameters
        ----------
        column : str, or one value per row of the data
            Labels, or a number with at most 20 distinct values; missing values are a group. A
            pandas Series with the index of the data in another order is read by its index.

        Returns
        -------
        Subgroups
            ``.tidy()``, ``.calibration()``, ``.summary()``, ``.plot()``, ``.small``.

        Raises
        ------
        OptionError
            If the column is not allowed, or the response has more than two classes.

        Warns
        -----
        TreeselectWarning
            If a group is small: fewer than 100 cases [1]_, which are rows of the smaller class,
            events of times, or rows of numbers and counts.

        Notes
        -----
        Of times to an event, the score is that of the probabilities of the event by the horizon,
        which are comparable between folds. With ``folds=LeaveOneGroupOut()`` and ``fold_groups`` of
        :meth:`SelectionResult.performance` and the same column here, each site is predicted by a
        model of the others.

        References
        ----------
        .. [1] G. S. Collins, E. O. Ogundimu, D. G. Altman (2016). Sample size considerations for
           the external validation of a multivariable prognostic model: a resampling study.
           Statistics in Medicine 35, 214-226.
        """
        which = repr(column) if isinstance(column, str) else "..."
        told = {**self._told, "call": f"{self.call}.by({which})"}
        return by_subgroup(self.held_out, column, self.source, labels=self.labels, **told)

    @property
    def _told(self) -> dict[str, Any]:
        """What all that is computed from these predictions says of them."""
        end = f", stopped after {len(self.scores):,} of {self.asked:,} folds" if self.asked else ""
        return {"scheme": self.scheme + end, "seed": self.seed, "library": self.library}

    def plot(
        self,
        kind: Literal["calibration", "roc"] = "calibration",
        *,
        of_class: Any = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the calibration, or the ROC curve, of the held-out predictions.

        Parameters
        ----------
        kind : {"calibration", "roc"}
            As :meth:`calibration`, in ten groups, or as :meth:`roc`.
        of_class : label, optional
            With more than two classes the one that is predicted, which is then required.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default new ones.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        OptionError
            If an argument is not allowed, or the response has no classes for a ROC curve.
        MissingPackageError
            If matplotlib is not installed.
        """
        check_choice("kind", kind, ("calibration", "roc"))
        return plotted(drawn(self.held_out, kind, of_class), ax, (5.0, 4.4))

    def _content(self) -> printing.SummaryContent:
        names = (tuple(self.labels.get(own, own) for own in terms) for terms in self.selected)
        found = dataclasses.replace(self, selected=tuple(names))
        score = printing.score_text(found.mean, found.standard_error)
        selected = f"{found.k_of_fit} in the fit on all rows"
        columns, rows = cells.table(
            found.in_pandas.tidy(),
            [
                ("Fold", "fold"),
                ("k", "k"),
                (found.score_name, cells.decimal("score", 3)),
                ("Training", cells.count("n_train")),
                ("Held out", cells.count("n_test")),
                ("Terms", lambda row: terms_text(row["selected"])),
            ],
        )
        return printing.SummaryContent(
            title="Performance: nested cross-validation",
            facts=(
                ("Call", found.call),
                ("Folds", found.scheme),
                ("Choice of k", found.rule),
                ("Final model", found.model),
                ("Selected (k)", f"{span(found.k)} in the folds; {selected}"),
                (found.score_name, f"{score}, on held-out rows"),
                *((("95% interval", found.ci_words),) if found.ci_words else ()),
                ("Seed", str(found.seed)),
            ),
            columns=columns,
            rows=rows,
            notes=_notes(found),
        )

    def __repr__(self) -> str:
        return (
            f"<Performance: {self.score_name}"
            f" {printing.score_text(self.mean, self.standard_error)},"
            f" nested cross-validation{', partial' if self.partial else ''}>"
        )


def _notes(found: Performance) -> tuple[str, ...]:
    n_folds = len(found.scores)
    notes = [*stopped(found, n_folds, "folds"), *filter(None, [found.score_words]), INSIDE_FOLDS]
    if counts := [f"{name} ({count})" for name, count in found.frequency.items()]:
        more = len(counts) - _MOST_NAMES
        notes.append(
            f"Number of folds, of {n_folds}, that selected each term:"
            f" {', '.join(counts[:_MOST_NAMES])}{f' and {more} more terms' if more > 0 else ''}."
        )
    if np.isfinite(found.path_score):
        notes.append(
            f"{found.score_name} of the fit at k = {found.k_of_fit}:"
            f" {printing.decimal_text(found.path_score, 3)}, {found.path_words}."
        )
    notes += [INTERVAL] if found.ci_words else []
    return tuple(notes)


# --- the measurement -----------------------------------------------------------------------------


def measure(
    result: Fit,
    folds: int | Splitter | Sequence[int],
    *,
    scoring: Scoring,
    horizon: float | None = None,
    seed: int,
    course: Course,
    **given: Any,
) -> Performance:
    """Repeat the whole selection in folds: see :meth:`SelectionResult.performance`."""
    outer = outer_folds(
        result, folds, scoring=scoring, seed=stream_seed(seed, "performance"), **given
    )
    here, family, n_folds = outer.here, outer.family, len(outer.splits)
    horizon = horizon_of(horizon, here, outer.weights.values)
    nested = nested_selection(result, outer)._replace(horizon=horizon)
    calls = [
        (nested, split, stream_seed(seed, "performance", number), f"{number + 1}")
        for number, split in enumerate(outer.splits)
    ]
    names = here.arrays.groups.names
    by_fold = run_pieces(one_fold, calls, Kind("fold", Fold), course)
    found, splits = list(by_fold.values()), [outer.splits[number] for number in by_fold]
    n_train, n_test = outer.n_used(splits)
    tests = [split.weights(nested.asked.weights)[1].rows for split in splits]
    own = None if result.scores_are_past or scoring is not None else result.scores
    return Performance(
        scores=np.array([fold.score for fold in found]),
        errors=np.array([fold.error for fold in found]),
        n_cases=n_cases(here.response, outer.weights.only(np.concatenate(tests))),
        selected=tuple(here.terms_of([names[g] for g in fold.units]) for fold in found),
        k=np.array([len(fold.units) for fold in found], dtype=np.int64),
        n_train=n_train,
        n_test=n_test,
        repeats=mean_repeats(splits),
        score_bounds=family.score_bounds,
        family=result.family,
        method=result.method,
        rule=rule_words(nested.asked, result),
        k_of_fit=result.k,
        fingerprint=data_fingerprint(here),
        model=result.model.description,
        path_score=float("nan") if own is None else float(own.mean[result.k]),
        path_words="" if own is None else f"{own.kind}; {own.chooser} chose k",
        held_out=gather_held_out(
            here,
            tests,
            [fold.predicted for fold in found],
            list(by_fold),
            family,
            blocks=outer.weights.blocks,
            event=[fold.event for fold in found if fold.event is not None] or None,
            horizon=float("nan") if horizon is None else horizon,
        ),
        source=result.all_rows(),
        asked=n_folds if len(splits) < n_folds else None,
        labels=shown_names(result.design),
        **outer.scored(result, seed),
    )


def rule_words(asked: Procedure, result: Fit) -> str:
    """How the number of units is chosen when the procedure is repeated."""
    choice, score = asked.choice, asked.problem.family.score_name
    if choice.k is None:
        return f"{result.chosen_method.tuning_words}, as in the fit"
    if isinstance(choice.k, int):
        return f"fixed at {choice.k}, as in the fit"
    if choice.k == AUTO:
        return "smallest sufficient set of each training set"
    name = "1 s.e. rule on" if choice.k == "1se" else "best"
    if result.scores is not None and result.scores.spared is not None:
        # A training set may be too short for that, and is then cross-validated.
        return f"{name} {score}, held-out rows within each training set"
    folds = choice.folds
    count = folds.folds if isinstance(folds.folds, int) else None
    done = "the fit's folds" if count is None else folds.words(count)
    return f"{name} {score}, {done} within each training set"
