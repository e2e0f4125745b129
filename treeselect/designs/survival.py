"""Facts about times to an event: follow-up, events, and which rows can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from treeselect.designs.columns import in_new_data
from treeselect.designs.evaluation import Basis, as_factor, evaluate, missing_rows
from treeselect.designs.weights import copies_of
from treeselect.engine.arrays import FloatArray, IntArray, WeightArray
from treeselect.engine.rounding import at_least
from treeselect.engine.survival.curves import concordance, kaplan_meier
from treeselect.engine.survival.times import (
    EVENT,
    FROM_THE_BEGINNING,
    START,
    STOP,
    STRATUM,
    as_times,
)
from treeselect.errors import (
    DataError,
    NewDataError,
    column_code,
    in_row,
    listing,
    quoted,
    shortened,
)
from treeselect.formulas.terms import (
    Argument,
    Column,
    Constant,
    Factor,
    Operation,
    ParsedFormula,
    Survival,
    variables,
)
from treeselect.frames.values import Labels, Numbers, read_column

_MOST = 0.9
"""Proportion of the events that scores over time cover: late ones have large weights."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Facts about times to an event."""

    time: str  # time, event, start: as the formula writes them; no start if rows have none
    event: str
    start: str | None
    # n_rows, n_events: observations with a response, and those of them that end in an event
    n_rows: int
    n_events: int
    # median follow-up by the weighted reverse Kaplan-Meier estimate; None if it is not reached, or
    # if rows have a start: they may be intervals of one person's time
    median: float | None
    # the time of the first event, and the time by which 90% of the events (by weight) occur: the
    # range of scores over time
    span: tuple[float, float]
    # strata, levels: the arguments of ``strata()``, and their values in each stratum, in the order
    # of the numbers of strata; one empty tuple without strata
    strata: tuple[str, ...] = ()
    levels: tuple[tuple[Any, ...], ...] = ((),)
    # levels of columns that strata compare by their order, by stratum: see ``in_order``
    orders: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)


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


def follow_up_of(
    formula: ParsedFormula,
    y: FloatArray,
    weight: WeightArray,
    levels: tuple[tuple[Any, ...], ...],
    orders: Mapping[str, Any],
) -> FollowUp:
    assert formula.survival is not None
    median = None
    if formula.survival.start is None:
        # Of the reverse Kaplan-Meier estimate, in which censoring is the event and events are
        # censored (Schemper and Smith 1996). Not `censoring_curve`: in R and lifelines who has the
        # event at a time is at risk of being censored then, and this number is compared with them.
        ends = y.copy()
        ends[:, EVENT] = 1.0 - y[:, EVENT]
        found = kaplan_meier(ends, weight).median
        median = None if np.isnan(found) else found
    mass = weight * (y[:, EVENT] > 0)
    times, number = np.unique(y[mass > 0, STOP], return_inverse=True)
    until = np.cumsum(np.bincount(number, weights=mass[mass > 0]))
    span = float(times[0]), float(times[np.argmax(at_least(until, _MOST * until[-1]))])
    copies = copies_of(weight)
    n_rows, n_events = int(copies.sum()), int(copies @ y[:, EVENT])
    return described_follow_up(formula, n_rows, n_events, median, span, levels, orders)


def described_follow_up(
    formula: ParsedFormula,
    n_rows: int,
    n_events: int,
    median: float | None,
    span: tuple[float, float],
    levels: tuple[tuple[Any, ...], ...],
    orders: Mapping[str, Any],
) -> FollowUp:
    """The record of these figures, with the names in a formula."""
    node = formula.survival
    assert node is not None
    start = None if node.start is None else node.start.text
    strata = tuple(factor.name for factor in formula.strata)
    return FollowUp(
        node.stop.text, node.event.text, start, n_rows, n_events, median, span, strata, levels,
        orders,
    )  # fmt: skip


def are_times(y: FloatArray, weight: WeightArray, known: FollowUp) -> bool:
    """Whether finite numbers of shape (n_rows, 4), which may be hostile, are what
    :func:`read_times` gives for such a formula."""
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
    such pairs can be compared."""
    alike = np.zeros(len(y))
    return not np.isnan(concordance(y, alike, np.ones(len(y))).value)


# --- Strata of times to an event: the numbered combinations of the arguments of ``strata()`` -----


def strata_of(follow_up: FollowUp, formula: ParsedFormula, frame: pd.DataFrame) -> IntArray:
    """Number of the stratum of each row of new data, shape (n_rows,); -1 where one of its columns
    is missing."""
    names = list(dict.fromkeys(v for factor in formula.strata for v in factor.variables))
    absent = [name for name in names if name not in frame]
    if absent:
        raise NewDataError(
            f"`data` must have the columns of the strata.\n  Missing: {listing(absent)}."
        )
    with in_new_data():
        labels = strata_labels(formula.strata, frame, dict(follow_up.orders))
    if not labels:
        return np.zeros(len(frame), dtype=np.int64)
    number = {own: code for code, own in enumerate(follow_up.levels)}
    rows = np.flatnonzero(~missing_rows(dict(enumerate(labels))))
    levels, found = crossed(labels, rows)
    if unseen := [", ".join(map(str, own)) for own in levels if own not in number]:
        raise NewDataError(
            f"The strata of {listing(follow_up.strata)} must be the same as in the fit.\n"
            f"  New: {listing(unseen)}.\n"
            "  Each stratum has its own baseline hazard, which can't be estimated without its rows."
            ' Leave these rows out, or use `type="response"`, which needs no stratum.'
        )
    stratum = np.full(len(frame), -1)
    stratum[rows] = np.array([number[own] for own in levels], dtype=np.int64)[found]
    return stratum


def strata_labels(
    factors: Sequence[Factor], frame: pd.DataFrame, orders: dict[str, Any]
) -> list[Labels]:
    """Labels of what ``strata()`` is given; each distinct number is one. `orders` are filled, or
    replayed."""
    found = []
    for factor in factors:
        columns = {v: read_column(frame[v], v) for v in factor.variables}
        state = {"orders": orders[factor.name]} if factor.name in orders else {}
        values = evaluate(factor, columns, state)
        assert not isinstance(values, Basis)
        orders |= {factor.name: state["orders"]} if "orders" in state else {}
        found.append(as_factor(values))
    return found


def crossed(
    labels: Sequence[Labels], rows: IntArray
) -> tuple[tuple[tuple[Any, ...], ...], IntArray | None]:
    """The combinations of labels that occur, and the number of that of each row."""
    if not labels:
        return ((),), None
    codes = np.column_stack([own.codes[rows] for own in labels])
    found, number = np.unique(codes, axis=0, return_inverse=True)
    levels = tuple(
        tuple(own.levels[c] for own, c in zip(labels, row, strict=True)) for row in found
    )
    return levels, np.asarray(number.ravel(), dtype=np.int64)


# --- Times to an event on the left of a formula: their values, and checks of them ----------------

_LARGEST = 1e70
"""Largest time."""


def read_times(
    formula: ParsedFormula, frame: pd.DataFrame, orders: dict[str, Any]
) -> tuple[FloatArray, IntArray, tuple[tuple[Any, ...], ...]]:
    """The response of a formula with ``Surv()`` on its left: `y` of shape (n_known, 4), see
    :mod:`treeselect.engine.survival.times`; the rows in which times, event and strata are known;
    and the levels of the strata, as in :class:`FollowUp`, whose `orders` are filled."""
    node = formula.survival
    assert node is not None
    columns = {v: _column(frame, v, node) for v in formula.response.variables}
    stop, event = _values(node.stop, columns), _values(node.event, columns)
    start = None if node.start is None else _values(node.start, columns)
    labels = strata_labels(formula.strata, frame, orders)
    parts = [("event", event), ("stop", stop), *([("start", start)] if start is not None else [])]
    missing = missing_rows(dict(parts))
    for own in labels:
        missing |= own.codes < 0
    rows = np.flatnonzero(~missing)
    if not len(rows):
        raise DataError(
            f"The response {quoted(formula.response.name)} must have non-missing values.\n"
            f"  Found: none{', in rows whose strata are not missing' if labels else ''}."
        )
    times = _numbers(node.stop, stop, rows, node)
    n_distinct = 0 if isinstance(event, Labels) else len(np.unique(event.values[rows]))
    if n_distinct > 2 and np.isin(times, (0.0, 1.0)).all():
        swapped = ", ".join(p.text for p in (node.start, node.event, node.stop) if p is not None)
        raise DataError(
            f"The event in `Surv()` must be 0 or 1, or logical.\n"
            f"  Found: {n_distinct:,} distinct numbers in {quoted(node.event.text)}, and only 0 and"
            f" 1 in {quoted(node.stop.text)}.\n"
            f"  The arguments seem to be swapped: write `Surv({swapped})`."
        )
    happened = _events(node, event, rows)
    _check_times(node.stop, times, rows)
    begun = None
    if node.start is not None and start is not None:
        begun = _numbers(node.start, start, rows, node)
        _check_times(node.start, begun, rows)
    levels, stratum = crossed(labels, rows)
    y = as_times(times, happened, begun, stratum)
    if node.start is not None:
        _check_spans(node, y, rows)
        # Each time lies behind a start, so that none is 0: who starts at 0 was there from before.
        y[y[:, START] == 0, START] = FROM_THE_BEGINNING
    _check_some(node, y, columns, len(levels))
    return y, rows, levels


def _column(frame: pd.DataFrame, name: str, node: Survival) -> Numbers | Labels:
    kind = getattr(frame[name].dtype, "kind", "O")
    times = [part for part in (node.start, node.stop) if part is not None]
    in_times = any(name in variables(part.node) for part in times)
    if kind in "mM" and in_times:
        what, way = "time spans", f"{column_code(name)}.dt.days"
        if kind == "M":
            what, way = "dates", f'({column_code(name)} - data["begin"]).dt.days'
        raise DataError(
            f"Times in `Surv()` must be numbers.\n  Found: {what} in the column {quoted(name)}"
            f" ({frame[name].dtype}).\n"
            f"  Add the number of days as a column, for example `{way}` in pandas."
        )
    if kind == "f" and np.isinf(values := frame[name].to_numpy()).any() and in_times:
        raise DataError(
            "Times in `Surv()` must be finite.\n"
            f"  Found: {np.isinf(values).sum():,} infinite in the column {quoted(name)}.\n"
            "  For a row without an event, give the time at which it was censored."
        )
    return read_column(frame[name], name)


def _values(part: Argument, columns: Mapping[str, Numbers | Labels]) -> Numbers | Labels:
    names = variables(part.node)
    values = evaluate(Factor(part.text, names, part.node), {v: columns[v] for v in names}, {})
    assert not isinstance(values, Basis)
    return values


def _numbers(
    part: Argument, values: Numbers | Labels, rows: IntArray, node: Survival
) -> FloatArray:
    if isinstance(values, Numbers) and not values.is_bool:
        return np.asarray(values.values[rows])
    found, way = f"logical values in {quoted(part.text)}", _order(node)
    if isinstance(values, Labels):
        kind = "categories" if values.declared else "text"
        found = f"{kind} in {quoted(part.text)} ({listing(values.levels, 3)})"
        way = f"Convert it, for example with `.astype(float)`. {way}"
    raise DataError(f"Times in `Surv()` must be numbers.\n  Found: {found}.\n  {way}")


def _order(node: Survival) -> str:
    given = "time, event" if node.start is None else "start, stop, event"
    return f"Check the order of the arguments: `Surv({given})`."


def _events(node: Survival, event: Numbers | Labels, rows: IntArray) -> FloatArray:
    """1 for an event, 0 for the end of observation."""
    text = node.event.text
    head = "The event in `Surv()` must be 0 or 1, or logical.\n"
    times = ", ".join(part.text for part in (node.start, node.stop) if part is not None)
    named = text if isinstance(node.event.node, Column) else f"({text})"
    if isinstance(event, Labels):
        present = [event.levels[c] for c in np.unique(event.codes[rows])]
        example = shortened(f"Surv({times}, {named} == {str(present[-1])!r})")
        raise DataError(
            f"{head}  Found: {'categories' if event.declared else 'text'} in {quoted(text)}:"
            f" {listing(present, 6)}.\n  Name the event, for example `{example}`;"
            " rows with any other level are censored."
        )
    values = event.values[rows]
    present = np.unique(values).tolist()
    if not set(present) <= {0.0, 1.0}:
        found = ", ".join(f"{v:g}" for v in present[:6]) + (" and more" if present[6:] else "")
        way = _order(node)
        if len(present) <= 10:
            r_reads = " That is how R reads 1 and 2." if present == [1.0, 2.0] else ""
            way = f"Name the event, for example `Surv({times}, {named} == {present[-1]:g})`; rows"
            way += f" with any other value are censored.{r_reads}"
        raise DataError(f"{head}  Found: {found} in {quoted(text)}.\n  {way}")
    return np.asarray(values)


def _check_times(part: Argument, times: FloatArray, rows: IntArray) -> None:
    low = np.flatnonzero(times < 0)
    if len(low):
        raise DataError(
            "Times in `Surv()` must be at least 0.\n"
            f"  Found: {times[low[0]]:g} in {quoted(part.text)}, {in_row(rows[low[0]], len(low))}\n"
            "  Measure time from an earlier origin, or leave these rows out."
        )
    if times.max() > _LARGEST:
        raise DataError(
            f"Times in `Surv()` must be at most {_LARGEST:g}.\n"
            f"  Found: {times.max():g} in {quoted(part.text)}. Rescale it."
        )


def _check_spans(node: Survival, y: FloatArray, rows: IntArray) -> None:
    assert node.start is not None
    empty = np.flatnonzero(y[:, START] >= y[:, STOP])
    if len(empty):
        first = empty[0]
        every = len(empty) == len(y)
        way = _order(node) if every else "Correct these rows, or leave them out."
        raise DataError(
            f"In `Surv()` the start {quoted(node.start.text)} must be before the stop"
            f" {quoted(node.stop.text)}.\n"
            f"  Found: start {y[first, START]:g} and stop {y[first, STOP]:g}"
            f" {in_row(rows[first], len(empty))}\n"
            f"  {way}"
        )


def _check_some(
    node: Survival, y: FloatArray, columns: Mapping[str, Numbers | Labels], n_strata: int
) -> None:
    """There must be events, at different times, beside rows that have none."""
    n = len(y)
    if not y[:, EVENT].any():
        raise DataError(
            f"The response must have events.\n  Found: none in {n:,} row{'s' if n > 1 else ''};"
            f" {quoted(node.event.text)} is 0 (False) in every row.{_levels_there(node, columns)}"
        )
    if (y[:, STOP] == y[0, STOP]).all():
        raise DataError(
            f"Times in `Surv()` must vary.\n  Found: {y[0, STOP]:g} in every row of"
            f" {quoted(node.stop.text)}.\n"
            "  To model whether there was an event, whatever its time, put the event alone on the"
            " left-hand side."
        )
    if not tells_risks(y):
        strata, way = "", "No two rows can be compared: check times and events."
        if n_strata > 1:
            strata = " of the same stratum"
            way = f"There are {n_strata:,} strata in {n:,} rows: use fewer."
        raise DataError(
            "At some event time in `Surv()`, another row must be at risk and have no event.\n"
            f"  Found: no such row{strata} at any of {int(y[:, EVENT].sum()):,} events.\n  {way}"
        )


def _levels_there(node: Survival, columns: Mapping[str, Numbers | Labels]) -> str:
    """What a compared column holds, of an event that never happens."""
    match node.event.node:
        case Operation("==", (Column(name), Constant())):
            column = columns[name]
            if isinstance(column, Labels):
                present = [column.levels[c] for c in np.unique(column.codes) if c >= 0]
            else:
                present = [f"{v:g}" for v in np.unique(column.values) if v == v]
            return f"\n  Values of {quoted(name)}: {listing(present, 6)}."
    return ""
