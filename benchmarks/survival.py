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
`survival_truth.R` and `survival_data.R` write from the files that ``--write`` writes. Methods that
refuse survival times are told and left out.

The integrated Brier score is over 50 times from the first decile of the
set's event times to the eighth. Survival is that of Breslow's baseline on the training rows.
"""

from __future__ import annotations

import functools
import time
from pathlib import Path

import numpy as np
import pandas as pd
from harness import FORMS, Run, cell, in_order, in_turns, means, shown, told
from sklearn.model_selection import StratifiedKFold
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


# --- data ---


def harrell(y_time, event, risk):
    """Share of the pairs whose order is known in which the one with the higher risk died first;
    a tie of risks is half."""
    sooner = (y_time[:, None] < y_time) | ((y_time[:, None] == y_time) & ~event)
    known = event[:, None] & sooner
    right = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
    return (known * right).sum() / known.sum()


def breslow(train, link, new_link, times):
    """Survival at the times, a row for each of the new link."""
    middle = link.mean()
    when, stop = np.unique(train["time"][train["event"] == 1]), train["time"].to_numpy()
    died = np.bincount(np.searchsorted(when, stop[train["event"] == 1]), minlength=len(when))
    at_risk = np.exp(link - middle) @ (stop[:, None] >= when)
    hazard = np.concatenate([[0.0], np.cumsum(died / at_risk)])
    steps = hazard[np.searchsorted(when, times, side="right")]
    return np.exp(-np.exp(new_link - middle)[:, None] * steps)


def unseen_curve(train, wanted, side):
    """Kaplan-Meier of the censoring of the training rows, up to (right) or before (left) times."""
    stop = train["time"].to_numpy()
    when = np.unique(stop)
    at_risk = (stop[:, None] >= when).sum(axis=0)
    ended = ((stop[:, None] == when) & (train["event"] == 0).to_numpy()[:, None]).sum(axis=0)
    curve = np.concatenate([[1.0], np.cumprod(1 - ended / at_risk)])
    return curve[np.searchsorted(when, wanted, side=side)]


def integrated_brier(train, test, survival, times):
    """The mean of the Brier score over the times, by trapezes (Graf and others 1999); weights are
    from the Kaplan-Meier curve of the training rows' censoring."""
    stop, event = test["time"].to_numpy(), test["event"].to_numpy() == 1
    before = np.maximum(unseen_curve(train, stop, "left"), 1e-9)[:, None]
    died = (stop[:, None] <= times) & event[:, None]
    alive = stop[:, None] > times
    then = unseen_curve(train, times, "right")
    scores = (died * survival**2 / before + alive * (1 - survival) ** 2 / then).mean(axis=0)
    return np.trapezoid(scores, times) / (times[-1] - times[0])


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


def data_peers(folder):
    """R's rows, in the shape of ours."""
    path = folder / "survival_data_peers.csv"
    if not path.exists():
        return []
    lines = []
    for (name, method), own in pd.read_csv(path).groupby(["set", "method"], sort=False):
        line = {"set": name, "method": f"R: {method}", "options": "R", "folds": len(own)}
        values = own[["columns", "C", "IBS"]].to_numpy()
        lines.append(line | means(("k", "C", "IBS"), values))
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
            line["C"], line["IBS"] = cell(row, "C", 3), cell(row, "IBS", 4)
            line["CPU s"] = shown(row.get("CPU s", np.nan), None, 1)
            lines.append(line)
    return pd.DataFrame(lines)


def data(run):
    """What the selections predict on new rows of real sets; errors over folds, which share rows."""
    parts = [(round_, fold) for round_ in range(ROUNDS) for fold in range(1, FOLDS + 1)]
    for name in run.pick(("veteran",), SETS):
        for form in run.methods:
            calls = [(name, form, *part, run.quick) for part in parts[: run.pick(1, None)]]
            results = run.map(one_fold, calls)
            if None not in results:
                line = {"set": name, "method": form, "options": told(form)}
                line |= {"folds": len(results), **means(("k", "C", "IBS", "CPU s"), results)}
                run.keep("survival_data", {"run": f"{name}, {form}", **line})
    run.table(
        "survival_data",
        data_table(run.kept("survival_data"), [] if run.quick else data_peers(run.results)),
        f'treeselect on real survival times, the whole selection at `k="1se"` within each of'
        f" {ROUNDS} x {FOLDS} folds: Harrell's C and the integrated Brier score of the fold's rows"
        " (lower is better), means with standard errors over folds, which share training rows. R:"
        " coxph and ranger's forest on all columns, glmnet's lasso by ten folds, same folds.",
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


def seconds(run):
    """CPU seconds of boosting, the least of several, the competitors in turn."""
    from engine import binned, boosting

    from treeselect.engine.losses import LogisticLoss
    from treeselect.engine.survival.cox import CoxLoss
    from treeselect.engine.survival.times import as_times

    n_rows, n_columns, rounds, repeats = run.pick((2_000, 6, 3, 1), (100_000, 30, 50, 7))
    X, stop, event = times_to_boost(n_rows, n_columns)
    forms = {
        "logistic": (event.astype(float), LogisticLoss()),
        "cox": (as_times(stop, event), CoxLoss()),
        "cox, ties": (as_times(np.ceil(stop * 100), event), CoxLoss()),
    }
    table = binned(X)
    calls = {
        f"treeselect, {name}": functools.partial(boosting, table, *form, rounds)
        for name, form in forms.items()
    }
    peer, margin = (None, None) if run.quick else xgboost_call(X, stop, event, rounds)
    if peer is not None:
        calls["XGBoost, survival:cox"] = peer
    in_turns(calls, 1)  # compiles and fills memory
    found = in_turns(calls, repeats)
    rows = CoxLoss().of(as_times(stop, event), np.ones(n_rows))
    lines = []
    for name, (least, answer) in found.items():
        eta = margin(answer) if name.startswith("XGBoost") else answer
        loss = rows.value(eta).mean() if name.endswith("cox") else np.nan
        times = least / found["treeselect, logistic"][0]
        line = {"boosting": name, "CPU s": f"{least:.3f}", "times our logistic": f"{times:.2f}"}
        lines.append(line | {"loss": shown(loss, None, 4)})
    run.table(
        "survival_seconds",
        lines,
        f"treeselect: {rounds} rounds of trees of 31 leaves, {n_rows:,} x {n_columns}, binned"
        f" beforehand, one thread; the least CPU seconds of {repeats}, in turn. The classes are the"
        " events. Ties: times in about a thousand steps. Loss: minus the log partial likelihood"
        " of the training rows, a row.",
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
    quick = {"methods": ("importance", "lasso")}
    run = Run(__doc__, parts=PARTS, methods=FORMS, write=None, quick=quick)
    if run.write is not None:
        write(Path(run.write))
        return
    for part in run.parts:
        {"truth": truth, "data": data, "seconds": seconds}[part](run)


if __name__ == "__main__":
    main()
