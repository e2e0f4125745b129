"""Writers that are killed, or that find the disk full, at any byte; afterwards the old file or the
new one.

A child of this process writes. It is killed by the system at a byte (a limit of the size of files,
whose signal kills), after some microseconds (a timer), or at the n-th call that opens, renames or
removes a file; or the same limit makes the write fail as a full disk does. What stands at the
target must then be the old file, bit for bit, or a complete new one; whatever else is left must
not be in the way of the next writer.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import random
import resource
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd

import treeselect
from hostility.attacks import QUICK, frame
from hostility.judging import (
    ANSWERED,
    FAILED,
    VOID,
    Outcome,
    check_page,
    streams,
    written,
    wrong_message,
)  # fmt: skip
from treeselect.cli import main as cli
from treeselect.errors import TreeselectError

Plan = dict[str, Any]

FAULTS = (
    "killed at a byte", "killed at a time", "killed at a call", "full at a byte", "no fault",
    "together",
)  # fmt: skip
TARGETS = (
    "file", "file", "file", "none", "0600", "link", "read-only file", "folder", "full device",
    "null device", "long name", "no folder", "dangling link",
)  # fmt: skip

_CALLS = frozenset([
    "open", "os.rename", "os.remove", "os.chmod", "tempfile.mkstemp", "os.link", "os.truncate",
    "shutil.move",
])  # fmt: skip
_OLD = b"<!-- the old file: it may be the only copy -->\n"
_LIMIT = 15.0


WRITERS = (
    "save", "save with data", "report", "comparison", "predict -o", "select --json",
    "select --save", "select --report", "compare --json",
)  # fmt: skip


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
    table, quick = str(folder / "table.csv"), ["-m", "fcbf", "-k", "1", "--seed", "1"]

    def by_command(*arguments: str) -> Callable[[str], Any]:
        def write(path: str) -> None:
            with streams() as (_, error):
                code = cli.main([*arguments, path])
            if code:
                raise TreeselectError(written(error))

        return write

    return {
        "save": fit.save, "save with data": lambda path: fit.save(path, include_data=True),
        "report": fit.report, "comparison": compared.report,
        "predict -o": by_command("predict", str(folder / "model"), table, "-o"),
        **{
            f"select --{way}": by_command("select", "y ~ x + g", table, *quick, f"--{way}")
            for way in ("json", "save", "report")
        },
        "compare --json": by_command(
            "compare", "y ~ x + g", table, *quick, "-m", "fcbf,cfs", "--folds", "2", "--json"
        ),
    }[name]  # fmt: skip


@functools.cache
def size_of(name: str) -> int:
    """Bytes of what a writer writes."""
    path = made()[2] / "size"
    writer_of(name)(str(path))
    return path.stat().st_size


def draw(rng: random.Random) -> Plan:
    """A writer, a fault, and what stands at the target."""
    fault = rng.choice(FAULTS)
    target = "file" if fault == "together" else rng.choice(TARGETS)
    return {
        "writer": rng.choice(WRITERS), "fault": fault, "target": target, "at": rng.random(),
        "seed": rng.randrange(2**31),
    }  # fmt: skip


def run(plan: Plan, folder: Path) -> Outcome:
    """Let a child write under the fault, then look at what stands there."""
    if not sys.platform.startswith("linux"):
        return Outcome(VOID)
    size = size_of(plan["writer"])
    where = folder / f"faults_{os.getpid()}"
    where.mkdir(exist_ok=True)
    try:
        target, before = _target(plan["target"], where)
    except PermissionError:  # only root makes devices
        where.rmdir()
        return Outcome(VOID, "PermissionError")
    try:
        if plan["fault"] == "together":
            return _together(plan, target)
        code, said = _in_child(plan, str(target), size)
        return _verdict(plan, target, before, code, said, where)
    finally:
        for path in where.iterdir():
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()
        where.rmdir()


def _target(kind: str, where: Path) -> tuple[Path, bytes | None]:
    """The path that is written to, and what stands there before."""
    path = where / "target.html"
    if kind.endswith("device"):
        # A device of our own: a writer that replaces its target would break the machine's.
        path = where / kind.replace(" ", "_")
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 7 if kind == "full device" else 3))
        return path, None
    if kind == "no folder":
        return where / "nowhere" / "target.html", None
    if kind == "long name":
        return where / ("x" * 250 + ".html"), None
    if kind == "folder":
        path.mkdir()
    if "link" in kind:
        path.symlink_to("real.html")
    if kind in ("none", "folder", "dangling link"):
        return path, None
    path.write_bytes(_OLD)  # of a link, what it points to
    if kind in ("0600", "read-only file"):
        path.chmod(0o600 if kind == "0600" else 0o444)
    return path, _OLD


def _in_child(plan: Plan, target: str, size: int) -> tuple[int, str]:
    """Exit code (of a signal its negative number) and words of a child that writes."""
    write = writer_of(plan["writer"])
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        said = b"-"
        code = 1
        try:
            _arm(plan, size)
            write(target)
            said, code = b"+", 0
        except BaseException as error:
            own = isinstance(error, TreeselectError)
            said = f"{'-' if own else '!'}{type(error).__name__}: {error}".encode(
                "utf-8", "backslashreplace"
            )
        with contextlib.suppress(BaseException):
            os.write(writing, said[:4000])
        os._exit(code)
    os.close(writing)
    code = _wait(child)
    with os.fdopen(reading, "rb") as file:
        return code, file.read().decode("utf-8", "replace")


def _arm(plan: Plan, size: int) -> None:
    """Set the fault, which comes while the file is written."""
    fault, at = plan["fault"], plan["at"]
    if "byte" in fault:
        killed = fault.startswith("killed")
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if killed else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = int(at * size * 1.05)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    elif fault == "killed at a time":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 1e-6 + at**3 * 0.08)
    elif fault == "killed at a call":
        left = [int(at * 12)]

        def hook(event: str, arguments: Any) -> None:
            if event in _CALLS:
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)


def _wait(child: int) -> int:
    """Exit code of a child; one that hangs is killed."""
    end = time.monotonic() + _LIMIT
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 999


def _failure(plan: Plan, why: str, message: str) -> Outcome:
    return Outcome(FAILED, "Fault", message, f"{plan['writer']}: {why}")


def _verdict(
    plan: Plan, target: Path, before: bytes | None, code: int, said: str, where: Path
) -> Outcome:
    def failed(why: str) -> Outcome:
        what = f"{plan['writer']} to {plan['target']}, {plan['fault']}"
        return _failure(plan, why, f"{what}: {why}. Child: {code} {said[:300]}")

    if code == 999:
        return failed("hangs")
    if said.startswith("!"):
        return failed(f"{said[1:].split(':')[0]}")
    if said.startswith("-") and (wrong := wrong_message(said.split(": ", 1)[-1])):
        return failed(f"{wrong} in the error")
    if plan["target"].endswith("device"):
        if not stat.S_ISCHR(target.stat().st_mode):
            return failed("a device was replaced")
        if plan["target"] == "full device" and said.startswith("+"):
            return failed("a full disk is not noticed")
        return Outcome(ANSWERED)
    if plan["target"] in ("folder", "no folder"):
        if said.startswith("+"):
            return failed("says it wrote where nothing can be")
        if plan["target"] == "folder" and not target.is_dir():
            return failed("a folder was replaced")
        return Outcome(ANSWERED)
    now = target.read_bytes() if target.exists() else None
    if now != before and not _is_complete(now, plan["writer"]):
        return failed("the file is half old, half new" if now else "the old file is gone")
    if said.startswith("+") and now == before:
        return failed("says it wrote and did not")
    if plan["target"] == "link" and not target.is_symlink():
        return failed("a link was replaced by a file")
    if plan["target"] == "0600" and target.stat().st_mode & 0o077:
        return failed("0600 was not kept")
    names = {path.name for path in where.iterdir()} - {target.name, "real.html"}
    if code >= 0 and names:
        return failed(f"a temporary file is left: {sorted(names)}")
    if plan["target"] == "long name":
        return Outcome(ANSWERED)
    try:
        writer_of(plan["writer"])(str(target))
    except Exception as error:
        return failed(f"the next writer fails: {type(error).__name__}")
    complete = _is_complete(target.read_bytes(), plan["writer"])
    return Outcome(ANSWERED) if complete else failed("the next writer fails")


def _is_complete(data: bytes | None, writer: str) -> bool:
    if data is None:
        return False
    path = made()[2] / "found"
    path.write_bytes(data)
    with contextlib.suppress(Exception):
        if "save" in writer:
            return len(treeselect.load(path).predict(made()[2] / "table.csv")) == 60
        if "json" in writer:
            return bool(json.loads(data))
        if writer == "predict -o":
            return len(pd.read_csv(path)) == 60 and data.endswith(b"\n")
        check_page(data, "a report")
        return data.rstrip().endswith(b"</html>")
    return False


def _together(plan: Plan, target: Path) -> Outcome:
    """Four threads write the same path."""
    if not plan["writer"].startswith(("save", "report", "comparison")):
        plan = {**plan, "writer": "save"}  # the command line's streams are one per process
    write = writer_of(plan["writer"])

    def attempt(_: int) -> BaseException | None:
        try:
            write(str(target))
        except BaseException as error:
            return error

    with ThreadPoolExecutor(4) as pool:
        errors = list(filter(None, pool.map(attempt, range(20))))
    if errors:
        first = f"{type(errors[0]).__name__}: {errors[0]}"
        message = f"{len(errors)} of 20 calls failed: {first}"[:600]
        return _failure(plan, "fails beside others", message)
    if not _is_complete(target.read_bytes(), plan["writer"]):
        return _failure(plan, "beside others, half a file", "half a file")
    if len(list(target.parent.iterdir())) > 1:
        left = "a temporary file is left"
        return _failure(plan, f"beside others, {left}", left)
    return Outcome(ANSWERED)
