"""GBFS paper, section 5.1 and Figure 1, and designs like it: two columns that matter and their sum.

    python benchmarks/papers/gbfs_synthetic.py [--quick] [--seeds 10] [--jobs 2]

x and y are uniform on a square and decide the class together; z = x + y. `paper` has classes whose
first split favours x and y, as Figure 1 must have; on the rings, the checkerboard and XOR z is the
best first split. With and without five columns of noise, with and without the backward pass
(`prune=True`), for GBFS and the other methods, at k = 2 and, for the first seeds, by the
one-standard-error rule over five folds.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from common import mean_and_error, run_all, shown, with_earlier, write_table

import treeselect

DESIGNS = ("paper", "rings", "checkerboard", "xor")
METHODS = {
    "gbfs": {},
    "controlburn": {},
    "rrf": {"n_trees": 200},
    "grrf": {"n_trees": 200},
    "rboost": {},
}


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


def one(design, n_noise, method, prune, rule, seed, n):
    """What is selected on nine tenths of the rows, and the error on the others."""
    frame = simulate(design, n, n_noise, seed)
    train, test = frame[: int(0.9 * n)], frame[int(0.9 * n) :]
    fit = treeselect.select(
        "class ~ .", train, method=method, k=rule, prune=prune, seed=seed, folds=5,
        n_jobs=1, **METHODS[method],
    )  # fmt: skip
    used = set(fit.selected)
    error = float(np.mean(fit.predict(test, "class") != test["class"]))
    noise = sum(name.startswith("noise") for name in used)
    found = (used == {"x", "y"}, "z" in used, noise, len(used), error)
    return (design, n_noise, method, prune, str(rule), *found)


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    n, seeds = (200, 1) if options.quick else (1000, options.seeds)
    methods = ["rrf"] if options.quick else options.methods
    calls = [
        (design, n_noise, method, prune, rule, seed, n)
        for method in methods
        for rule, n_seeds in (((2, 1),) if options.quick else ((2, seeds), ("1se", seeds // 3)))
        for design in (("xor",) if options.quick else DESIGNS)
        for n_noise in (0, 5)
        for prune in (False, True)
        for seed in range(n_seeds)
    ]
    rows = run_all(one, calls, options.jobs)
    columns = ["design", "n_noise", "method", "prune", "k", "exact", "z", "noise", "size", "error"]
    found = pd.DataFrame(rows, columns=columns)
    lines = [
        [*key, f"{part['exact'].sum()} of {len(part)}", f"{part['z'].sum()} of {len(part)}",
         *(shown(*mean_and_error(part[c])) for c in ("noise", "size")),
         shown(*mean_and_error(part["error"]), 3)]
        for key, part in found.groupby(["method", "k", "design", "n_noise", "prune"], sort=False)
    ]  # fmt: skip
    names = ["method", "k", "design", "noise columns", "prune", "exactly x, y", "with z",
             "noise kept", "size", "test error"]  # fmt: skip
    table = pd.DataFrame(lines, columns=names).astype(str)
    write_table(
        "gbfs_synthetic",
        with_earlier("gbfs_synthetic", table, by="method", quick=options.quick),
        f"GBFS paper, section 5.1, and designs like it, by treeselect: {n} rows, a tenth of them to"
        " test on. The paper reports x and y and no error on its data, which it does not print.",
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
