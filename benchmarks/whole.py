"""Whole calls, from the frame to the answer, beside others that do the same job.

    python benchmarks/whole.py [--quick] [--cases adult ...] [--runs 3] [--no-peers]

Each call runs in a process of its own, in which the same call on a few rows has loaded the kernels
(except ``first`` and ``cold``, which are timed from the start of Python). CPU seconds are those of
the process and its workers. Memory is the largest proportional set size of all of them above what
they held when the frame was in memory. Ours and the peer's run take turns, ``--runs`` times; the
least of each counts, and a call of more than a minute runs once. A row of the results per case;
those that are not run again stay as they are.

Peers (``whole_peers.py``): LightGBM by its gains, scikit-learn's forest with RFECV, ranger's
corrected impurity, each fitted again to its first k variables, and glmnet (lasso, ten folds; R).
Sets are read from the folder in TREESELECT_DATA, by default ../shared/data. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import whole_peers
from comparison import Watch, cpu_seconds, family_of_processes, memory_of
from tables import RESULTS, data_folder, shown, with_earlier, write_table

import treeselect
from treeselect.cli.commands import DEFAULT_METHODS

ONCE = 60.0
"""Seconds of a call that is not repeated."""

LEAST, MOST = 50, 1e5
"""Megabytes and bytes a row between which memory depends on the rows."""


class Case(NamedTuple):
    """A call that is timed.

    ``frame`` makes the data (with fewer rows for the kernels), ``ready`` what is made before the
    clock starts, ``call`` is timed with that; ``asked`` are the seconds that were aimed at.
    """

    frame: Callable[..., pd.DataFrame]
    call: Callable[..., Any]
    asked: float
    peer: str | None = None
    ready: Callable[..., Any] = lambda frame: frame


# --- data --------------------------------------------------------------------------------------


def stored(file: str, response: str, *without: str) -> Callable[..., pd.DataFrame]:
    """A set of the benchmark folder, its response named y."""

    def frame(n=None):
        whole = pd.read_parquet(data_folder() / f"{file}.parquet").drop(columns=list(without))
        whole = whole.rename(columns={response: "y"})
        return whole if n is None else whole.sample(min(n, len(whole)), random_state=0)

    return frame


def long(n_rows: int, n_columns: int = 30) -> Callable[..., pd.DataFrame]:
    """Numbers, some of them missing, and eight factors of text; five columns are true."""

    def frame(n=None):
        rng = np.random.default_rng(1)
        rows, n_factors = n or n_rows, n_columns // 4
        found = {f"x{j:02}": rng.normal(size=rows) for j in range(n_columns - n_factors)}
        names = list(found)
        eta = found["x00"] + found["x01"] * found["x02"] + np.sin(2 * found["x03"])
        for j, n_levels in zip(range(n_factors), np.geomspace(3, 60, n_factors), strict=True):
            codes = rng.integers(int(n_levels), size=rows)
            eta = eta + (codes == 0) * 1.5 if j == 0 else eta
            found[f"f{j}"] = np.array([f"level {i}" for i in range(int(n_levels))])[codes]
        for name in names[::5]:
            found[name][rng.random(rows) < 0.05] = np.nan
        found["y"] = np.where(rng.logistic(size=rows) < eta - 0.5, "yes", "no")
        return pd.DataFrame(found)

    return frame


def wide(n_rows: int, n_columns: int) -> Callable[..., pd.DataFrame]:
    """Numbers, of which five are true."""

    def frame(n=None):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(n_rows, n_columns if n is None else 20))
        y = X[:, :5] @ np.array([2.0, -1.5, 1.5, 1.0, -1.0]) + rng.normal(size=n_rows)
        return pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])]).assign(y=y)

    return frame


# --- calls -------------------------------------------------------------------------------------


def select(**options: Any) -> Callable[..., Any]:
    """``select("y ~ .", frame, ...)`` with a seed."""
    return lambda frame: treeselect.select("y ~ .", frame, seed=1, progress=False, **options)


def of_fit(call: Callable[..., Any], **options: Any) -> dict[str, Any]:
    """A call with the fit, which is made before the clock starts."""
    return {"ready": lambda frame: (select(**options)(frame), frame), "call": call}


def report(fit, _):
    """The page."""
    with tempfile.TemporaryDirectory() as folder:
        fit.report(Path(folder) / "report.html")


def save(fit, _):
    """The model file; its size in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        fit.save(path := Path(folder) / "model.treeselect")
        return path.stat().st_size / 1e6


def everything(**options: Any) -> Callable[..., Any]:
    """Comparison of the methods that the command ``treeselect compare`` takes by default."""
    return lambda frame: treeselect.compare(
        "y ~ .", frame, list(DEFAULT_METHODS), seed=1, progress=False, **options
    )


adult, golub = stored("adult", "income"), stored("gene/golub", "target")
colic = stored("horse_colic_raw", "surgical_lesion", "outcome")
HALF_MILLION, FIVE = long(500_000), {"k": 5}

CASES = {
    "adult": Case(adult, select(), 6, "lightgbm"),
    "adult, k = 5": Case(adult, select(**FIVE), 6, "rfecv"),
    "adult, 100 resamples": Case(adult, asked=120, **of_fit(lambda fit, _: fit.resample(100))),
    "500,000 x 30": Case(HALF_MILLION, select(**FIVE), 15, "lightgbm"),
    "500,000 x 30, importance": Case(HALF_MILLION, select(method="importance", **FIVE), 15,
                                     "ranger"),
    "500,000 x 30, lasso": Case(HALF_MILLION, select(method="lasso", **FIVE), 15),
    "500,000 x 30, predict": Case(
        HALF_MILLION, asked=np.nan, **of_fit(lambda fit, frame: fit.predict(frame), **FIVE)
    ),
    "500,000 x 30, encode": Case(
        HALF_MILLION, asked=np.nan,
        **of_fit(lambda fit, frame: fit.data.design.spec.encode(frame), **FIVE),
    ),
    "500,000 x 30, report": Case(HALF_MILLION, asked=8, **of_fit(report, **FIVE)),
    "500,000 x 30, model file": Case(HALF_MILLION, asked=np.nan, **of_fit(save, **FIVE)),
    "500,000 x 30, refit glm": Case(
        HALF_MILLION, asked=15, **of_fit(lambda fit, _: fit.refit("glm").summary(), **FIVE)
    ),
    "50,000 x 30": Case(long(50_000), select(**FIVE), np.nan),
    "200,000 x 30": Case(long(200_000), select(**FIVE), np.nan),
    "2,000,000 x 30": Case(long(2_000_000), select(**FIVE), np.nan),
    "5,000,000 x 30": Case(long(5_000_000), select(**FIVE), np.nan),
    "golub, exchange": Case(golub, select(**FIVE), 2, "glmnet"),
    "golub, ControlBurn": Case(golub, select(method="controlburn", **FIVE), 2),
    "golub, RRF": Case(golub, select(method="rrf", **FIVE), 1.2, "ranger"),
    "golub, GRRF": Case(golub, select(method="grrf", **FIVE), 1.5),
    "golub, RBoost": Case(golub, select(method="rboost", **FIVE), np.nan),
    'golub, k = "1se"': Case(golub, select(k="1se"), 12, "glmnet"),
    'golub, ControlBurn, k = "1se"': Case(golub, select(method="controlburn", k="1se"), 12),
    "golub, 100 resamples": Case(
        golub, asked=100, **of_fit(lambda fit, _: fit.resample(100), **FIVE)
    ),
    # Without LightGBM, which did not end within six minutes.
    "500 x 100,000": Case(wide(500, 100_000), select(**FIVE), 30),
    "horse colic, 100 resamples": Case(
        colic, asked=8, **of_fit(lambda fit, _: fit.resample(100))
    ),
    "horse colic, performance": Case(
        colic, asked=20,
        **of_fit(lambda fit, _: fit.performance(folds=5, repeats=2), folds=10),
    ),
    "horse colic, inference": Case(
        colic, asked=25, **of_fit(lambda fit, _: fit.inference(repeats=20))
    ),
    "compare, adult": Case(adult, everything(), 120),
    "compare, adult, rows = 12,500": Case(adult, everything(rows=12_500), 120),
}  # fmt: skip
STARTS = {"first": 1.5, "cold": 10.0}
"""Python until the first answer on the Titanic data, k = 3: kernels compiled before, and not."""

QUICK = {"quick": Case(long(300, 8), select(k=2), 1, "lightgbm")}

FIRST = (
    "import treeselect; data = treeselect.datasets.load('titanic_correlated');"
    " treeselect.select('survived ~ .', data, k=3, seed=1)"
)


# --- clocks ------------------------------------------------------------------------------------


def held() -> int:
    """Bytes of all processes."""
    return sum(memory_of(process)[0] for process in family_of_processes())


def one_run(case: Case, who: str) -> dict[str, float]:
    """What a call takes in this process."""
    call = case.call if who == "treeselect" else getattr(whole_peers, who)
    ready = case.ready if who == "treeselect" else (lambda frame: frame)
    few, whole = ready(case.frame(300)), case.frame()
    call(*few) if isinstance(few, tuple) else call(few)
    given = ready(whole)
    before = held()
    with Watch() as watch:
        cpu, wall = cpu_seconds(), time.perf_counter()
        answer = call(*given) if isinstance(given, tuple) else call(given)
        wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    more = max(watch.together - before, 0)
    return {
        "CPU s": cpu, "wall s": wall, "MB": more / 1e6, "bytes a row": more / len(whole),
        "MB of the file": answer if isinstance(answer, float) else np.nan,
    }  # fmt: skip


def one_start(name: str) -> dict[str, float]:
    """What a new process takes until its first answer."""
    with tempfile.TemporaryDirectory() as folder:
        cache = {"TREESELECT_CACHE_DIR": folder} if name == "cold" else {}
        before, wall = os.times(), time.perf_counter()
        subprocess.run([sys.executable, "-c", FIRST], check=True, env=os.environ | cache)
        wall, after = time.perf_counter() - wall, os.times()
    cpu = after.children_user + after.children_system
    return {
        "CPU s": cpu - before.children_user - before.children_system, "wall s": wall,
        "MB": np.nan, "bytes a row": np.nan, "MB of the file": np.nan,
    }  # fmt: skip


def apart(name: str, who: str) -> dict[str, float]:
    """One run in a process of its own."""
    if name in STARTS:
        return one_start(name)
    command = [sys.executable, __file__, "--run", json.dumps([name, who])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}, {who}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def line_of(name: str, runs: int, run: Callable[..., dict[str, float]], peers: bool) -> dict:
    """A row of the results: the run with the least CPU seconds of each."""
    case = (CASES | QUICK).get(name)
    asked = STARTS[name] if case is None else case.asked
    peer = case.peer if case is not None and peers else None
    if peer is not None and not whole_peers.is_there(peer):
        peer = None
    found: dict[str, list] = {who: [] for who in ("treeselect", peer) if who is not None}
    for _ in range(runs):
        for who, done in found.items():
            if not done or done[0]["wall s"] < ONCE:
                done.append(run(name, who))
    ours = min(found["treeselect"], key=lambda one: one["CPU s"])
    theirs = min(found[peer], key=lambda one: one["CPU s"]) if peer else {}
    return {
        "case": name, "asked s": asked, **ours, "load": os.getloadavg()[0], "peer": peer or "",
        "peer CPU s": theirs.get("CPU s", np.nan), "peer wall s": theirs.get("wall s", np.nan),
        "peer MB": theirs.get("MB", np.nan),
    }  # fmt: skip


# --- tables ------------------------------------------------------------------------------------


def exponents(summary: pd.DataFrame) -> str:
    """Growth of CPU seconds with the rows, from 50,000 on: slope of the logarithms."""
    sizes = {50_000: "50,000 x 30", 200_000: "200,000 x 30", 500_000: "500,000 x 30",
             2_000_000: "2,000,000 x 30", 5_000_000: "5,000,000 x 30"}  # fmt: skip
    seconds = summary.set_index("case")["CPU s"]
    known = {n: seconds[name] for n, name in sizes.items() if name in seconds}
    if len(known) < 2:
        return ""
    slope = np.polyfit(np.log(list(known)), np.log(list(known.values())), 1)[0]
    return f" CPU seconds grow with the rows to the power of {slope:.2f} ({len(known)} sizes)."


def table_of(summary: pd.DataFrame) -> pd.DataFrame:
    """The lines to print."""
    return pd.DataFrame(
        {
            "call": row["case"],
            "wanted s": shown(row["asked s"], None, 1),
            "CPU s": shown(row["CPU s"], None, 1),
            "wall s": shown(row["wall s"], None, 1),
            "MB more": shown(row["MB"], None, 0),
            "bytes a row": ""
            if row["MB"] < LEAST or row["bytes a row"] > MOST
            else shown(row["bytes a row"], None, 0),
            "file MB": shown(row["MB of the file"], None, 1),
            "peer": row["peer"],
            "peer CPU s": shown(row["peer CPU s"], None, 1),
            "peer wall s": shown(row["peer wall s"], None, 1),
            "peer MB": shown(row["peer MB"], None, 0),
            "load": shown(row["load"], None, 1),
        }
        for row in summary.to_dict("records")
    )


def main() -> None:
    """Run the cases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--runs", type=int, default=3)
    names = [*STARTS, *CASES]
    parser.add_argument("--cases", nargs="*", default=names, choices=names)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        name, who = json.loads(options.run)
        print(json.dumps(one_run(CASES[name], who)))
        return
    if options.quick:
        line = line_of("quick", 1, lambda name, who: one_run(QUICK[name], who), True)
        summary = pd.DataFrame([line])
    else:
        for name in options.cases:
            line = pd.DataFrame([line_of(name, options.runs, apart, not options.no_peers)])
            with_earlier("whole", line, by="case", quick=False, folder=options.results)
        summary = pd.read_csv(options.results / "whole.csv").fillna({"peer": ""})
        order = {name: i for i, name in enumerate(names)}
        summary = summary.sort_values("case", key=lambda case: case.map(order))
    write_table(
        "whole",
        table_of(summary),
        "treeselect, whole calls and those of others: CPU and wall seconds and memory above the"
        " frame, the least of several runs in turn; load: how many processes the machine, of"
        f" {os.cpu_count()} processors, wanted to run in all.{exponents(summary)}",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
