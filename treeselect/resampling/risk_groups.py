"""Risk groups: rows by the risk that is predicted without them, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.engine.arrays import FloatArray
from treeselect.engine.survival.curves import SurvivalCurve, steps_at
from treeselect.frames.libraries import in_library

if TYPE_CHECKING:
    from treeselect.printing import Summary, SummaryContent


@dataclass(frozen=True, slots=True)
class RiskGroups:
    """Groups of rows of rising predicted risk, with their curves of survival.

    Attributes
    ----------
    names : tuple of str
        From the lowest risk to the highest.
    curves : tuple of SurvivalCurve
        Kaplan and Meier's estimate in each group.
    n_rows : ndarray of int64, shape (n_groups,)
    risk : ndarray of float, shape (n_groups,)
        Median relative risk, in units of the median of all rows.
    horizon : float
        The time at which predictions are compared with what happened.
    predicted : ndarray of float, shape (n_groups,)
        Mean predicted survival at the horizon.
    time : str
        What the times are, as the formula writes them.
    scheme : str
        How rows are held out, in words.
    call : str
        The call of the fit.
    seed : int
    library : str
        In which tables are given.
    """

    names: tuple[str, ...]
    curves: tuple[SurvivalCurve, ...]
    n_rows: Any
    risk: FloatArray
    horizon: float
    predicted: FloatArray
    time: str
    scheme: str
    call: str
    seed: int
    library: str = "pandas"

    def tidy(self) -> Any:
        """The curves: one row per group and time at which rows of it end.

        Returns
        -------
        frame, in the library of the data
            ``group``, from the lowest risk to the highest; ``time``; ``at_risk``, rows (or their
            weights) at risk just before it; ``events`` and ``censored``, those that end there;
            ``survival``, ``ci_low`` and ``ci_high``, a pointwise 95 % interval on the scale of
            ``log(-log(survival))``.
        """
        import pandas as pd

        parts = [
            pd.DataFrame(
                {
                    "group": name,
                    "time": curve.time,
                    "at_risk": curve.at_risk,
                    "events": curve.events,
                    "censored": curve.censored,
                    "survival": curve.survival,
                    "ci_low": curve.lower,
                    "ci_high": curve.upper,
                }
            )
            for name, curve in zip(self.names, self.curves, strict=True)
        ]
        return in_library(pd.concat(parts, ignore_index=True), self.library)

    def calibration(self) -> Any:
        """Predicted survival at the horizon beside what was observed, one row per group.

        Returns
        -------
        frame, in the library of the data
            ``group``; ``n``, rows; ``events``, all that they have; ``relative_risk``, the median,
            in units of that of all rows; ``predicted``, mean predicted survival at
            :attr:`horizon`; ``observed``, Kaplan and Meier's estimate there; ``ci_low`` and
            ``ci_high``, its 95 % interval, missing where nobody or everybody had the event.
        """
        import pandas as pd

        observed, low, high = self.observed()
        return in_library(
            pd.DataFrame(
                {
                    "group": pd.Series(list(self.names), dtype=pd.Series(["text"]).dtype),
                    "n": self.n_rows,
                    "events": [float(curve.events.sum()) for curve in self.curves],
                    "relative_risk": self.risk,
                    "predicted": self.predicted,
                    "observed": observed,
                    "ci_low": low,
                    "ci_high": high,
                }
            ),
            self.library,
        )

    def observed(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Observed survival of each group at the horizon, and the limits of its 95 % interval;
        missing after the last row of the group."""
        at = np.array([self.horizon])
        found = []
        for curve in self.curves:
            seen = curve.time[-1] >= self.horizon or curve.survival[-1] == 0
            values = [
                steps_at(curve.time, value, at, before)[0] if seen else np.nan
                for value, before in (
                    (curve.survival, 1.0), (curve.lower, np.nan), (curve.upper, np.nan),
                )
            ]  # fmt: skip
            found.append(values)
        survival, low, high = np.array(found).T
        return survival, low, high

    def summary(self) -> Summary:
        """Printed summary.

        Returns
        -------
        Summary
            Prints as text; ``as_text()``, ``as_latex()``, and HTML in notebooks.
        """
        from treeselect.printing import Summary

        return Summary(_content(self))

    def __repr__(self) -> str:
        return f"<RiskGroups: {', '.join(self.names)}; {self.scheme}>"


def risk_group_notes(found: RiskGroups) -> tuple[str, ...]:
    """What a reader should know of the groups."""
    return (
        "Risks and survival are predicted for the rows of each fold by a model refitted to the"
        " selected terms on the other rows. Groups are cut at the quantiles of these risks.",
        "The terms were selected on all rows, those that are held out here included: of terms that"
        " were picked from many, the groups lie further apart than those of new rows would.",
        "Observed: Kaplan and Meier's estimate, with its pointwise 95 % interval.",
    )


def _content(found: RiskGroups) -> SummaryContent:
    from treeselect.printing import SummaryContent

    observed, low, high = found.observed()
    rows = tuple(
        (
            name,
            f"{found.n_rows[g]:,}",
            f"{found.curves[g].events.sum():,.6g}",
            f"{found.risk[g]:.2f}",
            f"{found.predicted[g]:.3f}",
            _number(observed[g]),
            f"{low[g]:.3f} to {high[g]:.3f}" if np.isfinite(low[g] + high[g]) else "unknown",
        )
        for g, name in enumerate(found.names)
    )
    return SummaryContent(
        title=f"Risk groups: survival at {found.time} = {found.horizon:g}",
        facts=(("Call", found.call), ("Folds", found.scheme), ("Seed", str(found.seed))),
        columns=("Group", "Rows", "Events", "Relative", "Predicted", "Observed", "95 % interval"),
        rows=rows,
        notes=risk_group_notes(found),
    )


def _number(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "unknown"
