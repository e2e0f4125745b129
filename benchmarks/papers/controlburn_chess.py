"""ControlBurn paper, section 5.1 and Figure 8: chess with noisy copies of its best columns.

    python benchmarks/papers/controlburn_chess.py [--quick] [--jobs 2] [--methods default GRRF ...]
    python benchmarks/papers/controlburn_chess.py --figure

The three most important columns of a forest are copied 0, 3, 5 and 7 times, each copy with Gaussian
noise of standard deviation 0.1. Five-fold cross-validation, k = 1, ..., 10: AUC of a forest on the
k columns that each method selects, and how many of ten are repeats of a column that is in already.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from common import (
    LOOKS,
    RESULTS,
    dress,
    frame_problem,
    mean_and_error,
    new_figure,
    run_all,
    sets_by_size,
    shown,
    with_earlier,
    write_figure,
    write_table,
)
from controlburn_pmlb import by_importance, by_scikit_learn, forest, load
from controlburn_pmlb import simulated as small
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from treeselect import GBFS, GRRF, RRF, ControlBurn, ExchangeSearch, RBoost
from treeselect.engine.columns import select_groups, take_rows
from treeselect.engine.forest.walk import predict_mean

COPIES = (0, 3, 5, 7)
UNPRINTED = [f"k = {k}" for k in (4, 6, 7, 8, 9)]
"""Columns that the figure has and the table has not."""

METHODS = {
    "MDI": None,
    "MDI, scikit-learn": None,
    "default": ControlBurn(),
    "paper": ControlBurn.published(),
    "exchange": ExchangeSearch(),
    "half the units per split": ControlBurn(max_features=0.5),
    "backward pass": ControlBurn(prune=True),
    "RRF": RRF(n_trees=300),
    "GRRF": GRRF(n_trees=300),
    "RBoost": RBoost(n_trees=100),
    "GBFS": GBFS(n_trees=200),
}


def with_copies(frame, n_copies, seed):
    """The frame with noisy copies of its three most important columns."""
    problem = frame_problem(frame, "target")
    ones = np.ones(len(frame), dtype=np.int64)
    best = [problem.groups.names[g] for g in by_importance(problem, ones, 0)[:3]]
    rng = np.random.default_rng(seed)
    copies = {
        f"{name}_copy{j}": frame[name] + 0.1 * rng.normal(size=len(frame))
        for name in best
        for j in range(n_copies)
    }
    return pd.concat([pd.DataFrame(copies), frame], axis=1)


def one_fold(frame, n_copies, fold, methods, largest):
    """AUC and repeats by method and k."""
    frame = with_copies(frame, n_copies, fold)
    problem = frame_problem(frame, "target")
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(problem.y, problem.y)
    train, test = list(folds)[fold]
    weight = np.zeros(len(problem.y), dtype=np.int64)
    weight[train] = 1
    new, names = take_rows(problem.data, test), np.array(problem.groups.names)
    source = np.array([name.split("_copy")[0] for name in names])
    rows = []
    for label in methods:
        if METHODS[label] is None:
            order = (
                by_importance(problem, weight, fold)
                if label == "MDI"
                else by_scikit_learn(frame, train, problem.groups.names, fold)
            )
            chosen = {k: np.isin(np.arange(len(names)), order[:k]) for k in range(1, largest + 1)}
        else:
            sizes = range(1, largest + 1)
            chosen = sets_by_size(METHODS[label], problem, weight, sizes, fold)
        for k, selected in chosen.items():
            trees = forest(problem, weight, selected, 100, fold)
            score = predict_mean(trees, select_groups(new, selected))[:, 0]
            repeats = int(selected.sum()) - len(set(source[selected]))
            rows.append((label, n_copies, fold, k, roc_auc_score(problem.y[test], score), repeats))
    return rows


def table_of(found):
    """Mean AUC by method, copies and k, and repeats."""
    lines = []
    for (method, copies), part in found.groupby(["method", "copies"], sort=False):
        largest = part[part["k"] == part["k"].max()]
        at = [f"{part.loc[part['k'] == k, 'auc'].mean():.3f}" for k in range(1, 11)]
        mean = shown(*mean_and_error(part.groupby("fold")["auc"].mean()), 4)
        repeats = shown(*mean_and_error(largest["repeats"]), 1)
        lines.append([method, str(copies), mean, *at, repeats])
    by_k = [f"k = {k}" for k in range(1, 11)]
    columns = ["method", "copies", "mean AUC, k = 1..10", *by_k, "repeats at k = 10"]
    return pd.DataFrame(lines, columns=columns).replace("nan", "")


def figure_of(table):
    """AUC against k, a panel for each number of copies, of the k that the table has."""
    sizes = {int(c.removeprefix("k = ")): c for c in table if c.startswith("k = ")}
    copies = list(dict.fromkeys(table["copies"]))
    figure = new_figure(8.4, 3.2 * -(-len(copies) // 2) + 0.6)
    grid = figure.subplots(-(-len(copies) // 2), 2, sharex=True, sharey=True, squeeze=False)
    for axes, number in zip(grid.ravel(), copies, strict=False):
        for _, row in table[table["copies"] == number].iterrows():
            auc = pd.to_numeric(row[list(sizes.values())]).set_axis(list(sizes)).sort_index()
            auc = auc.dropna()
            axes.plot(auc.index, auc, **LOOKS.get(row["method"], {"label": row["method"]}),
                      markersize=4, linewidth=1.2)  # fmt: skip
        dress(axes, f"{number} copies of each of three columns", "columns selected, k",
              "AUC, mean of five folds")  # fmt: skip
        axes.set_xticks(range(1, 11))
        axes.label_outer()
    grid[0, 0].legend(loc="lower right", frameon=False)
    figure.suptitle("Chess with noisy copies of its three best columns: forests on the selection")
    return figure


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--figure", action="store_true", help="only draw, from the results")
    options = parser.parse_args()
    if options.figure:
        table = pd.read_csv(RESULTS / "controlburn_chess.csv")
        write_figure("controlburn_chess", figure_of(table), quick=False)
        return
    frame = small() if options.quick else load("chess")
    methods = ["MDI", "default"] if options.quick else options.methods
    calls = [
        (frame, n_copies, fold, methods, 3 if options.quick else 10)
        for n_copies in (COPIES[:2] if options.quick else COPIES)
        for fold in range(2 if options.quick else 5)
    ]
    rows = [row for part in run_all(one_fold, calls, options.jobs) for row in part]
    found = pd.DataFrame(rows, columns=["method", "copies", "fold", "k", "auc", "repeats"])
    table = with_earlier("controlburn_chess", table_of(found), by="method", quick=options.quick)
    write_table(
        "controlburn_chess",
        table[[c for c in table if c not in UNPRINTED]],
        "ControlBurn paper, section 5.1, by treeselect: chess with copies of its three best"
        " columns, five folds. The paper shows curves only.",
        quick=options.quick,
    )
    write_figure("controlburn_chess", figure_of(table), quick=options.quick)


if __name__ == "__main__":
    main()
