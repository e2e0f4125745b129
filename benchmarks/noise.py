"""Selection on pure noise: AUC inside the folds is one half, outside them it is not.

    python benchmarks/noise.py [--quick] [--jobs 1] [--methods lasso ...] [--sets 20]

200 rows, 500 standard normal columns, half of the labels 1, in random order: nothing can be
learned, and the AUC on new rows is 0.5. Nested: the whole selection, with k by the one-standard-
error rule from three inner folds, is repeated in each of five folds, as ``performance()`` does.
Outside: ten columns are selected on all rows, and the same five folds judge the last model on
these columns; what it is above one half is the price of looking at the held-out rows.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pandas as pd
from harness import Run, cell, means, options_text, sorted_rows

import treeselect
from treeselect.algorithms.task import Task
from treeselect.engine.random import stream_seed
from treeselect.engine.threads import one_thread
from treeselect.resampling.choosing import Choice, Procedure, run_selection
from treeselect.resampling.cross_validation import held_out_score
from treeselect.resampling.folds import Folds, split_rows

METHODS = tuple(treeselect.methods()["method"])
OUTER, INNER, SIZE = 5, 3, 10

REDUCED = {
    "rrf": {"n_trees": 30}, "grrf": {"n_trees": 30}, "rboost": {"n_trees": 5},
    "gbfs": {"n_trees": 20, "prune": False}, "rfe": {"n_trees": 50},
    "varselrf": {"n_trees": 100}, "boruta": {"n_trees": 50, "max_rounds": 20},
}  # fmt: skip
"""Options of methods that would take hours otherwise; the others have their defaults."""


def noise(seed, n_rows, n_columns):
    """Columns and labels that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    frame = pd.DataFrame(X, columns=[f"x{j:03}" for j in range(n_columns)])
    return frame.assign(y=rng.permutation(np.arange(n_rows) % 2))


def one_set(method, seed, n_rows, n_columns, size):
    """Both AUCs of a method on one data set, the mean k inside the folds, and CPU seconds."""
    begin = time.process_time()
    with one_thread():
        fit = treeselect.select(
            "y ~ .", noise(seed, n_rows, n_columns), method=method, k=size, seed=seed, n_jobs=1,
            progress=False, **REDUCED.get(method, {}),
        )  # fmt: skip
        chosen, weights = fit.search.method, fit.data.design.row_weights
        problem = dataclasses.replace(fit.data.design.problem_for(chosen), wants_scores=False)
        nested, outside, sizes = [], [], []
        for number, split in enumerate(split_rows(problem, weights, Folds(OUTER), seed)):
            train, test = split.weights(weights)
            own_seed = stream_seed(seed, "nested", number)
            asked = Procedure(problem, chosen, train, Choice("1se", Folds(INNER)))
            found, model = run_selection(asked, own_seed, progress=False)
            nested.append(held_out_score(problem, model, train, test))
            sizes.append(found.step.size)
            task = Task(problem, train, max_size=fit.search.step.size, seed=own_seed)
            model = chosen.final_model(task, fit.search.step)
            outside.append(held_out_score(problem, model, train, test))
    seconds = time.process_time() - begin
    return np.mean(nested), np.mean(outside), np.mean(sizes), seconds


def table_of(summary):
    """The lines to print, in the registry's order."""
    return [
        {
            "method": row["method"],
            "options": row["options"],
            "data sets": row["sets"],
            "nested AUC": cell(row, "nested", 3),
            "within 3 s.e. of 0.5": "yes"
            if abs(row["nested"] - 0.5) <= 3 * row["nested s.e."]
            else "no",
            "mean k inside": f"{row['k']:.1f}",
            "AUC, selected outside": cell(row, "outside", 3),
            "above 0.65": "yes" if row["outside"] > 0.65 else "no",
            "CPU s per set": f"{row['CPU s']:.1f}",
        }
        for row in sorted_rows(summary, method=METHODS).to_dict("records")
    ]


def main():
    """Write the table."""
    run = Run(__doc__, methods=METHODS, sets=20, quick={"methods": ("mrmr",), "sets": 2})
    n_rows, n_columns, size = run.pick((40, 4, 2), (200, 500, SIZE))
    for method in run.methods:
        calls = [(method, seed, n_rows, n_columns, size) for seed in range(run.sets)]
        line = means(("nested", "outside", "k", "CPU s"), run.map(one_set, calls))
        line = {"options": options_text(REDUCED.get(method, {})), "sets": run.sets, **line}
        run.keep("noise", {"method": method, **line}, by="method")
    run.table(
        "noise",
        table_of(run.kept("noise")),
        f"treeselect on pure noise: {n_rows} rows, {n_columns} normal columns, random labels; means"
        " over data sets with their standard errors. Nested: the selection, with"
        f' `k="1se"` from {INNER} inner folds, is repeated in each of {OUTER} folds. Selected'
        f" outside: {size} columns from all rows, the same {OUTER} folds judge the last model on"
        " them.",
    )


if __name__ == "__main__":
    main()
