"""What the machine does to the work is told, with the way out."""

import gc
import io
import itertools
import multiprocessing
import os
import threading

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs import row_sample
from treeselect.engine.threads import no_collection
from treeselect.errors import OutOfMemoryError, TreeselectError, TreeselectWarning, WorkerError
from treeselect.running import machine
from treeselect.running.machine import memory_errors, track, warn
from treeselect.running.parallel import ALONE, run_all


class HoldsALock:
    """A score that no other process can be given."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, y, prediction):
        return 0.0


def ends_the_process(y, prediction):
    if multiprocessing.current_process().name != "MainProcess":
        os._exit(3)
    return 0.0


def needs_too_much(y, prediction):
    raise MemoryError("Unable to allocate 8.00 TiB")


def fails_at_once(*_, **named):
    raise MemoryError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    return frame.assign(y=frame["a"] + rng.normal(size=40))


def test_work_of_processes_that_die_is_done_here_at_last(data):
    asked = {"method": "mrmr", "folds": 2, "seed": 1, "scoring": ends_the_process}
    with pytest.warns(TreeselectWarning, match=r"died before it finished.\n  Found: Termin"):
        fit = treeselect.select("y ~ .", data, n_jobs=2, **asked)
    assert fit.path.equals(treeselect.select("y ~ .", data, n_jobs=1, **asked).path)


def test_what_no_process_can_be_given_is_told(data):
    asked = {"method": "mrmr", "folds": 2, "seed": 1, "scoring": HoldsALock()}
    said = r"imported there.\n  Found: PicklingError: .*\n.* `n_jobs=1` uses"
    with pytest.raises(WorkerError, match=said):
        treeselect.select("y ~ .", data, n_jobs=2, **asked)


def test_memory_that_runs_out_is_told_once_and_of_a_loaded_fit_too(data, monkeypatch):
    with pytest.raises(OutOfMemoryError, match=r"8\.00 TiB\n  Use fewer rows") as caught:
        treeselect.select("y ~ .", data, method="mrmr", folds=2, seed=1, scoring=needs_too_much)
    assert isinstance(caught.value, MemoryError)
    with pytest.raises(OutOfMemoryError, match="fewer parallel processes"):
        run_all(fails_at_once, [(1,)], ALONE, "", False)
    fails = memory_errors()(fails_at_once)
    with pytest.raises(OutOfMemoryError) as caught:
        memory_errors()(fails)(1, n_threads=1)
    assert str(caught.value).count("Found: MemoryError") == 1
    assert issubclass(OutOfMemoryError, TreeselectError)
    fit = treeselect.select("y ~ .", data, method="mrmr", k=1, seed=1)

    monkeypatch.setattr(row_sample, "read_weights", fails_at_once)
    with pytest.raises(OutOfMemoryError):
        fit.data.design.with_data(data)


# --- garbage collection while records are made ---------------------------------------------------


def test_collection_is_off_inside_unless_the_user_has_it_off():
    assert gc.isenabled()
    with no_collection(), no_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"), no_collection():
        raise ValueError("inside")
    assert gc.isenabled()
    gc.disable()
    try:
        with no_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


# --- what is said on standard error while a long call runs, and where a warning points -----------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def told(monkeypatch, stream, *, seconds=0.0, done=0, said=True):
    """What is written for five pieces, `done` of which were there before."""
    clock = itertools.count(0.0, seconds)
    monkeypatch.setattr(machine.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr("sys.stderr", stream)
    pieces = track(range(done, 5), "Pieces", 5, said, done)
    assert list(pieces) == list(range(done, 5))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "done", "lines"),
    [
        (90.0, 0, ["1 of 5, about 6 min left", "2 of 5, about 4 min left",
                   "3 of 5, about 3 min left", "4 of 5, about 90 s left", "5 of 5"]),
        (7200.0, 3, ["4 of 5, about 2.0 h left", "5 of 5"]),  # nothing of those that were there
        (1.0, 0, ["5 of 5"]),
    ],
)  # fmt: skip
def test_lines_where_there_is_no_terminal(monkeypatch, seconds, done, lines):
    found = told(monkeypatch, io.StringIO(), seconds=seconds, done=done).splitlines()
    assert found == [f"Pieces: {line}" for line in lines]


def test_one_line_in_a_terminal_and_nothing_where_nobody_looks(monkeypatch):
    monkeypatch.setenv("COLUMNS", "15")
    found = told(monkeypatch, Terminal(), said=None).split("\r")
    assert [line.strip() for line in found] == [*(f"Pieces: {n} of 5" for n in range(6)), "", ""]
    assert set(map(len, found[:-1])) == {14}
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    with pytest.raises(ZeroDivisionError):
        list(track((1 // n for n in (1, 0)), "Pieces", 2, None))
    assert stream.getvalue().endswith("\r" + " " * 14 + "\r")
    assert told(monkeypatch, Terminal(), said=False) == ""
    assert told(monkeypatch, io.StringIO(), said=None) == ""


def test_a_full_disk_is_no_reason_to_stop(monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    assert told(monkeypatch, Full(), seconds=90.0) == ""
    monkeypatch.setattr("sys.stderr", None)
    assert list(track(range(3), "Pieces", 3, True)) == [0, 1, 2]


def test_a_warning_points_at_the_line_that_called():
    with pytest.warns(TreeselectWarning, match="known") as caught:
        warn("This should be known.")
    assert caught[0].filename == __file__
