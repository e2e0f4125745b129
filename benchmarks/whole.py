"""Whole calls, from the frame to the answer, beside others that do the same job; and how they grow.

    python benchmarks/whole.py [--quick] [--cases adult ...] [--axes rows ...] [--runs 3]

Each call runs in a process of its own, in which the same call on a few rows has loaded the kernels.
CPU seconds are those of the process and its workers. Memory is the largest proportional set size
of all of them above what they held when the frame was in memory. Ours and the peer's run take
turns, ``--runs`` times; the least of each counts, and a call of more than a minute runs once.

Then one quantity grows at a time, in the default call with k = 5:

rows        30 columns, eight of them factors, 5 % of some numbers missing; two classes
columns     500 rows of numbers, of which five are true; a number as the response
levels      20,000 rows, nine numbers and a factor of so many levels
resamples   ``fit.resample(B)`` of 1,000 rows of 30 columns
rows, ...   two resamples of so many rows of 20 numbers, by exchange search and by mRMR; memory
            with the data
processes   ``fit.resample(50, n_jobs=...)`` of 1,000 rows: wall seconds, and those of one process
            divided by them

An exponent is the slope of the logarithm of CPU seconds on that of the quantity, by least squares
over all points but the first, in which fixed costs dominate; its standard error is that of the
regression. ``--cases`` or ``--axes`` without a name runs none.

Peers go from a frame with response y to k variables and a model of them, given what a user of
theirs would give (text as categories, gaps where the library takes them): LightGBM by its gains,
ranger's corrected impurity, each fitted again to its first k variables, and glmnet (lasso, ten
folds); of those in R (``whole_peers.R``) the CSV file that they read counts. Needs Linux.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from harness import Run, by_r, held, in_process, is_here, r_has, shown, sorted_rows, stored, watched
from matplotlib.figure import Figure
from scipy.stats import linregress

import treeselect

OURS, K, ONCE = "treeselect", 5, 60.0
"""How many variables are asked for, and the seconds of a call that is not repeated."""


class Case(NamedTuple):
    """A call that is timed: ``frame`` makes the data (with fewer rows for the kernels), ``ready``
    what is made before the clock starts, ``call`` is timed with that; the data are part of the
    memory of a case that ``counts_data``."""

    frame: Callable[..., pd.DataFrame]
    call: Callable[..., Any]
    peers: tuple[str, ...] = ()
    ready: Callable[..., Any] = lambda frame: frame
    counts_data: bool = False


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


def levels(n_levels: int) -> Callable[..., pd.DataFrame]:
    """Nine numbers and a factor, of which a tenth of the levels matter; two classes."""

    def frame(n=None):
        rng = np.random.default_rng(1)
        rows = n or 20_000
        found = {f"x{j}": rng.standard_normal(rows) for j in range(9)}
        codes = rng.integers(min(n_levels, rows // 10), size=rows)  # few in the first call
        eta = found["x0"] + 1.5 * (codes % 10 == 0)
        found["f"] = np.array([f"level {i}" for i in range(n_levels)])[codes]
        return pd.DataFrame(found).assign(y=np.where(rng.logistic(size=rows) < eta, "yes", "no"))

    return frame


def wide(n_rows: int, n_columns: int) -> Callable[..., pd.DataFrame]:
    """Numbers, of which five are true."""

    def frame(n=None):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(min(n or n_rows, n_rows), n_columns if n is None else 20))
        y = X[:, :5] @ np.array([2.0, -1.5, 1.5, 1.0, -1.0]) + rng.normal(size=len(X))
        return pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])]).assign(y=y)

    return frame


# --- calls -------------------------------------------------------------------------------------


def select(**options: Any) -> Callable[..., Any]:
    """``select("y ~ .", frame, ...)`` with a seed."""
    return lambda frame: treeselect.select("y ~ .", frame, seed=1, progress=False, **options)


def of_fit(frame: Callable[..., pd.DataFrame], call: Callable[..., Any], **options: Any) -> Case:
    """A call with the fit, which is made before the clock starts, and its frame."""
    return Case(frame, lambda made: call(*made), (), lambda data: (select(**options)(data), data))


def resampled(n: int, frame: Any = None, n_jobs: int = 1, k: int = K, **options: Any) -> Case:
    """Resamples of a fit."""
    return of_fit(
        frame or long(1_000), lambda fit, _: fit.resample(n, n_jobs=n_jobs), k=k, **options
    )


def report(fit, _):
    """The page."""
    with tempfile.TemporaryDirectory() as folder:
        fit.report(Path(folder) / "report.html")


adult, golub = real("adult", "income"), real("gene/golub", "target")
colic = real("horse_colic_raw", "surgical_lesion", "outcome")
HALF_MILLION, FIVE = long(500_000), {"k": K}

CASES = {
    "adult": Case(adult, select(), ("lightgbm",)),
    "adult, 100 resamples": of_fit(adult, lambda fit, _: fit.resample(100)),
    "500,000 x 30": Case(HALF_MILLION, select(**FIVE), ("lightgbm",)),
    "500,000 x 30, predict": of_fit(HALF_MILLION, lambda fit, frame: fit.predict(frame), **FIVE),
    "500,000 x 30, report": of_fit(HALF_MILLION, report, **FIVE),
    "500,000 x 30, refit glm": of_fit(
        HALF_MILLION, lambda fit, _: fit.refit("glm").summary(), **FIVE
    ),
    "golub, exchange": Case(golub, select(**FIVE), ("glmnet",)),
    "golub, ControlBurn": Case(golub, select(method="controlburn", **FIVE)),
    "golub, RRF": Case(golub, select(method="rrf", **FIVE), ("ranger",)),
    "golub, GRRF": Case(golub, select(method="grrf", **FIVE)),
    "golub, RBoost": Case(golub, select(method="rboost", **FIVE)),
    'golub, k = "1se"': Case(golub, select(k="1se"), ("glmnet",)),
    # Without LightGBM, which did not end within six minutes.
    "500 x 100,000": Case(wide(500, 100_000), select(**FIVE)),
    "horse colic, 100 resamples": of_fit(colic, lambda fit, _: fit.resample(100)),
    "horse colic, performance": of_fit(
        colic, lambda fit, _: fit.performance(folds=5, repeats=2), folds=10
    ),
    "horse colic, inference": of_fit(colic, lambda fit, _: fit.inference(repeats=20)),
}


class Axis(NamedTuple):
    """What grows: the call at each value, and peers with the largest value at which they run."""

    values: tuple[int, ...]
    case: Callable[[int], Case]
    peers: dict[str, int]
    clock: str = "CPU s"


AXES = {
    "rows": Axis(
        (1_000, 10_000, 100_000, 1_000_000, 5_000_000), lambda n: Case(long(n), select(**FIVE)),
        {"lightgbm": 1_000_000, "ranger": 100_000},
    ),
    "columns": Axis(
        (10, 100, 1_000, 10_000), lambda p: Case(wide(500, p), select(**FIVE)),
        {"lightgbm": 10_000, "ranger": 10_000},
    ),
    "levels": Axis(
        (2, 20, 200, 2_000), lambda n: Case(levels(n), select(**FIVE)), {"lightgbm": 2_000}
    ),
    "resamples": Axis((10, 30, 100, 300), resampled, {}),
    **{
        f"rows, {method}": Axis(
            (100_000, 1_000_000),
            lambda n, method=method: resampled(2, wide(n, 20), method=method)._replace(
                counts_data=True
            ),
            {},
        )
        for method in ("exchange", "mrmr")
    },
    "processes": Axis((1, 2), lambda n: resampled(50, n_jobs=n), {}, "wall s"),
}  # fmt: skip
QUICK = {
    "quick": Case(long(100, 5), select(k=1), ("lightgbm",)),
    "resamples, 2": resampled(2, long(100), k=2),
    "resamples, 3": resampled(3, long(100), k=2),
}


def case_of(name: str) -> Case:
    """A case by its name, which of a point is that of its axis and its value."""
    if name in CASES | QUICK:
        return (CASES | QUICK)[name]
    axis, _, value = name.rpartition(", ")
    return AXES[axis].case(int(value))


# --- peers -------------------------------------------------------------------------------------


def is_there(name):
    """Whether a peer can run here."""
    return bool(r_has(name)) if name in ("ranger", "glmnet") else is_here(name)


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


def in_r(name, frame):
    """500 trees of ranger and 500 on its first K, or cv.glmnet with ten folds."""
    return by_r("whole_peers.R", name, frame, str(K))


PEERS = {"lightgbm": lightgbm} | {name: partial(in_r, name) for name in ("ranger", "glmnet")}


# --- clocks ------------------------------------------------------------------------------------


def taken(name: str, who: str) -> dict[str, float]:
    """What a call takes in this process."""
    case = case_of(name)
    call, ready = (case.call, case.ready) if who == OURS else (PEERS[who], lambda frame: frame)
    call(ready(case.frame(300)))
    before = held() if case.counts_data else None
    given = ready(case.frame())
    return watched(lambda: call(given), before)[1]


def measured(run: Run, name: str, peers: Any = (), clock: str = "CPU s") -> list[dict]:
    """By program, the run of a case with the least seconds."""
    found: dict[str, list[dict]] = {who: [] for who in (OURS, *filter(is_there, peers))}
    for _ in range(run.runs):
        for who, done in found.items():
            if not done or done[0]["wall s"] < ONCE:
                work = taken if run.quick else partial(in_process, taken)
                done.append(work(name, who))
    return [
        {"case": name, "who": who, **min(done, key=lambda one: one[clock])}
        for who, done in found.items()
    ]


# --- tables ------------------------------------------------------------------------------------


def table_of(summary: pd.DataFrame) -> list[dict]:
    """A line for each call and program."""
    return [
        {
            "call": row["case"], "program": row["who"], "CPU s": shown(row["CPU s"], None, 1),
            "wall s": shown(row["wall s"], None, 1), "MB more": shown(row["MB"], None, 0),
            "load": shown(row["load"], None, 1),
        }
        for row in summary.to_dict("records")
    ]  # fmt: skip


def exponent(values: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Slope of the logarithms over all points but the first, and its standard error."""
    if len(values) < 3:
        return np.nan, np.nan
    fit = linregress(np.log(values[1:]), np.log(seconds[1:]))
    return fit.slope, fit.stderr if len(values) > 3 else np.nan


def growth_of(summary: pd.DataFrame) -> list[dict]:
    """A line for each quantity and program."""
    lines = []
    for (name, who), part in summary.groupby(["axis", "who"], sort=False):
        clock = AXES[name].clock
        values, seconds = part["value"].to_numpy(float), part[clock].to_numpy(float)
        grows = shown(*exponent(values, seconds))
        if clock == "wall s":
            grows = ", ".join(f"{seconds[0] / s:.2f} times as fast" for s in seconds[1:])
        lines.append({
            "quantity": name, "program": who, "at": ", ".join(f"{int(v):,}" for v in values),
            "seconds": ", ".join(f"{s:.2g}" if s < 10 else f"{s:.0f}" for s in seconds),
            "clock": clock.split()[0], "exponent": grows,
            "MB more": ", ".join(f"{m:.0f}" for m in part["MB"]),
            "load": f"{part['load'].mean():.1f}",
        })  # fmt: skip
    return lines


def drawn(summary: pd.DataFrame) -> Figure:
    """Seconds against each quantity, both on logarithmic scales."""
    names = ("rows", "columns", "levels", "resamples")
    colours = {OURS: "#1b6ca8", "lightgbm": "#767676", "ranger": "#b07a2f"}
    figure = Figure(figsize=(10, 2.9), layout="constrained")
    panels = figure.subplots(1, len(names))
    for axes, name in zip(panels, names, strict=True):
        for who, part in summary[summary["axis"] == name].groupby("who", sort=False):
            axes.plot(part["value"], part["CPU s"], "o-", ms=4, color=colours[who], label=who)
        axes.set(xscale="log", yscale="log", xlabel=name)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("CPU seconds")
    panels[0].legend(handles=panels[0].lines, frameon=False)
    return figure


def main() -> None:
    """Run the cases and the points, and write the tables."""
    run = Run(
        __doc__, cases=CASES, axes=AXES, runs=3,
        quick={"cases": ("quick",), "axes": ("resamples",), "runs": 1},
    )  # fmt: skip
    for name in run.cases:
        run.keep("whole", measured(run, name, case_of(name).peers), by="case")
    for name in run.axes:
        axis = AXES[name]
        for value in run.pick((2, 3), axis.values):
            peers = [peer for peer, most in axis.peers.items() if value <= most]
            rows = measured(run, f"{name}, {value}", peers, axis.clock)
            found = [{"axis": name, "value": value, **row} for row in rows]
            run.keep("scaling", found, by="case")
    machine = f" Load: how many processes the machine, of {os.cpu_count()} processors, wanted to"
    run.table(
        "whole",
        table_of(sorted_rows(run.kept("whole"), case=CASES | QUICK)),
        "treeselect, whole calls and those of others: CPU and wall seconds and memory above the"
        f" frame, the least of several runs in turn.{machine} run.",
    )
    growth = sorted_rows(run.kept("scaling").sort_values("value", kind="stable"), axis=AXES)
    run.figure("scaling", drawn(growth))
    run.table(
        "scaling",
        growth_of(growth),
        "How seconds and memory above the frame grow in treeselect and in peers, one quantity at a"
        " time; the exponent is that of CPU seconds from the second value on (standard error)."
        " Rows, exchange and mrmr: two resamples, memory with the data."
        f"{machine} run.",
    )


if __name__ == "__main__":
    main()
