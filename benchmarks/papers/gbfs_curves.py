"""GBFS paper, Figures 3, 4 and 5: test error against the number of features.

    python benchmarks/papers/gbfs_curves.py [--quick] [--jobs 2] [--sets spam ...]

The ensemble of GBFS at the paper's ten values of mu, divided by the number of rows (equation 14 is
a sum, our `mu` a mean), beside the logistic regression with an L1 penalty and a random forest on
the most important columns of a forest. On uspst also the error of an SVM with a radial kernel on
the features that each selects, as in Figure 5. kddcup99, normal against the rest, has 500 trees of
depth 4 and its seconds and peak memory; the others as many trees as validation says. uspst is
digits 0 to 4 against 5 to 9, isolet the first against the last 13 letters: the paper does not say
how it made two classes of them.
"""

from __future__ import annotations

import argparse
import dataclasses
import resource
import time

import numpy as np
import pandas as pd
from common import data_folder, forest_error, frame_problem, run_all, with_earlier, write_table
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from treeselect import GBFS
from treeselect.algorithms.forests.gbfs import Ensembles
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
from treeselect.engine.columns import take_rows
from treeselect.engine.forest.bagging import bagged_forest
from treeselect.engine.forest.walk import predict_sum
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.target import mean_target
from treeselect.engine.tree.workspace import UNBOUNDED, Growth

MU = tuple(2.0**power for power in (9, 7, 5, 3, 2, 1, 0, -1, -2, -3))
SIZES = (2, 5, 10, 20, 50)
SETS = {
    "spam": ("spambase", "type", None),
    "uspst": ("uspst", "target", lambda y: y >= 5),
    "adult": ("adult", "income", None),
    "isolet": ("isolet", "target", lambda y: y > 13),
    "pcmac": ("pcmac", "target", None),
    "kddcup99": ("kddcup99_10pct", "label", lambda y: y == "normal"),
}
"""File, response, and how it becomes two classes."""

WITH_SVM = ("uspst", "simulated")


def load(name):
    """The frame, its response two classes."""
    file, target, split = SETS[name]
    frame = pd.read_parquet(data_folder() / f"{file}.parquet")
    if split is not None:
        values = frame[target] if name == "kddcup99" else frame[target].astype(int)
        frame[target] = split(values).astype(int)
    return frame, target


def simulated():
    """A small set: a ring of two columns among ten."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 10)), columns=[f"v{j}" for j in range(10)])
    frame["target"] = (np.hypot(frame["v0"], frame["v1"]) > 1.2).astype(int)
    return frame, "target"


def svm_error(X, y, train, used):
    """Error of an SVM with a radial kernel on some columns, tuned on five random splits."""
    if X is None or not used.any():
        return ""
    machine = GridSearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": 10.0 ** np.arange(-1, 4), "svc__gamma": 10.0 ** np.arange(-4, 1)},
        cv=StratifiedShuffleSplit(5, test_size=0.2, random_state=1),
    ).fit(X[train][:, used], y[train])
    return f"{np.mean(machine.predict(X[~train][:, used]) != y[~train]):.4f}"


def at_price(problem, train, mu, n_trees, X):
    """Number of features and test error of the ensemble at one price, and of an SVM on them."""
    weight = train.astype(np.int64)
    method = GBFS(n_trees=n_trees)
    begin = time.process_time()
    found = Ensembles(method, Task(problem, row_weights(weight), max_size=1, seed=1)).grow(
        mu / train.sum()
    )
    seconds = time.process_time() - begin
    used = group_gains(found.trees, problem.data).sum(axis=0) > 0
    test = np.flatnonzero(~train)
    eta = problem.constant(weight)[test] + predict_sum(
        found.trees, take_rows(problem.data, test)
    )[:, 0]  # fmt: skip
    error = float(np.mean((eta > 0) != (problem.y[test] > 0.5)))
    svm = svm_error(X, problem.y, train, used)
    return mu, int(used.sum()), error, found.trees.n_trees, seconds, svm


def by_importance(problem, train, sizes, values):
    """Error of a forest on the most important columns of a forest, and of an SVM."""
    weight = train.astype(np.int64)
    n_groups = problem.data.n_groups
    trees = bagged_forest(
        problem.data, mean_target(problem.y), weight, n_trees=500, seed=1,
        growth=Growth(UNBOUNDED, 1, int(np.ceil(np.sqrt(n_groups))), 0.0),
        rank=np.arange(n_groups),
    ).trees  # fmt: skip
    order = np.argsort(-group_gains(trees, problem.data).sum(axis=0))
    data = problem.data
    # Codes stand for values: the forest of the comparison sees ranks of the bins.
    X = np.stack([data.column(j) for j in range(len(data.codes))], axis=1).astype(np.float64)
    y = problem.y.astype(np.int64)
    rows = []
    for size in (s for s in sizes if s <= n_groups):
        used = np.isin(data.group_of, order[:size])
        error = forest_error(X[train], y[train], X[~train], y[~train], used, seed=1, n_trees=300)
        rows.append((size, error, svm_error(values, problem.y, train, used)))
    return rows


def by_lasso(frame, target, train, sizes, values):
    """Error of the L1 logistic regression with at most so many features, dummies counted, and of
    an SVM on them."""
    X = pd.get_dummies(frame.drop(columns=target)).astype(np.float64)
    X = X.fillna(X[train].mean()).fillna(0.0).to_numpy()
    X = (X - X[train].mean(axis=0)) / np.maximum(X[train].std(axis=0), 1e-9)
    y = pd.factorize(frame[target], sort=True)[0]
    best = {}
    for C in 10.0 ** np.arange(-4, 1.01, 0.25):
        fit = LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", random_state=1)
        fit.fit(X[train], y[train])
        used = fit.coef_[0] != 0
        error = float(np.mean(fit.predict(X[~train]) != y[~train]))
        best |= {s: (error, used) for s in sizes if used.sum() <= s}  # the last has the most
    return [
        (size, error, svm_error(values, y, train, used)) for size, (error, used) in best.items()
    ]


def curve(name, frame, target, jobs, *, quick):
    """The lines of one set."""
    begin, cpu = time.perf_counter(), time.process_time()
    problem = dataclasses.replace(frame_problem(frame, target), exact=None)
    train = np.random.default_rng(0).random(len(frame)) < 0.8
    if name == "adult":
        train = np.arange(len(frame)) < 32_561
    n_trees = 20 if quick else 500 if name == "kddcup99" else None
    encoded = time.process_time() - cpu
    prices = MU[::4] if quick else MU
    X = None
    if name in WITH_SVM:  # all numbers: a column for each unit, in the units' order
        frame = frame[[*problem.groups.names, target]]
        X = frame.drop(columns=target).to_numpy(np.float64)
    results = run_all(at_price, [(problem, train, mu, n_trees, X) for mu in prices], jobs)
    lines = [
        [name, "GBFS", f"{mu:g}", size, f"{error:.4f}", trees, f"{seconds:.1f}", svm]
        for mu, size, error, trees, seconds, svm in results
    ]
    if name == "kddcup99":
        memory = max(
            resource.getrusage(who).ru_maxrss
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        wall = time.perf_counter() - begin
        note = f"all prices {wall:.0f} s wall, encoding {encoded:.1f} s, {memory / 1024:.0f} MB"
        return [*lines, [name, note, "", "", "", "", "", ""]]
    sizes = SIZES[:2] if quick else SIZES
    for size, error, svm in by_importance(problem, train, sizes, X):
        lines.append([name, "forest importance", "", size, f"{error:.4f}", "", "", svm])
    for size, error, svm in by_lasso(frame, target, train, sizes, X):
        lines.append([name, "L1 logistic", "", size, f"{error:.4f}", "", "", svm])
    return lines


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    lines = []
    for name in ["simulated"] if options.quick else options.sets:
        frame, target = simulated() if options.quick else load(name)
        lines += curve(name, frame, target, options.jobs, quick=options.quick)
        columns = ["set", "method", "mu, paper's scale", "features", "test error, treeselect",
                   "trees", "CPU s", "SVM error"]  # fmt: skip
        table = pd.DataFrame(lines, columns=columns).astype(str)
        write_table(
            "gbfs_curves",
            with_earlier("gbfs_curves", table, quick=options.quick),
            "GBFS paper, Figures 3, 4 and 5: error on a fifth of the rows (adult: its test file)"
            " against the number of features. The paper prints curves only.",
            quick=options.quick,
        )


if __name__ == "__main__":
    main()
