"""Arrays have one form wherever a piece of work is done, so that kernels are compiled once."""

import dataclasses
import functools
import gc
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config

import treeselect
from treeselect.errors import TreeselectError, TreeselectWarning
from treeselect.resampling.cross_validation import follow_fold
from treeselect.running import parallel

LARGE = 200_000
"""Numbers that joblib shares with its workers in place of sending them: more than a megabyte."""


def read_only(value):
    """A copy whose arrays can't be written to."""
    if isinstance(value, np.ndarray):
        twin = value.copy()
        twin.flags.writeable = False
        return twin
    if isinstance(value, tuple | list):
        return getattr(type(value), "_make", type(value))([read_only(item) for item in value])
    if dataclasses.is_dataclass(value):
        new = {f.name: read_only(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **new)
    return value


def arrays_of(value):
    if isinstance(value, np.ndarray):
        return [value]
    if dataclasses.is_dataclass(value):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    items = value if isinstance(value, tuple | list) else []
    return [array for item in items for array in arrays_of(item)]


def test_arrays_that_cant_be_written_to_are_copied_and_sent_once(fitted):
    problem = fitted.data.design.problem
    given = (problem, [np.arange(3)], "text", None, {"a": 1})
    assert parallel.writeable(given) is given
    frozen = read_only(given[:2])
    assert not any(array.flags.writeable for array in arrays_of(frozen))
    found = parallel.writeable(frozen)
    assert isinstance(found[0], type(problem))
    assert isinstance(found[0].data, type(problem.data))
    assert len(arrays_of(found)) == len(arrays_of(given)) > 8
    for ours, theirs in zip(arrays_of(found), arrays_of(given), strict=True):
        assert ours.flags.writeable
        np.testing.assert_array_equal(ours, theirs)
    problem, split = fitted.data.design.problem, np.arange(5)
    calls = [(problem, split, 1, "text", None), (problem, np.arange(6), 1, "text", None)]
    first, second = parallel.with_shared(calls)
    assert first[0] is second[0]
    assert first[0].value is problem
    assert first[1:] == calls[0][1:]
    assert first[0].__sizeof__() > parallel.n_bytes(problem) >= problem.data.blocks.nbytes
    shared = parallel.Shared(read_only(problem))
    own = shared.own()
    assert all(array.flags.writeable for array in arrays_of(own))
    assert shared.own() is own


def written_to(values, n_threads):
    """Whether a worker can write to an array that it shares with others."""
    values[0] += 1.0
    return bool(values.flags.writeable), float(values[0])


def test_what_workers_share_is_nobody_elses_and_pieces_share_threads():
    values = np.zeros(LARGE)
    found = parallel.run_all(written_to, [(values,)] * 3, parallel.Workers(2, 2), "", False)
    assert [flag for flag, _ in found] == [True] * 3
    assert values[0] == 0.0
    inner = parallel.Workers(1, 6)
    assert inner.share() == 6
    with parallel_config(backend="threading", n_jobs=3):
        assert parallel.Workers(None, 8).share() == 2
        assert inner.share() == 6


def threads_of(number, n_threads):
    """How many threads a piece of work has."""
    return number, n_threads


@pytest.mark.parametrize(
    ("n_jobs", "threads"), [(None, 8), (1, 1), (2, 1), (-1, 1), (-7, 1)], ids=str
)
def test_threads_are_shared_out_among_processes(monkeypatch, n_jobs, threads):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "8")
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    workers = parallel.workers_for(n_jobs)
    assert workers.n_threads == {None: 8, 1: 1, 2: 2, -1: 8, -7: 2}[n_jobs]
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n: {None: 1, -1: 8, -7: 2}.get(n, n))
    assert workers.share() == threads
    if n_jobs is None:
        calls = [(number,) for number in range(3)]
        found = parallel.run_all(threads_of, calls, workers, "", False)
        assert found == [(i, 8) for i in range(3)]


def test_folds_in_this_process_use_all_threads(mixed, monkeypatch):
    seen = []

    def watched(*call, n_threads):
        seen.append(n_threads)
        return follow_fold(*call, n_threads=n_threads)

    monkeypatch.setattr("treeselect.resampling.cross_validation.follow_fold", watched)
    monkeypatch.setattr("joblib.cpu_count", lambda: 3)
    fit = treeselect.select("died ~ .", mixed, method="importance", n_trees=3, folds=2, seed=1)
    assert seen == [3, 3]
    assert fit.k >= 1


def dies(number, caller, folder, n_threads):
    """A piece that ends its process the first time."""
    flag = Path(folder) / str(number)
    if number == 2 and os.getpid() != caller and not flag.exists():
        flag.touch()
        os._exit(1)
    return number**2


def test_a_process_that_dies_costs_its_piece_only(tmp_path):
    calls = {number: (number, os.getpid(), str(tmp_path)) for number in range(5)}
    with pytest.warns(TreeselectWarning, match="died before it finished") as caught:
        found = list(parallel.run_each(dies, calls, parallel.Workers(2, 2)))
    assert len(caught) == 1
    assert sorted(found) == [(number, number**2) for number in calls]  # each once


# --- a process that selects again and again keeps nothing of what it did -------------------------


METHODS = {
    "controlburn": {"forests": 1, "n_trees": 3},
    "rrf": {"n_trees": 3},
    "gbfs": {"n_trees": 3},
    "mrmr": {},
    "lasso": {},
}
FORMULAS = [
    "{y} ~ {x} + {z} + {g}", "{y} ~ poly({x}, 2) + {z}:{g}", "{y} ~ nowhere", "{y} ~ {x} +* 2",
]  # fmt: skip


def select(number):
    """One call on data, names and a formula that no call had before."""
    rng = np.random.default_rng(number)
    names = {name: f"{name}{number}" for name in "yxzg"}
    frame = pd.DataFrame(
        {
            names["y"]: rng.normal(size=30), names["x"]: rng.normal(size=30),
            names["z"]: rng.normal(size=30), names["g"]: rng.choice(["a", "b"], size=30),
        }
    )  # fmt: skip
    method = list(METHODS)[number % len(METHODS)]
    formula = FORMULAS[number % len(FORMULAS)].format(**names)
    try:
        fit = treeselect.select(formula, frame, method=method, k=1, seed=1, **METHODS[method])
    except TreeselectError:
        assert "nowhere" in formula or "*" in formula
    else:
        fit.predict(frame)
        str(fit.summary())


def n_objects():
    gc.collect()
    return len(gc.get_objects())


def n_cached():
    """Entries of caches without a bound."""
    # By type: isinstance() asks what a weak reference stands for, which may be gone.
    caches = [o for o in gc.get_objects() if type(o) is functools._lru_cache_wrapper]
    return sum(c.cache_info().currsize for c in caches if c.cache_info().maxsize is None)


@pytest.mark.filterwarnings("ignore::treeselect.errors.TreeselectWarning")
def test_calls_leave_no_objects_behind():
    rounds = len(METHODS) * len(FORMULAS)
    for number in range(rounds):  # what is imported, compiled and known after the first calls
        select(number)
    objects, cached = n_objects(), n_cached()
    for number in range(rounds, 2 * rounds):
        select(number)
    assert n_objects() - objects < rounds // 2  # less than one for every other call
    assert n_cached() == cached
