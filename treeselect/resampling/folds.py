"""How rows are held out: a number of folds, fold numbers or a splitter, to pairs of rows."""

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
    """What the user asked for.

    Attributes
    ----------
    folds : int, Splitter, ndarray of int64 of shape (n_rows,), or None
        Fold numbers are those of the rows with a known response; a negative one is never held out.
        None in a model that was loaded from a file that could not hold them.
    repeats : int
    groups_name : str or bool
        Column of the data with the groups of rows that belong together; else whether an array of
        them was given. The groups themselves are those of the ``RowWeights``.
    choose : bool
        Whether they choose the number of units, which can be given instead.
    """

    folds: int | Splitter | IntArray | None = 5
    repeats: int = 1
    groups_name: str | bool = False
    choose: bool = True

    def for_rows(self, rows: IntArray) -> Folds:
        """The same of these rows of the data only."""
        if not isinstance(self.folds, np.ndarray):
            return self
        return dataclasses.replace(self, folds=self.folds[rows])

    def words(self, n_splits: int) -> str:
        """What is done, for people: ``"5-fold cross-validation"``."""
        if isinstance(self.folds, int):
            text = f"{self.folds}-fold cross-validation"
        elif isinstance(self.folds, Splitter):
            text = f"cross-validation by {type(self.folds).__name__} ({n_splits} folds)"
        else:
            text = f"cross-validation with {n_splits} given folds"
        text += f" repeated {self.repeats} times" if self.repeats > 1 else ""
        if isinstance(self.groups_name, str):
            return f"{text} by groups of {self.groups_name}"
        return f"{text} by groups" if self.groups_name else text


def mean_repeats(splits: Sequence[Split]) -> float:
    """How often a row is held out, on average over the rows that ever are."""
    held_out = np.concatenate([split.test for split in splits])
    return len(held_out) / len(np.unique(held_out))


# --- arguments ---------------------------------------------------------------------------------


# --- pairs of rows -----------------------------------------------------------------------------
