"""compare() on german credit and adult: seconds, and memory of all processes together.

    python benchmarks/comparison.py [--quick] [--jobs 1 2] [--sets german adult] [--methods ...]

Ten methods in ten folds, sizes up to 8, adult cut to its first 10,000 rows; each case in a process
of its own, in which all kernels were loaded before. CPU seconds are those of the process and its
workers. Memory is read twenty times a second: the proportional set size of all of them, in which a
page that several share counts once, above what the process held before, the data among it. In the
process alone the encoded arrays that each method and fold is given are looked at, too: binned
columns stand in memory once, however many methods and folds there are.

The sets are read from the folder in TREESELECT_DATA, by default ../shared/data. Cases that are not
run again stay in the table as they are. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
from tables import RESULTS, data_folder, options_text, with_earlier, write_table

import treeselect
from treeselect.algorithms.registry import METHODS as KINDS
from treeselect.comparison import methods

SETS = {"german": ("german_credit", "target"), "adult": ("adult", "income")}
MOST_ROWS, SIZE, FOLDS = 10_000, 8, 10

METHODS = {
    "controlburn": {},
    "rrf": {"n_trees": 50},
    "grrf": {"n_trees": 50},
    "rboost": {"n_trees": 10},
    "gbfs": {"n_trees": 50},
    "importance": {},
    "rfe": {},
    "lasso": {},
    "boruta": {"max_rounds": 10},
    "mrmr": {},
}
"""With the options that are not the default, of methods that would take an hour otherwise."""

QUICK = ("importance", "mrmr")


def load(name):
    """The data of a case and its formula."""
    if name == "simulated":
        simulated = treeselect.datasets.simulate_friedman(200, seed=1)
        return simulated.data, simulated.formula
    file, response = SETS[name]
    return pd.read_parquet(data_folder() / f"{file}.parquet").head(MOST_ROWS), f"{response} ~ ."


def family_of_processes():
    """This process and those below it."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text()
        except OSError:  # it has ended
            continue
        parents[int(folder.name)] = int(text.rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {p for p, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def memory_of(process):
    """Proportional and private bytes of a process, 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0
    kilobytes = {key: int(rest.split()[0]) for key, _, rest in (x.partition(":") for x in lines)}
    private = kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]
    return kilobytes["Pss"] * 1024, private * 1024


def cpu_seconds():
    """Of this process and those below it, the ended ones that were waited for included."""
    ticks = 0
    for process in family_of_processes():
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


class Watch:
    """Largest memory while something runs."""

    def __init__(self):
        self.together, self.largest_worker = 0, 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._done.set()
        self._thread.join()

    def _look(self):
        is_done = False
        while not is_done:
            is_done = self._done.wait(0.05)
            found = {process: memory_of(process) for process in family_of_processes()}
            self.together = max(self.together, sum(pss for pss, _ in found.values()))
            workers = [own for process, (_, own) in found.items() if process != os.getpid()]
            self.largest_worker = max([self.largest_worker, *workers])


class Copies:
    """The binned arrays that compare() hands to methods and folds in this process."""

    def __init__(self):
        self._plain = methods.follow_fold
        self.at, self.size, self.calls = set(), 0, 0

    def __enter__(self):
        methods.follow_fold = self._noted
        return self

    def __exit__(self, *error):
        methods.follow_fold = self._plain

    def _noted(self, problem, *arguments, **options):
        self.calls += 1
        self.at.add(problem.data.blocks.__array_interface__["data"][0])
        self.size = sum(array.nbytes for array in problem.data)
        return self._plain(problem, *arguments, **options)


def one_case(name, methods, n_jobs, n_folds):
    """What compare() takes, as a dict."""
    frame, formula = load(name)
    built = {method: KINDS[method](**METHODS.get(method, {})) for method in methods}
    few = frame.sample(100, random_state=0).reset_index(drop=True)
    arguments = {"seed": 1, "n_jobs": n_jobs, "progress": False}
    treeselect.compare(formula, few, built, k=2, folds=2, **arguments)
    before = sum(memory_of(process)[0] for process in family_of_processes())
    cpu, wall = cpu_seconds(), time.perf_counter()
    with Watch() as watch, Copies() as copies:
        found = treeselect.compare(formula, frame, built, k=SIZE, folds=n_folds, **arguments)
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    at_size = found.tidy().query("k == @SIZE")
    case = {
        "case": f"{name}, {n_jobs}", "set": name, "jobs": n_jobs, "rows": len(frame),
        "columns": frame.shape[1] - 1, "methods": len(built), "folds": n_folds, "wall s": wall,
        "CPU s": cpu, "MB before": before / 1e6, "MB more": (watch.together - before) / 1e6,
        "MB of a worker": watch.largest_worker / 1e6, "encoded MB": copies.size / 1e6,
        "calls": copies.calls, "copies": len(copies.at),
    }  # fmt: skip
    seconds = at_size.groupby("method", sort=False)["seconds"].sum().to_dict()
    scores = at_size.groupby("method", sort=False)["score"].mean().to_dict()
    each = [
        {
            "case": case["case"], "method": m, "options": options_text(METHODS.get(m, {})),
            "wall s": seconds[m], "score": scores[m],
        }
        for m in built
    ]  # fmt: skip
    return {"case": [case], "each": each}


def cases_table(summary):
    """The lines to print."""
    lines = []
    for row in summary.to_dict("records"):
        alone = row["jobs"] == 1
        lines.append(
            {
                "set": row["set"],
                "rows x columns": f"{row['rows']:,} x {row['columns']}",
                "methods x folds": f"{row['methods']} x {row['folds']}",
                "processes": row["jobs"],
                "wall s": f"{row['wall s']:.1f}",
                "CPU s": f"{row['CPU s']:.1f}",
                "MB before": f"{row['MB before']:.0f}",
                "MB more, all processes": f"{row['MB more']:.0f}",
                "private MB, largest worker": "" if alone else f"{row['MB of a worker']:.0f}",
                "encoded MB": f"{row['encoded MB']:.2f}" if alone else "",
                "copies of it, in calls": f"{row['copies']} in {row['calls']}" if alone else "",
            }
        )
    return pd.DataFrame(lines)


def methods_table(each):
    """Seconds by method, over the folds, and mean score, of the cases in one process."""
    each = each[each["case"].str.endswith(", 1")]
    table = each.assign(
        set=each["case"].str.removesuffix(", 1"),
        score=each["score"].map("{:.3f}".format),
        seconds=each["wall s"].map("{:.1f}".format),
    )
    columns = ["set", "method", "options", "seconds", "score"]
    return table[columns].rename(
        columns={"seconds": "wall s, all folds", "score": f"mean score at k = {SIZE}"}
    )


def main():
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(KINDS))
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(one_case(*json.loads(options.case))))
        return
    names = ["simulated"] if options.quick else options.sets
    methods, n_folds = (list(QUICK), 2) if options.quick else (options.methods, FOLDS)
    found = {"case": [], "each": []}
    for case in [[name, methods, jobs, n_folds] for name in names for jobs in options.jobs]:
        command = [sys.executable, __file__, "--case", json.dumps(case)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        part = json.loads(done.stdout.splitlines()[-1])
        for key, rows in part.items():
            found[key] += rows
            if not options.quick:
                file = {"case": "comparison", "each": "comparison_methods"}[key]
                with_earlier(file, pd.DataFrame(rows), by="case", quick=False)
    if options.quick:
        summary, each = pd.DataFrame(found["case"]), pd.DataFrame(found["each"])
    else:
        summary = pd.read_csv(RESULTS / "comparison.csv")
        each = pd.read_csv(RESULTS / "comparison_methods.csv")
    write_table(
        "comparison",
        cases_table(summary),
        f"compare() of treeselect, sizes up to {SIZE}: seconds and peak memory of all processes"
        " (proportional set size, above what the process held before: libraries and data). Encoded:"
        " the binned columns, and how many copies of them all methods and folds were given.",
        quick=options.quick,
    )
    write_table(
        "comparison_methods",
        methods_table(each),
        f"compare() of treeselect in one process, by method: seconds of the paths and models at k ="
        f" {SIZE}, summed over the folds, and mean score.",
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
