"""Calls that are killed again and again, or find the disk full: is a finished piece ever lost?

    python benchmarks/kills.py [--quick] [--calls resample ...] [--kills 20] [--seed 1]

Each call that takes a folder for its pieces (``checkpoint=``) runs in a process that is killed by
SIGKILL after up to 20 pieces and up to a tenth of a second, in half of the cases with its worker
processes, and is begun again with one or two processes at a time; in the end it is left alone. It
also runs once where no file may be longer than 100 bytes, as on a full disk. Checked after each:
files that were there are there, byte by byte; none is damaged. Checked at the end: no piece that
had been told as finished was done again, the full disk was told, and both answers are those of an
undisturbed call.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import resource
import signal
import subprocess
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Run, child

import treeselect

ROWS, COLUMNS = 400, 12

MOST_PIECES = 20
"""A life ends before so many pieces."""

FORMULA = "y ~ ."
CALLS = {
    "resample": lambda fit, n, **how: fit.resample(n, **how),
    "performance": lambda fit, n, **how: fit.performance(5, repeats=n // 5, **how),
    "validate": lambda fit, n, **how: fit.validate(n, **how),
    "inference": lambda fit, n, **how: fit.inference(repeats=n, **how),
    "compare": lambda fit, n, **how: treeselect.compare(
        FORMULA, frame(n), ["mrmr", "fcbf"], k=3, folds=5, repeats=n // 10, seed=1, **how
    ),
}
"""Calls of about n pieces."""


def frame(seed):
    """Rows of which a method takes some hundredths of a second."""
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(
        rng.normal(size=(ROWS, COLUMNS)), columns=[f"x{i}" for i in range(COLUMNS)]
    )
    return found.assign(y=found["x0"] + found["x1"] * found["x2"] + rng.normal(size=ROWS))


def answer(call, seed, n, **how):
    """What a call says, but for its seconds."""
    fit = treeselect.select(FORMULA, frame(seed), method="mrmr", k=3, seed=seed)
    found = CALLS[call](fit, n, **how).tidy()
    return found.drop(columns="seconds", errors="ignore").to_json(double_precision=15)


def life(call, folder, seed, n, n_jobs, most_bytes):
    """The answer of one life of the process, which tells each piece in a file, or may write no file
    of more than some bytes."""
    folder = Path(folder)
    told = os.open(folder / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(piece):
        if not piece.was_saved and most_bytes is None:
            os.write(told, f"{piece.number}\n".encode())

    if most_bytes is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, resource.RLIM_INFINITY))
    print("begins", flush=True)
    how = {"n_jobs": n_jobs, "checkpoint": folder / "saved", "on_piece": tell}
    return answer(call, seed, n, **how)


def one_life(rng, call, folder, seed, n, n_jobs, *, is_killed=False, most_bytes=None):
    """What a life printed at its end; None if it was killed."""
    python, *rest = child(life, call, str(folder), seed, n, n_jobs, most_bytes)
    filters = [] if most_bytes else ["-W", "error"]  # a full disk is told by a warning
    command = [python, *filters, *rest]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "begins\n"
    if is_killed:
        enough = n_told(folder) + rng.integers(0, MOST_PIECES)
        while process.poll() is None and n_told(folder) < enough:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.1))
        if process.poll() is None:
            if rng.random() < 0.5:
                os.killpg(process.pid, signal.SIGKILL)  # its own session: itself and its workers
            else:
                process.kill()
                process.wait()
                with contextlib.suppress(ProcessLookupError):  # workers wait for minutes
                    os.killpg(process.pid, signal.SIGKILL)
    said, problem = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), problem
    assert most_bytes is None or "Warning" in problem
    return None if process.returncode else json.loads(said.splitlines()[-1])


def n_told(folder):
    """Pieces that were told as finished."""
    path = folder / "told"
    return path.read_text().count("\n") if path.exists() else 0


def files_of(folder):
    """Contents of the pieces by name."""
    return {path.name: path.read_bytes() for path in (folder / "saved").glob("*-*.treeselect")}


def one_run(call, seed, n, most_kills, most_jobs):
    """Kills, files left over, pieces that were done twice, and what became of the answers."""
    row, rng = Counter({"answers that differ": 0}), np.random.default_rng(seed)
    undisturbed = answer(call, seed, n, n_jobs=1)
    with tempfile.TemporaryDirectory() as name:
        found = one_life(rng, call, Path(name), seed, n, 1, most_bytes=100)
        row["answers that differ"] += found != undisturbed
    with tempfile.TemporaryDirectory() as name:
        folder, before = Path(name), {}
        lives = [{"is_killed": True}] * most_kills + [{}]
        for how in lives:
            if how.get("is_killed") and len(before) >= n:
                continue  # nothing is left to be done
            n_jobs = int(rng.integers(1, most_jobs + 1)) if how.get("is_killed") else 1
            found = one_life(rng, call, folder, seed, n, n_jobs, **how)
            row["kills"] += found is None
            row["answers that differ"] += found not in (None, undisturbed)
            after = files_of(folder)
            row["files lost or changed"] += sum(after.get(k) != v for k, v in before.items())
            row["files damaged"] += sum(not is_whole(content) for content in after.values())
            before = after
        times = Counter((folder / "told").read_text().split())
        row["pieces"] = len(before)
        row["pieces done twice"] = sum(count - 1 for count in times.values())
        row["parts left"] = len(list((folder / "saved").glob(".treeselect-*.part")))
    return {"call": call, **row}


def is_whole(content):
    """Whether its checksum holds."""
    try:
        return bool(gzip.decompress(content))
    except (EOFError, OSError, zlib.error):
        return False


def main():
    """Write the table."""
    quick = {"kills": 1, "calls": ("resample",)}
    run = Run(__doc__, calls=CALLS, kills=20, seed=1, quick=quick)
    n, most_jobs = run.pick((30, 1), (400, 2))
    rows = [one_run(call, run.seed, n, run.kills, most_jobs) for call in run.calls]
    names = (
        "call", "kills", "pieces", "pieces done twice", "files lost or changed", "files damaged",
        "parts left", "answers that differ",
    )  # fmt: skip
    run.table(
        "kills",
        [{name: row[name] for name in names} for row in rows],
        "treeselect: kills by SIGKILL at random moments of calls with `checkpoint=FOLDER`, with 1"
        f" or 2 processes, {ROWS} rows x {COLUMNS} columns, mrmr; then one run that nobody"
        " disturbs, and another one on a full disk. A part is what a killed process was writing."
        " Answers: of the last two runs.",
    )


if __name__ == "__main__":
    main()
