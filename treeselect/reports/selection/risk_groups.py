"""Groups of rows by held-out predicted risk: Kaplan-Meier curves and calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from treeselect.errors import OptionError
from treeselect.printing import interval_text, number_text
from treeselect.reports.figures.survival import Steps, SurvivalFigure, survival_figure, time_ticks
from treeselect.reports.material import FitMaterial
from treeselect.reports.parts import Table
from treeselect.resampling.risk_groups import risk_group_notes
from treeselect.results.risk import risk_groups_of

if TYPE_CHECKING:
    from treeselect.resampling.risk_groups import RiskGroups

_MOST_TICKS = 80
"""Most censoring times that can be distinguished on a curve."""


@dataclass(frozen=True, slots=True)
class RiskSection:
    """Risk groups: how to read the figure, the figure, its numbers, and calibration."""

    lead: str
    figure: SurvivalFigure
    table: Table
    horizon: str
    calibration: Table
    sentences: tuple[str, ...]


def gather(material: FitMaterial) -> RiskSection | None:
    """Risk groups for right-censored times; None without the data or selected terms, or if the rows
    can't be held out."""
    fit = material.fit
    if not (fit.design.response.family.has_times and fit.design.has_data and fit.selected):
        return None
    try:
        found = risk_groups_of(fit)
    except OptionError:  # too few rows or events for ten folds
        return None
    return risk_section(found)


def risk_section(found: RiskGroups) -> RiskSection:
    """Figure and tables of risk groups."""
    ticks = time_ticks(max(float(curve.time[-1]) for curve in found.curves))
    at_ticks = found.table_at(ticks)
    counts = [at_ticks.loc[at_ticks["group"] == name, "at_risk"].to_list() for name in found.names]
    groups = steps_of(found)
    figure = survival_figure(groups, counts, ticks, time=found.time, horizon=found.horizon)
    rows = tuple(
        (
            str(row["group"]), f"{row['time']:,.6g}", f"{row['at_risk']:,.6g}",
            number_text(row["survival"], ".3f"),
            interval_text(row["ci_low"], row["ci_high"], ".3f"),
        )
        for row in at_ticks.to_dict("records")
    )  # fmt: skip
    content = found.summary().content
    return RiskSection(
        lead=_lead(found, any(group.censored for group in groups)),
        figure=figure,
        table=Table(("Group", found.time, "At risk", "Survival", "95% interval"), rows),
        horizon=f"{found.time} = {found.horizon:g}",
        calibration=Table(content.columns, content.rows),
        sentences=risk_group_notes(found),
    )


def steps_of(found: RiskGroups) -> tuple[Steps, ...]:
    """The curves, with ticks for censored rows if these are few enough to be distinguished."""
    shows = all((curve.censored > 0).sum() <= _MOST_TICKS for curve in found.curves)
    return tuple(
        Steps(
            name=name,
            time=tuple(curve.time.tolist()),
            survival=tuple(curve.survival.tolist()),
            low=tuple(curve.lower.tolist()),
            high=tuple(curve.upper.tolist()),
            censored=tuple(curve.time[curve.censored > 0].tolist()) if shows else (),
            predicted=float(predicted),
        )
        for name, curve, predicted in zip(found.names, found.curves, found.predicted, strict=True)
    )


def _lead(found: RiskGroups, has_ticks: bool) -> str:
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
