"""Units of selection: terms, joined by ``groups``, priced by ``costs``, kept by ``keep``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from treeselect.design import FeatureGroups
from treeselect.errors import OptionError, did_you_mean, listing, near, quoted
from treeselect.formula import Term

_HIGHEST_PRICE = 1e100
"""Sums and products of a few prices must be finite."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units before there are columns.

    Attributes
    ----------
    names : tuple of str
        In alphabetical order.
    terms : tuple of tuple of str
        Terms of each unit, in alphabetical order.
    items, item_costs, keep
        As in :class:`~treeselect.design.FeatureGroups`; items are tuples of unit numbers.
    """

    names: tuple[str, ...]
    terms: tuple[tuple[str, ...], ...]
    items: tuple[tuple[int, ...], ...]
    item_costs: tuple[float, ...]
    keep: tuple[bool, ...]

    @property
    def term_order(self) -> tuple[str, ...]:
        """All terms, unit after unit."""
        return tuple(term for unit in self.terms for term in unit)

    def feature_groups(self) -> FeatureGroups:
        """The units for a design with one column per term, in :attr:`term_order`."""
        items = np.zeros((len(self.names), len(self.items)), dtype=bool)
        for number, units in enumerate(self.items):
            items[list(units), number] = True
        sizes = [len(unit) for unit in self.terms]
        return FeatureGroups(
            names=self.names,
            terms=self.terms,
            ids=np.repeat(np.arange(len(sizes)), sizes).astype(np.int64),
            items=items,
            item_costs=np.array(self.item_costs, dtype=float),
            keep=np.array(self.keep, dtype=bool),
        )


def make_units(
    terms: Sequence[Term],
    groups: Mapping[str, Sequence[str]] | None,
    costs: Mapping[str, float] | None,
    keep: Iterable[str] | str | None,
) -> Units:
    """Resolve the user's groups, costs and kept terms.

    A name means the term of that name, else every term of the variable of that name; in `costs`
    and `keep` the name of a group comes first. A variable's price is paid once, whichever of its
    terms are used.

    Raises
    ------
    OptionError
        For unknown names, a term in two groups, a group named like a term outside it, a price for
        a member of a group, a unit priced twice, prices that are not finite and at least 0.
    """
    by_name = {term.name: term for term in terms}
    membership = _membership(terms, groups or {})
    names = sorted({membership.get(name, name) for name in by_name})
    number = {name: k for k, name in enumerate(names)}
    unit_of = {name: number[membership.get(name, name)] for name in by_name}
    members = tuple(
        tuple(sorted(name for name in by_name if unit_of[name] == k)) for k in range(len(names))
    )
    items, item_costs = _items(terms, groups or {}, costs or {}, unit_of, number)
    if keep is not None and not isinstance(keep, Iterable):
        raise OptionError(
            f"`keep` must be a name or a list of names.\n  Found: {type(keep).__name__}."
        )
    kept = [keep] if isinstance(keep, str) else list(keep or ())
    keep_units = {u for name in kept for u in _units_of(name, "keep", terms, unit_of, number)}
    return Units(
        names=tuple(names),
        terms=members,
        items=items,
        item_costs=item_costs,
        keep=tuple(k in keep_units for k in range(len(names))),
    )


def _membership(terms: Sequence[Term], groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Group of each term that is in one."""
    if not isinstance(groups, Mapping):
        raise OptionError(
            "`groups` must be a dictionary from the group's name to the terms in it.\n"
            f"  Found: {type(groups).__name__}."
        )
    membership: dict[str, str] = {}
    for group, listed in groups.items():
        if not isinstance(group, str):
            raise OptionError(f"The name of a group in `groups` must be text.\n  Found: {group!r}.")
        if isinstance(listed, str) or not isinstance(listed, Iterable) or not listed:
            raise OptionError(
                f"Group {quoted(group)} in `groups` must list at least one term.\n"
                f"  Found: {listed!r}. Write a list, for example"
                f" `{{{group!r}: [{str(terms[0].name)!r}]}}`."
            )
        for name in listed:
            for term in _terms_of(name, f"groups[{group!r}]", terms):
                if membership.setdefault(term, group) != group:
                    raise OptionError(
                        f"Term {quoted(term)} must be in one group.\n"
                        f"  Found: in {quoted(membership[term])} and in {quoted(group)}. Name it in"
                        " one of them only."
                    )
    for group in groups:
        if any(t.name == group for t in terms) and membership.get(group) != group:
            raise OptionError(
                f"Group {quoted(group)} must not have the name of a term outside it.\n"
                "  Choose another name for the group."
            )
    return membership


def _items(
    terms: Sequence[Term],
    groups: Mapping[str, Sequence[str]],
    costs: Mapping[str, float],
    unit_of: Mapping[str, int],
    number: Mapping[str, int],
) -> tuple[tuple[tuple[int, ...], ...], tuple[float, ...]]:
    """What is to be paid: one item per priced name, and 1 for every unit without a price."""
    if not isinstance(costs, Mapping):
        raise OptionError(
            f"`costs` must be a dictionary from names to prices.\n  Found: {type(costs).__name__}."
        )
    priced: dict[int, str] = {}
    items: list[tuple[int, ...]] = []
    item_costs: list[float] = []
    for name, cost in costs.items():
        real = isinstance(cost, int | float | np.integer | np.floating)
        if not real or isinstance(cost, bool) or not 0 <= float(cost) <= _HIGHEST_PRICE:
            raise OptionError(
                f"The price of {quoted(str(name))} in `costs` must be a finite number, at least 0"
                f" and at most {_HIGHEST_PRICE:g}.\n"
                f"  Found: {cost!r}. A price of 0 makes it free."
            )
        units = _units_of(name, "costs", terms, unit_of, number)
        for unit in units:
            owner = next(u for u, k in number.items() if k == unit)
            if owner in groups and name != owner:
                raise OptionError(
                    f"{quoted(name)} in `costs` must not be part of a group: a group is paid for"
                    f" as one.\n  Found: in group {quoted(owner)}. Give the price of"
                    f" {quoted(owner)} instead."
                )
            if unit in priced:
                raise OptionError(
                    f"{quoted(owner)} must have one price in `costs`.\n"
                    f"  Found: as {quoted(priced[unit])} and as {quoted(name)}."
                )
            priced[unit] = name
        items.append(tuple(units))
        item_costs.append(float(cost))
    for unit in number.values():
        if unit not in priced:
            items.append((unit,))
            item_costs.append(1.0)
    return tuple(items), tuple(item_costs)


def _units_of(
    name: str,
    argument: str,
    terms: Sequence[Term],
    unit_of: Mapping[str, int],
    number: Mapping[str, int],
) -> list[int]:
    if name in number:
        return [number[name]]
    return sorted({unit_of[t] for t in _terms_of(name, argument, terms, tuple(number))})


def _terms_of(
    name: str, argument: str, terms: Sequence[Term], more: Sequence[str] = ()
) -> list[str]:
    """The term of that name, else the terms of that variable."""
    if any(term.name == name for term in terms):
        return [name]
    found = [term.name for term in terms if name in term.variables]
    if not found:
        known = list(dict.fromkeys([*(t.name for t in terms), *more]))
        close = near(str(name), known)
        raise OptionError(
            f"Can't find {quoted(str(name))}, named in `{argument}`, among the terms.\n"
            f"  {did_you_mean(close) if close else f'Terms: {listing(known)}.'}"
        )
    return found
