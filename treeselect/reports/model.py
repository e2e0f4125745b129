"""The final model: shapes, interactions, trees, risk groups, linear model."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from treeselect.errors import OptionError
from treeselect.figures.axes import time_ticks
from treeselect.figures.charts import bar_figure, survival_figure
from treeselect.figures.marks import Plane, Rows, Series
from treeselect.figures.shapes import Curve, CurvePoint, definite, panels, share_scale
from treeselect.printing import cells, enumeration, interval_text, signed, significant_text
from treeselect.reports import parts
from treeselect.resampling.fit import Fit, noun
from treeselect.resampling.inference import Inference
from treeselect.resampling.risk_groups import RiskGroups, group_by_risk
from treeselect.results.curves import DOUBLED, MOST_LEVELS, CurveRow, of_all_classes
from treeselect.results.effects import decimals
from treeselect.results.linear_model import GlmFit, figure_of_coefficients, figures_of_splines
from treeselect.results.shapes import interaction_table, strength_texts
from treeselect.results.trees import tree_table, units_without_trees


def learned(material: parts.FitMaterial) -> parts.Section | None:
    """The model in a sentence; None if nothing is selected."""
    fit = material.fit
    if not fit.selected:
        return None
    said = f"The final model is {fit.model.description}."
    if not fit.design.has_data:
        said += (
            " Partial dependence and interactions need the data of the fit, which were not saved"
            " with it; `fit.save(path, include_data=True)` includes them."
        )
    return parts.Section("learned", "Final model", lead=said)


# --- centred partial dependence of the model's predictions on each term -------------------------


def shapes(material: parts.FitMaterial) -> parts.Section | None:
    """Shapes of the most important terms; None without the data or a term of one variable."""
    fit = material.fit
    found = tuple(row[:6] for row in material.curve_rows)
    if not found:
        return None
    table = _points_table(found)
    return parts.Section(
        "shapes",
        "Partial dependence",
        sub=True,
        lead=_shapes_lead(fit, found),
        rows=_pictures(fit, found),
        table=table.titled("Partial dependence on the terms", "Partial dependence as a table"),
    )


def _all_curves(rows: tuple[CurveRow, ...]) -> list[Curve]:
    return [curve for row in rows for curve in row]


def _pictures(fit: Fit, rows: tuple[CurveRow, ...]) -> tuple[parts.Panels, ...]:
    """A row of panels for each row of curves, on one scale if every curve is visible on it."""
    found = _all_curves(rows)
    drawn = iter(panels(found, shared=share_scale(found), brief=len(rows) > 1))
    response = fit.design.response.name
    return tuple(
        parts.Panels(
            f"{response}: {row[0].of_class}" if len(rows) > 1 else "",
            tuple(replace(next(drawn), key=f"shape-{i + 1}-{j + 1}") for j in range(len(row))),
        )
        for i, row in enumerate(rows)
    )


def _shapes_lead(fit: Fit, rows: tuple[CurveRow, ...]) -> str:
    found = _all_curves(rows)
    scales = {curve.scale for curve in found}
    scale = definite(found[0].scale) if len(scales) == 1 else of_all_classes(found[0].scale)
    sentences = [
        f"Centred partial dependence of {scale} on the most important terms: the mean"
        " prediction as the term varies and the other terms keep their observed values, minus its"
        " average."
    ]
    if not share_scale(found):
        sentences.append("Scales differ between panels, because effect sizes differ widely.")
    elif len(found) > 1:
        sentences.append("All panels have the same scale.")
    if any(curve.is_number for curve in found):
        sentences.append(
            "Grey bars below a curve show the distribution of the rows; where a number has many"
            " values, a point is a mean over neighbours."
        )
    if not fit.design.row_weights.are_copies:
        sentences.append("Means and shares are those of rows weighted by their case weights.")
    if fit.design.response.family.has_times:
        sentences.append(DOUBLED)
    n_classes = len(fit.design.response.classes)
    if n_classes > 2:
        sentences.append(
            "There is one row of panels for each class."
            if len(rows) > 1
            else f"Of the {n_classes:,} classes, only the one with the most variable effects is"
            f" shown: {rows[0][0].of_class}."
        )
    if any(point.is_missing for curve in found for point in curve.points):
        sentences.append("Squares show missing values.")
    if any(point.low is not None for curve in found for point in curve.points):
        sentences.append(
            "Bands and bars are pointwise intervals from the 2.5th to the 97.5th percentile of the"
            " effect in the models of the resamples that selected the term."
        )
    if any(curve.more for curve in found):
        sentences.append(
            f"For factors with more levels, the {MOST_LEVELS} most frequent are shown."
        )
    return " ".join(sentences)


def _points_table(rows: tuple[CurveRow, ...]) -> parts.Table:
    """All points as rows, the effects to three digits, a column for each of several classes."""
    found = _all_curves(rows)
    has_band = any(p.low is not None for curve in found for p in curve.points)
    form = f",.{decimals(max(abs(p.effect) for curve in found for p in curve.points))}f"
    several = len(rows) > 1

    def effect(point: CurvePoint) -> tuple[str, ...]:
        """An effect and its interval, in one cell or two."""
        text, interval = signed(point.effect, form), ""
        if point.low is not None and point.high is not None:
            interval = interval_text(point.low, point.high, form)
        if several:
            return (f"{text} ({interval})" if interval else text,)
        return (text, interval) if has_band else (text,)

    rows_of_points = tuple(
        (
            curves[0].term,
            points[0].label,
            f"{points[0].share:.3f}",
            *(cell for point in points for cell in effect(point)),
        )
        for curves in zip(*rows, strict=True)
        for points in zip(*(curve.points for curve in curves), strict=True)
    )
    heads = [f"Effect on {row[0].of_class}" for row in rows] if several else ["Effect"]
    heads += ["2.5 to 97.5%"] if has_band and not several else []
    return parts.Table(("Term", "Value", "Share of rows", *heads), rows_of_points)


# --- how far the effect of a term depends on another --------------------------------------------

MOST_PAIRS = 10


def interactions(material: parts.FitMaterial) -> parts.Section | None:
    """Strengths of the strongest pairs; None without an interaction, or without data."""
    if not material.fit.design.has_data:
        return None
    table = interaction_table(material.fit)
    if not table["size"].any():  # an additive model
        return None
    columns: dict[str, cells.Cell] = {
        "Terms": lambda row: f"{row['term']} × {row['other']}",
        "Size": lambda row: significant_text(row["size"], 3),
        "Strength": cells.decimal("strength", 2),
    }
    found = parts.listed(table, columns, MOST_PAIRS)
    return parts.Section(
        "interactions",
        "Interactions",
        sub=True,
        lead=_WHAT_INTERACTIONS,
        figure=interaction_figure(table),
        table=found.titled("Interactions, largest first", "Interactions as a table"),
    )


_WHAT_INTERACTIONS = (
    "The interaction of two terms is the part of their joint effect in the model that is not"
    " additive. Pairs are ranked by its size, the root mean square on the scale of partial"
    " dependence. Its strength is the size relative to the joint effect: 0 if the effects are"
    " additive, 1 if the joint effect is pure interaction."
)


def interaction_figure(table: pd.DataFrame) -> Rows:
    shown = table.head(MOST_PAIRS)
    pairs = list(zip(shown["term"], shown["other"], strict=True))
    figure = bar_figure(
        names=[f"{a} × {b}" for a, b in pairs],
        values=shown["size"].to_list(),
        more=len(table) - len(pairs),
        texts=strength_texts(shown),
    )
    return replace(figure, key="interactions", title="Size of interactions")


# --- the trees of the sparse forest behind a selection ------------------------------------------

MOST_TREES = 15


def sparse_forest(material: parts.FitMaterial) -> parts.Section | None:
    """The trees of the largest shares; None if no sparse forest selected."""
    fit = material.fit
    if fit.subforest is None:
        return None
    table = tree_table(fit)
    if table.empty:
        return None
    trees = parts.listed(
        table,
        {
            "Tree": cells.number("tree", ","),
            "Weight": cells.number("weight", ".3f"),
            "Share": cells.number("share", ".3f"),
            "Depth": "depth",
            "Leaves": "leaves",
            "Terms": lambda row: enumeration(row["terms"]) or "none",
        },
        MOST_TREES,
    )
    return parts.Section(
        "sparse-forest",
        "The sparse forest",
        sub=True,
        lead=_forest_lead(fit, table),
        table=trees.titled("Trees, largest share first"),
    )


def _forest_lead(fit: Fit, table: pd.DataFrame) -> str:
    n = len(table)
    lead = (
        f"The sparse forest has {'one tree' if n == 1 else f'{n:,} trees'} with positive weight."
        " A tree's share measures its contribution to the prediction."
    )
    if fit.model.sparse is None:
        made = f"predictions come from {fit.model.description}"
        lead += f" The sparse forest selects but does not predict: {made}."
    unused = units_without_trees(fit, table)
    if unused:
        lead += (
            f" None of these trees uses {enumeration(unused)}: trees that also use a {noun(fit, 1)}"
            f" that was cut or pruned are omitted, and a {noun(fit, 1)} that is always included may"
            " have none."
        )
    return lead


# --- groups of rows by held-out predicted risk: Kaplan-Meier curves and calibration -------------


def risk_groups(material: parts.FitMaterial) -> parts.Section | None:
    """Risk groups for right-censored times; None without the data or selected terms, or if the rows
    can't be held out."""
    fit, known = material.fit, material.performance
    if not (fit.design.response.family.has_times and fit.design.has_data and fit.selected):
        return None
    try:
        found = group_by_risk(fit, horizon=None if known is None else known.held_out.horizon)
    except OptionError:  # too few rows or events for ten folds
        return None
    return risk_section(found)


def risk_section(found: RiskGroups) -> parts.Section:
    figure, at_ticks = risk_figure(found)
    table = parts.listed(
        at_ticks,
        {
            "Group": "group",
            found.time: cells.number("time", ",.6g"),
            "At risk": cells.count("at_risk"),
            "Survival": cells.number("survival", ".3f"),
            "95% interval": cells.interval("ci_low", "ci_high", ".3f"),
        },
        len(at_ticks),
    )
    content = found.summary().content
    horizon = f"{found.time} = {found.horizon:g}"
    calibration = parts.Table(content.columns, content.rows)
    return parts.Section(
        "risk-groups",
        "Risk groups",
        lead=_risk_lead(found, any(one.ticks for one in figure.series)),
        figure=figure,
        table=table.titled("Survival of the risk groups", "Curves as a table"),
        head=parts.Heading("Calibration"),
        calibration=calibration.titled(f"Predicted and observed survival at {horizon}"),
        sentences=content.notes,
    )


def risk_figure(found: RiskGroups) -> tuple[Plane, pd.DataFrame]:
    """The curves, with ticks for censored rows if these are few enough to be distinguished, and the
    numbers at risk."""
    ticks = time_ticks(max(float(curve.time[-1]) for curve in found.curves))
    at_ticks = found.in_pandas.at(ticks)
    counts = [at_ticks.loc[at_ticks["group"] == name, "at_risk"].to_list() for name in found.names]
    # Of more censoring times, ticks can't be distinguished.
    shows = all((curve.censored > 0).sum() <= 80 for curve in found.curves)
    groups = []
    for name, curve in zip(found.names, found.curves, strict=True):
        x, y, at = curve.time, curve.survival, (curve.censored > 0) & shows
        low, high = curve.lower.tolist(), curve.upper.tolist()
        drawn = tuple(zip(x[at].tolist(), y[at].tolist(), strict=True))
        groups.append(
            Series(x=x.tolist(), y=y.tolist(), low=low, high=high, name=name, ticks=drawn)
        )
    predicted = list(map(float, found.predicted))
    figure = survival_figure(
        groups, predicted, counts, ticks, time=found.time, horizon=found.horizon
    )
    return figure, at_ticks


def _risk_lead(found: RiskGroups, has_ticks: bool) -> str:
    said = [
        "Kaplan-Meier curves for groups of rows of increasing predicted risk, with pointwise 95%"
        " intervals as bands and the numbers at risk below."
    ]
    if has_ticks:
        said.append("Small ticks mark censored rows.")
    said.append(
        f"The dashed line is at {found.time} = {found.horizon:g}; hollow marks on it are the mean"
        " predicted survival of the groups, which lies near the curves if the model is well"
        " calibrated."
    )
    if any((start > 0).any() for start, _, _ in found.spans):
        said.append("Rows enter at different times, so numbers at risk may rise before they fall.")
    return " ".join(said)


# --- the linear model of the selected terms: coefficients or ratios, and tests of whole terms ---


def linear(found: GlmFit) -> parts.Section:
    content, tests = found.tables_of_paper()
    hidden = ("Call", "Seed", "Response" if found.ratio else "")
    facts = tuple(fact for fact in content.facts if fact[0] not in hidden)
    table = parts.first_rows(content.columns, content.rows)
    of_terms = None if tests is None else parts.Table(tests.columns, tests.rows)
    figure, splines = figure_of_coefficients(found), figures_of_splines(found)
    said = () if tests is None else (f"Tests of terms: {dict(tests.facts)['Tests']}.",)
    return parts.Section(
        "linear",
        "Linear model of the selected terms",
        sub=True,
        facts=parts.Facts(facts),
        figure=figure and replace(figure, rows=[replace(row, aside="") for row in figure.rows]),
        splines=(parts.Panels("", splines),) if splines else (),
        coefficients=table.titled("Coefficients of the linear model"),
        tests=of_terms and of_terms.titled("Tests of terms given all others"),
        sentences=(*said, *content.notes),
    )


def inference(found: Inference) -> parts.Section:
    """P-values of terms that were selected on other rows."""
    content = found.summary().content
    table = parts.first_rows(content.columns, content.rows)
    return parts.Section(
        "inference",
        "P-values that account for the selection",
        sub=True,
        facts=parts.Facts(fact for fact in content.facts if fact[0] not in ("Call", "Seed")),
        table=table.titled("P-values by sample splitting"),
        sentences=content.notes,
    )
