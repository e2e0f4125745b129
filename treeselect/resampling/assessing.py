"""The selection again, on resamples of the rows."""

from __future__ import annotations

import dataclasses
from itertools import compress
from typing import Any

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
from treeselect.resampling.resampled import SCHEMES, Scheme
from treeselect.resampling.saved import some, units_read
from treeselect.resampling.stability import Stability
from treeselect.running.pieces import HERE, Course, Found, Kind, run_pieces


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
    course: Course = HERE,
) -> Stability:
    """Repeat the selection on resamples; of whole groups if the rows are in any.

    What is finished when the user stops is a result, of two resamples or more; of complementary
    ones pairs count.

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
    calls = [(problem, method, weights, scheme, number, k, seed) for number in range(n_resamples)]
    most = k if method.tuning_value is None else None
    kind = _kind_of(problem.groups.names, scheme, most)
    found = run_pieces(_one_resample, calls, kind, course)
    return Stability(
        units=problem.groups.names,
        fitted=fitted,
        assessed=~problem.groups.keep,
        selected=np.array(list(found.values())),
        scheme=scheme,
        k=k,
        seed=seed,
        groups_name=groups_name,
        fixed_size=method.tuning_value is None,
        asked=n_resamples if len(found) < n_resamples else None,
    )


def _kind_of(names: tuple[str, ...], scheme: Scheme, most: int | None) -> Kind:
    """What resamples are, with at most so many units if it is known."""

    def read(_: int, said: Any) -> BoolArray:
        selected = np.zeros(len(names), dtype=bool)
        selected[units_read(said, len(names), most)] = True
        return selected

    return Kind(
        name="resample",
        many="resamples",
        label="Resamples",
        write=lambda selected: np.flatnonzero(selected).tolist(),
        read=read,
        found=lambda _, selected: {"selected": tuple(compress(names, selected))},
        part=_whole_pairs if scheme == "complementary" else some,
    )


def _whole_pairs(found: Found) -> Found:
    """The resamples whose other half is there, too."""
    return {number: own for number, own in found.items() if number ^ 1 in found}


def _one_resample(
    problem: Problem,
    method: Method,
    weights: RowWeights,
    scheme: Scheme,
    number: int,
    k: int,
    seed: int,
    *,
    n_threads: int = 1,
) -> BoolArray:
    drawn = resample_weights(weights, scheme, number, seed)
    if len(np.unique(problem.y[drawn.rows])) < 2:
        raise StabilityError(
            f"Resample {number + 1} holds only one value of the response: there are too few"
            f" {'rows' if weights.groups is None else 'groups with rows'} of a class to resample."
        )
    own_seed = stream_seed(seed, "resample", number)
    task = Task(problem, drawn, max_size=k, seed=own_seed, every_size=False, n_threads=n_threads)
    path = steps_of(method, task)
    if method.tuning_value is not None:
        return path[-1].selected
    return step_of_size(path, k, problem.groups.keep).selected
