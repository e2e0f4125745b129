"""Is the linear part right? Residuals, influence, collinearity, calibration, and the forest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import scipy

from treeselect.algorithms.method import named_model
from treeselect.arguments.checks import check_choice, check_count
from treeselect.designs.modeldata import ModelData
from treeselect.designs.preparing import shown_names
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import falling
from treeselect.errors import OptionError
from treeselect.figures.axes import nice_ticks, number_axis
from treeselect.figures.marks import Figure, Plane, Rule, Series
from treeselect.figures.plotting import plotted
from treeselect.frames.tables import in_library
from treeselect.models.linear import diagnostics
from treeselect.models.linear.data import GAMMA
from treeselect.models.linear.fit import fit_linear
from treeselect.models.linear.statistics import Recalibration
from treeselect.models.linear.tests import FittedTerms
from treeselect.printing import (
    Summarised,
    SummaryContent,
    decimal_form,
    decimal_text,
    interval_text,
    number_text,
    p_text,
)
from treeselect.resampling import cross_validation
from treeselect.resampling.folds import Folds, split_rows
from treeselect.resampling.held_out import HeldOut, gather_held_out, quantile_groups, recalibration
from treeselect.resampling.held_out_figures import calibration_figure
from treeselect.running.parallel import workers_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("residuals", "quantiles", "influence", "calibration")
"""Figures of diagnostics."""

_INFLATED = 2.0
"""Intervals so many times as wide as without collinearity are pointed out."""

_FOLDS, _GROUPS, _MOST_DOTS, _MOST_NAMED = 10, 10, 2_000, 5


@dataclass(frozen=True, slots=True, eq=False)
class Diagnostics(Summarised):
    """Whether a linear model fits.

    Attributes
    ----------
    terms : pandas.DataFrame
        One row per term: ``term``, ``df``, ``gvif``, the generalised variance inflation factor, and
        ``inflation``, its root of order ``2 df``: about how many times as wide intervals are as if
        the term were uncorrelated with the others; for times to an event ``ph_statistic`` and
        ``ph_p_value`` of the test of proportional hazards.
    interactions : pandas.DataFrame
        One row per pair of terms (of the first ten), whose product is added to the model: ``term``,
        ``other``, ``df``, ``statistic``, ``p_value``, and ``p_adjusted`` for the number of pairs.
    hazards : pandas.DataFrame or None
        Tests of proportional hazards, the last row of all terms together; None without times.
    scores, forest_scores : ndarray of float, shape (n_folds,)
        Of the linear model and of a forest of the same terms, on held-out rows of the same folds.
    difference : PairedDifference
        Of the forest's scores and those of the model.
    calibration : Recalibration or None
        Slope and intercept of the response on the held-out linear predictors; None for more than
        two classes.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age", data, method="mrmr", k=2, seed=1)
    >>> found = fit.refit("glm").diagnostics(folds=3)
    >>> found.terms["term"].tolist()
    ['sex', 'age']
    """

    table: pd.DataFrame
    terms: pd.DataFrame
    interactions: pd.DataFrame
    hazards: pd.DataFrame | None
    scores: FloatArray
    forest_scores: FloatArray
    difference: cross_validation.PairedDifference
    calibration: Recalibration | None
    held_out: HeldOut  # predictions of the linear model for held-out rows
    fitted: FittedTerms
    labels: dict[str, str]  # labels of terms in print
    seed: int
    is_chosen: bool = True  # whether the rows decided on the terms
    library: str = "pandas"

    def _content(self) -> SummaryContent:
        calibration, score = self.calibration, self.held_out.family.score_name
        folds = "" if len(self.scores) == _FOLDS else f"folds={len(self.scores)}"
        facts = [
            ("Call", f"{self.fitted.call}.diagnostics({folds})"),
            ("Model", self.fitted.fit.model),
            ("Rows used", f"{self.fitted.data.row_weights.n_observations:,}"),
            (score, f"{decimal_text(self.scores.mean(), 3)}; a forest of the same terms"
             f" {decimal_text(self.forest_scores.mean(), 3)}; on held-out rows of"
             f" {len(self.scores)} folds"),
        ]  # fmt: skip
        two = decimal_form(2)
        for name, form in (("slope", two), ("intercept", decimal_form(3))):
            value = getattr(calibration, name, np.nan)
            if np.isfinite(value):
                low, high = (getattr(calibration, f"{name}_{end}") for end in ("low", "high"))
                said = f"{value:{form}} (95% interval {interval_text(low, high, form)})"
                facts.append((f"Calibration {name}", said))
        facts.append(("Seed", str(self.seed)))
        columns = ["Term", "Df", "GVIF", "Wider by"]
        table = self.terms
        if self.hazards is not None:
            columns += ["Chi-squared", "P"]
            last = self.hazards.tail(1).rename(
                columns={"statistic": "ph_statistic", "p_value": "ph_p_value"}
            )
            table = pd.concat([table, last], ignore_index=True)
        forms = {"df": ".0f", "gvif": two, "inflation": two, "ph_statistic": two}
        rows = tuple(
            (
                self.labels.get(row["term"], row["term"]),
                *(number_text(row[name], form, "") for name, form in forms.items() if name in row),
                *((p_text(row["ph_p_value"]),) if self.hazards is not None else ()),
            )
            for row in table.to_dict("records")
        )
        return SummaryContent(
            title="Diagnostics of the linear model", facts=tuple(facts), columns=tuple(columns),
            rows=rows, notes=tuple(_notes(self)),
        )  # fmt: skip

    def tidy(self) -> Any:
        """One row per row of the fit.

        Returns
        -------
        frame, in the library of the data
            ``row``, its number in the data, from 0; ``fitted``, the linear predictor (for more than
            two classes without an order the probability of the class observed); ``residual``, the
            deviance residual; ``standardised``, the same divided by its standard error;
            ``quantile``, the randomised quantile residual, standard normal if the model is right;
            ``leverage``; and ``cooks_distance``. A row with copies has the numbers of one.
        """
        return in_library(self.table, self.library)

    def plot(
        self,
        kind: Literal["residuals", "quantiles", "influence", "calibration"] | None = None,
        *,
        ax: Axes | None = None,
    ) -> Any:
        """Draw the diagnostics.

        Parameters
        ----------
        kind : {"residuals", "quantiles", "influence", "calibration"}, optional
            Quantile residuals against the linear predictor, with their means in ten groups; in
            order against quantiles of the normal distribution; Cook's distance against leverage, or
            the number of the row; predicted and observed means of held-out rows. By default all on
            one page.
        ax : matplotlib.axes.Axes, optional
            Axes to draw one kind on; by default new ones.

        Returns
        -------
        matplotlib.axes.Axes, or an array of them, shape (2, 2), for the page

        Raises
        ------
        OptionError
            If the kind is not known, or the model has no such figure.
        MissingPackageError
            If matplotlib is not installed.
        """
        if kind is not None:
            check_choice("kind", kind, KINDS)
            drawn = self._figures().get(kind)
            if drawn is None:
                raise OptionError(
                    f"`kind` must be one of the figures of this model.\n  Found: {kind!r}."
                    " Relative risks have no calibration; more than two classes no influence,"
                    ' and residuals only by `refit("ordinal")`.'
                )
            return plotted(drawn, ax, (6.4, 4.4))
        if ax is not None:
            raise OptionError("`ax` must be left out without a `kind`: the page has four axes.")
        import matplotlib.pyplot as plt

        _, page = plt.subplots(2, 2, figsize=(10.0, 8.0), layout="constrained")
        figures = self._figures()
        for own, name in zip(page.ravel(), KINDS, strict=True):
            if name in figures:
                plotted(figures[name], own, (6.4, 4.4))
            else:
                own.set_axis_off()
        return page

    def _figures(self) -> dict[str, Figure]:
        """The figures by kind."""
        table = self.table
        known = table[np.isfinite(table["quantile"])]
        found: dict[str, Figure] = {}
        if len(known):
            found = {"residuals": _residuals(known), "quantiles": _quantiles(known)}
        if self.fitted.family == "multinomial":  # without a single linear predictor
            found.pop("residuals", None)
        if np.isfinite(table["cooks_distance"]).any():
            found["influence"] = _influence(table)
        if not self.held_out.family.has_times:
            classes = self.held_out.classes
            drawn = calibration_figure(self.held_out, classes[-1] if len(classes) > 2 else None)
            found["calibration"] = dataclasses.replace(drawn, head="Calibration, held out")
        return found

    def __repr__(self) -> str:
        return str(self.summary())


# --- figures -------------------------------------------------------------------------------------


def _plane(head: str, text: str, x: str, y: str, series: Sequence[Series], *rules: Rule) -> Plane:
    across = [v for one in series for v in one.x]
    up = [v for one in series for v in (*one.y, *one.low, *one.high) if np.isfinite(v)]
    return Plane(
        form="square", head=head, text=text,
        x=number_axis(nice_ticks(min(across), max(across), 4)).named(x),
        y=number_axis(nice_ticks(min(up), max(up), 4)).named(y), series=series, rules=rules,
    )  # fmt: skip


def _cloud(x: FloatArray, y: FloatArray, rows: IntArray) -> Series:
    """Rows as small dots: all, or those at equal distances of so many."""
    some = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_DOTS)).astype(np.int64))
    texts = [f"row {rows[i]:,}: {y[i]:.3g} at {x[i]:.3g}" for i in some]
    return Series(
        x=x[some].tolist(), y=y[some].tolist(), line="", texts=texts, small=True, soft=True
    )


def _residuals(table: pd.DataFrame) -> Figure:
    x, y = table["fitted"].to_numpy(), table["quantile"].to_numpy()
    order = np.argsort(x, kind="stable")
    cloud = _cloud(x[order], y[order], table["row"].to_numpy()[order])
    own = quantile_groups(x, np.ones(len(x)), _GROUPS)
    middle = np.array([(x[here].mean(), y[here].mean()) for here in own])
    half = np.array([1.96 * y[here].std() / np.sqrt(len(here)) for here in own])
    means = Series(
        x=middle[:, 0].tolist(), y=middle[:, 1].tolist(), line="straight",
        low=(middle[:, 1] - half).tolist(), high=(middle[:, 1] + half).tolist(), mark=0,
    )  # fmt: skip
    said = "Means in groups by the linear predictor should be near 0."
    return _plane("Residuals", said, "linear predictor", "quantile residual",
                  [cloud, means], Rule(0.0, "x"))  # fmt: skip


def _quantiles(table: pd.DataFrame) -> Figure:
    order = np.argsort(table["quantile"].to_numpy(), kind="stable")
    y = table["quantile"].to_numpy()[order]
    x = scipy.stats.norm.ppf((np.arange(len(y)) + 0.5) / len(y))
    ends = max(abs(x[0]), abs(x[-1]))
    line = Series(x=[-ends, ends], y=[-ends, ends], soft=True)
    return _plane(
        "Normal quantiles", "Residuals should follow the line.",
        "normal quantile", "quantile residual",
        [_cloud(x, y, table["row"].to_numpy()[order]), line],
    )  # fmt: skip


def _influence(table: pd.DataFrame) -> Figure:
    has_leverage = bool(np.isfinite(table["leverage"]).any())
    known = table[np.isfinite(table["cooks_distance"])]
    x = known["leverage" if has_leverage else "row"].to_numpy(dtype=np.float64)
    y, rows = known["cooks_distance"].to_numpy(), known["row"].to_numpy()
    top = falling(y)[:_MOST_NAMED]
    texts = [f"row {rows[i]:,}: Cook's distance {y[i]:.3g}" for i in top]
    marked = Series(x=x[top].tolist(), y=y[top].tolist(), line="", texts=texts, hollow=True)
    return _plane("Influence", "; ".join(texts), "leverage" if has_leverage else "row",
                  "Cook's distance", [_cloud(x, y, rows), marked])  # fmt: skip


def _held_out(
    found: FittedTerms, data: ModelData, folds: int, seed: int
) -> tuple[HeldOut, FloatArray, FloatArray, float]:
    """Held-out predictions of the linear model, scores of both models in each fold, and the ratio
    of held-out to training rows. Knots and reference levels are those of all rows."""
    full, problem = found.data, data.problem
    weights, own_seed = data.row_weights.only(full.rows), stream_seed(seed, "diagnostics")
    splits = split_rows(problem, weights, Folds(folds, choose=False), own_seed)
    selected = np.array([set(names) <= set(found.terms) for names in problem.groups.terms])
    place = np.full(len(data.weight), -1)
    place[full.rows] = np.arange(len(full.rows))
    matrix = full.matrix.to_numpy(dtype=np.float64)
    alone = dataclasses.replace(full, row_weights=full.row_weights.in_groups(None))
    predicted, scores = [], []
    for number, split in enumerate(splits):
        train, test = split.weights(weights)
        part = alone.drawn(train.in_groups(None))
        free = part.is_free
        fit = fit_linear(part.of_columns(free), found.family, found.name, found.classes)
        offset = 0.0 if full.offset is None else full.offset
        means = diagnostics.fitted_means(fit, matrix[:, free], offset)
        predicted.append(means[place[split.test]])
        here = np.zeros((len(data.weight), *means.shape[1:]))
        here[full.rows] = means  # some scores need the predictions of the training rows, too
        forest = named_model(
            "forest", problem, train, selected, seed=stream_seed(seed, "diagnostics", number),
            n_threads=workers_for(None).n_threads, wants_importance=False,
        ).predict(problem)  # fmt: skip
        scores.append([
            problem.family.held_out_score(problem.y, own, test.values, train.values)
            for own in (here, forest)
        ])  # fmt: skip
    tests = [split.test for split in splits]
    held = gather_held_out(
        data, tests, predicted, range(len(tests)), data.response.family, blocks=weights.blocks
    )
    n_train, n_test = np.array([(len(own.train), len(own.test)) for own in splits]).T
    linear, forest_scores = np.array(scores).T
    return held, linear, forest_scores, cross_validation.test_share(n_train, n_test)


# --- the record ----------------------------------------------------------------------------------


def diagnose(
    found: FittedTerms, data: ModelData, folds: object, seed: int, is_chosen: bool, library: str
) -> Diagnostics:
    """See ``GlmFit.diagnostics``."""
    n_folds = check_count("folds", folds, least=2, most=1000)
    if not found.terms:
        raise OptionError("Diagnostics need a model with terms.\n  Found: none selected.")
    rows = diagnostics.row_diagnostics(found, seed)
    table = pd.DataFrame({"row": data.response.rows[found.data.rows], **rows._asdict()})
    table = table.drop_duplicates("row", ignore_index=True)  # of copies
    terms = diagnostics.variance_inflation(found)
    hazards = diagnostics.hazard_tests(found) if found.data.has_times else None
    if hazards is not None:
        terms = terms.assign(
            ph_statistic=hazards["statistic"][:-1], ph_p_value=hazards["p_value"][:-1]
        )
    held, scores, forest, share = _held_out(found, data, n_folds, seed)
    gap = cross_validation.paired_difference(cross_validation.differences(forest, scores), share)
    law = found.fit.result.model.family if found.family == GAMMA else None
    return Diagnostics(
        table, terms, diagnostics.interaction_tests(found), hazards, scores, forest, gap,
        recalibration(held, law), held, found, shown_names(data), seed,
        is_chosen, library,
    )  # fmt: skip


def _notes(own: Diagnostics) -> Iterator[str]:
    """What to look at, in sentences."""
    score, gap = own.held_out.family.score_name, own.difference

    def listed(names: Iterable[str]) -> str:
        return ", ".join(own.labels.get(name, name) for name in names)

    yield from own.fitted.fit.problems
    if gap.low > 0:
        ends = interval_text(gap.low, gap.high, ".3f")
        yield (
            f"A forest of the same terms predicts better: {score} higher by {gap.mean:.3f} (95%"
            f" interval {ends}). Something bends or interacts: look at the residuals, and try"
            ' `refit("gam")` or interactions.'
        )
    pairs = own.interactions[own.interactions["p_adjusted"] < 0.05].head(_MOST_NAMED)
    if len(pairs):
        said = ", ".join(
            f"{listed([row['term']])} × {listed([row['other']])} ({p_text(row['p_adjusted'])})"
            for row in pairs.to_dict("records")
        )
        yield (
            "Interactions that add to the model, with P adjusted for the number of pairs,"
            f" {len(own.interactions):,} (Holm): {said}. A formula with `*` has them."
        )
    if own.calibration is not None and own.calibration.slope_high < 1:
        yield "The calibration slope is below 1: predictions for new rows are too extreme."
    wide = own.terms.loc[own.terms["inflation"] > _INFLATED, "term"]
    if len(wide):
        yield f"Collinear with other terms: {listed(wide)}."
        if not set(wide) <= set(own.fitted.droppable):
            yield (
                "An interaction is collinear with the terms that it contains by construction; what"
                " it fits does not depend on that."
            )
    gone = own.terms.loc[own.terms["df"] == 0, "term"]
    if len(gone):
        yield f"Without coefficients, as linear combinations of the other columns: {listed(gone)}."
    if own.hazards is not None:
        terms = own.terms.loc[own.terms["ph_p_value"] < 0.05, "term"]
        how = ", with robust variances" * own.fitted.is_robust
        yield f"Chi-squared and P: tests of proportional hazards (R: `cox.zph`){how}."
        if len(terms):
            yield (
                f"The hazard ratio seems to change over time: {listed(terms)}. What is estimated is"
                " then an average."
            )
    known = own.table[np.isfinite(own.table["cooks_distance"])]
    if len(known):
        cook = known["cooks_distance"].to_numpy()
        top = falling(cook)[:_MOST_NAMED]
        said = ", ".join(f"{known['row'].iloc[i]:,} ({cook[i]:.2g})" for i in top)
        yield f"Rows of most influence, numbered from 0, with Cook's distance: {said}."
    yield (
        "Wider by: how many times as wide intervals are as if the term were uncorrelated with the"
        " others (the root of order 2 df of GVIF)."
    )
    if own.is_chosen:
        yield (
            "All rows selected the terms, so held-out scores are a little too good;"
            " `performance()` repeats the selection."
        )
