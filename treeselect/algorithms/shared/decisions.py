"""Decisions of a method on each unit, and the importances behind them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray

CONFIRMED, TENTATIVE, REJECTED = 1, 0, -1

WORDS = {CONFIRMED: "confirmed", TENTATIVE: "tentative", REJECTED: "rejected"}


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions on all units, and the importances of each round.

    Attributes
    ----------
    decision : ndarray of int, shape (n_groups,)
        ``CONFIRMED``, ``TENTATIVE`` or ``REJECTED``.
    history : ndarray of float, shape (n_rounds, n_groups)
        Importance of each unit in each round; NaN once it is rejected.
    shadows : ndarray of float, shape (n_rounds, 3)
        Minimum, mean and maximum importance of the shadows of each round. The maximum is at least
        0; a unit must exceed it for a hit.
    """

    decision: IntArray
    history: FloatArray
    shadows: FloatArray

    def are(self, decision: int) -> BoolArray:
        """Units with a given decision, shape (n_groups,)."""
        return np.asarray(self.decision == decision)

    @property
    def words(self) -> tuple[str, ...]:
        """The decision on each unit in words."""
        return tuple(WORDS[int(d)] for d in self.decision)
