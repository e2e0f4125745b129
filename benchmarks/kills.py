"""A call that is killed again and again by SIGKILL: is a finished piece ever lost?

    python benchmarks/kills.py [--quick] [--kills 50] [--runs 4] [--seed 1]

``fit.resample(..., checkpoint=FOLDER)`` runs in a process that is killed after up to 40 pieces and
up to a tenth of a second, in half of the cases with its worker processes, and is begun again with
one or two processes at a time; after the last kill it is left alone until all resamples are done.
Checked after each kill: files that were there are there, byte by byte; none is damaged. Checked at
the end of each run: no piece that had been told as finished was done again, and the selections are
those of a call that nobody disturbed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from harness import Run, child, in_process

import treeselect

ROWS, COLUMNS = 400, 12

MOST_PIECES = 40
"""A life ends before so many pieces."""


def fitted(seed):
    """A fit of a method whose resamples take some hundredths of a second."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        rng.normal(size=(ROWS, COLUMNS)), columns=[f"x{i}" for i in range(COLUMNS)]
    )
    frame["y"] = frame["x0"] + frame["x1"] * frame["x2"] + rng.normal(size=ROWS)
    return treeselect.select("y ~ .", frame, method="mrmr", k=3, seed=seed)


def life(folder, seed, n, n_jobs):
    """Selections of one life of the process, which tells each piece in a file."""
    fit, folder = fitted(seed), Path(folder)
    told = os.open(folder / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(piece):
        if not piece.was_saved:
            os.write(told, f"{piece.number}\n".encode())

    print("begins", flush=True)
    found = fit.resample(n, n_jobs=n_jobs, checkpoint=folder / "saved", on_piece=tell)
    return found.stability.selected.astype(int).tolist()


def one_life(folder, seed, n, n_jobs, rng):
    """What a life printed at its end; None if it was killed."""
    python, *rest = child(life, str(folder), seed, n, n_jobs)
    command = [python, "-W", "error", *rest]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout.readline() == "begins\n"
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
            with contextlib.suppress(ProcessLookupError):  # workers wait for minutes for another
                os.killpg(process.pid, signal.SIGKILL)
    said = process.communicate()[0]
    return json.loads(said.splitlines()[-1]) if process.returncode == 0 else None


def n_told(folder):
    """Pieces that were told as finished."""
    path = folder / "told"
    return path.read_text().count("\n") if path.exists() else 0


def files_of(folder):
    """Contents of the pieces by name."""
    return {path.name: path.read_bytes() for path in (folder / "saved").glob("resample-*.json")}


def one_run(seed, n, most_kills, most_jobs, last):
    """Kills, files left over, pieces that were done twice, and what became of the answer."""
    row, rng = Counter(), np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder, found, before = Path(name), None, {}
        while found is None:
            if row["kills"] < most_kills:
                n_jobs = int(rng.integers(1, most_jobs + 1))
                found = one_life(folder, seed, n, n_jobs, rng)
                row["kills"] += found is None
            else:
                found = last(str(folder), seed, n, 1)
            after = files_of(folder)
            row["files lost or changed"] += sum(after.get(k) != v for k, v in before.items())
            row["files damaged"] += sum(not is_whole(content) for content in after.values())
            before = after
        times = Counter((folder / "told").read_text().split())
        row["pieces told"] = len(times)
        row["pieces done twice"] = sum(count - 1 for count in times.values())
        row["parts left"] = len(list((folder / "saved").glob(".treeselect-*.part")))
    row["resamples"] = n
    row["resamples that differ"] = int(
        (np.array(found) != fitted(seed).resample(n).stability.selected).any(axis=1).sum()
    )
    return row


def is_whole(content):
    """Whether it is JSON."""
    try:
        return set(json.loads(content)) == {"format", "key", "check", "result"}
    except ValueError:
        return False


def main():
    """Write the table."""
    quick = {"kills": 1, "runs": 1}
    run = Run(__doc__, kills=50, runs=4, seed=1, quick=quick)  # runs side by side share the kills
    n, most_jobs, last = run.pick((60, 1, life), (400, 2, partial(in_process, life)))
    quotas = [run.kills // run.runs + (i < run.kills % run.runs) for i in range(run.runs)]
    with ThreadPoolExecutor(run.runs) as pool:
        calls = [(run.seed + i, n, quota, most_jobs, last) for i, quota in enumerate(quotas)]
        rows = list(pool.map(lambda call: one_run(*call), calls))
    names = (
        "kills", "resamples", "resamples that differ", "pieces done twice",
        "files lost or changed", "files damaged", "parts left",
    )  # fmt: skip
    rows.append(total := sum(rows, Counter()))
    told = [*map(str, range(1, len(rows))), "all"]
    run.table(
        "kills",
        [
            {"run": text, **{name: row[name] for name in names}}
            for text, row in zip(told, rows, strict=True)
        ],
        f"treeselect, {total['kills']} kills by SIGKILL at random moments of"
        f" fit.resample({n}, checkpoint=FOLDER), with 1 or 2 processes, {ROWS} rows x {COLUMNS}"
        " columns, mrmr. A part is what a killed process was writing; it is removed in time.",
    )


if __name__ == "__main__":
    main()
