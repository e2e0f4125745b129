"""Record of a search among sets: its exchanges, and the near-equivalent sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_RIVALS = 50
"""Sets nearly as good that are kept; more are counted."""


class Exchange(NamedTuple):
    """An exchange of a selected for an unselected unit.

    Attributes
    ----------
    out, into : int
        The unit that leaves and the unit that enters.
    rise, spread : float
        Increase of the out-of-bag error (negative for a decrease) as a share of its former value,
        and its standard error over rows, or over clusters, given the bags that all sets share. With
        costs, an exchange lowers the error per cost and may raise the error itself.
    """

    out: int
    into: int
    rise: float
    spread: float


class Rival(NamedTuple):
    """A near-equivalent set of the same size.

    Attributes
    ----------
    units : tuple of int
        In increasing order.
    rise, spread : float
        How much higher its error is, as a share of that of the selected set; see :class:`Exchange`.
    """

    units: tuple[int, ...]
    rise: float
    spread: float


@dataclass(frozen=True, slots=True)
class Trace:
    """Record of the search for a set.

    Attributes
    ----------
    exchanges : tuple of Exchange
        Exchanges that led to the set, in order.
    rivals : tuple of Rival
        Other sets of its size whose error is at most one standard error higher, by increasing
        error; at most 50.
    n_rivals : int
        Number of such sets.
    n_judged : int
        Number of other sets of its size that were judged with all trees.
    """

    exchanges: tuple[Exchange, ...]
    rivals: tuple[Rival, ...]
    n_rivals: int
    n_judged: int


def trace_of(exchanges: Sequence[Exchange], rivals: Sequence[Rival], n_judged: int) -> Trace:
    """The record of a search, given all near-equivalent sets, best first."""
    return Trace(tuple(exchanges), tuple(rivals[:MOST_RIVALS]), len(rivals), n_judged)
