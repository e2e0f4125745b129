"""Strength of the interaction of two terms in a model, at given points and over given rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeselect.designs.problem import CodedColumns
from treeselect.engine.arrays import AnyArray, FloatArray, IntArray
from treeselect.engine.data.binning import BinnedData, take_rows
from treeselect.engine.ensembles.dependence import codes_of, mean_at
from treeselect.engine.ensembles.interaction import strength
from treeselect.models.known import known
from treeselect.models.model import Model


@dataclass(frozen=True, slots=True)
class PairTerm:
    """Points of one term of a pair.

    Attributes
    ----------
    columns : ndarray of int64
        Its columns in the design.
    grid : ndarray of int64
        Rows of ``PairProbes.coded`` that stand for its points.
    place : ndarray of int64, shape (n_averaged,)
        The point, or cell of a point, of each row that is averaged over.
    by_level : bool
        Whether it is a factor, so that a model supports only the levels in its training rows.
    """

    columns: IntArray
    grid: IntArray
    place: IntArray
    by_level: bool


@dataclass(frozen=True, slots=True)
class PairProbes:
    """Points and rows at which interactions are evaluated.

    Attributes
    ----------
    coded : CodedColumns
        The rows that are averaged over, followed by those that stand for points.
    rows : ndarray of int64, shape (n_rows,)
        Their numbers in the data.
    weight : ndarray of float, shape (n_averaged,)
        Weights of the rows that are averaged over, each above 0.
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
    """Strength and size of the interaction of each pair, shape (n_pairs, 2).

    NaN if the model lacks a term.
    """
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
        held = cells > 0  # others do not enter the strength, and prediction takes most of the time
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
        Those in the resample. A strength is also NaN if a term has only one point, does not vary in
        the resample, or has a level among its points that the resample lacks.
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
