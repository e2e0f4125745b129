"""Pairs of units that the resamples selected together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.printing import decimal_text, enumeration
from treeselect.reports.figures.forms import Figure
from treeselect.reports.figures.heat_map import HeatMap, Pair, heat_map
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.nouns import noun
from treeselect.resampling.selected_sets import PAIR_LEVEL
from treeselect.results.near import CoSelection, co_selection_map, near_units
from treeselect.results.recurrence import kept_units
from treeselect.results.stability_words import has_pairs, pair_sentence

if TYPE_CHECKING:
    import pandas as pd

    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability

_LARGEST = 0.25
"""The most by which two units can differ from independence."""

_MOST_SHADE = 0.65
"""Strength of that: of the pale shades, which both sides have."""

_MOST_ROWS = 20

_SIGNS = {"+": "more often", "-": "less often", "": ""}


@dataclass(frozen=True, slots=True)
class PairSection:
    """Co-selection: how to read the map, the map if two of its units vary, and its pairs; without
    a map, the pairs of all units."""

    lead: str
    figure: Figure[HeatMap] | None
    table: Table


def gather(material: FitMaterial) -> PairSection | None:
    """Co-selection of the units that only some resamples selected; None if no two of them were
    selected together."""
    fit, stability = material.fit, material.fit.resampled
    if stability is None or not has_pairs(stability):
        return None
    found, pairs = co_selection_map(stability, near_units(fit)), stability.pair_table()
    figure = None
    if len(found.units) > 1:
        inside = [unit in set(fit.groups) for unit in found.units]
        text = pair_sentence(stability) or "No pair deviates detectably from independence."
        figure = heat_map(found.units, inside, _cells(found), text)
        pairs = pairs[pairs["term"].isin(found.units) & pairs["other"].isin(found.units)]
    return PairSection(_lead(fit, stability, figure), figure, _table(pairs, noun(fit, 1)))


def _cells(found: CoSelection) -> list[list[Pair | None]]:
    n = len(found.units)
    return [[_cell(found, i, j) for j in range(n)] for i in range(n)]


def _cell(found: CoSelection, i: int, j: int) -> Pair:
    """On and below the diagonal the observed share; above it the difference from chance."""
    together = float(found.together[i, j])
    if i >= j:
        return Pair(_points(together), together)
    difference, sign = together - float(found.expected[i, j]), int(found.sign[i, j])
    strength = _MOST_SHADE * min(abs(difference) / _LARGEST, 1.0) if sign else 0.0
    return Pair(_signed(difference), strength, sign < 0)


def _points(share: float) -> str:
    return f"{100 * share:.0f}"


def _signed(difference: float) -> str:
    text = f"{100 * difference:+.0f}".replace("-", "–")
    return "0" if text in ("+0", "–0") else text


def _table(pairs: pd.DataFrame, what: str) -> Table:
    rows = tuple(
        (str(one), str(other), _share(together), _share(expected), _SIGNS[str(sign)])
        for one, other, together, expected, sign in pairs[
            ["term", "other", "together", "expected", "sign"]
        ]
        .head(_MOST_ROWS)
        .to_numpy()
    )
    columns = (what.capitalize(), "Other", "Together", "By chance", "Deviation")
    return Table(columns, rows, len(pairs) - len(rows))


def _share(share: float) -> str:
    return "<0.01" if 0 < share < 0.005 else decimal_text(share, 2)


def _lead(fit: Fit, stability: Stability, figure: Figure[HeatMap] | None) -> str:
    nouns = noun(fit)
    kept = sorted(kept_units(stability))
    said = f"{nouns.capitalize()} that were always or never selected are omitted"
    if kept:
        were = "which was" if len(kept) == 1 else "which were"
        said += f", among them {enumeration(kept)}, {were} always included"
    if figure is None:
        return f"Pairs over {stability.words}. {said}."
    return (
        f"Below the diagonal: share of {stability.words} that selected both {nouns}, in percent."
        f" On the diagonal: selection frequency of the {noun(fit, 1)}, in percent. Above the"
        " diagonal: that share minus the share expected under independence, in percentage points,"
        f" shaded where a chi-squared test gives p < {PAIR_LEVEL:g}. Substitutes are selected"
        f" together less often than expected. {said}."
    )
