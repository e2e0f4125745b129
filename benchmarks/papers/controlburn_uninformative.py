"""ControlBurn paper, section 6.1 and Figure 12: the rank of an uninformative continuous column.

    python benchmarks/papers/controlburn_uninformative.py [--quick] [--jobs 2] [--sets flare ...]

A column of standard normal numbers is added to sets whose columns have few values, most of them.
ControlBurn, and importance in a forest of scikit-learn (MDI), keep a tenth to all of the columns;
the rank of the added one is that by the same importance in a forest on what is kept: 1 is the most
important, and the number of all columns stands for not being kept. Ten draws of the column for each
set. The paper does not say which set it took.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from common import (
    LOOKS,
    data_folder,
    dress,
    frame_problem,
    mean_and_error,
    new_figure,
    run_all,
    shown,
    with_earlier,
    write_figure,
    write_table,
)
from controlburn_pmlb import simulated as small
from matplotlib.ticker import MaxNLocator
from sklearn.ensemble import RandomForestClassifier

from treeselect import ControlBurn, datasets
from treeselect.algorithms.task import Task, step_of_size
from treeselect.designs.weights import row_weights

METHODS = {"default": ControlBurn(), "paper": ControlBurn.published()}
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1.0)
DRAWS = 10
NOISE = "uninformative"


def titanic():
    """Five columns of the passengers, of which age has many values."""
    return datasets.load("titanic_correlated")[
        ["pclass", "sex", "age", "sibsp", "parch", "survived"]
    ].rename(columns={"survived": "target"})


def pmlb(name):
    """A set of the PMLB suite."""
    return lambda: pd.read_parquet(data_folder() / "pmlb_binary" / f"{name}.parquet")


SETS = {"Titanic": titanic} | {
    name: pmlb(name) for name in ("breast_cancer", "flare", "cleve", "german", "chess")
}


def simulated():
    """A small set of five binary columns, four of them copies of what matters with errors."""
    frame = small()[["v0", "v1", "copy0", "copy1", "copy2", "target"]]
    return (frame > 0).astype(np.int64)


def importances(frame, names, seed):
    """MDI of some columns in a forest of scikit-learn."""
    machine = RandomForestClassifier(100, random_state=seed)
    machine.fit(frame[list(names)].to_numpy(np.float64), frame["target"])
    return pd.Series(machine.feature_importances_, index=names)


def rank_of_noise(importance, n_all):
    """Place of the added column, the last of all if it is not kept."""
    if NOISE not in importance:
        return n_all
    return int((importance > importance[NOISE]).sum()) + 1


def one_draw(name, frame, draw):
    """Rank of the added column by method and share of the columns kept."""
    noise = np.random.default_rng(draw).normal(size=len(frame))
    frame = pd.concat([pd.Series(noise, name=NOISE, index=frame.index), frame], axis=1)
    problem = frame_problem(frame, "target")
    names = np.array(problem.groups.names)
    sizes = {share: max(round(share * len(names)), 1) for share in SHARES}
    every = importances(frame, names, draw)
    kept = {("MDI, scikit-learn", share): every.nlargest(k).index for share, k in sizes.items()}
    ones = np.ones(len(frame), dtype=np.int64)
    for label, method in METHODS.items():
        path = method.path(Task(problem, row_weights(ones), max_size=len(names), seed=draw))
        for share, k in sizes.items():
            selected = step_of_size(path, k, problem.groups.keep).selected
            kept[label, share] = names if k == len(names) else names[selected]
    known, rows = {frozenset(names): every}, []
    for (label, share), own in kept.items():
        key = frozenset(own)
        if key not in known:
            known[key] = importances(frame, sorted(key), draw)
        rank = rank_of_noise(known[key], len(names))
        rows.append((name, label, draw, share, len(key), NOISE in key, rank, len(names)))
    return rows


def summary_of(found):
    """By set, method and share, how often the added column is kept and its mean rank."""
    lines = []
    for (name, method, share), part in found.groupby(["set", "method", "share"], sort=False):
        rank, error = mean_and_error(part["rank"])
        lines.append((name, method, share, part["size"].mean(), part["kept"].mean(), rank, error,
                      part["n_columns"].iloc[0]))  # fmt: skip
    columns = ["set", "method", "share", "size", "kept", "rank", "rank s.e.", "columns"]
    return pd.DataFrame(lines, columns=columns)


def table_of(summary):
    """The lines to print, a column for each share."""
    lines = []
    for (name, method), part in summary.groupby(["set", "method"], sort=False):
        cells = [
            f"{shown(row.rank_, row.error, 1)}, {row.kept:.0%}"
            for row in part.rename(columns={"rank": "rank_", "rank s.e.": "error"}).itertuples()
        ]
        lines.append([name, str(part["columns"].iloc[0]), method, *cells])
    shares = [f"{share:.0%} kept" for share in summary["share"].unique()]
    return pd.DataFrame(lines, columns=["set", "columns", "method", *shares])


def figure_of(summary):
    """Rank of the added column, as a share of all columns, against the share kept; a panel per
    set."""
    names = list(summary["set"].unique())
    n_wide = min(len(names), 3)
    figure = new_figure(3.4 * n_wide + 0.4, 3.1 * -(-len(names) // n_wide) + 0.6)
    grid = figure.subplots(-(-len(names) // n_wide), n_wide, squeeze=False, sharex=True).ravel()
    for axes, name in zip(grid, names, strict=False):
        part = summary[summary["set"] == name]
        for method, own in part.groupby("method", sort=False):
            kept = 100 * own["size"] / own["columns"]
            axes.errorbar(kept, own["rank"], 2 * own["rank s.e."], **LOOKS[method],
                          markersize=5, linewidth=1.2)  # fmt: skip
        n_columns = part["columns"].iloc[0]
        is_left = axes is grid[0] or axes is grid[-n_wide]
        dress(axes, f"{name}, {n_columns} columns", "columns kept (% of all)",
              "rank of the added column\n(1: most important)" if is_left else "")  # fmt: skip
        ticks = MaxNLocator(6, integer=True).tick_values(1, n_columns)
        axes.set_yticks([1, *(t for t in ticks if 1 < t <= n_columns)])
        axes.set_ylim(n_columns + 0.05 * n_columns, 1 - 0.05 * n_columns)
    for axes in grid[len(names) :]:
        axes.set_visible(False)
    grid[len(names) - 1].legend(loc="lower right", frameon=False, fontsize="small")
    figure.suptitle("An uninformative continuous column: rank against columns kept (two s.e.)")
    return figure


def write(summary, *, quick):
    """The table and the figure."""
    write_table(
        "controlburn_uninformative",
        table_of(summary),
        "ControlBurn paper, section 6.1 and Figure 12, by treeselect: an uninformative continuous"
        " column is added; its mean rank by importance (s.e.) among what is kept, all columns where"
        " it is not, and in how many of the draws it is kept. The paper shows a figure only.",
        quick=quick,
    )
    write_figure("controlburn_uninformative", figure_of(summary), quick=quick)


def main():
    """Write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    for name in ["simulated"] if options.quick else options.sets:
        frame = simulated() if options.quick else SETS[name]()
        calls = [(name, frame, draw) for draw in range(2 if options.quick else DRAWS)]
        rows = [row for part in run_all(one_draw, calls, options.jobs) for row in part]
        columns = ["set", "method", "draw", "share", "size", "kept", "rank", "n_columns"]
        summary = summary_of(pd.DataFrame(rows, columns=columns))
        summary = with_earlier("controlburn_uninformative", summary, quick=options.quick)
    write(summary, quick=options.quick)


if __name__ == "__main__":
    main()
