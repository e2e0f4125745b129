"""ControlBurn paper, section 5.1 and Figure 8: chess with noisy copies of its best columns.

    python benchmarks/papers/controlburn_chess.py [--quick] [--jobs 2] [--methods default GRRF ...]

The three most important columns of a forest are copied 0, 3, 5 and 7 times, each copy with Gaussian
noise of standard deviation 0.1. Five-fold cross-validation, k = 1, ..., 10: AUC of a forest on the
k columns that each method selects, and how many of ten are repeats of a column that is in already.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from common import frame_problem, mean_and_error, run_all, shown, with_earlier, write_table
from controlburn_pmlb import by_importance, forest, load
from controlburn_pmlb import simulated as small
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from treeselect import GBFS, GRRF, RRF, ControlBurn, RBoost
from treeselect.choosing import step_of_size
from treeselect.engine.binning import select_groups, take_rows
from treeselect.engine.prediction import predict_mean

COPIES = (0, 3, 5, 7)
METHODS = {
    "MDI": None,
    "default": ControlBurn(),
    "paper": ControlBurn.published(),
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
    problem = frame_problem(with_copies(frame, n_copies, fold), "target")
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(problem.y, problem.y)
    train, test = list(folds)[fold]
    weight = np.zeros(len(problem.y), dtype=np.int64)
    weight[train] = 1
    new, names = take_rows(problem.data, test), np.array(problem.groups.names)
    source = np.array([name.split("_copy")[0] for name in names])
    rows = []
    for label in methods:
        if METHODS[label] is None:
            order = by_importance(problem, weight, fold)
            chosen = {k: np.isin(np.arange(len(names)), order[:k]) for k in range(1, largest + 1)}
        else:
            path = METHODS[label].path(problem, weight, max_size=largest, seed=fold)
            chosen = {
                k: step_of_size(path, k, problem.groups.keep).selected
                for k in range(1, largest + 1)
            }
        for k, selected in chosen.items():
            trees = forest(problem, weight, selected, 100, fold)
            score = predict_mean(trees, select_groups(new, selected))[:, 0]
            repeats = int(selected.sum()) - len(set(source[selected]))
            rows.append((label, n_copies, fold, k, roc_auc_score(problem.y[test], score), repeats))
    return rows


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    frame = small() if options.quick else load("chess")
    methods = ["MDI", "default"] if options.quick else options.methods
    calls = [
        (frame, n_copies, fold, methods, 3 if options.quick else 10)
        for n_copies in (COPIES[:2] if options.quick else COPIES)
        for fold in range(2 if options.quick else 5)
    ]
    rows = [row for part in run_all(one_fold, calls, options.jobs) for row in part]
    found = pd.DataFrame(rows, columns=["method", "copies", "fold", "k", "auc", "repeats"])
    lines = []
    for (method, copies), part in found.groupby(["method", "copies"], sort=False):
        largest = part[part["k"] == part["k"].max()]
        at = [f"{part.loc[part['k'] == k, 'auc'].mean():.3f}" for k in (1, 2, 3, 5, 10)]
        mean = shown(*mean_and_error(part.groupby("fold")["auc"].mean()), 4)
        repeats = shown(*mean_and_error(largest["repeats"]), 1)
        lines.append([method, str(copies), mean, *at, repeats])
    columns = ["method", "copies", "mean AUC, k = 1..10", "k = 1", "k = 2", "k = 3", "k = 5",
               "k = 10", "repeats at k = 10"]  # fmt: skip
    table = pd.DataFrame(lines, columns=columns).replace("nan", "")
    write_table(
        "controlburn_chess",
        with_earlier("controlburn_chess", table, by="method", quick=options.quick),
        "ControlBurn paper, section 5.1, by treeselect: chess with copies of its three best"
        " columns, five folds. The paper shows curves only.",
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
