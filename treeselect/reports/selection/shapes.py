"""How the model's predictions change with each term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.reports.figures.panels import Panel, panels
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.results.curves import DOUBLED, MOST_LEVELS, Curve, CurvePoint, curves, has_curve
from treeselect.results.effects import decimals

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


MOST_SHAPES = 6


@dataclass(frozen=True, slots=True)
class ShapeSection:
    """Shapes of terms: pictures, how to read them, and their numbers."""

    lead: str
    panels: tuple[Panel, ...]
    table: Table


def gather(material: FitMaterial) -> ShapeSection | None:
    """Shapes of the most important terms; None without the data, or terms of one variable."""
    fit = material.fit
    if not fit.design.has_data:
        return None
    eligible = [term for term in fit.selected if has_curve(fit, term)]
    found = [curves(fit, term)[0] for term in eligible[:MOST_SHAPES]]
    if not found:
        return None
    return ShapeSection(_lead(fit, found, len(eligible)), panels(found), _rows(found))


def _lead(fit: Fit, found: list[Curve], eligible: int) -> str:
    what = "the most important terms" if eligible > len(found) else "each term"
    if len(found) < len(fit.selected) == eligible or len(found) == eligible:
        what = "each term" if eligible == len(fit.selected) else "each term of one variable"
    sentences = [
        f"How the {_plain_scale(found)} changes with {what}, the others staying as they are in the"
        " data: the effect about its mean, to the same scale in all pictures. The area of a point"
        " is the share of the rows there."
    ]
    if fit.design.response.family.has_times:
        sentences.append(DOUBLED)
    if len(fit.design.response.classes) > 2:
        sentences.append("Of the classes the one whose effect varies most is shown.")
    if any(point.is_missing for curve in found for point in curve.points):
        sentences.append("Squares are missing values.")
    if any(point.low is not None for curve in found for point in curve.points):
        sentences.append(
            "Bands and bars go from the 2.5th to the 97.5th percentile of the same effect in the"
            " models of the resamples that selected the term, point by point."
        )
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
    has_band = any(p.low is not None for curve in found for p in curve.points)
    several = len({curve.scale for curve in found}) > 1
    decimal_places = decimals(max(abs(p.effect) for curve in found for p in curve.points))
    rows = [
        (
            curve.term,
            *((curve.scale,) if several else ()),
            point.label,
            f"{point.share:.3f}",
            f"{point.effect:,.{decimal_places}f}",
            *((_interval(point, decimal_places),) if has_band else ()),
        )
        for curve in found
        for point in curve.points
    ]
    columns = ("Term", *(("Scale",) if several else ()), "Value", "Share of rows", "Effect")
    columns += ("2.5 to 97.5%",) if has_band else ()
    return Table(columns, tuple(rows))


def _interval(point: CurvePoint, decimal_places: int) -> str:
    if point.low is None:
        return ""
    return f"{point.low:,.{decimal_places}f} to {point.high:,.{decimal_places}f}"
