"""GRRF paper: the simulated data, and gene sets on the authors' own splits.

    python benchmarks/papers/grrf.py [--quick] [--jobs 2] [--parts simulated genes grid]
                                     [--replicates 100] [--sets colon]

simulated  Section 5.1 and Table 1: Friedman's function with five duplicated columns. For each
           lambda of RRF and gamma of GRRF: how many of the five groups of equal columns are found,
           and how many columns are irrelevant or redundant; beside what the authors' R package
           gives on data drawn alike (reference/sim_groups_rrf.csv and, for the decrease,
           sim_groups_gain.csv). Then the choice of lambda and gamma by ten-fold cross-validation.
genes      Tables 3 to 6 on the authors' own 100 splits. Number of selected columns, and errors of a
           random forest and of a pruned entropy tree (in place of C4.5) on them, beside the printed
           values and the authors' R package on four of the sets (reference/genes_rrf.csv,
           genes_gain.csv: other splits).
grid       Figures 2 and 3, on a fifth of the splits, and the figures themselves: error and number
           of columns against lambda of RRF and gamma of GRRF.

``--sets`` without a name draws and writes what stands; `simulated` takes a fifth of the replicates.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from common import (
    Run,
    apart,
    class_problem,
    dress,
    forest_error,
    new_figure,
    ones,
    path_of,
    seed_tables,
)
from harness import cell, data_folder, mean_and_error, means, shown, shown_mean, stored
from matplotlib.ticker import LogLocator, NullLocator
from sklearn.tree import DecisionTreeClassifier

from treeselect import GRRF, RRF

FORMS = {
    "uncentred, ties to used": {"gain": "uncentred", "ties": "used"},
    "uncentred, coin flips": {"gain": "uncentred", "ties": "random"},
    "decrease, ties to used": {"gain": "decrease", "ties": "used"},
}
"""What lambda multiplies, and who wins a tie; the R package has the second."""

PARITY = "uncentred, coin flips"


def method_of(kind, value, form, n_trees):
    """RRF by its lambda or GRRF by its gamma."""
    options = {"n_trees": n_trees, "screen": False, **FORMS[form]}
    return RRF(lam=value, **options) if kind == "RRF" else GRRF(gamma=value, **options)


def columns_of(X, y, method, seed):
    """Columns that are selected."""
    problem = class_problem(X, y)
    return path_of(method, problem, ones(problem), X.shape[1], seed)[-1].selected


# --- simulated ---------------------------------------------------------------------------------

LAMBDAS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
GAMMAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FOUND = ["groups", "bad"]
DEFAULT = "uncentred, ties to used"
CHOICES = {"RRF": (0.6, 0.7, 0.8), "GRRF": (0.4, 0.5, 0.6)}
PRINTED = {"RRF": ((5.0, 0.0), (4.95, 0.05)), "GRRF": ((4.95, 0.05), (0.75, 0.123))}


def simulate(seed, n):
    """The paper's data: classes by the median."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 10))
    y = (
        10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3]
        + 5 * x[:, 4] + rng.normal(size=n)
    )  # fmt: skip
    return np.hstack([x, x[:, :5]]), (y > np.median(y)).astype(np.int64)


def judge(used):
    """Groups found, and columns that are irrelevant or redundant."""
    groups = int((used[:5] | used[10:]).sum())
    return groups, int(used.sum()) - groups


def every_value(replicate, n, n_trees, form):
    """All values on one data set."""
    X, y = simulate(1000 + replicate, n)
    rows = []
    for kind, values in (("RRF", LAMBDAS), ("GRRF", GAMMAS)):
        for value in values:
            used = columns_of(X, y, method_of(kind, value, form, n_trees), replicate)
            rows.append((form, kind, value, *judge(used)))
    return rows


def choose(replicate, n, n_trees, folds):
    """The choice by cross-validation, by the least error and by the one-standard-error rule.

    Of values in order of regularisation, strongest first: the first with the least error; and the
    first whose error is above the least by at most the standard error of their difference.
    """
    X, y = simulate(1000 + replicate, n)
    fold = np.random.default_rng(replicate).permutation(np.arange(n) % folds)
    rows = []
    for kind, values in CHOICES.items():
        ordered = values if kind == "RRF" else values[::-1]
        errors = np.zeros((folds, len(ordered)))
        for k in range(folds):
            inside, outside = fold != k, fold == k
            for j, value in enumerate(ordered):
                method = method_of(kind, value, DEFAULT, max(n_trees // 5, 1))
                used = columns_of(X[inside], y[inside], method, replicate)
                errors[k, j] = forest_error(
                    X[inside], y[inside], X[outside], y[outside], used, seed=k,
                    n_trees=max(n_trees // 5, 1),
                )  # fmt: skip
        best = int(errors.mean(axis=0).argmin())
        differences = errors - errors[:, [best]]
        spread = differences.std(axis=0, ddof=1) / np.sqrt(folds)
        within = np.flatnonzero(differences.mean(axis=0) <= spread)
        for rule, j in (("least error", best), ("one s.e.", int(within[0]))):
            used = columns_of(X, y, method_of(kind, ordered[j], DEFAULT, n_trees), replicate)
            rows.append((kind, rule, ordered[j], *judge(used)))
    return rows


def in_r(gain):
    """What the R package gives; nothing where the file is not at hand."""
    name = "sim_groups_rrf.csv" if gain == "uncentred" else "sim_groups_gain.csv"
    path = data_folder() / "reference" / name
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["method", "par", *FOUND])


def simulated(run):
    """Both tables."""
    n, n_trees = run.pick((200, 10), (1000, 1000))
    replicates = run.pick(2, run.replicates // 5)
    calls = [(r, n, n_trees, form) for form in FORMS for r in range(replicates)]
    found = run.flat(every_value, calls)
    found = pd.DataFrame(found, columns=["form", "kind", "value", *FOUND])
    lines, n_apart, n_compared = [], 0, 0
    for (form, kind, value), own in found.groupby(["form", "kind", "value"], sort=False):
        gain, ties = FORMS[form].values()
        peers = in_r(gain)
        there = peers[(peers["method"] == kind) & (peers["par"] == value)]
        ours, peer = ([mean_and_error(part[c]) for c in FOUND] for part in (own, there))
        differs = [apart(a, b) for a, b in zip(ours, peer, strict=True)] if len(there) else []
        if form == PARITY:
            n_apart, n_compared = n_apart + sum(differs), n_compared + len(differs)
        lines.append({
            "gain": gain, "ties": ties, "method": kind, "value": value,
            "groups, R": shown(*peer[0]), "bad, R": shown(*peer[1]),
            "groups, treeselect": shown(*ours[0]), "bad, treeselect": shown(*ours[1]),
            "apart": "".join("*" if d else "." for d in differs),
        })  # fmt: skip
    run.table(
        "grrf_simulated_grid",
        lines,
        f"GRRF paper, section 5.1: {replicates} data sets of {n} rows, {n_trees} trees. R is the"
        " authors' package (coin flips at ties); a star where groups or bad columns differ by more"
        " than two standard errors of the difference. With coin flips here, too:"
        f" {n_apart} of {n_compared} cells.",
    )
    calls = [(r, n, n_trees, run.pick(2, 10)) for r in range(replicates)]
    chosen = pd.DataFrame(run.flat(choose, calls), columns=["kind", "rule", "value", *FOUND])
    lines = []
    for (kind, rule), part in chosen.groupby(["kind", "rule"], sort=False):
        peers = in_r("uncentred")
        peers = peers[peers["method"] == f"{kind}-cv"]
        line, counts = {"method": kind, "choice": rule}, part["value"].value_counts().sort_index()
        line |= {f"{c}, paper": shown(*v) for c, v in zip(FOUND, PRINTED[kind], strict=True)}
        line |= {f"{c}, R": shown_mean(peers[c]) for c in FOUND}
        line |= {f"{c}, treeselect": shown_mean(part[c]) for c in FOUND}
        lines.append(line | {"chosen": ", ".join(f"{v} x{n}" for v, n in counts.items())})
    run.table(
        "grrf_simulated_cv",
        lines,
        "GRRF paper, Table 1: lambda of RRF from 0.6, 0.7, 0.8 and gamma of GRRF from 0.4, 0.5, 0.6"
        " by ten-fold cross-validation.",
    )


# --- genes -------------------------------------------------------------------------------------

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


def load(name):
    """Columns and classes from 0."""
    frame = stored(f"gene/{name}")
    y = pd.factorize(frame["target"], sort=True)[0].astype(np.int64)
    return frame.drop(columns="target").to_numpy(dtype=np.float64), y


def splits(name, n_rows):
    """Training rows of the authors' splits, as masks."""
    frame = stored("gene/grrf_splits")
    for known in (name, SETS[name]):
        own = frame[frame["dataset"] == known]
        if len(own):
            break
    for _, part in own.groupby("replicate"):
        train = np.zeros(n_rows, dtype=bool)
        train[part["row"][part["train"]]] = True
        yield train


def like_genes():
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
            kind, value = method[:-1].split("(")
            chosen = method_of(kind, float(value), form, n_trees)
            record(form, method, columns_of(X[train], y[train], chosen, replicate))
    return rows


def printed():
    """Sizes and errors in the paper: {(set, method): (size, forest error, C4.5 error)}."""
    tables = seed_tables("GRRF")
    if not tables:
        return {}
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


def table_of(summary, paper, peers):
    """The lines of the table, and how many cells are apart from the paper and from R."""
    lines = []
    counts = {"paper": [0, 0], "R": [0, 0]}
    for row in summary.to_dict("records"):
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
        lines.append({
            "set": name, "form": form, "method": method, "size, paper": shown(there[0], None, 0),
            "size, R": shown(*peer[0], 1) if peer else "", "size, treeselect": cell(row, "size", 1),
            "forest error, paper": shown(there[1], None, 3),
            "forest error, R": shown(*peer[1], 3) if peer else "",
            "forest error, treeselect": cell(row, "error", 3),
            "C4.5 error, paper": shown(there[2], None, 3),
            "pruned entropy tree, treeselect": cell(row, "tree", 3),
        })  # fmt: skip
    return lines, counts


def draw(run, summary):
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
        run.figure(f"grrf_genes_figure{number}", figure)


def genes(run, is_grid=False):
    """The table, or the figures of the grid, of the sets that are done."""
    name = "grrf_genes_grid" if is_grid else "grrf_genes"
    names, forms = (GRID, [DEFAULT]) if is_grid else (METHODS, list(FORMS))
    most = run.replicates // 5 if is_grid else run.replicates
    for each in run.pick(["simulated"], run.sets):
        X, y = like_genes() if run.quick else load(each)
        own = simulated_splits(len(y)) if run.quick else splits(each, len(y))
        calls = [
            (each, X, y, train, replicate, names, forms, run.pick(20, 1000))
            for replicate, train in zip(range(most), own, strict=False)
        ]
        columns = ["set", "replicate", "form", "method", *MEASURES]
        found = pd.DataFrame(run.flat(one_split, calls), columns=columns)
        lines = [
            {"set": each, "form": form, "method": method, "splits": len(part)}
            | means(MEASURES, part[list(MEASURES)].to_numpy())
            for (form, method), part in found.groupby(["form", "method"], sort=False)
        ]
        run.keep(name, lines, by="set")
    summary = run.kept(name)
    if is_grid:
        return draw(run, summary)
    lines, counts = table_of(summary, printed(), references())
    run.table(
        name,
        lines,
        f"GRRF paper, Tables 3 to 6: {summary['splits'].max()} of the authors' splits. Apart by"
        " more than two standard"
        " errors of the difference (the paper's taken to be ours), with the un-centred criterion"
        f" and coin flips at ties: {counts['paper'][0]} of {counts['paper'][1]} printed sizes and"
        f" forest errors, {counts['R'][0]} of {counts['R'][1]} of the R package's.",
    )


PARTS = {"simulated": simulated, "genes": genes, "grid": partial(genes, is_grid=True)}


def main():
    """Write the tables."""
    run = Run(__doc__, parts=PARTS, replicates=100, sets=SETS, quick={"replicates": 10})
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
