"""GRRF paper, Tables 3 to 6 and Figures 2 and 3: gene sets, on the authors' own 100 splits.

    python benchmarks/papers/grrf_genes.py [--quick] [--replicates 100] [--jobs 2] [--sets colon]

Number of selected columns, and errors of a random forest and of a pruned entropy tree (in place of
C4.5) on them, beside the printed values and the authors' R package on four of the sets
(reference/genes_rrf.csv, genes_gain.csv: other splits). With --figures the grids of Figures 2 and
3, on a fifth of the splits, and the figures themselves: error and number of columns against lambda
of RRF and gamma of GRRF. ``--sets`` without a name draws and writes what stands.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
import pandas as pd
from common import (
    RESULTS,
    apart,
    class_problem,
    data_folder,
    dress,
    forest_error,
    mean_and_error,
    new_figure,
    run_all,
    shown,
    with_earlier,
    write_figure,
    write_table,
)
from matplotlib.ticker import LogLocator, NullLocator
from sklearn.tree import DecisionTreeClassifier

from treeselect import GRRF, RRF
from treeselect.algorithms.task import Task
from treeselect.designs.weights import row_weights

SETS = {
    "colon": "colon", "leukemia": "leukemia", "lymphoma": "lymphoma", "srbct_khan": "srbct",
    "brain": "brain", "breast2": "breast.2.class", "breast3": "breast.3.class",
    "prostate": "prostate",
}  # fmt: skip
"""Files, and their names in the paper."""

MEASURES = ("size", "error", "tree")
METHODS = ("RRF(1)", "RRF(0.9)", "GRRF(0.1)", "GRRF(0.2)")
GRID = tuple(f"RRF({lam / 10:g})" for lam in range(1, 10)) + tuple(
    f"GRRF({gamma / 10:g})" for gamma in range(10)
)


FORMS = {
    "uncentred, ties to used": {"gain": "uncentred", "ties": "used"},
    "uncentred, coin flips": {"gain": "uncentred", "ties": "random"},
    "decrease, ties to used": {"gain": "decrease", "ties": "used"},
}
"""What lambda multiplies, and who wins a tie; the R package has the second."""

PARITY = "uncentred, coin flips"


def method_of(name, form, n_trees):
    """A method by the name that it has in the tables."""
    kind, value = name[:-1].split("(")
    options = {"n_trees": n_trees, "screen": False, **FORMS[form]}
    if kind == "RRF":
        return RRF(lam=float(value), **options)
    return GRRF(gamma=float(value), **options)


def load(name):
    """Columns and classes from 0."""
    frame = pd.read_parquet(data_folder() / "gene" / f"{name}.parquet")
    y = pd.factorize(frame["target"], sort=True)[0].astype(np.int64)
    return frame.drop(columns="target").to_numpy(dtype=np.float64), y


def splits(name, n_rows):
    """Training rows of the authors' splits, as masks."""
    frame = pd.read_parquet(data_folder() / "gene" / "grrf_splits.parquet")
    for known in (name, SETS[name]):
        own = frame[frame["dataset"] == known]
        if len(own):
            break
    for _, part in own.groupby("replicate"):
        train = np.zeros(n_rows, dtype=bool)
        train[part["row"][part["train"]]] = True
        yield train


def simulated():
    """A small set with the shape of the real ones."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 60))
    X[:, :4] += y[:, np.newaxis] * np.array([1.5, 1.5, -1.5, 0.8])
    return X, y


def simulated_splits(n_rows):
    """Two of them."""
    rng = np.random.default_rng(1)
    yield from (rng.random(n_rows) < 0.67 for _ in range(2))


def one_split(name, X, y, train, replicate, names, forms, n_trees):
    """Sizes and errors of every method on one split."""
    ones = np.ones(int(train.sum()), dtype=np.int64)
    problem = class_problem(X[train], y[train])
    rows = []

    def record(form, method, used):
        error = forest_error(
            X[train], y[train], X[~train], y[~train], used, seed=replicate, n_trees=n_trees
        )
        tree = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=2, ccp_alpha=0.02, random_state=replicate
        ).fit(X[train][:, used], y[train])
        tree_error = np.mean(tree.predict(X[~train][:, used]) != y[~train])
        rows.append((name, replicate, form, method, int(used.sum()), error, tree_error))

    record("", "All", np.ones(X.shape[1], dtype=bool))
    for form in forms:
        for method in names:
            chosen = method_of(method, form, n_trees)
            (step,) = chosen.path(
                Task(problem, row_weights(ones), max_size=X.shape[1], seed=replicate)
            )
            record(form, method, step.selected)
    return rows


def printed():
    """Sizes and errors in the paper: {(set, method): (size, forest error, C4.5 error)}."""
    tables = json.loads((data_folder() / "seed_tables.json").read_text())["GRRF"]
    found = {}
    for row in tables["table3"]["values"]:
        found[row["dataset"], "All"] = (row["n_features_all"], row["error_All_RF"], np.nan)
        found[row["dataset"], "RRF(1)"] = (row["n_features_RRF1"], row["error_RRF1_RF"], np.nan)
    trees = {row["dataset"]: row for row in tables["table6"]["values"]}
    errors = {row["dataset"]: row for row in tables["table5"]["values"]}
    for row in tables["table4"]["values"]:
        for method in METHODS[1:]:
            at = row["dataset"]
            found[at, method] = (row[method], errors[at][method], trees[at][method])
    return found


def references():
    """Sizes and errors of the R package: {(form, set, method): ((size, s.e.), (error, s.e.))}."""
    found = {}
    for form, files in (
        (PARITY, ("genes_rrf.csv", "genes_prostate.csv")),
        ("decrease, ties to used", ("genes_gain.csv",)),
    ):
        for file in files:
            path = data_folder() / "reference" / file
            if not path.exists():
                continue
            for (name, method), part in pd.read_csv(path).groupby(["set", "method"]):
                key = (form, {"khan": "srbct"}.get(name, name), method)
                found[key] = (mean_and_error(part["size"]), mean_and_error(part["err"]))
    return found


def summary_of(found):
    """Means over the splits, and their standard errors."""
    lines = [
        (*key, len(part), *(v for c in MEASURES for v in mean_and_error(part[c])))
        for key, part in found.groupby(["set", "form", "method"], sort=False)
    ]
    measured = [c + end for c in MEASURES for end in ("", " s.e.")]
    return pd.DataFrame(lines, columns=["set", "form", "method", "splits", *measured])


def table_of(summary, paper, peers):
    """The lines of the table, and how many cells are apart from the paper and from R."""
    lines = []
    counts = {"paper": [0, 0], "R": [0, 0]}
    for _, row in summary.iterrows():
        name, form, method = row["set"], row["form"], row["method"]
        ours = [(row[c], row[f"{c} s.e."]) for c in MEASURES]
        there = paper.get((SETS.get(name, name), method), (np.nan,) * 3)
        peer = peers.get((form or PARITY, SETS.get(name, name), method))
        if method != "All" and form == PARITY and np.isfinite(there[0]):
            for mine, value in zip(ours[:2], there[:2], strict=True):
                counts["paper"][1] += 1
                counts["paper"][0] += apart(mine, (value, mine[1]))
        if method != "All" and form == PARITY and peer:
            for mine, other in zip(ours[:2], peer, strict=True):
                counts["R"][1] += 1
                counts["R"][0] += apart(mine, other)
        lines.append(
            [name, form, method, shown(there[0], None, 0), shown(*peer[0], 1) if peer else "",
             shown(*ours[0], 1), shown(there[1], None, 3), shown(*peer[1], 3) if peer else "",
             shown(*ours[1], 3), shown(there[2], None, 3), shown(*ours[2], 3)]
        )  # fmt: skip
    columns = ["set", "form", "method", "size, paper", "size, R", "size, treeselect",
               "forest error, paper", "forest error, R", "forest error, treeselect",
               "C4.5 error, paper", "pruned entropy tree, treeselect"]  # fmt: skip
    return pd.DataFrame(lines, columns=columns), counts


def draw(summary, quick):
    """Figures 2 and 3: a row of panels for RRF and GRRF each, error above number of columns."""
    names = list(summary["set"].unique())
    for number, kind, label in ((2, "RRF", "lambda"), (3, "GRRF", "gamma")):
        figure = new_figure(1.75 * len(names) + 0.6, 4.4)
        panels = figure.subplots(2, len(names), squeeze=False, sharex=True)
        for name, (above, below) in zip(names, panels.T, strict=True):
            own = summary[summary["set"] == name]
            part = own[own["method"].str.startswith(f"{kind}(")]
            value = part["method"].str.extract(r"\((.+)\)")[0].astype(float)
            for axes, measure, text in (
                (above, "error", "test error (dashed: all)"),
                (below, "size", "columns"),
            ):
                axes.errorbar(value, part[measure], 1.96 * part[f"{measure} s.e."], color="#0072b2",
                              marker="o", markersize=3, linewidth=1)  # fmt: skip
                dress(axes, f"{name}, {part['splits'].max()} splits" if axes is above else "",
                      label if axes is below else "", text if name == names[0] else "")  # fmt: skip
            everything = own.loc[own["method"] == "All", "error"]
            above.axhline(everything.iloc[0], color="#666666", linestyle="--", linewidth=1)
            below.set_yscale("log")
            below.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            below.yaxis.set_major_formatter("{x:g}")
            below.yaxis.set_minor_locator(NullLocator())
        write_figure(f"grrf_genes_figure{number}", figure, quick=quick)


def main():
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--figures", action="store_true", help="the grids instead of the tables")
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    names = GRID if options.figures else METHODS
    forms = list(FORMS)[:1] if options.figures else list(FORMS)
    n_trees = 20 if options.quick else 1000
    most = options.replicates // 5 if options.figures else options.replicates
    columns = ["set", "replicate", "form", "method", "size", "error", "tree"]
    found = pd.DataFrame(columns=columns)
    for name in ["simulated"] if options.quick else options.sets:
        X, y = simulated() if options.quick else load(name)
        own = simulated_splits(len(y)) if options.quick else splits(name, len(y))
        calls = [
            (name, X, y, train, replicate, names, forms, n_trees)
            for replicate, train in zip(range(most), own, strict=False)
        ]
        rows = [row for part in run_all(one_split, calls, options.jobs) for row in part]
        found = pd.DataFrame([*found.to_numpy().tolist(), *rows], columns=columns)
        write(found, options)  # after every set: the last ones take long
    if not options.sets:
        write(found, options)


def splits_told(summary):
    """How many splits, for all sets or from the fewest to the most."""
    fewest, most = (int(summary["splits"].agg(end)) for end in ("min", "max"))
    return f"{most}" if fewest == most else f"{fewest} to {most} (a set's in the CSV file)"


def write(found, options):
    """Write the table of what is there so far."""
    known = (data_folder() / "seed_tables.json").exists()
    name = "grrf_genes_grid" if options.figures else "grrf_genes"
    if len(found):
        summary = with_earlier(name, summary_of(found), quick=options.quick)
    else:
        summary = pd.read_csv(RESULTS / f"{name}.csv", keep_default_na=False)
    if options.figures:
        draw(summary, options.quick)
    table, counts = table_of(summary, printed() if known else {}, references())
    write_table(
        name,
        table,
        f"GRRF paper, {'Figures 2 and 3' if options.figures else 'Tables 3 to 6'}:"
        f" {splits_told(summary)} of the authors' splits. Apart by more than two standard"
        " errors of the difference (the paper's taken to be ours), with the un-centred criterion"
        f" and coin flips at ties: {counts['paper'][0]} of {counts['paper'][1]} printed sizes and"
        f" forest errors, {counts['R'][0]} of {counts['R'][1]} of the R package's.",
        quick=options.quick,
    )


if __name__ == "__main__":
    main()
