"""The kernels beside other libraries: CPU seconds of trees and their predictions.

    python benchmarks/engine.py [--quick] [--groups boosting ...] [--repeats 3]

Ours and the peer run in turn on the same data, `--repeats` times; the least of each counts. Data
are binned beforehand unless a row says otherwise. Times are CPU seconds of the whole process, wall
seconds where two threads share a tree. Peers that are not installed have no row.
"""

from __future__ import annotations

import os
import time
from functools import partial

import lightgbm as lgb
import numpy as np
import pandas as pd
from harness import Run, in_turns, is_here
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

from treeselect.engine.columns import MAX_BINS, bin_columns, bin_edges
from treeselect.engine.forest.bagging import bagged_forest
from treeselect.engine.forest.boosting import Boosting, boost
from treeselect.engine.forest.walk import predict_sum
from treeselect.engine.losses import LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from treeselect.engine.tree.target import class_target, mean_target
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, UNBOUNDED, Growth

LEAVES = Growth(UNBOUNDED, 20, UNBOUNDED, 0.0, False, BEST_FIRST, 31, 1e-3)
PEER = {
    "num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 20, "max_bin": 255,
    "min_sum_hessian_in_leaf": 1e-3, "verbose": -1, "seed": 1,
}  # fmt: skip


def numbers(n, p):
    """Independent numbers and a response with interactions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + rng.normal(size=n)
    return X, y


def binned(X, max_bins=MAX_BINS):
    """Our binning of a matrix."""
    p = X.shape[1]
    return bin_columns([*X.T], [bin_edges(c, max_bins) for c in X.T], [0] * p, np.arange(p))


def row(name, ours, peer, repeats, note="", clock=time.process_time):
    """A line of the table: least seconds of each, measured in turn."""
    ours()  # compiled, and in memory
    (a, _), (b, _) = in_turns({"ours": ours, "peer": peer}, repeats, clock).values()
    return {"row": name, "ours": a, "peer": b, "note": note}


def boosted(data, y, loss, rounds, penalty=None, n_threads=1):
    """Our boosting."""
    weight = np.ones(len(y), dtype=np.int64)
    return boost(
        data, loss, y, weight, loss.constant(y, weight), Boosting(rounds, 0.1, LEAVES), seed=1,
        rank=np.arange(data.n_groups), penalty=penalty, n_threads=n_threads,
    )  # fmt: skip


def boosting(size, repeats):
    """LightGBM by several losses, with a price for the first use of a column, and on two threads;
    scikit-learn's binning, and binning and boosting together."""
    n, p, rounds = size["rows"], size["columns"], size["rounds"]
    X, y = numbers(n, p)
    rng, data = np.random.default_rng(0), binned(X)
    label = np.argmax(X[:, :10] * np.arange(1, 11) + rng.gumbel(size=(n, 10)), axis=1) * 1.0
    count = rng.poisson(np.exp(0.5 * X[:, 0] + 0.3 * X[:, 1] * X[:, 2])) * 1.0
    price = 0.01 * n
    penalty = SplitPenalty(np.ones(p), np.full(p, price / n))
    l2, priced = {"objective": "l2"}, {"cegb_penalty_feature_coupled": [price] * p}
    classes = {"objective": "multiclass", "num_class": 10}
    counts = {"objective": "poisson", "poisson_max_delta_step": 1e-9}
    few = max(rounds // 10, 2)
    for name, response, loss, options, prices, n_threads, n_rounds in (
        ("squared loss", y, SquaredLoss(), l2, None, 1, rounds),
        ("with a first-use price", y, SquaredLoss(), l2 | priced, penalty, 1, rounds),
        ("two threads, wall s", y, SquaredLoss(), l2, None, 2, rounds),
        ("logistic loss", (y > 0) * 1.0, LogisticLoss(), {"objective": "binary"}, None, 1, rounds),
        ("10 classes", label, MultinomialLoss(10), classes, None, 1, few),
        ("counts", count, PoissonLoss(), counts, None, 1, rounds),
    ):
        theirs = lgb.Dataset(X, response, params=PEER, free_raw_data=False).construct()
        yield row(
            f"boosting, {name}",
            lambda: boosted(data, response, loss, n_rounds, prices, n_threads),
            lambda: lgb.train(PEER | options | {"num_threads": n_threads}, theirs, n_rounds),
            repeats, "LightGBM", clock=time.perf_counter if n_threads > 1 else time.process_time,
        )  # fmt: skip
    own = partial(_BinMapper(n_threads=1).fit_transform, X)
    yield row("binning", lambda: binned(X), own, repeats, "scikit-learn")
    peer = HistGradientBoostingRegressor(
        max_iter=rounds, max_leaf_nodes=31, early_stopping=False, random_state=0
    )
    yield row(
        "boosting, binning included", lambda: boosted(binned(X), y, SquaredLoss(), rounds),
        lambda: peer.fit(X, y), repeats, "scikit-learn on all threads, CPU counts",
    )  # fmt: skip


# --- forests -----------------------------------------------------------------------------------


def _of_ydf(X, two, n_trees):
    import ydf

    learner = ydf.RandomForestLearner(
        label="y", num_trees=n_trees, max_depth=-1, min_examples=1, num_candidate_attributes=7,
        winner_take_all=False, compute_oob_performances=False, num_threads=1,
        discretize_numerical_columns=True,
    )  # fmt: skip
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    return learner.train(columns | {"y": two.astype(int)}, verbose=0)


def _of_sklearnex(X, two, n_trees):
    from sklearnex.ensemble import RandomForestClassifier as Forest

    return Forest(n_trees, max_features=7, n_jobs=1, random_state=0).fit(X, two)


def _of_sklearn(X, two, n_trees):
    return RandomForestClassifier(n_trees, max_features=7, random_state=0).fit(X, two)


FORESTS = {"sklearn": _of_sklearn, "ydf": _of_ydf, "sklearnex": _of_sklearnex}
"""Forests of other libraries, by the module to import."""


def forests(size, repeats):
    """Fully grown forests, seven columns tried at a node, one thread."""
    X, score = numbers(size["forest rows"], 50)
    two, n_trees = score > 0, size["trees"]
    five = np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score)

    def ours(target, max_bins=MAX_BINS):
        bagged_forest(
            binned(X, max_bins), target, np.ones(len(X), dtype=np.int64), n_trees=n_trees,
            growth=Growth(UNBOUNDED, 1, 7, 0.0), seed=1, rank=np.arange(50),
        )  # fmt: skip

    note = f"{n_trees} trees, binning included"
    for name in filter(is_here, FORESTS):
        yield row(
            f"forest, {name}", lambda: ours(mean_target(two * 1.0)),
            lambda: FORESTS[name](X, two, n_trees), repeats, note,
        )  # fmt: skip
    for name, max_bins, target, label in (
        ("5 classes", MAX_BINS, class_target(five, 5), five),
        ("exact splits", None, mean_target(two * 1.0), two),
    ):
        yield row(
            f"forest, {name}, sklearn", lambda: ours(target, max_bins=max_bins),
            lambda: _of_sklearn(X, label, n_trees), repeats, note,
        )  # fmt: skip


def prediction(size, repeats):
    """New numbers by the boosted trees of each library, which all get the same frame."""
    X, y = numbers(size["rows"], 50)
    new, edges = pd.DataFrame(dict(enumerate(X[::-1].T))), [bin_edges(c) for c in X.T]
    model = boosted(binned(X), y, SquaredLoss(), size["rounds"])
    theirs = PEER | {"objective": "l2", "num_threads": 1}
    other = lgb.train(theirs, lgb.Dataset(X, y), size["rounds"])
    peers = {"LightGBM": lambda: other.predict(new, num_threads=1)}
    if is_here("xgboost"):
        import xgboost as xgb

        options = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide", "nthread": 1}
        booster = xgb.train(options, xgb.DMatrix(X, y, nthread=1), size["rounds"])
        peers["xgboost"] = lambda: booster.inplace_predict(new)

    def ours():
        columns = [new[j].to_numpy() for j in new]
        return predict_sum(model.trees, bin_columns(columns, edges, [0] * 50, np.arange(50)), 1)

    for name, peer in peers.items():
        yield row(f"prediction, {name}", ours, peer, repeats, "from a frame, binning included")


FULL = {"rows": 200_000, "columns": 100, "rounds": 100, "forest rows": 50_000, "trees": 10}
QUICK = {"rows": 1_500, "columns": 12, "rounds": 4, "forest rows": 800, "trees": 20}
GROUPS = {group.__name__: group for group in (boosting, forests, prediction)}


def main():
    """Write the table."""
    run = Run(__doc__, groups=GROUPS, repeats=3, quick={"repeats": 1})
    load = f"{os.getloadavg()[0]:.1f}"
    for group in run.groups:
        rows = GROUPS[group](run.pick(QUICK, FULL), run.repeats)
        run.keep("engine", [{**row, "load": load} for row in rows], by="row")
    found = run.kept("engine")
    found.insert(3, "ratio", (found["ours"] / found["peer"]).map("{:.2f}".format))
    run.table(
        "engine",
        found.assign(**{who: found[who].map("{:.2f}".format) for who in ("ours", "peer")}),
        "Kernels of treeselect beside those of others, CPU seconds, the least of several runs in"
        " turn. Load: how many processes the machine wanted to run.",
    )


if __name__ == "__main__":
    main()
