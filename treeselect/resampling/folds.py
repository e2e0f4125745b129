"""How rows are held out: a number of folds, fold numbers or a splitter."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import IntArray


@runtime_checkable
class Splitter(Protocol):
    """A splitter of scikit-learn: ``KFold``, ``TimeSeriesSplit``, ``LeaveOneGroupOut``."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any: ...

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int: ...


@dataclass(frozen=True, slots=True)
class Split:
    """Rows of one fold.

    Attributes
    ----------
    train, test : ndarray of int64
        Row numbers of the problem, without a row in common. They need not be all rows.
    """

    train: IntArray
    test: IntArray

    def weights(self, weights: RowWeights) -> tuple[RowWeights, RowWeights]:
        """Case weights of the training and of the held-out rows, 0 elsewhere."""
        return weights.only(self.train), weights.only(self.test)


@dataclass(frozen=True, slots=True)
class Folds:
    """The folds that the user requested.

    Attributes
    ----------
    folds : int, Splitter, ndarray of int64 of shape (n_rows,), or None
        Fold numbers are those of the rows with a known response; rows with a negative number are
        never held out. None in a model loaded from a file that could not hold the folds.
    repeats : int
    groups_name : str or bool
        Column of the data with the clusters of rows; otherwise, whether an array of clusters was
        given. The clusters themselves are in ``RowWeights``.
    choose : bool
        Whether the folds choose the number of units, so that an integer `k` is an alternative.
    """

    folds: int | Splitter | IntArray | None = 5
    repeats: int = 1
    groups_name: str | bool = False
    choose: bool = True

    def for_rows(self, rows: IntArray) -> Folds:
        """The same folds for these rows of the data only."""
        if not isinstance(self.folds, np.ndarray):
            return self
        return dataclasses.replace(self, folds=self.folds[rows])

    def words(self, n_splits: int) -> str:
        """The scheme in words: ``"5-fold cross-validation"``."""
        if isinstance(self.folds, int):
            text = f"{self.folds}-fold cross-validation"
        elif isinstance(self.folds, Splitter):
            text = f"cross-validation by {type(self.folds).__name__} ({n_splits} folds)"
        else:
            text = f"cross-validation with {n_splits} given folds"
        if self.groups_name:
            name = f"{self.groups_name} " if isinstance(self.groups_name, str) else ""
            text += f" of whole {name}clusters"
        return f"{text} repeated {self.repeats} times" if self.repeats > 1 else text


def mean_repeats(splits: Sequence[Split]) -> float:
    """How often a row is held out, on average over the rows that are held out at all."""
    held_out = np.concatenate([split.test for split in splits])
    return len(held_out) / len(np.unique(held_out))
