"""Decisions of a method that tests each unit."""

from __future__ import annotations

from dataclasses import dataclass

from treeselect.printing import decimal_text, interval_text
from treeselect.reports.figures.dots import DotFigure, range_figure
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import MOST_ROWS, MOST_UNITS, Table
from treeselect.resampling.nouns import noun
from treeselect.results.tables import decision_table


@dataclass(frozen=True, slots=True)
class DecisionsSection:
    """The decision on each unit, and the importances behind it."""

    lead: str
    figure: DotFigure
    table: Table


def gather(material: FitMaterial) -> DecisionsSection | None:
    """The decisions; None for a method that makes none, or if all units are constant."""
    fit = material.fit
    if fit.step.decisions is None or not len(fit.step.decisions.history):
        return None
    found, bar = decision_table(fit)
    competed = found[found["rounds"] > 0]  # constant units have no importance
    shown = competed.head(MOST_UNITS)
    figure = range_figure(
        names=shown["term"].to_list(),
        values=shown["median"].to_list(),
        lows=shown["low"].to_list(),
        highs=shown["high"].to_list(),
        filled=[unit in fit.groups for unit in shown["term"]],
        mark=("best shadow", bar),
        more=len(competed) - len(shown),
    )
    rows = tuple(
        (
            str(row["term"]),
            str(row["decision"]),
            f"{row['hits']:,}",
            f"{row['rounds']:,}",
            decimal_text(row["median"], 2, missing="–"),
            interval_text(row["low"], row["high"]),
        )
        for row in found.head(MOST_ROWS).to_dict("records")
    )
    one = noun(fit, 1)
    columns = (one.capitalize(), "Decision", "Hits", "Rounds", "Importance, median", "Middle 90%")
    n_rounds = len(fit.step.decisions.history)
    lead = (
        f"In each of {n_rounds:,} rounds, every {one} not yet rejected competed with shuffled"
        f" copies of the {noun(fit)}, called shadows. A {one} scores a hit in a round if it is more"
        f" important than the best shadow. {noun(fit).capitalize()} with more hits than expected by"
        " chance are confirmed, those with fewer are rejected, and the others are tentative. Dots"
        f" are medians over the rounds in which the {one} competed, filled if it is selected; lines"
        " extend from the 5th to the 95th percentile. The dashed line is the median importance of"
        f" the best shadow, {decimal_text(bar, 2)}."
    )
    return DecisionsSection(lead, figure, Table(columns, rows, max(len(found) - MOST_ROWS, 0)))
