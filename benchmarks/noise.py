"""Selection on pure noise: AUC inside the folds is one half, outside them it is not.

    python benchmarks/noise.py [--quick] [--jobs 1] [--methods lasso ...] [--sets 20]

200 rows, 500 standard normal columns, half of the labels 1, in random order: nothing can be
learned, and the AUC on new rows is 0.5. Nested: the whole selection, with k by the one-standard-
error rule from three inner folds, is repeated in each of five folds, as ``performance()`` does.
Outside: ten columns are selected on all rows, and the same five folds judge the last model on
these columns; what it is above one half is the price of looking at the held-out rows.

A row of the table per method; those of methods that are not run again stay as they are, and
``--methods`` without a name only writes the table anew.
"""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pandas as pd
from tables import (
    arguments,
    mean_and_error,
    options_text,
    run_all,
    shown,
    with_earlier,
    write_table,
)

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
    "rrf": {"n_trees": 30},
    "grrf": {"n_trees": 30},
    "rboost": {"n_trees": 5},
    "gbfs": {"n_trees": 20, "prune": False},
    "rfe": {"n_trees": 50},
    "varselrf": {"n_trees": 100},
    "boruta": {"n_trees": 50, "max_rounds": 20},
}
"""Options of methods that would take hours otherwise; the others have their defaults."""

QUICK = ("importance", "mrmr")


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


def line_of(method, results):
    """The row of a method in the results."""
    nested, outside, sizes, seconds = zip(*results, strict=True)
    return {
        "method": method,
        "options": options_text(REDUCED.get(method, {})),
        "sets": len(results),
        "nested": mean_and_error(nested)[0],
        "nested s.e.": mean_and_error(nested)[1],
        "outside": mean_and_error(outside)[0],
        "outside s.e.": mean_and_error(outside)[1],
        "k": np.mean(sizes),
        "CPU s": np.mean(seconds),
    }


def table_of(summary):
    """The lines to print, in the registry's order."""
    place = {name: i for i, name in enumerate(METHODS)}
    summary = summary.sort_values("method", key=lambda names: names.map(place))
    lines = []
    for row in summary.to_dict("records"):
        away = abs(row["nested"] - 0.5)
        lines.append(
            {
                "method": row["method"],
                "options": row["options"],
                "data sets": row["sets"],
                "nested AUC": shown(row["nested"], row["nested s.e."], 3),
                "within 3 s.e. of 0.5": "yes" if away <= 3 * row["nested s.e."] else "no",
                "mean k inside": f"{row['k']:.1f}",
                "AUC, selected outside": shown(row["outside"], row["outside s.e."], 3),
                "above 0.65": "yes" if row["outside"] > 0.65 else "no",
                "CPU s per set": f"{row['CPU s']:.1f}",
            }
        )
    return pd.DataFrame(lines)


def main():
    """Write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--sets", type=int, default=20, help="number of data sets")
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    options = parser.parse_args()
    n_rows, n_columns, size = (40, 4, 2) if options.quick else (200, 500, SIZE)
    summary = pd.DataFrame()
    for method in QUICK if options.quick else options.methods:
        n_sets = 2 if options.quick else options.sets
        calls = [(method, seed, n_rows, n_columns, size) for seed in range(n_sets)]
        line = pd.DataFrame([line_of(method, run_all(one_set, calls, options.jobs))])
        if options.quick:
            summary = pd.concat([summary, line], ignore_index=True)
        else:
            with_earlier("noise", line, by="method", quick=False, folder=options.results)
    if not options.quick:
        summary = pd.read_csv(options.results / "noise.csv")
    write_table(
        "noise",
        table_of(summary),
        f"treeselect on pure noise: {n_rows} rows, {n_columns} normal columns, random labels; means"
        " over data sets with their standard errors. Nested: the selection, with"
        f' `k="1se"` from {INNER} inner folds, is repeated in each of {OUTER} folds. Selected'
        f" outside: {size} columns from all rows, the same {OUTER} folds judge the last model on"
        " them.",
        quick=options.quick,
        folder=options.results,
    )


if __name__ == "__main__":
    main()
