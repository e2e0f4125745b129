"""All methods of the package and those of others on twenty real sets, judged on new rows.

    python benchmarks/shootout.py [--quick] [--jobs 2] [--splits 3] [--sets churn ...]
                                  [--methods exchange "R ranger" ...]

Each set is split three times: two thirds of the rows, at most 1,000, to select on, and the others,
at most 2,000, to judge; classes keep their shares. Every method selects 1, 2, 3, 5, 10 columns, and
a quarter of all (at most 50), on the first part alone; a factor is one column. Two models that
belong to none of the methods are fitted to these columns and rows, scikit-learn's random forest
(100 trees, leaves of at least 3) and its histogram boosting (100 rounds); the score is the mean of
their AUC (of several classes each against the rest), or R2, on the other rows.

Methods of the package are called once for each size (``peers.py`` has the others). A call for all
sizes of a split may take 120 CPU seconds; what it has found by then counts, and the other splits of
the set are not tried. CPU seconds include child processes.

Each set, split and method is a line of ``results/shootout.csv`` once it is done, and is not run
again. The tables and figures are made of all lines:

rank       mean over the sets of the rank of the mean score among the methods that ran there
score      mean over the sets of the score less that of scikit-learn's forest importance
stability  mean over the sets of Nogueira's index of the selections at the same size
front      no other method has a better mean rank and is as stable, or is as good and more stable
           (and the same with seconds)

The sets were chosen before any result was seen: those of the data folder with names and levels as
in their source, of at least 50 rows, one of each source; of gene expression three. parkinsons is
left out (its rows are recordings of 32 persons). Columns that give the response away are dropped.
The sets are read from the folder in TREESELECT_DATA, by default ../shared/data.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import time
import warnings
from multiprocessing.connection import Connection
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before libraries start threads: we fork

import joblib
import numpy as np
import pandas as pd
from forms import FORMS
from peers import PEERS, NotRun, Task, numbers_of, selections
from tables import arguments, data_folder

import treeselect
from treeselect.errors import TreeselectError

SIZES = (1, 2, 3, 5, 10)
MOST_SELECTED, MOST_ROWS, MOST_NEW = 50, 1_000, 2_000
LIMIT = 120
"""CPU seconds of a method for all sizes of a split."""

OURS = (
    "exchange", "controlburn", "rrf", "grrf", "rboost", "gbfs", "importance", "rfe", "lasso",
    "boruta", "mrmr", "cfs", "fcbf", "hsic_lasso", "svm_rfe", "varselrf", "stepwise",
)  # fmt: skip
METHODS = (*OURS, *PEERS)


class RealSet(NamedTuple):
    """A set of the data folder.

    Attributes
    ----------
    file, response : str
    kind : str
        "binary", "classes" or "number".
    without : tuple of str
        Columns that are names, or give the response away.
    """

    file: str
    response: str
    kind: str = "binary"
    without: tuple[str, ...] = ()


SETS = {
    "titanic": RealSet(
        "titanic_raw", "survived",
        without=("name", "ticket", "cabin", "boat", "body", "home_dest"),
    ),
    "adult": RealSet("adult", "income"),
    "german": RealSet("german_credit", "target"),
    "churn": RealSet("churn_raw", "churn", without=("phone_number",)),
    "chess": RealSet("chess_kr_vs_kp", "target"),
    "mushroom": RealSet("mushroom_raw", "target"),
    "sick": RealSet("sick", "target"),
    "colic": RealSet("horse_colic_raw", "surgical_lesion", without=("outcome",)),
    "spambase": RealSet("spambase", "type"),
    "musk": RealSet("musk", "Class"),
    "audit": RealSet(
        "audit_risk", "Risk",
        without=("Audit_Risk", "Inherent_Risk", "Score", "TOTAL", "Detection_Risk", "Risk_F",
                 "LOCATION_ID"),
    ),
    "madelon": RealSet("madelon", "target"),
    "colon": RealSet("gene/colon", "target"),
    "golub": RealSet("gene/golub", "target"),
    "prostate": RealSet("gene/prostate", "target"),
    "abalone": RealSet("abalone", "rings", "number"),
    "autos": RealSet("autos", "symboling", "number"),
    "anneal": RealSet("anneal", "target", "classes"),
    "waveform": RealSet("waveform21", "target", "classes"),
    "uspst": RealSet("uspst", "target", "classes"),
}  # fmt: skip


class Half(NamedTuple):
    """A split of a set: the columns, the codes or numbers of the response, and its two parts."""

    X: pd.DataFrame
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray


# --- data --------------------------------------------------------------------------------------


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns, text as categories; and the response as codes of classes or numbers."""
    chosen = SETS[name]
    frame = pd.read_parquet(data_folder() / f"{chosen.file}.parquet")
    frame = frame.drop(columns=list(chosen.without))
    y = frame.pop(chosen.response)
    for column in frame:
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = (
                frame[column].astype(str).where(frame[column].notna()).astype("category")
            )
    frame = frame.loc[:, [frame[c].nunique() > 1 for c in frame]]
    if chosen.kind == "number":
        return frame, y.to_numpy(dtype=float)
    return frame, y.astype("category").cat.codes.to_numpy(dtype=np.int64)


def split(name: str, number: int, *, quick: bool = False) -> Half:
    """One of the splits of a set; rows of each class in turn, in random order."""
    X, y = read(name)
    rng = np.random.default_rng([number, len(y)])
    order = rng.permutation(len(y))
    if SETS[name].kind != "number":
        place = pd.Series(y[order]).groupby(y[order]).cumcount().to_numpy()
        share = place / np.bincount(y)[y[order]]
        order = order[np.argsort(share, kind="stable")]
    train = np.sort(order[np.arange(len(y)) % 3 != 2][: 60 if quick else MOST_ROWS])
    test = np.sort(order[np.arange(len(y)) % 3 == 2][: 60 if quick else MOST_NEW])
    return Half(X, y, train, test)


def sizes_of(n_columns: int) -> dict[str, int]:
    """The sizes that a set allows, by the names they have in tables."""
    found = {str(k): k for k in SIZES if k < n_columns}
    return found | {"quarter": min(max(round(n_columns / 4), 1), MOST_SELECTED)}


# --- selection ---------------------------------------------------------------------------------


def our_selection(method: str, half: Half, k: int, kind: str, seed: int) -> list[str]:
    """Columns that a method of the package selects from the first part."""
    frame = half.X.iloc[half.train].reset_index(drop=True)
    y = half.y[half.train]
    family = {"binary": "binomial", "classes": "multinomial", "number": "gaussian"}[kind]
    response = y if kind == "number" else pd.Series(y).map("class {}".format)
    fit = treeselect.select(
        "response ~ .", frame.assign(response=np.asarray(response)), method=FORMS[method], k=k,
        seed=seed, family=family, n_jobs=1, progress=False, new_levels="missing",
    )  # fmt: skip
    return list(fit.selected)


def select_all(method: str, half: Half, kind: str, seed: int, answer: Connection) -> None:
    """Send each size's selection, and the CPU seconds so far; in a process of its own."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    sizes = tuple(sorted(set(sizes_of(half.X.shape[1]).values())))
    warnings.simplefilter("ignore")
    begin = _seconds()
    try:
        if method in PEERS:
            train = half.X.iloc[half.train].reset_index(drop=True)
            for name in train.select_dtypes("category"):
                train[name] = train[name].cat.remove_unused_categories()
            task = Task(train, half.y[half.train], kind, sizes, seed)
            for k, found in selections(method, task).items():
                answer.send((k, found, _seconds() - begin))
        else:
            for k in sizes:
                answer.send((k, our_selection(method, half, k, kind, seed), _seconds() - begin))
    except (NotRun, TreeselectError, ValueError) as error:
        answer.send((0, str(error).split("\n")[0], 0.0))
    answer.close()


def _seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def selected(method: str, half: Half, kind: str, seed: int) -> dict:
    """What a method finds within the limit: ``sets`` by size, ``seconds``, and ``why`` not."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    worker = context.Process(target=select_all, args=(method, half, kind, seed, theirs))
    worker.start()
    theirs.close()
    sets, seconds, why = {}, 0.0, ""
    while True:
        try:
            k, found, seconds_now = ours.recv()
        except EOFError:
            break
        if k:
            sets[k], seconds = found, seconds_now
        else:
            why = found
    worker.join()
    if worker.exitcode:
        if worker.exitcode not in (-24, -9):
            raise ChildProcessError(f"{method} ended with status {worker.exitcode}")
        why = f"more than {LIMIT} CPU s"
    return {"sets": sets, "seconds": round(seconds, 2), "why": why}


# --- judge -------------------------------------------------------------------------------------


class Judge:
    """Scores of sets of columns on the second part; each set is fitted once."""

    def __init__(self, half: Half, kind: str, n_trees: int = 100) -> None:
        self._half, self._kind, self._n_trees = half, kind, n_trees
        self._known: dict[frozenset[str], float] = {}

    def score(self, columns: list[str]) -> float:
        """The mean of forest and boosting."""
        key = frozenset(columns)
        if key not in self._known:
            self._known[key] = self._fitted(sorted(columns)) if columns else self._nothing()
        return self._known[key]

    def _nothing(self) -> float:
        return 0.0 if self._kind == "number" else 0.5

    def _fitted(self, columns: list[str]) -> float:
        from sklearn import ensemble
        from sklearn.metrics import r2_score, roc_auc_score

        half, n_trees = self._half, self._n_trees
        X = numbers_of(half.X[columns]).X
        y_train, y_test = half.y[half.train], half.y[half.test]
        few = min(20, max(2, len(half.train) // 10))
        if self._kind == "number":
            models = (
                ensemble.RandomForestRegressor(n_trees, min_samples_leaf=3, random_state=0),
                ensemble.HistGradientBoostingRegressor(
                    min_samples_leaf=few, max_iter=n_trees, random_state=0
                ),
            )
            return float(
                np.mean(
                    [
                        r2_score(y_test, m.fit(X[half.train], y_train).predict(X[half.test]))
                        for m in models
                    ]
                )
            )
        models = (
            ensemble.RandomForestClassifier(n_trees, min_samples_leaf=3, random_state=0),
            ensemble.HistGradientBoostingClassifier(
                min_samples_leaf=few, max_iter=n_trees, early_stopping=False, random_state=0
            ),
        )  # fmt: skip
        scores = []
        for model in models:
            chances = model.fit(X[half.train], y_train).predict_proba(X[half.test])
            if self._kind == "binary":
                scores.append(roc_auc_score(y_test, chances[:, 1]))
            else:
                present = np.intersect1d(np.unique(y_test), model.classes_)
                one = [
                    roc_auc_score(y_test == c, chances[:, list(model.classes_).index(c)])
                    for c in present
                ]
                scores.append(np.mean(one))
        return float(np.mean(scores))


# --- runs --------------------------------------------------------------------------------------


def lines_of(name: str, number: int, methods: tuple[str, ...], slow: set[str], *, quick: bool):
    """A line for each method on a split, as soon as it is known."""
    half, kind = split(name, number, quick=quick), SETS[name].kind
    judge = Judge(half, kind, 5 if quick else 100)
    place = {column: j for j, column in enumerate(half.X)}
    for method in methods:
        if method in slow:
            found = {"sets": {}, "seconds": np.nan, "why": f"more than {LIMIT} CPU s"}
        else:
            found = selected(method, half, kind, number)
        sets = {k: [c for c in columns if c in place] for k, columns in found["sets"].items()}
        sizes = sizes_of(half.X.shape[1])
        yield {
            "set": name,
            "split": number,
            "method": method,
            "seconds": found["seconds"],
            "why": found["why"],
            "columns": half.X.shape[1],
            "scores": json.dumps(
                {label: round(judge.score(sets[k]), 5) for label, k in sizes.items() if k in sets}
            ),
            "selected": json.dumps(
                {label: [place[c] for c in sets[k]] for label, k in sizes.items() if k in sets},
                separators=(",", ":"),
            ),
        }


def run_set(name: str, numbers, methods, done: set, path, *, quick: bool) -> None:
    """All that is missing of a set; each line is added to the file at once."""
    slow = {m for s, _, m, why in done if s == name and str(why).startswith("more than")}
    known = {(s, n, m) for s, n, m, _ in done}
    for number in numbers:
        missing = tuple(m for m in methods if (name, number, m) not in known)
        for line in lines_of(name, number, missing, slow, quick=quick) if missing else ():
            if str(line["why"]).startswith(f"more than {LIMIT}"):
                slow.add(line["method"])
            with path.open("a") as file:  # one write, which is atomic: sets run side by side
                file.write(pd.DataFrame([line]).to_csv(index=False, header=False))


HEADER = ("set", "split", "method", "seconds", "why", "columns", "scores", "selected")


def load(path) -> pd.DataFrame:
    """All lines so far."""
    if not path.exists():
        path.write_text(",".join(HEADER) + "\n")
    return pd.read_csv(path, keep_default_na=False)


def main() -> None:
    """Run what is missing, and write tables and figures."""
    from shootout_tables import write_all

    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    if options.quick:
        quick_run(write_all)
        return
    path = options.results / "shootout.csv"
    lines = load(path)
    done = set(lines[["set", "split", "method", "why"]].itertuples(index=False, name=None))
    joblib.Parallel(options.jobs)(
        joblib.delayed(run_set)(
            name, range(options.splits), tuple(options.methods), done, path, quick=False
        )
        for name in options.sets
    )
    write_all(load(path), options.results, set(OURS), quick=False)


def quick_run(write_all) -> None:
    """Two methods of ours and those that are installed of two others, on a small simulated set."""
    global read
    simulated = treeselect.datasets.simulate_friedman(120, seed=1).data
    number = simulated.pop("y")
    y = (number > number.median()).to_numpy(dtype=np.int64)
    read = lambda _: (simulated, y)  # noqa: E731
    lines = [
        line
        for number in (0, 1)
        for line in lines_of(
            "chess", number, ("mrmr", "sklearn forest", "sklearn lasso", "R RRF"), set(),
            quick=True,
        )
    ]  # fmt: skip
    write_all(pd.DataFrame(lines), None, set(OURS), quick=True)


if __name__ == "__main__":
    main()
