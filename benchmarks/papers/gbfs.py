"""GBFS paper: the synthetic data, curves of test errors, and bags of genes.

    python benchmarks/papers/gbfs.py [--quick] [--jobs 2] [--parts synthetic curves bags]
                                [--seeds 10] [--methods gbfs ...] [--missing] [--sets spam ...]

synthetic  Section 5.1 and Figure 1, and designs like it: two columns that matter and their sum. x
           and y are uniform on a square and decide the class together; z = x + y. `paper` has
           classes whose first split favours x and y, as Figure 1 must have; on the rings, the
           checkerboard and XOR z is the best first split. With and without five columns of noise,
           for all methods of the package at k = 2; for the methods of the papers also with the
           backward pass (`prune=True`), and for GBFS and the default, on the first seeds, by the
           one-standard-error rule over five folds. GBFS has its default number of trees, the other
           methods reduced options. With ``--missing`` only methods that do not stand in the results
           are run.
curves     Figures 3, 4 and 5: test error against the number of features. The ensemble of GBFS at
           the paper's ten values of mu, divided by the number of rows (equation 14 is a sum, our
           `mu` a mean), beside the logistic regression with an L1 penalty and a random forest on
           the most important columns of a forest. On uspst also the error of an SVM with a radial
           kernel on the features that each selects, as in Figure 5. kddcup99, normal against the
           rest, has 500 trees of depth 4 and its seconds and peak memory; the others as many trees
           as validation says. uspst is digits 0 to 4 against 5 to 9, isolet the first against the
           last 13 letters: the paper does not say how it made two classes of them.
bags       Section 5.2 and Figure 2: bags of genes on the colon set. The paper's nine bags of genes
           are not printed: nine are made by clustering the genes by their correlation. Ten random
           80/20 splits; the test error of the ensemble that uses one bag, two, and all of them (mu
           = 0), beside a random forest and the logistic regression with an L1 penalty.
"""

from __future__ import annotations

import dataclasses
import resource
import time

import numpy as np
import pandas as pd
from common import Run, class_problem, forest_error, frame_problem, seed_tables
from harness import FORMS, shown_mean, stored
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import treeselect
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


# --- curves ------------------------------------------------------------------------------------

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
    frame = stored(file)
    if split is not None:
        values = frame[target] if name == "kddcup99" else frame[target].astype(int)
        frame[target] = split(values).astype(int)
    return frame, target


def ring():
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
    error, svm = ensemble_error(problem, weight, found), svm_error(X, problem.y, train, used)
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


def curve(name, frame, target, run):
    """The lines of one set."""
    begin, cpu = time.perf_counter(), time.process_time()
    problem = dataclasses.replace(frame_problem(frame, target), exact=None)
    train = np.random.default_rng(0).random(len(frame)) < 0.8
    if name == "adult":
        train = np.arange(len(frame)) < 32_561
    n_trees = run.pick(10, 500 if name == "kddcup99" else None)
    encoded = time.process_time() - cpu
    X = None
    if name in WITH_SVM:  # all numbers: a column for each unit, in the units' order
        frame = frame[[*problem.groups.names, target]]
        X = frame.drop(columns=target).to_numpy(np.float64)
    calls = [(problem, train, mu, n_trees, X) for mu in run.pick(MU[::4], MU)]
    lines = [
        [name, "GBFS", f"{mu:g}", size, f"{error:.4f}", trees, f"{seconds:.1f}", svm]
        for mu, size, error, trees, seconds, svm in run.map(at_price, calls)
    ]
    if name == "kddcup99":
        who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        memory = max(resource.getrusage(each).ru_maxrss for each in who)
        wall = time.perf_counter() - begin
        note = f"all prices {wall:.0f} s wall, encoding {encoded:.1f} s, {memory / 1024:.0f} MB"
        return [*lines, [name, note, "", "", "", "", "", ""]]
    sizes = run.pick(SIZES[:2], SIZES)
    others = {
        "forest importance": by_importance(problem, train, sizes, X),
        "L1 logistic": by_lasso(frame, target, train, sizes, X),
    }
    return lines + [
        [name, method, "", size, f"{error:.4f}", "", "", svm]
        for method, found in others.items()
        for size, error, svm in found
    ]


def curves(run):
    """The table, written after every set."""
    columns = ["set", "method", "mu, paper's scale", "features", "test error, treeselect",
               "trees", "CPU s", "SVM error"]  # fmt: skip
    for name in run.pick(["simulated"], run.sets):
        frame, target = ring() if run.quick else load(name)
        run.keep(
            "gbfs_curves", pd.DataFrame(curve(name, frame, target, run), columns=columns), "set"
        )
    run.table(
        "gbfs_curves",
        run.kept("gbfs_curves", text=True),
        "GBFS paper, Figures 3, 4 and 5: error on a fifth of the rows (adult: its test file)"
        " against the number of features. The paper prints curves only.",
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


PARTS = {"synthetic": synthetic, "curves": curves, "bags": bags}


def main():
    """Write the tables."""
    quick = {"seeds": 1, "methods": ("rrf",)}
    run = Run(
        __doc__, parts=PARTS, seeds=10, methods=METHODS, missing=False, sets=SETS, quick=quick
    )
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
