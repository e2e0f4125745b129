"""The variables behind the terms, described over the rows that were used and by their response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_count, found_near, is_one_of, read_names
from treeselect.designs.modeldata import Associations, ModelData
from treeselect.designs.weights import quantiles
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.rounding import at_least, falling
from treeselect.engine.survival.times import EVENT
from treeselect.errors import OptionError, listing
from treeselect.frames.values import Labels, Numbers, read_column
from treeselect.resampling.fit import Fit
from treeselect.results.curves import texts_apart, value_text

# --- rows by their response --------------------------------------------------------------------

MOST_CLASSES = 5
"""Classes that stand for themselves; of more the four most frequent do, and the rest is one."""


class ResponseGroup(NamedTuple):
    """Rows that go together: of a class, of "6 other classes", of a third, called by its least and
    largest number, or "event" and "censored"."""

    name: str
    rows: BoolArray


def response_groups(design: ModelData, copies: IntArray) -> tuple[ResponseGroup, ...]:
    """The rows that are used, by their response; none where all of them would be one group."""
    response = design.response
    if response.classes:
        groups = _classes(response.y, [str(label) for label in response.classes], copies)
    elif response.family.has_times:
        event = response.y[:, EVENT] > 0
        groups = [ResponseGroup("event", event), ResponseGroup("censored", ~event)]
    else:
        groups = _thirds(response.y, copies)
    found = tuple(group for group in groups if group.rows.any())
    return found if len(found) > 1 else ()


def _classes(y: FloatArray, names: list[str], copies: IntArray) -> list[ResponseGroup]:
    """Each class in the order of the response; of many the most frequent ones and the others."""
    if len(names) <= MOST_CLASSES:
        return [ResponseGroup(name, y == i) for i, name in enumerate(names)]
    count = np.bincount(y.astype(np.int64), copies, len(names))
    shown = sorted(np.argsort(-count, kind="stable")[: MOST_CLASSES - 1].tolist())
    rest = ResponseGroup(f"{len(names) - len(shown)} other classes", ~np.isin(y, shown))
    return [*(ResponseGroup(names[i], y == i) for i in shown), rest]


def _thirds(y: FloatArray, copies: IntArray) -> list[ResponseGroup]:
    """As near to thirds as values that are the same allow, which stay together."""
    low, high = quantiles(y, copies, (1 / 3, 2 / 3))
    parts = [part for part in (y <= low, (y > low) & (y <= high), y > high) if part.any()]
    ends = [(float(y[part].min()), float(y[part].max())) for part in parts]
    distinct = list(dict.fromkeys(end for both in ends for end in both))
    text = dict(zip(distinct, texts_apart(distinct), strict=True))
    names = [" to ".join(dict.fromkeys(text[end] for end in both)) for both in ends]
    return [ResponseGroup(name, part) for name, part in zip(names, parts, strict=True)]


# --- the variables behind the terms ------------------------------------------------------------

MOST_VALUES = 5
"""A number with so few different values, all whole, is described by its values."""

FEW_ROWS = 5
"""A level that occurs in fewer rows is rare."""

NUMBERS, LEVEL, OTHERS, MISSING = "numbers", "level", "others", "missing"
"""Kinds of rows."""


class _Row(NamedTuple):
    """Of the table, but for the columns that all rows of a variable share."""

    kind: str
    level: str | None
    n: int
    share: float
    median: float = float("nan")
    q25: float = float("nan")
    q75: float = float("nan")


def describe_table(
    result: Fit, variables: object = None, most_levels: int | None = None
) -> pd.DataFrame:
    """A row for each value of the baseline table (see ``DataView.describe``). Of a variable with
    more than `most_levels` levels the most frequent ones have rows, and the others together one of
    the kind ``"others"``."""
    design, behind = result.design, result.design.spec.variables
    asked = [variables] if isinstance(variables, str) else variables
    asked = result.variables if asked is None else asked
    names = list(dict.fromkeys(read_names("variables", asked)))
    if unknown := [name for name in names if name not in behind]:
        raise OptionError(
            "`variables` must be columns behind the terms, or None.\n"
            f"{found_near(unknown[0], behind, f'Columns: {listing(behind)}.')}"
        )
    design.check_data()
    copies = design.row_weights.copies
    every = np.ones(len(copies), dtype=bool)
    by_response, selected = response_groups(design, copies), set(result.variables)
    labels = [None, *(group.name for group in by_response)]
    groups = [every, *(group.rows for group in by_response)]
    sizes = [int(copies[own].sum()) for own in groups]
    rows: list[tuple[Any, ...]] = []
    for name in names:
        column = _as_levels(design, name, read_column(design.sources[name], name))
        found: list[list[_Row]] = []
        if isinstance(column, Labels):
            found += _level_rows(column, groups, copies, most_levels)
            known = column.codes >= 0
        else:
            known = ~np.isnan(column.values)
            of_numbers = []
            for own in groups:
                here = known & own
                ends = quantiles(column.values[here], copies[here], (0.5, 0.25, 0.75))
                of_numbers.append(_Row(NUMBERS, None, *_share(copies, here, own), *ends))
            found.append(of_numbers)
        found.append([_Row(MISSING, None, *_share(copies, own & ~known, own)) for own in groups])
        for of_groups in found:
            for label, size, row in zip(labels, sizes, of_groups, strict=True):
                head = (name, row.kind, row.level, label, name in selected, size)
                rows.append((*head, *row[2:]))
    text = pd.Series(["text"]).dtype
    frame = pd.DataFrame(rows, columns=[*_TEXTS, *_TYPES])
    return frame.astype({**dict.fromkeys(_TEXTS, text), **_TYPES})


_TEXTS = ("variable", "kind", "level", "group")

_TYPES: dict[str, type] = {
    "selected": np.bool_,
    **dict.fromkeys(("n_group", "n"), np.int64),
    **dict.fromkeys(("share", "median", "q25", "q75"), np.float64),
}


def _share(copies: IntArray, some: BoolArray, rows: BoolArray) -> tuple[int, float]:
    """The number of some rows, and their share of others."""
    n = int(copies[some].sum())
    return n, n / int(copies[rows].sum())


def _level_rows(
    column: Labels, groups: Sequence[BoolArray], copies: IntArray, most_levels: int | None
) -> Iterator[list[_Row]]:
    """A row for each level that occurs, in their order."""
    n_levels = len(column.levels)
    counts = np.array([_level_counts(column.codes[g], copies[g], n_levels) for g in groups])
    occurs = np.flatnonzero(counts[0])
    shown, rest = occurs, occurs[:0]
    if most_levels is not None and len(occurs) > most_levels:
        frequent = occurs[np.argsort(-counts[0][occurs], kind="stable")]
        shown, rest = np.sort(frequent[: most_levels - 1]), frequent[most_levels - 1 :]
    known = counts.sum(axis=1)
    for level in shown:
        yield _shares(LEVEL, value_text(column.levels[level]), counts[:, level], known)
    if len(rest):
        yield _shares(OTHERS, f"{len(rest):,} other levels", counts[:, rest].sum(axis=1), known)


def _level_counts(codes: IntArray, copies: IntArray, n_levels: int) -> IntArray:
    found = codes >= 0
    return np.bincount(codes[found], copies[found], n_levels).astype(np.int64)


def _shares(kind: str, level: str, counts: Iterable[int], known: Iterable[int]) -> list[_Row]:
    return [
        _Row(kind, level, int(n), int(n) / int(of) if of else float("nan"))
        for n, of in zip(counts, known, strict=True)
    ]


def _as_levels(design: ModelData, name: str, column: Numbers | Labels) -> Numbers | Labels:
    """The column with a level for each value, if a term takes it as a factor or it has few."""
    if isinstance(column, Labels):
        return column
    codes, values = pd.factorize(column.values, sort=True)
    few = 0 < len(values) <= MOST_VALUES and bool((values == np.floor(values)).all())
    if not (column.is_bool or few or _is_factor(design, name, len(values))):
        return column
    return Labels(
        codes.astype(np.int64), tuple(bool(v) if column.is_bool else float(v) for v in values)
    )


def _is_factor(design: ModelData, name: str, n_values: int) -> bool:
    """Whether some term takes a number as a factor with a level for each value: ``C(x)``."""
    return any(
        part.levels is not None
        and len(part.levels) == n_values
        and part.factor.variables == (name,)
        for spec in design.spec.terms
        for part in spec.factors
    )


def rare_levels(result: Fit) -> list[tuple[str, str, int]]:
    """Variable, level and rows of each level that occurs in fewer than five of the rows that are
    used, the rarest first: of text and categories behind the terms."""
    design, copies, found = result.design, result.design.row_weights.copies, []
    design.check_data()
    for name in (name for name, kind in design.spec.schema.items() if kind in ("text", "coded")):
        column = read_column(design.sources[name], name)
        if isinstance(column, Labels):
            counts = _level_counts(column.codes, copies, len(column.levels))
            rare = np.flatnonzero((counts > 0) & (counts < FEW_ROWS))
            found += [(name, value_text(column.levels[i]), int(counts[i])) for i in rare]
    return sorted(found, key=lambda one: one[2])


# --- terms near the selected ones ----------------------------------------------------------------

MOST_UNITS = 12
"""Units whose associations are shown."""

LEAST_FREQUENCY = 0.1
"""From which on a unit outside is nearly selected."""

_MOST_NEXT = 5
"""Units that the path takes next, where there are no resamples."""


def near_units(fit: Fit, most: int = MOST_UNITS) -> tuple[str, ...]:
    """Selected units, most important first, then those that a tenth of the resamples selected or,
    without resamples, the next five on the path."""
    inside = fit.groups
    if fit.resampled is None:
        outside = _next_on_path(fit)
    else:
        table = fit.resampled.in_pandas.tidy()
        outside = table["term"][at_least(table["frequency"].to_numpy(), LEAST_FREQUENCY)].to_list()
    return (*inside, *(unit for unit in outside if unit not in set(inside)))[:most]


def _next_on_path(fit: Fit) -> list[str]:
    names, found = fit.design.arrays.groups.names, dict.fromkeys(fit.groups)
    n_inside = len(found)
    for step in sorted(fit.steps, key=lambda step: step.size):
        if step.size > fit.k:
            found |= dict.fromkeys(names[g] for g in np.flatnonzero(step.selected))
    return list(found)[n_inside : n_inside + _MOST_NEXT]


_MOST_LISTED = 1_000_000
"""Most neighbours of a term that can be asked for."""


def neighbour_table(result: Fit, term: str | None, most: int) -> pd.DataFrame:
    """The nearest terms of one term, or of each selected one (see ``DataView.neighbours``)."""
    most = check_count("most", most, least=1, most=_MOST_LISTED)
    known = [spec.term.name for spec in result.design.spec.terms]
    if term is not None and not is_one_of(term, known):
        raise OptionError(
            "`term` must be a term of the formula, or None.\n"
            f"{found_near(term, known, f'Terms: {listing(known)}.')}"
        )
    measured = Associations(result.design)
    selected = set(result.selected)
    rows = []
    for own in result.selected if term is None else (term,):
        near_by = [(other, *measured.terms(own, other)) for other in known if other != own]
        order = falling(np.array([strength for _, _, strength in near_by]))[:most]
        rows += [(own, *near_by[i], near_by[i][0] in selected) for i in order]
    return pd.DataFrame(rows, columns=["term", "other", "measure", "association", "selected"])
