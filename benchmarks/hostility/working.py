"""Cases in processes of their own, which may crash, hang or take all memory; the rest goes on."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Generator, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from hostility.judging import FAILED, Outcome

SECONDS = 20.0
"""Longest that a call may take."""

_PATIENCE = 60.0
"""After so many seconds a process is stopped."""

_WARMING = 600.0

_MEMORY = 1_000.0
"""Most megabytes that a case may take beyond what was there before: a file may have 160."""

_ROOM = 3_000_000_000
"""Bytes of address space beyond which a process gets a MemoryError."""

_CASES = 2_000
"""After so many a process is replaced."""


def judged(family: str, plan: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run a plan here: its outcome, seconds and megabytes."""
    from hostility.families import FAMILIES
    from hostility.judging import forget_peak, peak_memory
    from hostility.watching import fenced

    forget_peak()
    before, start, used = peak_memory(), time.perf_counter(), time.process_time()
    with fenced():
        outcome = FAMILIES[family].run(plan, folder)
    seconds, grown = time.perf_counter() - start, peak_memory() - before
    # On a busy machine only our own time counts; a fault has its own limit.
    own = min(seconds, time.process_time() - used)
    if outcome.kind != FAILED and own > SECONDS and family != "faults":
        outcome = Outcome(FAILED, "Time", f"{seconds:.1f} s", _costly(family, plan, "slow"))
    if outcome.kind != FAILED and grown > _MEMORY:
        outcome = Outcome(FAILED, "Memory", f"{grown:.0f} MB", _costly(family, plan, "memory"))
    return {**dataclasses.asdict(outcome), "seconds": round(seconds, 3), "mb": round(grown)}


def _costly(family: str, plan: dict[str, Any], what: str) -> str:
    """What is slow or large has no place in the package that an exception would tell."""
    method = plan.get("options", {}).get("method", plan.get("channel", plan.get("fit", "")))
    return f"{what}: {family} {method}"


def warm_up() -> None:
    """Load all modules, and call every method on every family."""
    import matplotlib

    import treeselect
    from hostility import attacks, files
    from hostility.arguments import FEW
    from hostility.judging import streams

    matplotlib.use("Agg")
    quick: dict[str, Any] = {"seed": 1, "k": 1, "n_jobs": 1, "progress": False}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder, streams():
        warnings.simplefilter("ignore")
        for response in ("y", "dose", "kind", "count"):
            for method in treeselect.methods()["method"]:
                with contextlib.suppress(treeselect.errors.TreeselectError):
                    family = "poisson" if response == "count" else "auto"
                    few = {name: int(value) for name, value in FEW[method].items()}
                    treeselect.select(
                        f"{response} ~ x + z + site + poly(x, 2)",
                        files.data(),
                        method=method,
                        family=family,
                        **few,
                        **quick,
                    )
        fit = treeselect.select(
            "y ~ x + I(z > 0) + site", files.data(), method="fcbf", folds=2, **{**quick, "k": "1se"}
        )
        for use in (
            lambda: fit.report(Path(folder) / "r.html"), lambda: fit.resample(2),
            lambda: fit.refit("boosting"), lambda: fit.refit("glm"),
            lambda: fit.inference(), lambda: fit.performance(2),
            lambda: fit.model.conditional_importance(2, repeats=1), lambda: fit.model.shape("x"),
            lambda: fit.model.interactions(), lambda: fit.model.nodes(),
        ):  # fmt: skip
            with contextlib.suppress(treeselect.errors.TreeselectError):
                use()
        for channel in attacks.CHANNELS:
            attacks.run({"formula": "y ~ x + I(x > 1)", "channel": channel}, Path(folder))
        files.originals()


def _work(pipe: Connection) -> None:
    """A process that runs cases until it is told to stop."""
    import resource

    folder = tempfile.mkdtemp(prefix="hostile")
    os.chdir(folder)
    warm_up()
    with open("/proc/self/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(
        resource.RLIMIT_AS, (size + _ROOM, resource.getrlimit(resource.RLIMIT_AS)[1])
    )
    sys.setrecursionlimit(1000)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    pipe.send("ready")
    while (task := pipe.recv()) is not None:
        family, plan = task
        pipe.send(judged(family, plan, Path(folder)))
    pipe.close()
    import shutil

    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)


class _Worker:
    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()
        self.case: Any = None
        self.ready = False
        self.done = 0
        self.since = time.monotonic()

    def give(self, case: Any, family: str, plan: dict[str, Any]) -> None:
        self.case, self.since = case, time.monotonic()
        self.pipe.send((family, plan))

    def late(self) -> bool:
        waiting = time.monotonic() - self.since
        return waiting > (_PATIENCE if self.ready else _WARMING) and (
            self.case is not None or not self.ready
        )

    def stop(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.pipe.send(None)
        self.process.join(timeout=5)
        self.kill()

    def kill(self) -> int | None:
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        with contextlib.suppress(OSError):
            self.pipe.close()
        return self.process.exitcode


def run_all(
    cases: Iterator[tuple[Any, str, dict[str, Any]]], jobs: int
) -> Generator[tuple[Any, dict[str, Any]], None, None]:
    """Records of cases, as they are done.

    Parameters
    ----------
    cases : iterator of (anything, str, dict)
        What a case is called, its family and its plan.
    jobs : int
    """
    workers = [_Worker() for _ in range(jobs)]
    more = True
    try:
        while more or any(w.case is not None for w in workers):
            for i, worker in enumerate(workers):
                if not worker.ready or worker.case is not None or not more:
                    continue
                if worker.done >= _CASES:
                    worker.stop()
                    workers[i] = _Worker()
                    continue
                task = next(cases, None)
                more = task is not None
                if task is not None:
                    worker.give(*task)
            busy = [w for w in workers if w.case is not None or not w.ready]
            if not busy:
                continue
            wait([w.pipe for w in busy], timeout=1.0)
            for i, worker in enumerate(workers):
                found = _heard(worker)
                if found is not None:
                    case, worker.case = worker.case, None
                    worker.done += 1
                    if case is not None:
                        yield case, found
                    if not worker.process.is_alive() or found["error"] in ("Crash", "Hang"):
                        workers[i] = _Worker()
    finally:
        for worker in workers:
            worker.kill() if worker.case is not None else worker.stop()


def _heard(worker: _Worker) -> dict[str, Any] | None:
    """What a worker has to say, or what became of it."""
    seconds = round(time.monotonic() - worker.since, 1)
    try:
        if worker.pipe.poll():
            said = worker.pipe.recv()
            if said == "ready":
                worker.ready = True
                return None
            return said  # type: ignore[no-any-return]
    except (EOFError, OSError):
        code = worker.kill()
        if worker.case is None and not worker.ready:
            raise RuntimeError(f"a process ended while it warmed up, with {code}") from None
        return _record("Crash", f"the process ended with {code}", seconds)
    if worker.late():
        if worker.case is None:
            raise RuntimeError("a process does not come to an end of warming up")
        worker.kill()
        return _record("Hang", f"no end after {_PATIENCE:.0f} s", seconds)
    return None


def _record(error: str, message: str, seconds: float) -> dict[str, Any]:
    outcome = Outcome(FAILED, error, message, f"{error}: {message}")
    return {**dataclasses.asdict(outcome), "seconds": seconds, "mb": 0}
