"""Resamples in one process and in two: seconds, and memory of all processes together.

    python benchmarks/spreading.py [--quick] [--rounds 3] [--cases "20000x50, mrmr" ...]

``fit.resample(B, n_jobs=1)`` and ``n_jobs=2`` in turn, ``--rounds`` times, as other work on the
machine takes turns, too. Large cases, of 100,000 rows and more, run once, in one process, and
without the fit before them.

Each runs in a process of its own in which all kernels, and the workers, have been loaded. CPU
seconds are those of the process and its workers; memory is the largest proportional set size of all
of them, above what they held before there were any data. Needs Linux.
"""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
from harness import Run, cell, held, in_process, means, shown, watched

import treeselect
from treeselect.algorithms.registry import find_method
from treeselect.designs.preparing import Request, prepare
from treeselect.resampling.assessing import assess
from treeselect.resampling.choosing import Choice, Procedure
from treeselect.running.parallel import workers_for
from treeselect.running.pieces import Course

CASES = {
    "20000x50, mrmr": (20_000, 50, "mrmr", 40), "20000x50, exchange": (20_000, 50, "exchange", 4),
    "100000x20, mrmr": (100_000, 20, "mrmr", 2), "1000000x20, mrmr": (1_000_000, 20, "mrmr", 2),
    "100000x20, exchange": (100_000, 20, "exchange", 2),
    "1000000x20, exchange": (1_000_000, 20, "exchange", 2),
}  # fmt: skip
"""Rows, columns, method, and resamples to time."""

LARGE, SIZE = 100_000, 5


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


def resampled(rows, columns, method, n_resamples, n_jobs):
    """What the resamples take, seconds for each."""
    fit_of(simulate(200, columns), method).resample(2, n_jobs=n_jobs)
    before = held()
    resample = ready(simulate(rows, columns), method)
    _, found = watched(lambda: resample(n_resamples, n_jobs), before)
    return found | {clock: found[clock] / n_resamples for clock in ("wall s", "CPU s")}


def ratio(one, other):
    """Missing where the other is nothing, as the memory of small data may be."""
    return one / other if other > 0 else np.nan


def resample(run):
    """Medians of one process, and its ratio to two, round by round."""
    for name in run.cases:
        case = (200, 5, "mrmr", 2) if run.quick else CASES[name]
        rows, columns, method, n_resamples = case
        found = {1: [], 2: []}
        for _ in range(1 if rows >= LARGE else run.rounds):
            for n_jobs in (1,) if rows >= LARGE else (1, 2):
                call = (*case, n_jobs)
                taken = resampled(*call) if run.quick else in_process(resampled, *call)
                found[n_jobs].append(taken)
        ratios = [
            (
                ratio(a["wall s"], b["wall s"]),
                ratio(b["CPU s"], a["CPU s"]),
                ratio(b["MB"], a["MB"]),
            )
            for a, b in zip(found[1], found[2], strict=False)
        ]
        line = {"case": name, "rows": rows, "columns": columns, "method": method}
        line |= {"resamples": n_resamples}
        line |= {w: np.median([f[w] for f in found[1]]) for w in ("wall s", "CPU s", "MB")}
        line["load"] = np.mean([f["load"] for part in found.values() for f in part])
        line |= means(("faster", "work", "memory"), ratios or [(np.nan,) * 3])
        run.keep("spreading", line, by="case")
    run.table(
        "spreading",
        [
            {
                "rows x columns": f"{row['rows']:,} x {row['columns']:,}",
                "method": row["method"],
                "resamples timed": row["resamples"],
                "wall s each": shown(row["wall s"]),
                "CPU s each": shown(row["CPU s"]),
                "MB": shown(row["MB"], None, 0),
                "two processes: times as fast": cell(row, "faster"),
                "times the CPU s": cell(row, "work"),
                "times the MB": cell(row, "memory"),
                "load": shown(row["load"], None, 1),
            }
            for row in run.kept("spreading").to_dict("records")
        ],
        f"treeselect, resample() at k = {SIZE}: seconds for each resample in one process, and the"
        " largest memory of all processes beyond what they hold without data; of two processes,"
        " ratios to one, means over rounds with standard errors. Load: how many processes the"
        f" machine, of {os.cpu_count()} processors, wanted to run in all.",
    )


def main():
    """Write the table."""
    resample(Run(__doc__, cases=CASES, rounds=3, quick={"cases": ("quick",), "rounds": 1}))


if __name__ == "__main__":
    main()
