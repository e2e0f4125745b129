"""Simulated truth: how much of it each method finds, and what it takes for it by mistake.

    python benchmarks/truth.py [--quick] [--jobs 1] [--methods lasso ...] [--cases xor ...]

Every method at the true number of units, and at ``k="1se"`` by five folds, on

friedman    400 rows: Friedman's function of x1 to x5, each of which has a near copy (correlation
            0.98), and 20 columns of noise; numeric response; 5 groups of two are the truth
factors     600 rows: 12 factors of 12 levels each; of three of them 3 levels shift the log-odds by
            2, and 8 numbers are noise; two classes; the unit is the factor, with all its levels
xor         500 rows: y is whether just one of x1 and x2 is above 0, and 18 columns of noise
madelon     1000 of its 2600 rows, drawn anew for each seed; 20 of 500 columns are the truth, 5 of
            which and 15 combinations of them, so that fewer can tell all

Recall is the share of the true groups that are found: one of a group is enough. What is selected
of the rest is false, and so is a second one of a group. A row of the table per case and method;
those that are not run again stay as they are, and ``--methods`` without a name only writes the
table anew. Madelon is read from the folder in TREESELECT_DATA, by default ../shared/data.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import pandas as pd
from tables import (
    RESULTS,
    data_folder,
    mean_and_error,
    options_text,
    run_all,
    shown,
    with_earlier,
    write_table,
)

import treeselect
from treeselect.engine.blas import one_thread

METHODS = tuple(treeselect.methods()["method"])

MADELON = (
    29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494,
)  # fmt: skip
"""Its known columns: the only ones that correlate with any other."""

REDUCED = {
    "rrf": {"n_trees": 100},
    "grrf": {"n_trees": 100},
    "rboost": {"n_trees": 20},
    "gbfs": {"n_trees": 100},
    "boruta": {"max_rounds": 30},
}
"""Options of methods that would take hours otherwise; the others have their defaults."""

SEEDS = {"friedman": 10, "factors": 10, "xor": 10, "madelon": 3}
QUICK = ("importance", "mrmr")


def friedman(seed, n=400, n_noise=20):
    """Friedman's function, with a near copy of each of its variables."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 5 + n_noise))
    near = x[:, :5] + 0.06 * rng.standard_normal((n, 5))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    y += 10 * x[:, 3] + 5 * x[:, 4] + rng.standard_normal(n)
    names = [f"x{j + 1:02}" for j in range(5 + n_noise)]
    copies = [f"{name}_near" for name in names[:5]]
    frame = pd.DataFrame(np.column_stack([x, near]), columns=[*names, *copies])
    return frame.assign(y=y), [set(pair) for pair in zip(names, copies, strict=False)]


def factors(seed, n=600, n_factors=12, n_noise=8):
    """Factors of 12 levels; three levels of each of the first three factors matter."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(12, size=(n, n_factors))
    eta = np.zeros(n)
    for j in range(3):
        up, down, also_up = rng.permutation(12)[:3]
        eta += 2.0 * np.isin(codes[:, j], [up, also_up]) - 2.0 * (codes[:, j] == down)
    levels = np.array([f"level {chr(ord('a') + i)}" for i in range(12)])
    frame = pd.DataFrame({f"f{j + 1:02}": levels[codes[:, j]] for j in range(n_factors)})
    for j in range(n_noise):
        frame[f"x{j + 1:02}"] = rng.standard_normal(n)
    y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    return frame.assign(y=y), [{"f01"}, {"f02"}, {"f03"}]


def xor(seed, n=500, n_noise=18):
    """Two columns that tell nothing one by one, and everything together."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2 + n_noise))
    frame = pd.DataFrame(x, columns=[f"x{j + 1:02}" for j in range(2 + n_noise)])
    y = ((x[:, 0] > 0) != (x[:, 1] > 0)).astype(int)
    return frame.assign(y=y), [{"x01"}, {"x02"}]


def madelon(seed, n=1000):
    """Some rows of the set itself."""
    frame = pd.read_parquet(data_folder() / "madelon.parquet").sample(n, random_state=seed)
    frame = frame.rename(columns={"target": "y"}).reset_index(drop=True)
    return frame, [{f"V{j}"} for j in MADELON]


CASES = {"friedman": friedman, "factors": factors, "xor": xor, "madelon": madelon}


def judged(selected, truth):
    """Share of the groups that are found, and how many units are false."""
    found = sum(not group.isdisjoint(selected) for group in truth)
    return found / len(truth), len(selected) - found


def one_seed(case, method, seed, reduced, quick):
    """Recall, false picks and CPU seconds at the true number, then by the rule, and its k."""
    frame, truth = CASES[case](seed, 80, n_noise=2) if quick else CASES[case](seed)
    results = []
    with one_thread():
        for k in (len(truth), "1se"):
            begin = time.process_time()
            fit = treeselect.select(
                "y ~ .", frame, method=method, k=k, seed=seed, n_jobs=1, progress=False, **reduced
            )
            seconds = time.process_time() - begin
            results += [*judged(fit.selected, truth), seconds]
    return *results, fit.k


def line_of(case, method, results):
    """The row of a case and a method in the results."""
    names = ("recall", "false", "CPU s", "recall, 1se", "false, 1se", "CPU s, 1se", "k, 1se")
    line = {
        "run": f"{case}, {method}",
        "case": case,
        "method": method,
        "options": options_text(REDUCED.get(method, {})),
        "seeds": len(results),
    }
    for name, values in zip(names, zip(*results, strict=True), strict=True):
        line[name], line[f"{name} s.e."] = mean_and_error(values)
    return line


def table_of(summary):
    """The lines to print, by case, in the registry's order."""
    place = {name: i for i, name in enumerate((*CASES, *METHODS))}
    summary = summary.sort_values(["case", "method"], key=lambda names: names.map(place))
    lines = []
    for row in summary.to_dict("records"):
        line = {name: row[name] for name in ("case", "method", "options", "seeds")}
        for rule, text in (("", ", true k"), (", 1se", ", 1se")):
            for name in ("recall", "false"):
                key = f"{name}{rule}"
                line[f"{name}{text}"] = shown(row[key], row[f"{key} s.e."], 2)
            line[f"CPU s{text}"] = f"{row[f'CPU s{rule}']:.1f}"
        line["k, 1se"] = f"{row['k, 1se']:.1f}"
        lines.append(line)
    return pd.DataFrame(lines)


def main():
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, nothing written")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    options = parser.parse_args()
    methods = QUICK if options.quick else options.methods
    cases = [c for c in options.cases if not options.quick or c != "madelon"]
    summary = pd.DataFrame()
    for case in cases:
        for method in methods:
            reduced = REDUCED.get(method, {})
            seeds = range(1 if options.quick else SEEDS[case])
            calls = [(case, method, seed, reduced, options.quick) for seed in seeds]
            results = run_all(one_seed, calls, options.jobs)
            line = pd.DataFrame([line_of(case, method, results)])
            if options.quick:
                summary = pd.concat([summary, line], ignore_index=True)
            else:
                with_earlier("truth", line, by="run", quick=False)
    if not options.quick:
        summary = pd.read_csv(RESULTS / "truth.csv")
    write_table(
        "truth",
        table_of(summary),
        "treeselect on simulated truth, means over seeds with their standard errors. Recall: share"
        " of the true groups of which a unit is selected. False: units selected beside these, a"
        " second one of a group among them. At the true number of units (friedman 5, factors 3,"
        ' xor 2, madelon 20) and at `k="1se"` by five folds. Of madelon\'s 20 columns 15 are'
        " combinations of the other 5: fewer than 20 can tell all.",
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
