"""How time and memory grow: with rows, columns, levels of a factor, resamples and processes.

    python benchmarks/scaling.py [--quick] [--axes rows columns ...] [--runs 1] [--no-peers]

One quantity grows at a time, in the default call with k = 5, ``select("y ~ .", frame, k=5)``:

rows        30 columns, eight of them factors, 5 % of some numbers missing; two classes
columns     500 rows of numbers, of which five are true; a number as the response
levels      20,000 rows, nine numbers and a factor of so many levels
resamples   ``fit.resample(B)`` of 1,000 rows of 30 columns
processes   ``fit.resample(50, n_jobs=...)`` of the same: wall seconds, and those of one process
            divided by them

Each point is a run of ``whole.py``: in a process of its own, after the same call on a few rows,
ours and the peers' in turn, the least of the runs. Peers are LightGBM's gains and ranger's
corrected impurity, each fitted again to its first five columns. An exponent is the slope of the
logarithm of CPU seconds on that of the quantity, by least squares over all points but the first, in
which fixed costs dominate; its standard error is that of the regression. Needs Linux.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from harness import Run, in_process, shown, sorted_rows
from matplotlib.figure import Figure
from whole import Case, is_there, least, long, of_fit, select, taken, wide

OURS = "treeselect"
COLOURS = {OURS: "#1b6ca8", "lightgbm": "#767676", "ranger": "#b07a2f"}


class Axis(NamedTuple):
    """What grows: the call at each value, and peers with the largest value at which they run."""

    values: tuple[int, ...]
    case: Callable[[int], Case]
    peers: dict[str, int]
    clock: str = "CPU s"


def levels(n_levels: int, n_rows: int = 20_000) -> Callable[..., pd.DataFrame]:
    """Nine numbers and a factor, of which a tenth of the levels matter; two classes."""

    def frame(n=None):
        rng = np.random.default_rng(1)
        rows = n or n_rows
        found = {f"x{j}": rng.standard_normal(rows) for j in range(9)}
        codes = rng.integers(min(n_levels, rows // 10), size=rows)  # few in the first call
        eta = found["x0"] + 1.5 * (codes % 10 == 0)
        found["f"] = np.array([f"level {i}" for i in range(n_levels)])[codes]
        return pd.DataFrame(found).assign(y=np.where(rng.logistic(size=rows) < eta, "yes", "no"))

    return frame


def resampled(n_resamples: int, n_jobs: int = 1, n_rows: int = 1_000, k: int = 5) -> Case:
    """Resamples of a fit."""
    call = of_fit(lambda fit, _: fit.resample(n_resamples, n_jobs=n_jobs), k=k)
    return Case(long(n_rows), asked=np.nan, **call)


def selected(frame: Callable[..., pd.DataFrame]) -> Case:
    """The default call."""
    return Case(frame, select(k=5), np.nan)


AXES = {
    "rows": Axis(
        (1_000, 10_000, 100_000, 1_000_000),
        lambda n: selected(long(n)),
        {"lightgbm": 1_000_000, "ranger": 100_000},
    ),
    "columns": Axis(
        (10, 100, 1_000, 10_000),
        lambda p: selected(wide(500, p)),
        {"lightgbm": 10_000, "ranger": 10_000},
    ),
    "levels": Axis((2, 20, 200, 2_000), lambda n: selected(levels(n)), {"lightgbm": 2_000}),
    "resamples": Axis((10, 30, 100, 300), resampled, {}),
    "processes": Axis((1, 2), lambda n: resampled(50, n), {}, "wall s"),
}
QUICK = {
    "rows": Axis((30, 50), lambda n: selected(long(n, 5)), {}),
    "resamples": Axis((2, 3), lambda n: resampled(n, n_rows=100, k=2), {}),
}


# --- runs --------------------------------------------------------------------------------------


def one_run(axis: str, value: int, who: str) -> dict[str, float]:
    """What a call takes."""
    return taken(AXES[axis].case(value), who)


def points(name: str, run: Run) -> list[dict[str, object]]:
    """All rows of an axis."""
    axis, found = (QUICK if run.quick else AXES)[name], []
    for value in axis.values:
        there = [p for p, most in axis.peers.items() if value <= most and is_there(p)]

        def measure(who: str) -> dict[str, float]:
            if run.quick:
                return taken(axis.case(value), who)
            return in_process(one_run, name, value, who)

        best = least(measure, [OURS, *([] if run.no_peers else there)], run.runs, axis.clock)
        found += [
            {"point": f"{name}, {value}, {who}", "axis": name, "value": value, "who": who}
            | {what: round(one[what], 3) for what in ("CPU s", "wall s", "MB", "load")}
            for who, one in best.items()
        ]
    return found


# --- tables ------------------------------------------------------------------------------------


def exponent(values: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """Slope of the logarithms over all points but the first, and its standard error."""
    x, y = np.log(values[1:]), np.log(seconds[1:])
    if len(x) < 2:
        return np.nan, np.nan
    slope, intercept = np.polyfit(x, y, 1)
    if len(x) < 3:
        return float(slope), np.nan
    rest = y - intercept - slope * x
    return float(slope), float(np.sqrt(rest @ rest / (len(x) - 2) / ((x - x.mean()) ** 2).sum()))


def table_of(summary: pd.DataFrame) -> list[dict]:
    """A line for each quantity and program."""
    lines = []
    for (name, who), part in summary.groupby(["axis", "who"], sort=False):
        clock = AXES[name].clock if name in AXES else "CPU s"
        values, seconds = part["value"].to_numpy(float), part[clock].to_numpy(float)
        grows = "" if clock == "wall s" else shown(*exponent(values, seconds))
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
    names = [name for name in AXES if AXES[name].clock == "CPU s"]
    figure = Figure(figsize=(10, 2.9), layout="constrained")
    panels = figure.subplots(1, len(names))
    for axes, name in zip(panels, names, strict=True):
        for who, part in summary[summary["axis"] == name].groupby("who", sort=False):
            axes.plot(part["value"], part["CPU s"], "o-", ms=4, color=COLOURS[who], label=who)
        axes.set(xscale="log", yscale="log", xlabel=name)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("CPU seconds")
    panels[0].legend(frameon=False)
    return figure


def main() -> None:
    """Run the points and write the table."""
    run = Run(__doc__, axes=AXES, runs=1, no_peers=False, quick={"axes": QUICK})
    for name in run.axes:
        run.keep("scaling", points(name, run), by="point")
    summary = sorted_rows(run.kept("scaling").sort_values("value", kind="stable"), axis=AXES)
    run.figure("scaling", drawn(summary))
    run.table(
        "scaling",
        table_of(summary),
        "How seconds and memory above the frame grow in treeselect and in peers, one quantity at a"
        " time; the exponent is that of CPU seconds from the second value on (standard error)."
        f" Load: how many processes the machine, of {os.cpu_count()} processors, wanted to run.",
    )


if __name__ == "__main__":
    main()
