"""GBFS paper: the synthetic data, and bags of genes.

    python benchmarks/papers/gbfs.py [--quick] [--jobs 2] [--parts synthetic bags]
                                [--seeds 10] [--methods gbfs ...]

synthetic  Section 5.1 and Figure 1, and designs like it: two columns that matter and their sum. x
           and y are uniform on a square and decide the class together; z = x + y. `paper` has
           classes whose first split favours x and y, as Figure 1 must have; on the rings, the
           checkerboard and XOR z is the best first split. With and without five columns of noise,
           for all methods of the package at k = 2; for the methods of the papers also with the
           backward pass (`prune=True`). GBFS has its default number of trees, the other methods
           reduced options.
bags       Section 5.2 and Figure 2: bags of genes on the colon set. The paper's nine bags of genes
           are not printed: nine are made by clustering the genes by their correlation. Ten random
           80/20 splits; the test error of boosted trees on the bag that GBFS takes, beside a
           random forest and the logistic regression with an L1 penalty on all genes.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from common import Run, seed_tables
from harness import FORMS, shown, shown_mean, stored
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treeselect
from treeselect import GBFS

# --- synthetic ---------------------------------------------------------------------------------

DESIGNS = ("paper", "rings", "checkerboard", "xor")
METHODS = FORMS | {"gbfs": GBFS()}
PRUNED = ("gbfs", "controlburn", "rrf", "grrf", "rboost")
"""The methods of the papers: also with the backward pass."""


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


def one_fit(design, n_noise, method, prune, seed, n):
    """What is selected on nine tenths of the rows, and the error on the others."""
    frame = simulate(design, n, n_noise, seed)
    train, test = frame[: int(0.9 * n)], frame[int(0.9 * n) :]
    fit = treeselect.select(
        "class ~ .", train, method=METHODS[method], k=2, seed=seed, n_jobs=1, progress=False,
        **({"prune": prune} if method in PRUNED else {}),
    )  # fmt: skip
    used = set(fit.selected)
    error = float(np.mean(fit.predict(test, "class") != test["class"]))
    noise = sum(name.startswith("noise") for name in used)
    return used == {"x", "y"}, "z" in used, noise, len(used), error


def synthetic(run):
    """How often x and y alone are selected."""
    for method in run.methods:
        lines = []
        cases = [
            (design, n_noise, prune)
            for design in run.pick(("xor",), DESIGNS)
            for n_noise in (0, 5)
            for prune in ((False, True) if method in PRUNED else (False,))
        ]
        for design, n_noise, prune in cases:
            key = (design, n_noise, method, prune)
            rows = run.map(one_fit, [(*key, s, run.pick(200, 1000)) for s in range(run.seeds)])
            exact, with_z, noise, size, error = zip(*rows, strict=True)
            lines.append({
                "method": method, "design": design, "noise columns": n_noise,
                "prune": prune, "exactly x, y": f"{sum(exact)} of {len(rows)}",
                "with z": f"{sum(with_z)} of {len(rows)}", "noise kept": shown_mean(noise),
                "size": shown_mean(size), "test error": shown_mean(error, 3),
            })  # fmt: skip
        run.keep("gbfs_synthetic", lines, by="method")
    lines, table = [], run.kept("gbfs_synthetic", text=True)
    for (method, prune), part in table.groupby(["method", "prune"], sort=False):
        counts = part["exactly x, y"].str.split(" of ", expand=True)
        line = {"method": method, "backward pass": {"True": "yes"}.get(prune, "no")}
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
    """Logarithms of the genes, and whether a tissue is of a tumour."""
    frame = stored("gene/colon_alon_raw")
    genes = np.log(frame.drop(columns="target"))
    return genes, (frame["target"] == "tumor").astype(int)


def profiles():
    """Bags of six columns, one of which carries the signal."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(60, N_BAGS))
    y = pd.Series(np.tile([0, 1], 30))
    centres[:, 0] += 2 * y
    columns = np.repeat(centres, 6, axis=1) + 0.5 * rng.normal(size=(60, 6 * N_BAGS))
    return pd.DataFrame(columns, columns=[f"g{j}" for j in range(6 * N_BAGS)]), y


def one_split(genes, y, groups, seed):
    """Errors on a fifth of the rows."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    frame = genes.assign(y=y)
    fit = treeselect.select(
        "y ~ .", frame.iloc[train], method=GBFS(), k=1, groups=groups, seed=seed, n_jobs=1,
        progress=False,
    ).refit("boosting")  # fmt: skip
    forest = RandomForestClassifier(1000, random_state=seed).fit(genes.iloc[train], y.iloc[train])
    lasso = make_pipeline(
        StandardScaler(),
        LogisticRegressionCV(Cs=10, cv=4, l1_ratios=(1.0,), solver="liblinear", random_state=1,
                             use_legacy_attributes=False, scoring="accuracy"),
    ).fit(genes.iloc[train], y.iloc[train])  # fmt: skip
    new = genes.iloc[test]
    found = fit.predict(frame.iloc[test], "class"), forest.predict(new), lasso.predict(new)
    return [np.mean(np.asarray(classes) != y.iloc[test]) for classes in found]


def bags(run):
    """Errors of one bag and of all genes."""
    genes, y = run.pick(profiles, colon)()
    Z = ((genes - genes.mean()) / genes.std()).T
    bag = KMeans(N_BAGS, n_init=10, random_state=1).fit_predict(Z)
    groups = {f"bag {i}": list(genes.columns[bag == i]) for i in range(N_BAGS)}
    seeds = range(run.pick(1, 10))
    errors = np.array(run.map(one_split, [(genes, y, groups, seed) for seed in seeds])).T
    there = seed_tables("GBFS")
    known = there["figure2_colon_bags"]["test_error_percent"] if there else {}
    names = {"GBFS, one bag": "GBFS", "random forest": "RF-FS", "L1 logistic": "L1-LR"}
    run.table(
        "gbfs_bags",
        [
            {"method": name, "test error, paper": shown(known.get(paper, np.nan) / 100, None, 3),
             "test error, treeselect": shown_mean(own, 3)}
            for (name, paper), own in zip(names.items(), errors, strict=True)
        ],
        f"GBFS paper, section 5.2: {N_BAGS} bags of {genes.shape[1]} genes by clustering, sizes"
        f" {np.bincount(bag).tolist()}; {len(seeds)} splits.",
    )  # fmt: skip


PARTS = {"synthetic": synthetic, "bags": bags}


def main():
    """Write the tables."""
    quick = {"seeds": 1, "methods": ("rrf",)}
    run = Run(__doc__, parts=PARTS, seeds=10, methods=METHODS, quick=quick)
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
