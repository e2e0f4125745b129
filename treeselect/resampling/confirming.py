"""The score of a selection on the rows that were not drawn, which had no part in it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.designs.modeldata import ModelData
from treeselect.designs.request import Request
from treeselect.designs.row_sample import outcomes, read_all
from treeselect.designs.weights import read_offset
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.frames.tables import Table
from treeselect.models.model import Model
from treeselect.running.machine import memory_is_told

if TYPE_CHECKING:
    import pandas as pd


MOST_SCORED = 5_000_000
"""Most rows that are scored: the standard error of an AUC is then about 0.0003 or less."""


@dataclass(frozen=True, slots=True)
class HeldOutScore:
    """A score on the rows that were not drawn.

    Attributes
    ----------
    score_name : str
    score : float
        Of the final model; NaN if it is not defined for these rows.
    n_rows : int
        How many of them are scored: all, or five million at equal distances.
    """

    score_name: str
    score: float
    n_rows: int


@memory_is_told()
def confirm(
    design: ModelData, model: Model, table: Table, request: Request, n_threads: int
) -> HeldOutScore | None:
    """Score the final model on rows in use that were not drawn; None if all were drawn.

    The response of all rows is in memory, but of their columns no more than a batch. Levels that
    are not among those of the sample are none of the levels, whatever `new_levels` says.
    """
    if design.sample is None or design.rows.not_drawn == 0:
        return None
    parsed, codes = design.spec.formula, design.spec.na
    frame = outcomes(parsed, table, codes, request.hidden)
    every, full = read_all(parsed, frame, request.weights, request.weights_kind, request.family)
    offset = read_offset(request.offset, frame)
    del frame
    drawn = np.zeros(len(full.rows), dtype=bool)
    drawn[np.searchsorted(full.rows, design.response.rows)] = True
    others = np.flatnonzero(~drawn)
    n = min(len(others), MOST_SCORED)
    # A score of the family may need the training rows, too.
    place = np.sort(np.concatenate([np.flatnonzero(drawn), others[_spaced(len(others), n)]]))
    y, rows, drawn = full.y[place], full.rows[place], drawn[place]
    weight = every.values[rows]
    del full, others, every
    known = None if offset is None else offset[rows]
    predicted = _predictions(design, model, table, known, rows, n_threads)
    family = design.response.family
    score = family.held_out_score(
        y, predicted, np.where(drawn, 0, weight), np.where(drawn, weight, 0)
    )
    return HeldOutScore(family.score_name, float(score), n)


def _spaced(n: int, wanted: int) -> IntArray:
    """Places of `wanted` of n rows at equal distances."""
    return np.arange(wanted) * n // max(wanted, 1)


def _predictions(
    design: ModelData,
    model: Model,
    table: Table,
    offset: FloatArray | None,
    rows: IntArray,
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
        own = _rows_of(frame, rows[low:high] - start)
        known = None if offset is None else offset[low:high]
        binned = model.bin(design.arrays, spec.encode(own, terms))
        found[low:high] = model.predict_binned(binned, known, n_threads)
    return found


def _rows_of(frame: pd.DataFrame, rows: IntArray) -> pd.DataFrame:
    return frame if len(rows) == len(frame) else frame.iloc[rows].reset_index(drop=True)


def used_terms(design: ModelData, model: Model) -> list[str]:
    """Terms whose columns the final model needs."""
    names = design.arrays.groups.terms
    return [term for g in np.flatnonzero(model.groups) for term in names[g]]
