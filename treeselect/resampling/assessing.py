"""The selection repeated on resamples of the rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treeselect.algorithms.method import Method, final_model, steps_of
from treeselect.algorithms.task import Step, Task, step_of_size
from treeselect.arguments.checks import AUTO, MOST_RESAMPLES, SCORE_RULES, check_choice, check_count
from treeselect.designs.problem import Problem, check_size
from treeselect.designs.row_sample import varies
from treeselect.designs.weights import RowWeights
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.random import stream_seed
from treeselect.engine.tree.used_groups import can_split
from treeselect.errors import OptionError, StabilityError
from treeselect.models.probing import Probes, ResampledReadings, read_resample
from treeselect.resampling.choosing import Choice, Procedure, choose, choose_sufficient, most_units
from treeselect.resampling.cross_validation import ScoreBySize, known_scores, score_path
from treeselect.resampling.error_bounds import CUTOFF, PAIRS, POWER, sizes_within
from treeselect.resampling.folds import part_rows
from treeselect.resampling.resampled import SCHEMES, Scheme, StabilityPath
from treeselect.resampling.stability import Stability
from treeselect.running.machine import give_memory_back
from treeselect.running.parallel import Workers
from treeselect.running.pieces import Course, Found, Kind, run_pieces, some

_JUDGE_TREES, _SCORED_TREES, _SCORED_ROWS = 15, 25, 5_000
"""Most trees of forests that judge sets on a resample and of those that are scored, and rows that
fit and score them."""


def resample_weights(
    problem: Problem, weights: RowWeights, scheme: Scheme, number: int, seed: int
) -> RowWeights:
    """Case weights of one resample: how often each row was drawn, times its weight. Halves have the
    same share of each class, complementary ones are 2i and 2i + 1; clusters are drawn as a whole
    (Davison and Hinkley 1997, section 3.8)."""
    pair = number // 2 if scheme == "complementary" else number
    own_seed = stream_seed(seed, scheme, pair)
    if scheme != "bootstrap":
        half, others = part_rows(problem, weights, 0.5, own_seed)
        second = scheme == "complementary" and number % 2 == 1
        return weights.only(others if second else half)
    rng, rows = np.random.default_rng(own_seed), weights.rows
    if weights.groups is None:
        return weights.times(np.bincount(rng.choice(rows, len(rows)), minlength=len(weights)))
    names, place = np.unique(weights.groups[rows], return_inverse=True)
    times = np.zeros(len(weights), dtype=np.int64)
    drawn = rng.choice(np.arange(len(names)), len(names))
    times[rows] = np.bincount(drawn, minlength=len(names))[place]
    return weights.times(times)


class Resample(NamedTuple):
    """The units that one resample selected, those in each set along its path and, if requested,
    scores of its sets and of all units on rows that were not drawn, and readings of its model."""

    selected: BoolArray
    sets: tuple[IntArray, ...]
    scores: FloatArray | None = None
    readings: ResampledReadings | None = None


def assess(
    asked: Procedure,
    fitted: BoolArray,
    *,
    n_resamples: int,
    scheme: Scheme,
    seed: int,
    path: bool | int,
    n_scored: int,
    groups_name: str | bool,
    probes: Probes | None,
    course: Course,
) -> tuple[Stability, ScoreBySize | None, tuple[ResampledReadings, ...]]:
    """Repeat the selection on resamples; sets of fewer than `n_scored` units are scored on rows
    that were not drawn, and models evaluated at the probes. If stopped, the finished resamples are
    the result: the stability, scores by size if they were requested, and readings."""
    problem, method, weights, choice = asked
    check_choice("scheme", scheme, SCHEMES)
    n_resamples = check_count("n", n_resamples, least=2, most=MOST_RESAMPLES)
    if choice.k == 0 or (not isinstance(choice.k, int) and not fitted.any()):
        raise StabilityError(
            "Can't assess the stability of an empty selection.\n"
            "  Give `k`, the number to select on each resample."
        )
    chooses = isinstance(choice.k, str)
    k = check_size(choice.k if isinstance(choice.k, int) else int(fitted.sum()), problem.groups)
    keep = problem.groups.keep
    able = ~keep & can_split(problem.data, weights.values)
    n_sizes = sizes_to_follow(path, k, n_resamples, method, keep, able)
    asked = asked._replace(
        problem=dataclasses.replace(problem, wants_scores=False),
        choice=choice if choice.k in SCORE_RULES else Choice(choice.k or k),
    )
    n_kept = int(keep.sum())
    followed = n_kept + n_sizes if n_sizes else 0
    given = _Given(asked, scheme, seed, followed, n_scored, probes)
    calls = [(given, number) for number in range(n_resamples)]
    fixed_size = method.tuning_value is None and not chooses
    kind = Kind("resample", Resample, _whole_pairs if scheme == "complementary" else some)
    found = run_pieces(_one_resample, calls, kind, course)
    counts = np.zeros((n_sizes, len(fitted)), dtype=np.int64)
    for resample in found.values():
        for i, own in enumerate(resample.sets):
            counts[i, own] += 1
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
        fixed_size=fixed_size,
        asked=n_resamples if len(found) < n_resamples else None,
        along=StabilityPath(counts, len(found), n_kept) if n_sizes else None,
    )
    readings = tuple(own.readings for own in found.values() if own.readings is not None)
    by_size = None
    if n_scored:
        scores = np.array([resample.scores for resample in found.values()])
        full, ends = scores[:, -2], scores[:, -1].astype(np.int64).tolist()
        known = known_scores(scores[:, :-2], ends, full, able | keep, method)
        by_size = ScoreBySize(known, full, repeats=len(scores) / 2, of_halves=True)
    return stability, by_size, readings


def sizes_to_follow(
    path: bool | int, k: int, n_resamples: int, method: Method, keep: BoolArray, able: BoolArray
) -> int:
    """Number of sizes, beyond the units forced in, that `path` requests: 0 for False; for True as
    many as q-values use, and at least those up to k, which every resample has."""
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
        n_pairs = min(max(n_resamples // 2, 1), PAIRS)
        looked_at = sizes_within(np.arange(1.0, p + 1), p, n_pairs, POWER, CUTOFF)
        return min(max(looked_at, k - n_kept), p)
    return check_count("path", path, least=n_kept + 1, most=n_kept + p) - n_kept


def _whole_pairs(found: Found) -> Found:
    return {number: own for number, own in found.items() if number ^ 1 in found}


class _Given(NamedTuple):
    """What all resamples share; see :func:`assess`."""

    asked: Procedure
    scheme: Scheme
    seed: int
    followed: int
    n_scored: int
    probes: Probes | None

    def drawn(self, number: int) -> RowWeights:
        problem, _, weights, _ = self.asked
        return resample_weights(problem, weights, self.scheme, number, self.seed)


def _one_resample(given: _Given, number: int, *, n_threads: int = 1) -> Resample:
    problem, method, _, _ = given.asked
    give_memory_back(problem.data.n_rows)  # of the resample before
    keep, drawn = problem.groups.keep, given.drawn(number)
    scored = [given.drawn(number ^ 1)] if given.n_scored else []
    check_varies(problem, [drawn, *scored], number)
    own_seed = stream_seed(given.seed, "resample", number)
    steps, step, task = _path(given, drawn, own_seed, n_threads)
    n_sizes = max(given.followed - int(keep.sum()), 0)
    sets, scores = sets_by_size(steps, n_sizes, keep), None
    if scored:
        scores = _scores(task, method, steps, given.n_scored, *scored)
    if given.probes is None:
        return Resample(step.selected, sets, scores)
    model = final_model(method, task, step)
    readings = read_resample(model, given.probes, problem, drawn.rows)
    return Resample(step.selected, sets, scores, readings)


def check_varies(problem: Problem, parts: Sequence[RowWeights], number: int) -> None:
    """Raise a StabilityError unless the response of a resample, and of its other parts, varies."""
    if all(varies(problem, part.rows) for part in parts):
        return
    units = "rows" if parts[0].groups is None else "clusters"
    raise StabilityError(
        f"The response of resample {number + 1} has no event with other rows at risk at its"
        f" time: there are too few {units} with an event to resample."
        if problem.family.has_times
        else f"Resample {number + 1} has a constant response: there are too few {units} with"
        " one of its values to resample."
    )


def sets_by_size(steps: Sequence[Step], n_sizes: int, keep: BoolArray) -> tuple[IntArray, ...]:
    """Units in the set of each size, from one more than are forced in: see ``step_of_size``; beyond
    the end of the path, its last set is used."""
    sizes = range(int(keep.sum()) + 1, int(keep.sum()) + 1 + n_sizes)
    return tuple(np.flatnonzero(step_of_size(steps, size, keep).selected) for size in sizes)


def _path(
    given: _Given, drawn: RowWeights, seed: int, n_threads: int
) -> tuple[tuple[Step, ...], Step, Task]:
    """The path on a resample, the chosen step, and their task."""
    problem, method, _, choice = given.asked
    k = choice.k
    most = max(k, given.followed) if isinstance(k, int) else most_units(problem.groups)
    task = Task(
        problem,
        drawn,
        max_size=most,
        seed=seed,
        every_size=given.followed > 0 or not isinstance(k, int),
        n_threads=n_threads,
        n_judge_trees=None if isinstance(k, int) else _JUDGE_TREES,
    )
    if isinstance(k, str):
        if k == AUTO:
            found = choose_sufficient(task, method, max(given.followed, given.n_scored - 1))
        else:
            own = given.asked._replace(weights=drawn)
            found = choose(own, seed, Workers(1, n_threads), progress=False)
        return found.steps, found.step, task
    steps = steps_of(method, task)
    if k is None or method.tuning_value is not None:
        return steps, steps[-1], task
    return steps, step_of_size(steps, k, problem.groups.keep), task


def _scores(
    task: Task, method: Method, steps: Sequence[Step], n_sizes: int, others: RowWeights
) -> FloatArray:
    """Scores, on other rows, of the sets of 0, 1, 2, ... units of a path and of all units, and the
    size at which it ends; shape (n_sizes + 2,). At most 5,000 rows fit and score the models."""
    problem = task.problem
    fitted = _at_most(problem, task.weights, stream_seed(task.seed, "fitted"))
    others = _at_most(problem, others, stream_seed(task.seed, "scored"))
    if problem.can_be_cut:
        rows = np.flatnonzero(fitted.used | others.used)
        problem, fitted, others = problem.only(rows), fitted.of(rows), others.of(rows)
    task = dataclasses.replace(
        task, problem=problem, weights=fitted, wants_importance=False, n_final_trees=_SCORED_TREES
    )
    found = score_path(task, method, steps, range(n_sizes), others, with_full=True)
    return np.array([*found.scores, found.full, found.longest])


def most_of_half(n_rows: int) -> str:
    """What stands before a half of so many rows if not all of it fits and scores models."""
    return f"at most {_SCORED_ROWS:,} rows of " if n_rows > 2 * _SCORED_ROWS else ""


def _at_most(problem: Problem, weights: RowWeights, seed: int) -> RowWeights:
    """Weights of all rows, or of 5,000 of them."""
    if len(weights.rows) <= _SCORED_ROWS:
        return weights
    return weights.only(part_rows(problem, weights, _SCORED_ROWS / len(weights.rows), seed)[0])
