"""Times to an event on the left of a formula: their values, and checks of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.designs.evaluation import Basis, evaluate, missing_rows
from treeselect.designs.follow_up import survival_of, tells_risks
from treeselect.designs.strata_levels import crossed, strata_labels
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.survival.times import EVENT, FROM_THE_BEGINNING, START, STOP, as_times
from treeselect.errors import DataError, listing, quoted
from treeselect.formulas.expressions import (
    Argument,
    Column,
    Constant,
    Operation,
    Survival,
    variables,
)
from treeselect.formulas.terms import Factor, ParsedFormula
from treeselect.frames.values import Labels, Numbers, read_column

if TYPE_CHECKING:
    import pandas as pd

_LARGEST = 1e70
"""Largest time."""


def read_times(
    formula: ParsedFormula, frame: pd.DataFrame
) -> tuple[FloatArray, IntArray, tuple[tuple[Any, ...], ...]]:
    """The response of a formula with ``Surv()`` on its left.

    Returns
    -------
    y : ndarray of float64, shape (n_known, 4)
        See :mod:`treeselect.engine.survival.times`.
    rows : ndarray of int64, shape (n_known,)
        Rows in which times, event and strata are known.
    levels : tuple of tuple
        As in :class:`~treeselect.designs.follow_up.FollowUp`.

    Raises
    ------
    DataError
        If times are not non-negative numbers, if the event is not coded 0 and 1, if there is no
        event, or if no event can be compared with a row that had none.
    """
    node = survival_of(formula)
    columns = {v: _column(frame, v, node) for v in formula.response.variables}
    stop, event = _values(node.stop, columns), _values(node.event, columns)
    start = None if node.start is None else _values(node.start, columns)
    labels = strata_labels(formula.strata, frame)
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
    _check_swapped(node, times, event, rows)
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
        what, way = (
            ("time spans", f"data[{name!r}].dt.days")
            if kind == "m"
            else ("dates", f'(data[{name!r}] - data["begin"]).dt.days')
        )
        raise DataError(
            f"Times in `Surv()` must be numbers.\n  Found: {what} in the column {quoted(name)}"
            f" ({frame[name].dtype}).\n  Add the number of days as a column, for example `{way}`."
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
    if isinstance(values, Labels):
        raise DataError(
            f"Times in `Surv()` must be numbers.\n"
            f"  Found: {'categories' if values.declared else 'text'} in {quoted(part.text)}"
            f" ({listing(values.levels, 3)}).\n"
            f"  Convert it, for example with `.astype(float)`. {_order(node)}"
        )
    if values.is_bool:
        raise DataError(
            f"Times in `Surv()` must be numbers.\n  Found: logical values in {quoted(part.text)}.\n"
            f"  {_order(node)}"
        )
    return np.asarray(values.values[rows])


def _order(node: Survival) -> str:
    return (
        "Check the order of the arguments: `Surv(time, event)`."
        if node.start is None
        else "Check the order of the arguments: `Surv(start, stop, event)`."
    )


def _check_swapped(
    node: Survival, times: FloatArray, event: Numbers | Labels, rows: IntArray
) -> None:
    """Times that are 0 and 1 beside an event with many values are the event."""
    if isinstance(event, Labels) or len(np.unique(event.values[rows])) < 3:
        return
    if np.isin(times, (0.0, 1.0)).all():
        text = ", ".join(
            part.text for part in (node.start, node.event, node.stop) if part is not None
        )
        raise DataError(
            f"The event in `Surv()` must be 0 or 1, or logical.\n"
            f"  Found: {len(np.unique(event.values[rows])):,} distinct numbers in"
            f" {quoted(node.event.text)}, and only 0 and 1 in {quoted(node.stop.text)}.\n"
            f"  The arguments seem to be swapped: write `Surv({text})`."
        )


def _events(node: Survival, event: Numbers | Labels, rows: IntArray) -> FloatArray:
    """1 for an event, 0 for the end of observation."""
    text = node.event.text
    head = "The event in `Surv()` must be 0 or 1, or logical.\n"
    times = ", ".join(part.text for part in (node.start, node.stop) if part is not None)
    named = text if isinstance(node.event.node, Column) else f"({text})"
    if isinstance(event, Labels):
        present = [event.levels[c] for c in np.unique(event.codes[rows])]
        raise DataError(
            f"{head}  Found: {'categories' if event.declared else 'text'} in {quoted(text)}:"
            f" {listing(present, 6)}.\n"
            f"  Name the event, for example `Surv({times}, {named} == {str(present[-1])!r})`;"
            " rows with any other level are censored."
        )
    values = event.values[rows]
    present = np.unique(values).tolist()
    if not set(present) <= {0.0, 1.0}:
        found = ", ".join(f"{v:g}" for v in present[:6]) + (" and more" if present[6:] else "")
        r_reads = " That is how R reads 1 and 2." if present == [1.0, 2.0] else ""
        way = (
            f"Name the event, for example `Surv({times}, {named} == {present[-1]:g})`; rows with"
            f" any other value are censored.{r_reads}"
            if len(present) <= 10
            else _order(node)
        )
        raise DataError(f"{head}  Found: {found} in {quoted(text)}.\n  {way}")
    return np.asarray(values)


def _check_times(part: Argument, times: FloatArray, rows: IntArray) -> None:
    low = np.flatnonzero(times < 0)
    if len(low):
        raise DataError(
            "Times in `Surv()` must be at least 0.\n"
            f"  Found: {times[low[0]]:g} in row {rows[low[0]]} of {quoted(part.text)} (counted from"
            f" 0), {len(low):,} such row{'s' if len(low) > 1 else ''} in all.\n"
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
        every = (
            " Check the order of the arguments: `Surv(start, stop, event)`."
            if len(empty) == len(y)
            else " Correct these rows, or leave them out."
        )
        raise DataError(
            f"In `Surv()` the start {quoted(node.start.text)} must be before the stop"
            f" {quoted(node.stop.text)}.\n"
            f"  Found: start {y[first, START]:g} and stop {y[first, STOP]:g} in row {rows[first]}"
            f" (counted from 0), {len(empty):,} such row{'s' if len(empty) > 1 else ''} in all.\n"
            f" {every}"
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
        strata = " of the same stratum" if n_strata > 1 else ""
        raise DataError(
            "At some event time in `Surv()`, another row must be at risk and have no event.\n"
            f"  Found: no such row{strata} at any of {int(y[:, EVENT].sum()):,} events.\n"
            + (
                f"  There are {n_strata:,} strata in {n:,} rows: use fewer."
                if n_strata > 1
                else "  No two rows can be compared: check times and events."
            )
        )


def _levels_there(node: Survival, columns: Mapping[str, Numbers | Labels]) -> str:
    """What a compared column holds, of an event that never happens."""
    match node.event.node:
        case Operation("==", (Column(name), Constant())):
            column = columns[name]
            if isinstance(column, Labels):
                present = [column.levels[c] for c in np.unique(column.codes) if c >= 0]
            else:
                known = np.unique(column.values[~np.isnan(column.values)])
                present = [f"{v:g}" for v in known]
            return f"\n  Values of {quoted(name)}: {listing(present, 6)}."
    return ""
