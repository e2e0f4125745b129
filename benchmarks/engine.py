"""The kernels beside LightGBM, scikit-learn and cvxpy: CPU time of trees and of ControlBurn.

    python benchmarks/engine.py [--quick] [--groups boosting_rows ...] [--repeats 3]

Ours and the peer run in turn on the same data, `--repeats` times; the minimum of each counts. Data
are binned beforehand unless a row says otherwise. Times are CPU seconds of the whole process, wall
seconds where two threads share a tree. A row above its limit is told: MISSED. Needs lightgbm; the
sparse-forest problem of ControlBurn needs cvxpy, whose solver CLARABEL runs once. YDF, XGBoost,
scikit-learn-intelex and treelite (requirements.txt) have rows where they are installed.

R's RRF has no wheel: its time on golub, 7.0 s for 1000 trees, was measured once on another machine.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
import pandas as pd
from harness import Run, data_folder, in_process, in_turns, peak_memory

import treeselect
from treeselect.engine.arrays import FloatArray
from treeselect.engine.columns import MAX_BINS, BinnedData, bin_columns, bin_edges
from treeselect.engine.forest.bagging import Sampling, bagged_forest
from treeselect.engine.forest.boosting import Boosting, boost
from treeselect.engine.losses import LogisticLoss, Loss, MultinomialLoss, PoissonLoss, SquaredLoss
from treeselect.engine.tree.target import class_target, mean_target
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, UNBOUNDED, Growth

LEAVES = Growth(UNBOUNDED, 20, UNBOUNDED, 0.0, False, BEST_FIRST, 31, 1e-3)
PEER = {
    "num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 20, "max_bin": 255,
    "min_sum_hessian_in_leaf": 1e-3, "verbose": -1, "seed": 1,
}  # fmt: skip


class Row(NamedTuple):
    """A line of the table: times, and the most that their ratio should be."""

    name: str
    ours: float
    peer: float
    limit: float
    note: str = ""


class Size(NamedTuple):
    """How large the data are."""

    rows: int
    columns: int
    rounds: int
    forest_rows: int
    trees: int


FULL = Size(200_000, 100, 100, 50_000, 100)
QUICK = Size(1_500, 12, 4, 800, 4)


def numbers(n: int, p: int) -> tuple[FloatArray, FloatArray]:
    """Independent numbers and a response with interactions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + rng.normal(size=n)
    return X, y


def binned(X: FloatArray, max_bins: int | None = MAX_BINS) -> BinnedData:
    """Our binning of a matrix."""
    columns = list(X.T)
    p = len(columns)
    return bin_columns(columns, [bin_edges(c, max_bins) for c in columns], [0] * p, np.arange(p))


def fastest(
    ours: Callable[[], Any], peer: Callable[[], Any], repeats: int, *, wall: bool = False
) -> tuple[float, float]:
    """Least seconds of each, measured in turn."""
    clock = time.perf_counter if wall else time.process_time
    ours()  # compiled, and in memory
    found = in_turns({"ours": ours, "peer": peer}, repeats, clock)
    return found["ours"][0], found["peer"][0]


def boosting(
    data: BinnedData,
    y: FloatArray,
    loss: Loss,
    rounds: int,
    penalty: SplitPenalty | None = None,
    n_threads: int = 1,
) -> FloatArray:
    """Our boosting; the linear predictor."""
    weight = np.ones(len(y), dtype=np.int64)
    return boost(
        data, loss, y, weight, loss.constant(y, weight), Boosting(rounds, 0.1, LEAVES), seed=1,
        rank=np.arange(data.n_groups), penalty=penalty, n_threads=n_threads,
    ).eta  # fmt: skip


def boosting_rows(size: Size, repeats: int) -> Iterator[Row]:
    """LightGBM, with and without a price for the first use of a column."""
    X, y = numbers(size.rows, size.columns)
    data = binned(X)
    binary = (y > 0).astype(float)
    price = 2000.0 * size.rows / FULL.rows
    penalty = SplitPenalty(np.ones(size.columns), np.full(size.columns, price / size.rows))
    coupled = {"cegb_penalty_feature_coupled": [price] * size.columns}
    cases: list[tuple[str, FloatArray, Loss, dict[str, Any], SplitPenalty | None, int, float]] = [
        ("boosting, squared loss", y, SquaredLoss(), {"objective": "l2"}, None, 1, 0.62),
        ("with a first-use price", y, SquaredLoss(), {"objective": "l2"} | coupled, penalty, 1,
         0.58),
        ("two threads, wall", y, SquaredLoss(), {"objective": "l2"}, None, 2, 0.95),
        ("boosting, logistic loss", binary, LogisticLoss(), {"objective": "binary"}, None, 1,
         0.80),
    ]  # fmt: skip
    for name, response, loss, options, prices, n_threads, limit in cases:
        peer_data = lgb.Dataset(X, response, params=PEER, free_raw_data=False).construct()
        found: dict[str, Any] = {}

        def ours() -> None:
            found["ours"] = boosting(data, response, loss, size.rounds, prices, n_threads)

        def peer() -> None:
            found["peer"] = lgb.train(
                PEER | options | {"num_threads": n_threads}, peer_data, size.rounds
            )

        a, b = fastest(ours, peer, repeats, wall=n_threads > 1)
        losses = [
            loss.value(response, eta).mean()
            for eta in (found["ours"], found["peer"].predict(X, raw_score=True))
        ]
        yield Row(name, a, b, limit, f"training loss {losses[0] / losses[1]:.4f} of the peer's")


def family_rows(size: Size, repeats: int) -> Iterator[Row]:
    """Ten classes, a tree for each in every round, and counts."""
    rng = np.random.default_rng(0)
    n, n_classes = size.rows // 2, 10
    X = rng.normal(size=(n, max(size.columns // 2, 10)))
    score = np.stack(
        [
            X[:, k % 7] * (1 + k % 3) + X[:, (k + 3) % 9] * X[:, (k + 1) % 5]
            for k in range(n_classes)
        ],
        axis=1,
    )
    label = np.argmax(score + rng.gumbel(size=(n, n_classes)), axis=1).astype(float)
    count = rng.poisson(np.exp(0.5 * X[:, 0] + 0.3 * X[:, 1] * X[:, 2])).astype(float)
    data = binned(X)
    cases: list[tuple[str, FloatArray, Loss, dict[str, Any]]] = [
        ("boosting, 10 classes", label, MultinomialLoss(n_classes),
         {"objective": "multiclass", "num_class": n_classes}),
        ("boosting, counts", count, PoissonLoss(),
         {"objective": "poisson", "poisson_max_delta_step": 1e-9}),
    ]  # fmt: skip
    for name, y, loss, options in cases:
        peer_data = lgb.Dataset(X, y, params=PEER, free_raw_data=False).construct()
        rounds = max(size.rounds // (10 if loss.n_outputs > 1 else 2), 2)
        a, b = fastest(
            lambda: boosting(data, y, loss, rounds),
            lambda: lgb.train(PEER | options | {"num_threads": 1}, peer_data, rounds),
            repeats,
        )
        yield Row(name, a, b, 0.90)


def binning_rows(size: Size, repeats: int) -> Iterator[Row]:
    """scikit-learn's binning, and binning and boosting together."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

    X, y = numbers(size.rows, size.columns)
    a, b = fastest(lambda: binned(X), lambda: _BinMapper(n_threads=1).fit_transform(X), repeats)
    yield Row("binning", a, b, 0.90)
    peer = HistGradientBoostingRegressor(
        max_iter=size.rounds, max_leaf_nodes=31, early_stopping=False, random_state=0
    )
    a, b = fastest(
        lambda: boosting(binned(X), y, SquaredLoss(), size.rounds), lambda: peer.fit(X, y), repeats
    )
    yield Row("boosting, binning included", a, b, 0.60, "the peer uses all threads, CPU counts")


def forest_rows(size: Size, repeats: int) -> Iterator[Row]:
    """scikit-learn's random forest, fully grown."""
    from sklearn.ensemble import RandomForestClassifier

    X, score = numbers(size.forest_rows, 50)
    data, exact = binned(X), binned(X, max_bins=None)
    weight = np.ones(size.forest_rows, dtype=np.int64)
    growth = Growth(UNBOUNDED, 1, 7, 0.0)
    five = np.searchsorted(np.quantile(score, [0.2, 0.4, 0.6, 0.8]), score)
    two = score > 0
    for name, used, target, label, limit in (
        ("forest, 2 classes", data, mean_target(two * 1.0), two, 0.10),
        ("forest, 5 classes", data, class_target(five, 5), five, 0.25),
        ("forest, 2 classes, exact splits", exact, mean_target(two * 1.0), two, 0.25),
    ):
        peer_trees = max(size.trees // 10, 1)  # the peer takes half a minute for all
        peer = RandomForestClassifier(peer_trees, max_features=7, random_state=0)
        a, b = fastest(
            lambda: bagged_forest(
                used, target, weight, n_trees=size.trees, growth=growth, seed=1,
                rank=np.arange(50),
            ),
            lambda: peer.fit(X, label),
            repeats,
        )  # fmt: skip
        times = size.trees / peer_trees
        yield Row(name, a, b * times, limit, f"the peer's time is that of {peer_trees} trees")


def peer_rows(size: Size, repeats: int) -> Iterator[Row]:
    """Forests of two classes, fully grown (LightGBM: 4,096 leaves, since each takes memory), seven
    columns tried at a node, without and with predictions out of bag, and predictions of new numbers
    by boosted trees, beside the libraries that are installed, each with one thread."""
    from treeselect.engine.forest.out_of_bag import out_of_bag
    from treeselect.engine.forest.walk import predict_sum

    X, score = numbers(size.forest_rows, 50)
    two, ones = score > 0, np.ones(size.forest_rows, dtype=np.int64)
    n_trees = max(size.trees // 10, 1)

    def ours(outside: bool) -> None:
        grown = bagged_forest(
            binned(X), mean_target(two * 1.0), ones, n_trees=n_trees,
            growth=Growth(UNBOUNDED, 1, 7, 0.0), seed=1, rank=np.arange(50),
        )  # fmt: skip
        if outside:
            out_of_bag(grown)

    for name, forest in FORESTS.items():
        if not is_there(name):
            continue
        for outside in (False, True) if name in ("ydf", "sklearnex") else (False,):
            a, b = fastest(lambda: ours(outside), lambda: forest(X, two, n_trees, outside), repeats)
            told = "and out of bag, " if outside else ""
            yield Row(f"forest {told}{name}", a, b, 1.0, f"{n_trees} trees, binning included")
    yield from prediction_rows(size, repeats, predict_sum)


def prediction_rows(size: Size, repeats: int, predict_sum: Callable[..., Any]) -> Iterator[Row]:
    """Predictions of new numbers by the boosted trees of each library; of treelite, by those of
    LightGBM."""
    X, y = numbers(size.rows, 50)
    new, _ = numbers(size.rows, 50)
    weight, loss = np.ones(len(y), dtype=np.int64), SquaredLoss()
    edges = [bin_edges(c) for c in X.T]
    model = boost(
        binned(X), loss, y, weight, loss.constant(y, weight), Boosting(size.rounds, 0.1, LEAVES),
        seed=1, rank=np.arange(50),
    )  # fmt: skip

    def ours() -> FloatArray:
        return predict_sum(model.trees, bin_columns(list(new.T), edges, [0] * 50, np.arange(50)), 1)

    theirs = PEER | {"objective": "l2", "num_threads": 1}
    other = lgb.train(theirs, lgb.Dataset(X, y), size.rounds)
    peers: dict[str, Callable[[], Any]] = {"LightGBM": lambda: other.predict(new, num_threads=1)}
    if is_there("treelite"):
        import treelite

        read = treelite.frontend.from_lightgbm(other)
        peers["treelite"] = lambda: treelite.gtil.predict(read, new, nthread=1)
    if is_there("xgboost"):
        import xgboost as xgb

        options = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide", "nthread": 1}
        booster = xgb.train(options, xgb.DMatrix(X, y, nthread=1), size.rounds)
        peers["xgboost"] = lambda: booster.inplace_predict(new)
    for name, peer in peers.items():
        yield Row(f"prediction, {name}", *fastest(ours, peer, repeats), 1.2, "binning included")


def is_there(name: str) -> bool:
    """Whether a library can be imported."""
    return importlib.util.find_spec(name) is not None


def _of_ydf(X: FloatArray, two: Any, n_trees: int, outside: bool) -> Any:
    import ydf

    learner = ydf.RandomForestLearner(
        label="y", num_trees=n_trees, max_depth=-1, min_examples=1, num_candidate_attributes=7,
        winner_take_all=False, compute_oob_performances=outside, num_threads=1,
        discretize_numerical_columns=True,
    )  # fmt: skip
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    return learner.train(columns | {"y": two.astype(int)}, verbose=0)


def _of_sklearnex(X: FloatArray, two: Any, n_trees: int, outside: bool) -> Any:
    from sklearnex.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        n_trees, max_features=7, oob_score=outside, n_jobs=1, random_state=0
    ).fit(X, two)


def _of_lightgbm(X: FloatArray, two: Any, n_trees: int, outside: bool) -> Any:
    options = {
        "boosting": "rf", "objective": "binary", "bagging_freq": 1, "bagging_fraction": 0.632,
        "feature_fraction_bynode": 7 / 50, "num_leaves": 4_096, "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0, "histogram_pool_size": 512, "verbose": -1, "num_threads": 1,
    }  # fmt: skip
    return lgb.train(options, lgb.Dataset(X, two * 1.0), n_trees)


def _of_xgboost(X: FloatArray, two: Any, n_trees: int, outside: bool) -> Any:
    import xgboost as xgb

    options = {
        "objective": "binary:logistic", "num_parallel_tree": n_trees, "subsample": 0.632,
        "colsample_bynode": 7 / 50, "learning_rate": 1, "max_depth": 0, "min_child_weight": 0,
        "reg_lambda": 0, "grow_policy": "lossguide", "nthread": 1,
    }  # fmt: skip
    return xgb.train(options, xgb.DMatrix(X, two * 1.0, nthread=1), 1)


FORESTS: dict[str, Callable[..., Any]] = {
    "ydf": _of_ydf, "sklearnex": _of_sklearnex, "lightgbm": _of_lightgbm, "xgboost": _of_xgboost,
}  # fmt: skip
"""Forests of other libraries, by the module to import."""


def rrf_rows(size: Size, repeats: int) -> Iterator[Row]:
    """The rule of regularised random forests on golub, if the data are there."""
    path = data_folder() / "gene" / "golub.parquet"
    if size is FULL and path.exists():
        frame = pd.read_parquet(path)
        X = frame.drop(columns="target").to_numpy(dtype=np.float64)
        label = (frame["target"] == frame["target"].iloc[0]).to_numpy(dtype=np.float64)
        n_trees, peer = 1000, 7.0
    else:
        X, score = numbers(72, 500)
        label, n_trees, peer = (score > 0) * 1.0, 20, np.nan
    data, p = binned(X), X.shape[1]
    growth = Growth(UNBOUNDED, 1, int(np.ceil(np.sqrt(p))), 0.0, all_open=True)
    found = {}

    def ours() -> None:
        found["open"] = np.zeros(p, dtype=np.bool_)
        bagged_forest(
            data, mean_target(label), np.ones(len(label), dtype=np.int64), n_trees=n_trees,
            growth=growth, seed=1, rank=np.arange(p), sampling=Sampling(False, 0.632),
            penalty=SplitPenalty(np.full(p, 0.8), np.zeros(p)), is_open=found["open"], shared=True,
        )  # fmt: skip

    a, _ = fastest(ours, lambda: None, repeats)
    yield Row(
        "RRF, golub, 1000 trees", a, peer, 0.03, f"{found['open'].sum()} columns kept; see above"
    )


def factor_rows(size: Size, repeats: int) -> Iterator[Row]:
    """A factor of 100 levels as one column, beside 100 dummies and beside a number."""
    rng = np.random.default_rng(1)
    n, n_levels = size.rows, 100 if size is FULL else 12
    X = rng.normal(size=(n, 10))
    level = rng.integers(0, n_levels, size=n)
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_levels)[level] + rng.normal(size=n)
    columns = [np.ascontiguousarray(c) for c in X.T]
    edges: list[FloatArray | None] = [bin_edges(c) for c in columns]
    code = (level + 1).astype(np.uint8)
    data = bin_columns([*columns, code], [*edges, None], [0] * 10 + [n_levels], np.arange(11))
    other = rng.normal(size=n)
    plain = bin_columns([*columns, other], [*edges, bin_edges(other)], [0] * 11, np.arange(11))
    dummies = np.column_stack([X, level[:, np.newaxis] == np.arange(n_levels)])
    peer_data = lgb.Dataset(dummies, y, params=PEER, free_raw_data=False).construct()
    options = PEER | {"objective": "l2", "num_threads": 1}

    def ours() -> FloatArray:
        return boosting(data, y, SquaredLoss(), size.rounds)

    a, b = fastest(ours, lambda: lgb.train(options, peer_data, size.rounds), repeats)
    yield Row("factor of 100 levels", a, b, 1.0, "the peer has 100 dummies")
    a, b = fastest(ours, lambda: boosting(plain, y, SquaredLoss(), size.rounds), repeats)
    yield Row("the same", a, b, 1.3, "beside a number in its place")


def growth_rows(size: Size, repeats: int) -> Iterator[Row]:
    """How the cost grows: ours is the exponent, the peer 1."""
    full = size is FULL
    for name, small, large in (
        ("exponent in rows", (50_000, 100), (800_000, 100)),
        ("exponent in columns", (200_000, 25), (200_000, 400)),
    ):
        sizes = [small, large] if full else [(500, 8), (2_000, 8)]
        seconds = []
        for n, p in sizes:
            X, y = numbers(n, p)
            data = binned(X)
            del X
            call = partial(boosting, data, y, SquaredLoss(), 10)
            seconds.append(fastest(call, lambda: None, repeats)[0])
        factor = np.prod(np.divide(sizes[1], sizes[0]))
        exponent = float(np.log(seconds[1] / seconds[0]) / np.log(factor))
        note = f"{seconds[0]:.2f} s and {seconds[1]:.2f} s for {sizes[0]} and {sizes[1]}"
        yield Row(name, exponent, 1.0, 1.05, note)


def sparse_rows(size: Size, repeats: int) -> Iterator[Row]:
    """ControlBurn's sparse-forest problem: its paths, and one penalty on a tenth of the rows beside
    cvxpy."""
    import cvxpy as cp

    from treeselect import ControlBurn
    from treeselect.algorithms.task import Task
    from treeselect.designs.weights import row_weights
    from treeselect.engine.sparse.forest import sparse_forest
    from treeselect.engine.sparse.path import solution_path
    from treeselect.engine.threads import one_thread

    n, one = (100_000, 10_000) if size is FULL else (200, 100)
    X, y = numbers(n, 20)
    X[:, 10:] = X[:, :10] + 0.3 * X[:, 10:]
    for kind, response, limit in (("numbers", y, 0.5), ("classes", (y > 0) * 1, 4.0)):
        frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(20)]).assign(y=response)
        fit = treeselect.select("y ~ .", frame, method="fcbf", k=1, seed=1, progress=False)
        problem, weight = fit.data.design.problem, np.ones(n, dtype=np.int64)
        task = Task(problem, row_weights(weight), seed=1, max_size=10)
        pool, _ = ControlBurn(forests=1 if size is QUICK else 3).pool(task)

        def forest(m: int) -> Any:
            rows = np.arange(m)
            return sparse_forest(
                pool.columns(rows, 1), problem.family.loss, problem.y[rows], weight[rows],
                problem.constant(weight)[rows], pool.uses.sum(axis=1).astype(float),
            )  # fmt: skip

        keep = np.zeros(20, dtype=bool)
        most = 20 if kind == "numbers" else 10
        with one_thread():
            a, _ = fastest(
                lambda: solution_path(forest(n), pool.uses, keep, most), lambda: None, repeats
            )
        yield Row(f"ControlBurn's path, {kind}, CPU s", a, 1.0, limit, f"{len(pool.trees)} trees")
    small = forest(one)
    columns = small.columns.block(np.arange(small.n_trees), slice(0, one)).T
    lam = 0.1 * small.largest_lam(small.empty())
    found: dict[str, Any] = {}

    def ours() -> None:
        found["ours"] = forest(one).solve(lam, small.empty())

    def peer() -> None:
        w, b = cp.Variable(columns.shape[1], nonneg=True), cp.Variable()
        eta = small.base + b + columns @ w
        mean = cp.sum(cp.multiply(small.share, cp.logistic(eta) - cp.multiply(small.y, eta)))
        task = cp.Problem(cp.Minimize(mean + lam * (small.prices @ w)))
        task.solve(solver=cp.CLARABEL)
        found["peer"] = float(task.value)

    with one_thread():
        a, b = fastest(ours, peer, 1)
    above = small.objective(found["ours"]) - found["peer"]
    yield Row("ControlBurn, one penalty", a, b, 0.01, f"objective {above:.1e} above cvxpy's")


def memory(rows: int, columns: int, ours: bool) -> float:
    """Megabytes that boosting takes at most above its data; LightGBM's unless ``ours``."""
    X, y = numbers(rows, columns)
    before = peak_memory()
    if ours:
        boosting(binned(X), y, SquaredLoss(), 5)
    else:
        lgb.train(PEER | {"objective": "l2", "num_threads": 1}, lgb.Dataset(X, y, params=PEER), 5)
    return peak_memory() - before


def first_calls(whole: bool) -> float:
    """CPU seconds of a process's first forests; of imports and whole calls, too, with ``whole``."""
    loaded = time.process_time()
    x = np.random.default_rng(0).normal(size=(2000, 4))
    data, rank, ones = binned(x), np.arange(4), np.ones(2000, dtype=np.int64)
    grow = Growth(UNBOUNDED, 1, 2, 0.0)
    for target in (mean_target(x[:, 0]), class_target(x[:, 0] > 0, 2)):
        bagged_forest(data, target, ones, n_trees=1, growth=grow, seed=1, rank=rank)
    if not whole:
        return time.process_time() - loaded
    for n_threads in (1, 2):
        boosting(data, x[:, 0], SquaredLoss(), 1, n_threads=n_threads)
    frame = treeselect.datasets.load("titanic_correlated")
    treeselect.select(
        "survived ~ .", frame, method="controlburn", k=3, seed=1, forests=1, n_trees=10
    ).predict(frame)
    return time.process_time()


def process_rows(size: Size, repeats: int) -> Iterator[Row]:
    """Memory, compilation and the first call of a process of its own."""
    taken = memory if size is QUICK else partial(in_process, memory)
    ours, peer = (
        min(taken(size.rows, size.columns, which) for _ in range(repeats))
        for which in (True, False)
    )
    yield Row("peak memory above the data, MB", ours, peer, 1.0)
    if size is QUICK:
        return
    with tempfile.TemporaryDirectory() as cache:
        own = {"TREESELECT_CACHE_DIR": cache}
        first, again = (in_process(first_calls, True, **own) for _ in range(2))
        note = f"{first:.1f} s with imports and the work itself"
        yield Row("compilation of everything, CPU s", first - again, 1.0, 12.0, note)
        in_process(first_calls, False, **own)
        warm = min(in_process(first_calls, False, **own) for _ in range(repeats))
        yield Row("first forests of a process, CPU s", warm, 1.0, 0.6)


GROUPS = {
    group.__name__: group
    for group in (
        boosting_rows, family_rows, binning_rows, forest_rows, peer_rows, rrf_rows, factor_rows,
        growth_rows, sparse_rows, process_rows,
    )
}  # fmt: skip


def main() -> None:
    """Write the table."""
    run = Run(__doc__, groups=GROUPS, repeats=3, quick={"repeats": 1})
    rows = []
    load = os.getloadavg()[0]
    for group in run.groups:
        for row in GROUPS[group](run.pick(QUICK, FULL), run.repeats):
            ratio = row.ours / row.peer if row.peer else np.nan
            late = "MISSED" if ratio > row.limit else ""  # no peer, no ratio
            rows.append({
                "row": row.name, "ours": f"{row.ours:.2f}", "peer": f"{row.peer:.2f}",
                "ratio": f"{ratio:.3f}", "limit": f"{row.limit:.2f}", "": late, "note": row.note,
            })  # fmt: skip
    run.table(
        "engine",
        rows,
        f"Kernels of treeselect beside others, at most {run.repeats} runs of each in turn; load of"
        f" the machine at the beginning {load:.1f}.",
    )


if __name__ == "__main__":
    main()
