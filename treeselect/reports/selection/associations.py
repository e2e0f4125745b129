"""How selected and nearly selected units go together in the data."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.engine.rounding import falling
from treeselect.reports.figures.forms import Figure
from treeselect.reports.figures.heat_map import HeatMap, Pair, heat_map
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.places import LEAST_ASSOCIATION
from treeselect.results.near import LEAST_FREQUENCY, association_map, near_units

_MOST_SAID = 5
"""Pairs in the words of a figure."""

_MOST_ROWS = 20
"""Pairs in the table: the map has all of them."""


@dataclass(frozen=True, slots=True)
class AssociationSection:
    """How to read the map, the map, and its numbers."""

    lead: str
    figure: Figure[HeatMap]
    table: Table


def gather(material: FitMaterial) -> AssociationSection | None:
    """Associations in the data; None without these, or of fewer than two units."""
    fit = material.fit
    units = near_units(fit)
    if not fit.design.has_data or len(units) < 2:
        return None
    inside = [unit in set(fit.groups) for unit in units]
    values = association_map(fit, units)
    pairs = list(itertools.combinations(range(len(units)), 2))
    order = [pairs[at] for at in falling(np.array([values[pair] for pair in pairs]))]
    rows = tuple((units[i], units[j], f"{values[i, j]:.2f}") for i, j in order[:_MOST_ROWS])
    return AssociationSection(
        _lead(len(fit.groups), inside, fit.resampled is not None),
        heat_map(units, inside, _pairs(units, values), _said(rows)),
        Table(("Unit", "Other", "Association"), rows, len(order) - len(rows)),
    )


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0").replace("1.00", "1.0")


def _pairs(units: tuple[str, ...], values: FloatArray) -> list[list[Pair | None]]:
    """Each pair once, below the diagonal."""
    return [
        [
            None if i <= j else Pair(_short(values[i, j]), float(values[i, j]))
            for j in range(len(units))
        ]
        for i in range(len(units))
    ]


def _said(rows: tuple[tuple[str, ...], ...]) -> str:
    """The pairs in words, the strongest first."""
    pairs = "; ".join(f"{one} and {other} {value}" for one, other, value in rows[:_MOST_SAID])
    return f"{pairs}.{' The table has more.' if len(rows) > _MOST_SAID else ''}"


def _lead(n_selected: int, inside: list[bool], has_resamples: bool) -> str:
    said = (
        "From 0 to 1: of two numbers the rank correlation without its sign, of a number and a"
        " factor the correlation ratio, of two factors Cramer's V; of units with several columns"
        f" the strongest. From {LEAST_ASSOCIATION:g} on units can stand for each other."
    )
    n_inside = sum(inside)
    if n_inside < n_selected:
        return (
            f"{said} Shown are the {n_inside} most important of the {n_selected:,} selected units."
        )
    if n_inside == len(inside):
        return said
    if has_resamples:
        others = (
            "the others are the most frequent ones outside, each in at least"
            f" {LEAST_FREQUENCY:.0%} of the resamples"
        )
    else:
        others = "the others are those that the path takes next"
    if not n_inside:
        return f"{said} No unit is selected: {others}."
    return f"{said} Selected units come first, in bold; {others}."
