"""Predictions of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.designs.families import Family
from treeselect.designs.modeldata import ModelData
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.survival.times import EVENT, START, STOP

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Held-out rows, with predicted and observed responses.

    Attributes
    ----------
    row : ndarray of int64, shape (n,)
        Row number in the data, from 0. A row that is held out several times occurs as often, and so
        does a row with a frequency weight.
    fold : ndarray of int64, shape (n,)
        From 1.
    y : ndarray of float, shape (n,), or (n, 4)
        As in :class:`treeselect.designs.response.Response`.
    predicted : ndarray of float, shape (n,), or (n, n_classes)
        On the scale of the response: for two classes the probability of the second, for survival
        the risk relative to the baseline hazard of the fold.
    weight : ndarray of float, shape (n,)
    mass : ndarray of float, shape (n,)
        Weight of a prediction: the case weight, divided among the predictions of the row. Weights
        that are not copies of rows are scaled to a mean of 1 per row.
    times : ndarray of int64, shape (n,)
        How often the row is held out.
    are_copies : bool
        Whether a weight of 2 stands for two rows.
    grouped : bool
        Whether rows are clustered.
    family : Family
    classes : tuple
    """

    row: IntArray
    fold: IntArray
    y: FloatArray
    predicted: FloatArray
    weight: FloatArray
    mass: FloatArray
    times: IntArray
    are_copies: bool
    grouped: bool
    family: Family
    classes: tuple[Any, ...]

    @property
    def n_rows(self) -> int:
        """Number of distinct observations."""
        return round(float((1 / self.times).sum()))

    def like_rows(self, chosen: IntArray | slice = slice(None)) -> float:
        """Effective number of rows behind some predictions: their total weight if weights are
        copies, otherwise Kish's effective sample size."""
        mass = self.mass[chosen]
        if self.are_copies:
            return float(mass.sum())
        return float(mass.sum() ** 2 / (mass**2 * self.times[chosen]).sum())

    def table(self) -> pd.DataFrame:
        """See ``Performance.predictions``; always of pandas."""
        import pandas as pd

        columns: dict[str, Any] = {"row": self.row, "fold": self.fold}
        if self.family.has_times:
            columns["start"] = np.maximum(self.y[:, START], 0.0)
            columns["time"], columns["event"] = self.y[:, STOP], self.y[:, EVENT] > 0
        elif self.classes:
            labels = pd.Series(list(self.classes))
            columns["observed"] = labels.iloc[self.y.astype(np.int64)].array
        else:
            columns["observed"] = self.y
        if self.predicted.ndim == 2:
            columns |= {f"predicted_{c}": self.predicted[:, i] for i, c in enumerate(self.classes)}
        else:
            columns["predicted"] = self.predicted
        columns["weight"] = self.weight
        return pd.DataFrame(columns).sort_values(["row", "fold"], ignore_index=True)


def gather_held_out(
    here: ModelData,
    family: Family,
    tests: Sequence[IntArray],
    predicted: Sequence[FloatArray],
    folds: Sequence[int],
    *,
    grouped: bool,
) -> HeldOut:
    """The predictions of all folds.

    Parameters
    ----------
    tests : sequence of ndarray of int64
        Rows of the problem with a weight that each fold holds out.
    predicted : sequence of ndarray of float
        Predictions of these rows, in their order.
    folds : sequence of int
        Numbers of the folds, from 0.
    """
    rows = np.concatenate(list(tests))
    weight = here.weight[rows].astype(np.float64)
    _, place, times = np.unique(rows, return_inverse=True, return_counts=True)
    mass = weight / times[place]
    if not here.row_weights.are_copies:
        mass *= len(times) / mass.sum()
    return HeldOut(
        row=here.response.rows[rows],
        fold=np.repeat(np.array(folds) + 1, [len(own) for own in tests]),
        y=here.response.y[rows],
        predicted=np.concatenate(list(predicted)),
        weight=weight,
        mass=mass,
        times=times[place],
        are_copies=here.row_weights.are_copies,
        grouped=grouped,
        family=family,
        classes=here.response.classes,
    )
