"""What every method receives: columns, units and their costs; arrays only. And the units of
selection as users ask for them: terms, with ``groups``, ``costs`` and ``keep``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from treeselect.arguments.checks import (
    check_count,
    described,
    finite,
    members,
    not_found,
    read_mapping,
    read_names,
)
from treeselect.brief import brief
from treeselect.designs.estimators import Estimator
from treeselect.designs.families import Family
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
from treeselect.errors import OptionError, listing, quoted
from treeselect.formulas.terms import Term
from treeselect.shown import is_broken


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
        """Number of the unit of each term."""
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
            f"`k` must be at most {n_units}, the number of candidate"
            f" {noun_of(groups.terms, n_units)}.\n  Found: {described(size)}."
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

    __repr__ = brief

    @property
    def directions(self) -> dict[str, int]:
        """1 or -1 for each term under a monotone constraint."""
        signs = self.monotone.tolist()
        return {name: sign for name, sign in zip(self.column_names, signs, strict=False) if sign}

    def constrained(self, directions: Mapping[str, int]) -> CodedColumns:
        """The same under monotone constraints on terms of one column."""
        if not directions:
            return self
        signs = np.array([directions.get(name, 0) for name in self.column_names], dtype=np.int8)
        return replace(self, monotone=signs, binned=self.binned._replace(monotone=signs))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

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


def reads_columns(model: FinalModel | Estimator | None) -> bool:
    """Whether it needs the columns before they are binned (``Problem.columns``)."""
    return isinstance(model, Estimator) or model in ("glm", "gam")


# --- What a method sees: encoded data, units and response ----------------------------------------

_LEAST_EXPECTED = 1e-6
"""Lower bound of the mean number of expected events per row."""


@dataclass(frozen=True, slots=True)
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

    __repr__ = brief

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
        """Some of the rows, for predictions; see :attr:`can_be_cut`."""
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
        """The family's loss of all rows under these weights."""
        return self.family.loss.of(self.y, weight)

    def mean_beside(self, weight: WeightArray, gradient: FloatArray) -> FloatArray:
        """Mean response that corresponds to minus the gradient at the constant model, shape
        (n_rows,). For times to an event that is the number of events minus the number expected;
        divided by the mean number expected per row, it is the log relative risk to first order."""
        eta = self.constant(weight)
        if not self.family.has_times:
            return np.asarray(gradient + self.family.mean(eta))
        expected = float(np.average(self.curvature(weight), weights=weight))
        return self.family.mean(eta + gradient / max(expected, _LEAST_EXPECTED))


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


# --- What users ask for ---------------------------------------------------------------------------

_LOWEST_PRICE, _HIGHEST_PRICE = 1e-100, 1e100
"""Sums, products and quotients of a few prices must be finite."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units before there are columns, in alphabetical order of their keys, as are the terms of
    each; items are tuples of unit numbers. See
    :class:`~treeselect.designs.problem.FeatureGroups`."""

    names: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]
    items: tuple[tuple[int, ...], ...]
    item_costs: tuple[float, ...]
    keep: tuple[bool, ...]
    keys: tuple[str, ...]

    @property
    def term_order(self) -> tuple[str, ...]:
        """All terms, unit after unit."""
        return tuple(term for unit in self.terms for term in unit)

    def feature_groups(self, column_terms: Sequence[str]) -> FeatureGroups:
        """The units for a design whose columns belong to these terms, in :attr:`term_order`."""
        unit_of = {term: number for number, unit in enumerate(self.terms) for term in unit}
        return FeatureGroups(
            names=self.names,
            terms=self.terms,
            ids=np.array([unit_of[term] for term in column_terms], dtype=np.int64),
            items=tuple(np.array(units, dtype=np.int64) for units in self.items),
            item_costs=np.array(self.item_costs, dtype=float),
            keep=np.array(self.keep, dtype=bool),
            keys=self.keys,
        )


def make_units(
    terms: Sequence[Term],
    groups: Mapping[str, Sequence[str]] | None,
    costs: Mapping[str, float] | None,
    keep: Iterable[str] | str | None,
) -> Units:
    """Resolve the user's groups, costs and forced-in terms. A name means the term of that name,
    else every main-effect term of the variable of that name; in `costs` and `keep` the name of a
    group comes first. An interaction joins a group if all its variables are in it. A cost is
    counted once, however many selected units need it. The cost of a variable is needed by its
    main-effect terms and by interactions with the variable, the cost of a term that is no variable
    by that term, and the cost of a group by the group and by interactions with its variables. A
    unit without any cost costs 1."""
    groups = read_mapping("groups", groups, "from the group's name to the terms in it")
    costs = read_mapping("costs", costs, "from names to costs")
    membership = _membership(terms, groups)
    unit_name = {term.name: membership.get(term.name, term.name) for term in terms}
    key_of = {unit_name[term.name]: term.key for term in terms} | {g: g for g in groups}
    names = sorted(key_of, key=lambda name: (key_of[name], name))
    number = {name: k for k, name in enumerate(names)}
    parts: list[list[Term]] = [[] for _ in names]
    for term in terms:
        parts[number[unit_name[term.name]]].append(term)
    lookup = _Lookup(terms, {t: number[u] for t, u in unit_name.items()}, number)
    items, item_costs = _items(lookup, parts, groups, costs)
    keep_units = {unit for name in read_names("keep", keep) for unit in lookup.units(name, "keep")}
    return Units(
        names=tuple(names),
        terms=tuple(
            tuple(term.name for term in sorted(unit, key=lambda t: t.key)) for unit in parts
        ),
        items=items,
        item_costs=item_costs,
        keep=tuple(k in keep_units for k in range(len(names))),
        keys=tuple(key_of[name] for name in names),
    )


class _Lookup:
    """What a name in `groups`, `costs` and `keep` stands for."""

    def __init__(
        self,
        terms: Sequence[Term],
        unit_of: Mapping[str, int] | None = None,
        number: Mapping[str, int] | None = None,
    ) -> None:
        self.named = {term.name: term.name for term in terms}
        for term in terms:
            if term.is_interaction:
                self.named.setdefault(term.key, term.name)
        self.main: dict[str, list[str]] = {}
        self.any: dict[str, list[str]] = {}
        for term in terms:
            for variable in term.variables:
                self.any.setdefault(variable, []).append(term.name)
                if not term.is_interaction:
                    self.main.setdefault(variable, []).append(term.name)
        self.unit_of, self.number = unit_of or {}, number or {}

    def term(self, name: str) -> str | None:
        """The term of that name; ``b:a`` is ``a:b``."""
        return self.named.get(name) or self.named.get(":".join(sorted(name.split(":"))))

    def terms(self, name: str, argument: str) -> list[str]:
        """The term of that name, else the main-effect terms of that variable."""
        term = self.term(name)
        found = [term] if term else self.main.get(name, [])
        if found:
            return found
        if name in self.any:
            raise OptionError(
                f"Can't find {quoted(name)}, named in `{argument}`, among the main effects.\n"
                f"  It occurs only in interactions: {listing(self.any[name])}. Name one of these."
            )
        raise self.unknown(name, argument)

    def units(self, name: str, argument: str) -> list[int]:
        """The unit of that name, else those of :meth:`terms`."""
        if name in self.number:
            return [self.number[name]]
        return sorted({self.unit_of[term] for term in self.terms(name, argument)})

    def unknown(self, name: object, argument: str) -> OptionError:
        """Build the error for a name that is none."""
        return not_found(name, argument, [*self.named.values(), *self.number, *self.any], "terms")


def _membership(terms: Sequence[Term], groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Group of each term that is in one."""
    lookup = _Lookup(terms)
    membership: dict[str, str] = {}
    for group, listed in groups.items():
        if not isinstance(group, str):
            found = f"  Found: {described(group)}."
            raise OptionError(f"The name of a group in `groups` must be text.\n{found}")
        if is_broken(group):
            raise OptionError(
                "The name of a group in `groups` must be valid text.\n"
                f"  Found: {quoted(group)}, which contains an incomplete character (a lone"
                " surrogate)."
            )
        names = members(listed) or []
        if not names or not all(isinstance(n, str) for n in names):
            raise OptionError(
                f"Group {quoted(group)} in `groups` must list at least one term.\n"
                f"  Found: {described(listed)}. Write a list, for example"
                f" `{{{described(group)}: [{described(terms[0].name)}]}}`."
            )
        for name in names:
            for term in lookup.terms(name, f"groups[{group!r}]"):
                if membership.setdefault(term, group) != group:
                    raise OptionError(
                        f"Term {quoted(term)} must be in one group only.\n"
                        f"  Found: in {quoted(membership[term])} and {quoted(group)}. Remove it"
                        " from one of them."
                    )
    _join_interactions(terms, membership)
    for group in groups:
        if any(t.name == group for t in terms) and membership.get(group) != group:
            raise OptionError(
                f"Group {quoted(group)} must not have the same name as a term that is not in it.\n"
                "  Choose another name for the group."
            )
    return membership


def _join_interactions(terms: Sequence[Term], membership: dict[str, str]) -> None:
    """An interaction whose variables are all in one group is in it, too."""
    inside: dict[str, set[str]] = {}
    for term in terms:
        if term.name in membership:
            inside.setdefault(membership[term.name], set()).update(term.variables)
    for term in terms:
        if not term.is_interaction or term.name in membership:
            continue
        joins = [group for group, variables in inside.items() if variables >= set(term.variables)]
        if len(joins) > 1:
            raise OptionError(
                f"Term {quoted(term.name)} must be in one group only.\n"
                f"  Found: {listing(joins)} each contain all its variables. List the term in"
                " one of them."
            )
        if joins:
            membership[term.name] = joins[0]


def _items(
    lookup: _Lookup,
    members: Sequence[Sequence[Term]],
    groups: Mapping[str, Sequence[str]],
    costs: Mapping[str, float],
) -> tuple[tuple[tuple[int, ...], ...], tuple[float, ...]]:
    """The costs: one item per name in `costs`, and 1 for every unit without one."""
    names = list(lookup.number)
    priced_as: dict[int, str] = {}
    items: list[tuple[int, ...]] = []
    item_costs: list[float] = []
    for name, cost in costs.items():
        text = name if isinstance(name, str) else described(name)
        price = finite(cost)
        if price is None or not (price == 0 or _LOWEST_PRICE <= price <= _HIGHEST_PRICE):
            raise OptionError(
                f"The cost of {quoted(text)} in `costs` must be 0, or a number from"
                f" {_LOWEST_PRICE:g} to {_HIGHEST_PRICE:g}.\n"
                f"  Found: {described(cost)}."
            )
        if not isinstance(name, str):
            raise lookup.unknown(name, "costs")
        # A variable that is in interactions only means no unit by itself.
        is_main = name in lookup.number or name in lookup.main or name not in lookup.any
        meant = set(lookup.units(name, "costs")) if is_main else set()
        for unit in meant:
            if names[unit] in groups and name != names[unit]:
                raise OptionError(
                    f"{quoted(name)} in `costs` must not belong to a group: a group has a single"
                    f" cost.\n  Found: in group {quoted(names[unit])}. Give the cost of"
                    f" {quoted(names[unit])} instead."
                )
            if priced_as.setdefault(unit, name) != name:
                raise OptionError(
                    f"{quoted(names[unit])} must have only one cost in `costs`.\n"
                    f"  Found: one for {quoted(priced_as[unit])} and one for {quoted(name)}. Remove"
                    " one of them."
                )
        items.append(tuple(sorted(meant | _users(name, meant, members, groups, names))))
        item_costs.append(float(price))
    priced = {unit for units in items for unit in units}
    free = [(unit,) for unit in range(len(members)) if unit not in priced]
    return (*items, *free), (*item_costs, *[1.0] * len(free))


def _users(
    name: str,
    meant: set[int],
    members: Sequence[Sequence[Term]],
    groups: Mapping[str, Sequence[str]],
    names: Sequence[str],
) -> set[int]:
    """Interactions that need the cost of a variable or of a group."""
    variables = {name}
    if name in groups:
        variables = {v for unit in meant for term in members[unit] for v in term.variables}
    return {
        unit
        for unit, terms in enumerate(members)
        if names[unit] not in groups
        and any(term.is_interaction and variables & set(term.variables) for term in terms)
    }
