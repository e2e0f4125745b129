"""What every method receives: columns, units and their costs; arrays only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from treeselect.arguments.checks import check_count, described
from treeselect.brief import brief
from treeselect.designs.estimators import Estimator
from treeselect.designs.families import Family
from treeselect.designs.imputer import Block, Imputer, learn_imputer
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import (
    BoolArray,
    FloatArray,
    Int8Array,
    IntArray,
    UInt64Array,
    WeightArray,
)
from treeselect.engine.columns import (
    MAX_BINS,
    BinnedData,
    bin_columns,
    bin_edges,
    constrained,
    take_rows,
)
from treeselect.engine.losses import RowLoss
from treeselect.engine.random import stream_seed
from treeselect.engine.survival.times import EVENT
from treeselect.errors import OptionError


@dataclass(frozen=True, slots=True)
class FeatureGroups:
    """The units of selection: which columns belong together, and what they cost; in order of their
    names, so that no answer depends on the order of the columns in the user's data."""

    # length n_groups; a term's name, or the name the user gave to a group of terms
    names: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]  # length n_groups; terms of each unit
    ids: IntArray  # shape (n_columns,); unit of each column, not decreasing
    # items, item_costs: shape (n_items,); what using a unit costs: the units that need each item,
    # and its cost, at least 0. An item that several units need (a variable behind two terms) is
    # paid for once
    items: tuple[IntArray, ...]
    item_costs: FloatArray
    keep: BoolArray  # shape (n_groups,); units that are forced in
    # length n_groups; what ties go by: the names, with the factors of an interaction in
    # alphabetical order
    keys: tuple[str, ...]

    __repr__ = brief

    @property
    def costs(self) -> FloatArray:
        """Cost of each unit alone, shape (n_groups,)."""
        if not self.items:  # only where there is no unit
            return np.zeros(len(self.names))
        needed = np.repeat(self.item_costs, [len(units) for units in self.items])
        total = np.bincount(np.concatenate(self.items), needed, len(self.names))
        return total.astype(np.float64, copy=False)

    @property
    def unit_of(self) -> dict[str, int]:
        return {term: unit for unit, own in enumerate(self.terms) for term in own}

    def prices(self, uses: BoolArray, discount: FloatArray) -> FloatArray:
        """Cost of sets of units, which are rows of `uses`: each item once, units that are forced in
        for free. An item that several units of a set share has the smallest of their discounts."""
        alone = np.zeros(len(self.names))
        total = np.zeros(len(uses))
        for units, cost in zip(self.items, self.item_costs, strict=True):
            if self.keep[units].any():
                continue  # paid for by a unit that is forced in
            if len(units) == 1:
                alone[units] += cost
                continue
            price = np.where(uses[:, units], cost * discount[units], np.inf).min(axis=1)
            total += np.where(np.isfinite(price), price, 0.0)
        return np.asarray(total + uses @ (alone * discount))

    def ranks(self, seed: int) -> IntArray:
        """Order in which units win ties, shape (n_groups,): forced in, then cheap, then by a hash.
        The hash is computed from the seed and the unit's key. Exact copies of a column are thus
        selected about equally often across seeds and resamples, and the cheaper of two copies
        wins."""
        order = np.lexsort(
            (_hashes(seed, self.keys), np.where(self.keep, 0.0, self.costs), ~self.keep)
        )
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


@lru_cache(maxsize=8)
def _hashes(seed: int, keys: tuple[str, ...]) -> UInt64Array:
    """A number for each key; not to be changed, as folds, steps and trees share it."""
    found = np.array([stream_seed(seed, "tie", key) for key in keys], dtype=np.uint64)
    found.setflags(write=False)
    return found


def check_size(k: object, groups: FeatureGroups) -> int:
    """`k` as an int; an OptionError unless so many units can be selected."""
    size = check_count("k", k, least=1)
    n_units, n_kept = len(groups.names), int(groups.keep.sum())
    if size > n_units:
        raise OptionError(
            f"`k` must be at most {n_units}, the number of candidate {noun_of(groups.terms)}.\n"
            f"  Found: {described(size)}."
        )
    if size < n_kept:
        raise OptionError(
            f"`k` must be at least {n_kept}, because it counts the"
            f" {noun_of(groups.terms, n_kept)} in `keep`.\n  Found: {size}."
        )
    return size


@dataclass(frozen=True, slots=True)
class CodedColumns:
    """Encoded data."""

    # length n_columns; term behind each column, in the order of the units; a term may have several
    # columns
    column_names: tuple[str, ...]
    # shape (n_rows,); numbers as float64 (NaN is missing); factors as uint8 codes (level + 1, 0 is
    # missing, 255 is none of the column's levels)
    columns: tuple[NDArray[Any], ...]
    # length n_columns; number of levels of a factor column, None for a number
    n_levels: tuple[int | None, ...]
    # length n_columns; edges between the bins of a number, None for a factor
    edges: tuple[FloatArray | None, ...]
    groups: FeatureGroups
    binned: BinnedData  # the columns as the engine takes them
    # shape (n_columns,), or (0,) without constraints; see ``engine.columns.BinnedData``
    monotone: Int8Array
    blocks_of: Mapping[str, tuple[Block, ...]]  # of each term

    __repr__ = brief

    @property
    def directions(self) -> dict[str, int]:
        """1 or -1 for each term under a monotone constraint."""
        signs = self.monotone.tolist()
        return {name: sign for name, sign in zip(self.column_names, signs, strict=False) if sign}

    def constrained(self, directions: Mapping[str, int]) -> CodedColumns:
        if not directions:
            return self
        signs = np.array([directions.get(name, 0) for name in self.column_names], dtype=np.int8)
        return replace(self, monotone=signs, binned=self.binned._replace(monotone=signs))

    @property
    def n_rows(self) -> int:
        return len(self.columns[0])

    @property
    def gaps(self) -> list[BoolArray]:
        """Missing values of each column, shape (n_rows,)."""
        pairs = zip(self.columns, self.n_levels, strict=True)
        return [np.isnan(column) if n is None else column == 0 for column, n in pairs]

    def blocks(self, columns: IntArray) -> tuple[Block, ...]:
        """What some columns are, those of whole terms."""
        names = dict.fromkeys(self.column_names[j] for j in columns)
        return tuple(block for name in names for block in self.blocks_of[name])

    def exact(self, weight: WeightArray) -> BinnedData:
        """The columns with one bin per value, as far as codes suffice; otherwise the bins are
        weighted quantiles."""
        if not any(e is not None and len(e) == MAX_BINS - 1 for e in self.edges):
            return self.binned
        edges = [
            None if own is None else bin_edges(column, max_bins=None, weight=weight)
            for column, own in zip(self.columns, self.edges, strict=True)
        ]
        return bin_columns(
            self.columns, edges, [n or 0 for n in self.n_levels], self.groups.ids, self.monotone
        )

    def bin(self, columns: tuple[NDArray[Any], ...], groups: BoolArray | None = None) -> BinnedData:
        """Bin other rows of the columns of some groups, by default of all, by the edges of this
        design; groups are renumbered from 0, as by ``engine.binning.select_groups``."""
        if groups is None:
            groups = np.ones(len(self.groups.names), dtype=bool)
        used = np.flatnonzero(groups[self.groups.ids])
        numbers = (np.cumsum(groups) - 1)[self.groups.ids[used]]
        return bin_columns(
            columns, [self.edges[j] for j in used], [self.n_levels[j] or 0 for j in used], numbers,
            constrained(self.monotone, used),
        )  # fmt: skip


FinalModel = Literal["stack", "forest", "boosting", "glm", "gam"]
"""Final models by name."""


Missing = Literal["level", "impute", "drop"]
"""What becomes of missing values of the terms: a level, or a bin that may go to either side of a
split; what is expected from the other terms; or the row has no part in the training."""


def reads_columns(model: FinalModel | Estimator | None) -> bool:
    """Whether it needs the columns before they are binned (``Problem.columns``)."""
    return isinstance(model, Estimator) or model in ("glm", "gam")


# --- What a method sees: encoded data, units and response ----------------------------------------

_FEWEST_COMPLETE = 10

_LEAST_EXPECTED = 1e-6
"""Lower bound of the mean number of expected events per row."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Encoded data, units and response: the input of a method."""

    data: BinnedData
    groups: FeatureGroups
    # shape (n_rows,), or (n_rows, 4); for times to an event four columns: see
    # ``engine.survival.times``
    y: FloatArray
    family: Family
    offset: FloatArray | None = None  # shape (n_rows,); known part of the linear predictor
    # the same columns with a bin for each value, for methods that split exactly
    exact: BinnedData | None = None
    # the columns before they were binned, for methods that read them
    columns: CodedColumns | None = None
    # whether the training scores of steps are needed: they are not in folds and resamples, where
    # they are NaN if they would need separate forests or predictions
    wants_scores: bool = True
    # the final model, if it is not the method's own
    model: FinalModel | Estimator | None = None
    missing: Missing = "level"
    # imputer, given: what filled in the columns of training rows, and the columns as they were
    imputer: Imputer | None = None
    given: CodedColumns | None = None

    __repr__ = brief

    def ready(
        self, weights: RowWeights, units: BoolArray | None = None
    ) -> tuple[Problem, RowWeights]:
        """The problem and the weights on which a model is trained. The imputer is learned from the
        rows with a weight, which alone it fills in: from all units, or those of a final model."""
        if self.missing == "drop":
            found = weights.only(np.flatnonzero(self.in_training))
            if len(found.rows) < _FEWEST_COMPLETE:
                raise OptionError(
                    f'`missing="drop"` must leave at least {_FEWEST_COMPLETE} rows.\n'
                    f"  Found: {len(found.rows):,} of {len(weights.rows):,} without a missing value"
                    " in the candidate terms. Leave terms out of the formula, or select with"
                    ' `missing="impute"`.'
                )
            return self, found
        if self.missing == "level" or (self.imputer is not None and units is None):
            return self, weights
        coded = self.columns if self.given is None else self.given
        assert coded is not None
        imputer = self.imputer
        if imputer is None:
            blocks = coded.blocks(np.arange(len(coded.columns)))
            imputer = learn_imputer(coded.columns, blocks, weights.relative)
        own = np.ones(len(coded.columns), dtype=bool) if units is None else units[coded.groups.ids]
        columns, at, rows = list(coded.columns), np.flatnonzero(own), weights.rows
        values_of = imputer.only(own).fill([columns[j][rows] for j in at])
        for j, values in zip(at.tolist(), values_of, strict=True):
            columns[j] = columns[j].copy()
            columns[j][rows] = values
        here = replace(coded, columns=tuple(columns), binned=coded.bin(tuple(columns)))
        exact = None if self.exact is None else here.exact(weights.values)
        filled = replace(
            self, data=here.binned, exact=exact, columns=here, given=coded, imputer=imputer
        )
        return filled, weights

    @property
    def in_training(self) -> BoolArray:
        """Rows that have a part in a training, if they have a weight in it."""
        n = len(self.data.n_codes) if self.missing == "drop" else 0
        gaps = [self.data.column(j) == 0 for j in range(n)]
        return ~np.logical_or.reduce([np.zeros(len(self.y), dtype=bool), *gaps])

    def constant(self, weight: WeightArray) -> FloatArray:
        """Linear predictor of the constant model, the offset included; shape (n_rows,), or
        (n_rows, n_classes) for more than two classes, which take no offset."""
        best = self.family.loss.constant(self.y, weight, self.offset)
        if self.offset is None:
            return np.tile(best, (len(self.y), 1)) if np.ndim(best) else np.full(len(self.y), best)
        return np.asarray(best + self.offset)

    @property
    def can_be_cut(self) -> bool:
        """Whether :meth:`only` can take some of the rows: the binned columns are all there is."""
        return self.exact is None and self.columns is None

    def only(self, rows: IntArray) -> Problem:
        """Some of the rows; see :attr:`can_be_cut`."""
        return replace(
            self,
            data=take_rows(self.data, rows),
            y=self.y[rows],
            offset=None if self.offset is None else self.offset[rows],
        )

    @property
    def on_link(self) -> bool:
        """Whether forests are grown on minus the gradient at the constant model, and the last one
        adds to a linear predictor: beside an offset, or for times, which have no mean."""
        return self.offset is not None or self.family.has_times

    @property
    def splits_classes(self) -> bool:
        """Whether the response has classes and there is no offset."""
        return self.family.has_classes and self.offset is None

    def gradient(self, weight: WeightArray) -> FloatArray:
        """Minus the gradient of the loss at the constant model, shape (n_rows,) or
        (n_rows, n_classes): the response less its mean; of times the martingale residuals."""
        return self.rows(weight).negative_gradient(self.constant(weight))

    def curvature(self, weight: WeightArray) -> FloatArray:
        """Curvature of the loss at the constant model, of the same shape."""
        return self.rows(weight).curvature(self.constant(weight))

    def sample_size(self, weight: WeightArray) -> float:
        """Sample size in the Bayesian information criterion: the sum of the weights; for times to
        an event the sum over events (Volinsky and Raftery 2000)."""
        told = weight if not self.family.has_times else weight * self.y[:, EVENT]
        return float(told.sum())

    def rows(self, weight: WeightArray) -> RowLoss:
        return self.family.loss.of(self.y, weight)

    def mean_beside(self, weight: WeightArray, gradient: FloatArray) -> FloatArray:
        """Mean response that corresponds to minus the gradient at the constant model, shape
        (n_rows,). Beside an offset rows differ in their means: the linear predictor of all moves as
        that of a row of average mean, to a hundredth of the way to 0 or 1 at most. For times to an
        event the gradient is the number of events minus the number expected; divided by the mean
        number expected per row, it is the log relative risk to first order."""
        eta, family = self.constant(weight), self.family
        if family.has_times:
            expected = float(np.average(self.curvature(weight), weights=weight))
            return family.mean(eta + gradient / max(expected, _LEAST_EXPECTED))
        mean = family.mean(eta)
        if self.offset is None or family.loss.is_squared:
            return np.asarray(gradient + mean)
        average = float(np.average(mean, weights=weight))
        most = 1 - (1 - average) / 100 if family.has_classes else np.inf
        moved = np.clip(average + gradient, average / 100, most)
        return family.mean(eta + family.link(moved) - family.link(np.array(average)))


class Wants(Protocol):
    """What a method needs beyond the binned columns: one bin per value (``Problem.exact``), and the
    columns before they are binned (``Problem.columns``)."""

    @property
    def splits_exactly(self) -> bool: ...

    @property
    def reads_columns(self) -> bool: ...


# --- What is selected: terms; units, where some terms enter and leave the model as a group -------


def is_grouped(terms_of_units: Sequence[Sequence[str]]) -> bool:
    """Whether some unit is a group of several terms."""
    return any(len(terms) > 1 for terms in terms_of_units)


def noun_of(terms_of_units: Sequence[Sequence[str]], n: float = 2) -> str:
    """ "term" or "unit", in the plural unless `n` is 1."""
    word = "unit" if is_grouped(terms_of_units) else "term"
    return word if n == 1 else f"{word}s"
