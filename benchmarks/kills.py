"""A call that is killed again and again by SIGKILL: is a finished piece ever lost?

    python benchmarks/kills.py [--quick] [--kills 50] [--runs 4] [--seed 1] [--results FOLDER]

``fit.resample(..., checkpoint=FOLDER)`` runs in a process that is killed after up to 40 pieces and
up to a tenth of a second, in half of the cases with its worker processes, and is begun again with
one or two processes at a time; after the last kill it is left alone until all resamples are done.
Checked after each kill: files that were there are there, byte
by byte; none is damaged. Checked at the end of each run: no piece that had been told as finished
was done again, and the selections are those of a call that nobody disturbed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from tables import RESULTS, write_table

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
    """One life of the process: tells each piece in a file, and prints when it begins and ends."""
    fit = fitted(seed)
    told = os.open(folder / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(piece):
        if not piece.was_saved:
            os.write(told, f"{piece.number}\n".encode())

    print("begins", flush=True)
    found = fit.resample(n, n_jobs=n_jobs, checkpoint=folder / "saved", on_piece=tell)
    print(json.dumps(found.stability.selected.astype(int).tolist()), flush=True)


def one_life(folder, seed, n, n_jobs, rng):
    """What a life printed at its end; None if it was killed."""
    command = [sys.executable, "-W", "error", __file__, "--life", str(folder), str(seed), str(n)]
    process = subprocess.Popen(
        [*command, str(n_jobs)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
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
    return json.loads(said) if process.returncode == 0 else None


def n_told(folder):
    """Pieces that were told as finished."""
    path = folder / "told"
    return path.read_text().count("\n") if path.exists() else 0


def files_of(folder):
    """Contents of the pieces by name."""
    return {path.name: path.read_bytes() for path in (folder / "saved").glob("resample-*.json")}


def one_run(seed, n, most_kills, most_jobs):
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
                life_to_the_end = subprocess.run(
                    [sys.executable, __file__, "--life", str(folder), str(seed), str(n), "1"],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                found = json.loads(life_to_the_end.stdout.splitlines()[1])
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
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one kill, nothing written")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--runs", type=int, default=4, help="side by side, which share the kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    parser.add_argument("--life", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.life:
        folder, seed, n, n_jobs = options.life
        life(Path(folder), int(seed), int(n), int(n_jobs))
        return
    kills, runs, n, most_jobs = (
        (1, 1, 60, 1) if options.quick else (options.kills, options.runs, 400, 2)
    )
    quotas = [kills // runs + (i < kills % runs) for i in range(runs)]
    seeds = [options.seed + i for i in range(runs)]
    with ThreadPoolExecutor(runs) as pool:
        rows = list(pool.map(one_run, seeds, [n] * runs, quotas, [most_jobs] * runs))
    names = (
        "kills", "resamples", "resamples that differ", "pieces done twice",
        "files lost or changed", "files damaged", "parts left",
    )  # fmt: skip
    table = pd.DataFrame([{"run": str(i + 1), **{name: row[name] for name in names}}
                          for i, row in enumerate(rows)])  # fmt: skip
    total = {name: table[name].sum() for name in names}
    table = pd.concat([table, pd.DataFrame([{"run": "all", **total}])], ignore_index=True)
    write_table(
        "kills",
        table,
        f"treeselect, {total['kills']} kills by SIGKILL at random moments of"
        f" fit.resample({n}, checkpoint=FOLDER), with 1 or 2 processes, {ROWS} rows x {COLUMNS}"
        " columns, mrmr. A part is what a killed process was writing; it is removed in time.",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
