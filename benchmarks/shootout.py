"""All methods of the package and other software on twenty real sets: score, stability, seconds.

    python benchmarks/shootout.py [--quick] [--sets titanic ...] [--methods exchange ...]
                                  [--splits 0 1 2] [--seconds 60]

Of each set two thirds of the rows, at most 1000, are drawn to select on; the others, at most 2000,
are new. The splits are the same for all methods, with their share of each class. Selection sees the
first part only. At k = 1, 2, 3, 5, 10 and a quarter of the columns (50 at most), two models are
fitted to the selected columns of the first part; their mean score on the new rows is the result:
scikit-learn's random forest (100 trees, leaves of three rows at least) and its histogram boosting
(60 rounds, early stopping off). The score is the AUC for two classes, R2 for numbers, and the share
of the constant model's log loss that is explained for several classes. Sizes that reach p are left
out, and a method that ranks fewer than k columns is judged on those it has.

The sets were chosen before any result was seen: twenty of the sets at hand, mostly of two classes,
six with factors or gaps; parkinsons is out because several rows belong to a person whose number is
not given. Columns that leak the response are dropped, and so are identifiers.

Methods of the package are called as ``select(k=...)`` at each size, with reduced options
where the default would take hours; ``importance, mdi`` and the like are not repeated. Other
software (peers.py) gives one order of the columns, and its first k are taken. Boruta, knockoffs,
ipss, VSURF, abess and RRF give sets: peers.py says by what they are ordered.

Each case is run in a process of its own, started from one that has loaded the kernels, and ended
after ``--seconds`` of CPU time; seconds are CPU seconds of that process and of R, for all
sizes together, without the judges' models. Set OMP_NUM_THREADS=1 and NUMBA_NUM_THREADS=1. A row per
set, split and method is written at once; what stands is not run again. Then the tables and figures
of shootout_tables.py are written; ``--methods`` without a name only does that.
"""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from functools import lru_cache, partial

import numpy as np
import pandas as pd
import peers
import shootout_tables
from harness import REDUCED, Run, limited, stored
from peers import coded_y, filled, is_number, quiet

import treeselect
from treeselect.algorithms.registry import METHODS
from treeselect.engine.threads import one_thread

SIZES = (1, 2, 3, 5, 10)
MOST_SIZE = 50
MOST_ROWS, MOST_NEW = 1000, 2000
SLOW_WHEN_WIDE = {"knockoffs (hidimstat)", "stepwise"}
"""Take covariances of all columns, or hours: not run beyond 600 columns."""

TITANIC = ("boat", "body", "name", "ticket", "cabin", "home_dest")
AUDIT = ("Audit_Risk", "Inherent_Risk", "Score", "TOTAL", "Detection_Risk", "Risk_F")

SETS = {
    "titanic": ("titanic_raw", "survived", "binomial", TITANIC),
    "adult": ("adult", "income", "binomial"),
    "german": ("german_credit", "target", "binomial"),
    "churn": ("churn_raw", "churn", "binomial", ("phone_number",)),
    "chess": ("chess_kr_vs_kp", "target", "binomial"),
    "mushroom": ("mushroom_raw", "target", "binomial"),
    "sick": ("sick", "target", "binomial"),
    # The outcome is known after the operation.
    "horse colic": ("horse_colic_raw", "surgical_lesion", "binomial", ("outcome",)),
    "spambase": ("spambase", "type", "binomial"),
    "musk": ("musk", "Class", "binomial"),
    "audit": ("audit_risk", "Risk", "binomial", AUDIT),
    "madelon": ("madelon", "target", "binomial"),
    "arrhythmia": ("arrhythmia", "target", "binomial"),
    "colon": ("gene/colon", "target", "binomial"),
    "prostate": ("gene/prostate", "target", "binomial"),
    "usps": ("uspst", "target", "binomial"),
    "abalone": ("abalone", "rings", "gaussian"),
    "autos": ("autos", "symboling", "gaussian"),
    "waveform": ("waveform21", "target", "multinomial"),
    "anneal": ("anneal", "target", "multinomial"),
}
"""File, response, its kind, and columns that are left out."""

FIRST_CLASS = {"arrhythmia": (str, ["1"]), "usps": (int, range(5))}
"""Of several classes, those that are told from the others."""

QUICK = ("lasso", "mrmr", "forest importance")
OURS = tuple(METHODS)
ALL = (*OURS, *peers.RANKS)


def simulated(kind="binomial"):
    """A small set for quick runs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(f=rng.choice(["u", "v"], 120))
    y = X[:, 0] + X[:, 1]
    if kind != "gaussian":
        y = np.digitize(y, [0] if kind == "binomial" else [-0.7, 0.7]).astype(str)
    return frame.assign(y=y), "y", kind


def prepared(name):
    """Frame, response and kind of a set; classes are text, plain objects are plain strings."""
    frame, response, kind = simulated()
    if name in SETS:
        file, response, kind, *without = SETS[name]
        frame = stored(file, without=without[0] if without else ())
    if name == "adult":
        frame = frame.sample(6000, random_state=0)
    if name in FIRST_CLASS:
        kind_of_value, first = FIRST_CLASS[name]
        frame[response] = frame[response].astype(kind_of_value).isin(first).astype(int)
    frame = frame[frame[response].notna()].reset_index(drop=True)
    for column in frame:
        if isinstance(frame[column].dtype, pd.CategoricalDtype):
            frame[column] = frame[column].astype(object)
    varies = [c for c in frame if c == response or frame[c].nunique(dropna=True) > 1]
    frame = frame[varies]
    if kind == "gaussian":
        return frame.astype({response: float}), response, kind
    return frame.assign(**{response: frame[response].astype(str)}), response, kind


def drawn(frame, response, kind, split):
    """Rows to select on and new ones."""
    from sklearn.model_selection import train_test_split

    y = frame[response]
    n = min(2 * len(y) // 3, MOST_ROWS)
    stratify = None if kind == "gaussian" else y.to_numpy()
    train, new = train_test_split(
        np.arange(len(y)), train_size=n, random_state=split, stratify=stratify
    )
    return np.sort(train), np.sort(new[:MOST_NEW] if len(new) > MOST_NEW else new)


def sizes_of(p, sizes=SIZES):
    """Sizes to judge: names and numbers; those that reach p are left out."""
    sizes = {str(k): k for k in sizes if k < p}
    return sizes | {"25%": int(np.clip(round(p / 4), 1, MOST_SIZE))}


def selected(method, frame, response, kind, seed, sizes):
    """Columns by the name of the size: one order, or of our methods one call per distinct size."""
    if method not in OURS:
        order = peers.RANKS[method](frame, response, kind, seed)
        return {text: order[:k] for text, k in sizes.items()}
    form = METHODS[method](**REDUCED.get(method, {}))
    found = {}
    with one_thread():
        for k in sorted(set(sizes.values())):
            fit = treeselect.select(
                f"`{response}` ~ .", frame, method=form, k=k, family=kind, seed=seed, n_jobs=1,
                progress=False,
            )  # fmt: skip
            found[k] = [name.strip("`") for name in fit.variables]
    return {text: found[k] for text, k in sizes.items()}


# --- the judges ------------------------------------------------------------------------------


class Judges:
    """Mean score of two models on new rows; each set of columns is judged once."""

    def __init__(self, frame, response, kind, train, new):
        columns = frame.drop(columns=response)
        self._y = coded_y(frame[response], kind)
        self._columns = filled(columns).apply(lambda c: c if is_number(c) else pd.factorize(c)[0])
        self._train, self._new, self._kind, self._known = train, new, kind, {}

    def score(self, names):
        """AUC, R2 or explained log loss; nothing selected is 0.5, or 0."""
        key = tuple(sorted(names))
        if not key:
            return 0.5 if self._kind == "binomial" else 0.0
        if key not in self._known:
            X = self._columns[list(key)].to_numpy(dtype=float)
            scores = [self._of(model, X) for model in self._models()]
            self._known[key] = float(np.mean(scores))
        return self._known[key]

    def _models(self):
        from sklearn import ensemble

        word = "Regressor" if self._kind == "gaussian" else "Classifier"
        yield getattr(ensemble, f"RandomForest{word}")(
            100, min_samples_leaf=3, random_state=0, n_jobs=1
        )
        yield getattr(ensemble, f"HistGradientBoosting{word}")(
            max_iter=60, early_stopping=False, max_leaf_nodes=15, min_samples_leaf=10,
            random_state=0,
        )  # fmt: skip

    def _of(self, model, X):
        from sklearn.metrics import r2_score, roc_auc_score

        y, new = self._y, self._new
        model.fit(X[self._train], y[self._train])
        if self._kind == "gaussian":
            return r2_score(y[new], model.predict(X[new]))
        chance = model.predict_proba(X[new])
        if self._kind == "binomial":
            return roc_auc_score(y[new], chance[:, 1])
        place = np.searchsorted(model.classes_, y[new])
        own = np.maximum(chance[np.arange(len(new)), place], 1e-3)
        share = np.bincount(y[self._train], minlength=y.max() + 1) / len(self._train)
        return 1 - np.log(own).mean() / np.log(share[y[new]]).mean()


# --- one case, in a process of its own ---------------------------------------------------------


@lru_cache
def _warm(method, kind):
    """Load what a method needs before processes are started from this one."""
    if method in peers.RANKS and isinstance(peers.RANKS[method], partial):  # R starts anew anyway
        return
    frame, response, _ = simulated(kind)
    with quiet(), suppress(Exception):
        selected(method, frame, response, kind, 0, {"1": 1, "2": 2})


def timed(method, train, response, kind, seed, sizes, most):
    """What a method selects, its CPU seconds, and what went wrong; ended after `most` seconds."""
    _warm(method, kind)

    def quietly():
        with quiet():
            return selected(method, train, response, kind, seed, sizes)

    found, spent, problem = limited(quietly, most)
    return found or {}, spent, problem


def one_case(name, method, split, most, cache):
    """The row of a set, a split and a method."""
    if (name, split) not in cache:
        cache.clear()
        frame, response, kind = prepared(name)
        train, new = drawn(frame, response, kind, split)
        cache[name, split] = frame, response, kind, train, Judges(frame, response, kind, train, new)
    frame, response, kind, train, judges = cache[name, split]
    names = list(frame.drop(columns=response))
    sizes = sizes_of(len(names), SIZES if name in SETS else (1, 3))
    line = {"set": name, "method": method, "split": split, "n": len(train), "p": len(names)}
    if len(names) > 600 and method in SLOW_WHEN_WIDE:
        return line | {"seconds": np.nan, "problem": "not run beyond 600 columns"}
    seed = zlib.crc32(f"{name} {split}".encode()) % 10_000
    part = frame.iloc[train].reset_index(drop=True)
    given = (method, part, response, kind, seed, sizes)
    found, seconds, problem = timed(*given, most) if name in SETS else (selected(*given), 0.1, "")
    line |= {"seconds": round(seconds, 3), "problem": problem}
    for text, columns in found.items():
        line[f"score {text}"] = round(judges.score(columns), 6)
        line[f"found {text}"] = len(columns)
        line[f"columns {text}"] = json.dumps([names.index(c) for c in columns])
    return line


KEYS = ("set", "split", "method")
TEXTS = (*map(str, SIZES), "25%")
COLUMNS = [
    "set", "method", "split", "n", "p", "seconds", "problem",
    *(f"{what} {text}" for what in ("score", "found", "columns") for text in TEXTS),
]  # fmt: skip


def main():
    """Run what is missing, then write tables and figures."""
    run = Run(
        __doc__, sets=SETS, methods=ALL, splits=(0, 1, 2), seconds=60,
        quick={"sets": ("simulated",), "methods": QUICK, "splits": (0, 1)},
    )  # fmt: skip
    lacking, cache = peers.absent(), {}
    if unable := sorted(set(lacking) & set(run.methods)):
        print("Not here:", ", ".join(f"{m} ({lacking[m]})" for m in unable))
    done = run.stands("shootout", KEYS)
    for split in run.splits:
        for name in run.sets:
            for method in (m for m in run.methods if m not in lacking):
                if f"{name}, {split}, {method}" not in done:
                    line = one_case(name, method, split, run.seconds, cache)
                    line = pd.DataFrame([line]).reindex(columns=COLUMNS)
                    run.keep("shootout", line, by=KEYS)
    rows = run.kept("shootout", text=("problem",))
    chosen = [name for name in rows if name.startswith("columns")]
    rows[chosen] = rows[chosen].where(rows[chosen] != "")
    shootout_tables.write(run, rows, lacking)


if __name__ == "__main__":
    main()
