"""The score of a selection on the rows that were not drawn, which had no part in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.designs.modeldata import ModelData
from treeselect.designs.request import Request
from treeselect.designs.row_sample import outcomes, read_all
from treeselect.designs.weights import read_offset
from treeselect.engine.arrays import FloatArray
from treeselect.frames.tables import Table
from treeselect.models.model import Model
from treeselect.running.machine import memory_is_told

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """A score on the rows that were not drawn.

    Attributes
    ----------
    score_name : str
    score : float
        Of the final model; NaN if it is not defined for these rows.
    n_rows : int
        Their number.
    """

    score_name: str
    score: float
    n_rows: int


@memory_is_told()
def confirm(
    design: ModelData, model: Model, table: Table, request: Request, n_threads: int
) -> HeldOutScore | None:
    """Score the final model on all rows in use that were not drawn; None if all were.

    The response of all rows is in memory, but of their columns no more than a batch. Levels that
    are not among those of the sample are none of the levels, whatever `new_levels` says.
    """
    if design.sample is None or design.rows.not_drawn == 0:
        return None
    parsed, codes = design.spec.formula, design.spec.na
    frame = outcomes(parsed, table, codes, request.hidden)
    every, full = read_all(parsed, frame, request.weights, request.weights_kind, request.family)
    offset = read_offset(request.offset, frame)
    offset = None if offset is None else offset[full.rows]
    del frame
    weight = every.values[full.rows]
    del every
    predicted = _predictions(design, model, table, offset, full.rows, n_threads)
    drawn = np.searchsorted(full.rows, design.response.rows)
    training = np.zeros_like(weight)
    training[drawn] = weight[drawn]
    weight = weight.copy()
    weight[drawn] = 0
    family = design.response.family
    score = family.held_out_score(full.y, predicted, weight, training)
    return HeldOutScore(family.score_name, float(score), design.rows.not_drawn)


def _predictions(
    design: ModelData,
    model: Model,
    table: Table,
    offset: FloatArray | None,
    rows: Sequence[int] | np.ndarray[tuple[int], np.dtype[np.int64]],
    n_threads: int,
) -> FloatArray:
    """Mean response of these rows, read in batches."""
    n, width = len(rows), design.response.family.n_classes
    if not model.groups.any():
        return model.without_trees(n, offset)
    terms = used_terms(design, model)
    variables = list(dict.fromkeys(v for name in terms for v in design.spec[name].term.variables))
    spec = dataclasses.replace(
        design.spec, new_levels="missing" if design.spec.new_levels == "missing" else "other"
    )
    found = np.empty((n, width) if width > 2 else n)
    for start, frame in table.batches(variables):
        low, high = np.searchsorted(rows, [start, start + len(frame)])
        if low == high:
            continue
        own = _rows_of(frame, np.asarray(rows[low:high]) - start)
        known = None if offset is None else offset[low:high]
        binned = model.bin(design.arrays, spec.encode(own, terms))
        found[low:high] = model.predict_binned(binned, known, n_threads)
    return found


def _rows_of(frame: pd.DataFrame, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pd.DataFrame:
    return frame if len(rows) == len(frame) else frame.iloc[rows].reset_index(drop=True)


def used_terms(design: ModelData, model: Model) -> list[str]:
    """Terms whose columns the final model needs."""
    names = design.arrays.groups.terms
    return [term for g in np.flatnonzero(model.groups) for term in names[g]]
