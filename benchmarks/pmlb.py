"""What is selected, judged on new rows: against forest importance on the PMLB sets and some more.

    python benchmarks/pmlb.py [--quick] [--jobs 1] [--sets churn ...] [--methods exchange ...]

Of each set two thirds of the rows, at most 1000, are drawn to select on; the other rows, at most
5000, are new. Small sets are drawn more often, so that there are about 1500 new rows in all, twice
at least and ten times at most. The columns that ``select(k=...)`` takes at k = 1, 2, 3, 5 and 10
are judged by the AUC, on the new rows, of two models that are fitted to the first part:

forest      the package's final forest, whose capacity is chosen out of bag
boosting    LightGBM, stopped where the loss on a quarter of the first part falls no more

A fully grown forest would not do: noise improves it. All is told as the difference from the first
k columns of plain forest importance (mean decrease of impurity), on the same rows. The sets are
those of ``papers/controlburn_sets.py`` that have not many names, and four more with structure of
their own, which are told by themselves: chess with five noisy copies of each of its three best
columns, adult with its factors, audit risk, and gene expression.

CPU seconds are those of one call of ``select``, its last model included, on one core.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
from harness import FORMS, Run, in_order, mean_and_error, means, signed, told
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import treeselect
from treeselect.designs.weights import row_weights
from treeselect.engine.columns import select_groups, take_rows
from treeselect.engine.threads import one_thread
from treeselect.models.forest import refit_forest

sys.path.append(str(Path(__file__).parent / "papers"))

import controlburn_sets
from common import frame_problem

SIZES = (1, 2, 3, 5, 10)
MOST_ROWS, MOST_NEW = 1000, 5000
JUDGES = ("forest", "boosting")
BASELINE = "importance, mdi"

MORE = {
    "chess with copies": lambda: controlburn_sets.with_copies(controlburn_sets.pmlb("chess"), 5, 0),
    "adult with factors": controlburn_sets.adult,
    "audit": controlburn_sets.audit,
    "gene": controlburn_sets.gene,
}
SETS = (*controlburn_sets.PMLB, *MORE)


def load(name):
    """The frame of a set; its response is `target`, two classes, 0 and 1."""
    if name == "simulated":
        frame = controlburn_sets.simulated()
        noise = np.random.default_rng(1).normal(size=(len(frame), 3))
        frame = pd.concat([pd.DataFrame(noise, columns=["u", "v", "w"]), frame], axis=1)
    else:
        frame = MORE[name]() if name in MORE else controlburn_sets.pmlb(name)
    return frame.assign(target=pd.factorize(frame["target"], sort=True)[0])


def n_splits(n_rows, most=10):
    """How often a set is drawn."""
    n_new = min(n_rows - min(2 * n_rows // 3, MOST_ROWS), MOST_NEW)
    return int(np.clip(-(-1500 // n_new), min(2, most), most))


def drawn_rows(y, seed):
    """Rows to select on and new ones, both with their share of each class."""
    rows, n = np.arange(len(y)), min(2 * len(y) // 3, MOST_ROWS)
    train, new = train_test_split(rows, train_size=n, stratify=y, random_state=seed)
    if len(new) > MOST_NEW:
        new, _ = train_test_split(new, train_size=MOST_NEW, stratify=y[new], random_state=seed)
    return np.sort(train), np.sort(new)


class Judges:
    """AUC on rows from `n` on of models on some columns of the first `n`, each set judged once."""

    def __init__(self, frame, n, seed):
        self._problem = frame_problem(frame, "target")
        self._X = frame.drop(columns="target")
        text = self._X.columns[[not pd.api.types.is_numeric_dtype(t) for t in self._X.dtypes]]
        self._X = self._X.astype(dict.fromkeys(text, "category"))
        self._y, self._seed = frame["target"].to_numpy(), seed
        self._train, self._new = np.split(np.arange(len(frame)), [n])
        self._at = {name: g for g, name in enumerate(self._problem.groups.names)}
        self._known = {}

    def auc(self, names):
        """Those of both models."""
        key = tuple(sorted(names))
        if key not in self._known:
            self._known[key] = (0.5, 0.5) if not key else (self._forest(key), self._boosting(key))
        return self._known[key]

    def _forest(self, names):
        selected = np.zeros(len(self._at), dtype=bool)
        selected[[self._at[name] for name in names]] = True
        weight = np.zeros(len(self._y), dtype=np.int64)
        weight[self._train] = 1
        model = refit_forest(self._problem, row_weights(weight), selected, seed=self._seed)
        data = take_rows(self._problem.data, self._new)
        part = select_groups(data, selected)
        return roc_auc_score(self._y[self._new], model.predict_binned(part))

    def _boosting(self, names):
        X = self._X[list(names)].set_axis([f"c{j}" for j in range(len(names))], axis=1)
        y = self._y
        fit, stop = train_test_split(
            self._train, test_size=0.25, stratify=y[self._train], random_state=self._seed
        )
        options = {
            "objective": "binary", "learning_rate": 0.05, "num_leaves": 15, "min_data_in_leaf": 10,
            "num_threads": 1, "verbose": -1, "seed": self._seed, "deterministic": True,
        }  # fmt: skip
        known = lightgbm.Dataset(X.iloc[fit], y[fit])
        machine = lightgbm.train(
            options, known, 500, [known.create_valid(X.iloc[stop], y[stop])],
            callbacks=[lightgbm.early_stopping(30, verbose=False)],
        )  # fmt: skip
        return roc_auc_score(y[self._new], machine.predict(X.iloc[self._new]))


def one_split(name, seed, forms):
    """For each form the AUC, shape (n_sizes, 2), and CPU seconds of a call."""
    frame = load(name)
    train, new = drawn_rows(frame["target"].to_numpy(), seed)
    frame = frame.iloc[[*train, *new]].reset_index(drop=True)
    part, found = frame.iloc[: len(train)], {}
    judges = Judges(frame, len(train), seed)
    sizes = [k for k in SIZES if k < frame.shape[1] - 1]
    for form in forms:
        with one_thread():
            begin = time.process_time()
            selections = [
                treeselect.select(
                    "target ~ .", part, method=FORMS[form], k=k, seed=seed, n_jobs=1,
                    progress=False,
                ).selected
                for k in sizes
            ]  # fmt: skip
            seconds = (time.process_time() - begin) / len(sizes)
            scores = [judges.auc(selected) for selected in selections]
        found[form] = (np.array(scores), seconds)
    return found


def lines_of(name, results):
    """The rows of a set in the results, a form each."""
    lines = []
    for form in results[0]:
        auc = np.array([split[form][0] for split in results])
        line = {
            "run": f"{name}, {form}", "set": name, "method": form, "options": told(form),
            "splits": len(results), "CPU s": np.mean([split[form][1] for split in results]),
        }  # fmt: skip
        plain = np.array([split[BASELINE][0] for split in results])
        line |= means([f"{judge} more" for judge in JUDGES], (auc - plain).mean(axis=1))
        for j, judge in enumerate(JUDGES):
            for i, k in enumerate(SIZES):
                line[f"{judge} {k}"] = auc[:, i, j].mean() if i < auc.shape[1] else np.nan
        lines.append(line)
    return lines


def cubes_of(summary, judge):
    """AUC by one judge, shape (n_sets, n_sizes, n_methods), with sets and methods, of the sets that
    all methods have."""
    methods = in_order(summary["method"].unique())
    wide = {
        k: summary.pivot(index="set", columns="method", values=f"{judge} {k}")[methods]
        for k in SIZES
    }
    has_all = summary.groupby("set")["method"].nunique() == len(methods)
    sets = [name for name in has_all.index[has_all] if name not in MORE]
    return np.stack([wide[k].loc[sets] for k in SIZES], axis=1), sets, methods


def table_of(summary, judge):
    """The lines to print, of one judge: differences from importance over the sets, and ranks."""
    auc, sets, methods = cubes_of(summary, judge)
    plain = auc[:, :, [methods.index(BASELINE)]]
    more = np.nanmean(auc - plain, axis=1)
    ranks = [
        pd.DataFrame(auc[:, i]).dropna().rank(axis=1, ascending=False).mean().to_numpy()
        for i in range(len(SIZES))
    ]
    seconds = summary[summary["set"].isin(sets)].groupby("method")["CPU s"].mean()
    lines = []
    for m, method in enumerate(methods):
        own = summary[summary["method"] == method]
        worst, at = more[:, m].min(), sets[int(more[:, m].argmin())]
        error = own[own["set"] == at][f"{judge} more s.e."].iloc[0]
        by_size = {
            f"k = {k}": f"{np.nanmean((auc - plain)[:, i, m]):+.4f}, {ranks[i][m]:.1f}"
            for i, k in enumerate(SIZES)
        }
        lines.append({
            "method": method, "options": own["options"].iloc[0],
            "AUC more": signed(*mean_and_error(more[:, m]), 4),
            "worst set (s.e. over splits)": f"{signed(worst, error, 3)} {at}",
            **by_size, "CPU s": f"{seconds[method]:.2f}",
        })  # fmt: skip
    return lines, len(sets)


def against(summary, judge, other="controlburn, paper", method="exchange"):
    """Mean difference between two methods over the sets with its interval, in words."""
    auc, _, methods = cubes_of(summary, judge)
    if not {other, method} <= set(methods):
        return ""
    difference = auc[:, :, methods.index(method)] - auc[:, :, methods.index(other)]
    mean, error = mean_and_error(np.nanmean(difference, axis=1))
    low, high = mean - 1.96 * error, mean + 1.96 * error
    return f" {method} minus {other}: {mean:+.4f} (95% interval {low:+.4f} to {high:+.4f})."


def more_table(summary):
    """The sets with structure of their own: mean AUC over the sizes by both judges, seconds."""
    lines = []
    for method in in_order(summary["method"].unique()):
        line = {"method": method}
        for name in [name for name in MORE if name in set(summary["set"])]:
            row = summary[(summary["method"] == method) & (summary["set"] == name)]
            texts = [
                f"{row[[f'{judge} {k}' for k in SIZES]].to_numpy().mean():.3f}"
                + ("" if method == BASELINE else f" ({row[f'{judge} more s.e.'].iloc[0]:.3f})")
                for judge in JUDGES
            ]  # fmt: skip
            line[f"{name}: forest, boosting"] = ", ".join(texts)
            line[f"{name}: CPU s"] = f"{row['CPU s'].iloc[0]:.1f}"
        lines.append(line)
    return lines


def main():
    """Write the tables: one by each judge, and that of the other sets."""
    quick = {"sets": ("simulated",), "methods": (BASELINE, "mrmr"), "splits": 1}
    run = Run(__doc__, sets=SETS, methods=FORMS, splits=10, quick=quick)
    for name in run.sets if run.methods else ():
        forms = in_order({BASELINE, *run.methods})
        seeds = range(n_splits(len(load(name)), run.splits))
        results = run.map(one_split, [(name, seed, forms) for seed in seeds])
        run.keep("pmlb", lines_of(name, results))
    summary, sizes = run.kept("pmlb"), ", ".join(map(str, SIZES))
    for judge in JUDGES:
        table, n_sets = table_of(summary, judge)
        run.table(
            f"pmlb_{judge}",
            table,
            f"treeselect on {n_sets} PMLB sets, judged on new rows by {judge}: AUC of the selected"
            f" columns minus that of the first k of plain forest importance, mean over k = {sizes},"
            " then over the sets (s.e. over sets); at each k this difference and the mean rank"
            " among the methods of the table; CPU seconds of a call." + against(summary, judge),
        )
    if set(MORE) & set(summary["set"]):
        run.table(
            "pmlb_more",
            more_table(summary[summary["set"].isin(MORE)]),
            "treeselect on sets with structure of their own: AUC on new rows, mean over k ="
            f" {sizes}, by both judges (s.e., over splits, of the difference from plain"
            " importance); CPU seconds of a call.",
        )


if __name__ == "__main__":
    main()
