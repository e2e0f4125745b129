"""ControlBurn paper, section 4.3 and Figure 7: seconds against the number of columns, beside RFE.

    python benchmarks/papers/controlburn_rfe.py [--quick] [--jobs 1] [--sets sonar ...]

Ten columns are asked for, of PMLB sets cut to 1000 rows: by select() with ControlBurn, the default
and the paper's form, and by recursive feature elimination of scikit-learn around its random forest
of 100 trees, a column at a time, which fits a forest for every column it drops. Each of them reads
the frame and ends with a forest on what it keeps; ControlBurn's path may end before ten, and the
table says at how few in any run. CPU seconds of one process, the least of three runs,
ours and the peer's in turn; several sets at a time (--jobs) make them a little longer.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from common import (
    LOOKS,
    data_folder,
    dress,
    new_figure,
    run_all,
    shown,
    with_earlier,
    write_figure,
    write_table,
)
from controlburn_pmlb import LEAKING, simulated
from scipy.stats import linregress
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE

import treeselect
from treeselect import ControlBurn
from treeselect.engine.threads import one_thread

SETS = (
    "australian", "churn", "german", "hypothyroid", "wdbc", "ionosphere", "chess", "tokyo1",
    "spambase", "sonar", "coil2000", "Hill_Valley_with_noise", "clean1",
)  # fmt: skip
"""By number of columns, fewest first."""

METHODS = {"default": ControlBurn(), "paper": ControlBurn.published()}
PEER = "RFE, scikit-learn"
LOOK_OF_PEER = {"label": PEER, "color": "#666666", "marker": "s", "linestyle": "--"}
MOST_ROWS, RUNS, SIZE = 1000, 3, 10


def load(name):
    """A set without what gives the class away, cut to a random thousand rows."""
    frame = pd.read_parquet(data_folder() / "pmlb_binary" / f"{name}.parquet")
    frame = frame.drop(columns=[c for c in LEAKING if c in frame])
    return frame.sample(min(len(frame), MOST_ROWS), random_state=0).reset_index(drop=True)


def by_treeselect(method, frame, k, seed):
    """What select() keeps."""
    return treeselect.select("target ~ .", frame, k=k, method=method, seed=seed, n_jobs=1).selected


def by_elimination(frame, k, seed):
    """What recursive feature elimination keeps."""
    forest = RandomForestClassifier(100, random_state=seed)
    X = frame.drop(columns="target")
    machine = RFE(forest, n_features_to_select=k).fit(X, frame["target"])
    return tuple(X.columns[machine.support_])


def seconds(work, *arguments):
    """CPU seconds of one run, and how many columns it keeps."""
    begin = time.process_time()
    kept = work(*arguments)
    return time.process_time() - begin, len(kept)


def one_set(name, frame, runs, k):
    """The least seconds of each way, and the fewest columns that each keeps."""
    works = {label: (by_treeselect, method) for label, method in METHODS.items()}
    works[PEER] = (by_elimination,)
    taken = {label: [] for label in works}
    with one_thread():
        by_treeselect(METHODS["default"], frame.head(200), k, 0)  # kernels are compiled by then
        for run in range(runs):
            for label, (work, *first) in works.items():
                taken[label].append(seconds(work, *first, frame, k, run))
    least = [[min(numbers) for numbers in zip(*runs, strict=True)] for runs in taken.values()]
    return (name, len(frame), frame.shape[1] - 1, *zip(*least, strict=True))


def table_of(summary):
    """The lines to print."""
    table = summary.sort_values("columns", kind="stable").astype({"rows": int, "columns": int})
    for label in METHODS:
        table[f"RFE / {label}"] = (table[PEER] / table[label]).map("{:.1f}".format)
    for label in (*METHODS, PEER):
        table[label] = table[label].map("{:.2f}".format)
    fewest = table[[f"{label} keeps" for label in METHODS]].astype(int).astype(str)
    table["fewest kept, default, paper"] = fewest.agg(", ".join, axis=1)
    table = table.drop(columns=[f"{label} keeps" for label in (*METHODS, PEER)])
    return table.rename(columns={label: f"{label}, CPU s" for label in (*METHODS, PEER)})


def figure_of(summary):
    """Seconds against columns, both axes logarithmic."""
    figure = new_figure(6.6, 4.4)
    axes = figure.subplots()
    table = summary.sort_values("columns", kind="stable")
    for label in (PEER, *METHODS):
        look = LOOKS.get(label, LOOK_OF_PEER)
        axes.plot(table["columns"], table[label], **look, markersize=5, linewidth=1.0)
    dress(axes, f"Selecting {SIZE} columns from at most {MOST_ROWS} rows of PMLB sets",
          "number of columns, p", "CPU time (s), least of three runs")  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [15, 20, 30, 40, 60, 80, 120, 166]
    axes.set_xticks(ticks, [str(t) for t in ticks])
    axes.minorticks_off()
    axes.legend(frameon=False)
    return figure


def growth(summary, label):
    """Slope of the logarithm of the seconds in that of the columns, and its standard error."""
    fit = linregress(np.log(summary["columns"]), np.log(summary[label]))
    return float(fit.slope), float(fit.stderr)


def main():
    """Write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    if options.quick:
        frame = simulated()[["v0", "v1", "v2", "copy0", "copy1", "copy2", "target"]]
        frames = {"simulated, 4": frame.drop(columns=["v2", "copy2"])}
        frames |= {"simulated, 5": frame.drop(columns="v2"), "simulated, 6": frame}
    else:
        frames = {name: load(name) for name in options.sets}
    runs, k = (1, 3) if options.quick else (RUNS, SIZE)
    calls = [(name, frame, runs, k) for name, frame in frames.items()]
    lines = [
        (name, rows, columns, *least, *kept)
        for name, rows, columns, least, kept in run_all(one_set, calls, options.jobs)
    ]
    ways = (*METHODS, PEER)
    names = ["set", "rows", "columns", *ways, *(f"{way} keeps" for way in ways)]
    summary = pd.DataFrame(lines, columns=names)
    summary = with_earlier("controlburn_rfe", summary, quick=options.quick)
    texts = [f"{way} {shown(*growth(summary, way))}" for way in ways]
    write_table(
        "controlburn_rfe",
        table_of(summary),
        "ControlBurn paper, Figure 7, by treeselect: CPU seconds to select ten columns, least of"
        f" three runs. Power of the number of columns that they grow as, over the sets, which"
        f" differ in rows, too: {', '.join(texts)}. The paper shows a figure only.",
        quick=options.quick,
    )
    write_figure("controlburn_rfe", figure_of(summary), quick=options.quick)


if __name__ == "__main__":
    main()
