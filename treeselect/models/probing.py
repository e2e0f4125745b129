"""Partial dependence of models on terms, at the same points and over the same rows for the fit and
its resamples, so that only the model differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeselect.designs.families import Family
from treeselect.designs.problem import CodedColumns, Problem
from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.data.binning import BinnedData, take_rows
from treeselect.engine.ensembles.dependence import codes_of, mean_at
from treeselect.models.known import known
from treeselect.models.model import Model
from treeselect.models.pair_probing import PairProbes, read_resampled_strengths


@dataclass(frozen=True, slots=True)
class TermProbe:
    """Points of one term.

    A point is an observed row, so that models with bins of their own have codes for it.

    Attributes
    ----------
    columns : ndarray of int64
        Its columns in the design.
    grid, ends : ndarray of int64
        Rows of ``Probes.coded`` that stand for the points of its partial dependence, and for the
        ends of its steps.
    share : ndarray of float, shape of `grid`
        Share of the rows at each point of the grid, summing to 1.
    by_level : bool
        Whether a model supports a point only if its training rows include it.
    """

    columns: IntArray
    grid: IntArray
    ends: IntArray
    share: FloatArray
    by_level: bool


@dataclass(frozen=True, slots=True)
class Probes:
    """Points and rows at which models are evaluated.

    Attributes
    ----------
    coded : CodedColumns
        The rows that are averaged over, and others that stand for points.
    rows : ndarray of int64, shape (n_rows,)
        Their numbers in the data.
    weight : ndarray of float, shape (n_rows,)
        Weights of the rows that are averaged over; 0 for the others.
    terms : tuple of TermProbe
    pairs : PairProbes
        Points and rows for interactions of two terms.
    """

    coded: CodedColumns
    rows: IntArray
    weight: FloatArray
    terms: tuple[TermProbe, ...]
    pairs: PairProbes

    def shapes(self, family: Family) -> tuple[tuple[int, int], ...]:
        """Shapes of the arrays of :class:`ResampledReadings`."""
        n = n_outputs_of(family)
        grid, ends = (sum(len(getattr(t, name)) for t in self.terms) for name in ("grid", "ends"))
        return (grid, n), (ends, n), (len(self.pairs.pairs), 1)


def n_outputs_of(family: Family) -> int:
    """One for each of more than two classes, else one."""
    return family.n_classes if family.n_classes > 2 else 1


class Readings(NamedTuple):
    """Partial dependence of a model, term after term; NaN for terms that it lacks.

    Attributes
    ----------
    curve : ndarray of float, shape (n_grid, n_outputs)
        On the scale of the model.
    response : ndarray of float, shape (n_grid, n_outputs)
    ends : ndarray of float, shape (n_ends, n_outputs)
        Both on the scale of the response; with an offset, or for survival times, on that of the
        linear predictor.
    """

    curve: FloatArray
    response: FloatArray
    ends: FloatArray


class ResampledReadings(NamedTuple):
    """Partial dependence of the model of a resample.

    Attributes
    ----------
    curve : ndarray of float, shape (n_grid, n_outputs)
        Centred for each term.
    ends : ndarray of float, shape (n_ends, n_outputs)
    strengths : ndarray of float, shape (n_pairs, 1)
        Strengths of interactions, from 0 to 1.
    """

    curve: FloatArray
    ends: FloatArray
    strengths: FloatArray


def read_model(model: Model, probes: Probes, problem: Problem) -> Readings:
    """Partial dependence of a model on each term (Friedman 2001, section 8.2)."""
    own = np.flatnonzero(model.groups[probes.coded.groups.ids])
    n_outputs = n_outputs_of(problem.family)
    becomes_mean = model.is_link and not problem.on_link
    if len(own):
        data = model.bin(probes.coded, tuple(probes.coded.columns[j] for j in own))
        bins = model.own_bins(probes.coded)
        source = own if bins is None else own[bins.source]

    def predict(here: BinnedData) -> FloatArray:
        score = model.score(here)
        if not becomes_mean:
            return score
        mean = problem.family.mean(score if n_outputs > 1 else score[:, 0])
        return np.hstack([score, mean.reshape(len(score), -1)])

    curves, responses, ends = [], [], []
    for probe in probes.terms:
        rows = np.concatenate([probe.grid, probe.ends])
        found = np.full((len(rows), n_outputs), np.nan)
        if len(rows) and np.isin(probe.columns, own).all():
            columns = np.flatnonzero(np.isin(source, probe.columns))
            codes = codes_of(take_rows(data, rows), columns)
            points, at = np.unique(codes, axis=0, return_inverse=True)
            found = mean_at(predict, data, probes.weight, columns, points)[at.ravel()]
        grid = len(probe.grid)
        curves.append(found[:grid, :n_outputs])
        responses.append(found[:grid, -n_outputs:])
        ends.append(found[grid:, -n_outputs:])
    return Readings(np.concatenate(curves), np.concatenate(responses), np.concatenate(ends))


def read_resample(
    model: Model, probes: Probes, problem: Problem, rows: IntArray
) -> ResampledReadings:
    """The same for the model of a resample.

    Parameters
    ----------
    rows : ndarray of int64
        Rows of the data that are in the resample. Values that it does not support are NaN: levels
        that it lacks, and all points of a term that does not vary in it.
    """
    curve, _, ends = read_model(model, probes, problem)
    n_curve = n_ends = 0
    for probe in probes.terms:
        here = slice(n_curve, n_curve + len(probe.grid))
        there = slice(n_ends, n_ends + len(probe.ends))
        curve[here] -= probe.share @ curve[here]
        at = probes.rows[probe.grid], probes.rows[probe.ends]
        for values, points in zip((curve[here], ends[there]), at, strict=True):
            is_known = known(probe.columns, points, probe.by_level, problem.data, rows)
            values[~is_known] = np.nan
        n_curve, n_ends = here.stop, there.stop
    strengths = read_resampled_strengths(model, probes.pairs, problem.data, rows)
    return ResampledReadings(curve, ends, strengths[:, np.newaxis])
