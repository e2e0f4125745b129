"""GBFS paper, section 5.1 and Figure 1, and designs like it: two columns that matter and their sum.

    python benchmarks/papers/gbfs_synthetic.py [--quick] [--seeds 10] [--jobs 2]
                                               [--methods gbfs ...] [--missing]

x and y are uniform on a square and decide the class together; z = x + y. `paper` has classes whose
first split favours x and y, as Figure 1 must have; on the rings, the checkerboard and XOR z is the
best first split. With and without five columns of noise, for all methods of the package at k = 2;
for the methods of the papers also with the backward pass (`prune=True`), and for GBFS and the
default, on the first seeds, by the one-standard-error rule over five folds. GBFS has its
default number of trees, the other methods the options of forms.py. A method's rows are written when
it is done; with ``--missing`` only methods that do not stand in the results are run.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from common import RESULTS, mean_and_error, run_all, shown, with_earlier, write_table
from forms import FORMS

import treeselect
from treeselect import GBFS

DESIGNS = ("paper", "rings", "checkerboard", "xor")
METHODS = FORMS | {"gbfs": GBFS()}
PRUNED = ("gbfs", "controlburn", "rrf", "grrf", "rboost")
"""The methods of the papers: also with the backward pass."""

BY_RULE = ("gbfs", "exchange")
"""Also at the size that the one-standard-error rule chooses."""

COLUMNS = ["design", "n_noise", "method", "prune", "k", "exact", "z", "noise", "size", "error"]
NAMES = ["method", "k", "design", "noise columns", "prune", "exactly x, y", "with z",
         "noise kept", "size", "test error"]  # fmt: skip


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
        "class ~ .", train, method=METHODS[method], k=rule, seed=seed, folds=5, n_jobs=1,
        progress=False, **({"prune": prune} if method in PRUNED else {}),
    )  # fmt: skip
    used = set(fit.selected)
    error = float(np.mean(fit.predict(test, "class") != test["class"]))
    noise = sum(name.startswith("noise") for name in used)
    found = (used == {"x", "y"}, "z" in used, noise, len(used), error)
    return (design, n_noise, method, prune, str(rule), *found)


def calls_of(method, quick, seeds, rule_seeds):
    """The fits of a method."""
    rules = [(2, seeds)]
    if method in BY_RULE and not quick:
        rules.append(("1se", min(seeds, rule_seeds)))
    return [
        (design, n_noise, method, prune, rule, seed, 200 if quick else 1000)
        for rule, n_seeds in rules
        for design in (("xor",) if quick else DESIGNS)
        for n_noise in (0, 5)
        for prune in ((False, True) if method in PRUNED else (False,))
        for seed in range(n_seeds)
    ]


def table_of(rows):
    """A line per rule, design, number of noise columns, and with or without the backward pass."""
    found = pd.DataFrame(rows, columns=COLUMNS)
    lines = [
        [*key, f"{part['exact'].sum()} of {len(part)}", f"{part['z'].sum()} of {len(part)}",
         *(shown(*mean_and_error(part[c])) for c in ("noise", "size")),
         shown(*mean_and_error(part["error"]), 3)]
        for key, part in found.groupby(["method", "k", "design", "n_noise", "prune"], sort=False)
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=NAMES).astype(str)


def printed(table):
    """A line per method, rule and pass: how often x and y alone, without and with the noise."""
    lines = []
    for (method, k, prune), part in table.groupby(["method", "k", "prune"], sort=False):
        line = {"method": method, "k": k, "backward pass": {"True": "yes"}.get(prune, "no")}
        line["data sets"] = part["exactly x, y"].iloc[0].split(" of ")[1]
        for design in DESIGNS:
            own = part[part["design"] == design]
            line[design] = ", ".join(text.split(" of ")[0] for text in own["exactly x, y"])
        lines.append(line)
    found = pd.DataFrame(lines).fillna("")
    return found.iloc[np.argsort([_place(method) for method in found["method"]], kind="stable")]


def _place(method):
    return list(METHODS).index(method)


def standing():
    """The table so far; empty before the first run."""
    path = RESULTS / "gbfs_synthetic.csv"
    return pd.read_csv(path, dtype=str) if path.exists() else pd.DataFrame(columns=NAMES)


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rule-seeds", type=int, default=3, help="for the 1se rule")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--missing", action="store_true", help="only methods that do not stand")
    options = parser.parse_args()
    methods, table = ["rrf"] if options.quick else options.methods, standing()
    if options.missing:
        methods = [method for method in methods if method not in set(table["method"])]
    for method in methods:
        seeds = 1 if options.quick else options.seeds
        calls = calls_of(method, options.quick, seeds, options.rule_seeds)
        rows = table_of(run_all(one, calls, options.jobs))
        table = with_earlier("gbfs_synthetic", rows, by="method", quick=options.quick)
    write_table(
        "gbfs_synthetic",
        printed(table),
        "GBFS paper, section 5.1, and designs like it, by treeselect: 1000 rows, a tenth of them to"
        " test on. In how many data sets x and y are selected and nothing else: without, and with,"
        " five columns of noise. The paper reports x and y and no error on its data, which it does"
        " not print. Sizes and test errors are in gbfs_synthetic.csv.",
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
