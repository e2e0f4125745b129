"""Centred partial dependence of the model's predictions on each term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.reports.figures.panels import Panel, panels, share_scale
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.results.curves import (
    DOUBLED,
    MOST_LEVELS,
    Curve,
    CurvePoint,
    CurveRow,
    curve_rows,
    definite,
    has_curve,
    of_all_classes,
)
from treeselect.results.effects import decimals

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit


MOST_SHAPES = 6
MOST_CLASSES = 4
"""Classes that have a row of panels each."""


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """Panels side by side; the title names the class, if there are several rows."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class ShapeSection:
    """Partial dependence: panels, how to read them, and their numbers."""

    lead: str
    rows: tuple[ShapeRow, ...]
    table: Table


def gather(material: FitMaterial) -> ShapeSection | None:
    """Shapes of the most important terms; None without the data, or without a term of a single
    variable."""
    fit = material.fit
    if not fit.design.has_data:
        return None
    eligible = [term for term in fit.selected if has_curve(fit, term)]
    found = curve_rows(fit, eligible[:MOST_SHAPES], MOST_CLASSES)
    if not found:
        return None
    return ShapeSection(_lead(fit, found, len(eligible)), _pictures(fit, found), _table(found))


def _all(rows: tuple[CurveRow, ...]) -> list[Curve]:
    return [curve for row in rows for curve in row.curves]


def _pictures(fit: Fit, rows: tuple[CurveRow, ...]) -> tuple[ShapeRow, ...]:
    """A row of panels for each row of curves, on one scale if every curve is visible on it."""
    drawn = iter(panels(_all(rows), shared=share_scale(_all(rows))))
    response = fit.design.response.name
    return tuple(
        ShapeRow(
            f"{response}: {row.of_class}" if len(rows) > 1 else "",
            tuple(next(drawn) for _ in row.curves),
        )
        for row in rows
    )


def _lead(fit: Fit, rows: tuple[CurveRow, ...], eligible: int) -> str:
    found = _all(rows)
    n_terms = len(rows[0].curves)
    what = "the most important terms"
    if eligible == n_terms:
        what = "each term" if eligible == len(fit.selected) else "each term of a single variable"
    sentences = [
        f"Centred partial dependence of {_plain_scale(found)} on {what}: the mean prediction as the"
        " term varies and the other terms keep their observed values, minus its average."
    ]
    if not share_scale(found):
        sentences.append("Scales differ between panels, because effect sizes differ widely.")
    elif len(found) > 1:
        sentences.append("All panels have the same scale.")
    if any(curve.is_number for curve in found):
        sentences.append("Grey bars below a curve show the distribution of the rows.")
    if fit.design.response.family.has_times:
        sentences.append(DOUBLED)
    n_classes = len(fit.design.response.classes)
    if n_classes > 2:
        sentences.append(
            "There is one row of panels for each class."
            if len(rows) > 1
            else f"Of the {n_classes:,} classes, only the one with the most variable effects is"
            f" shown: {rows[0].of_class}."
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


def _plain_scale(found: list[Curve]) -> str:
    scales = {curve.scale for curve in found}
    return definite(found[0].scale) if len(scales) == 1 else of_all_classes(found[0].scale)


def _table(rows: tuple[CurveRow, ...]) -> Table:
    """All points as rows, the effects to three digits of the largest, one column for each of
    several classes."""
    found = _all(rows)
    has_band = any(p.low is not None for curve in found for p in curve.points)
    decimal_places = decimals(max(abs(p.effect) for curve in found for p in curve.points))
    several = len(rows) > 1
    cells = tuple(
        (
            curves[0].term,
            points[0].label,
            f"{points[0].share:.3f}",
            *(
                cell
                for point in points
                for cell in _effect(point, decimal_places, has_band=has_band, in_one=several)
            ),
        )
        for curves in zip(*(row.curves for row in rows), strict=True)
        for points in zip(*(curve.points for curve in curves), strict=True)
    )
    columns = ("Term", "Value", "Share of rows")
    if several:
        return Table((*columns, *(f"Effect on {row.of_class}" for row in rows)), cells)
    return Table((*columns, "Effect", *(("2.5 to 97.5%",) if has_band else ())), cells)


def _effect(
    point: CurvePoint, decimal_places: int, *, has_band: bool, in_one: bool
) -> tuple[str, ...]:
    """An effect and its interval, in one cell or two."""
    effect = f"{point.effect:,.{decimal_places}f}"
    interval = ""
    if point.low is not None:
        interval = f"{point.low:,.{decimal_places}f} to {point.high:,.{decimal_places}f}"
    if in_one:
        return (f"{effect} ({interval})" if interval else effect,)
    return (effect, interval) if has_band else (effect,)
