"""Cases by family and number, each judged in a process that may crash, hang or take all memory."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib
from harness import limited, peak_memory

import treeselect
from hostility import attacks, calls, faults, files, tables
from hostility.arguments import FEW
from hostility.judging import FAILED, Outcome, streams
from hostility.watching import fenced

FAMILIES = {"calls": calls, "formulas": attacks, "files": files, "tables": tables, "faults": faults}

ORDER = [*["calls"] * 10, *["formulas"] * 5, *["files"] * 2, *["tables"] * 2, "faults"]
"""Families of twenty numbers."""

SECONDS, LONGEST = 20.0, 60
"""Longest that a call may take, and the CPU seconds after which its process is ended."""

_MEMORY = 1_000.0
"""Most megabytes that a case may take beyond what was there before: a file may have 160."""

_ROOM = 3_000_000_000
"""Bytes of address space beyond which a process gets a MemoryError."""


def plan_of(seed: int, family: str, number: int) -> dict[str, Any]:
    """The plan of a case."""
    return FAMILIES[family].draw(random.Random(f"{seed} {family} {number}"))


def judged(family: str, plan: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run a plan here: its outcome, seconds and megabytes."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak begins again
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


def judged_apart(cases: list[tuple[str, dict[str, Any]]], folder: Path) -> list[dict[str, Any]]:
    """The same of several in a process forked from this one; if it ends, each has one of its own,
    whose end is a failure."""

    def call() -> list[dict[str, Any]]:
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (size + _ROOM, hard))
        os.chdir(folder)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return [judged(*case, folder) for case in cases]

    found, seconds, problem = limited(call, LONGEST * len(cases))
    if not problem:
        return found
    if len(cases) > 1:
        return [record for case in cases for record in judged_apart([case], folder)]
    outcome = Outcome(FAILED, "End", f"crash or {problem}", _costly(*cases[0], "no answer"))
    return [{**dataclasses.asdict(outcome), "seconds": seconds, "mb": 0}]


def warm_up() -> None:
    """Load all modules and kernels, and make what cases share."""
    matplotlib.use("Agg")
    quick: dict[str, Any] = {"seed": 1, "k": 1, "n_jobs": 1, "progress": False}
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder, streams():
        warnings.simplefilter("ignore")
        for response in ("y", "dose", "kind"):
            for method in treeselect.methods()["method"]:
                few = {name: int(value) for name, value in FEW[method].items()}
                with contextlib.suppress(treeselect.errors.TreeselectError):
                    formula = f"{response} ~ x + z + site + poly(x, 2)"
                    treeselect.select(formula, files.data(), method=method, **few, **quick)
        fit = treeselect.select("y ~ x + I(z > 0) + site", files.data(), method="fcbf", **quick)
        fit.report(Path(folder) / "r.html", performance=fit.performance(2), linear=fit.refit("glm"))
        for channel in attacks.CHANNELS:
            attacks.run({"formula": "y ~ x + I(x > 1)", "channel": channel}, Path(folder))
        for writer in faults.WRITERS:
            faults.size_of(writer)
        files.originals()
