"""The section on what the model has learned: shapes, interactions, importances, trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.reports.figures.bars import BarFigure, bar_figure
from treeselect.reports.figures.labels import distinct
from treeselect.reports.figures.lines import LineFigure, line_figure
from treeselect.reports.figures.panels import Panel, panels
from treeselect.reports.parts import Table, enumeration, table_around
from treeselect.results.curves import MOST_LEVELS, Curve, curves, has_curve, importance_lines
from treeselect.results.inside import tree_table
from treeselect.results.shapes import interaction_table

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit

MOST_SHAPES = 6
MOST_PAIRS = 10
MOST_LINES = 8
MOST_TREES = 15


@dataclass(frozen=True, slots=True)
class ShapeSection:
    """Shapes of terms: pictures, how to read them, and their numbers."""

    lead: str
    panels: tuple[Panel, ...]
    table: Table


@dataclass(frozen=True, slots=True)
class ImportancePath:
    """Importances along the path: figure, how to read it, and its numbers."""

    lead: str
    figure: LineFigure
    table: Table


@dataclass(frozen=True, slots=True)
class SparseForest:
    """The trees of the sparse forest."""

    lead: str
    table: Table


@dataclass(frozen=True, slots=True)
class LearnedSection:
    """What the model has learned.

    Attributes
    ----------
    predicts : str
        Which model it is.
    without_data : str
        Why there are no shapes and interactions; empty where there may be.
    shapes : ShapeSection or None
    interactions : BarFigure or None
    path : ImportancePath or None
    forest : SparseForest or None
    """

    predicts: str
    without_data: str
    shapes: ShapeSection | None
    interactions: BarFigure | None
    path: ImportancePath | None
    forest: SparseForest | None


def learned_section(result: Fit) -> LearnedSection:
    """What the section on the model says of a result that has selected something."""
    has_data = result.design.has_data
    return LearnedSection(
        predicts=f"Predictions are those of {result.model.description}.",
        without_data=""
        if has_data
        else "Shapes of the terms and their interactions need the data of the fit, which were not"
        " saved with it: `fit.save(path, include_data=True)` keeps them.",
        shapes=_shapes(result) if has_data else None,
        interactions=_interactions(result) if has_data else None,
        path=_importance_path(result),
        forest=_sparse_forest(result),
    )


# --- shapes ------------------------------------------------------------------------------------


def _shapes(result: Fit) -> ShapeSection | None:
    eligible = [term for term in result.selected if has_curve(result, term)]
    found = [curves(result, term)[0] for term in eligible[:MOST_SHAPES]]
    if not found:
        return None
    return ShapeSection(_shape_lead(result, found, len(eligible)), panels(found), _rows(found))


def _shape_lead(result: Fit, found: list[Curve], eligible: int) -> str:
    what = "the most important terms" if eligible > len(found) else "each term"
    if len(found) < len(result.selected) == eligible or len(found) == eligible:
        what = "each term" if eligible == len(result.selected) else "each term of one variable"
    sentences = [
        f"How the {_plain_scale(found)} changes with {what}, the others staying as they are in the"
        " data: the effect about its mean, to the same scale in all pictures. The area of a point"
        " is the share of the rows there."
    ]
    if len(result.design.response.classes) > 2:
        sentences.append("Of the classes the one whose effect varies most is shown.")
    if any(point.is_missing for curve in found for point in curve.points):
        sentences.append("Squares are missing values.")
    if any(curve.more for curve in found):
        sentences.append(f"Of factors with more levels the {MOST_LEVELS} most frequent are shown.")
    return " ".join(sentences)


def _plain_scale(found: list[Curve]) -> str:
    scales = {curve.scale for curve in found}
    if len(scales) == 1:
        return found[0].scale
    return "linear predictor" if found[0].scale.startswith("linear") else "probability of a class"


def _rows(found: list[Curve]) -> Table:
    """All points as rows, the effects to three digits of the largest."""
    several = len({curve.scale for curve in found}) > 1
    decimals = _decimals(max(abs(p.effect) for curve in found for p in curve.points))
    rows = [
        (
            curve.term,
            *((curve.scale,) if several else ()),
            point.label,
            f"{point.share:.3f}",
            f"{point.effect:,.{decimals}f}",
        )
        for curve in found
        for point in curve.points
    ]
    columns = ("Term", *(("Scale",) if several else ()), "Value", "Share of rows", "Effect")
    return Table(columns, tuple(rows))


def _decimals(largest: float) -> int:
    """Decimals that give a number three digits."""
    exponent = int(f"{largest:e}".partition("e")[2])
    return min(max(0, 2 - exponent), 9)


# --- interactions ------------------------------------------------------------------------------


def _interactions(result: Fit) -> BarFigure | None:
    table = interaction_table(result)
    if table.empty:
        return None
    pairs = list(zip(table["term"], table["other"], strict=True))[:MOST_PAIRS]
    terms = list(dict.fromkeys(name for pair in pairs for name in pair))
    short = dict(zip(terms, distinct(terms, 5.7), strict=True))
    return bar_figure(
        names=[f"{a} × {b}" for a, b in pairs],
        values=table["strength"].head(MOST_PAIRS).to_list(),
        more=len(table) - len(pairs),
        labels=[f"{short[a]} × {short[b]}" for a, b in pairs],
        full=1.0,
    )


# --- importances on the path -------------------------------------------------------------------


def _importance_path(result: Fit) -> ImportancePath | None:
    found = importance_lines(result, MOST_LINES)
    if len(found.sizes) < 2:
        return None
    figure = line_figure(
        found.sizes, found.names, found.values, found.selected, result.k, found.more
    )
    rows = [
        (f"{size:,}", *(f"{own[i]:.3f}" for own in found.values))
        for i, size in enumerate(found.sizes)
    ]
    return ImportancePath(
        _path_lead(result, found.selected),
        figure,
        table_around(("Units (k)", *found.names), rows, found.sizes, result.k),
    )


def _path_lead(result: Fit, solid: Sequence[bool]) -> str:
    trees = (
        "the weighted trees" if result.step.ensemble is not None else "the method's own ensemble"
    )
    lead = (
        f"Importance of the units in {trees} of each step of the path, summing to 1 at each."
        f" The dashed upright line marks the chosen number, {result.k:,}."
    )
    if not all(solid):
        lead += " Dashed lines are units outside the selection."
    return lead


# --- trees -------------------------------------------------------------------------------------


def _sparse_forest(result: Fit) -> SparseForest | None:
    if result.subforest is None:
        return None
    table = tree_table(result)
    if table.empty:
        return None
    rows = tuple(
        (
            f"{row['tree']:,}",
            f"{row['weight']:.3f}",
            f"{row['share']:.3f}",
            str(row["depth"]),
            str(row["leaves"]),
            enumeration(row["terms"]) or "none",
        )
        for row in table.head(MOST_TREES).to_dict("records")
    )
    columns = ("Tree", "Weight", "Share", "Depth", "Leaves", "Terms")
    return SparseForest(_forest_lead(result, table), Table(columns, rows, len(table) - len(rows)))


def _forest_lead(result: Fit, table: pd.DataFrame) -> str:
    n = len(table)
    lead = (
        f"The sparse forest has {'one tree' if n == 1 else f'{n:,} trees'}"
        f"{'' if n == 1 else ', each'} with a weight above 0. A tree's share is how much it moves"
        " the prediction."
    )
    if result.model.in_place_note:
        lead += f" It decides what is selected and does not predict: {result.model.in_place_note}."
    used = set().union(*table["terms"])
    unused = tuple(name for name in result.groups if name not in used)
    if unused:
        lead += (
            f" No tree that is left uses {enumeration(unused)}: trees that also use a unit which"
            " was cut or pruned are left out, and a kept unit may have none."
        )
    return lead
