"""Kernels are compiled once each, for one signature, and kept; threads of linear algebra."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCPUCodegen
from numba.core.dispatcher import Dispatcher
from threadpoolctl import threadpool_info, threadpool_limits

import treeselect.engine
from treeselect.engine import compiling
from treeselect.engine.compiling import kernel_cache_folder
from treeselect.engine.threads import one_thread

EVERYTHING = """
import json
import numpy as np
import treeselect
from test_compiling import dispatchers
from tree_data import grow_forest
from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.forest.bagging import BOOTSTRAP, Sampling, first_gains
from treeselect.engine.forest.boosting import Boosting, boost
from treeselect.engine.forest.importance import out_of_bag_gains, permutation_importance
from treeselect.engine.forest.leaf_values import hazard_trees, in_order_of
from treeselect.engine.forest.out_of_bag import out_of_bag, out_of_bag_at_size
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.linear.group_lasso import minimise_model
from treeselect.engine.losses import LogisticLoss, SquaredLoss
from treeselect.engine.survival.cox import CoxLoss, CoxRows
from treeselect.engine.survival.curves import uno_concordance
from treeselect.engine.survival.times import as_times
from treeselect.engine.tree import target as targets
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, BREADTH_FIRST, Growth

rng = np.random.default_rng(0)
x = rng.normal(size=(4, 2000))
factor = rng.integers(0, 5, size=2000).astype(np.uint8)
data, exact = (
    bin_columns([*x[1:], factor], [*(bin_edges(c, n) for c in x[1:]), None], [0, 0, 0, 4],
                np.arange(4))
    for n in (254, None)
)
y, weight = x[0], np.ones(2000, dtype=np.int64)
minimise_model(np.eye(2), np.ones(2), np.zeros(2), np.arange(3), np.ones(2), 1e-9)
mean, grow = targets.mean_target(y), Growth(5, 1, 2, 0.0)
for target in (mean, targets.class_target(y > 0, 2), targets.weighted_mean_target(y, abs(x[1])),
               targets.vector_target(x.T[:, :2])):
    for order in (0, BREADTH_FIRST, BEST_FIRST):
        for n_candidates in (2, 9):
            growth = Growth(5, 1, n_candidates, 0.0, n_candidates == 2, order, 8)
            penalty = SplitPenalty(np.full(4, 0.5), np.zeros(4))
            forest = grow_forest(data, target, weight, growth, 2, BOOTSTRAP, shared=True,
                                 penalty=penalty)
            for measure in (out_of_bag, permutation_importance, out_of_bag_gains):
                measure(forest)
grow_forest(data, mean, weight, grow, 2, Sampling(False, 0.5), n_threads=2)
first_gains(data, mean, weight, grow)
predict_mean(grow_forest(exact, mean, weight, grow, 2, BOOTSTRAP).trees, exact)


def boosted(loss, response, n_threads=1):
    growth = Growth(5, 1, 9, 0.0, False, BEST_FIRST, 8)
    boost(data, loss, response, weight, 0.0, Boosting(2, 0.1, growth), seed=1, rank=np.arange(4),
          n_threads=n_threads)


for loss, response in ((SquaredLoss(), y), (LogisticLoss(), (y > 0) * 1.0)):
    for n_threads in (1, 2):
        boosted(loss, response, n_threads)
for start in (None, abs(x[1])):
    times = as_times(abs(x[1]) + abs(x[2]), y > 0, start)
    rows = CoxRows(times, weight)
    rows.value(x[3])
    rows.derivatives(x[3])
    rows.score_residuals(x[3], x.T)
    uno_concordance(times, x[3], weight)
    boosted(CoxLoss(), times)
grown = grow_forest(data, mean, weight, grow, 2, BOOTSTRAP)
in_order_of(grown.trees, np.ones(4, dtype=np.int8))
out_of_bag_at_size(grown, 9, np.zeros(1))
hazard_trees(grown, weight, abs(y), abs(x[1]))
frame = treeselect.datasets.load("titanic_correlated")
for formula in ("survived ~ .", "age ~ . - survived"):
    fit = treeselect.select(formula, frame, method="controlburn", k=2, seed=1, forests=1,
                            n_trees=8)
    fit.predict(frame)
treeselect.select("pclass ~ age + sex", frame, method="controlburn", family="multinomial", k=1,
                  seed=1, forests=1, n_trees=8)
treeselect.select("survived ~ sex + femur", frame, method="controlburn", k=1, seed=1, forests=1,
                  n_trees=8, offset="age")
number = treeselect.select("age ~ femur + sex", frame, method="rrf", k=1, seed=1, n_trees=8,
                           monotone={"femur": 1})
number.predict(frame, type="quantile")
print(json.dumps({name: (len(d.overloads), sum(d.stats.cache_hits.values()))
                  for name, d in dispatchers().items()}))
"""


def dispatchers() -> dict[str, Dispatcher]:
    """All kernels of the engine."""
    found = {}
    for module in pkgutil.walk_packages(treeselect.engine.__path__, "treeselect.engine."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Dispatcher):
                found[f"{value.py_func.__module__}.{value.py_func.__name__}"] = value
    assert len(found) > 50
    return found


def compiled(folder: Path) -> dict[str, tuple[int, int]]:
    """How often each kernel was compiled or loaded by a program that uses them all, and how often
    loaded."""
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "TREESELECT_CACHE_DIR": str(folder), "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", EVERYTHING],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts: dict[str, tuple[int, int]] = json.loads(done.stdout)
    return counts


def leave_to_other_tests(folder: Path) -> None:
    """Put compiled kernels where this process and others look for them, unless they are there: code
    before the index that names it."""
    target = kernel_cache_folder()
    with contextlib.suppress(OSError):  # nowhere to write: the others compile for themselves
        target.mkdir(parents=True, exist_ok=True)
        for ending in ("nbc", "nbi"):
            for path in sorted(folder.rglob(f"*.{ending}")):
                if not (target / path.name).exists():
                    own = target / f"{path.name}.{os.getpid()}"
                    shutil.copyfile(path, own)
                    own.replace(target / path.name)


def test_every_kernel_is_compiled_once_and_then_loaded(tmp_path):
    """Loaded from where nothing can be written, too."""
    cold = compiled(tmp_path)
    assert {name: n for name, (n, _) in cold.items() if n != 1} == {}
    assert not any(loaded for _, loaded in cold.values())
    files = sorted(path.name for path in tmp_path.rglob("*.nbc"))
    assert files
    leave_to_other_tests(tmp_path)
    for path in [*tmp_path.rglob("*"), tmp_path]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        warm = compiled(tmp_path)
    finally:
        for path in [tmp_path, *tmp_path.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    # What only kernels call is part of them: a warm process never sees it.
    assert sum(n for n, _ in warm.values()) == len(files)
    assert sum(loaded for _, loaded in warm.values()) == len(files)
    assert sorted(path.name for path in tmp_path.rglob("*.nbc")) == files


PROGRAM = """
import numpy as np
from treeselect.engine.forest.walk import pack_nodes
from treeselect.engine.tree.nodes import empty_nodes
from treeselect.engine.compiling import kernels_are_compiled
before = kernels_are_compiled()
packed = np.zeros(1, dtype=np.uint64)
start = np.array([0, 1])
pack_nodes(empty_nodes(1), start, np.zeros(1, dtype=np.bool_), packed)
print(before, packed[0], sum(pack_nodes.stats.cache_hits.values()))
"""


@pytest.fixture
def fresh():
    compiling.kernel_cache_folder.cache_clear()
    yield
    compiling.kernel_cache_folder.cache_clear()


def test_folder_follows_the_sources(fresh, monkeypatch, tmp_path):
    before = compiling.kernel_cache_folder().name
    copy = tmp_path / "engine"
    shutil.copytree(compiling._ENGINE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(compiling, "_ENGINE", copy)
    compiling.kernel_cache_folder.cache_clear()
    assert compiling.kernel_cache_folder().name == before
    with (copy / "tree" / "target.py").open("a", encoding="utf-8") as source:
        source.write("# edited\n")
    compiling.kernel_cache_folder.cache_clear()
    assert compiling.kernel_cache_folder().name != before


def test_folder_can_be_chosen(fresh, monkeypatch, tmp_path):
    monkeypatch.setenv("TREESELECT_CACHE_DIR", str(tmp_path / "mine"))
    assert compiling.kernel_cache_folder().parent == tmp_path / "mine"
    assert not compiling.kernels_are_compiled()


def run_program(folder):
    environment = {**os.environ, "TREESELECT_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_second_process_loads_what_the_first_compiled(tmp_path):
    first, second = run_program(tmp_path), run_program(tmp_path)
    assert first[0] == "False"
    assert first[2] == "0"
    assert second[0] == "True"
    assert second[2] == "1"
    assert first[1] == second[1]


def test_a_folder_that_cannot_be_made_is_no_obstacle(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run_program(tmp_path / "file")
    assert result[0] == "False"
    assert int(result[1]) > 0


def test_a_kernel_for_kernels_cannot_be_called_by_python():
    """Numba would jump to nowhere."""
    from treeselect.engine.random import random_below

    for _ in range(2):
        with pytest.raises(TypeError, match="can be called by kernels only"):
            random_below(np.array([3], dtype=np.uint64), 10)


def twice(array):
    array[0] *= 2


@pytest.fixture
def hits(fresh, monkeypatch, tmp_path):
    """Runs a new kernel of `twice`; how often it was found in the cache."""
    monkeypatch.setenv("TREESELECT_CACHE_DIR", str(tmp_path))

    def run_program():
        kernel = compiling.kernel(twice)
        array = np.array([21])
        kernel(array)
        assert array[0] == 42
        return sum(kernel.stats.cache_hits.values())

    return run_program


def stored(folder, ending):
    (file,) = folder.rglob(f"*.{ending}")
    return file


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:1],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-1],
        lambda whole: bytes(len(whole)),
        lambda whole: b"garbage",
        lambda whole: whole[:40] + bytes([whole[40] ^ 0xFF]) + whole[41:],
        lambda whole: b"\x80\x04N.",
    ],
    ids=["empty", "byte", "half", "but a byte", "zeros", "garbage", "changed", "other"],
)
def test_damaged_files_are_written_again(hits, tmp_path, ending, damage):
    assert (hits(), hits()) == (0, 1)
    file = stored(tmp_path, ending)
    file.write_bytes(damage(file.read_bytes()))
    assert (hits(), hits()) == (0, 1)


def test_a_full_disk_is_no_obstacle(hits, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiling.IndexDataCacheFile, "_open_for_write", full)
    assert (hits(), hits()) == (0, 0)


def add_one(number):
    return number + 1


def strange_to_numba():
    """What the cache's classes override and numba no longer has: it would never be called."""
    pairs = [
        (own, own.__mro__[1])
        for own in vars(compiling).values()
        if isinstance(own, type) and own.__mro__[1].__module__.startswith("numba.")
    ]
    assert len(pairs) >= 8
    for own, numbas in [*pairs, (compiling._NoEnvironment, JITCPUCodegen)]:
        for name in vars(own):
            if (
                own.__module__ == compiling.__name__
                and name[:2] != "__"
                and not hasattr(numbas, name)
            ):
                yield f"`{own.__name__}.{name}` overrides nothing"


def broken_steps(monkeypatch):
    """What goes wrong when a kernel that calls another one is compiled, run, and loaded again."""
    seen = set()

    def watch(own, name):
        method = getattr(own, name)

        def watched(*arguments):
            seen.add((own, name))
            return method(*arguments)

        monkeypatch.setattr(own, name, watched)

    steps = [
        *((compiling._InnerLibrary, f"_{step}_final_module") for step in ("optimize", "finalize")),
        (compiling._KernelLibrary, "_optimize_final_module"),
        (compiling._NoEnvironment, "set_env"),
        *(
            (compiling._CheckedFiles, f"_{step}")
            for step in ("load_index", "save_data", "load_data")
        ),
    ]
    for own, name in steps:
        watch(own, name)
    inside = compiling.inner(add_one)

    def outside(array):
        array[0] = inside(array[0])

    for time in range(2):
        array = np.array([41])
        try:
            kernel = compiling.kernel(outside)
            kernel(array)
        except Exception as error:  # numba's parts may fail in any way
            yield f"compiling or loading a kernel raises {error!r}"
            return
        if array[0] != 42:
            yield f"a kernel gives {array[0]} for 42"
        if sum(kernel.stats.cache_hits.values()) != time:
            yield "a kernel is not compiled once and then loaded"
    yield from (
        f"numba never calls `{own.__name__}.{name}`"
        for own, name in steps
        if (own, name) not in seen
    )


def test_numba_is_one_that_the_cache_knows(fresh, monkeypatch, tmp_path):
    """Most of what a new numba might change would not fail: kernels would compile for minutes."""
    monkeypatch.setenv("TREESELECT_CACHE_DIR", str(tmp_path))
    broken = [*strange_to_numba(), *broken_steps(monkeypatch)]
    if broken:
        pytest.fail(
            f"numba {numba.__version__} has changed what `engine/compiling.py` patches.\n  "
            + "\n  ".join(broken)
            + "\n  Mend the patch, or hold numba below this version in `pyproject.toml`.",
            pytrace=False,
        )


def blas_threads():
    return [own["num_threads"] for own in threadpool_info() if own["user_api"] == "blas"]


def test_the_last_to_leave_lifts_the_limit():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_thread():
            with one_thread():
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
