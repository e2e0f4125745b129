"""Kernels come with the package, are compiled once for each kind of arguments, and kept."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCPUCodegen
from threadpoolctl import threadpool_info, threadpool_limits

from treeselect.engine import compiling, jit, object_code, threads
from treeselect.engine.compiling import kernel
from treeselect.engine.random import random_below
from treeselect.engine.threads import one_thread

SOME = """
import json, sys
from treeselect.cli.warm import compile_kernels
from treeselect.engine import compiling, object_code

pack = object_code._pack()
names = sorted(pack.namelist()) if pack else []
without = {*names[int(object_code.sources(), 16) % 9 :: 9]}
packaged = object_code.packaged
object_code.packaged = lambda name: None if name in without else packaged(name)
compile_kernels()
found = [code.origin for own in compiling.KERNELS for codes in own.compiled.values()
         for code in codes]
print(json.dumps([found, [*without], "numba" in sys.modules]))
"""
"""Where kernels are from if a ninth of those that come with the package is not there, another one
for each version of the sources; which these are, and whether numba was loaded."""


def run(program, folder, **more):
    """What a program prints in a process that keeps kernels in a folder."""
    environment = {**os.environ, **more, "TREESELECT_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernels_are_compiled_once_and_then_loaded(tmp_path):
    """Loaded without numba, and from where nothing can be written, too."""
    other = {"NUMBA_CPU_NAME": "skylake-avx512", "NUMBA_CPU_FEATURES": "+avx512f"}
    cold, without, _ = json.loads(run(SOME, tmp_path, **other))  # the same on all processors
    files = {path.name: path for path in tmp_path.rglob("*-*") if path.is_file()}
    assert "cache" not in cold
    assert len(files) == cold.count("compiled") > 2
    if without:
        assert set(without) == set(files)
        pack = zipfile.ZipFile(object_code.pack_file())
        own = " ".join(f"{name} {version(name)}" for name in ("numba", "llvmlite"))
        is_same = pack.comment.decode().endswith(own)
        if is_same and sys.version_info[:2] == (3, 11):  # others make some other code of the same
            for name, path in files.items():
                assert pack.read(name) == path.read_bytes(), f"{name}: run `make kernels`"
    for path in [*tmp_path.rglob("*"), tmp_path]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        warm, _, has_numba = json.loads(run(SOME, tmp_path))
    finally:
        for path in [tmp_path, *tmp_path.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert warm == ["cache" if origin == "compiled" else origin for origin in cold]
    assert not has_numba


def test_what_comes_with_the_package_is_of_these_sources():
    folder = object_code.pack_file().parent
    for path in folder.glob("*.zip"):
        with zipfile.ZipFile(path) as pack:
            assert pack.comment.decode().startswith(object_code.sources()), "run `make kernels`"


def twice(array):
    array[0] *= 2


def forget():
    object_code.sources.cache_clear()
    object_code.kernel_cache_folder.cache_clear()


@pytest.fixture
def fresh():
    forget()
    yield
    forget()


@pytest.fixture
def origin(fresh, monkeypatch, tmp_path):
    """Runs a new kernel of `twice`; where it is from."""
    monkeypatch.setenv("TREESELECT_CACHE_DIR", str(tmp_path))

    def run():
        own, array = kernel(twice), np.array([21])
        own(array)
        assert array[0] == 42
        (((code),),) = own.compiled.values()
        return code.origin

    return run


def test_the_folder_follows_the_sources_and_can_be_chosen(fresh, monkeypatch, tmp_path):
    before = object_code.kernel_cache_folder().name
    copy = tmp_path / "engine"
    shutil.copytree(object_code._ENGINE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(object_code, "_ENGINE", copy)
    for edit, same in (("", True), ("# edited\n", False)):
        with (copy / "tree" / "target.py").open("a", encoding="utf-8") as source:
            source.write(edit)
        forget()
        assert (object_code.kernel_cache_folder().name == before) == same
    monkeypatch.setenv("TREESELECT_CACHE_DIR", str(tmp_path / "mine"))
    forget()
    assert object_code.kernel_cache_folder().parent == tmp_path / "mine"


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:1],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-1],
        lambda whole: bytes(len(whole)),
        lambda whole: whole[:40] + bytes([whole[40] ^ 0xFF]) + whole[41:],
    ],
    ids=["empty", "byte", "half", "but a byte", "zeros", "changed"],
)
def test_damaged_files_are_written_again(origin, tmp_path, damage):
    assert (origin(), origin()) == ("compiled", "cache")
    (file,) = tmp_path.rglob("*twice*")
    file.write_bytes(damage(file.read_bytes()))
    assert (origin(), origin()) == ("compiled", "cache")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners of files")
def test_code_that_others_could_have_written_is_not_run(origin, tmp_path):
    assert (origin(), origin()) == ("compiled", "cache")
    (folder,) = tmp_path.iterdir()
    folder.chmod(0o777)
    assert (origin(), origin()) == ("compiled", "compiled")
    assert not object_code.kernels_can_be_kept()


def test_nowhere_to_write_is_no_obstacle(origin, monkeypatch, tmp_path):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("pathlib.Path.write_bytes", full)
        assert (origin(), origin()) == ("compiled", "compiled")
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TREESELECT_CACHE_DIR", str(tmp_path / "file"))
    object_code.kernel_cache_folder.cache_clear()
    assert (origin(), origin()) == ("compiled", "compiled")


class Pair(NamedTuple):
    array: object
    number: object


class Found(NamedTuple):
    total: float
    inside: tuple[int, bool]


def total(pair, scale, nothing):
    own = 0.0
    for i in range(pair.array.shape[0]):
        own += pair.array[i]
    return Found(own * scale, (pair.array.shape[0], pair.number > 2))


@pytest.fixture(scope="module")
def summed(tmp_path_factory):
    own, folder = kernel(total), tmp_path_factory.mktemp("kernels")
    with pytest.MonkeyPatch.context() as place:
        place.setenv("TREESELECT_CACHE_DIR", str(folder))
        object_code.kernel_cache_folder.cache_clear()
        yield own
    object_code.kernel_cache_folder.cache_clear()


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5), np.arange(5.0), np.arange(10.0)[::2], np.arange(5, dtype=np.uint8),
        np.arange(5, dtype=np.longlong), np.arange(5, dtype=np.float32), read_only(np.arange(5.0)),
        np.arange(5) > 2, np.zeros(0),
    ],
    ids=str,
)  # fmt: skip
def test_code_is_for_the_kind_of_the_arrays(summed, array):
    for number in (3, np.int64(1), 2.5, np.float32(0.5), True, np.bool_(False)):
        found = summed(Pair(array, number), 2.0, None)
        assert found == Found(2.0 * array.sum(), (len(array), number > 2))
        assert type(found) is Found
        assert type(found.inside[1]) is bool


def test_large_words_and_arrays_of_a_file(summed, tmp_path):
    assert summed(Pair(np.zeros(2), np.uint64(2**64 - 1)), 1.0, None).inside == (2, True)
    assert summed(Pair(np.zeros(2), -(2**63)), 1.0, None).inside == (2, False)
    np.arange(4.0).tofile(tmp_path / "numbers")
    array = np.memmap(tmp_path / "numbers", dtype=float)
    assert summed(Pair(array, 1), 1.0, None).total == 6


@pytest.mark.parametrize("wrong", ["text", [1.0], {}])
def test_other_arguments_are_refused(summed, wrong):
    with pytest.raises(TypeError, match=f"takes no {type(wrong).__name__}"):
        summed(Pair(np.zeros(2), wrong), 1.0, None)


def test_a_kernel_for_kernels_cannot_be_called_by_python():
    with pytest.raises(TypeError, match="can be called by kernels only"):
        random_below(np.array([3], dtype=np.uint64), 10)


def add_one(number):
    return number + 1


def outside(array):
    array[0] = inside(array[0])


inside = compiling.inner(add_one)


def test_numba_is_one_that_we_know(fresh, monkeypatch, tmp_path):
    """Most of what a new numba might change would not fail: kernels would compile for minutes."""
    monkeypatch.setenv("TREESELECT_CACHE_DIR", str(tmp_path))
    seen = set()
    patched = [
        (jit._Library, JITCPUCodegen._library_class, "_optimize_final_module"),
        (jit._Library, JITCPUCodegen._library_class, "_finalize_final_module"),
        (jit._NoEnvironment, JITCPUCodegen, "set_env"),
    ]
    for own, numbas, name in patched:
        assert hasattr(numbas, name), f"`{own.__name__}.{name}` overrides nothing"

        method, known = getattr(own, name), (own, name)
        monkeypatch.setattr(own, name, lambda *a, m=method, k=known: seen.add(k) or m(*a))
    array = np.array([41])
    kernel(outside)(array)
    assert array[0] == 42
    assert seen == {(own, name) for own, _, name in patched}, (
        f"numba {numba.__version__} has changed what `engine/jit.py` patches: mend the patch, or"
        " hold numba below this version in `pyproject.toml`"
    )


def blas_threads():
    return [own["num_threads"] for own in threadpool_info() if own["user_api"] == "blas"]


def test_the_last_to_leave_lifts_the_limit_of_all_libraries(monkeypatch):
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_thread():
            with one_thread():
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert blas_threads() == before
    looked = []
    made = threads.ThreadpoolController
    monkeypatch.setattr(threads, "ThreadpoolController", lambda: looked.append(1) or made())
    threads._linear_algebra.cache_clear()
    for name in ("first", "first", "second"):
        monkeypatch.setitem(sys.modules, f"treeselect_{name}", threads)
        with one_thread():
            assert set(blas_threads()) == {1}
    assert len(looked) == 2
