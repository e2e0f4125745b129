"""The units of selection as users ask for them: terms, with ``groups``, ``costs`` and ``keep``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from treeselect.arguments.checks import (
    described,
    finite,
    members,
    not_found,
    read_mapping,
    read_names,
)
from treeselect.designs.problem import FeatureGroups
from treeselect.errors import OptionError, listing, quoted
from treeselect.formulas.terms import Term
from treeselect.shown import is_broken

LOWEST_PRICE, HIGHEST_PRICE = 1e-100, 1e100
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
    counted once, however many selected units need it. The cost of a variable is needed by all its
    terms, the cost of a term that is no variable by that term, and the cost of a group by the group
    and by other terms of its variables; a main effect with a cost of its own needs no other. A unit
    without any cost costs 1."""
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
        return not_found(name, argument, [*self.named.values(), *self.number, *self.any], "terms")


def _membership(terms: Sequence[Term], groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    lookup = _Lookup(terms)
    membership: dict[str, str] = {}
    for group, listed in groups.items():
        if not isinstance(group, str) or is_broken(group):
            raise OptionError(
                f"The name of a group in `groups` must be valid text.\n  Found: {described(group)}."
            )
        names = members(listed) or []
        if not names or not all(isinstance(n, str) for n in names):
            raise OptionError(
                f"Group {quoted(group)} in `groups` must list at least one term.\n"
                f"  Found: {described(listed)}. Write a list, for example"
                f" `{{{described(group)}: [{described(terms[0].name)}]}}`."
            )
        for name in names:
            for term in lookup.terms(name, f"groups[{described(group)}]"):
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
        if price is None or not (price == 0 or LOWEST_PRICE <= price <= HIGHEST_PRICE):
            raise OptionError(
                f"The cost of {quoted(text)} in `costs` must be 0, or a number from"
                f" {LOWEST_PRICE:g} to {HIGHEST_PRICE:g}.\n"
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
        variables = {name}
        if name in groups:
            variables = {v for unit in meant for term in members[unit] for v in term.variables}
        meant |= {  # other terms that need the cost of a variable or of a group
            unit
            for unit, (term, *_) in enumerate(members)
            if names[unit] not in groups
            and (term.is_interaction or names[unit] not in costs)
            and variables & set(term.variables)
        }
        items.append(tuple(sorted(meant)))
        item_costs.append(float(price))
    priced = {unit for units in items for unit in units}
    free = [(unit,) for unit in range(len(members)) if unit not in priced]
    return (*items, *free), (*item_costs, *[1.0] * len(free))
