"""The selection again, on resamples of the rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from treeselect.algorithms.shared.method import Method, steps_of
from treeselect.algorithms.shared.sizes import step_of_size
from treeselect.algorithms.shared.task import Task
from treeselect.arguments.checks import MOST_RESAMPLES, check_choice, check_count
from treeselect.designs.design import check_size
from treeselect.designs.problem import Problem
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.errors import StabilityError
from treeselect.models.model import Model
from treeselect.models.probing import Probes, ResampledReadings, read_resample
from treeselect.resampling.resampled import SCHEMES, Scheme
from treeselect.resampling.stability import Stability
from treeselect.running.parallel import ALONE, Workers, run_all
from treeselect.running.progress import track

Grow = Callable[..., Model]
"""``grow(problem, weights, selected, seed=..., n_threads=...)``: a model of some units."""


def resample_weights(
    weights: RowWeights,
    scheme: Scheme,
    number: int,
    seed: int,
) -> RowWeights:
    """Weights of one resample: how often each row is in it, times its weight.

    Bootstrap: as many draws with replacement as there are rows. Subsample: half of the rows.
    Complementary: resamples 2i and 2i + 1 are the two halves of one split.

    Groups are drawn in place of rows, each with all its rows (the cluster bootstrap: Davison and
    Hinkley 1997, section 3.8): rows of one patient resemble each other, and drawn one by one they
    would make the selection look more stable than it is.
    """
    rows = weights.rows
    pair = number // 2 if scheme == "complementary" else number
    rng = np.random.default_rng(stream_seed(seed, scheme, pair))
    if weights.groups is None:
        return weights.times(_drawn(rows, len(weights), scheme, number, rng))
    names, place = np.unique(weights.groups[rows], return_inverse=True)
    times = np.zeros(len(weights), dtype=np.int64)
    times[rows] = _drawn(np.arange(len(names)), len(names), scheme, number, rng)[place]
    return weights.times(times)


def _drawn(
    items: IntArray, n: int, scheme: Scheme, number: int, rng: np.random.Generator
) -> IntArray:
    """How often each of n things is drawn, of which only some can be."""
    count = np.zeros(n, dtype=np.int64)
    if scheme == "bootstrap":
        np.add.at(count, rng.choice(items, size=len(items), replace=True), 1)
        return count
    order = rng.permutation(items)
    half = len(items) // 2
    first = scheme == "subsample" or number % 2 == 0
    count[order[:half] if first else order[half : 2 * half]] = 1
    return count


def assess(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    fitted: BoolArray,
    *,
    n_resamples: int,
    k: int,
    scheme: Scheme,
    seed: int,
    groups_name: str | bool = False,
    probes: Probes | None = None,
    grow: Grow | None = None,
    workers: Workers = ALONE,
    progress: bool | None = None,
) -> tuple[Stability, tuple[ResampledReadings, ...]]:
    """Repeat the selection on resamples; of whole groups if the rows are in any.

    Where `probes` are given, the model of each resample is fitted, too, and read there: by `grow`,
    or as the method fits it.

    Raises
    ------
    OptionError
        If `n_resamples` or `scheme` is not allowed.
    StabilityError
        If k is 0, or a resample holds one class only.
    """
    check_choice("scheme", scheme, SCHEMES)
    n_resamples = check_count("n", n_resamples, least=2, most=MOST_RESAMPLES)
    k = check_count("k", k, least=0)
    if k == 0:
        raise StabilityError(
            "Can't assess the stability of an empty selection.\n"
            "  Give `k`, the number of units to select on each resample."
        )
    k = check_size(k, problem.groups)
    problem = dataclasses.replace(problem, wants_scores=False)
    calls = [
        (problem, method, weights, scheme, number, k, seed, probes, grow)
        for number in range(n_resamples)
    ]
    running = run_all(_one_resample, calls, workers)
    results = list(track(running, "Resamples", len(calls), progress))
    stability = Stability(
        units=problem.groups.names,
        fitted=fitted,
        assessed=~problem.groups.keep,
        selected=np.array([selected for selected, _ in results]),
        scheme=scheme,
        k=k,
        seed=seed,
        groups_name=groups_name,
        fixed_size=method.tuning_value is None,
    )
    return stability, tuple(found for _, found in results if found is not None)


def _one_resample(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    scheme: Scheme,
    number: int,
    k: int,
    seed: int,
    probes: Probes | None,
    grow: Grow | None,
    *,
    n_threads: int = 1,
) -> tuple[BoolArray, ResampledReadings | None]:
    drawn = resample_weights(weights, scheme, number, seed)
    if len(np.unique(problem.y[drawn.rows])) < 2:
        raise StabilityError(
            f"Resample {number + 1} holds only one value of the response: there are too few"
            f" {'rows' if weights.groups is None else 'groups with rows'} of a class to resample."
        )
    own_seed = stream_seed(seed, "resample", number)
    task = Task(problem, drawn, max_size=k, seed=own_seed, every_size=False, n_threads=n_threads)
    path = steps_of(method, task)
    fixed = method.tuning_value is not None
    step = path[-1] if fixed else step_of_size(path, k, problem.groups.keep)
    if probes is None:
        return step.selected, None
    if grow is None:
        model = method.final_model(task, step)
    else:
        model = grow(problem, drawn, step.selected, seed=own_seed, n_threads=n_threads)
    return step.selected, read_resample(model, probes, problem, drawn.rows)
