"""What a search among sets leaves behind: the exchanges it made, and the sets nearly as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

MOST_RIVALS = 50
"""Sets nearly as good that are kept; more are counted."""


class Exchange(NamedTuple):
    """A unit that came in for another one.

    Attributes
    ----------
    out, into : int
        Units.
    rise, spread : float
        How much the out-of-bag error rose (below 0: it fell), as a share of what it was, and the
        standard error of that: over rows, or groups of rows, for the bags that all sets have in
        common. With prices an exchange lowers the error per price, and may raise the error.
    """

    out: int
    into: int
    rise: float
    spread: float


class Rival(NamedTuple):
    """A set nearly as good as another of its size.

    Attributes
    ----------
    units : tuple of int
        In rising order.
    rise, spread : float
        How much higher its error is, as a share of that of the other: see :class:`Exchange`.
    """

    units: tuple[int, ...]
    rise: float
    spread: float


@dataclass(frozen=True, slots=True)
class Trace:
    """What the search for a set has seen.

    Attributes
    ----------
    exchanges : tuple of Exchange
        Those that led to the set, in their order.
    rivals : tuple of Rival
        The other sets of its size whose error is at most one standard error higher, the least error
        first: the first 50 of them.
    n_rivals : int
        How many such sets there are.
    n_judged : int
        How many other sets of its size were judged with all trees.
    """

    exchanges: tuple[Exchange, ...]
    rivals: tuple[Rival, ...]
    n_rivals: int
    n_judged: int


def trace_of(exchanges: Sequence[Exchange], rivals: Sequence[Rival], n_judged: int) -> Trace:
    """The record of a search; all rivals are given, best first."""
    return Trace(tuple(exchanges), tuple(rivals[:MOST_RIVALS]), len(rivals), n_judged)
