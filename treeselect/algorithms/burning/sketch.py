"""A sketch: fewer rows in place of all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.algorithms.burning.ranges import GAUSSIAN, ROWS
from treeselect.algorithms.burning.strategies import Strategy
from treeselect.algorithms.options import check_choice, check_integer
from treeselect.engine.arrays import IntArray, WeightArray
from treeselect.engine.random import stream_seed


@dataclass(frozen=True, slots=True, repr=False)
class Sketch(Strategy):
    """A sketch: fewer rows on which ControlBurn solves the sparse-forest problem (section 3.3.3).

    Parameters
    ----------
    rows : int
        Number of rows, 2 to 1,000,000.
    kind : {"rows", "gaussian"}
        ``"rows"``: a sample of the rows. ``"gaussian"``: Gaussian combinations of the rows, for the
        squared error only, with :class:`Penalty` (problem 3 of the paper).

    Raises
    ------
    MethodError
        If an option is out of range.

    Examples
    --------
    >>> from treeselect import ControlBurn, Penalty, Sketch
    >>> ControlBurn(solver=Penalty(sketch=Sketch(1000, kind="gaussian"))).sketch_kind
    'gaussian'
    """

    rows: int
    kind: str = ROWS

    def __post_init__(self) -> None:
        check_integer(self, "rows", least=2)
        check_choice(self, "kind", (ROWS, GAUSSIAN))

    def sample(self, weight: WeightArray, seed: int) -> IntArray:
        """The rows with positive weight, or a sample of them."""
        rows = np.flatnonzero(weight)
        if self.kind != ROWS or self.rows >= len(rows):
            return rows
        rng = np.random.default_rng(stream_seed(seed, "sketch"))
        return np.sort(rng.choice(rows, self.rows, replace=False))

    def mixed(self, seed: int) -> tuple[int, int] | None:
        """Number and seed of the Gaussian combinations of rows, or None."""
        return None if self.kind == ROWS else (self.rows, stream_seed(seed, "sketch"))
