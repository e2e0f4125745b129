"""Survival: what each method finds on simulated times, beside what glmnet and ranger select.

    python benchmarks/survival.py [--quick] [--jobs 1] [--methods lasso ...]
    python benchmarks/survival.py --write FOLDER

Sets of 500 rows (`treeselect.datasets.simulate_survival`): 12 of 60 columns carry the hazard, 30
and 70 % of the rows are censored, ten seeds each; every method at k = 12 and at ``k="1se"`` by five
folds.

R's lines come from results/survival_truth_peers.csv, which `survival_truth.R` writes from the files
that ``--write`` writes. Methods that refuse survival times are told and left out.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
from harness import FORMS, Run, cell, in_order, means, shown, told
from truth import judged

import treeselect
from treeselect.datasets import simulate_survival
from treeselect.engine.threads import one_thread
from treeselect.errors import MethodError

FORMULA = "Surv(time, event) ~ ."
SHARES, SEEDS, SIZE = (30, 70), 10, 12


PEERS = {
    "glmnet, 1se": ("lasso, k = 12", "lasso, 1se"),
    "glmnet, min": (None, "lasso, min"),
    "ranger, permutation": ("forest, permutation", None),
    "ranger, impurity corrected": ("forest, corrected", None),
    "ranger, minimal depth": ("forest, depth, k = 12", "forest, minimal depth"),
}
"""R's methods: their names in the file at k = 12, and by their own rule."""


def selected(form, frame, k, seed):
    """The result of a method, or None if it refuses survival times."""
    try:
        with one_thread():
            return treeselect.select(
                FORMULA, frame, method=FORMS[form], k=k, seed=seed, n_jobs=1, progress=False
            )
    except MethodError as error:
        print(f"{form}: {str(error).splitlines()[0]}")
        return None


def one_truth(share, form, seed, quick):
    """Recall, false picks and CPU seconds at k = 12, then by the rule, and its k."""
    simulated = simulate_survival(120 if quick else 500, seed=seed, censored=share / 100)
    results = []
    for k in (3, 2) if quick else (SIZE, "1se"):
        begin = time.process_time()
        fit = selected(form, simulated.data, k, seed)
        if fit is None:
            return None
        seconds = time.process_time() - begin
        results += [*judged(fit.selected, simulated.truth), seconds]
    return *results, fit.k


def truth_peers(folder):
    """R's rows, in the shape of ours."""
    path = folder / "survival_truth_peers.csv"
    if not path.exists():
        return []
    found, lines = pd.read_csv(path), []
    found["k"] = found["selected"].fillna("").str.split().str.len()
    for share in SHARES:
        for peer, sources in PEERS.items():
            line = {"censored": share, "method": peer, "options": "R", "seeds": 0}
            for source, rule in zip(sources, ("", ", 1se"), strict=True):
                own = found[(found["censored"] == share) & (found["method"] == source)]
                names = ("recall", "false", "k")
                values = own[list(names)].to_numpy() if len(own) else [(np.nan,) * 3]
                line |= means([f"{name}{rule}" for name in names], values)
                line["seeds"] = max(len(own), line["seeds"])
            lines.append(line)
    return lines


def truth_table(summary, peers):
    """The lines to print, by share, R's last."""
    lines = []
    for share in SHARES:
        own = summary[summary["censored"] == share].set_index("method")
        rows = [{"method": name, **own.loc[name]} for name in in_order(own.index)]
        for row in [*rows, *(peer for peer in peers if peer["censored"] == share)]:
            line = {"censored": f"{share} %"}
            line |= {name: row[name] for name in ("method", "options", "seeds")}
            for rule, text in (("", ", k = 12"), (", 1se", ", own rule")):
                for name in ("recall", "false"):
                    line[f"{name}{text}"] = cell(row, f"{name}{rule}")
            line["k, own rule"] = shown(row["k, 1se"], None, 1)
            line["CPU s, k = 12"] = shown(row.get("CPU s", np.nan), None, 1)
            line["CPU s, own rule"] = shown(row.get("CPU s, 1se", np.nan), None, 1)
            lines.append(line)
    return pd.DataFrame(lines)


def truth(run):
    """What the methods find of what is known."""
    names = ("recall", "false", "CPU s", "recall, 1se", "false, 1se", "CPU s, 1se", "k, 1se")
    for share in run.pick(SHARES[:1], SHARES):
        for form in run.methods:
            calls = [(share, form, seed, run.quick) for seed in range(run.pick(1, SEEDS))]
            results = run.map(one_truth, calls)
            if None not in results:
                line = {"censored": share, "method": form, "options": told(form)}
                line |= {"seeds": len(results), **means(names, results)}
                run.keep("survival_truth", {"run": f"{share}, {form}", **line})
    run.table(
        "survival_truth",
        truth_table(run.kept("survival_truth"), [] if run.quick else truth_peers(run.results)),
        "treeselect on simulated survival times, 500 rows: means over seeds with their standard"
        " errors. Recall: share of the twelve true terms of which a column is selected. False:"
        " columns selected beside these, a second one of a term among them. Own rule:"
        ' `k="1se"` by five folds, and in the rows of R the rule that the name says.',
    )


def write(folder):
    """The files that the program in R reads."""
    folder.mkdir(exist_ok=True)
    for share in SHARES:
        for seed in range(SEEDS):
            simulated = simulate_survival(500, seed=seed, censored=share / 100)
            simulated.data.to_csv(folder / f"{share}_{seed}.csv", index=False)


def main():
    """Write the table."""
    quick = {"methods": ("importance", "lasso")}
    run = Run(__doc__, methods=FORMS, write=None, quick=quick)
    if run.write is not None:
        write(Path(run.write))
    else:
        truth(run)


if __name__ == "__main__":
    main()
