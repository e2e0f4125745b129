"""Risks of held-out rows, predicted by models that were fitted without them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treeselect.arguments.checks import check_count
from treeselect.arguments.scalars import described, finite
from treeselect.designs.modeldata import ModelData
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.random import stream_seed
from treeselect.engine.rounding import weighted_median
from treeselect.engine.survival.curves import kaplan_meier
from treeselect.engine.survival.times import EVENT, START, STOP, STRATUM
from treeselect.errors import OptionError, quoted
from treeselect.frames.reading import read_data
from treeselect.models.baseline import baseline_of
from treeselect.resampling.assessing import Grow
from treeselect.resampling.folds import Split, Splitter
from treeselect.resampling.outer_folds import outer_folds
from treeselect.resampling.quantile_groups import quantile_groups
from treeselect.resampling.risk_groups import RiskGroups
from treeselect.running.parallel import Workers, run_all

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit

_MOST_GROUPS = 20

_NAMES = {2: ("low", "high"), 3: ("low", "middle", "high")}


def group_by_risk(
    result: Fit,
    grow: Grow,
    n_groups: int,
    horizon: float | None,
    folds: int | Splitter | Sequence[int],
    *,
    fold_groups: str | Sequence[Any] | None,
    seed: int,
    workers: Workers,
    data: Any,
    weights: Sequence[float] | None,
    offset: Sequence[float] | None,
) -> RiskGroups:
    """See :meth:`SelectionResult.risk_groups`."""
    known = result.design.response.follow_up
    if known is None:
        raise OptionError(
            "Risk groups need a survival response, `Surv(time, event)`.\n"
            f"  Found: family {quoted(result.family)}."
        )
    n_groups = check_count("n_groups", n_groups, least=2, most=_MOST_GROUPS)
    here = result.design.again(data, weights, offset)
    frame = here.all_rows() if data is None else read_data(data)
    outer = outer_folds(
        result, here, frame, folds, repeats=1, fold_groups=fold_groups, scoring=None, data=data,
        seed=stream_seed(seed, "risk"),
    )  # fmt: skip
    problem, weight = here.problem, outer.weights.values
    at = _horizon(horizon, here, weight)
    calls = [
        (problem, outer.weights, split, result.step.selected, grow, at, stream_seed(seed, "risk"))
        for split in outer.splits
    ]
    risk, survival = np.full((2, len(weight)), np.nan)
    for rows, own_risk, own_survival in run_all(
        _held_out, calls, workers, "Folds", result.progress
    ):
        risk[rows], survival[rows] = own_risk, own_survival
    told = ~np.isnan(risk)
    rows = np.flatnonzero((weight > 0) & ~np.isnan(survival))
    if not len(rows):
        raise OptionError(
            "`folds` must leave training rows of the strata that they hold out.\n"
            "  Found: none in any fold. The baseline hazard of a stratum is estimated from its own"
            " rows alone."
        )
    group = quantile_groups(risk[rows], weight[rows], n_groups)
    mass = weight if outer.weights.are_copies else weight / weight[rows].mean()
    members = [rows[group == g] for g in range(int(group.max()) + 1)]
    middle = weighted_median(risk[rows], weight[rows])
    return RiskGroups(
        names=_NAMES.get(len(members), tuple(str(g + 1) for g in range(len(members)))),
        curves=tuple(kaplan_meier(problem.y[own], mass[own]) for own in members),
        n_rows=np.array([len(own) for own in members]),
        risk=np.array([weighted_median(risk[own], weight[own]) / middle for own in members]),
        horizon=at,
        predicted=np.array([np.average(survival[own], weights=mass[own]) for own in members]),
        time=known.time,
        scheme=outer.folds.words(len(outer.splits)),
        call=result.call.text,
        seed=seed,
        n_left_out=int((told & (weight > 0)).sum()) - len(rows),
        spans=tuple(np.stack([*problem.y[own][:, [START, STOP]].T, mass[own]]) for own in members),
        library=result.design.library,
    )


def _horizon(given: object, here: ModelData, weight: WeightArray) -> float:
    """The given time, or else the median time of the events.

    Raises
    ------
    OptionError
        If no row is under observation at that time.
    """
    y, mass = here.response.y[weight > 0], weight[weight > 0]
    if given is None:
        dies = y[:, EVENT] > 0
        return weighted_median(y[dies, STOP], mass[dies])
    at = finite(given)
    last = float(y[:, STOP].max())
    if at is None or not 0 < at <= last:
        raise OptionError(
            "`horizon` must be a time above 0 at which rows are still under observation.\n"
            f"  Found: {described(given)}. Observation ends at {last:g}."
        )
    return float(at)


def _held_out(
    problem: Problem,
    weights: RowWeights,
    split: Split,
    selected: BoolArray,
    grow: Grow,
    horizon: float,
    seed: int,
    *,
    n_threads: int = 1,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Held-out rows, their relative risks, and their survival at the horizon, missing if the
    training rows do not determine it."""
    train, test = split.weights(weights)
    training = dataclasses.replace(problem, wants_scores=False)
    model = grow(training, train, selected, seed=seed, n_threads=n_threads)
    baseline = baseline_of(problem, train.values, model, n_threads)
    assert baseline is not None
    rows = test.rows
    risk = model.predict(problem, n_threads)[rows]
    stratum = problem.y[rows, STRATUM].astype(np.int64)
    known = stratum < len(baseline.until)
    there = np.where(known, stratum, 0)
    survival = baseline.survival(np.array(horizon), there, problem.family.link(risk))
    survival[~known | np.isnan(baseline.until[there])] = np.nan
    return rows, risk, survival
