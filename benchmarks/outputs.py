"""Boosting of classes: a tree for each class in every round, or one tree with all outputs.

    python benchmarks/outputs.py [--quick]

Test loss against CPU seconds of growing, for both, on simulated classes and on the digits of uspst
(data folder by TREESELECT_DATA, default ../shared/data). The single tree is split by the sum of
squared gradients and its leaves take a Newton step for each class.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.data.binning import BinnedData, bin_columns, bin_edges
from treeselect.engine.ensembles.boosting import Boosting, boost
from treeselect.engine.ensembles.prediction import predict_sum
from treeselect.engine.growing.growth import BEST_FIRST, UNBOUNDED, Growth
from treeselect.engine.losses import MultinomialLoss

RATE = 0.1


class Task(NamedTuple):
    """Classes to learn, and rows to judge by."""

    name: str
    data: BinnedData
    y: IntArray
    new: BinnedData
    new_y: IntArray
    n_classes: int


def task(name: str, X: FloatArray, y: IntArray, n: int) -> Task:
    """The first n rows to learn from, the others to judge by."""
    edges = [bin_edges(column) for column in X[:n].T]
    p = X.shape[1]
    data, new = (bin_columns(list(x.T), edges, [0] * p, np.arange(p)) for x in (X[:n], X[n:]))
    return Task(name, data, y[:n], new, y[n:], int(y.max()) + 1)


def tasks(*, quick: bool) -> Iterator[Task]:
    """Simulated classes with interactions, and digits."""
    n = 1_000 if quick else 20_000
    for n_classes in (3, 10):
        rng = np.random.default_rng(n_classes)
        X = rng.normal(size=(n + n // 4, 30))
        score = [1.5 * X[:, k] + X[:, k + 1] * X[:, k + 2] for k in range(n_classes)]
        y = (np.array(score).T + rng.gumbel(size=(len(X), n_classes))).argmax(axis=1)
        yield task(f"simulated, {n_classes} classes", X, y, n)
    path = Path(os.environ.get("TREESELECT_DATA", "../shared/data")) / "uspst.parquet"
    if path.exists() and not quick:
        frame = pd.read_parquet(path)
        order = np.random.default_rng(0).permutation(len(frame))
        X = frame.drop(columns="target").to_numpy(dtype=np.float64)[order]
        yield task("uspst, 10 classes", X, frame["target"].to_numpy(dtype=np.int64)[order], 1606)


def judge(task: Task, eta: FloatArray) -> str:
    """Log loss and share of wrong classes on the new rows."""
    share = np.exp(eta - eta.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    own = share[np.arange(len(eta)), task.new_y]
    wrong = np.mean(eta.argmax(axis=1) != task.new_y)
    return f"log loss {-np.log(own).mean():.4f}  wrong {wrong:.4f}"


def grow(task: Task, rules: Boosting) -> tuple[float, str]:
    """CPU seconds of boosting, and how well it does."""
    loss, y = MultinomialLoss(task.n_classes), task.y.astype(np.float64)
    base = np.log(np.bincount(task.y, minlength=task.n_classes) / len(y))
    begin = time.process_time()
    model = boost(
        task.data, loss, y, np.ones(len(y), dtype=np.int64), base, rules, seed=1,
        rank=np.arange(task.data.n_groups),
    )  # fmt: skip
    seconds = time.process_time() - begin
    return seconds, judge(task, base + predict_sum(model.trees, task.new))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data")
    quick = parser.parse_args().quick
    for problem in tasks(quick=quick):
        print(problem.name)
        for name, joint, leaves in (
            ("a tree for each class", False, 31),
            ("one tree for all", True, 31),
            ("one tree for all", True, 127),
        ):
            growth = Growth(UNBOUNDED, 20, UNBOUNDED, 0.0, False, BEST_FIRST, leaves, 1e-3)
            for rounds in (2, 4) if quick else (20, 40, 80):
                seconds, verdict = grow(problem, Boosting(rounds, RATE, growth, joint))
                print(
                    f"  {name:22} {leaves:3} leaves {rounds:3} rounds  {seconds:6.2f} s  {verdict}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
