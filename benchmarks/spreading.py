"""Calls in one process and side by side: seconds, and memory of all processes together.

    python benchmarks/spreading.py [--quick] [--parts resample compare] [--rounds 3]
                                   [--cases "20000x50, mrmr" ...] [--sets german adult]

resample    ``fit.resample(B, n_jobs=1)`` and ``n_jobs=2`` in turn, ``--rounds`` times, as other
            work on the machine takes turns, too. Large cases, of 100,000 rows and more, run once,
            in one process, and without the fit before them.
compare     ``compare()`` of ten methods in ten folds, sizes up to 8, on german credit and the first
            10,000 rows of adult. In the process alone the encoded arrays that each method and fold
            is given are looked at, too: binned columns stand in memory once, however many methods
            and folds there are.

Each runs in a process of its own in which all kernels, and the workers, have been loaded. CPU
seconds are those of the process and its workers; memory is the largest proportional set size of all
of them, above what they held before: of resamples before there were any data. Needs Linux.
"""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
from harness import Run, cell, held, in_process, means, options_text, shown, stored, watched

import treeselect
from treeselect.algorithms.registry import METHODS as KINDS
from treeselect.algorithms.registry import find_method
from treeselect.comparison import methods as comparing
from treeselect.designs.preparing import Request, prepare
from treeselect.resampling.assessing import assess
from treeselect.resampling.choosing import Choice, Procedure
from treeselect.running.parallel import workers_for
from treeselect.running.pieces import Course

# --- resamples ---------------------------------------------------------------------------------

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


# --- comparisons -------------------------------------------------------------------------------

SETS = {"german": ("german_credit", "target"), "adult": ("adult", "income")}
MOST_ROWS, LARGEST = 10_000, 8

METHODS = {
    "controlburn": {}, "rrf": {"n_trees": 50}, "grrf": {"n_trees": 50}, "rboost": {"n_trees": 10},
    "gbfs": {"n_trees": 50}, "importance": {}, "rfe": {}, "lasso": {}, "boruta": {"max_rounds": 10},
    "mrmr": {},
}  # fmt: skip
"""With the options that are not the default, of methods that would take an hour otherwise."""


class Copies:
    """The binned arrays that compare() hands to methods and folds in this process."""

    def __init__(self):
        self._plain = comparing.follow_fold
        self.at, self.size, self.calls = set(), 0, 0

    def __enter__(self):
        comparing.follow_fold = self._noted
        return self

    def __exit__(self, *error):
        comparing.follow_fold = self._plain

    def _noted(self, problem, *arguments, **options):
        self.calls += 1
        self.at.add(problem.data.blocks.__array_interface__["data"][0])
        self.size = sum(array.nbytes for array in problem.data)
        return self._plain(problem, *arguments, **options)


def compared(name, methods, n_jobs, n_folds):
    """What compare() takes, and by method its seconds and mean score."""
    if name == "simulated":
        made = treeselect.datasets.simulate_friedman(200, seed=1)
        frame, formula = made.data, made.formula
    else:
        file, response = SETS[name]
        frame, formula = stored(file).head(MOST_ROWS), f"{response} ~ ."
    built = {method: KINDS[method](**METHODS[method]) for method in methods}
    few = frame.sample(100, random_state=0).reset_index(drop=True)
    arguments = {"seed": 1, "n_jobs": n_jobs, "progress": False}
    treeselect.compare(formula, few, built, k=2, folds=2, **arguments)
    with Copies() as copies:
        found, taken = watched(
            lambda: treeselect.compare(formula, frame, built, k=LARGEST, folds=n_folds, **arguments)
        )
    case = {
        "case": f"{name}, {n_jobs}", "set": name, "jobs": n_jobs, "rows": len(frame),
        "columns": frame.shape[1] - 1, "methods": len(built), "folds": n_folds,
        **{what: taken[what] for what in ("wall s", "CPU s", "MB before")},
        "MB more": taken["MB"], "MB of a worker": taken["MB of a worker"],
        "encoded MB": copies.size / 1e6, "calls": copies.calls, "copies": len(copies.at),
    }  # fmt: skip
    at_size = found.tidy().query("k == @LARGEST").groupby("method", sort=False)
    at_size = at_size.agg({"seconds": "sum", "score": "mean"})
    each = [
        {
            "case": case["case"], "method": m, "options": options_text(METHODS[m]),
            "wall s": at_size["seconds"][m], "score": at_size["score"][m],
        }
        for m in built
    ]  # fmt: skip
    return case, each


def compare(run):
    """The whole comparison, and each method in one process."""
    n_folds = run.pick(2, 10)
    for name in run.sets:
        for n_jobs in run.pick((1,), (1, 2)):
            call = (name, list(run.methods), n_jobs, n_folds)
            case, each = compared(*call) if run.quick else in_process(compared, *call)
            run.keep("comparison", case, by="case")
            run.keep("comparison_methods", each, by="case")
    lines = []
    for row in run.kept("comparison").to_dict("records"):
        alone = row["jobs"] == 1
        lines.append({
            "set": row["set"], "rows x columns": f"{row['rows']:,} x {row['columns']}",
            "methods x folds": f"{row['methods']} x {row['folds']}", "processes": row["jobs"],
            "wall s": f"{row['wall s']:.1f}", "CPU s": f"{row['CPU s']:.1f}",
            "MB before": f"{row['MB before']:.0f}",
            "MB more, all processes": f"{row['MB more']:.0f}",
            "private MB, largest worker": "" if alone else f"{row['MB of a worker']:.0f}",
            "encoded MB": f"{row['encoded MB']:.2f}" if alone else "",
            "copies of it, in calls": f"{row['copies']} in {row['calls']}" if alone else "",
        })  # fmt: skip
    run.table(
        "comparison",
        lines,
        f"compare() of treeselect, sizes up to {LARGEST}: seconds and peak memory of all processes"
        " (proportional set size, above what the process held before: libraries and data). Encoded:"
        " the binned columns, and how many copies of them all methods and folds were given.",
    )
    each = run.kept("comparison_methods")
    run.table(
        "comparison_methods",
        [
            {
                "set": row["case"].removesuffix(", 1"),
                "method": row["method"],
                "options": row["options"],
                "wall s, all folds": f"{row['wall s']:.1f}",
                f"mean score at k = {LARGEST}": f"{row['score']:.3f}",
            }
            for row in each[each["case"].str.endswith(", 1")].to_dict("records")
        ],
        f"compare() of treeselect in one process, by method: seconds of the paths and models at k ="
        f" {LARGEST}, summed over the folds, and mean score.",
    )


PARTS = {"resample": resample, "compare": compare}


def main():
    """Write the tables."""
    quick = {"cases": ("quick",), "sets": ("simulated",), "methods": ("mrmr",), "rounds": 1}
    run = Run(__doc__, parts=PARTS, cases=CASES, sets=SETS, methods=METHODS, rounds=3, quick=quick)
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
