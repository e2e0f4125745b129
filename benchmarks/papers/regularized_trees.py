"""Regularized trees paper, Tables II and III and Figure 4: RRF and RBoost, lambda 0.5.

    python benchmarks/papers/regularized_trees.py [--quick] [--jobs 2] [--sets german ...]

Ten times two-fold cross-validation: number of selected columns, accuracy of a random forest (200
trees) on them and on all, and in how many sets the difference is significant (paired t-test over
the ten replicates, 0.05). The paper prints no number of trees: 10, 100 and 1000. SVM-RFE, cut to
as many columns as RRF, on musk and arrhythmia. String columns are factors, missing values stay.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import Run, frame_problem, path_of, seed_tables
from harness import shown_mean, stored
from scipy.stats import ttest_rel
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from treeselect import RRF, RBoost
from treeselect.engine.columns import select_groups
from treeselect.engine.forest.bagging import BOOTSTRAP, bagged_forest
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.tree.target import class_target
from treeselect.engine.tree.workspace import UNBOUNDED, Growth

SETS = {
    "parkinsons": ("parkinsons", "status", "parkinsons"), "autos": ("autos", "symboling", "auto"),
    "sonar": ("pmlb_binary/sonar", "target", "sonar"),
    "ionosphere": ("pmlb_binary/ionosphere", "target", "iono"),
    "anneal": ("anneal", "target", "anneal"),
    "horse": ("horse_colic_raw", "surgical_lesion", "horse"),
    "german": ("german_credit", "target", "german"), "musk": ("musk", "Class", "musk"),
    "arrhythmia": ("arrhythmia", "target", "arrhythmia"),
    "HillValley": ("pmlb_binary/Hill_Valley_without_noise", "target", "HillValley"),
    "sick": ("sick", "target", "sick"), "waveform": ("waveform21", "target", "waveform"),
    "arcene": ("arcene", "target", "arcene"), "madelon": ("madelon", "target", "madelon"),
}  # fmt: skip
"""File, response, and the name in the paper."""

TREES = (10, 100, 1000)


def forest_accuracy(problem, train, used, seed):
    """Share of the rows outside `train` that a forest on the used columns gets right."""
    test = ~train
    y = problem.y.astype(np.int64)
    data = select_groups(problem.exact, used) if used.any() else None
    if data is None:
        return float(np.mean(y[test] == np.bincount(y[train]).argmax()))
    n_candidates = max(int(np.log2(used.sum())) + 1, 1)  # Weka's default
    trees = bagged_forest(
        data, class_target(y, problem.family.n_classes), train.astype(np.int64), n_trees=200,
        growth=Growth(UNBOUNDED, 1, n_candidates, 0.0, random_ties=True), seed=seed,
        rank=np.arange(data.n_groups), sampling=BOOTSTRAP,
    ).trees  # fmt: skip
    return float(np.mean(predict_mean(trees, data)[test].argmax(axis=1) == y[test]))


def svm_rfe(problem, train, n_kept, frame):
    """The columns that recursive elimination by a linear machine leaves, a tenth at a time."""
    X = frame.fillna(frame.mean()).fillna(0.0).to_numpy(dtype=np.float64)
    X = (X - X[train].mean(axis=0)) / np.maximum(X[train].std(axis=0), 1e-9)
    rfe = RFE(LinearSVC(C=1.0, dual=True, max_iter=2000), n_features_to_select=n_kept, step=0.1)
    by_column = rfe.fit(X[train], problem.y[train]).support_
    names = list(problem.groups.names)
    used = np.zeros(len(names), dtype=bool)
    used[[names.index(c) for c in frame.columns[by_column]]] = True
    return used


def one_fold(name, frame, target, replicate, half, n_trees):
    """Sizes and accuracies on one fold of one replicate."""
    problem = frame_problem(frame, target)
    y = problem.y.astype(np.int64)
    order = np.random.default_rng(replicate).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]  # every other row of each class
    train = np.zeros(len(y), dtype=bool)
    train[order[half::2]] = True
    rows = [(name, replicate, half, "All", 0, len(problem.groups.names),
             forest_accuracy(problem, train, np.ones(len(problem.groups.names), dtype=bool),
                             replicate))]  # fmt: skip
    weight = train.astype(np.int64)
    for kind, method in (("RRF", RRF), ("RBoost", RBoost)):
        for n in n_trees:
            chosen = method(lam=0.5, n_trees=n, criterion="entropy", gain="decrease", screen=False)
            (step,) = path_of(chosen, problem, weight, 10**6, replicate)
            accuracy = forest_accuracy(problem, train, step.selected, replicate)
            rows.append((name, replicate, half, kind, n, step.size, accuracy))
            if kind == "RRF" and n == 100 and name in ("musk", "arrhythmia"):
                used = svm_rfe(problem, train, step.size, frame.drop(columns=target))
                rows.append((name, replicate, half, "SVM-RFE", 0, step.size,
                             forest_accuracy(problem, train, used, replicate)))  # fmt: skip
    return rows


def simulated():
    """A small set with a factor and missing values."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 6)), columns=[f"v{j}" for j in range(6)])
    frame["colour"] = rng.choice(["blue", "red", "white"], size=120)
    frame["target"] = np.where(frame["v0"] + (frame["colour"] == "red") > 0.5, "yes", "no")
    frame.loc[::9, "v1"] = np.nan
    return frame


def lines_of(name, found):
    """The rows of a set beside the printed ones, and who wins against all columns."""
    printed = seed_tables("RegularizedTrees")
    tables = {"size": {}, "error": {}}
    if printed:
        for what, table in (("size", "table_II"), ("error", "table_III")):
            tables[what] = {r["dataset"]: r for r in printed[table]["values"]}
    paper = SETS[name][2] if name in SETS else name
    by_replicate = found.groupby(["method", "trees", "replicate"])["accuracy"].mean()
    every, lines = by_replicate["All", 0], []
    for (method, n), own in found.groupby(["method", "trees"], sort=False):
        accuracy, verdict = by_replicate[method, n], ""
        if method != "All":
            differs = not np.allclose(accuracy, every)
            p = ttest_rel(accuracy, every).pvalue if differs else 1.0
            verdict = "tie" if p >= 0.05 else "win" if (accuracy - every).mean() > 0 else "lose"
        there = {"All": "RF_All", "RRF": "RF_RRF", "RBoost": "RF_RBoost"}.get(method, "")
        lines.append({
            "set": name, "method": method, "trees": str(n or ""),
            "size, paper": tables["size"].get(paper, {}).get(method, ""),
            "size, treeselect": shown_mean(own["size"], 1),
            "forest accuracy, paper": tables["error"].get(paper, {}).get(there, ""),
            "forest accuracy, treeselect": shown_mean(accuracy, 3), "against all": verdict,
        })  # fmt: skip
    return lines


def main():
    """Write the table."""
    run = Run(__doc__, sets=SETS, replicates=10, quick={"replicates": 2})
    columns = ["set", "replicate", "half", "method", "trees", "size", "accuracy"]
    for name in run.pick(["simulated"], run.sets):
        file, target, _ = SETS.get(name, (None, "target", None))
        frame = simulated() if run.quick else stored(file)
        calls = [
            (name, frame, target, replicate, half, run.pick((5,), TREES))
            for replicate in range(run.replicates)
            for half in (0, 1)
        ]
        found = pd.DataFrame(run.flat(one_fold, calls), columns=columns)
        run.keep("regularized_trees", lines_of(name, found), by="set")
    table = run.kept("regularized_trees", text=True)
    totals = "; ".join(
        f"{method}{f', {n} trees' if n else ''}: "
        + "/".join(str((part["against all"] == word).sum()) for word in ("win", "lose", "tie"))
        for (method, n), part in table.groupby(["method", "trees"], sort=False)
        if method != "All"
    )
    run.table(
        "regularized_trees",
        table,
        "Regularized trees paper, Tables II and III, entropy decrease, lambda 0.5,"
        f" {run.replicates} times two-fold cross-validation. Win/lose/tie against all columns:"
        f" {totals}. SVM-RFE keeps as many columns as RRF with 100 trees.",
    )


if __name__ == "__main__":
    main()
