"""Facts about times to an event: follow-up, events, and which rows can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treeselect.designs.weights import copies_of
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.rounding import at_least
from treeselect.engine.survival.concordance import concordance
from treeselect.engine.survival.curves import kaplan_meier
from treeselect.engine.survival.times import EVENT, FROM_THE_BEGINNING, START, STOP, STRATUM
from treeselect.formulas.expressions import Survival
from treeselect.formulas.terms import ParsedFormula

_MOST = 0.9
"""Proportion of the events that scores over time cover: late ones have large weights."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Facts about times to an event.

    Attributes
    ----------
    time, event : str
        As the formula writes them.
    start : str or None
        The same for the start of observation, if rows have one.
    n_rows, n_events : int
        Observations with a response, and those of them that end in an event.
    median : float or None
        Median follow-up by the weighted reverse Kaplan-Meier estimate; None if it is not reached,
        or if rows have a start: they may be intervals of one person's time.
    span : tuple of float
        The time of the first event, and the time by which 90% of the events (by weight) occur: the
        range of scores over time.
    strata : tuple of str
        The arguments of ``strata()``.
    levels : tuple of tuple
        Values of these in each stratum, in the order of their numbers; one empty tuple without
        strata.
    """

    time: str
    event: str
    start: str | None
    n_rows: int
    n_events: int
    median: float | None
    span: tuple[float, float]
    strata: tuple[str, ...] = ()
    levels: tuple[tuple[Any, ...], ...] = ((),)

    @property
    def is_more_than_times(self) -> bool:
        """Whether there are starts or strata."""
        return self.start is not None or bool(self.strata)


def follow_up_facts(known: FollowUp | None) -> tuple[tuple[str, str], ...]:
    """Lines of a header about times to an event, as names and texts; none for other responses."""
    if known is None:
        return ()
    share = known.n_events / known.n_rows
    facts = [("Events", f"{known.n_events:,} in {known.n_rows:,} rows ({100 * share:.1f}%)")]
    if known.start is not None:
        facts.append(("Follow-up", f"rows are at risk after {known.start}"))
    elif known.n_events == known.n_rows:
        facts.append(("Follow-up", "every row ends in an event"))
    elif known.median is None:
        facts.append(("Follow-up", "median not reached (reverse Kaplan-Meier)"))
    else:
        facts.append(("Follow-up", f"median {known.median:,.6g} (reverse Kaplan-Meier)"))
    if known.strata:
        n = len(known.levels)
        count = f"{n:,} strata, each with its own baseline hazard" if n > 1 else "1 stratum"
        facts.append(("Strata", f"{', '.join(known.strata)} ({count})"))
    return tuple(facts)


def has_times(formula: ParsedFormula) -> bool:
    """Whether times to an event are on the left."""
    return isinstance(formula.response.factors[0].node, Survival)


def survival_of(formula: ParsedFormula) -> Survival:
    """The call of ``Surv()`` on the left."""
    node = formula.response.factors[0].node
    assert isinstance(node, Survival)
    return node


def follow_up_of(
    formula: ParsedFormula,
    y: FloatArray,
    weight: WeightArray,
    levels: tuple[tuple[Any, ...], ...],
) -> FollowUp:
    """The facts about these rows."""
    has_start = survival_of(formula).start is not None
    median = None if has_start else _median_follow_up(y, weight)
    span = _span_of_events(y, weight)
    copies = copies_of(weight)
    n_events = int(copies @ y[:, EVENT])
    return described_follow_up(formula, int(copies.sum()), n_events, median, span, levels)


def described_follow_up(
    formula: ParsedFormula,
    n_rows: int,
    n_events: int,
    median: float | None,
    span: tuple[float, float],
    levels: tuple[tuple[Any, ...], ...],
) -> FollowUp:
    """The record of these figures, with the names in a formula."""
    node = survival_of(formula)
    return FollowUp(
        time=node.stop.text,
        event=node.event.text,
        start=None if node.start is None else node.start.text,
        n_rows=n_rows,
        n_events=n_events,
        median=median,
        span=span,
        strata=tuple(factor.name for factor in formula.strata),
        levels=levels,
    )


def are_times(y: FloatArray, weight: WeightArray, known: FollowUp) -> bool:
    """Whether an array, which may be hostile, is what :func:`read_times` gives for such a formula.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
        Finite numbers.
    weight : ndarray of int64 or float, shape (n_rows,)
    known : FollowUp
    """
    copies = copies_of(weight)
    start, stop, event, stratum = y[:, START], y[:, STOP], y[:, EVENT], y[:, STRATUM]
    from_beginning = start == FROM_THE_BEGINNING
    return bool(
        int(copies.sum()) == known.n_rows
        and int(copies @ event) == known.n_events
        and np.isin(event, (0.0, 1.0)).all()
        and (stop >= 0).all()
        and (from_beginning | ((start > 0) & (known.start is not None))).all()
        and (start < stop).all()
        and np.array_equal(np.unique(stratum), np.arange(len(known.levels)))
        and tells_risks(y)
    )


def tells_risks(y: FloatArray) -> bool:
    """Whether any row ends in an event while others are at risk that have none at that time: only
    such pairs can be compared.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    """
    alike = np.zeros(len(y))
    return not np.isnan(concordance(y, alike, np.ones(len(y))).value)


def _span_of_events(y: FloatArray, weight: WeightArray) -> tuple[float, float]:
    """Time of the first event, and the time by which most events occur."""
    mass = weight * (y[:, EVENT] > 0)
    times, number = np.unique(y[mass > 0, STOP], return_inverse=True)
    until = np.cumsum(np.bincount(number, weights=mass[mass > 0]))
    return float(times[0]), float(times[np.argmax(at_least(until, _MOST * until[-1]))])


def _median_follow_up(y: FloatArray, weight: WeightArray) -> float | None:
    """Median of the reverse Kaplan-Meier estimate, in which censoring is the event and events are
    censored (Schemper and Smith 1996)."""
    ends = y.copy()
    ends[:, EVENT] = 1.0 - y[:, EVENT]
    # Not `censoring_curve`: in R and lifelines who has the event at a time is at risk of being
    # censored then, and this number is compared with theirs.
    median = kaplan_meier(ends, weight).median
    return None if np.isnan(median) else median
