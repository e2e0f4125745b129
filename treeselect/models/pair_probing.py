"""How far two terms depend on each other in a model, read at given points over given rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.designs.design import CodedColumns
from treeselect.engine.arrays import AnyArray, FloatArray, IntArray
from treeselect.engine.data.binning import BinnedData, take_rows
from treeselect.engine.ensembles.dependence import codes_of, mean_at
from treeselect.engine.ensembles.interaction import strength
from treeselect.models.known import known
from treeselect.models.model import Model


@dataclass(frozen=True, slots=True)
class PairTerm:
    """Where one term of pairs is read.

    Attributes
    ----------
    columns : ndarray of int64
        Its columns in the design.
    grid : ndarray of int64
        Rows of ``PairProbes.coded`` that stand for its points.
    place : ndarray of int64, shape (n_averaged,)
        The point at which each row that is averaged over is, or in whose cell.
    by_level : bool
        Whether it is a factor, of whose levels a model knows those that it has seen.
    """

    columns: IntArray
    grid: IntArray
    place: IntArray
    by_level: bool


@dataclass(frozen=True, slots=True)
class PairProbes:
    """Where the strengths of interactions are read.

    Attributes
    ----------
    coded : CodedColumns
        Of the rows that are averaged over, and after them of those that stand for points.
    rows : ndarray of int64, shape (n_rows,)
        What these are among the rows of the data.
    weight : ndarray of float, shape (n_averaged,)
        Of the former, each above 0.
    terms : tuple of PairTerm
    pairs : tuple of (int, int)
        Numbers of the terms.
    """

    coded: CodedColumns
    rows: IntArray
    weight: FloatArray
    terms: tuple[PairTerm, ...]
    pairs: tuple[tuple[int, int], ...]


def read_strengths(model: Model, probes: PairProbes) -> FloatArray:
    """Strength and size of the interaction of each pair, shape (n_pairs, 2); missing where the
    model does not have both terms."""
    found = np.full((len(probes.pairs), 2), np.nan)
    own = np.flatnonzero(model.groups[probes.coded.groups.ids])
    has = [bool(np.isin(term.columns, own).all()) for term in probes.terms]
    asked = [n for n, pair in enumerate(probes.pairs) if all(has[i] for i in pair)]
    if not asked:
        return found
    data = model.bin(probes.coded, tuple(probes.coded.columns[j] for j in own))
    bins = model.own_bins(probes.coded)
    source = own if bins is None else own[bins.source]
    averaged = take_rows(data, np.arange(len(probes.weight)))
    share = probes.weight / probes.weight.sum()
    for n in asked:
        first, second = (probes.terms[i] for i in probes.pairs[n])
        sizes = len(first.grid), len(second.grid)
        columns, codes = zip(*(_codes(data, source, term) for term in (first, second)), strict=True)
        points = np.hstack(
            [np.repeat(codes[0], sizes[1], axis=0), np.tile(codes[1], (sizes[0], 1))]
        )
        cells = np.bincount(first.place * sizes[1] + second.place, share, len(points))
        held = cells > 0  # the others have no part in the strength, and prediction takes the time
        mean = np.zeros((len(points), len(model.constant)))
        mean[held] = mean_at(
            model.score, averaged, probes.weight, np.concatenate(columns), points[held]
        )
        found[n] = strength(mean, np.asarray(cells, dtype=np.float64), sizes)
    return found


def read_resampled_strengths(
    model: Model, probes: PairProbes, data: BinnedData, rows: IntArray
) -> FloatArray:
    """The strengths, shape (n_pairs,), in the model of a resample.

    Parameters
    ----------
    data : BinnedData
        All rows.
    rows : ndarray of int64
        Those in the resample. Missing, too, where a term has one point only, does not vary there,
        or has a level among its points that is not there.
    """
    can_tell = [
        len(term.grid) > 1
        and bool(known(term.columns, probes.rows[term.grid], term.by_level, data, rows).all())
        for term in probes.terms
    ]
    found = read_strengths(model, probes)[:, 0]
    found[[not all(can_tell[i] for i in pair) for pair in probes.pairs]] = np.nan
    return found


def _codes(data: BinnedData, source: IntArray, term: PairTerm) -> tuple[IntArray, AnyArray]:
    """Columns of a term in the data of a model, and the codes of its points there."""
    columns = np.flatnonzero(np.isin(source, term.columns))
    return columns, codes_of(data, columns)[term.grid]
