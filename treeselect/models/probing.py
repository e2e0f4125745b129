"""Partial dependence of models on terms, at the same points and over the same rows for the fit and
its resamples, so that only the model differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treeselect.designs.families import Family
from treeselect.designs.problem import CodedColumns, Problem
from treeselect.engine.arrays import AnyArray, BoolArray, FloatArray, IntArray
from treeselect.engine.columns import BinnedData, take_rows
from treeselect.engine.forest.dependence import codes_of, mean_at
from treeselect.models.model import ColumnModel, TreeModel


@dataclass(frozen=True, slots=True)
class TermProbe:
    """Points of one term: observed rows, so that models with bins of their own have codes."""

    columns: IntArray  # its columns in the design
    grid: IntArray
    ends: IntArray
    share: FloatArray  # share of the rows at each point of the grid, summing to 1
    by_level: bool  # whether a model supports a point only if its training rows include it


@dataclass(frozen=True, slots=True)
class Probes:
    """Points and rows at which models are evaluated."""

    coded: CodedColumns  # the rows that are averaged over, and others that stand for points
    rows: IntArray  # (n_rows,): their numbers in the data
    weight: FloatArray  # (n_rows,): weights of the rows that are averaged over
    terms: tuple[TermProbe, ...]


def n_outputs_of(family: Family) -> int:
    """One for each of more than two classes, else one."""
    return family.n_classes if family.n_classes > 2 else 1


class Readings(NamedTuple):
    """Partial dependence of a model, term after term; NaN for terms that it lacks."""

    curve: FloatArray  # (n_grid, n_outputs): on the scale of the model
    response: FloatArray  # (n_grid, n_outputs)
    ends: FloatArray  # (n_ends, n_outputs): both on the scale of the response


class ResampledReadings(NamedTuple):
    """Partial dependence of the model of a resample."""

    curve: FloatArray  # (n_grid, n_outputs): centred for each term
    ends: FloatArray  # (n_ends, n_outputs)


def scorer_of(
    model: TreeModel, data: BinnedData, columns: Sequence[AnyArray]
) -> Callable[[BinnedData], FloatArray]:
    """:meth:`TreeModel.score` of rows with codes of these rows; in a model that does not bin, the
    mean of these rows with a code stands for a number."""
    if not isinstance(model, ColumnModel):
        return model.score
    means: list[FloatArray | None] = []
    for j, own in enumerate(columns):
        codes, size = data.column(j), np.fmax.reduce(np.abs(own), initial=1.0)
        with np.errstate(invalid="ignore"):  # sums of huge numbers are not numbers
            mean = np.bincount(codes, own / size, 256) / np.bincount(codes, minlength=256) * size
        means.append(None if own.dtype.kind == "u" else mean)

    def score(here: BinnedData) -> FloatArray:
        codes = ((here.column(j), mean) for j, mean in enumerate(means))
        return model.score_columns([code if mean is None else mean[code] for code, mean in codes])

    return score


def read_model(model: TreeModel, probes: Probes, problem: Problem) -> Readings:
    """Partial dependence of a model on each term (Friedman 2001, section 8.2)."""
    own = np.flatnonzero(model.groups[probes.coded.groups.ids])
    n_outputs, weight = n_outputs_of(problem.family), probes.weight
    becomes_mean = model.is_link and not problem.on_link
    if len(own):
        columns = tuple(probes.coded.columns[j] for j in own)
        data, filled, held = model.bin(probes.coded, columns), model.filled(columns), weight > 0
        score = scorer_of(model, take_rows(data, np.flatnonzero(held)), [x[held] for x in filled])
        bins = model.own_bins(probes.coded)
        source = own if bins is None else own[bins.source]

    def both(found: FloatArray) -> FloatArray:
        if not becomes_mean:
            return found
        mean = problem.family.mean(found if n_outputs > 1 else found[:, 0])
        return np.hstack([found, mean.reshape(len(found), -1)])

    curves, responses, ends = [], [], []
    for probe in probes.terms:
        rows, grid = np.concatenate([probe.grid, probe.ends]), len(probe.grid)
        found = np.full((len(rows), n_outputs), np.nan)
        if len(rows) and np.isin(probe.columns, own).all():
            moved = np.flatnonzero(np.isin(source, probe.columns))
            coded = probe.grid if isinstance(model, ColumnModel) else rows
            codes = codes_of(take_rows(data, coded), moved)
            points, at = np.unique(codes, axis=0, return_inverse=True)
            found = mean_at(lambda here: both(score(here)), data, weight, moved, points)[at.ravel()]
            if isinstance(model, ColumnModel):  # a step names values, and a bin has others
                for row in probe.ends:
                    here = [np.where(j in moved, x[row], x) for j, x in enumerate(filled)]
                    exact = np.average(both(model.score_columns(here)), axis=0, weights=weight)
                    found = np.vstack([found, exact])
        curves.append(found[:grid, :n_outputs])
        responses.append(found[:grid, -n_outputs:])
        ends.append(found[grid:, -n_outputs:])
    return Readings(np.concatenate(curves), np.concatenate(responses), np.concatenate(ends))


def read_resample(
    model: TreeModel, probes: Probes, problem: Problem, rows: IntArray
) -> ResampledReadings:
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
    return ResampledReadings(curve, ends)


def known(
    columns: IntArray, points: IntArray, by_level: bool, data: BinnedData, rows: IntArray
) -> BoolArray:
    """Whether a resample supports some points."""
    codes = codes_of(data, columns)
    held = np.unique(codes[rows], axis=0)
    if not by_level:
        return np.full(len(points), len(held) > 1)
    return np.asarray((codes[points][:, np.newaxis] == held).all(axis=2).any(axis=1))
