"""Whole calls, from the frame to the answer, beside others that do the same job.

    python benchmarks/whole.py [--quick] [--cases adult ...] [--runs 3] [--no-peers]

Each call runs in a process of its own, in which the same call on a few rows has loaded the kernels
(except ``first`` and ``cold``, which are timed from the start of Python). CPU seconds are those of
the process and its workers. Memory is the largest proportional set size of all of them above what
they held when the frame was in memory. Ours and the peer's run take turns, ``--runs`` times; the
least of each counts, and a call of more than a minute runs once.

Peers go from a frame with response y to k variables and a model of them, given what a user of
theirs would give (text as categories, gaps where the library takes them): LightGBM by its gains,
scikit-learn's forest with RFECV, ranger's corrected impurity, each fitted again to its first k
variables, and glmnet (lasso, ten folds); of those in R (``whole_peers.R``) the CSV file that they
read counts. Needs Linux.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from harness import Run, in_process, shown, sorted_rows, stored, watched

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


def real(file: str, response: str, *without: str) -> Callable[..., pd.DataFrame]:
    """A set of the benchmark folder, its response named y."""

    def frame(n=None):
        whole = stored(file, response, without=without)
        return whole if n is None else whole.sample(min(n, len(whole)), random_state=0)

    return frame


def long(n_rows: int, n_columns: int = 30) -> Callable[..., pd.DataFrame]:
    """Numbers, some of them missing, and eight factors of text; five columns are true."""

    def frame(n=None):
        rng = np.random.default_rng(1)
        rows, n_factors = min(n or n_rows, n_rows), n_columns // 4
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


adult, golub = real("adult", "income"), real("gene/golub", "target")
colic = real("horse_colic_raw", "surgical_lesion", "outcome")
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

QUICK = {"quick": Case(long(100, 5), select(k=1), 1, "lightgbm")}

FIRST = (
    "import treeselect; data = treeselect.datasets.load('titanic_correlated');"
    " treeselect.select('survived ~ .', data, k=3, seed=1)"
)


# --- peers -------------------------------------------------------------------------------------

K = 5


def is_there(name):
    """Whether a peer can run here."""
    if name not in ("ranger", "glmnet"):
        package = {"rfecv": "sklearn"}.get(name, name)
        return importlib.util.find_spec(package) is not None
    if shutil.which("Rscript") is None:
        return False
    asked = f"quit(status = !requireNamespace('{name}', quietly = TRUE))"
    return subprocess.run(["Rscript", "-e", asked], capture_output=True).returncode == 0


def _parts(frame):
    """Columns with text as categories, and the response as numbers."""
    columns = frame.drop(columns="y")
    text = [c for c in columns if not pd.api.types.is_numeric_dtype(columns[c])]
    y = frame["y"]
    is_class = not pd.api.types.is_float_dtype(y)
    return columns.astype(dict.fromkeys(text, "category")), pd.factorize(y)[0] if is_class else y


def lightgbm(frame):
    """100 trees on all columns, the first K by gain, 100 trees on these."""
    import lightgbm as lgb

    columns, y = _parts(frame)
    kind = lgb.LGBMClassifier if pd.Series(y).nunique() < 10 else lgb.LGBMRegressor
    model = kind(importance_type="gain", verbose=-1, n_jobs=2).fit(columns, y)
    gains = pd.Series(model.feature_importances_, columns.columns)
    names = gains.nlargest(K).index.tolist()
    kind(verbose=-1, n_jobs=2).fit(columns[names], y)
    return names


def rfecv(frame):
    """scikit-learn's RFECV with five folds around a forest of 100 trees; categories as codes."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.feature_selection import RFECV

    columns, y = _parts(frame)
    codes = columns.apply(lambda c: c.cat.codes if c.dtype == "category" else c)
    forest = RandomForestClassifier(100, random_state=1, n_jobs=2)
    found = RFECV(forest, min_features_to_select=1, cv=5).fit(codes, y)
    return codes.columns[found.support_].tolist()


def in_r(name, frame):
    """500 trees of ranger and 500 on its first K, or cv.glmnet with ten folds."""
    script = Path(__file__).parent / "whole_peers.R"
    with tempfile.TemporaryDirectory() as folder:
        frame.to_csv(Path(folder) / "frame.csv", index=False)
        command = ["Rscript", script, name, Path(folder) / "frame.csv", str(K)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


PEERS = {
    "lightgbm": lightgbm, "rfecv": rfecv, "ranger": partial(in_r, "ranger"),
    "glmnet": partial(in_r, "glmnet"),
}  # fmt: skip


# --- clocks ------------------------------------------------------------------------------------


def taken(case: Case, who: str = "treeselect") -> dict[str, float]:
    """What a call takes in this process."""
    call, ready = (
        (case.call, case.ready) if who == "treeselect" else (PEERS[who], lambda frame: frame)
    )

    def called(given):
        return call(*given) if isinstance(given, tuple) else call(given)

    few, whole = ready(case.frame(300)), case.frame()
    called(few)
    given = ready(whole)
    answer, found = watched(lambda: called(given))
    return found | {
        "bytes a row": 1e6 * found["MB"] / len(whole),
        "MB of the file": answer if isinstance(answer, float) else np.nan,
    }


def one_run(name: str, who: str) -> dict[str, float]:
    """The same of a case."""
    return taken(CASES[name], who)


def one_start(name: str) -> dict[str, float]:
    """What a new process takes until its first answer."""
    with tempfile.TemporaryDirectory() as folder:
        cache = {"TREESELECT_CACHE_DIR": folder} if name == "cold" else {}
        command = [sys.executable, "-c", FIRST]
        _, found = watched(lambda: subprocess.run(command, check=True, env=os.environ | cache))
    return found | dict.fromkeys(("MB", "bytes a row", "MB of the file"), np.nan)


def least(measure: Callable[[str], dict], who_runs: list[str], runs: int, clock: str) -> dict:
    """By program the run with the least seconds; they take turns, and long ones run once."""
    found: dict[str, list[dict]] = {who: [] for who in who_runs}
    for _ in range(runs):
        for who, done in found.items():
            if not done or done[0]["wall s"] < ONCE:
                done.append(measure(who))
    return {who: min(done, key=lambda one: one[clock]) for who, done in found.items()}


def line_of(name: str, run: Run) -> dict:
    """A row of the results."""
    case = (CASES | QUICK).get(name)
    peer = case.peer if case is not None and not run.no_peers else None
    who_runs = ["treeselect", *([peer] if peer and is_there(peer) else [])]

    def measure(who: str) -> dict:
        if case is None:
            return one_start(name)
        return taken(case, who) if run.quick else in_process(one_run, name, who)

    best = least(measure, who_runs, run.runs, "CPU s")
    ours, theirs = best["treeselect"], best.get(peer, {})
    kept = ("CPU s", "wall s", "MB", "bytes a row", "MB of the file", "load")
    return {
        "case": name, "asked s": STARTS[name] if case is None else case.asked,
        **{what: ours[what] for what in kept}, "peer": peer if theirs else "",
        **{f"peer {what}": theirs.get(what, np.nan) for what in kept[:3]},
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


def table_of(summary: pd.DataFrame) -> list[dict]:
    """The lines to print."""
    return [
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
    ]


def main() -> None:
    """Run the cases and write the table."""
    names = [*STARTS, *CASES]
    quick = {"cases": ("quick",), "runs": 1}
    run = Run(__doc__, cases=names, runs=3, no_peers=False, quick=quick)
    for name in run.cases:
        run.keep("whole", line_of(name, run), by="case")
    summary = sorted_rows(run.kept("whole", text=("peer",)), case=names)
    run.table(
        "whole",
        table_of(summary),
        "treeselect, whole calls and those of others: CPU and wall seconds and memory above the"
        " frame, the least of several runs in turn; load: how many processes the machine, of"
        f" {os.cpu_count()} processors, wanted to run in all.{exponents(summary)}",
    )


if __name__ == "__main__":
    main()
