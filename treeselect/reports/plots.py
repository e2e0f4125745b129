"""Single figures with matplotlib; all numbers come from the tables of the result.

A figure that is also on a page is the same one. What the page has as tables is built here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from treeselect.arguments.checks import check_choice, described
from treeselect.comparison.methods import noun_in
from treeselect.comparison.record import Contest
from treeselect.designs.modeldata import Associations
from treeselect.designs.preparing import shown_names
from treeselect.errors import OptionError, listing, quoted
from treeselect.figures.axes import distinct, share_axis
from treeselect.figures.charts import bar_figure, dot_figure
from treeselect.figures.marks import Dot, Figure, Plane, Row, Rows, Rule, Tiles
from treeselect.figures.plotting import plotted
from treeselect.figures.shapes import definite, single_figure
from treeselect.reports import comparison, model, path
from treeselect.reports.parts import MOST_ROWS, MOST_UNITS, ContestMaterial
from treeselect.resampling.fit import Fit, as_shown, noun
from treeselect.resampling.risk_groups import group_by_risk
from treeselect.resampling.stability import BY_REQUEST
from treeselect.results.curves import curves, has_curve, of_all_classes, shape_map
from treeselect.results.shapes import given_terms, interaction_table, selected_term
from treeselect.results.tables import importances_of, path_table, selected_first
from treeselect.results.verdict import kept_units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DRAWABLE = 1e300
"""Largest value: matplotlib subtracts values, which would overflow."""

_Drawn = tuple[Figure, float, float]
"""A figure, with the width and height of new axes for it."""


def plot(
    fit: Fit,
    kind: str,
    *,
    term: str | None = None,
    other: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw one figure of a selection (see ``SelectionResult.plot``)."""
    check_choice("kind", kind, KINDS)
    if kind == "shape":
        _check_terms(fit, term, other)
    else:
        for name, value in (("term", term), ("other", other)):
            if value is not None:
                raise OptionError(
                    f"`{name}` must not be given for {kind!r}.\n"
                    f"  Found: {described(value)}. It applies to 'shape' only."
                )
    names = shown_names(fit.design)
    fit = as_shown(fit)
    drawn: _Drawn
    if term is None:
        drawn = _FIGURES[kind](fit)
    elif other is None:
        drawn = _shape(fit, names.get(term, term))
    else:
        drawn = shape_map(fit, names.get(term, term), names.get(other, other)), 6.4, 5.2
    figure, *size = drawn
    return plotted(figure, ax, (size[0], size[1]))


def _check_terms(fit: Fit, term: str | None, other: str | None) -> None:
    if term is None:
        raise OptionError(
            f"`term` must be given for 'shape'.\n  Selected: {listing(fit.selected) or 'nothing'}."
        )
    terms = [selected_term(fit, *named) for named in given_terms(term, other)]
    for name in terms:
        if not has_curve(fit, name):
            variables = fit.design.spec[name].term.variables
            raise OptionError(
                f"Can't plot the shape of {quoted(name)}: a figure shows one variable.\n"
                f"  Found: {listing(variables)}. `fit.model.shape({name!r})` has the numbers."
            )
    behind = {fit.design.spec[name].term.variables[0] for name in terms}
    if len(behind) < len(terms):
        raise OptionError(
            f"`other` must use a different variable from `term`.\n  Found: {listing(behind)} for"
            " both."
        )


def _need_terms(fit: Fit, least: int) -> None:
    if len(fit.selected) < least:
        words = "one selected term" if least == 1 else "two selected terms"
        selected = listing(fit.selected) or "nothing"
        raise _nothing(f"this needs at least {words}.", f"Selected: {selected}.")


def _nothing(why: str, found: str) -> OptionError:
    return OptionError(f"There is nothing to plot: {why}\n  {found}")


# --- over the number of units --------------------------------------------------------------------


def _path(fit: Fit) -> _Drawn:
    table = path_table(fit)
    score = table["train_score" if fit.scores is None else "cv_score"]
    scored = table["k"][score.notna()]
    figure = path.score_path(fit)
    if figure is None:
        sizes = ", ".join(f"k = {k}" for k in scored) or "none"
        raise _nothing(
            "the path needs at least two steps with a score.",
            f"With a score: {sizes}. `fit.path` has the numbers.",
        )
    rows = "out of bag" if fit.chosen_method.tells_out_of_bag else "on the training rows"
    rows = rows if fit.scores is None else fit.scores.kind
    return replace(figure, y=figure.y.named(f"{figure.y.label}, {rows}")), 6.4, 4.0


def _risk_groups(fit: Fit) -> _Drawn:
    figure, _ = model.risk_figure(group_by_risk(fit))
    return replace(figure, y=figure.y.named("event-free share")), 7.2, 5.0


# --- a row for each unit -------------------------------------------------------------------------


def _terms(fit: Fit) -> _Drawn:
    """Importances as bars, and selection frequencies as dots with their intervals if there are
    resamples; then the most frequent units outside the selection."""
    if fit.resampled is None:
        return _importance(fit)
    worth = dict(zip(fit.groups, importances_of(fit, fit.groups), strict=True))
    figure = _frequencies(fit, 15, "importance; selection frequency", worth)
    return replace(figure, bar_kind="importance"), 6.8, 1.4 + 0.3 * len(figure.rows)


def _stability(fit: Fit) -> _Drawn:
    figure = _frequencies(fit, MOST_UNITS, "selection frequency", {})
    return figure, 6.4, 1.2 + 0.28 * len(figure.rows)


def _frequencies(fit: Fit, most: int, label: str, worth: dict[str, float]) -> Rows:
    """Frequencies, beside the importances of units where these are given."""
    stability = fit.stability
    found = stability.in_pandas.tidy()
    table = selected_first(found, most, MOST_ROWS)
    if worth:
        table = table.assign(importance=[worth.get(unit, 0.0) for unit in table["term"]])
        table = table.sort_values(["selected", "importance"], ascending=False, ignore_index=True)
    spans, kept = table[["frequency", "ci_low", "ci_high"]], kept_units(stability)
    spans = spans.mask(table["term"].isin(kept), 1.0)  # is no estimate
    figure = dot_figure(
        [f"{unit} ({BY_REQUEST})" if unit in kept else unit for unit in table["term"]],
        list(spans.itertuples(index=False, name=None)),
        table["selected"].to_list(),
        len(found) - len(table),
        label=f"{label} over {stability.n_resamples:,} resamples with 95% intervals",
    )
    if not worth:
        return figure
    rows = zip(figure.rows, table["importance"], strict=True)
    return replace(figure, rows=[replace(row, bar=bar) for row, bar in rows])


def _importance(fit: Fit) -> _Drawn:
    _need_terms(fit, 1)
    units = fit.groups[:MOST_UNITS]
    figure = bar_figure(units, importances_of(fit, units), 0, label="importance")
    return figure, 6.4, 1.2 + 0.28 * len(units)


def _substitutes(fit: Fit) -> _Drawn:
    table = fit.stability.in_pandas.substitutes.head(MOST_UNITS)
    if table.empty:
        raise OptionError(
            "There are no substitutes to plot.\n"
            f"  On no resample was a selected {noun(fit, 1)} replaced by another."
        )
    rows = [
        Row(
            name=f"{row['substitute']} for {row['term']}",
            dots=[
                Dot(row["share"], 0.0, row["share"]),
                *([Dot(row["share_otherwise"], kind=1)] * (row["share_otherwise"] >= 0)),
            ],
            aside=f"{row['association']:.2f}" if np.isfinite(row["association"]) else "",
        )
        for row in table.to_dict("records")
    ]
    figure = Rows(
        x=share_axis().named("share of resamples that selected the substitute"),
        rows=rows,
        asides="association",
        kinds=(f"resamples without the {noun(fit, 1)}", f"resamples with the {noun(fit, 1)}", ""),
    )
    return figure, 6.8, 1.4 + 0.3 * len(rows)


def _interactions(fit: Fit) -> _Drawn:
    _need_terms(fit, 2)
    table = interaction_table(fit)
    if table.empty:
        raise _nothing(
            "any two of the ten most important terms share a variable.",
            f"Selected: {listing(fit.selected)}.",
        )
    figure = model.interaction_figure(table)
    label = "size of the interaction, on the scale of partial dependence"
    return replace(figure, x=figure.x.named(label)), 7.6, 1.2 + 0.32 * len(figure.rows)


# --- maps ----------------------------------------------------------------------------------------


def _correlation(fit: Fit) -> _Drawn:
    """Associations between selected units in the data: a symmetric map with numbers."""
    _need_terms(fit, 2)
    units = fit.groups[:MOST_UNITS]
    values, side = Associations(fit.design).among(units), 2.2 + 0.5 * len(units)
    np.fill_diagonal(values, np.nan)
    return Tiles(x=units, y=units, values=values, head="Association in the data"), side, side


# --- shapes --------------------------------------------------------------------------------------


def _shape(fit: Fit, term: str) -> _Drawn:
    """Partial dependence on a term of one variable, with a curve for each of many classes."""
    found = curves(fit, term)[:6]
    if any(abs(p.value or 0.0) > _DRAWABLE for p in found[0].points):
        why = f"matplotlib can't draw values beyond {_DRAWABLE:g}."
        raise _nothing(why, "`fit.model.shape(term)` has the numbers.")
    first = found[0]
    what = definite(first.scale) if len(found) == 1 else of_all_classes(first.scale)
    label = f"centred effect on {what}"
    figure = single_figure(found, term, label)
    height = 1.4 + 0.32 * len(first.points) if isinstance(figure, Rows) else 4.0
    return figure, 6.4 if len(found) == 1 else 8.6, height


_FIGURES: dict[str, Callable[[Fit], _Drawn]] = {
    "terms": _terms,
    "path": _path,
    "importance": _importance,
    "stability": _stability,
    "substitutes": _substitutes,
    "correlation": _correlation,
    "interactions": _interactions,
    "risk_groups": _risk_groups,
}

KINDS = (*_FIGURES, "shape")


# --- comparisons ---------------------------------------------------------------------------------

CONTEST_KINDS = ("scores", "differences")


def plot_comparison(found: Contest, kind: str, ax: Axes | None = None) -> Axes:
    """Draw one figure of a comparison (see ``Comparison.plot``)."""
    check_choice("kind", kind, CONTEST_KINDS)
    if kind == "differences" and len(found.runs) < 2:
        compared = f"Compared: {listing(found.methods)}."
        raise _nothing("differences need at least two methods.", compared)
    material = ContestMaterial(found)
    if kind == "scores":
        return plotted(_scores(material), ax, (8.4, 4.4))
    figure = comparison.difference_rows(material)
    label = f"{found.score_name} minus {found.score_name} of {found.best}, with 95% intervals"
    figure = replace(figure, x=figure.x.named(label))
    return plotted(figure, ax, (6.4, 1.4 + 0.28 * len(figure.rows)))


def _scores(material: ContestMaterial) -> Plane:
    """Lines of the page, and the scores of the null and the full model."""
    found = material.found
    figure = comparison.score_lines_figure(material)
    names = distinct([line.method for line in material.lines[: len(figure.series)]], 16.0)
    series = [
        replace(one, name=f"{name}, k = {line.size}")
        for one, name, line in zip(figure.series, names, material.lines, strict=False)
    ]
    references = [
        Rule(row["score"], "x", dashes=row["reference"] == "full", name=f"{row['reference']} model")
        for row in found.in_pandas.references().to_dict("records")
        if figure.y.low <= row["score"] <= figure.y.high
    ]
    units = noun_in(found)
    return replace(
        figure,
        head="Mean over the folds ± one standard error",
        x=figure.x.named(f"number of {units} (k); ring: size at which a method is compared"),
        y=figure.y.named(f"{found.score_name} on held-out rows"),
        series=series,
        rules=references,
    )
