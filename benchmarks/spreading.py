"""Resamples one after the other and side by side: seconds, and memory of all processes together.

    python benchmarks/spreading.py [--quick] [--rounds 3] [--cases 20000x50 ...] [--results FOLDER]

``fit.resample(B, n_jobs=1)`` and ``n_jobs=2`` in turn, each in a process of its own whose workers
are there and have loaded all kernels; ``--rounds`` times, as other work on the machine takes turns,
too. Memory is the largest proportional set size of all processes while the resamples run, beyond
what they held before there were any data: interpreters, libraries and kernels. CPU seconds are
those of all of them. A row of the results per case; those that are not run again stay as they are.
Large cases, of 100,000 rows and more, run once, in one process, and without the fit before them.
Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from comparison import Watch, cpu_seconds, family_of_processes, memory_of
from tables import RESULTS, mean_and_error, shown, with_earlier, write_table

import treeselect
from treeselect.algorithms.registry import find_method
from treeselect.designs.preparing import Request, prepare
from treeselect.resampling.assessing import assess
from treeselect.resampling.choosing import Choice, Procedure
from treeselect.running.parallel import workers_for
from treeselect.running.pieces import Course

CASES = {
    "20000x50, mrmr": (20_000, 50, "mrmr", 40),
    "20000x50, exchange": (20_000, 50, "exchange", 4),
    "100000x20, mrmr": (100_000, 20, "mrmr", 2),
    "1000000x20, mrmr": (1_000_000, 20, "mrmr", 2),
    "100000x20, exchange": (100_000, 20, "exchange", 2),
    "1000000x20, exchange": (1_000_000, 20, "exchange", 2),
}
"""Rows, columns, method, and resamples to time."""

LARGE, SIZE = 100_000, 5
QUICK = {"quick": (200, 5, "mrmr", 2)}


def simulate(rows, columns):
    """Numbers, of which five carry the signal."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, columns))
    y = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * X[:, 4] + rng.normal(size=rows)
    return pd.DataFrame(X, columns=[f"v{j}" for j in range(columns)]).assign(y=y)


def fit_of(frame, method):
    """A selection in this process."""
    return treeselect.select(
        "y ~ .", frame, method=method, k=min(SIZE, frame.shape[1] - 2), seed=1, n_jobs=1,
        progress=False,
    )  # fmt: skip


def ready(frame, method):
    """The resamples of a fit; of large data without the fit and its model, which would take longer
    than what is measured."""
    if len(frame) < LARGE:
        fit = fit_of(frame, method)
        return lambda n, n_jobs: fit.resample(n, n_jobs=n_jobs)
    data = prepare(Request("y ~ ."), frame)
    built = find_method(method, {})
    asked = Procedure(data.problem_for(built), built, data.row_weights, Choice(SIZE))
    return lambda n, n_jobs: assess(
        asked, np.zeros(len(frame.columns) - 1, bool), n_resamples=n, scheme="bootstrap", seed=1,
        course=Course(workers_for(n_jobs)),
    )  # fmt: skip


def one_case(rows, columns, method, n_resamples, n_jobs):
    """What the resamples take."""
    fit_of(simulate(200, columns), method).resample(2, n_jobs=n_jobs)
    before = sum(memory_of(process)[0] for process in family_of_processes())
    resample = ready(simulate(rows, columns), method)
    with Watch() as watch:
        cpu, wall = cpu_seconds(), time.perf_counter()
        resample(n_resamples, n_jobs)
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    return {
        "wall s": wall / n_resamples,
        "CPU s": cpu / n_resamples,
        "MB": (watch.together - before) / 1e6,
        "load": os.getloadavg()[0],
    }


def measured(name, case, n_jobs):
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--case", json.dumps([*case, n_jobs])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def ratio(one, other):
    """Missing where the other is nothing, as the memory of small data may be."""
    return one / other if other > 0 else np.nan


def line_of(name, case, rounds, measured=measured):
    """A row of the results: medians of one process, and its ratio to two, round by round."""
    rows, columns, method, n_resamples = case
    alone, two = [], []
    for _ in range(1 if rows >= LARGE else rounds):
        alone.append(measured(name, case, 1))
        if rows < LARGE:
            two.append(measured(name, case, 2))
    faster = [ratio(a["wall s"], b["wall s"]) for a, b in zip(alone, two, strict=False)]
    work = [ratio(b["CPU s"], a["CPU s"]) for a, b in zip(alone, two, strict=False)]
    larger = [ratio(b["MB"], a["MB"]) for a, b in zip(alone, two, strict=False)]
    line = {
        "case": name, "rows": rows, "columns": columns, "method": method,
        "resamples": n_resamples,
        "wall s": np.median([found["wall s"] for found in alone]),
        "CPU s": np.median([found["CPU s"] for found in alone]),
        "MB": np.median([found["MB"] for found in alone]),
        "load": np.mean([found["load"] for found in alone + two]),
    }  # fmt: skip
    for what, values in (("faster", faster), ("work", work), ("memory", larger)):
        line[what], line[f"{what} error"] = mean_and_error(values)
    return line


def table_of(summary):
    """The lines to print."""
    return pd.DataFrame(
        {
            "rows x columns": f"{row['rows']:,} x {row['columns']:,}",
            "method": row["method"],
            "resamples timed": row["resamples"],
            "wall s each": shown(row["wall s"], None),
            "CPU s each": shown(row["CPU s"], None),
            "MB": shown(row["MB"], None, 0),
            "two processes: times as fast": shown(row["faster"], row["faster error"]),
            "times the CPU s": shown(row["work"], row["work error"]),
            "times the MB": shown(row["memory"], row["memory error"]),
            "load": shown(row["load"], None, 1),
        }
        for row in summary.to_dict("records")
    )


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(one_case(*json.loads(options.case))))
        return
    if options.quick:
        lines = [line_of(*case, 1, lambda _, case, n_jobs: one_case(*case, n_jobs))
                 for case in QUICK.items()]  # fmt: skip
        summary = pd.DataFrame(lines)
    else:
        for name in options.cases:
            line = pd.DataFrame([line_of(name, CASES[name], options.rounds)])
            with_earlier("spreading", line, by="case", quick=False, folder=options.results)
        summary = pd.read_csv(options.results / "spreading.csv")
    write_table(
        "spreading",
        table_of(summary),
        f"treeselect, resample() at k = {SIZE}: seconds for each resample in one process, and the"
        " largest memory of all processes beyond what they hold without data; of two processes,"
        " ratios to one, means over rounds with standard errors. Load: how many processes the"
        f" machine, of {os.cpu_count()} processors, wanted to run in all.",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
