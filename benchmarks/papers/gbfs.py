"""GBFS paper: the synthetic data, and bags of genes.

    python benchmarks/papers/gbfs.py [--quick] [--jobs 2] [--parts synthetic bags]
                                [--seeds 10] [--methods gbfs ...] [--missing]

synthetic  Section 5.1 and Figure 1, and designs like it: two columns that matter and their sum. x
           and y are uniform on a square and decide the class together; z = x + y. `paper` has
           classes whose first split favours x and y, as Figure 1 must have; on the rings, the
           checkerboard and XOR z is the best first split. With and without five columns of noise,
           for all methods of the package at k = 2; for the methods of the papers also with the
           backward pass (`prune=True`), and for GBFS and the default, on the first seeds, by the
           one-standard-error rule over five folds. GBFS has its default number of trees, the other
           methods reduced options. With ``--missing`` only methods that do not stand in the results
           are run.
bags       Section 5.2 and Figure 2: bags of genes on the colon set. The paper's nine bags of genes
           are not printed: nine are made by clustering the genes by their correlation. Ten random
           80/20 splits; the test error of the ensemble that uses one bag, two, and all of them (mu
           = 0), beside a random forest and the logistic regression with an L1 penalty.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import Run, class_problem, forest_error, seed_tables
from harness import FORMS, shown_mean, stored
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegressionCV

import treeselect
from treeselect import GBFS
from treeselect.algorithms.forests.gbfs import Ensembles
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights
from treeselect.engine.columns import take_rows
from treeselect.engine.forest.walk import predict_sum


def ensemble_error(problem, weight, found):
    """Share of the rows without weight that an ensemble gets wrong."""
    test = np.flatnonzero(weight == 0)
    total = predict_sum(found.trees, take_rows(problem.data, test))[:, 0]
    eta = problem.constant(weight)[test] + total
    return float(np.mean((eta > 0) != (problem.y[test] > 0.5)))


# --- synthetic ---------------------------------------------------------------------------------

DESIGNS = ("paper", "rings", "checkerboard", "xor")
METHODS = FORMS | {"gbfs": GBFS()}
PRUNED = ("gbfs", "controlburn", "rrf", "grrf", "rboost")
"""The methods of the papers: also with the backward pass."""

BY_RULE = ("gbfs", "exchange")
"""Also at the size that the one-standard-error rule chooses."""


def simulate(design, n, n_noise, seed):
    """Columns x, y, z and noise, and the class."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1, 1, size=(2, n))
    classes = {
        # Two boxes off the diagonal: a split of x, and one of y, gains more than any of z.
        "paper": ((np.abs(x - 0.5) < 0.35) & (np.abs(y) < 0.8)) | (y < -0.6),
        "rings": np.floor(3 * np.hypot(x, y)).astype(int) % 2 == 1,
        "checkerboard": (np.floor(2 * (x + 1)) + np.floor(2 * (y + 1))).astype(int) % 2 == 1,
        "xor": (x > 0) != (y > 0),
    }
    frame = pd.DataFrame({"x": x, "y": y, "z": x + y, "class": classes[design].astype(int)})
    for j in range(n_noise):
        frame[f"noise{j}"] = rng.uniform(-1, 1, size=n)
    return frame


def one_fit(design, n_noise, method, prune, rule, seed, n):
    """What is selected on nine tenths of the rows, and the error on the others."""
    frame = simulate(design, n, n_noise, seed)
    train, test = frame[: int(0.9 * n)], frame[int(0.9 * n) :]
    fit = treeselect.select(
        "class ~ .", train, method=METHODS[method], k=rule, seed=seed, folds=5, n_jobs=1,
        progress=False, **({"prune": prune} if method in PRUNED else {}),
    )  # fmt: skip
    used = set(fit.selected)
    error = float(np.mean(fit.predict(test, "class") != test["class"]))
    noise = sum(name.startswith("noise") for name in used)
    return used == {"x", "y"}, "z" in used, noise, len(used), error


def synthetic(run):
    """How often x and y alone are selected."""
    done = run.stands("gbfs_synthetic", "method") if run.missing else set()
    for method in (m for m in run.methods if m not in done):
        lines = []
        rules = [(2, run.seeds)]
        if method in BY_RULE and not run.quick:
            rules.append(("1se", min(run.seeds, 3)))
        cases = [
            (design, n_noise, prune, rule, n_seeds)
            for rule, n_seeds in rules
            for design in run.pick(("xor",), DESIGNS)
            for n_noise in (0, 5)
            for prune in ((False, True) if method in PRUNED else (False,))
        ]
        for design, n_noise, prune, rule, n_seeds in cases:
            key = (design, n_noise, method, prune, rule)
            rows = run.map(one_fit, [(*key, s, run.pick(200, 1000)) for s in range(n_seeds)])
            exact, with_z, noise, size, error = zip(*rows, strict=True)
            lines.append({
                "method": method, "k": rule, "design": design, "noise columns": n_noise,
                "prune": prune, "exactly x, y": f"{sum(exact)} of {len(rows)}",
                "with z": f"{sum(with_z)} of {len(rows)}", "noise kept": shown_mean(noise),
                "size": shown_mean(size), "test error": shown_mean(error, 3),
            })  # fmt: skip
        run.keep("gbfs_synthetic", lines, by="method")
    lines, table = [], run.kept("gbfs_synthetic", text=True)
    for (method, k, prune), part in table.groupby(["method", "k", "prune"], sort=False):
        counts = part["exactly x, y"].str.split(" of ", expand=True)
        line = {"method": method, "k": k, "backward pass": {"True": "yes"}.get(prune, "no")}
        line["data sets"] = counts[1].iloc[0]
        for design in DESIGNS:
            line[design] = ", ".join(counts[0][part["design"] == design])
        lines.append(line)
    lines.sort(key=lambda line: list(METHODS).index(line["method"]))
    run.table(
        "gbfs_synthetic",
        lines,
        "GBFS paper, section 5.1, and designs like it, by treeselect: 1000 rows, a tenth of them to"
        " test on. In how many data sets x and y are selected and nothing else: without, and with,"
        " five columns of noise. The paper reports x and y and no error on its data, which it does"
        " not print. Sizes and test errors are in gbfs_synthetic.csv.",
    )


# --- bags --------------------------------------------------------------------------------------

N_BAGS = 9


def colon():
    """Genes in the order of their bags, the bags, and the classes."""
    frame = stored("gene/colon_alon_raw")
    y = (frame["target"] == "tumor").to_numpy().astype(np.int64)
    X = np.log(frame.drop(columns="target").to_numpy(dtype=np.float64))
    return bag(X, y)


def profiles():
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


def one_bagging(X, bags, y, seed, quick):
    """Errors of all methods on one split."""
    rng = np.random.default_rng(seed)
    train = np.zeros(len(y), dtype=bool)
    train[rng.permutation(len(y))[: int(0.8 * len(y))]] = True
    problem, weight = class_problem(X, y, bags), train.astype(np.int64)
    method = GBFS(n_trees=20 if quick else None)
    task = Task(problem, row_weights(weight), max_size=2, seed=seed)
    ensembles = Ensembles(method, task)
    path = method.path(task)
    rows = []
    for name, step in [*((f"GBFS, {s.size} bags", s) for s in path if s.size in (1, 2)),
                       ("GBFS, mu = 0", None)]:  # fmt: skip
        found = ensembles.grow(0.0 if step is None else step.tuning)
        used = "" if step is None else " ".join(map(str, np.flatnonzero(step.selected)))
        rows.append((name, ensemble_error(problem, weight, found), used))
    test, everything = ~train, np.ones(X.shape[1], dtype=bool)
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


def bags(run):
    """Errors of one bag, two, and all of them."""
    X, ids, y = profiles() if run.quick else colon()
    calls = [(X, ids, y, seed, run.quick) for seed in range(run.pick(1, 10))]
    found = pd.DataFrame(run.flat(one_bagging, calls), columns=["method", "error", "bags"])
    printed = (
        seed_tables("GBFS") and seed_tables("GBFS")["figure2_colon_bags"]["test_error_percent"]
    )
    names = {"random forest": "RF-FS", "L1 logistic": "L1-LR", "GBFS, 1 bags": "GBFS"}
    lines = []
    for method, part in found.groupby("method", sort=False):
        paper, counts = printed.get(names.get(method, ""), ""), part["bags"].value_counts()
        lines.append({
            "method": method, "test error, paper": f"{paper / 100:.3f}" if paper else "",
            "splits": len(part), "test error, treeselect": shown_mean(part["error"], 3),
            "bags": ", ".join(f"{{{bag}}} x{n}" for bag, n in counts.items() if bag),
        })  # fmt: skip
    run.table(
        "gbfs_bags",
        lines,
        f"GBFS paper, section 5.2: {N_BAGS} bags of {X.shape[1]} genes by clustering, sizes"
        f" {np.bincount(ids).tolist()}.",
    )


PARTS = {"synthetic": synthetic, "bags": bags}


def main():
    """Write the tables."""
    quick = {"seeds": 1, "methods": ("rrf",)}
    run = Run(__doc__, parts=PARTS, seeds=10, methods=METHODS, missing=False, quick=quick)
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
