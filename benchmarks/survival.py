"""Survival: what methods find on simulated times, beside what glmnet and ranger select.

    python benchmarks/survival.py [--quick] [--jobs 1] [--methods lasso ...]
    python benchmarks/survival.py --write FOLDER

Sets of 500 rows (`treeselect.datasets.simulate_survival`): 12 of 60 columns carry the hazard, 30
and 70 % of the rows are censored, ten seeds each; every method at k = 12 and at ``k="1se"`` by five
folds.

R's lines come from results/survival_truth_peers.csv, which `survival_truth.R` writes from the files
that ``--write`` writes.
"""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
from harness import FORMS, RESULTS, Run, cell, means
from truth import judged

import treeselect
from treeselect.datasets import simulate_survival
from treeselect.engine.threads import one_thread

SHARES, SEEDS = (30, 70), 10
METHODS = ("exchange", "controlburn", "importance", "lasso")
PEERS = {
    "lasso, k = 12": ("glmnet", "12"), "lasso, 1se": ("glmnet", "1se"),
    "lasso, min": ("glmnet", "least error"), "forest, permutation": ("ranger, permutation", "12"),
    "forest, corrected": ("ranger, impurity corrected", "12"),
    "forest, depth, k = 12": ("ranger, minimal depth", "12"),
    "forest, minimal depth": ("ranger, minimal depth", "its own"),
}  # fmt: skip
"""R's methods in the file: their names here, and the rule of the size."""


def one_seed(share, method, k, seed, n):
    """Recall, false picks, the size and CPU seconds."""
    simulated = simulate_survival(n, seed=seed, censored=share / 100)
    begin = time.process_time()
    with one_thread():
        fit = treeselect.select(
            "Surv(time, event) ~ .", simulated.data, method=FORMS[method], k=k, seed=seed,
            n_jobs=1, progress=False,
        )  # fmt: skip
    seconds = time.process_time() - begin
    return *judged(fit.selected, simulated.truth), fit.k, seconds


def in_r():
    """R's rows, in the shape of ours."""
    found = pd.read_csv(RESULTS / "survival_truth_peers.csv")
    found["k"] = found["selected"].fillna("").str.split().str.len()
    measures = ["recall", "false", "k"]
    for (share, name), own in found.groupby(["censored", "method"], sort=False):
        method, size = PEERS[name]
        line = {"censored": share, "method": method, "size": size, "seeds": len(own)}
        yield line | means(measures, own[measures].to_numpy())


def main():
    """Write the table, or the files that the program in R reads."""
    run = Run(__doc__, methods=METHODS, write=None, quick={"methods": ("importance", "lasso")})
    if run.write is not None:
        Path(run.write).mkdir(exist_ok=True)
        for share in SHARES:
            for seed in range(SEEDS):
                data = simulate_survival(500, seed=seed, censored=share / 100).data
                data.to_csv(Path(run.write) / f"{share}_{seed}.csv", index=False)
        return
    for share in run.pick(SHARES[:1], SHARES):
        for method in run.methods:
            for k in run.pick((3,), (12, "1se")):
                seeds = range(run.pick(1, SEEDS))
                calls = [(share, method, k, seed, run.pick(120, 500)) for seed in seeds]
                line = {"censored": share, "method": method, "size": str(k), "seeds": len(seeds)}
                line |= means(("recall", "false", "k", "CPU s"), run.map(one_seed, calls))
                run.keep("survival_truth", {"run": f"{share}, {method}, {k}", **line})
    rows = run.kept("survival_truth", text=("size",)).to_dict("records")
    rows = sorted([*rows, *([] if run.quick else in_r())], key=lambda row: row["censored"])
    digits = {"recall": 2, "false": 1, "k": 1, "CPU s": 1}
    run.table(
        "survival_truth",
        [
            {name: row[name] for name in ("censored", "method", "size", "seeds")}
            | {name: cell(row, name, n) if name in row else "" for name, n in digits.items()}
            for row in rows
        ],
        "treeselect and programs in R on simulated survival times, 500 rows, of which so many per"
        " cent are censored: means over seeds (s.e.). Recall: share of the twelve true terms of"
        " which a column is selected. False: columns selected beside these, a second one of a term"
        " among them. Size: twelve, or the rule that chooses it.",
    )


if __name__ == "__main__":
    main()
