"""The selection repeated on resamples of the rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from treeselect.algorithms.shared.method import Method, steps_of
from treeselect.algorithms.shared.sizes import step_of_size
from treeselect.algorithms.shared.task import Task
from treeselect.arguments.checks import MOST_RESAMPLES, check_choice, check_count
from treeselect.designs.design import check_size
from treeselect.designs.problem import Problem
from treeselect.designs.strata import varies
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.splitting.candidates import can_split
from treeselect.errors import OptionError, StabilityError
from treeselect.models.model import Model
from treeselect.models.probing import Probes, ResampledReadings, read_resample
from treeselect.resampling.false_positives import CUTOFF, PAIRS, POWER, sizes_looked_at
from treeselect.resampling.paths import StabilityPath, sets_by_size
from treeselect.resampling.resampled import SCHEMES, Scheme
from treeselect.resampling.saved import some, table_read, table_said, units_read
from treeselect.resampling.stability import Stability
from treeselect.running.pieces import HERE, Course, Found, Kind, run_pieces

Grow = Callable[..., Model]
"""``grow(problem, weights, selected, seed=..., n_threads=...)``: a model of some units."""


def resample_weights(
    weights: RowWeights,
    scheme: Scheme,
    number: int,
    seed: int,
) -> RowWeights:
    """Case weights of one resample: how often each row was drawn, times its weight.

    Bootstrap: as many draws with replacement as there are rows. Subsample: half of the rows.
    Complementary: resamples 2i and 2i + 1 are the two halves of one split.

    Clustered rows are drawn as whole clusters (the cluster bootstrap: Davison and Hinkley 1997,
    section 3.8). Rows of one patient are correlated; drawn one by one, they would overstate the
    stability of the selection.
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
    """How often each of n items is drawn; only some can be."""
    count = np.zeros(n, dtype=np.int64)
    if scheme == "bootstrap":
        np.add.at(count, rng.choice(items, size=len(items), replace=True), 1)
        return count
    order = rng.permutation(items)
    half = len(items) // 2
    first = scheme == "subsample" or number % 2 == 0
    count[order[:half] if first else order[half : 2 * half]] = 1
    return count


class Resample(NamedTuple):
    """The units that one resample selected, those in each set along its path and, if requested,
    readings of its model."""

    selected: BoolArray
    sets: tuple[IntArray, ...]
    readings: ResampledReadings | None = None


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
    path: bool | int = False,
    groups_name: str | bool = False,
    probes: Probes | None = None,
    grow: Grow | None = None,
    course: Course = HERE,
) -> tuple[Stability, tuple[ResampledReadings, ...]]:
    """Repeat the selection on resamples, of whole clusters if the rows are clustered.

    If `probes` are given, the model of each resample is fitted too, by `grow` or by the method, and
    evaluated at the probes.

    If the user stops the call, the finished resamples are the result, provided that there are two
    or more; of complementary resamples, only complete pairs count.

    Raises
    ------
    OptionError
        If `n_resamples`, `scheme` or `path` is not allowed.
    StabilityError
        If k is 0, or the response is constant on a resample.
    """
    check_choice("scheme", scheme, SCHEMES)
    n_resamples = check_count("n", n_resamples, least=2, most=MOST_RESAMPLES)
    k = check_count("k", k, least=0)
    if k == 0:
        raise StabilityError(
            "Can't assess the stability of an empty selection.\n"
            "  Give `k`, the number to select on each resample."
        )
    k = check_size(k, problem.groups)
    keep = problem.groups.keep
    able = ~keep & can_split(problem.data, weights.values)
    n_sizes = sizes_to_follow(path, k, n_resamples, method, keep, able)
    problem = dataclasses.replace(problem, wants_scores=False)
    calls = [
        (problem, method, weights, scheme, number, k, n_sizes, seed, probes, grow)
        for number in range(n_resamples)
    ]
    most = k if method.tuning_value is None else None
    n_kept = int(keep.sum())
    sizes = [n_kept + 1 + i for i in range(n_sizes)]
    shapes = None if probes is None else probes.shapes(problem.family)
    kind = _kind_of(problem.groups.names, scheme, most, sizes, shapes)
    found = run_pieces(_one_resample, calls, kind, course)
    counts = np.zeros((n_sizes, len(fitted)), dtype=np.int64)
    for resample in found.values():
        for i, units in enumerate(resample.sets):
            counts[i, units] += 1
    selected = np.array([resample.selected for resample in found.values()])
    stability = Stability(
        units=problem.groups.names,
        fitted=fitted,
        assessed=able | (selected.any(axis=0) & ~keep),
        selected=selected,
        scheme=scheme,
        k=k,
        seed=seed,
        groups_name=groups_name,
        fixed_size=method.tuning_value is None,
        asked=n_resamples if len(found) < n_resamples else None,
        along=StabilityPath(counts, len(found), n_kept) if n_sizes else None,
    )
    readings = [resample.readings for resample in found.values()]
    return stability, tuple(own for own in readings if own is not None)


def sizes_to_follow(
    path: bool | int, k: int, n_resamples: int, method: Method, keep: BoolArray, able: BoolArray
) -> int:
    """Number of sizes, beyond the units forced in, that `path` requests: 0 for False; for True as
    many as q-values use, and at least those up to k, which every resample has.

    Parameters
    ----------
    keep, able : ndarray of bool, shape (n_groups,)
        Units that are forced in, and other units that can be selected.

    Raises
    ------
    OptionError
        If `path` is not allowed, or the method's trees were grown on all rows.
    """
    if path is False:
        return 0
    n_kept, p = int(keep.sum()), int(able.sum())
    if p == 0:
        raise OptionError(
            "`path` must be False if every candidate is forced in or constant: there is no path to"
            " follow."
        )
    if method.was_fitted:
        raise OptionError(
            "`path` must be False if the trees were grown earlier, perhaps on all rows.\n"
            "  Found: a fitted `forest=`. Select with trees that are grown on each resample."
        )
    if path is True:
        looked_at = sizes_looked_at(p, min(max(n_resamples // 2, 1), PAIRS), POWER, CUTOFF)
        return min(max(looked_at, k - n_kept), p)
    return check_count("path", path, least=n_kept + 1, most=n_kept + p) - n_kept


def _kind_of(
    names: tuple[str, ...],
    scheme: Scheme,
    most: int | None,
    sizes: Sequence[int],
    shapes: Sequence[tuple[int, int]] | None,
) -> Kind:
    """How resamples are written to and read from files: the selected units (at most `most`), the
    sets of the given sizes along the path, and readings of the given shapes."""

    def read(_: int, said: Any) -> Resample:
        chosen, own, *readings = said
        if len(own) != len(sizes):
            raise ValueError("another path")
        selected = np.zeros(len(names), dtype=bool)
        selected[units_read(chosen, len(names), most)] = True
        sets = (units_read(units, len(names), size) for units, size in zip(own, sizes, strict=True))
        if len(readings) != (0 if shapes is None else len(shapes)):
            raise ValueError("other readings")
        tables = [table_read(one, of) for one, of in zip(readings, shapes or (), strict=True)]
        found = ResampledReadings(*tables) if tables else None
        if found is not None and ((found.strengths < 0) | (found.strengths > 1)).any():
            raise ValueError("strengths that none has")
        return Resample(selected, tuple(sets), found)

    def write(found: Resample) -> Any:
        sets = [units.tolist() for units in found.sets]
        return [
            np.flatnonzero(found.selected).tolist(),
            sets,
            *map(table_said, found.readings or ()),
        ]

    return Kind(
        name="resample",
        many="resamples",
        label="Resamples",
        write=write,
        read=read,
        found=lambda _, found: {"selected": tuple(compress(names, found.selected))},
        part=_whole_pairs if scheme == "complementary" else some,
    )


def _whole_pairs(found: Found) -> Found:
    """The resamples whose complementary half is finished too."""
    return {number: own for number, own in found.items() if number ^ 1 in found}


def _one_resample(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    scheme: Scheme,
    number: int,
    k: int,
    n_sizes: int,
    seed: int,
    probes: Probes | None,
    grow: Grow | None,
    *,
    n_threads: int = 1,
) -> Resample:
    drawn = resample_weights(weights, scheme, number, seed)
    if not varies(problem, drawn.rows):
        units = "rows" if weights.groups is None else "clusters"
        raise StabilityError(
            f"The response of resample {number + 1} has no event with other rows at risk at its"
            f" time: there are too few {units} with an event to resample."
            if problem.family.has_times
            else f"Resample {number + 1} has a constant response: there are too few {units} with"
            " one of its values to resample."
        )
    own_seed = stream_seed(seed, "resample", number)
    keep = problem.groups.keep
    task = Task(
        problem,
        drawn,
        max_size=max(k, int(keep.sum()) + n_sizes) if n_sizes else k,
        seed=own_seed,
        every_size=n_sizes > 0,
        n_threads=n_threads,
    )
    path = steps_of(method, task)
    sets, fixed = sets_by_size(path, n_sizes, keep), method.tuning_value is not None
    step = path[-1] if fixed else step_of_size(path, k, keep)
    if probes is None:
        return Resample(step.selected, sets)
    if grow is None:
        model = method.final_model(task, step)
    else:
        model = grow(problem, drawn, step.selected, seed=own_seed, n_threads=n_threads)
    return Resample(step.selected, sets, read_resample(model, probes, problem, drawn.rows))
