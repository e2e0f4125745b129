"""Figures of a linear model: its coefficients with their intervals, the effect of a term."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from treeselect.designs.columns import TermSpec
from treeselect.designs.modeldata import INTERCEPT, ModelData
from treeselect.designs.preparing import shown_names
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.errors import OptionError, listing, quoted
from treeselect.figures.axes import nice_ticks, number_axis, ratio_axis
from treeselect.figures.charts import interval_rows
from treeselect.figures.marks import Figure, Rows, Rule
from treeselect.figures.shapes import MISSING, Curve, CurvePoint, panels, share_scale, single_figure
from treeselect.frames.values import Labels, read_column
from treeselect.models.linear import coefficients
from treeselect.models.linear.fit import LinearFit
from treeselect.models.linear.tests import FittedTerms
from treeselect.printing import interval_text, number_text
from treeselect.results.curves import LOG_HAZARD, level_text, value_text

_FARTHEST = math.log(1000.0)
"""Logarithms of ratios beyond are drawn there."""

_MOST_POINTS = 60
"""Points of a curve."""


def coefficient_figure(table: pd.DataFrame, ratio: str, names: Sequence[str]) -> Rows | None:
    """Coefficients with intervals, without intercepts, on a logarithmic axis if they are ratios."""
    columns = ["estimate", "ci_low", "ci_high"]
    values = table[columns].to_numpy(dtype=np.float64)
    keep = np.isfinite(values[:, 0]) & (table["term"] != INTERCEPT).to_numpy()
    if not keep.any():
        return None
    form, texts = coefficients.coefficient_form(table), []
    for row, (estimate, low, high) in zip(table[keep].itertuples(), values[keep], strict=True):
        pair = number_text(estimate, form), interval_text(low, high, form)
        texts.append("{} ({})".format(*(coefficients.ratio_cells(row) if ratio else pair)))
    drawn = values[keep]
    if ratio:
        drawn = np.clip(np.nan_to_num(drawn, nan=0.0), -_FARTHEST, _FARTHEST)
        axis = ratio_axis(drawn.min(), drawn.max())
    else:
        drawn = np.where(np.isfinite(drawn), drawn, drawn[:, :1])
        axis = number_axis(nice_ticks(min(0.0, drawn.min()), max(0.0, drawn.max())))
    own = [name for name, here in zip(names, keep, strict=True) if here]
    head = f"{ratio.capitalize() or 'Estimate'} (95% interval)"
    figure = interval_rows(own, drawn.tolist(), texts, axis.named(head))
    return replace(figure, rules=[Rule(0.0, "y", "")], key="coefficients", title="Coefficients")


def term_figure(found: FittedTerms, data: ModelData, term: str) -> Figure:
    """The effect of a term on the linear predictor."""
    drawn = linear_curves(found, data, term)
    scale = drawn[0].scale if len(drawn) == 1 else "linear predictor of each class"
    return single_figure(drawn, shown_names(data).get(term, term), f"effect on the {scale}")


def spline_figures(found: FittedTerms, data: ModelData) -> tuple[Figure, ...]:
    """The effect of each number that has a spline, of the first class if there are several."""
    names = shown_names(data)
    own = [t for t in found.data.splines if len(data.spec[t].term.variables) == 1]
    drawn = [replace(linear_curves(found, data, t)[0], term=names.get(t, t)) for t in own]
    small = panels(drawn, shared=share_scale(drawn)) if drawn else ()
    return tuple(replace(one, key=f"spline-{i}") for i, one in enumerate(small, start=1))


def linear_curves(found: FittedTerms, data: ModelData, term: str) -> tuple[Curve, ...]:
    """The part of a term in the linear predictor less its mean, with 95% confidence intervals: one
    curve, or for more than two classes one for each but the first."""
    is_known = isinstance(term, str) and term in found.terms
    spec = next((s for s in data.spec.terms if is_known and s.term.name == term), None)
    if spec is None:
        raise OptionError(
            f"`term` must be a term of the model.\n  Found: {quoted(str(term))}. Terms:"
            f" {listing(found.terms) or 'none'}."
        )
    if len(spec.term.variables) != 1:
        raise OptionError(
            f"Can't plot the effect of {quoted(term)}: a figure shows one variable.\n"
            f"  Found: {listing(spec.term.variables)}. `predict(new, se=True)` has the numbers."
        )
    full, fit = found.data, found.fit
    own = [i for i, t in enumerate(full.term_of) if t == term]
    x = full.matrix.iloc[:, own].to_numpy(dtype=np.float64)
    weight = np.asarray(full.row_weights.values, dtype=np.float64)
    where, first, known = _places(spec, data, full.rows, weight)
    classes = data.response.classes[1:] if found.family == "multinomial" else ()
    labels = [str(c) for c in classes] or [""]
    scale = LOG_HAZARD if full.has_times else "linear predictor"
    curves = []
    columns = full.matrix.columns[own].astype(str)
    names = {c: [f"{c}: {name}" if c else name for name in columns] for c in labels}
    free = [k for k, name in enumerate(names[labels[0]]) if name in fit.names]
    places = {c: [fit.names.index(names[c][k]) for k in free] for c in labels}
    usable = _usable(x[:, free], fit, [*places.values()], first, found.family)
    for label, at in places.items():
        base = usable & known if (usable & known).any() else usable
        rows = x[first][:, free] - np.average(x[base][:, free], axis=0, weights=weight[base])
        made = np.zeros((len(rows), len(fit.names)))
        made[:, at] = rows
        words = [point.label for point in where]
        table = coefficients.coefficient_table(coefficients.combinations(fit, made, words, words))
        ends = table[["estimate", "ci_low", "ci_high"]].to_numpy(dtype=np.float64).tolist()
        points = [
            replace(point, effect=effect, low=low, high=high)
            for point, (effect, low, high), there in zip(where, ends, usable[first], strict=True)
            if there
        ]
        word = f"{scale} of {label}" if label else scale
        is_number = any(point.value is not None for point in points)
        name = data.word_for(spec.term.variables[0])
        curves.append(Curve(term, name, is_number, word, tuple(points), 0, label))
    return tuple(curves)


def _places(
    spec: TermSpec, data: ModelData, rows: IntArray, weight: FloatArray
) -> tuple[list[CurvePoint], IntArray, BoolArray]:
    """The values of a variable as points without effects, numbers at equal steps of their ranks and
    missing values last; a row for each; and the rows where it is known, all if none."""
    series = data.sources[spec.term.variables[0]].iloc[rows]
    column = read_column(series, spec.term.variables[0])
    missing = series.isna().to_numpy(dtype=bool)
    is_number = not isinstance(column, Labels) and spec.kind != "factor"
    codes = column.codes if isinstance(column, Labels) else column.values
    values, first, place = np.unique(
        np.where(missing, np.inf, codes.astype(np.float64)), return_index=True, return_inverse=True
    )
    share = np.bincount(place, weight) / weight.sum()
    kept = _spaced(share) if is_number else list(range(len(values)))
    points = []
    for i in kept:
        lost, value = bool(missing[first[i]]), series.iloc[first[i]]
        number = float(values[i]) if is_number and not lost else None
        known = level_text(value) if number is None else value_text(number)
        label = MISSING if lost else known
        points.append(CurvePoint(number, label, float(share[i]), 0.0, lost))
    return points, first[kept], ~missing if not missing.all() else missing


def _usable(
    x: FloatArray, fit: LinearFit, places: Sequence[Sequence[int]], first: IntArray, family: str
) -> BoolArray:
    """Rows without an indicator whose coefficient is infinite for some class, of a level or of
    missing values in which only one class or no event occurs; all if they have fewer than two
    values."""
    errors = np.sqrt(np.diag(fit.covariance)[np.array(places, dtype=np.int64)]).max(axis=0)
    infinite = (errors * np.ptp(x, axis=0) > 2 * _FARTHEST) & (family != "gaussian")
    found = ~(x[:, infinite] != 0).any(axis=1)
    return found if found[first].sum() > 1 else np.ones(len(x), dtype=np.bool_)


def _spaced(share: FloatArray) -> list[int]:
    """Places of at most so many values at equal steps of their ranks, the ends among them."""
    middle = np.cumsum(share) - share / 2
    wanted = np.linspace(middle[0], middle[-1], _MOST_POINTS)
    last = len(share) - 1
    found = np.unique([0, last, *np.minimum(np.searchsorted(middle, wanted), last)])
    return [int(i) for i in found]
