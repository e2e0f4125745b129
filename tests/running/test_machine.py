"""What the machine does to the work is told, with the way out."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import threading
from concurrent.futures.process import BrokenProcessPool
from pickle import PicklingError

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs import row_sample
from treeselect.designs.scoring import with_scoring
from treeselect.errors import OutOfMemoryError, TreeselectError, TreeselectWarning, WorkerError
from treeselect.running.machine import memory_is_told, sending_is_told
from treeselect.running.parallel import ALONE, run_all


class HoldsALock:
    """A score that no other process can be given."""

    def __init__(self):
        self.lock = threading.Lock()

    def __call__(self, y, prediction):
        return 0.0


class Unreadable:
    """A score that is packed here, and can't be unpacked there."""

    def __call__(self, y, prediction):
        return 0.0

    def __reduce__(self):
        return int, ("not a number",)


def ends_the_process(y, prediction):
    if multiprocessing.current_process().name != "MainProcess":
        os._exit(3)
    return 0.0


def needs_too_much(y, prediction):
    raise MemoryError("Unable to allocate 8.00 TiB")


def fails_at_once(number, n_threads):
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


@pytest.mark.parametrize(
    ("scoring", "error", "says"),
    [
        (
            HoldsALock(),
            PicklingError("Could not pickle the task to send it to the workers."),
            r"<.*HoldsALock.*>, as `scorer`: TypeError: cannot pickle '_thread.lock' object\n",
        ),
        (
            Unreadable(),
            BrokenProcessPool("A task has failed to un-serialize."),
            r"BrokenProcessPool: A task has failed to un-serialize.\n",
        ),
    ],
)
def test_what_no_process_can_be_given_is_told(fitted, scoring, error, says):
    family = with_scoring(fitted.design.response.family, scoring)
    problem = dataclasses.replace(fitted.design.problem, family=family)
    with (
        pytest.raises(WorkerError, match=rf"imported there.\n  Found: {says}.* `n_jobs=1` uses"),
        sending_is_told({0: (problem, 1, "text")}),
    ):
        raise error


def test_memory_that_runs_out_is_told(data):
    with pytest.raises(OutOfMemoryError, match=r"8\.00 TiB\n  Use fewer rows") as caught:
        treeselect.select("y ~ .", data, method="mrmr", folds=2, seed=1, scoring=needs_too_much)
    assert isinstance(caught.value, MemoryError)
    with pytest.raises(OutOfMemoryError, match="fewer parallel processes"):
        run_all(fails_at_once, [(1,)], ALONE, "", False)


def test_memory_that_runs_out_on_the_data_of_a_loaded_fit_is_told(data, monkeypatch):
    fit = treeselect.select("y ~ .", data, method="mrmr", k=1, seed=1)

    def fails(*arguments, **named):
        raise MemoryError

    monkeypatch.setattr(row_sample, "read_weights", fails)
    with pytest.raises(OutOfMemoryError):
        fit.design.with_data(data)


def test_memory_is_told_once():
    @memory_is_told()
    def inner():
        raise MemoryError

    @memory_is_told()
    def outer():
        inner()

    with pytest.raises(OutOfMemoryError) as caught:
        outer()
    assert str(caught.value).count("Found: MemoryError") == 1
    assert issubclass(OutOfMemoryError, TreeselectError)
