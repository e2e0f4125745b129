"""GRRF paper, section 5.1 and Table 1: Friedman's function with five duplicated columns.

    python benchmarks/papers/grrf_simulated.py [--quick] [--replicates 20] [--jobs 2]

For each lambda of RRF and gamma of GRRF: how many of the five groups of equal columns are found,
and how many columns are irrelevant or redundant; beside what the authors' R package gives on data
drawn alike (reference/sim_groups_rrf.csv and, for the decrease, sim_groups_gain.csv). Then the
choice of lambda and gamma by ten-fold cross-validation.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from common import (
    apart,
    class_problem,
    data_folder,
    forest_error,
    mean_and_error,
    run_all,
    shown,
    write_table,
)

from treeselect import GRRF, RRF
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights

LAMBDAS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
GAMMAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
CHOICES = {"RRF": (0.6, 0.7, 0.8), "GRRF": (0.4, 0.5, 0.6)}
PRINTED = {"RRF": ((5.0, 0.0), (4.95, 0.05)), "GRRF": ((4.95, 0.05), (0.75, 0.123))}


def simulate(seed, n):
    """The paper's data: classes by the median."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 10))
    y = (
        10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3]
        + 5 * x[:, 4] + rng.normal(size=n)
    )  # fmt: skip
    return np.hstack([x, x[:, :5]]), (y > np.median(y)).astype(np.int64)


def method_of(kind, value, gain, ties, n_trees):
    """RRF by its lambda or GRRF by its gamma."""
    options = {"gain": gain, "ties": ties, "n_trees": n_trees, "screen": False}
    return RRF(lam=value, **options) if kind == "RRF" else GRRF(gamma=value, **options)


def select(X, y, method, seed):
    """Columns that are selected."""
    problem = class_problem(X, y)
    path = method.path(
        Task(problem, row_weights(np.ones(len(y), dtype=np.int64)), max_size=X.shape[1], seed=seed)
    )
    return path[-1].selected


def judge(used):
    """Groups found, and columns that are irrelevant or redundant."""
    groups = int((used[:5] | used[10:]).sum())
    return groups, int(used.sum()) - groups


def grid(replicate, n, n_trees, gain, ties):
    """All values on one data set."""
    X, y = simulate(1000 + replicate, n)
    rows = []
    for kind, values in (("RRF", LAMBDAS), ("GRRF", GAMMAS)):
        for value in values:
            used = select(X, y, method_of(kind, value, gain, ties, n_trees), replicate)
            rows.append((gain, ties, kind, value, *judge(used)))
    return rows


def choose(replicate, n, n_trees, folds):
    """The choice by cross-validation, by the least error and by the one-standard-error rule.

    Of values in order of regularisation, strongest first: the first with the least error; and the
    first whose error is above the least by at most the standard error of their difference.
    """
    X, y = simulate(1000 + replicate, n)
    fold = np.random.default_rng(replicate).permutation(np.arange(n) % folds)
    rows = []
    for kind, values in CHOICES.items():
        ordered = values if kind == "RRF" else values[::-1]
        errors = np.zeros((folds, len(ordered)))
        for k in range(folds):
            inside, outside = fold != k, fold == k
            for j, value in enumerate(ordered):
                method = method_of(kind, value, "uncentred", "used", max(n_trees // 5, 1))
                used = select(X[inside], y[inside], method, replicate)
                errors[k, j] = forest_error(
                    X[inside], y[inside], X[outside], y[outside], used, seed=k,
                    n_trees=max(n_trees // 5, 1),
                )  # fmt: skip
        best = int(errors.mean(axis=0).argmin())
        differences = errors - errors[:, [best]]
        spread = differences.std(axis=0, ddof=1) / np.sqrt(folds)
        within = np.flatnonzero(differences.mean(axis=0) <= spread)
        for rule, j in (("least error", best), ("one s.e.", int(within[0]))):
            used = select(
                X, y, method_of(kind, ordered[j], "uncentred", "used", n_trees), replicate
            )
            rows.append((kind, rule, ordered[j], *judge(used)))
    return rows


def reference(gain):
    """Groups and bad columns of the R package, by method and value, with standard errors."""
    name = "sim_groups_rrf.csv" if gain == "uncentred" else "sim_groups_gain.csv"
    path = data_folder() / "reference" / name
    if not path.exists():
        return {}
    frame = pd.read_csv(path)
    return {
        key: (mean_and_error(part["groups"]), mean_and_error(part["bad"]))
        for key, part in frame.groupby(["method", "par"])
    }


def main():
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    n, n_trees, replicates = (200, 10, 2) if options.quick else (1000, 1000, options.replicates)
    forms = [("uncentred", "used"), ("uncentred", "random"), ("decrease", "used")]
    calls = [(r, n, n_trees, *form) for form in forms for r in range(replicates)]
    rows = [row for part in run_all(grid, calls, options.jobs) for row in part]
    found = pd.DataFrame(rows, columns=["gain", "ties", "kind", "value", "groups", "bad"])
    lines, n_apart, n_compared = [], 0, 0
    for (gain, ties), part in found.groupby(["gain", "ties"], sort=False):
        peers = reference(gain)
        for (kind, value), own in part.groupby(["kind", "value"], sort=False):
            ours = mean_and_error(own["groups"]), mean_and_error(own["bad"])
            peer = peers.get((kind, value))
            differs = [apart(a, b) for a, b in zip(ours, peer, strict=True)] if peer else []
            n_apart += sum(differs) if ties == "random" else 0
            n_compared += len(differs) if ties == "random" else 0
            lines.append(
                [gain, ties, kind, value]
                + [shown(*cell) for cell in (peer or ((np.nan, None),) * 2)]
                + [shown(*cell) for cell in ours]
                + ["".join("*" if d else "." for d in differs)]
            )
    table = pd.DataFrame(
        lines,
        columns=["gain", "ties", "method", "value", "groups, R", "bad, R", "groups, treeselect",
                 "bad, treeselect", "apart"],
    )  # fmt: skip
    write_table(
        "grrf_simulated_grid",
        table,
        f"GRRF paper, section 5.1: {replicates} data sets of {n} rows, {n_trees} trees. R is the"
        " authors' package (coin flips at ties); a star where groups or bad columns differ by more"
        " than two standard errors of the difference. With coin flips here, too:"
        f" {n_apart} of {n_compared} cells.",
        quick=options.quick,
    )
    calls = [(r, n, n_trees, 2 if options.quick else 10) for r in range(replicates)]
    rows = [row for part in run_all(choose, calls, options.jobs) for row in part]
    chosen = pd.DataFrame(rows, columns=["kind", "rule", "value", "groups", "bad"])
    lines = []
    for (kind, rule), part in chosen.groupby(["kind", "rule"], sort=False):
        peer = reference("uncentred")
        frame = pd.DataFrame(columns=["groups", "bad"])
        path = data_folder() / "reference" / "sim_groups_rrf.csv"
        if peer:
            everything = pd.read_csv(path)
            frame = everything[everything["method"] == f"{kind}-cv"]
        cells = [
            shown(*mean_and_error(frame[c])) if len(frame) > 1 else "" for c in ("groups", "bad")
        ]
        counts = part["value"].value_counts().sort_index()
        lines.append(
            [kind, rule, *(shown(*c) for c in PRINTED[kind]), *cells]
            + [shown(*mean_and_error(part[c])) for c in ("groups", "bad")]
            + [", ".join(f"{v} x{n}" for v, n in counts.items())]
        )
    write_table(
        "grrf_simulated_cv",
        pd.DataFrame(
            lines,
            columns=["method", "choice", "groups, paper", "bad, paper", "groups, R", "bad, R",
                     "groups, treeselect", "bad, treeselect", "chosen"],
        ),
        "GRRF paper, Table 1: lambda of RRF from 0.6, 0.7, 0.8 and gamma of GRRF from 0.4, 0.5, 0.6"
        " by ten-fold cross-validation.",
        quick=options.quick,
    )  # fmt: skip


if __name__ == "__main__":
    main()
