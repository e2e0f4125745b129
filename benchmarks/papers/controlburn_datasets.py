"""ControlBurn paper, section 5.3, Figures 10 and 11: adult income, audit risk, gene expression.

    python benchmarks/papers/controlburn_datasets.py [--quick] [--jobs 2] [--sets audit ...]
    python benchmarks/papers/controlburn_datasets.py --figure

AUC (gene: accuracy too, as in the paper) of a forest on the k units that ControlBurn and exchange
search select, k = 1, ..., 10, beside that on the k most important of a forest: of treeselect (MDI),
and of scikit-learn where all columns are numbers, which the paper's baseline is. (They differ: a
column that is constant in a node uses up one of the places in treeselect's forest; on adult with a
column for each level its trees have 5,700 nodes, scikit-learn's 16,700.) Five folds; audit and
cleve have four, gene has ten assignments of the rows to them. Adult as it is, a factor one unit,
and as the paper has it, each level a column. Of audit the columns that the paper drops are dropped
(Audit_Risk and Inherent_Risk give the response away), and the three rows whose LOCATION_ID is no
number; its second file, which the paper merges, is not there. cleve and twonorm are the other two
sets of Figure 10. Figure 11 is the correlation of the twenty most important columns of adult.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from common import (
    LOOKS,
    RESULTS,
    data_folder,
    dress,
    frame_problem,
    new_figure,
    run_all,
    sets_by_size,
    shown,
    with_earlier,
    write_figure,
    write_table,
)
from controlburn_pmlb import LARGEST, by_importance, forest, simulated
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from treeselect import ControlBurn, ExchangeSearch
from treeselect.engine.columns import select_groups, take_rows
from treeselect.engine.forest.walk import predict_mean

METHODS = {
    "default": ControlBurn(),
    "paper": ControlBurn.published(),
    "exchange": ExchangeSearch(),
}
FOLDS = 5
LEAKING = ["Audit_Risk", "Inherent_Risk", "Score", "TOTAL", "Detection_Risk", "Risk_F"]


def adult():
    """Fourteen columns, eight of them factors."""
    frame = pd.read_parquet(data_folder() / "adult.parquet")
    return frame.rename(columns={"income": "target"})


def adult_levels():
    """Each level of a factor a column, as in the paper."""
    frame = adult()
    columns = pd.get_dummies(frame.drop(columns="target")).astype(np.float64)
    return columns.assign(target=frame["target"])


def audit():
    """Without the columns that give the response away, all of them numbers."""
    frame = pd.read_parquet(data_folder() / "audit_risk.parquet").drop(columns=LEAKING)
    place = pd.to_numeric(frame["LOCATION_ID"], errors="coerce")
    frame = frame.assign(LOCATION_ID=place)[place.notna()].rename(columns={"Risk": "target"})
    frame = frame.fillna({"Money_Value": frame["Money_Value"].median()})
    return frame.reset_index(drop=True)


def gene():
    """Oestrogen receptor status by 7129 expressions."""
    return pd.read_parquet(data_folder() / "gene" / "west_breast_er.parquet")


def pmlb(name):
    """A set of the PMLB suite."""
    return lambda: pd.read_parquet(data_folder() / "pmlb_binary" / f"{name}.parquet")


SETS = {
    "adult": (adult, 1, "adult_5fold"),
    "adult, levels": (adult_levels, 1, "adult_5fold"),
    "audit": (audit, 4, "audit_10fold"),
    "gene": (gene, 10, "genewest_5fold"),
    "cleve": (pmlb("cleve"), 4, "cleve_5fold"),
    "twonorm": (pmlb("twonorm"), 1, "twonorm_5fold"),
}
"""How each is read, how often its rows are assigned to folds, and the run in the paper's results
that Figure 10 shows."""


def by_scikit_learn(frame, rows, seed):
    """Columns by importance in scikit-learn's forest, the most important first."""
    part = frame.iloc[rows]
    machine = RandomForestClassifier(100, random_state=seed)
    machine.fit(part.drop(columns="target").to_numpy(np.float64), part["target"])
    order = np.argsort(-machine.feature_importances_, kind="stable")
    return frame.columns.drop("target")[order]


def is_numeric(frame):
    """Whether all columns are numbers without missing ones."""
    columns = frame.drop(columns="target")
    return all(pd.api.types.is_numeric_dtype(t) for t in columns.dtypes) and not (
        columns.isna().to_numpy().any()
    )


def chosen_units(frame, problem, weight, seed):
    """By method, which units it has at each k."""
    n_groups = problem.data.n_groups
    sizes = range(1, min(LARGEST, n_groups - 1) + 1)
    orders = {"MDI": by_importance(problem, weight, seed)}
    if is_numeric(frame):
        at = {name: g for g, name in enumerate(problem.groups.names)}
        order = by_scikit_learn(frame, np.flatnonzero(weight), seed)
        orders["MDI, scikit-learn"] = np.array([at[name] for name in order])
    chosen = {
        label: {k: np.isin(np.arange(n_groups), order[:k]) for k in sizes}
        for label, order in orders.items()
    }
    for label, method in METHODS.items():
        chosen[label] = sets_by_size(method, problem, weight, sizes, seed)
    return chosen


def one_fold(name, frame, repeat, fold):
    """AUC, accuracy and units on one fold, by method and k."""
    problem = frame_problem(frame, "target")
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(problem.y, problem.y)
    train, test = list(folds)[fold]
    weight = np.zeros(len(problem.y), dtype=np.int64)
    weight[train] = 1
    new, y = take_rows(problem.data, test), problem.y[test]
    seed, rows = FOLDS * repeat + fold, []
    for label, chosen in chosen_units(frame, problem, weight, seed).items():
        for k, selected in chosen.items():
            trees = forest(problem, weight, selected, 100, seed)
            score = predict_mean(trees, select_groups(new, selected))[:, 0]
            names = " + ".join(problem.groups.names[g] for g in np.flatnonzero(selected))
            rows.append((name, label, repeat, fold, k, roc_auc_score(y, score),
                         np.mean((score > 0.5) == y), names))  # fmt: skip
    return rows


def summary_of(found):
    """By set, method and k, the means of AUC and accuracy and their standard errors; k = 0
    stands for the mean over all k, with its difference from MDI's."""
    scores = ["auc", "accuracy"]
    mean = found.groupby(["set", "method", "repeat", "fold"], sort=False)[scores].mean()
    found = pd.concat([found, mean.reset_index().assign(k=0)])
    base = found[found["method"] == "MDI"].set_index(["set", "repeat", "fold", "k"])["auc"]
    lines = []
    for (name, method, k), part in found.groupby(["set", "method", "k"], sort=False):
        own = part.set_index(["set", "repeat", "fold", "k"])["auc"]
        lines.append((name, method, k, *over_folds(part["auc"]), *over_folds(part["accuracy"]),
                      *over_folds(own - base.loc[own.index])))  # fmt: skip
    columns = ["set", "method", "k", "auc", "auc s.e.", "accuracy", "accuracy s.e.", "difference",
               "difference s.e."]  # fmt: skip
    return pd.DataFrame(lines, columns=columns)


def over_folds(values):
    """Mean, and its standard error as of one assignment to folds: more of them are the same rows
    again, and don't lower it."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(FOLDS))


def terms_of(name, frame, found):
    """By method, the three units it selects on all rows, and in how many folds each was one of
    three."""
    problem = frame_problem(frame, "target")
    ones = np.ones(len(problem.y), dtype=np.int64)
    lines = []
    for label, chosen in chosen_units(frame, problem, ones, 0).items():
        part = found[(found["method"] == label) & (found["k"] == 3)]
        counts = part["names"].str.split(" + ", regex=False).explode().value_counts()
        names = [problem.groups.names[g] for g in np.flatnonzero(chosen[3])]
        often = [f"{term} {n}" for term, n in counts.head(5).items()]
        lines.append([name, label, ", ".join(names), f"{', '.join(often)} of {len(part)}"])
    columns = ["set", "method", "three terms, all rows", "times among three, by fold"]
    return pd.DataFrame(lines, columns=columns)


def printed():
    """The paper's own results: AUC (gene: accuracy) by run, method and k."""
    path = data_folder() / "controlburn_paper_results" / "results.csv"
    if not path.exists():
        return None
    names = {"controlburn": "paper", "rf_baseline": "MDI, scikit-learn"}
    frame = pd.read_csv(path)
    frame = frame[frame["method"].isin(names) & frame["k"].le(LARGEST)]
    return frame.assign(method=frame["method"].map(names))


def printed_mean(paper, name, method):
    """Mean over k in the paper's own results."""
    if paper is None or name not in SETS:
        return ""
    part = paper[(paper["run"] == SETS[name][2]) & (paper["method"] == method)]
    return f"{part['score_mean'].mean():.3f}" if len(part) else ""


def table_of(summary):
    """The lines to print."""
    paper = printed()
    lines = []
    for (name, method), part in summary.groupby(["set", "method"], sort=False):
        part = part.set_index("k")
        all_k = part.loc[0]
        score = "accuracy" if name == "gene" else "auc"
        at = [f"{part['auc'].get(k, np.nan):.3f}" for k in (1, 2, 3, 5, 10)]
        lines.append([
            name, method, shown(all_k["auc"], all_k["auc s.e."], 4),
            "" if method == "MDI" else
            f"{all_k['difference']:+.4f} ({all_k['difference s.e.']:.4f})",
            *at, shown(all_k[score], all_k[f"{score} s.e."], 3) if score != "auc" else "",
            printed_mean(paper, name, method),
        ])  # fmt: skip
    columns = ["set", "method", "mean AUC, k = 1..10", "less that of MDI", "k = 1", "k = 2",
               "k = 3", "k = 5", "k = 10", "accuracy", "paper's results"]  # fmt: skip
    return pd.DataFrame(lines, columns=columns).replace("nan", "")


def curves(summary):
    """Figure 10: the score against k by set, the paper's own results hollow beside it."""
    paper, names = printed(), list(summary["set"].unique())
    figure = new_figure(10.5, 3.4 * -(-len(names) // 3) + 0.5)
    grid = figure.subplots(-(-len(names) // 3), 3, squeeze=False).ravel()
    for axes, name in zip(grid, names, strict=False):
        score = "accuracy" if name == "gene" else "auc"
        part = summary[(summary["set"] == name) & (summary["k"] > 0)]
        for i, (method, own) in enumerate(part.groupby("method", sort=False)):
            axes.errorbar(own["k"] + 0.1 * (i - 1), own[score], 2 * own[f"{score} s.e."],
                          **LOOKS[method], markersize=4, linewidth=1.2)  # fmt: skip
        if paper is not None and name in SETS:
            for method, own in paper[paper["run"] == SETS[name][2]].groupby("method"):
                label = f"{LOOKS[method]['label']}: the paper's results"
                look = LOOKS[method] | {"linestyle": "", "label": label}
                axes.plot(own["k"], own["score_mean"], **look, markerfacecolor="none",
                          markersize=6)  # fmt: skip
        dress(axes, name, "terms selected, k", "accuracy" if score != "auc" else "AUC")
        axes.set_xticks(range(1, LARGEST + 1))
    for axes in grid[len(names) :]:
        axes.set_visible(False)
    known = {}
    for axes in grid:
        handles, labels = axes.get_legend_handles_labels()
        known |= dict(zip(labels, handles, strict=True))
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=3,
                  frameon=False, fontsize="small")  # fmt: skip
    figure.suptitle("Forests on the k terms that each method selects, five folds (bars: two s.e.)")
    return figure


def heat_map(frame, selected, n_columns=20):
    """Figure 11: absolute correlations of the most important columns, in scikit-learn's order,
    the selected ones bold."""
    names = list(by_scikit_learn(frame, np.arange(len(frame)), 0)[:n_columns])
    size = np.abs(np.corrcoef(frame[names].to_numpy(np.float64).T))
    figure = new_figure(8.4, 7.4)
    axes = figure.subplots()
    mesh = axes.pcolormesh(size[::-1], vmin=0, vmax=1, cmap="Blues", edgecolor="white",
                           linewidth=0.3)  # fmt: skip
    at = np.arange(len(names)) + 0.5
    axes.set_xticks(at, names, rotation=90, fontsize=8)
    axes.set_yticks(at, names[::-1], fontsize=8)
    for label in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        if label.get_text() in selected:
            label.set_fontweight("bold")
    axes.set_aspect("equal")
    axes.set_xlabel("column, the most important first")
    axes.set_ylabel("column")
    figure.colorbar(mesh, label="absolute correlation (no unit)", shrink=0.7)
    axes.set_title(
        f"Adult: correlation of the {len(names)} most important columns; bold: ControlBurn, k = 3",
        fontsize="medium",
    )
    return figure


def write(summary, terms, *, quick):
    """Both tables and both figures."""
    write_table(
        "controlburn_datasets",
        table_of(summary),
        "ControlBurn paper, section 5.3 and Figure 10, by treeselect: AUC of a forest on k terms,"
        " mean (s.e., as of one assignment to five folds). The last column is the mean over k of"
        " the paper's own results, which are accuracies of gene; its baseline is scikit-learn's"
        " importance.",
        quick=quick,
    )
    write_table(
        "controlburn_datasets_terms",
        terms,
        "ControlBurn paper, section 5.3, by treeselect: the terms at k = 3. The paper has, of"
        " adult, EducationNum, CapitalGain and MaritalStatus_Married-civ-spouse by ControlBurn and"
        " fnlwgt, Age and CapitalGain by its baseline.",
        quick=quick,
    )
    write_figure("controlburn_datasets", curves(summary), quick=quick)
    name = "simulated" if quick else "adult, levels"
    own = terms[(terms["set"] == name) & (terms["method"] == "default")]
    if len(own):
        frame = simulated() if quick else adult_levels()
        selected = own["three terms, all rows"].iloc[0].split(", ")
        write_figure("controlburn_datasets_correlation", heat_map(frame, selected), quick=quick)


def main():
    """Write the tables and the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="simulated data, nothing written")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--figure", action="store_true", help="write and draw what is there")
    options = parser.parse_args()
    if options.figure:
        parts = [pd.read_csv(RESULTS / f"controlburn_datasets{s}.csv") for s in ("", "_terms")]
        write(*parts, quick=False)
        return
    for name in ["simulated"] if options.quick else options.sets:
        frame = simulated() if options.quick else SETS[name][0]()
        repeats = 1 if options.quick else SETS[name][1]
        calls = [
            (name, frame, repeat, fold)
            for repeat in range(repeats)
            for fold in range(2 if options.quick else FOLDS)
        ]
        rows = [row for part in run_all(one_fold, calls, options.jobs) for row in part]
        columns = ["set", "method", "repeat", "fold", "k", "auc", "accuracy", "names"]
        found = pd.DataFrame(rows, columns=columns)
        summary, terms = summary_of(found), terms_of(name, frame, found)
        summary = with_earlier("controlburn_datasets", summary, quick=options.quick)
        terms = with_earlier("controlburn_datasets_terms", terms, quick=options.quick)
    write(summary, terms, quick=options.quick)


if __name__ == "__main__":
    main()
