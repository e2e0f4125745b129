"""Case weights and offset: a column or an array, to one number per row."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from treeselect.arguments import checks
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.rounding import weighted_median, weighted_quantiles
from treeselect.errors import OptionError, in_row, quoted
from treeselect.frames.values import Numbers, read_column

WeightsKind = Literal["frequency", "sampling", "precision"]

KINDS = ("frequency", "sampling", "precision")
"""Kinds of case weights."""

WORDS_OF_KIND = {
    "frequency": "frequency weights (counts of identical rows)",
    "sampling": "sampling weights (relative; robust standard errors)",
    "precision": "precision weights (relative)",
}
"""What each kind is, in print."""

LARGEST_COUNT = 10
"""Whole-number weights with a mean above this are not taken for counts of rows unless that is
said."""

LARGEST_WEIGHT = 2**31
"""Most weight in all: a sum of gradients shares 64 bits with it."""


_LARGEST = 1e70
"""Largest weight that is not whole, and largest offset: as of the response, fourth powers must be
numbers."""


@dataclass(frozen=True, slots=True)
class RowWeights:
    """How much each row counts, and which rows belong together."""

    values: WeightArray  # shape (n_rows,); at least 0; a row with weight 0 is ignored
    # whether a weight of 2 stands for two rows; otherwise only ratios of weights matter
    are_copies: bool
    # shape (n_rows,); clusters, numbered from 0: their rows may depend on each other, and are drawn
    # and held out together. None if all rows are independent
    groups: IntArray | None = None
    # whether weights that are no copies are inverse probabilities of selection, so that standard
    # errors are robust; otherwise they are inverse variances
    is_sample: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def used(self) -> BoolArray:
        return np.asarray(self.values > 0)

    @property
    def rows(self) -> IntArray:
        return np.flatnonzero(self.used)

    @property
    def blocks(self) -> IntArray | None:
        """The groups; None where they make no difference: all rows with a positive weight are in
        one group, or each has its own."""
        if self.groups is None:
            return None
        n, rows = len(np.unique(self.groups[self.used])), self.rows
        return None if n in (1, len(rows)) else self.groups

    @property
    def n_units(self) -> int:
        """Number of groups of rows with a positive weight, or of these rows without groups."""
        blocks = self.blocks
        return len(self.rows) if blocks is None else len(np.unique(blocks[self.rows]))

    @property
    def n_observations(self) -> int:
        """Number of rows with a weight, each copy counted."""
        return int(self.values.sum()) if self.are_copies else len(self.rows)

    @property
    def copies(self) -> IntArray:
        """Number of observations that each row stands for: 0 or 1 if weights are no copies."""
        return copies_of(self.values)

    @property
    def relative(self) -> FloatArray:
        """The weights, divided by the mean of those above 0 unless they are copies."""
        return np.asarray(self.values / (1.0 if self.are_copies else self.values[self.used].mean()))

    @property
    def kind(self) -> WeightsKind:
        if self.are_copies:
            return "frequency"
        return "sampling" if self.is_sample else "precision"

    @property
    def error_groups(self) -> IntArray | None:
        """Units of a robust covariance: the groups; for sampling weights without groups, the rows.
        None for the model-based covariance."""
        if self.groups is None and self.is_sample:
            return np.arange(len(self))
        return self.groups

    @property
    def are_equal(self) -> bool:
        return self.are_copies and bool((self.values == 1).all())

    @property
    def are_constant(self) -> bool:
        """Whether each weight is 0 or 1, so that rows are in use or not."""
        return self.are_copies and bool((self.values <= 1).all())

    def of(self, rows: IntArray) -> RowWeights:
        """Those of some rows, in their order."""
        groups = None if self.groups is None else self.groups[rows]
        return dataclasses.replace(self, values=self.values[rows], groups=groups)

    def valued(self, values: WeightArray) -> RowWeights:
        return dataclasses.replace(self, values=values)

    def only(self, rows: IntArray) -> RowWeights:
        """The same rows, with weight 0 for all others."""
        values = np.zeros_like(self.values)
        values[rows] = self.values[rows]
        return self.valued(values)

    def times(self, counts: IntArray) -> RowWeights:
        return self.valued(counts * self.values)

    def in_groups(self, groups: IntArray | None) -> RowWeights:
        return dataclasses.replace(self, groups=groups)

    def written_out(self, most: int | None = None) -> tuple[RowWeights, IntArray]:
        """Each copy as a separate row, and the number of the original row. There are at most `most`
        rows, or as many as now: copies then remain together in lots of nearly equal size, as few to
        a lot as this allows."""
        counts, size = self.values.astype(np.int64), 1
        lots = counts
        while most is not None and lots.sum() > max(most, len(self.rows)):
            size *= 2
            lots = -(-counts // size)
        rows = np.repeat(np.arange(len(self)), lots)
        place = np.arange(len(rows)) - np.repeat(np.cumsum(lots) - lots, lots)
        values = counts[rows] // lots[rows] + (place < counts[rows] % lots[rows])
        return self.of(rows).valued(values), rows


def copies_of(weight: WeightArray) -> IntArray:
    """Observations behind each row: its weight if that is a whole number, otherwise one."""
    return weight.astype(np.int64) if weight.dtype.kind in "iu" else (weight > 0).astype(np.int64)


def quantiles(values: FloatArray, copies: IntArray, shares: Sequence[float]) -> list[float]:
    """Weighted quantiles, interpolated as numpy and R do by default; NaN where there are none."""
    if not len(values):
        return [float("nan")] * len(shares)
    order = np.argsort(values)
    value, until = values[order], np.cumsum(copies[order])
    at = (int(until[-1]) - 1) * np.array(shares)
    below, above = (
        value[np.searchsorted(until, end, "right")] for end in (np.floor(at), np.ceil(at))
    )
    return [float(q) for q in below + (above - below) * (at - np.floor(at))]


def median(values: FloatArray, weight: WeightArray) -> float:
    """The middle of some numbers, one or more: that of -x is its opposite."""
    return weighted_median(values, weight) / 2 - weighted_median(-values, weight) / 2


def quartiles(values: FloatArray, weight: WeightArray, part: float = 0.25) -> tuple[float, float]:
    """The quartiles of some numbers, one or more, that are among them: the least that a quarter of
    the weight (or another part) is not above, and the largest that it is not below."""
    low, high = (weighted_quantiles(own, weight, [part])[0] for own in (values, -values))
    return float(low), -float(high)


def row_weights(values: WeightArray, groups: IntArray | None = None) -> RowWeights:
    """The record of an array in which whole numbers are copies."""
    return RowWeights(values, values.dtype.kind in "iu", groups)


def no_weights(n_rows: int) -> RowWeights:
    return RowWeights(np.ones(n_rows, dtype=np.int64), are_copies=True)


def check_kind(kind: str | None, weights: object, argument: str = "weights") -> None:
    """Raise an OptionError unless this is a kind of weights, or None, and there are weights."""
    if kind is None:
        return
    checks.check_choice("weights_kind", kind, KINDS)
    if weights is None:
        raise OptionError(
            f"`weights_kind` needs `{argument}`.\n  Found: {kind!r}, and no weights. Give"
            f" `{argument}`, or omit `weights_kind`."
        )


def read_weights(
    weights: str | Sequence[float] | None,
    frame: pd.DataFrame,
    argument: str = "weights",
    kind: str | None = None,
) -> RowWeights:
    """Case weights of all rows, 1 by default; errors call them `argument`. Without a kind, whole
    numbers with a mean of at most :data:`LARGEST_COUNT` are frequencies, other whole numbers
    sampling weights, and all other numbers precision weights. Equal weights are no weights, unless
    they are said to be frequencies."""
    check_kind(kind, weights, argument)
    if weights is None:
        return no_weights(len(frame))
    name = quoted(weights) if isinstance(weights, str) else f"`{argument}`"
    values = _one_per_row(argument, f"Case weights ({name})", weights, frame)
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise OptionError(
            f"Case weights ({name}) must be non-negative, finite and not missing.\n"
            f"  Found: {values[row]:g} {in_row(row, int(bad.sum()))}\n"
            "  A weight of 0 leaves a row out."
        )
    broken = values != np.floor(values)
    if kind == "frequency" and broken.any():
        row = int(np.flatnonzero(broken)[0])
        raise OptionError(
            f"Frequency weights ({name}) must be whole numbers.\n"
            f"  Found: {values[row]:g} {in_row(row, int(broken.sum()))}\n"
            '  Use weights_kind="sampling" or "precision" for other numbers.'
        )
    there = values[values > 0]
    if kind != "frequency" and len(there):
        most = float(values.max())
        if not 1 / _LARGEST <= most <= _LARGEST:  # powers must be numbers
            raise OptionError(
                f"The largest case weight ({name}) must be from {1 / _LARGEST:g} to"
                f" {_LARGEST:g}.\n  Found: {most:g}. Multiply all of them by a common number."
            )
        if there.min() == there.max():
            return RowWeights((values > 0).astype(np.int64), are_copies=True)
    if kind is None:
        kind = "precision"
        if not broken.any():
            kind = "sampling" if there.sum() > LARGEST_COUNT * len(there) else "frequency"
    if kind != "frequency":
        return RowWeights(values, are_copies=False, is_sample=kind == "sampling")
    if values.max() > LARGEST_WEIGHT or values.sum() > LARGEST_WEIGHT:
        with np.errstate(over="ignore"):
            total = values.sum()
        raise OptionError(
            f"Case weights ({name}) must sum to at most {LARGEST_WEIGHT:,}.\n"
            f"  Found: {total:g}. Divide them by a common number."
        )
    return RowWeights(values.astype(np.int64), are_copies=True)


def doubt_of_counts(
    weights: str | Sequence[float] | None, frame: pd.DataFrame, kind: str | None
) -> str:
    """Why whole-number weights of no given kind are not credible as counts; empty if they are."""
    if weights is None or kind is not None:
        return ""
    values = _one_per_row("weights", "Case weights", weights, frame)
    there = values[values > 0]
    if not len(there) or (there != np.floor(there)).any() or there.mean() <= LARGEST_COUNT:
        return ""
    name = quoted(weights) if isinstance(weights, str) else "`weights`"
    read = "They are used as sampling weights, with robust standard errors"
    if there.min() == there.max():
        read = "They are all equal and have no effect"
    return (
        f"Case weights ({name}) are whole numbers with a mean of {there.mean():,.4g}, too large for"
        f' counts of identical rows. {read}. Give `weights_kind`: "sampling" for survey weights,'
        ' "frequency" for counts of identical rows, or "precision" for inverse variances.'
    )


def read_offset(offset: str | Sequence[float] | None, frame: pd.DataFrame) -> FloatArray | None:
    """Offset of all rows, NaN where it is missing; None if there is none."""
    if offset is None:
        return None
    name = quoted(offset) if isinstance(offset, str) else "`offset`"
    return _one_per_row("offset", f"The offset ({name})", offset, frame)


def check_offset(offset: FloatArray | None, rows: IntArray) -> None:
    """Raise an OptionError unless the offset of these rows is known and finite."""
    if offset is None:
        return
    bad = rows[~np.isfinite(offset[rows])]
    if len(bad):
        raise OptionError(
            "The offset must be finite and not missing in each row that is used.\n"
            f"  Found: {offset[bad[0]]:g} {in_row(bad[0], len(bad))}\n"
            "  A log exposure needs an exposure above 0; drop the rows without one."
        )
    largest = np.abs(offset[rows]).max(initial=0.0)
    if largest > _LARGEST:
        raise OptionError(
            f"The offset must be at most {_LARGEST:g} in absolute value.\n"
            f"  Found: {largest:g}. It is on the scale of the linear predictor."
        )


def _one_per_row(
    argument: str, said: str, given: str | Sequence[float], frame: pd.DataFrame
) -> FloatArray:
    """Numbers of a column or an array, checked for type and length only."""
    found: object = given
    if isinstance(given, str):
        if given not in frame:
            raise checks.not_found(given, argument, frame.columns, "columns")
        column = read_column(frame[given], given)
        found = column.values if isinstance(column, Numbers) else frame[given].to_numpy()
    values = checks.as_floats(found)
    if values is None:
        kind = frame[given].dtype if isinstance(given, str) else checks.values_text(given)
        raise OptionError(f"{said} must be numbers.\n  Found: {kind}. Give one number per row.")
    if values.shape != (len(frame),):
        found_shape = (
            f"an array of shape {values.shape}" if values.ndim else checks.described(given)
        )
        raise OptionError(
            f"{said} must have one value per row, {len(frame)}.\n  Found: {found_shape}."
        )
    return values


def check_order(data: object, **per_row: object) -> None:
    """Raise an OptionError for a pandas Series beside a pandas frame that has the index labels of
    its rows in another order."""
    for argument, given in per_row.items():
        if not isinstance(given, pd.Series) or not isinstance(data, pd.DataFrame):
            continue
        index, own = data.index, given.index
        if (
            not own.equals(index)
            and own.is_unique
            and len(own) == len(index) == own.isin(index).sum()
        ):
            raise OptionError(
                f"`{argument}` must be in the order of the rows of the data.\n"
                "  Found: a series with their index labels in another order. Give it by `.loc` with"
                " the index of the data, or its `.to_numpy()` if its values are in the right order."
            )


# --- Groups of rows as users give them: a column or an array, to one number per row --------------


def read_groups(given: str | Sequence[Any], frame: pd.DataFrame, rows: IntArray) -> IntArray:
    """Number of the group of each of the rows, which other rows have no part in."""
    groups = _numbers(given, frame)[rows]
    if n := int((groups < 0).sum()):
        raise OptionError(
            "`fold_groups` must not be missing in any row that is used.\n"
            f"  Found: {n:,} row{'' if n == 1 else 's'} in which it is missing. Drop such rows, or"
            " give each its own group."
        )
    if (groups == groups[0]).all():
        raise OptionError(
            "`fold_groups` must have at least two groups, so that one can be held out.\n"
            "  Found: one group of all rows. Leave `fold_groups` out."
        )
    return np.asarray(pd.factorize(groups)[0], dtype=np.int64)


def _numbers(given: str | Sequence[Any], frame: pd.DataFrame) -> IntArray:
    """Number of each row's group, -1 where it is missing."""
    labels: str | Sequence[Any] | pd.Series[Any] = given
    if isinstance(given, str):
        if given not in frame:
            raise checks.not_found(given, "fold_groups", frame.columns, "columns")
        labels = frame[given]
    n = checks.length(labels)
    if n != len(frame):
        found = checks.described(labels) if n is None else f"{n} values"
        raise OptionError(
            "`fold_groups` must be the name of a column, or an array with one value per row,"
            f" {len(frame)}.\n  Found: {found}."
        )
    numbers = checks.as_group_numbers(labels)
    if numbers is None or len(numbers) != n:
        raise OptionError(
            "`fold_groups` must have one label per row, such as a number or text.\n"
            f"  Found: {checks.described(labels)}."
        )
    return numbers
