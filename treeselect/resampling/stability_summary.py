"""How stability prints: a few lines, and a summary with a table of selection frequencies."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_digits
from treeselect.frames.libraries import in_library
from treeselect.printing import (
    MOST_ROWS,
    Summary,
    SummaryContent,
    chosen_digits,
    count_text,
    decimal_form,
    decimal_text,
    enumeration,
    interval_text,
    percent_text,
)
from treeselect.printing.summary import Summarised
from treeselect.resampling.agreement import stability_index, wilson_interval
from treeselect.resampling.error_bounds import no_bound
from treeselect.resampling.selected_sets import SelectedSets
from treeselect.running.pieces import stopped_note
from treeselect.shown import shown

if TYPE_CHECKING:
    import pandas as pd


# --- selection frequencies with their intervals, and the stability index -----------------------


@dataclass(frozen=True, slots=True)
class Frequencies(SelectedSets):
    """Selections on resamples, summarised by frequencies and one index."""

    @property
    def index(self) -> float:
        """Nogueira's stability index over the units not forced in (see `stability_index`)."""
        return stability_index(self.selected[:, self.assessed])[0]

    @property
    def index_ci(self) -> tuple[float, float]:
        """Its 95% Monte Carlo interval."""
        return stability_index(self.selected[:, self.assessed])[1]

    def tidy(self) -> Any:
        """One row per unit, in decreasing order of selection frequency.

        Returns
        -------
        frame, in the library of the data
            Columns ``term``, ``frequency``, ``ci_low``, ``ci_high`` (95% Wilson interval) and
            ``selected`` (by the fit).
        """
        return in_library(self.table(), self.library)

    def table(self) -> pd.DataFrame:
        """:meth:`tidy` as a pandas frame."""
        import pandas as pd

        low, high = wilson_interval(self.selected.sum(axis=0), self.n_resamples)
        frame = pd.DataFrame(
            {
                "term": self.units,
                "frequency": self.frequency,
                "ci_low": low,
                "ci_high": high,
                "selected": self.fitted,
            }
        )
        return frame.sort_values(["frequency", "term"], ascending=[False, True], ignore_index=True)


# --- how stability prints ----------------------------------------------------------------------

_MOST_NAMES = 6


@dataclass(frozen=True, slots=True, repr=False)
class PrintedStability(Summarised, Frequencies):
    """How stability prints."""

    def summary(self, *, digits: int | None = None) -> Summary:
        """Printed summary: number of terms, selection frequencies and the stability index.

        Parameters
        ----------
        digits : int, optional
            Decimals of frequencies, the stability index and their intervals, from 1 to 10. By
            default each kind of number has its own.
        """
        with chosen_digits(check_digits(digits)):
            return Summary(summarise_stability(self._in_labels()))

    def __repr__(self) -> str:
        return "\n".join(map(shown, stability_lines(self._in_labels())))

    def _in_labels(self) -> PrintedStability:
        units = tuple(self.labels.get(name, name) for name in self.units)
        return dataclasses.replace(self, units=units)


def stability_lines(stability: Frequencies) -> tuple[str, ...]:
    """What a prompt shows."""
    title, *facts = _facts(stability)
    bound = ", .pfer()" if no_bound(stability) is None else ""
    return (
        f"Stability on {title[1]}",
        *(f"  {name}: {value}" for name, value in facts),
        f"  More: .summary(), .tidy(), .substitutes, .models(), .pairs(){bound}",
    )


def summarise_stability(stability: Frequencies) -> SummaryContent:
    """Content of its summary."""
    table = stability.table()
    kept = dict(zip(stability.units, stability.kept.tolist(), strict=True))
    rows = tuple(
        (
            str(row["term"]),
            *(
                ("forced in", "")
                if kept[row["term"]]
                else (
                    decimal_text(row["frequency"], 2),
                    interval_text(row["ci_low"], row["ci_high"]),
                )
            ),
            "yes" if row["selected"] else "no",
        )
        for row in table.head(MOST_ROWS).to_dict("records")
    )
    return SummaryContent(
        title="Stability of the selection",
        facts=_facts(stability),
        columns=(stability.one.capitalize(), "Frequency", "95% interval", "Selected"),
        rows=rows,
        notes=_notes(stability, len(table) - len(rows)),
    )


def _facts(stability: Frequencies) -> tuple[tuple[str, str], ...]:
    sizes = stability.selected.sum(axis=1)
    low, high = int(sizes.min()), int(sizes.max())
    size = count_text(low) if low == high else f"{count_text(low)} to {count_text(high)}"
    fixed = "fixed at " if stability.fixed_size and low == high else ""
    return (
        ("Resamples", stability.words),
        (
            f"Number of {stability.one}s (k)",
            f"{fixed}{size} of {count_text(len(stability.units))}",
        ),
        ("Selected by the fit", _named(stability, stability.fitted & ~stability.kept)),
        ("Most frequent others", _named(stability, ~stability.fitted & ~stability.kept)),
        ("Stability index", _index(stability)),
    )


def _named(stability: Frequencies, which: np.ndarray) -> str:
    """Units with their frequencies, the most frequent first, without those of frequency 0 that are
    not in the fit."""
    frequency = stability.frequency
    known = [u for u in np.flatnonzero(which) if frequency[u] > 0 or stability.fitted[u]]
    known.sort(key=lambda u: (-frequency[u], stability.units[u]))
    names = [f"{stability.units[u]} ({percent_text(frequency[u])})" for u in known]
    return enumeration(names, _MOST_NAMES) if names else "none"


def _index(stability: Frequencies) -> str:
    index, (low, high) = stability.index, stability.index_ci
    if not np.isfinite(index):
        return f"not defined: every resample selected all {stability.one}s that it could, or none"
    form = decimal_form(2)
    between = f" ({interval_text(low, high)})" if format(low, form) != format(high, form) else ""
    return f"{decimal_text(index, 2)}{between}; 1 is the same selection each time, 0 is chance"


def _notes(stability: Frequencies, more: int) -> tuple[str, ...]:
    asked = stability.asked
    notes = [] if asked is None else [stopped_note(stability.n_resamples, asked, "resamples")]
    if more > 0:
        notes.append(f"{count_text(more)} more in `.tidy()`.")
    notes.append(
        f"Frequency: share of resamples that selected the {stability.one}, with Wilson's interval."
        " Stability index: Nogueira, Sechidis and Brown (2018), with its Monte Carlo interval."
    )
    return tuple(notes)
