"""Associations between selected and nearly selected units in the data."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.engine.rounding import falling
from treeselect.reports.figures.forms import Figure
from treeselect.reports.figures.heat_map import HeatMap, Pair, heat_map
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.nouns import noun
from treeselect.resampling.places import LEAST_ASSOCIATION
from treeselect.results.near import (
    LEAST_FREQUENCY,
    MOST_UNITS,
    association_map,
    near_units,
)

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit

_MOST_SAID = 5
"""Pairs in the words of a figure."""

_MOST_CELLS = 20_000_000
"""Limit on rows times pairs that are measured by default: about a second."""

_MOST_ROWS = 20
"""Pairs in the table; the map has all of them."""


@dataclass(frozen=True, slots=True)
class AssociationSection:
    """How to read the map, the map, and its numbers."""

    lead: str
    figure: Figure[HeatMap]
    table: Table


def gather(material: FitMaterial) -> AssociationSection | None:
    """Associations in the data; None without these, or of fewer than two units."""
    fit = material.fit
    if not fit.design.has_data:
        return None
    room = max(int((_MOST_CELLS / len(fit.design.row_weights)) ** 0.5), 2)
    units = near_units(fit, min(MOST_UNITS, room))
    if len(units) < 2:
        return None
    inside = [unit in set(fit.groups) for unit in units]
    values = association_map(fit, units)
    pairs = list(itertools.combinations(range(len(units)), 2))
    order = [pairs[at] for at in falling(np.array([values[pair] for pair in pairs]))]
    rows = tuple((units[i], units[j], f"{values[i, j]:.2f}") for i, j in order[:_MOST_ROWS])
    return AssociationSection(
        _lead(fit, inside),
        heat_map(units, inside, _pairs(units, values), _said(rows)),
        Table((noun(fit, 1).capitalize(), "Other", "Association"), rows, len(order) - len(rows)),
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


def _lead(fit: Fit, inside: list[bool]) -> str:
    n_selected, n_inside, nouns = len(fit.groups), sum(inside), noun(fit)
    said = (
        "Associations range from 0 to 1: absolute rank correlation of two numbers, correlation"
        " ratio of a number and a factor, Cramér's V of two factors; for"
        f" {nouns} with several columns, the strongest. From {LEAST_ASSOCIATION:g} upwards, {nouns}"
        " can count as interchangeable."
    )
    if n_inside < n_selected:
        return (
            f"{said} The map shows the {n_inside} most important of the {n_selected:,} selected"
            f" {nouns}."
        )
    if n_inside == len(inside):
        return said
    if fit.resampled is None:
        others = f"the {nouns} that enter next along the path"
    else:
        others = (
            f"the most frequent of the other {nouns}, each selected by at least"
            f" {LEAST_FREQUENCY:.0%} of the resamples"
        )
    if not n_inside:
        return f"{said} No {noun(fit, 1)} is selected; the map shows {others}."
    return f"{said} Selected {nouns} come first, in bold; then {others}."
