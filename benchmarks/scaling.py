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
which fixed costs dominate; its standard error is that of the regression. A row of the results per
point; those that are not run again stay as they are. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import whole
import whole_peers
from tables import RESULTS, shown, with_earlier, write_table
from whole import Case, long, of_fit, select, wide

OURS, PEERS = "treeselect", ("lightgbm", "ranger")
COLOURS = {OURS: "#1b6ca8", "lightgbm": "#767676", "ranger": "#b07a2f"}


class Axis(NamedTuple):
    """What grows.

    Attributes
    ----------
    values : tuple of int
    case : callable
        The call at a value.
    peers : dict of str to int
        Peers, each with the largest value at which it is run.
    clock : str
        "CPU s" or "wall s".
    """

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
    "rows": Axis((50, 100), lambda n: selected(long(n, 5)), {}),
    "resamples": Axis((2, 3), lambda n: resampled(n, n_rows=300, k=2), {}),
}


# --- runs --------------------------------------------------------------------------------------


def measured(axis: str, value: int, who: str) -> dict[str, float]:
    """A run in a process of its own."""
    command = [sys.executable, __file__, "--run", json.dumps([axis, value, who])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{axis}, {value}, {who}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def points(name: str, axis: Axis, runs: int, *, peers: bool) -> list[dict[str, object]]:
    """All rows of an axis."""
    found = []
    for value in axis.values:
        there = [p for p, most in axis.peers.items() if value <= most and whole_peers.is_there(p)]
        who_runs = [OURS, *there] if peers else [OURS]
        best: dict[str, dict[str, float]] = {}
        for _ in range(runs):
            for who in who_runs:
                done = measured(name, value, who)
                if who not in best or done[axis.clock] < best[who][axis.clock]:
                    best[who] = done
        found += [
            {
                "point": f"{name}, {value}, {who}",
                "axis": name,
                "value": value,
                "who": who,
                "CPU s": round(one["CPU s"], 3),
                "wall s": round(one["wall s"], 3),
                "MB": round(one["MB"], 1),
                "load": round(os.getloadavg()[0], 1),
            }
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


def table_of(summary: pd.DataFrame) -> pd.DataFrame:
    """A line for each quantity and program."""
    lines = []
    for (name, who), part in summary.groupby(["axis", "who"], sort=False):
        part = part.sort_values("value")
        clock = AXES[name].clock if name in AXES else "CPU s"
        values, seconds = part["value"].to_numpy(float), part[clock].to_numpy(float)
        grows = "" if clock == "wall s" else shown(*exponent(values, seconds))
        if clock == "wall s":
            grows = ", ".join(f"{seconds[0] / s:.2f} times as fast" for s in seconds[1:])
        lines.append(
            {
                "quantity": name,
                "program": who,
                "at": ", ".join(f"{int(v):,}" for v in values),
                "seconds": ", ".join(f"{s:.2g}" if s < 10 else f"{s:.0f}" for s in seconds),
                "clock": clock.split()[0],
                "exponent": grows,
                "MB more": ", ".join(f"{m:.0f}" for m in part["MB"]),
                "load": f"{part['load'].mean():.1f}",
            }
        )
    return pd.DataFrame(lines)


def draw(summary: pd.DataFrame, folder: Path) -> None:
    """Seconds against each quantity, both on logarithmic scales."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "svg.hashsalt": "scaling"})
    names = [name for name in AXES if AXES[name].clock == "CPU s"]
    figure, panels = plt.subplots(1, len(names), figsize=(10, 2.9), layout="constrained")
    for axes, name in zip(panels, names, strict=True):
        for who, part in summary[summary["axis"] == name].groupby("who", sort=False):
            part = part.sort_values("value")
            axes.plot(part["value"], part["CPU s"], "o-", ms=4, color=COLOURS[who], label=who)
        axes.set(xscale="log", yscale="log", xlabel=name)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("CPU seconds")
    panels[0].legend(frameon=False)
    figure.savefig(folder / "scaling.svg", metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Run the points and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--axes", nargs="*", default=list(AXES), choices=list(AXES))
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder to write to")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        name, value, who = json.loads(options.run)
        print(json.dumps(whole.one_run(AXES[name].case(value), who)))
        return
    if options.quick:
        rows = [
            {"axis": name, "value": n, "who": OURS, "load": 0.0} | whole.one_run(axis.case(n), OURS)
            for name, axis in QUICK.items()
            for n in axis.values
        ]
        summary = pd.DataFrame(rows)
    else:
        for name in options.axes:
            frame = pd.DataFrame(points(name, AXES[name], options.runs, peers=not options.no_peers))
            with_earlier("scaling", frame, by="point", quick=False, folder=options.results)
        summary = pd.read_csv(options.results / "scaling.csv")
        order = {name: i for i, name in enumerate(AXES)}
        summary = summary.sort_values(
            ["axis", "value"], key=lambda c: c.map(order) if c.name == "axis" else c
        )
        draw(summary, options.results)
    write_table(
        "scaling",
        table_of(summary),
        "How seconds and memory above the frame grow in treeselect and in peers, one quantity at a"
        " time; the exponent is that of CPU seconds from the second value on (standard error)."
        f" Load: how many processes the machine, of {os.cpu_count()} processors, wanted to run.",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
