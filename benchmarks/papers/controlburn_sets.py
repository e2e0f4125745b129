"""ControlBurn paper, Figures 8 to 11: what it selects, judged by a forest, on sets of the paper.

    python benchmarks/papers/controlburn_sets.py [--quick] [--jobs 2] [--sets churn ...]
                              [--methods default ...] [--parts pmlb chess datasets]

pmlb      Section 5.2 and Figure 9. On all rows: AUC of a forest on the k units that ControlBurn
          selects minus that on the k most important of scikit-learn's random forest (MDI), the
          paper's baseline, for the default, the paper's form (one forest, no adaptive prices) and
          two more, with the paper's own mean difference beside; and the same of the importance in
          our own forests, which is a stronger baseline (a unit that is constant in a node takes one
          of its candidates' places, so that a few units with many values do not win all small
          nodes). Of sets that are in the suite under several names one is taken; the two columns of
          names of clean1 and clean2, which give the class away, are left out.
chess     Section 5.1 and Figure 8. The three most important columns of a forest are copied 0, 3, 5
          and 7 times, each copy with Gaussian noise of standard deviation 0.1: AUC, and how many of
          ten columns are repeats of one that is in already.
datasets  Section 5.3, Figures 10 and 11. AUC (gene: accuracy too, as in the paper) of adult income,
          audit risk, gene expression, cleve and twonorm, beside that of importance in our forest
          and, where all columns are numbers, in scikit-learn's. (On adult with a column for each
          level our trees have 5,700 nodes, scikit-learn's 16,700.) Audit and cleve have four, gene
          has ten assignments of the rows to folds. Adult as it is, a factor one unit, and as the
          paper has it, each level a column. Of audit the columns that the paper drops are dropped
          (Audit_Risk and Inherent_Risk give the response away), and the three rows whose
          LOCATION_ID is no number; its second file, which the paper merges, is not there. Figure 11
          is the correlation of the twenty most important columns of adult.

All are five-fold cross-validations with k = 1, ..., 10.
"""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
from common import Run, frame_problem, ones, sets_by_size
from harness import data_folder, mean_and_error, shown, shown_mean, signed, stored
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from treeselect import GBFS, GRRF, RRF, ControlBurn, ExchangeSearch, RBoost
from treeselect.engine.columns import select_groups, take_rows
from treeselect.engine.forest.bagging import BOOTSTRAP, bagged_forest
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.tree.nodes import group_gains
from treeselect.engine.tree.target import mean_target
from treeselect.engine.tree.workspace import UNBOUNDED, Growth

FOLDS, LARGEST = 5, 10

# --- sets --------------------------------------------------------------------------------------

PMLB = (
    "analcatdata_cyyoung8092", "glass2", "prnn_crabs", "sonar", "biomed", "heart_statlog",
    "breast_cancer", "heart_h", "cleve", "spectf", "ionosphere", "colic", "clean1", "wdbc", "profb",
    "australian", "breast", "diabetes", "tokyo1", "german", "flare", "Hill_Valley_with_noise",
    "Hill_Valley_without_noise", "mofn_3_7_10", "hypothyroid", "chess", "dis", "spambase", "churn",
    "phoneme", "clean2", "ring", "twonorm", "mushroom", "coil2000", "magic", "adult",
)  # fmt: skip
"""By number of rows, smallest first."""

AUDIT = ["Audit_Risk", "Inherent_Risk", "Score", "TOTAL", "Detection_Risk", "Risk_F"]


def pmlb(name):
    """A set of the PMLB suite without what gives the class away; its response is `target`."""
    frame = stored(f"pmlb_binary/{name}")
    return frame.drop(columns=["molecule_name", "conformation_name"], errors="ignore")


def simulated():
    """A small set with copies of a column that matters."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 6)), columns=[f"v{j}" for j in range(6)])
    for j in range(3):
        frame[f"copy{j}"] = frame["v0"] + 0.1 * rng.normal(size=100)
    frame["target"] = (frame["v0"] + 0.7 * frame["v1"] + rng.normal(size=100) > 0).astype(int)
    return frame


def adult():
    """Fourteen columns, eight of them factors."""
    return stored("adult", "income", "target")


def adult_levels():
    """Each level of a factor a column, as in the paper."""
    frame = adult()
    columns = pd.get_dummies(frame.drop(columns="target")).astype(np.float64)
    return columns.assign(target=frame["target"])


def audit():
    """Without the columns that give the response away, all of them numbers."""
    frame = stored("audit_risk", "Risk", "target", AUDIT)
    place = pd.to_numeric(frame["LOCATION_ID"], errors="coerce")
    frame = frame.assign(LOCATION_ID=place)[place.notna()]
    frame = frame.fillna({"Money_Value": frame["Money_Value"].median()})
    return frame.reset_index(drop=True)


def gene():
    """Oestrogen receptor status by 7129 expressions."""
    return stored("gene/west_breast_er")


def with_copies(frame, n_copies, seed):
    """The frame with noisy copies of its three most important columns."""
    problem = frame_problem(frame, "target")
    best = [problem.groups.names[g] for g in by_importance(problem, frame, ones(problem), 0)[:3]]
    rng = np.random.default_rng(seed)
    copies = {
        f"{name}_copy{j}": frame[name] + 0.1 * rng.normal(size=len(frame))
        for name in best
        for j in range(n_copies)
    }
    return pd.concat([pd.DataFrame(copies), frame], axis=1)


# --- selection and its judge -------------------------------------------------------------------


def forest(problem, weight, selected, seed):
    """A random forest on some groups, grown fully, as in the paper."""
    part = select_groups(problem.data, selected)
    return bagged_forest(
        part, mean_target(problem.y), weight, n_trees=100, seed=seed,
        growth=Growth(UNBOUNDED, 1, int(np.ceil(np.sqrt(part.n_groups))), 0.0),
        rank=problem.groups.ranks(seed)[selected], sampling=BOOTSTRAP,
    ).trees  # fmt: skip


def by_importance(problem, frame, weight, seed):
    """Groups by importance in a forest, the most important first."""
    trees = forest(problem, weight, np.ones(problem.data.n_groups, dtype=bool), seed)
    return np.argsort(-group_gains(trees, problem.data).sum(axis=0), kind="stable")


def by_scikit_learn(problem, frame, weight, seed, of_frame=False):
    """The same by scikit-learn's forest, its columns in the order of the units or of the frame."""
    units = list(problem.groups.names)
    names = list(frame.columns.drop("target")) if of_frame else units
    X, rows = frame[names].to_numpy(np.float64), np.flatnonzero(weight)
    machine = RandomForestClassifier(100, random_state=seed)
    machine.fit(X[rows], frame["target"].to_numpy()[rows])
    order = np.argsort(-machine.feature_importances_, kind="stable")
    return np.array([units.index(names[j]) for j in order])


OURS, SKLEARN = {"MDI": by_importance}, {"MDI, scikit-learn": by_scikit_learn}
OF_FRAME = {"MDI, scikit-learn": functools.partial(by_scikit_learn, of_frame=True)}
FORMS = {"default": ControlBurn(), "paper": ControlBurn.published()}
EXCHANGE, PASS = {"exchange": ExchangeSearch()}, {"backward pass": ControlBurn(prune=True)}


def chosen_units(problem, frame, weight, methods, largest, seed):
    """By method, which units it has at each k: a method of ours, or what ranks the units."""
    n_groups, found = problem.data.n_groups, {}
    sizes = range(1, min(largest, n_groups - 1) + 1)
    for label, method in methods.items():
        if callable(method):
            order = method(problem, frame, weight, seed)
            found[label] = {k: np.isin(np.arange(n_groups), order[:k]) for k in sizes}
        else:
            found[label] = sets_by_size(method, problem, weight, sizes, seed)
    return found


def one_fold(frame, methods, repeat, fold, largest):
    """Method, k, units, AUC and accuracy of a forest on them, on the rows of a fold."""
    problem = frame_problem(frame, "target")
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat).split(problem.y, problem.y)
    train, test = list(folds)[fold]
    weight = np.zeros(len(problem.y), dtype=np.int64)
    weight[train] = 1
    new, y, seed = take_rows(problem.data, test), problem.y[test], FOLDS * repeat + fold
    known, rows = {}, []
    for label, sets in chosen_units(problem, frame, weight, methods, largest, seed).items():
        for k, selected in sets.items():
            key = selected.tobytes()
            if key not in known:
                trees = forest(problem, weight, selected, seed)
                score = predict_mean(trees, select_groups(new, selected))[:, 0]
                known[key] = roc_auc_score(y, score), np.mean((score > 0.5) == y)
            names = [problem.groups.names[g] for g in np.flatnonzero(selected)]
            rows.append((label, repeat, fold, k, names, *known[key]))
    return rows


COLUMNS = ["method", "repeat", "fold", "k", "names", "auc", "accuracy"]


def folds_of(run, frame, methods, repeats=1, prepare=None):
    """The rows of all folds; `prepare` makes the frame of a fold."""
    n_folds, largest = run.pick((2, 3), (FOLDS, LARGEST))
    calls = [
        (prepare(fold) if prepare else frame, methods, repeat, fold, largest)
        for repeat in range(repeats)
        for fold in range(n_folds)
    ]
    return pd.DataFrame(run.flat(one_fold, calls), columns=COLUMNS)


# --- Figure 9 ----------------------------------------------------------------------------------

PMLB_METHODS = {
    "MDI": by_scikit_learn, **FORMS, "MDI, our forest": by_importance, **PASS,
    "half per split, backward pass": ControlBurn(max_features=0.5, prune=True),
}  # fmt: skip


def differences(name, found, forms):
    """For each form the mean difference from MDI, and its standard error by folds."""
    auc = found.pivot_table(index=["fold", "k"], columns="method", values="auc")
    lines = []
    for label in forms:
        own = (auc[label] - auc["MDI"]).dropna()
        small = own[own.index.get_level_values("k") <= 3]
        error = mean_and_error(own.groupby("fold").mean())[1]
        lines.append({
            "set": name, "form": label, "difference": own.mean(), "s.e.": error,
            "k <= 3": small.mean(), "AUC of MDI": auc["MDI"].mean(),
        })  # fmt: skip
    return lines


def printed(file):
    """A file of the paper's own results; nothing where it is not at hand."""
    path = data_folder() / "controlburn_paper_results" / file
    return pd.read_csv(path) if path.exists() else None


def printed_differences():
    """Mean difference over k in the paper's own results, by set."""
    frame = printed("figure9_differences.csv")
    if frame is None:
        return {}
    return frame[frame["in_figure9"]].groupby("dataset")["mean_difference"].mean().to_dict()


def run_pmlb(run):
    """The differences, set by set."""
    forms = [label for label in PMLB_METHODS if label != "MDI"]
    forms = [label for label in forms if label in run.methods]
    methods = {label: PMLB_METHODS[label] for label in ["MDI", *forms]}
    for name in run.pick(["simulated"], [name for name in run.sets if name in PMLB]):
        frame = simulated() if run.quick else pmlb(name)
        run.keep("controlburn_pmlb", differences(name, folds_of(run, frame, methods), forms), "set")
    summary = run.kept("controlburn_pmlb")
    wide = summary.pivot_table(index="set", columns="form", values="difference", sort=False)
    texts, others = [], []
    for label in wide:
        mean, error = mean_and_error(wide[label].dropna())
        texts.append(
            f"{label}: mean {mean:+.4f} (s.e. {error:.4f}), median {wide[label].median():+.4f},"
            f" least {wide[label].min():+.4f} ({wide[label].idxmin()}), {wide[label].count()} sets"
        )
        mean, error = mean_and_error((wide["default"] - wide[label]).dropna())
        low, high = mean - 1.96 * error, mean + 1.96 * error
        others.append(f"{label} {mean:+.4f} ({low:+.4f} to {high:+.4f})")
    paper = printed_differences()
    table = summary.assign(**{"paper's results": [paper.get(n, np.nan) for n in summary["set"]]})
    for column in ("difference", "s.e.", "k <= 3", "AUC of MDI", "paper's results"):
        digits = "{:.3f}" if column == "AUC of MDI" else "{:+.4f}"
        table[column] = [digits.format(v) if np.isfinite(v) else "" for v in table[column]]
    run.table(
        "controlburn_pmlb",
        table,
        f"ControlBurn paper, section 5.2, by treeselect, {len(wide)} sets, all rows: AUC"
        f" minus that of scikit-learn's forest importance, mean over k = 1, ..., 10."
        f" {'; '.join(texts)}."
        f" Default minus the others (95% interval): {'; '.join(others[1:])}."
        " The paper, over its 46 sets: mean +0.0076, median +0.0013.",
    )


# --- Figure 8 ----------------------------------------------------------------------------------

CHESS_METHODS = {
    **OURS, **SKLEARN, **FORMS, **EXCHANGE,
    "half the units per split": ControlBurn(max_features=0.5), **PASS, "RRF": RRF(n_trees=300),
    "GRRF": GRRF(n_trees=300), "RBoost": RBoost(n_trees=100), "GBFS": GBFS(n_trees=200),
}  # fmt: skip


def chess_line(method, copies, part):
    """Mean AUC by k, and repeats among the largest number of columns."""
    largest = part.loc[part["k"] == part["k"].max(), "names"]
    repeats = [len(names) - len({name.split("_copy")[0] for name in names}) for names in largest]
    mean = part.groupby("k")["auc"].mean()
    return {
        "method": method, "copies": copies,
        "mean AUC, k = 1..10": shown_mean(part.groupby("fold")["auc"].mean(), 4),
        **{f"k = {k}": shown(mean.get(k, np.nan), None, 3) for k in (1, 2, 3, 5, 10)},
        "repeats at k = 10": shown_mean(repeats, 1),
    }  # fmt: skip


def run_chess(run):
    """The table, of some k."""
    frame = simulated() if run.quick else pmlb("chess")
    methods = {label: m for label, m in CHESS_METHODS.items() if label in run.methods}
    lines = []
    for copies in run.pick((0, 3), (0, 3, 5, 7)):
        found = folds_of(run, frame, methods, 1, lambda fold, c=copies: with_copies(frame, c, fold))
        own = found.groupby("method", sort=False)
        lines += [chess_line(method, copies, part) for method, part in own]
    order = list(methods)
    run.keep("controlburn_chess", sorted(lines, key=lambda x: order.index(x["method"])), "method")
    run.table(
        "controlburn_chess",
        run.kept("controlburn_chess", text=True),
        "ControlBurn paper, section 5.1, by treeselect: chess with copies of its three best"
        " columns, five folds. The paper shows curves only.",
    )


# --- Figures 10 and 11 -------------------------------------------------------------------------

SETS = {
    "adult": (adult, 1, "adult_5fold"),
    "adult, levels": (adult_levels, 1, "adult_5fold"),
    "audit": (audit, 4, "audit_10fold"),
    "gene": (gene, 10, "genewest_5fold"),
    "cleve": (lambda: pmlb("cleve"), 4, "cleve_5fold"),
    "twonorm": (lambda: pmlb("twonorm"), 1, "twonorm_5fold"),
}
"""How each is read, how often its rows are assigned to folds, and the run in the paper's results
that Figure 10 shows."""


def set_methods(frame):
    """What is compared: scikit-learn's forest takes numbers without missing ones only."""
    columns = frame.drop(columns="target")
    numeric = all(map(pd.api.types.is_numeric_dtype, columns.dtypes)) and not columns.isna().any(
        axis=None
    )
    return OURS | (OF_FRAME if numeric else {}) | FORMS | EXCHANGE


def over_folds(values):
    """Mean, and its standard error as of one assignment to folds: more of them are the same rows
    again, and don't lower it."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(FOLDS))


def scores_of(name, found):
    """By method and k, the means of AUC and accuracy and their standard errors; k = 0 stands for
    the mean over all k, with its difference from MDI's."""
    key, scores = ["repeat", "fold", "k"], ["auc", "accuracy"]
    mean = found.groupby(["method", "repeat", "fold"], sort=False)[scores].mean()
    found = pd.concat([found, mean.reset_index().assign(k=0)])
    base = found[found["method"] == "MDI"].set_index(key)["auc"]
    lines = []
    for (method, k), part in found.groupby(["method", "k"], sort=False):
        own, line = part.set_index(key)["auc"], {"set": name, "method": method, "k": k}
        values = {"auc": own, "accuracy": part["accuracy"], "difference": own - base.loc[own.index]}
        for what, each in values.items():
            line[what], line[f"{what} s.e."] = over_folds(each)
        lines.append(line)
    return lines


def terms_of(name, frame, found):
    """By method, the three units it selects on all rows, and in how many folds each was one of
    three."""
    problem = frame_problem(frame, "target")
    every = chosen_units(problem, frame, ones(problem), set_methods(frame), LARGEST, 0)
    lines = []
    for label, chosen in every.items():
        part = found[(found["method"] == label) & (found["k"] == 3)]
        counts = part["names"].explode().value_counts().head(5)
        names = [problem.groups.names[g] for g in np.flatnonzero(chosen[3])]
        often = ", ".join(f"{term} {n}" for term, n in counts.items())
        lines.append({
            "set": name, "method": label, "three terms, all rows": ", ".join(names),
            "times among three, by fold": f"{often} of {len(part)}",
        })  # fmt: skip
    return lines


def printed_scores():
    """The paper's own results: AUC (gene: accuracy) by run, method and k."""
    frame = printed("results.csv")
    if frame is None:
        return pd.DataFrame(columns=["run", "method", "k", "score_mean"])
    names = {"controlburn": "paper", "rf_baseline": "MDI, scikit-learn"}
    frame = frame[frame["method"].isin(names) & frame["k"].le(LARGEST)]
    return frame.assign(method=frame["method"].map(names))


def scores_table(summary):
    """The lines to print."""
    paper, lines = printed_scores(), []
    for (name, method), part in summary.groupby(["set", "method"], sort=False):
        part = part.set_index("k")
        whole, printed = part.loc[0], paper[paper["method"] == method]
        printed = printed[printed["run"] == SETS.get(name, (0, 0, ""))[2]]["score_mean"]
        is_gene = name == "gene"
        more = signed(whole["difference"], whole["difference s.e."], 4)
        lines.append({
            "set": name, "method": method,
            "mean AUC, k = 1..10": shown(whole["auc"], whole["auc s.e."], 4),
            "less that of MDI": "" if method == "MDI" else more,
            **{f"k = {k}": shown(part["auc"].get(k, np.nan), None, 3) for k in (1, 2, 3, 5, 10)},
            "accuracy": shown(whole["accuracy"], whole["accuracy s.e."], 3) if is_gene else "",
            "paper's results": shown(printed.mean(), None, 3) if len(printed) else "",
        })  # fmt: skip
    return lines


def run_datasets(run):
    """The table of scores; terms are for ``agreement.py``."""
    for name in run.pick(["simulated"], [name for name in run.sets if name in SETS]):
        load, repeats, _ = (simulated, 1, "") if run.quick else SETS[name]
        frame = load()
        found = folds_of(run, frame, set_methods(frame), repeats)
        run.keep("controlburn_datasets", scores_of(name, found), by="set")
        run.keep("controlburn_datasets_terms", terms_of(name, frame, found), by="set")
    summary = run.kept("controlburn_datasets")
    run.table(
        "controlburn_datasets",
        scores_table(summary),
        "ControlBurn paper, section 5.3 and Figure 10, by treeselect: AUC of a forest on k terms,"
        " mean (s.e., as of one assignment to five folds). The last column is the mean over k of"
        " the paper's own results, which are accuracies of gene; its baseline is scikit-learn's"
        " importance.",
    )


PARTS = {"pmlb": run_pmlb, "chess": run_chess, "datasets": run_datasets}


def main():
    """Write the tables."""
    methods = dict.fromkeys([*PMLB_METHODS, *CHESS_METHODS])
    quick = {"methods": ("MDI", "default", "paper")}
    sets = dict.fromkeys([*PMLB, *SETS])
    run = Run(__doc__, parts=PARTS, sets=sets, methods=methods, quick=quick)
    for part in run.parts:
        PARTS[part](run)


if __name__ == "__main__":
    main()
