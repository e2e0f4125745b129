"""Speed and memory of ControlBurn, the sparse-forest problem beside cvxpy with CLARABEL.

    python benchmarks/controlburn.py [--quick]

CPU seconds, the least of three runs, ours and the peer in turn; linear algebra on one thread.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd

import treeselect
from treeselect import ControlBurn
from treeselect.algorithms.controlburn.trees import TreePool
from treeselect.algorithms.task import Task
from treeselect.designs.problem import Problem
from treeselect.designs.weights import row_weights
from treeselect.engine.arrays import FloatArray
from treeselect.engine.sparse.forest import sparse_forest
from treeselect.engine.sparse.path import solution_path
from treeselect.engine.sparse.weights import SparseForest
from treeselect.engine.threads import one_thread

N_TREES = 300


def simulate(n: int, *, numbers: bool = False) -> pd.DataFrame:
    """Twenty columns, ten of them near copies; a class, or a number, of interactions."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 20))
    X[:, 10:] = X[:, :10] + 0.3 * rng.normal(size=(n, 10))
    eta = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + 0.5 * X[:, 4] + 0.4 * X[:, 7]
    eta += -X[:, 5] * (X[:, 6] > 0) + 0.3 * X[:, 8]
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(20)])
    noisy = eta + rng.normal(size=n) if numbers else rng.random(n) < 1 / (1 + np.exp(-eta))
    frame["y"] = noisy if numbers else noisy.astype(int)
    return frame


def least(work: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of the fastest of three runs, and what it gave."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        result = work()
        times.append(time.process_time() - begin)
    return min(times), result


def grown(n: int, *, numbers: bool) -> tuple[Problem, TreePool]:
    """Trees for the problem: those of as many forests as are needed."""
    fit = treeselect.select(
        "y ~ .", simulate(n, numbers=numbers), method="controlburn", k=1, seed=1, forests=1
    )
    problem = fit.data.design.problem
    method = ControlBurn(forests=8)
    pool, _ = method.pool(
        Task(problem, row_weights(np.ones(n, dtype=np.int64)), seed=1, max_size=10)
    )
    chosen = np.linspace(0, len(pool.trees) - 1, min(N_TREES, len(pool.trees))).astype(int)
    return problem, TreePool(
        [pool.leaves[t] for t in chosen], [pool.values[t] for t in chosen], pool.gains[chosen],
        [pool.trees[t] for t in chosen], pool.group_of,
    )  # fmt: skip


def forest_of(problem: Problem, pool: TreePool, n: int) -> SparseForest:
    """The sparse-forest problem on the first n rows."""
    weight = np.ones(len(problem.y), dtype=np.int64)
    rows = np.arange(n)
    return sparse_forest(
        pool.columns(rows, 1), problem.family.loss, problem.y[rows], weight[rows],
        problem.constant(weight)[rows], pool.uses.sum(axis=1).astype(float),
    )  # fmt: skip


def path_seconds(problem: Problem, pool: TreePool, n: int, k: int) -> float:
    """Building the problem and its path."""
    keep = np.zeros(problem.data.n_groups, dtype=bool)
    with one_thread():
        return least(
            lambda: solution_path(forest_of(problem, pool, n), pool.uses, keep, k)
        )[0]  # fmt: skip


def by_cvxpy(forest: SparseForest, columns: FloatArray, lam: float) -> float:
    """The optimal objective."""
    w, b = cp.Variable(columns.shape[1], nonneg=True), cp.Variable()
    eta = forest.base + b + columns @ w
    mean = cp.sum(cp.multiply(forest.share, cp.logistic(eta) - cp.multiply(forest.y, eta)))
    task = cp.Problem(cp.Minimize(mean + lam * (forest.prices @ w)))
    task.solve(solver=cp.CLARABEL)
    return float(task.value)


def against_cvxpy(problem: Problem, pool: TreePool, n: int) -> tuple[float, float, float]:
    """Seconds of ours and of the peer for one penalty, and by how much our objective is above."""
    forest = forest_of(problem, pool, n)
    columns = forest.columns.block(np.arange(forest.n_trees), slice(0, n)).T
    empty = forest.empty()
    lam = 0.1 * forest.largest_lam(empty)
    with one_thread():
        ours, solution = least(lambda: forest_of(problem, pool, n).solve(lam, empty))
        begin = time.process_time()
        value = by_cvxpy(forest, columns, lam)
        theirs = time.process_time() - begin
    return ours, theirs, forest.objective(solution) - value


def whole(n: int) -> float:
    """`select()` with its final forest."""
    frame = simulate(n)
    return least(
        lambda: treeselect.select("y ~ .", frame, method="controlburn", k=10, seed=1, n_jobs=1)
    )[0]


def memory_of(n: int) -> float:
    """Bytes per row above the frame of a run of its own."""
    frame = simulate(n)
    treeselect.select("y ~ .", frame[:2000], method="controlburn", k=10, seed=1, n_jobs=1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    treeselect.select("y ~ .", frame, method="controlburn", k=10, seed=1, n_jobs=1)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / n


def show(work: str, measured: str, asked: str) -> None:
    """A line of the table."""
    print(f"{work:<58}{measured:>24}{asked:>20}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help="small data")
    small = parser.parse_args().quick
    n, tiny, middle = (200, 100, 150) if small else (100_000, 2_000, 10_000)
    show("work", "measured", "asked")
    bytes_per_row = memory_of(200 if small else 200_000)  # first: the peak is never lowered
    show("memory of select(), bytes per row", f"{bytes_per_row:.0f}", "")
    problem, pool = grown(n, numbers=True)
    seconds = path_seconds(problem, pool, n, problem.data.n_groups)
    show(f"squared error, {n} x {len(pool.trees)} trees, whole path", f"{seconds:.2f} s", "0.5 s")
    problem, pool = grown(n, numbers=False)
    seconds = path_seconds(problem, pool, n, 10)
    show(f"logistic, {n} x {len(pool.trees)} trees, to 10 units", f"{seconds:.2f} s", "4 s")
    for rows in (tiny, middle):
        ours, theirs, above = against_cvxpy(problem, pool, rows)
        show(
            f"logistic, one penalty, {rows} rows, ours / cvxpy",
            f"{ours:.3f} / {theirs:.2f} = 1/{theirs / ours:.0f}",
            "1/100 at 10000",
        )
        show("    objective above cvxpy's", f"{above:.1e}", "1e-8 at 2000")
    sizes = (100, 200) if small else (5_000, 50_000)
    for rows, asked in zip(sizes, ("0.7 s", "4 s"), strict=True):
        show(f"select(k=10) with its forest, {rows} x 20", f"{whole(rows):.2f} s", asked)
    few, many = (100, 200) if small else (50_000, 800_000)
    times = []
    for rows in (few, many):
        frame = simulate(rows)
        fit = treeselect.select(
            "y ~ .", frame, method="controlburn", k=1, seed=1, forests=1, n_trees=1
        )
        task, ones = fit.data.design.problem, np.ones(rows, dtype=np.int64)
        begin = time.process_time()
        ControlBurn().path(Task(task, row_weights(ones), max_size=10, seed=1))
        times.append(time.process_time() - begin)
    exponent = np.log(times[1] / times[0]) / np.log(many / few)
    show(f"growth of the path in rows, {few} to {many}, exponent", f"{exponent:.2f}", "1.05")


if __name__ == "__main__":
    main()
