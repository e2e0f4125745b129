"""Writers that are killed, or that find the disk full, at any byte; afterwards the old file or the
new one.

A child of this process writes. It is killed by the system at a byte (a limit of the size of files,
whose signal kills) or at the n-th call that opens, renames or removes a file; or the same limit
makes the write fail as a full disk does. What stands at the target must then be the old file, bit
for bit, or a complete new one; whatever else is left must not be in the way of the next writer.
Devices, modes, and several writers of one file are in ``tests/test_writing.py``.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import treeselect
from hostility.attacks import QUICK, frame
from hostility.judging import ANSWERED, FAILED, Outcome, check_page, streams, written, wrong_message
from treeselect.cli import main as cli
from treeselect.errors import TreeselectError

Plan = dict[str, Any]

FAULTS = ("killed at a byte", "killed at a call", "full at a byte", "no fault")
TARGETS = ("file", "none", "link")
WRITERS = ("save", "save with data", "report", "comparison", "predict -o")

_CALLS = frozenset([
    "open", "os.rename", "os.remove", "os.chmod", "tempfile.mkstemp", "os.link", "os.truncate",
    "shutil.move",
])  # fmt: skip
_OLD = b"<!-- the old file: it may be the only copy -->\n"
_LIMIT = 15.0
"""Seconds after which a writer hangs."""


@functools.cache
def made() -> tuple[Any, Any, Path]:
    """A fit, a comparison, and a folder with a model file and data, for the command line."""
    fit = treeselect.select("y ~ x + g + v", frame(), method="fcbf", **QUICK)
    compared = treeselect.compare("y ~ x + g + v", frame(), ["fcbf", "cfs"], folds=2, **QUICK)
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    fit.save(folder / "model")
    frame().to_csv(folder / "table.csv", index=False)
    with streams():
        fit.report(folder / "warm.html")
        compared.report(folder / "warm.html")
    return fit, compared, folder


def writer_of(name: str) -> Callable[[str], Any]:
    fit, compared, folder = made()

    def predicted(path: str) -> None:
        with streams() as (_, error):
            code = cli.main(
                ["predict", f"{folder / 'model'}", f"{folder / 'table.csv'}", "-o", path]
            )
        if code:
            raise TreeselectError(written(error))

    return {
        "save": fit.save, "save with data": lambda path: fit.save(path, include_data=True),
        "report": fit.report, "comparison": compared.report, "predict -o": predicted,
    }[name]  # fmt: skip


@functools.cache
def size_of(name: str) -> int:
    """Bytes of what a writer writes."""
    path = made()[2] / "size"
    writer_of(name)(str(path))
    return path.stat().st_size


def draw(rng: random.Random) -> Plan:
    """A writer, a fault, and what stands at the target."""
    return {
        "writer": rng.choice(WRITERS), "fault": rng.choice(FAULTS), "target": rng.choice(TARGETS),
        "at": rng.random(),
    }  # fmt: skip


def run(plan: Plan, folder: Path) -> Outcome:
    """Let a child write under the fault, then look at what stands there."""
    size_of(plan["writer"])
    where = Path(tempfile.mkdtemp(dir=folder))
    try:
        target = where / "target.html"
        if plan["target"] == "link":
            target.symlink_to("real.html")
        if plan["target"] != "none":
            target.write_bytes(_OLD)
        code, said = _in_child(plan, str(target))
        why = _wrong(plan, target, code, said)
    finally:
        shutil.rmtree(where)
    if not why:
        return Outcome(ANSWERED)
    what = f"{plan['writer']} to {plan['target']}, {plan['fault']}"
    message = f"{what}: {why}. Child: {code} {said[:300]}"
    return Outcome(FAILED, "Fault", message, f"{plan['writer']}: {why}")


def _in_child(plan: Plan, target: str) -> tuple[int, str]:
    """Exit code (of a signal its negative number) and words of a child that writes: ``+``, or ``-``
    and an error of ours, or ``!`` and another one."""
    write = writer_of(plan["writer"])
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        said = "+"
        try:
            _arm(plan)
            write(target)
        except BaseException as error:
            is_ours = isinstance(error, TreeselectError)
            said = f"{'-' if is_ours else '!'}{type(error).__name__}: {error}"
        with contextlib.suppress(BaseException):
            os.write(writing, said.encode("utf-8", "backslashreplace")[:4000])
        os._exit(0)
    os.close(writing)
    end = time.monotonic() + _LIMIT
    while not (done := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
        time.sleep(0.001)
    if not done[0]:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return 0, "!hangs"
    with os.fdopen(reading, "rb") as file:
        return os.waitstatus_to_exitcode(done[1]), file.read().decode("utf-8", "replace")


def _arm(plan: Plan) -> None:
    """Set the fault, which comes while the file is written."""
    fault, at = plan["fault"], plan["at"]
    if "byte" in fault:
        killed = fault.startswith("killed")
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if killed else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = int(at * size_of(plan["writer"]) * 1.05)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    elif fault == "killed at a call":
        left = [int(at * 12)]

        def hook(event: str, arguments: Any) -> None:
            if event in _CALLS:
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)


def _wrong(plan: Plan, target: Path, code: int, said: str) -> str:
    """What is wrong with what stands there, and with what the child said; nothing if it is good."""
    if said.startswith("!"):
        return said[1:].split(":")[0]
    if said.startswith("-") and (wrong := wrong_message(said.split(": ", 1)[-1])):
        return f"{wrong} in the error"
    before = None if plan["target"] == "none" else _OLD
    now = target.read_bytes() if target.exists() else None
    if now != before and not _is_complete(now, plan["writer"]):
        return "the file is half old, half new" if now else "the old file is gone"
    if said.startswith("+") and now == before:
        return "says it wrote and did not"
    if plan["target"] == "link" and not target.is_symlink():
        return "a link was replaced by a file"
    names = {path.name for path in target.parent.iterdir()} - {target.name, "real.html"}
    if code >= 0 and names:
        return f"a temporary file is left: {sorted(names)}"
    try:
        writer_of(plan["writer"])(str(target))
    except Exception as error:
        return f"the next writer fails: {type(error).__name__}"
    return "" if _is_complete(target.read_bytes(), plan["writer"]) else "the next writer fails"


def _is_complete(data: bytes | None, writer: str) -> bool:
    if data is None:
        return False
    path = made()[2] / "found"
    path.write_bytes(data)
    with contextlib.suppress(Exception):
        if "save" in writer:
            return len(treeselect.load(path).predict(made()[2] / "table.csv")) == 60
        if writer == "predict -o":
            return len(pd.read_csv(path)) == 60 and data.endswith(b"\n")
        check_page(data, "a report")
        return data.rstrip().endswith(b"</html>")
    return False
