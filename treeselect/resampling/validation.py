"""The whole procedure on bootstrap samples: optimism of its figures, instability of predictions."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from treeselect.arguments import checks
from treeselect.designs.families import Family
from treeselect.designs.preparing import in_labels
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import at_least
from treeselect.errors import OptionError, quoted
from treeselect.figures.charts import agreement_figure, share_figure
from treeselect.figures.marks import Plane, Series
from treeselect.figures.plotting import plotted
from treeselect.models.linear.statistics import recalibrate
from treeselect.printing import Summarised, SummaryContent, cells, decimal_text, number_text
from treeselect.printing.numbers import span
from treeselect.resampling import held_out
from treeselect.resampling.agreement import known_quantiles
from treeselect.resampling.assessing import check_varies, resample_weights
from treeselect.resampling.choosing import Procedure, run_selection
from treeselect.resampling.cross_validation import known_score
from treeselect.resampling.fit import NO_SOURCE, Fit, Source
from treeselect.resampling.performance import rule_words
from treeselect.resampling.records import OfFolds, Stoppable, stopped
from treeselect.resampling.subgroups import read_subgroups
from treeselect.running.parallel import Workers
from treeselect.running.pieces import Course, Kind, run_pieces

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DRAWN_ROWS, _DRAWN_CURVES = 150, 40
"""Rows, and calibration curves, in a figure."""


@dataclass(frozen=True, eq=False)
class Validation(Summarised, OfFolds, Stoppable):
    """The whole procedure, repeated on bootstrap samples of the rows.

    Returned by :meth:`treeselect.SelectionResult.validate`.

    Attributes
    ----------
    scheme, call, seed, asked, library
        As of :class:`treeselect.resampling.records.OfFolds` and ``Stoppable``.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=1, seed=1)
    >>> fit.validate(5).tidy()["measure"].to_list()
    ['AUC', 'slope', 'intercept']
    """

    # (n_rows,); the fit's means, probabilities of the positive class or of the event
    predicted: FloatArray
    # (n_samples, n_rows); those of each sample's model, missing without the row's stratum
    resampled: FloatArray
    apparent: FloatArray  # (3,); score, calibration slope and intercept of the fit on its own rows
    # (n_samples, 3, 3); of each model on the rows drawn, on all and on the others
    measures: FloatArray
    k: IntArray  # (n_samples,); number of units selected on each sample
    k_of_fit: int
    rows: IntArray  # (n_rows,); number in the data
    y: FloatArray
    mass: FloatArray
    family: Family
    horizon: float  # of times to an event; otherwise NaN
    what: str  # what is predicted, in words
    rule: str  # how the number of units is chosen
    # the data, for `by`; a copy is without them
    source: Source = dataclasses.field(default=NO_SOURCE, repr=False, compare=False)

    @property
    def n_samples(self) -> int:
        """Number of bootstrap samples."""
        return len(self.k)

    @property
    def mean_error(self) -> float:
        """Mean absolute prediction error: the mean of that of the rows (:meth:`instability`)."""
        return float(np.average(self._errors(), weights=self.mass))

    def _errors(self) -> FloatArray:
        return _means(np.abs(self.resampled - self.predicted))

    def tidy(self) -> Any:
        """Score, calibration slope and intercept, corrected for optimism.

        Returns
        -------
        frame, in the library of the data
            One row per measure: ``measure``; ``apparent``, of the fit on its own rows;
            ``training`` and ``test``, means over the bootstrap samples of the measure of a model on
            the rows drawn and on all rows; ``optimism``, their difference; ``corrected``, apparent
            less optimism; ``left_out``, mean on the rows not drawn; ``n``, number of samples in
            which training and test are known.
        """
        known = np.asarray(np.isfinite(self.measures[:, :2]).all(axis=1))
        both = np.where(known[:, None], self.measures[:, :2], np.nan)
        training, test = _means(both)
        table = pd.DataFrame({
            "measure": [self.family.score_name, "slope", "intercept"], "apparent": self.apparent,
            "training": training, "test": test, "optimism": training - test,
            "corrected": self.apparent - (training - test),
            "left_out": _means(self.measures[:, 2]), "n": known.sum(axis=0),
        })  # fmt: skip
        return self._frame(table)

    def instability(self, threshold: float | None = None) -> Any:
        """How much predictions vary between models developed on other samples.

        Parameters
        ----------
        threshold : float, optional
            A risk from which on a row is classified as positive, above 0 and below 1.

        Returns
        -------
        frame, in the library of the data
            One row per row of the fit, of times to an event per row whose stratum is followed until
            the horizon: ``row``, its number in the data, from 0; ``predicted``, by
            the fit; ``low`` and ``high``, the 2.5th and 97.5th percentiles of the predictions by
            the models of the samples; ``error``, mean absolute difference between these and the
            prediction of the fit; with a threshold ``changed``, share of the models that classify
            the row differently than the fit.

        Raises
        ------
        OptionError
            If the threshold is not allowed, or the response has no risks.
        """
        low, high = known_quantiles(self.resampled)
        table = {"row": self.rows, "predicted": self.predicted, "low": low, "high": high}
        table["error"] = self._errors()
        if threshold is not None:
            threshold = checks.check_share("threshold", threshold)
            if not (self.family.has_classes or self.family.has_times):
                raise OptionError(
                    "`threshold` needs a response of two classes, or times to an event.\n"
                    f"  Found: family {quoted(self.family.name)}."
                )
            own, others = (at_least(p, threshold) for p in (self.predicted, self.resampled))
            others = np.where(np.isnan(self.resampled), np.nan, others != own)
            table["changed"] = _means(others)
        return self._frame(pd.DataFrame(table))

    def by(self, column: Any, threshold: float | None = None) -> Any:
        """Instability by subgroup.

        Parameters
        ----------
        column : str, or one value per row of the data
            Labels, or a number with at most 20 distinct values.
        threshold : float, optional
            As in :meth:`instability`.

        Returns
        -------
        frame, in the library of the data
            One row per subgroup: ``group``; ``n``, number of rows (or their total weight); means of
            the columns of :meth:`instability`, ``predicted``, ``error``, ``width`` (``high`` less
            ``low``) and, with a threshold, ``changed``; ``observed``, as in :meth:`calibration`;
            ``mean_low`` and ``mean_high``, the 2.5th and 97.5th percentiles of the mean prediction
            of the subgroup by the models of the samples.

        Raises
        ------
        OptionError
            If an argument is not allowed.
        """
        names, group = read_subgroups(column, self.source, self.rows)
        table = self.in_pandas.instability(threshold)
        table["width"] = table["high"] - table["low"]
        found: dict[str, Any] = {
            "group": pd.Series(names, dtype=pd.Series(["text"]).dtype),
            "n": np.bincount(group, self.mass),
        }
        members = [np.flatnonzero(group == g) for g in range(len(names))]
        for name in ("predicted", "error", "width", *(("changed",) * (threshold is not None))):
            found[name] = np.bincount(group, self.mass * table[name]) / found["n"]
        found["observed"] = [_observed(self, own) for own in members]
        means = [_means(self.resampled[:, own].T, self.mass[own]) for own in members]
        found["mean_low"], found["mean_high"] = known_quantiles(np.array(means).T)
        return self._frame(pd.DataFrame(found))

    def calibration(self, n_groups: int = 10) -> Any:
        """Calibration curves, on all rows, of the fit and of the model of each bootstrap sample.

        Parameters
        ----------
        n_groups : int
            From 2 to 100. Rows with equal predictions stay together.

        Returns
        -------
        frame, in the library of the data
            One row per model and group of rows by its predictions: ``sample``, 0 for the fit;
            ``group``; ``predicted``, mean prediction; ``observed``, mean response, share of the
            class, or Kaplan and Meier's estimate of the share with the event by the horizon,
            missing if follow-up ends before.

        Raises
        ------
        OptionError
            If `n_groups` is not allowed.
        """
        n_groups = checks.check_count("n_groups", n_groups, least=2, most=100)
        models = [self.predicted, *self.resampled]
        parts = [_curve(self, own, n_groups).assign(sample=i) for i, own in enumerate(models)]
        table = pd.concat(parts, ignore_index=True)
        return self._frame(table[["sample", "group", "predicted", "observed"]])

    def plot(self, kind: str = "predictions", *, ax: Axes | None = None) -> Axes:
        """Draw the instability of predictions.

        Parameters
        ----------
        kind : {"predictions", "calibration"}
            Central 95% of the predictions of a row by the models of the samples, against that of
            the fit, of at most 150 rows; calibration curves of all models.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; by default new ones.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        OptionError
            If an argument is not allowed.
        MissingPackageError
            If matplotlib is not installed.
        """
        checks.check_choice("kind", kind, ("predictions", "calibration"))
        return plotted(validation_figure(self, kind), ax, (5.0, 4.4))

    def _content(self) -> SummaryContent:
        table = self.in_pandas.tidy()
        names = ("apparent", "training", "test", "optimism", "corrected", "left_out")
        measures = [(n.replace("_", " ").capitalize(), cells.decimal(n, 3, "–")) for n in names]
        columns, rows = cells.table(table, [("Measure", "measure"), *measures])
        each = self.in_pandas.instability()
        form = ".3f" if self.family.has_classes or self.family.has_times else ".4g"
        error = f"{number_text(self.mean_error, form)}; 95% of the predictions of a row are within"
        width = (each["high"] - each["low"]).median()
        error += f" {number_text(width, form)} of each other (median)"
        lost = self.n_samples - int(table["n"].min())
        unknown = f"In {lost:,} samples a slope or intercept can't be estimated; they are left out."
        intercept = (
            "log of observed over expected events" if self.family.has_times else "at slope 1"
        )
        return SummaryContent(
            title="Validation: the whole procedure on bootstrap samples",
            facts=(
                ("Call", self.call),
                ("Samples", f"{self.n_samples:,}, {self.scheme}"),
                ("Choice of k", self.rule),
                ("Selected (k)", f"{span(self.k)} on the samples; {self.k_of_fit} in the fit"),
                ("Predicted", self.what),
                ("Mean error", error),
                ("Seed", str(self.seed)),
            ),
            columns=columns,
            rows=rows,
            notes=(
                *stopped(self, self.n_samples, "samples"),
                *filter(None, [self.family.score_words]),
                "Optimism: mean over the bootstrap samples of a measure on the rows drawn less that"
                " on all rows. Corrected: apparent less optimism (Harrell 2015). Left out: mean on"
                " the rows not drawn, about a third, which a model has not seen.",
                "Slope: 1 if predictions are neither too extreme nor too moderate."
                f" Intercept ({intercept}): 0 if they are right on average.",
                "Forests and other models that nearly reproduce their own rows look near perfect on"
                " them: trust the column of the rows left out, and `performance()`.",
                "Mean absolute prediction error: mean distance of the predictions of a row by the"
                " models of the samples from that by the fit (Riley and Collins 2023), mean over"
                " the rows. `.instability()` has that of each row.",
                *((unknown,) if lost else ()),
            ),
        )

    def __repr__(self) -> str:
        own = self.in_pandas.tidy().iloc[0]
        return (
            f"<Validation: {own['measure']} {decimal_text(own['corrected'], 3)} corrected for"
            f" optimism, {self.n_samples:,} bootstrap samples>"
        )


def _means(values: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Means over the first axis of what is known; missing if nothing is."""
    found = np.ma.average(np.ma.masked_invalid(values), axis=0, weights=weight)
    return np.asarray(np.ma.filled(found, np.nan))


def _curve(found: Validation, predicted: FloatArray, n_groups: int) -> pd.DataFrame:
    """Predicted and observed means in groups of rows by prediction."""
    here = np.flatnonzero(~np.isnan(predicted))
    groups = held_out.quantile_groups(predicted[here], found.mass[here], n_groups)
    members = [here[own] for own in groups]
    means = [np.average(predicted[own], weights=found.mass[own]) for own in members]
    observed = [_observed(found, own) for own in members]
    group = np.arange(1, len(members) + 1)
    return pd.DataFrame({"group": group, "predicted": means, "observed": observed})


def _observed(found: Validation, rows: IntArray) -> float:
    return held_out.mean_outcome(found.y[rows], found.mass[rows], found.horizon)


def validation_figure(found: Validation, kind: str) -> Plane:
    """See :meth:`Validation.plot`."""
    is_share = found.family.has_classes or found.family.has_times
    square = share_figure if is_share else agreement_figure
    name = f"P({found.what})" if is_share else f"prediction of {found.what}"
    if kind == "calibration":
        models = [found.predicted, *found.resampled[:_DRAWN_CURVES]]
        lines = [_line(_curve(found, own, 10), is_fit=i == 0) for i, own in enumerate(models)]
        drawn = square(lines[0], (f"mean {name}", "observed"))
        return dataclasses.replace(drawn, series=[*lines[1:], lines[0]])
    table = found.in_pandas.instability().sort_values("predicted")
    table = table.iloc[np.unique(np.linspace(0, len(table) - 1, _DRAWN_ROWS).round().astype(int))]
    x, low, high = (table[column].to_list() for column in ("predicted", "low", "high"))
    texts = _texts(table[["predicted", "low", "high"]])
    bars = Series(x=x, y=x, line="", low=low, high=high, texts=texts, small=True)
    return square(bars, (f"{name} by the fit", "by models of bootstrap samples"))


def _line(curve: pd.DataFrame, *, is_fit: bool) -> Series:
    x, y = curve["predicted"].to_list(), curve["observed"].to_list()
    if not is_fit:
        return Series(x=x, y=y, soft=True)
    return Series(x=x, y=y, mark=0, colour=1, texts=_texts(curve[["predicted", "observed"]]))


def _texts(table: pd.DataFrame) -> list[str]:
    rows = table.to_dict("records")
    return [", ".join(f"{name} {value:.3g}" for name, value in row.items()) for row in rows]


# --- the bootstrap -------------------------------------------------------------------------------


class _Sample(NamedTuple):
    """The procedure on one bootstrap sample."""

    units: IntArray
    predicted: FloatArray  # (n_rows,)
    measures: FloatArray  # (3, 3): of rows drawn, all rows, rows not drawn; by measure


def validate(
    result: Fit, n: int, horizon: float | None, *, seed: int, course: Course
) -> Validation:
    """See :meth:`treeselect.SelectionResult.validate`."""
    n = checks.check_count("n", n, least=2, most=checks.MOST_RESAMPLES)
    here, folds = result.in_groups()
    family, weights = here.response.family, here.row_weights
    if family.n_classes > 2:
        raise OptionError(
            "`validate()` needs numbers, counts, two classes, or times to an event.\n"
            f"  Found: {family.n_classes} classes."
        )
    horizon = held_out.horizon_of(horizon, here, weights.values)
    method = result.chosen_method
    problem = dataclasses.replace(here.problem_for(method), wants_scores=False)
    asked = Procedure(problem, method, weights, dataclasses.replace(result.choice, folds=folds))
    own_seed = stream_seed(seed, "validation")
    calls = [(asked, horizon, own_seed, number) for number in range(n)]
    found = list(run_pieces(_one, calls, Kind("sample", _Sample), course).values())
    risk = result.model.predict(problem)
    predicted = _shown(problem, weights, risk, horizon)
    shown = np.flatnonzero(~np.isnan(predicted))
    response, values = here.response, weights.values[shown].astype(np.float64)
    named = in_labels(here).response
    what = f"{named.name} = {named.classes[-1]}" if named.classes else named.name
    if named.follow_up is not None:
        what = f"event by {named.follow_up.time} = {horizon:g}"
    return Validation(
        predicted=predicted[shown],
        resampled=np.array([own.predicted[shown] for own in found]),
        apparent=_measures(problem, weights, weights, risk),
        measures=np.array([own.measures for own in found]),
        k=np.array([len(own.units) for own in found], dtype=np.int64),
        k_of_fit=result.k,
        rows=response.rows[shown],
        y=response.y[shown],
        mass=values if weights.are_copies else values / values.mean(),
        family=family,
        horizon=float("nan") if horizon is None else horizon,
        what=what,
        rule=rule_words(asked, result),
        scheme="of whole clusters" if weights.groups is not None else "of the rows",
        seed=seed,
        asked=n if len(found) < n else None,
        library=here.library,
        source=result.all_rows(),
    )


def _one(
    asked: Procedure, horizon: float | None, seed: int, number: int, *, n_threads: int = 1
) -> _Sample:
    problem, _, weights, choice = asked
    drawn = resample_weights(problem, weights, "bootstrap", number, seed)
    check_varies(problem, [drawn], number)
    if choice.k == checks.AUTO and drawn.groups is None:
        # The tests must not take copies of a row for independent rows: each row is a cluster.
        drawn = drawn.in_groups(np.arange(len(drawn)))
    found, model = run_selection(
        asked._replace(weights=drawn), stream_seed(seed, "sample", number), Workers(1, n_threads),
        progress=False,
    )  # fmt: skip
    risk = model.predict(problem, n_threads)
    others = weights.only(np.flatnonzero(weights.used & ~drawn.used))
    parts = [_measures(problem, drawn, rows, risk) for rows in (drawn, weights, others)]
    chosen, measures = np.flatnonzero(found.step.selected), np.array(parts)
    measures[~np.isfinite(measures)] = np.nan
    return _Sample(chosen, _shown(problem, drawn, risk, horizon), measures)


def _shown(
    problem: Problem, training: RowWeights, risk: FloatArray, horizon: float | None
) -> FloatArray:
    """Predictions on the scale of the response: of times, of the event by the horizon."""
    if horizon is None:
        return risk
    return 1 - held_out.survival_at(problem, training.values, risk, horizon)


def _measures(
    problem: Problem, training: RowWeights, rows: RowWeights, risk: FloatArray
) -> FloatArray:
    """Score, calibration slope and intercept on some rows, of predictions by a model fitted to the
    training rows; missing where they are not known."""
    family, at, nothing = problem.family, rows.rows, np.full(3, np.nan)
    if not len(at):
        return nothing
    learned = training.values * problem.in_training
    score = known_score(family, problem.y, risk, rows.values, learned)
    mass = rows.values[at].astype(np.float64)
    mass = mass if rows.are_copies else mass / mass.mean()
    eta = held_out.linear_predictor(family, risk)
    offset = None if problem.offset is None else problem.offset[at]
    found = recalibrate(family.name, problem.y[at], eta[at], mass, offset=offset)
    intercept = found.intercept
    if family.has_times:
        intercept = held_out.excess_events(problem.y, eta, learned, at, mass)
    return np.array([score, found.slope, intercept])
