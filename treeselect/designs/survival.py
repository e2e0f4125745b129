"""Times to an event on the left of a formula, and strata: their values, checks and levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.designs.evaluation import Basis, as_factor, evaluate, missing_rows
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM, as_times
from treeselect.errors import DataError, NewDataError, listing, quoted
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


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a reader should know of times to an event.

    Attributes
    ----------
    time, event : str
        As the formula writes them.
    start : str or None
        The same of the beginning of observation, where rows have one.
    n_rows, n_events : int
        Rows with a known response, and those of them that end in an event.
    median : float or None
        Median follow-up by the reverse Kaplan-Meier estimate, rows counted by their weights; None
        if half of the rows have an event before, or rows have a start: they may be parts of the
        time of one person.
    strata : tuple of str
        What ``strata()`` is given.
    levels : tuple of tuple
        Values of these in each stratum, whose number is its place; one empty tuple without strata.
    """

    time: str
    event: str
    start: str | None
    n_rows: int
    n_events: int
    median: float | None
    strata: tuple[str, ...] = ()
    levels: tuple[tuple[Any, ...], ...] = ((),)

    @property
    def stratum_names(self) -> tuple[str, ...]:
        """Each stratum in words: ``site=Bath, sex=f``; one empty text without strata."""
        return tuple(
            ", ".join(f"{name}={level}" for name, level in zip(self.strata, own, strict=True))
            for own in self.levels
        )


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
        As in :class:`FollowUp`.

    Raises
    ------
    DataError
        If times are no numbers from 0, if the event is not told by 0 and 1, if there is no event,
        or if no event can be compared with a row that had none.
    """
    node = survival_of(formula)
    columns = {v: _column(frame, v, node) for v in formula.response.variables}
    stop, event = _values(node.stop, columns), _values(node.event, columns)
    start = None if node.start is None else _values(node.start, columns)
    labels = strata_labels(formula.strata, frame)
    parts = [("event", event), ("stop", stop), *([("start", start)] if start is not None else [])]
    missing = missing_rows(dict(parts))  # type: ignore[arg-type]
    for own in labels:
        missing |= own.codes < 0
    rows = np.flatnonzero(~missing)
    if not len(rows):
        raise DataError(
            f"The response {quoted(formula.response.name)} must have known values.\n  Found: none"
            f"{', in rows whose strata are known' if labels else ''}."
        )
    times = _numbers(node.stop, stop, rows, node)
    _check_swapped(node, times, event, rows)
    happened = _events(node, event, rows)
    _check_times(node.stop, times, rows)
    begun = None
    if node.start is not None and start is not None:
        begun = _numbers(node.start, start, rows, node)
        _check_times(node.start, begun, rows)
    levels, stratum = _crossed(labels, rows)
    y = as_times(times, happened, begun, stratum)
    if node.start is not None:
        _check_spans(node, y, rows)
    _check_some(node, y, columns, len(levels))
    return y, rows, levels


def follow_up_of(
    formula: ParsedFormula,
    y: FloatArray,
    weight: WeightArray,
    levels: tuple[tuple[Any, ...], ...],
) -> FollowUp:
    """What a reader should know of these rows."""
    node = survival_of(formula)
    return FollowUp(
        time=node.stop.text,
        event=node.event.text,
        start=None if node.start is None else node.start.text,
        n_rows=len(y),
        n_events=int(y[:, EVENT].sum()),
        median=_median_follow_up(y, weight) if node.start is None else None,
        strata=tuple(factor.name for factor in formula.strata),
        levels=levels,
    )


def strata_of(follow_up: FollowUp, formula: ParsedFormula, frame: pd.DataFrame) -> IntArray:
    """Number of the stratum of each row of new data, shape (n_rows,); -1 where one of its columns
    is missing.

    Raises
    ------
    NewDataError
        If a column is not there or can't be used, or a stratum was not there in the fit.
    """
    names = list(dict.fromkeys(v for factor in formula.strata for v in factor.variables))
    absent = [name for name in names if name not in frame]
    if absent:
        raise NewDataError(
            f"`data` must have the columns of the strata.\n  Missing: {listing(absent)}."
        )
    try:
        labels = strata_labels(formula.strata, frame)
    except DataError as error:
        raise NewDataError(str(error)) from None
    number = {own: code for code, own in enumerate(follow_up.levels)}
    found = np.zeros(len(frame), dtype=np.int64)
    if not labels:
        return found
    codes, inverse = np.unique(
        np.column_stack([own.codes for own in labels]), axis=0, return_inverse=True
    )
    unseen: list[str] = []
    lookup = np.full(len(codes), -1)
    for i, row in enumerate(codes):
        if (row < 0).any():
            continue
        own = tuple(label.levels[c] for label, c in zip(labels, row, strict=True))
        lookup[i] = number.get(own, -1)
        if own not in number:
            unseen.append(", ".join(map(str, own)))
    if unseen:
        raise NewDataError(
            f"The strata of {listing(follow_up.strata)} must be those of the fit.\n"
            f"  Unseen: {listing(unseen)}.\n"
            "  A stratum has a baseline hazard of its own, which only its rows can tell."
        )
    return np.asarray(lookup[inverse.ravel()])


def survival_of(formula: ParsedFormula) -> Survival:
    """The call of ``Surv()`` on the left."""
    node = formula.response.factors[0].node
    assert isinstance(node, Survival)
    return node


def strata_labels(factors: Sequence[Factor], frame: pd.DataFrame) -> list[Labels]:
    """Labels of what ``strata()`` is given; each distinct number is one."""
    found = []
    for factor in factors:
        columns = {v: read_column(frame[v], v, needed=True) for v in factor.variables}
        values = evaluate(factor, columns, {})
        assert not isinstance(values, Basis)
        found.append(as_factor(values))
    return found


def comparable(y: FloatArray) -> BoolArray:
    """Which rows end in an event while others are at risk that have none at that time, shape
    (n_rows,): only these tell whose risk is higher.

    Parameters
    ----------
    y : ndarray of float64, shape (n_rows, 4)
    """
    _, rank = np.unique(y[:, [START, STOP]], return_inverse=True)
    start, stop = rank.reshape(len(y), 2).T
    _, stratum = np.unique(y[:, STRATUM], return_inverse=True)
    base = stratum * (int(rank.max(initial=0)) + 1)
    at, event = base + stop, y[:, EVENT] > 0
    # Rows of other strata have begun and ended alike.
    begun = np.searchsorted(np.sort(base + start), at, side="left")
    ended = np.searchsorted(np.sort(at), at, side="left")
    events = np.sort(at[event])
    tied = np.searchsorted(events, at, side="right") - np.searchsorted(events, at, side="left")
    return event & (begun - ended > tied)


# --- columns --------------------------------------------------------------------------------------


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
            f" ({frame[name].dtype}).\n  Give days as a column, for example `{way}`."
        )
    if kind == "f" and np.isinf(values := frame[name].to_numpy()).any() and in_times:
        raise DataError(
            "Times in `Surv()` must be finite.\n"
            f"  Found: {np.isinf(values).sum():,} infinite in the column {quoted(name)}.\n"
            "  Of a row that never had the event, give the time until which it was observed."
        )
    return read_column(frame[name], name, needed=True)


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
            f"  Make numbers of it, for example with `.astype(float)`. {_order(node)}"
        )
    if values.is_bool:
        raise DataError(
            f"Times in `Surv()` must be numbers.\n  Found: truth values in {quoted(part.text)}.\n"
            f"  {_order(node)}"
        )
    return np.asarray(values.values[rows])


def _order(node: Survival) -> str:
    return (
        "Are the arguments in order? It is `Surv(time, event)`."
        if node.start is None
        else "Are the arguments in order? It is `Surv(start, stop, event)`."
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
            f"The event in `Surv()` must be 0 or 1, or a truth value.\n"
            f"  Found: {len(np.unique(event.values[rows])):,} different numbers in"
            f" {quoted(node.event.text)}, and only 0 and 1 in {quoted(node.stop.text)}.\n"
            f"  The arguments seem to be swapped: write `Surv({text})`."
        )


def _events(node: Survival, event: Numbers | Labels, rows: IntArray) -> FloatArray:
    """1 for an event, 0 for the end of observation."""
    text = node.event.text
    head = "The event in `Surv()` must be 0 or 1, or a truth value.\n"
    times = ", ".join(part.text for part in (node.start, node.stop) if part is not None)
    named = text if isinstance(node.event.node, Column) else f"({text})"
    if isinstance(event, Labels):
        present = [event.levels[c] for c in np.unique(event.codes[rows])]
        raise DataError(
            f"{head}  Found: {'categories' if event.declared else 'text'} in {quoted(text)}:"
            f" {listing(present, 6)}.\n"
            f"  Name the event, for example `Surv({times}, {named} == {str(present[-1])!r})`;"
            " rows of all other levels are censored."
        )
    values = event.values[rows]
    present = np.unique(values).tolist()
    if not set(present) <= {0.0, 1.0}:
        found = ", ".join(f"{v:g}" for v in present[:6]) + (" and more" if present[6:] else "")
        r_reads = " That is how R reads 1 and 2." if present == [1.0, 2.0] else ""
        way = (
            f"Name the event, for example `Surv({times}, {named} == {present[-1]:g})`; rows of all"
            f" other values are censored.{r_reads}"
            if len(present) <= 10
            else _order(node)
        )
        raise DataError(f"{head}  Found: {found} in {quoted(text)}.\n  {way}")
    return np.asarray(values)


# --- checks ---------------------------------------------------------------------------------------


def _check_times(part: Argument, times: FloatArray, rows: IntArray) -> None:
    low = np.flatnonzero(times < 0)
    if len(low):
        raise DataError(
            "Times in `Surv()` must be at least 0.\n"
            f"  Found: {times[low[0]]:g} in row {rows[low[0]]} of {quoted(part.text)} (counted from"
            f" 0), {len(low):,} such row{'s' if len(low) > 1 else ''} in all.\n"
            "  Count from an origin that lies before all of them, or leave these rows out."
        )
    if times.max() > _LARGEST:
        raise DataError(
            f"Times in `Surv()` must be at most {_LARGEST:g}.\n"
            f"  Found: {times.max():g} in {quoted(part.text)}. Give it in other units."
        )


def _check_spans(node: Survival, y: FloatArray, rows: IntArray) -> None:
    assert node.start is not None
    empty = np.flatnonzero(y[:, START] >= y[:, STOP])
    if len(empty):
        first = empty[0]
        every = (
            " In all rows: are the arguments in order? It is `Surv(start, stop, event)`."
            if len(empty) == len(y)
            else " Leave these rows out, or correct them."
        )
        raise DataError(
            f"In `Surv()` the start {quoted(node.start.text)} must lie before the stop"
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
            f" {quoted(node.event.text)} is never true.{_levels_there(node, columns)}"
        )
    if (y[:, STOP] == y[0, STOP]).all():
        raise DataError(
            f"Times in `Surv()` must vary.\n  Found: {y[0, STOP]:g} in every row of"
            f" {quoted(node.stop.text)}.\n"
            "  Whether there was an event, whatever its time, is a response of two classes: put"
            " it alone on the left."
        )
    if not comparable(y).any():
        strata = " of the same stratum" if n_strata > 1 else ""
        raise DataError(
            "Some event must have other rows at risk at its time, without an event then.\n"
            f"  Found: none of {int(y[:, EVENT].sum()):,} events has{' such rows' + strata}.\n"
            + (
                f"  There are {n_strata:,} strata in {n:,} rows: give fewer."
                if n_strata > 1
                else "  Nothing tells whose risk is higher: check times and events."
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
            return f"\n  {quoted(name)} holds {listing(present, 6)}."
    return ""


# --- figures --------------------------------------------------------------------------------------


def _crossed(
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


def _median_follow_up(y: FloatArray, weight: WeightArray) -> float | None:
    """Median of the reverse Kaplan-Meier estimate, in which the ends of observation are what
    happens, and events are censored."""
    times, number = np.unique(y[:, STOP], return_inverse=True)
    total = np.bincount(number, weights=weight)
    ended = np.bincount(number, weights=weight * (y[:, EVENT] == 0))
    at_risk = np.cumsum(total[::-1])[::-1]
    share = np.divide(ended, at_risk, out=np.zeros(len(times)), where=at_risk > 0)
    below = np.flatnonzero(np.cumprod(1 - share) <= 0.5 + _ROUNDING)
    return float(times[below[0]]) if len(below) else None


_ROUNDING = 1e-9
"""A product of shares that is one half but for this is one half."""
