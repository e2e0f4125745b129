"""Which rows are selected on, if not all: a sample that is stratified by the response."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from treeselect.arguments.checks import check_count
from treeselect.designs.problem import Problem
from treeselect.designs.response import Response, response_with_weight
from treeselect.designs.survival import tells_risks
from treeselect.designs.weights import RowWeights, quantiles, read_groups, read_weights
from treeselect.engine.arrays import AnyArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.times import EVENT, STRATUM
from treeselect.errors import DataError, FormulaError, OptionError
from treeselect.formulas.terms import ParsedFormula
from treeselect.frames.opening import MissingCodes
from treeselect.frames.tables import USUAL_ROWS, Table, levels_of

LEAST_ROWS = 20
"""Fewest rows of a sample."""

_QUANTILES = 10
"""Groups of a numeric response."""

_MOST_COPIES, _MOST_OF_ROW = 1_000_000, 4
"""Most rows that copies are written out as, unless there are as many; and most for each row."""

_LEAST_OF_STRATUM = 2
"""Rows of the smallest stratum, if it has them."""


@dataclass(frozen=True, slots=True)
class RowSample:
    """The sample of rows that a selection is made on: rows asked for; observations that could be
    drawn (rows with a response and a weight, each copy counted); strata in words; and the column of
    the clusters, which are drawn as a whole, else whether an array of them was given."""

    wanted: int
    of: int
    by: str
    groups: str | bool
    seed: int


class Drawn(NamedTuple):
    """Rows in use, and their columns."""

    # frame, every: all rows of the columns that are needed of all rows, and the weights of all rows
    frame: pd.DataFrame
    every: RowWeights
    # response, weights, used: of the rows that are used, numbered as in all rows
    response: Response
    weights: RowWeights
    used: pd.DataFrame
    edges: dict[str, FloatArray]  # edges between the bins of all rows; empty without a sample
    levels: dict[str, list[str]]  # of text in all rows of the data; empty if all are used
    sample: RowSample | None  # None if all rows are used
    n_in_use: int  # observations with a response and a weight, drawn or not


def check_size_of_sample(rows: object) -> int | None:
    return None if rows is None else check_count("rows", rows, least=LEAST_ROWS)


def outcomes(
    parsed: ParsedFormula, table: Table, codes: MissingCodes, also: Collection[str | None]
) -> pd.DataFrame:
    """What is needed of all rows: the response, and other columns, such as weights."""
    return codes.applied(table.whole({*parsed.outcome_variables, *filter(None, also)}))


def read_all(
    parsed: ParsedFormula, frame: pd.DataFrame, weights: Any, kind: str | None, family: str
) -> tuple[RowWeights, Response]:
    every = read_weights(weights, frame, kind=kind)
    return every, response_with_weight(parsed, frame, every, family)


def draw(
    parsed: ParsedFormula,
    table: Table,
    codes: MissingCodes,
    *,
    weights: str | Sequence[float] | None,
    kind: str | None,
    family: str,
    also: Collection[str | None],
    fold_groups: str | Sequence[Any] | None,
    rows: int | None,
    seed: int,
) -> Drawn:
    """Read the response and the weights, decide which rows are used, and take their columns. The
    copies that frequency weights count are independent observations: they become rows of their own,
    so that folds, bags and permutations draw them one by one, and a table of counts gives the
    answer of the rows that it counts. Beyond a million rows, or four times those of the data,
    copies remain together in lots. Without a number of rows all are used if they are in memory,
    otherwise 200,000."""
    frame = outcomes(parsed, table, codes, also)
    every, full = read_all(parsed, frame, weights, kind, family)
    n, n_in_use = len(full.rows), every.of(full.rows).n_observations
    copies = None if every.are_constant else every.of(full.rows).copies
    there = set(table.columns)
    variables = dict.fromkeys(v for term in parsed.terms for v in term.variables)
    behind = [name for name in variables if name in there]
    wanted = (n_in_use if table.in_memory else USUAL_ROWS) if rows is None else rows
    if wanted >= n_in_use and table.in_memory:
        used = frame[behind]
        counts = every.of(full.rows)
        if n < len(frame):
            used = used.iloc[full.rows].reset_index(drop=True)
        levels = levels_of(frame, behind) if n < len(frame) else {}
        return _copies_apart(Drawn(frame, every, full, counts, used, {}, levels, None, n_in_use))
    groups = None if fold_groups is None else read_groups(fold_groups, frame, full.rows)
    place, by = sampled(full, groups, copies, min(wanted, n_in_use), stream_seed(seed, "rows"))
    place, times = np.unique(place, return_counts=True)
    chosen = full.rows[place]
    columns = list(dict.fromkeys([*parsed.outcome_variables, *behind]))
    weight = every.values[full.rows] if not every.are_constant else np.broadcast_to(1, n)
    plain = {term.name for term in parsed.terms if term.is_plain}
    taken, edges, levels = table.some(columns, chosen, full.rows, weight, plain)
    texts = {n: codes.applied(pd.DataFrame({n: own}, dtype=object))[n] for n, own in levels.items()}
    kinds = {n: "text" if own.dtype == object else "number" for n, own in texts.items()}
    levels = {n: own.dropna().tolist() for n, own in texts.items() if kinds[n] == "text"}
    own = codes.applied(taken, kinds)
    counts = every.of(chosen)
    counts = counts.valued(times) if counts.are_copies else counts
    response = _response_of(parsed, own, counts, chosen, full, place, family)
    name = fold_groups if isinstance(fold_groups, str) else fold_groups is not None
    sample = RowSample(wanted, n_in_use, by, name, seed)
    edges = {} if codes else edges  # found before codes for missing values were taken out
    return _copies_apart(
        Drawn(frame, every, response, counts, own[behind], edges, levels, sample, n_in_use)
    )


def _copies_apart(drawn: Drawn) -> Drawn:
    """The same with the copies that frequency weights count as rows of their own."""
    counts = drawn.weights
    if not counts.are_copies or counts.are_equal:
        return drawn
    weights, rows = counts.written_out(max(_MOST_COPIES, _MOST_OF_ROW * len(counts)))
    used = drawn.used.iloc[rows].reset_index(drop=True)
    of_rows = dataclasses.replace(
        drawn.response, y=drawn.response.y[rows], rows=drawn.response.rows[rows]
    )
    return drawn._replace(response=of_rows, weights=weights, used=used)


def _response_of(
    parsed: ParsedFormula,
    frame: pd.DataFrame,
    counts: RowWeights,
    chosen: IntArray,
    full: Response,
    place: IntArray,
    family: str,
) -> Response:
    """The response of the rows that were drawn, numbered as in all rows."""
    try:
        found = response_with_weight(parsed, frame, counts, family)
    except (DataError, OptionError, FormulaError) as error:
        raise DataError(
            f"{error}\n  This applies to the {len(chosen):,} of {len(full.rows):,} rows that were"
            " drawn. Draw more with `rows=`."
        ) from None
    if len(found.y) != len(place) or not np.array_equal(found.y, full.y[place]):
        if found.classes and found.classes != full.classes:
            raise DataError(
                "The rows drawn must have all classes of the response.\n"
                f"  Found: {len(found.classes)} of {len(full.classes)} classes in"
                f" {len(chosen):,} rows. Draw more with `rows=`."
            )
        if found.follow_up is None:
            raise DataError(
                "`data` must have its rows in the same order each time they are read.\n"
                "  Found: other responses in the rows drawn. Sort a relation with `ORDER BY`."
            )
    return dataclasses.replace(found, rows=chosen[found.rows], n_dropped=full.n_dropped)


def sampled(
    response: Response, groups: IntArray | None, copies: IntArray | None, wanted: int, seed: int
) -> tuple[IntArray, str]:
    """Places among the rows of the response, increasing, of a sample without replacement in
    proportion to strata of the response; and these strata in words. Clusters are drawn as a whole:
    their rows are about as many as are wanted. Copies are drawn one by one."""
    rng = np.random.default_rng(seed)
    if groups is None:
        strata, by = _strata(response, copies)
        sizes = np.bincount(strata, copies).astype(np.int64)
        parts = []
        # One stratum at a time: the numbers of all rows in order would take eight bytes a row.
        for stratum, n in enumerate(_shares(sizes, wanted)):
            rows, own = np.flatnonzero(strata == stratum), rng.choice(sizes[stratum], n, False)
            if copies is not None:
                own = np.searchsorted(np.cumsum(copies[rows]), own, "right")
            parts.append(rows[own])
        return np.sort(np.concatenate(parts)), by
    number = np.unique(groups, return_inverse=True)[1]
    each = np.ones_like(number) if copies is None else copies
    members = np.bincount(number, each).astype(np.int64)
    # Quantile groups give two clusters or more each: half of one would be none, or all of it.
    n_groups = max(wanted * len(members) // (2 * int(members.sum())), 1)
    strata, by = _strata_of_groups(response, number, members, each, min(n_groups, _QUANTILES))
    kept = np.zeros(len(members), dtype=bool)
    share = _shares(np.bincount(strata, members).astype(np.int64), wanted)
    for stratum, n in enumerate(share):
        own = rng.permutation(np.flatnonzero(strata == stratum))
        before = np.cumsum(members[own]) - members[own]
        # A cluster is drawn if more of it lies within the share than beyond it.
        kept[own[before + members[own] / 2 <= max(n, 1)]] = True
    if kept.sum() < 2:
        raise OptionError(
            "`rows` must leave at least two clusters of `fold_groups`, which are drawn whole.\n"
            f"  Found: {int(kept.sum())} in about {wanted:,} rows. Give more rows."
        )
    return np.repeat(np.arange(len(number)), each * kept[number]), f"{by}, whole clusters"


def _strata(response: Response, copies: IntArray | None) -> tuple[AnyArray, str]:
    """Number of the stratum of each row, and what strata are in words."""
    y = response.y
    if response.classes:
        return y.astype(np.int16), f"the classes of {response.name}"
    if response.family.has_times:
        codes = 2 * y[:, STRATUM].astype(np.int64) + (y[:, EVENT] > 0)
        own = np.unique(codes, return_inverse=True)[1]
        has_strata = bool((y[:, STRATUM] != y[0, STRATUM]).any())
        return own, "events and strata" if has_strata else "events"
    return _quantile_strata(y, copies), f"{_QUANTILES} quantile groups of {response.name}"


def _quantile_strata(
    values: FloatArray, copies: IntArray | None = None, n_groups: int = _QUANTILES
) -> AnyArray:
    shares = np.arange(1, n_groups) / n_groups
    edges: Any = (
        np.quantile(values, shares) if copies is None else quantiles(values, copies, [*shares])
    )
    return np.searchsorted(np.unique(edges), values).astype(np.int16)


def _strata_of_groups(
    response: Response, number: IntArray, members: IntArray, copies: IntArray, n_groups: int
) -> tuple[AnyArray, str]:
    """The same of clusters: by their mean, for more than two classes by their most frequent one."""
    if len(response.classes) > 2:
        own, _ = _strata(response, None)
        table = np.zeros((len(members), len(response.classes)), dtype=np.int64)
        np.add.at(table, (number, own), copies)
        by = f"the most frequent class of {response.name}"
        return np.unique(np.argmax(table, axis=1), return_inverse=True)[1], by
    y, of = response.y, f"mean of {response.name}"
    if response.family.has_times:
        y, of = y[:, EVENT], "share of events"
    elif response.classes:
        of = f"share of {response.name} = {response.classes[1]}"
    means = np.bincount(number, y * copies) / members
    by = f"{n_groups} quantile groups of the {of}" if n_groups > 1 else "no variable"
    return _quantile_strata(means, n_groups=n_groups), by


def _shares(sizes: IntArray, wanted: int) -> IntArray:
    """Rows of each stratum: in proportion, with the largest remainders rounded up, and at least two
    of each."""
    exact = sizes * (wanted / sizes.sum())
    found = np.floor(exact).astype(np.int64)
    largest = np.argsort(-(exact - found), kind="stable")
    found[largest[: wanted - int(found.sum())]] += 1
    return np.minimum(np.maximum(found, _LEAST_OF_STRATUM), sizes)


# --- Stratified draws: rows by class, or by whether they end in an event; clusters by the rarest -


class Units(NamedTuple):
    """What is drawn as a whole, rows or clusters of rows: the unit of each row with a weight (units
    are numbered in the order of their first rows), and the stratum of each unit: the number of its
    class; of times whether there is an event; 0 for numbers."""

    of_row: IntArray
    stratum: IntArray


def labels_of(problem: Problem, rows: IntArray) -> IntArray | None:
    """What rows are spread by, shape (n_rows,): their class, or 1 for an event and 0 for none; None
    for numbers."""
    if problem.family.has_times:
        return problem.y[rows, EVENT].astype(np.int64)
    return problem.y[rows].astype(np.int64) if problem.family.has_classes else None


def varies(problem: Problem, rows: IntArray) -> bool:
    """Whether the response varies among these rows: different values, or for times an event while
    others are at risk."""
    if problem.family.has_times:
        return tells_risks(problem.y[rows])
    return len(np.unique(problem.y[rows])) > 1


def units_of(problem: Problem, weights: RowWeights) -> Units:
    """The units of the rows with a weight. A group with rows of several classes counts as one of
    the rarest of them, so that rare classes are spread."""
    rows, groups = weights.rows, weights.blocks
    of_row = np.arange(len(rows))
    if groups is not None:
        _, first, number = np.unique(groups[rows], return_index=True, return_inverse=True)
        of_row = np.argsort(np.argsort(first))[number]
    n = int(of_row.max(initial=-1)) + 1
    own = labels_of(problem, rows)
    if own is None:
        return Units(of_row, np.zeros(n, dtype=np.int64))
    classes, label = np.unique(own, return_inverse=True)
    from_rarest = np.argsort(np.bincount(label, weights=weights.values[rows]), kind="stable")
    place = np.full(n, len(classes))
    np.minimum.at(place, of_row, np.argsort(from_rarest)[label])
    return Units(of_row, from_rarest[place])
