"""GBFS paper, section 5.2 and Figure 2: bags of genes on the colon set.

    python benchmarks/papers/gbfs_bags.py [--quick] [--jobs 2]

The paper's nine bags of genes are not printed: nine are made by clustering the genes by their
correlation. Ten random 80/20 splits; the test error of the ensemble that uses one bag, two, and all
of them (mu = 0), beside a random forest and the logistic regression with an L1 penalty.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import pandas as pd
from common import (
    class_problem,
    data_folder,
    forest_error,
    mean_and_error,
    run_all,
    shown,
    write_table,
)
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegressionCV

from treeselect import GBFS
from treeselect.algorithms.forests.gbfs import Ensembles
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
from treeselect.engine.columns import take_rows
from treeselect.engine.forest.walk import predict_sum

N_BAGS = 9


def load():
    """Genes in the order of their bags, the bags, and the classes."""
    frame = pd.read_parquet(data_folder() / "gene" / "colon_alon_raw.parquet")
    y = (frame["target"] == "tumor").to_numpy().astype(np.int64)
    X = np.log(frame.drop(columns="target").to_numpy(dtype=np.float64))
    return bag(X, y)


def simulated():
    """Bags of which one carries the signal."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    centres = rng.normal(size=(60, N_BAGS))
    centres[:, 0] += 2 * y
    return bag(np.repeat(centres, 6, axis=1) + 0.5 * rng.normal(size=(60, 6 * N_BAGS)), y)


def bag(X, y):
    """Cluster the genes by correlation: by the distance of their standardised profiles."""
    Z = ((X - X.mean(axis=0)) / X.std(axis=0)).T
    bags = KMeans(N_BAGS, n_init=10, random_state=1).fit_predict(Z)
    order = np.argsort(bags, kind="stable")
    return X[:, order], np.unique(bags[order], return_inverse=True)[1], y


def one_split(X, bags, y, seed, quick):
    """Errors of all methods on one split."""
    rng = np.random.default_rng(seed)
    train = np.zeros(len(y), dtype=bool)
    train[rng.permutation(len(y))[: int(0.8 * len(y))]] = True
    problem, weight = class_problem(X, y, bags), train.astype(np.int64)
    method = GBFS(n_trees=20 if quick else None)
    task = Task(problem, row_weights(weight), max_size=2, seed=seed)
    ensembles = Ensembles(method, task)
    path = method.path(task)
    test = np.flatnonzero(~train)
    rows = []
    for name, step in [*((f"GBFS, {s.size} bags", s) for s in path if s.size in (1, 2)),
                       ("GBFS, mu = 0", None)]:  # fmt: skip
        found = ensembles.grow(0.0 if step is None else step.tuning)
        eta = problem.constant(weight)[test] + predict_sum(
            found.trees, take_rows(problem.data, test)
        )[:, 0]  # fmt: skip
        used = "" if step is None else " ".join(map(str, np.flatnonzero(step.selected)))
        rows.append((name, float(np.mean((eta > 0) != y[test])), used))
    everything = np.ones(X.shape[1], dtype=bool)
    error = forest_error(X[train], y[train], X[test], y[test], everything, seed=seed)
    rows.append(("random forest", error, ""))
    Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    lasso = LogisticRegressionCV(
        Cs=10, cv=4, l1_ratios=(1.0,), solver="liblinear", random_state=1,
        use_legacy_attributes=False, scoring="accuracy",
    )  # fmt: skip
    lasso.fit(Z[train], y[train])
    rows.append(("L1 logistic", float(np.mean(lasso.predict(Z[test]) != y[test])), ""))
    return rows


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    X, bags, y = simulated() if options.quick else load()
    calls = [(X, bags, y, seed, options.quick) for seed in range(2 if options.quick else 10)]
    rows = [row for part in run_all(one_split, calls, options.jobs) for row in part]
    found = pd.DataFrame(rows, columns=["method", "error", "bags"])
    path = data_folder() / "seed_tables.json"
    printed = (
        json.loads(path.read_text())["GBFS"]["figure2_colon_bags"]["test_error_percent"]
        if path.exists()
        else {}
    )
    names = {"random forest": "RF-FS", "L1 logistic": "L1-LR", "GBFS, 1 bags": "GBFS"}
    lines = []
    for method, part in found.groupby("method", sort=False):
        paper = printed.get(names.get(method, ""), "")
        counts = part["bags"].value_counts()
        lines.append(
            [method, f"{paper / 100:.3f}" if paper else "", len(part),
             shown(*mean_and_error(part["error"]), 3),
             ", ".join(f"{{{bag}}} x{n}" for bag, n in counts.items() if bag)]
        )  # fmt: skip
    write_table(
        "gbfs_bags",
        pd.DataFrame(
            lines,
            columns=["method", "test error, paper", "splits", "test error, treeselect", "bags"],
        ),
        f"GBFS paper, section 5.2: {N_BAGS} bags of {X.shape[1]} genes by clustering, sizes"
        f" {np.bincount(bags).tolist()}.",
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
