"""Where the compiled kernels are kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCPUCodegen

from treeselect.engine import compiling

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


def run(folder):
    environment = {**os.environ, "TREESELECT_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_second_process_loads_what_the_first_compiled(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    assert first[0] == "False"
    assert first[2] == "0"
    assert second[0] == "True"
    assert second[2] == "1"
    assert first[1] == second[1]


def test_a_folder_that_cannot_be_made_is_no_obstacle(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run(tmp_path / "file")
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

    def run():
        kernel = compiling.kernel(twice)
        array = np.array([21])
        kernel(array)
        assert array[0] == 42
        return sum(kernel.stats.cache_hits.values())

    return run


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
