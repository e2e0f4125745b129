"""Where calls are made: threads, event loops, forked processes, after Ctrl-C; and on a machine that
has nothing but Python. Answers are the same, and nothing waits for ever."""

import ast
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import treeselect
from treeselect.engine import compiling
from treeselect.engine.object_code import kernel_cache_folder
from treeselect.quiet import own_filters
from treeselect.running import machine

FORMULA = "survived ~ sex + pclass + log(fare + 1)"


def answer():
    data = treeselect.datasets.load("titanic")[::4]
    fit = treeselect.select(FORMULA, data, method="rrf", k=2, n_trees=5, seed=1)
    return fit.selected, fit.model.importance.tolist(), fit.refit("glm").tidy()["estimate"].tolist()


def same(found, truth):
    """Forests to the last bit; linear algebra depends on the environment of its process."""
    return found[:2] == truth[:2] and np.allclose(found[2], truth[2], rtol=1e-9, atol=0)


@pytest.fixture(scope="module")
def truth():
    return answer()


def test_four_threads_at_once(truth):
    # Other libraries' changes of the filters meet in threads: this restores them.
    with warnings.catch_warnings(), ThreadPoolExecutor(4) as pool:
        assert all(same(found, truth) for found in pool.map(lambda _: answer(), range(8)))


def test_warning_filters_are_changed_in_one_thread_at_a_time():
    """Two threads inside at once would restore each other's filters."""
    before, inside, entered = list(warnings.filters), threading.Event(), threading.Event()

    def other():
        inside.wait()
        with own_filters():
            entered.set()
            warnings.simplefilter("always")

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(other)
        with own_filters(), own_filters(record=True) as caught:
            inside.set()
            assert not entered.wait(0.05)
            warnings.simplefilter("always")
            warnings.warn("seen", stacklevel=1)
        waiting.result()
    assert entered.is_set()
    assert [str(warning.message) for warning in caught] == ["seen"]
    assert list(warnings.filters) == before


ALONE = """
import os, signal, socket, sys, threading

def refuse(*_, **__):
    raise AssertionError("a socket")

socket.socket.connect = refuse
sys.path.insert(0, sys.argv[1])
from test_life import FORMULA, answer, same
import treeselect

truth = answer()
if hasattr(os, "fork"):
    child = os.fork()
    if child == 0:
        os._exit(0 if same(answer(), truth) else 3)
    assert os.waitpid(child, 0)[1] == 0
    data = treeselect.datasets.load("titanic")
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        treeselect.select(FORMULA, data, method="rrf", k=2, n_trees=3000, seed=1)
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        pass
    assert same(answer(), truth)
treeselect.load(sys.argv[2])
print(truth)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Python itself needs variables there")
def test_nothing_but_python(truth, tmp_path):
    """No home, no programs, no network; there a process is forked, and a call interrupted."""
    data = treeselect.datasets.load("titanic")[::4]
    model = tmp_path / "fit.treeselect"
    treeselect.select(FORMULA, data, method="rrf", k=2, n_trees=5, seed=1).save(model)
    root = Path(treeselect.__file__).parents[1]
    alone = {
        "HOME": os.devnull + "/home", "PATH": "", "PYTHONPATH": str(root),
        # Compiled already: that no folder can be made is tested with a smaller kernel.
        "TREESELECT_CACHE_DIR": str(kernel_cache_folder().parent),
    }  # fmt: skip
    # Newer Pythons warn of every fork of a process that has threads.
    quiet = ["-W", "ignore:This process:DeprecationWarning"]
    command = [sys.executable, *quiet, "-c", ALONE, str(Path(__file__).parent), str(model)]
    done = subprocess.run(command, env=alone, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert same(ast.literal_eval(done.stdout), truth)
    assert done.stderr == ""


@pytest.mark.parametrize("place", ["/home", ""])
def test_compilation_without_a_home_is_announced_once(place, monkeypatch, capsys):
    for name in ("TREESELECT_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def home():
        if place:
            return Path(os.devnull + place)
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    kernel_cache_folder.cache_clear()
    machine._announce.cache_clear()
    try:
        for _ in range(2):
            machine.announce_compilation(None)
            compiling.on_compilation()
        machine.announce_compilation(False)
        assert compiling.on_compilation is None
    finally:
        kernel_cache_folder.cache_clear()
        machine._announce.cache_clear()
    (line,) = capsys.readouterr().err.splitlines()
    assert "They can't be stored: set TREESELECT_CACHE_DIR" in line
