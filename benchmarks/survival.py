"""Survival: what each method finds, how it predicts, how long it takes; beside R and XGBoost.

    python benchmarks/survival.py [--quick] [--jobs 1] [--parts truth ...] [--methods lasso ...]
    python benchmarks/survival.py --write FOLDER

truth    simulated sets of 500 rows (`treeselect.datasets.simulate_survival`): 12 of 60 columns
         carry the hazard, 30 and 70 % of the rows are censored, ten seeds each; every method at
         k = 12 and at ``k="1se"`` by five folds, beside what glmnet and ranger select
data     lung, veteran, pbc (its trial), gbsg2 and whas500 in three rounds of five folds: the whole
         selection at ``k="1se"`` in each, Harrell's C and the integrated Brier score of the fold,
         beside glmnet and ranger on the same folds
seconds  boosting 100,000 rows, 30 columns, 50 rounds by Cox's partial likelihood, in turn with our
         logistic boosting of the same columns and XGBoost's survival:cox, if it is installed

R's lines come from results/survival_truth_peers.csv and results/survival_data_peers.csv, which
`survival_truth.R` and `survival_data.R` write from the files that ``--write`` writes. A row of the
results per set and method; those that are not run again stay as they are, and ``--methods`` without
a name only writes the tables anew. Methods that refuse survival times are told and left out.

The integrated Brier score (``survival_scores.py``) is over 50 times from the first decile of the
set's event times to the eighth. Survival is that of Breslow's baseline on the training rows.
"""

from __future__ import annotations

import functools
import time
from pathlib import Path

import numpy as np
import pandas as pd
from forms import FORMS, in_order, told
from sklearn.model_selection import StratifiedKFold
from survival_scores import breslow, harrell, integrated_brier
from tables import arguments, mean_and_error, run_all, shown, with_earlier, write_table
from truth import judged

import treeselect
from treeselect.datasets import simulate_survival
from treeselect.engine.threads import one_thread
from treeselect.errors import MethodError

FORMULA = "Surv(time, event) ~ ."
SHARES, SEEDS, SIZE = (30, 70), 10, 12
DATA = Path(__file__).parent / "data" / "survival"
SETS = ("lung", "veteran", "pbc", "gbsg2", "whas500")
ROUNDS, FOLDS, TIMES = 3, 5, 50
QUICK = ("importance", "lasso")
PARTS = ("truth", "data", "seconds")

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


# --- truth ---


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


def truth_line(share, form, results):
    """The row of a share of censored rows and a method in the results."""
    names = ("recall", "false", "CPU s", "recall, 1se", "false, 1se", "CPU s, 1se", "k, 1se")
    line = {"run": f"{share}, {form}", "censored": share, "method": form, "options": told(form),
            "seeds": len(results)}  # fmt: skip
    for name, values in zip(names, zip(*results, strict=True), strict=True):
        line[name], line[f"{name} s.e."] = mean_and_error(values)
    return line


def truth_peers(folder):
    """R's rows, in the shape of ours."""
    path = folder / "survival_truth_peers.csv"
    if not path.exists():
        return []
    found, lines = pd.read_csv(path), []
    found["k"] = found["selected"].fillna("").str.split().str.len()
    for share in SHARES:
        for peer, sources in PEERS.items():
            line = {"censored": share, "method": peer, "options": "R"}
            for source, rule in zip(sources, ("", ", 1se"), strict=True):
                own = found[(found["censored"] == share) & (found["method"] == source)]
                for name in ("recall", "false", "k"):
                    key = f"{name}{rule}"
                    line[key], line[f"{key} s.e."] = mean_and_error(own[name])
                line["seeds"] = max(len(own), line.get("seeds", 0))
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
                    key = f"{name}{rule}"
                    line[f"{name}{text}"] = shown(row[key], row[f"{key} s.e."], 2)
            line["k, own rule"] = shown(row["k, 1se"], None, 1)
            line["CPU s, k = 12"] = shown(row.get("CPU s", np.nan), None, 1)
            line["CPU s, own rule"] = shown(row.get("CPU s, 1se", np.nan), None, 1)
            lines.append(line)
    return pd.DataFrame(lines)


def truth(options):
    """What the methods find of what is known."""
    forms = QUICK if options.quick else options.methods
    summary = pd.DataFrame()
    for share in SHARES[:1] if options.quick else SHARES:
        for form in forms:
            seeds = range(1 if options.quick else SEEDS)
            calls = [(share, form, seed, options.quick) for seed in seeds]
            results = run_all(one_truth, calls, options.jobs)
            if None in results:
                continue
            line = pd.DataFrame([truth_line(share, form, results)])
            summary = pd.concat([summary, line], ignore_index=True)
            with_earlier(
                "survival_truth", line, by="run", quick=options.quick, folder=options.results
            )
    if not options.quick:
        summary = pd.read_csv(options.results / "survival_truth.csv")
    write_table(
        "survival_truth",
        truth_table(summary, [] if options.quick else truth_peers(options.results)),
        "treeselect on simulated survival times, 500 rows: means over seeds with their standard"
        " errors. Recall: share of the twelve true terms of which a column is selected. False:"
        " columns selected beside these, a second one of a term among them. Own rule:"
        ' `k="1se"` by five folds, and in the rows of R the rule that the name says.',
        quick=options.quick,
        folder=options.results,
    )


# --- data ---


def used_set(name):
    """The rows and columns of a set that are used, ending in `time` and `event`."""
    frame = pd.read_csv(DATA / f"{name}.csv").rename(columns={"cens": "event"})
    if name == "pbc":
        frame = frame[frame["trt"].notna()]
    return frame.drop(columns=["inst", "los"], errors="ignore").reset_index(drop=True)


def folds_of(frame):
    """For each round the fold of each row, from 1; events are spread evenly."""
    found = np.empty((ROUNDS, len(frame)), dtype=int)
    for round_ in range(ROUNDS):
        cut = StratifiedKFold(FOLDS, shuffle=True, random_state=round_)
        for fold, (_, rows) in enumerate(cut.split(frame, frame["event"]), start=1):
            found[round_, rows] = fold
    return found


def imputed(frame, train):
    """Missing numbers as the training rows' median, missing texts as their commonest."""
    values = {
        name: train[name].median()
        if pd.api.types.is_numeric_dtype(train[name])
        else train[name].mode()[0]
        for name in frame
    }
    return frame.astype(
        {name: float for name in frame.select_dtypes("number") if frame[name].isna().any()}
    ).fillna(values)


def one_fold(name, form, round_, fold, quick):
    """Units, C and integrated Brier score of the whole selection on the rows of a fold."""
    frame = used_set(name)
    inside = folds_of(frame)[round_] == fold
    died = frame["time"][frame["event"] == 1]
    times = np.linspace(*np.quantile(died, [0.1, 0.8]), TIMES)
    train, test = imputed(frame[~inside], frame[~inside]), imputed(frame[inside], frame[~inside])
    begin = time.process_time()
    fit = selected(form, train, 2 if quick else "1se", 10 * round_ + fold)
    if fit is None:
        return None
    seconds = time.process_time() - begin
    link, new_link = (np.asarray(fit.predict(part, type="link")) for part in (train, test))
    found = harrell(test["time"].to_numpy(), test["event"].to_numpy() == 1, new_link)
    survival = breslow(train, link, new_link, times)
    return fit.k, found, integrated_brier(train, test, survival, times), seconds


def data_line(name, form, results):
    """The row of a set and a method in the results; errors over folds, which share rows."""
    line = {"run": f"{name}, {form}", "set": name, "method": form, "options": told(form),
            "folds": len(results)}  # fmt: skip
    for key, values in zip(("k", "C", "IBS", "CPU s"), zip(*results, strict=True), strict=True):
        line[key], line[f"{key} s.e."] = mean_and_error(values)
    return line


def data_peers(folder):
    """R's rows, in the shape of ours."""
    path = folder / "survival_data_peers.csv"
    if not path.exists():
        return []
    lines = []
    for (name, method), own in pd.read_csv(path).groupby(["set", "method"], sort=False):
        line = {"set": name, "method": f"R: {method}", "options": "R", "folds": len(own)}
        for key, source in (("k", "columns"), ("C", "C"), ("IBS", "IBS")):
            line[key], line[f"{key} s.e."] = mean_and_error(own[source])
        lines.append(line)
    return lines


def data_table(summary, peers):
    """The lines to print, by set, R's last."""
    lines = []
    for name in SETS:
        own = summary[summary["set"] == name].set_index("method")
        rows = [{"method": form, **own.loc[form]} for form in in_order(own.index)]
        for row in [*rows, *(peer for peer in peers if peer["set"] == name)]:
            line = {"set": name} | {key: row[key] for key in ("method", "options", "folds")}
            line["columns"] = shown(row["k"], None, 1)
            line["C"] = shown(row["C"], row["C s.e."], 3)
            line["IBS"] = shown(row["IBS"], row["IBS s.e."], 4)
            line["CPU s"] = shown(row.get("CPU s", np.nan), None, 1)
            lines.append(line)
    return pd.DataFrame(lines)


def data(options):
    """What the selections predict on new rows of real sets."""
    summary = pd.DataFrame()
    for name in ("veteran",) if options.quick else SETS:
        for form in QUICK if options.quick else options.methods:
            rounds = [(0, 1)] if options.quick else np.ndindex(ROUNDS, FOLDS)
            calls = [
                (name, form, round_, fold + (not options.quick), options.quick)
                for round_, fold in rounds
            ]
            results = run_all(one_fold, calls, options.jobs)
            if None in results:
                continue
            line = pd.DataFrame([data_line(name, form, results)])
            summary = pd.concat([summary, line], ignore_index=True)
            with_earlier(
                "survival_data", line, by="run", quick=options.quick, folder=options.results
            )
    if not options.quick:
        summary = pd.read_csv(options.results / "survival_data.csv")
    write_table(
        "survival_data",
        data_table(summary, [] if options.quick else data_peers(options.results)),
        f'treeselect on real survival times, the whole selection at `k="1se"` within each of'
        f" {ROUNDS} x {FOLDS} folds: Harrell's C and the integrated Brier score of the fold's rows"
        " (lower is better), means with standard errors over folds, which share training rows. R:"
        " coxph and ranger's forest on all columns, glmnet's lasso by ten folds, same folds.",
        quick=options.quick,
        folder=options.results,
    )


# --- seconds ---


def times_to_boost(n_rows, n_columns):
    """Columns, times and events; both about as hard to tell for the two losses."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    eta = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3])
    stop = rng.exponential(np.exp(-eta))
    unseen = rng.exponential(2.0, n_rows)
    return X, np.minimum(stop, unseen), stop <= unseen


def xgboost_call(X, stop, event, rounds):
    """A call of XGBoost's Cox boosting, its data binned before, as ours are, and what gives the
    linear predictor of what it returns; or two Nones.

    Leaves have at least so much curvature as keeps it from steps that never end: with less than
    that it stops growing after the first tree.
    """
    try:
        import xgboost
    except ImportError:
        return None, None
    label = np.where(event, stop, -stop)
    table = xgboost.QuantileDMatrix(X, label, max_bin=256, nthread=1)
    options = {
        "objective": "survival:cox", "tree_method": "hist", "grow_policy": "lossguide",
        "max_leaves": 31, "max_depth": 0, "eta": 0.1, "min_child_weight": 5.0, "max_bin": 256,
         "nthread": 1,
    }  # fmt: skip
    return (
        lambda: xgboost.train(options, table, rounds),
        lambda booster: booster.predict(xgboost.DMatrix(X), output_margin=True).astype(float),
    )


def seconds(options):
    """CPU seconds of boosting, the least of several, the competitors in turn."""
    from engine import binned, boosting

    from treeselect.engine.losses import LogisticLoss
    from treeselect.engine.survival.cox import CoxLoss
    from treeselect.engine.survival.times import as_times

    n_rows, n_columns, rounds, repeats = (2_000, 6, 3, 1) if options.quick else (100_000, 30, 50, 7)
    X, stop, event = times_to_boost(n_rows, n_columns)
    table = binned(X)
    calls = {
        "treeselect, logistic": functools.partial(
            boosting, table, event.astype(float), LogisticLoss(), rounds
        ),
        "treeselect, cox": functools.partial(
            boosting, table, as_times(stop, event), CoxLoss(), rounds
        ),
        "treeselect, cox, ties": functools.partial(
            boosting, table, as_times(np.ceil(stop * 100), event), CoxLoss(), rounds
        ),
    }
    peer, margin = (None, None) if options.quick else xgboost_call(X, stop, event, rounds)
    if peer is not None:
        calls["XGBoost, survival:cox"] = peer
    found = {}
    least = dict.fromkeys(calls, np.inf)
    for repeat in range(1 + repeats):  # the first compiles and fills memory
        for name, call in calls.items():
            begin = time.process_time()
            found[name] = call()
            if repeat:
                least[name] = min(least[name], time.process_time() - begin)
    logistic = least["treeselect, logistic"]
    rows = CoxLoss().of(as_times(stop, event), np.ones(n_rows))
    lines = []
    for name, value in least.items():
        line = {"boosting": name, "CPU s": f"{value:.3f}"}
        line["times our logistic"] = f"{value / logistic:.2f}"
        eta = margin(found[name]) if name.startswith("XGBoost") else found[name]
        of_cox = name.endswith("cox")
        line["loss"] = shown(rows.value(eta).mean() if of_cox else np.nan, None, 4)
        lines.append(line)
    write_table(
        "survival_seconds",
        pd.DataFrame(lines),
        f"treeselect: {rounds} rounds of trees of 31 leaves, {n_rows:,} x {n_columns}, binned"
        f" beforehand, one thread; the least CPU seconds of {repeats}, in turn. The classes are the"
        " events. Ties: times in about a thousand steps. Loss: minus the log partial likelihood"
        " of the training rows, a row.",
        quick=options.quick,
        folder=options.results,
    )


def write(folder):
    """The files that the programs in R read."""
    folder.mkdir(exist_ok=True)
    for share in SHARES:
        for seed in range(SEEDS):
            simulated = simulate_survival(500, seed=seed, censored=share / 100)
            simulated.data.to_csv(folder / f"{share}_{seed}.csv", index=False)
    for name in SETS:
        frame = used_set(name)
        folds = {f"fold{r + 1}": fold for r, fold in enumerate(folds_of(frame))}
        frame.assign(**folds).to_csv(folder / f"{name}.csv", index=False)


def main():
    """Write the tables."""
    parser = arguments(__doc__)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--methods", nargs="*", default=list(FORMS), choices=list(FORMS))
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write what R reads")
    options = parser.parse_args()
    if options.write is not None:
        write(options.write)
        return
    for part in options.parts:
        {"truth": truth, "data": data, "seconds": seconds}[part](options)


if __name__ == "__main__":
    main()
