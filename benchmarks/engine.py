"""The tree engine beside LightGBM and scikit-learn: CPU time of growing trees.

    python benchmarks/engine.py [--quick] [--only WORD] [--repeats 3]

Ours and the peer run in turn on the same data, `--repeats` times; the minimum of each counts. Data
are binned beforehand unless a row says otherwise. Times are CPU seconds of the whole process, wall
seconds where two threads share a tree. A row above its limit is told: MISSED. Needs lightgbm.

R's RRF has no wheel: its time on golub, 7.0 s for 1000 trees, was measured once on another machine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
from engine_processes import first_calls, memory

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
    """A line of the table."""

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
    best = [np.inf, np.inf]
    for _ in range(repeats):
        for which, call in enumerate((ours, peer)):
            begin = clock()
            call()
            best[which] = min(best[which], clock() - begin)
    return best[0], best[1]


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


def rrf_rows(size: Size, repeats: int) -> Iterator[Row]:
    """The rule of regularised random forests on golub, if the data are there."""
    import pandas as pd

    folder = os.environ.get("TREESELECT_DATA", "../shared/data")
    path = Path(folder) / "gene" / "golub.parquet"
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
            call = lambda: boosting(data, y, SquaredLoss(), 10)  # noqa: E731
            seconds.append(fastest(call, lambda: None, repeats)[0])
        factor = np.prod(np.divide(sizes[1], sizes[0]))
        exponent = float(np.log(seconds[1] / seconds[0]) / np.log(factor))
        note = f"{seconds[0]:.2f} s and {seconds[1]:.2f} s for {sizes[0]} and {sizes[1]}"
        yield Row(name, exponent, 1.0, 1.05, note)


def process_rows(size: Size, repeats: int) -> Iterator[Row]:
    """Memory, compilation and the first call of a process."""
    ours, peer = (
        min(memory(size.rows, size.columns, ours=which) for _ in range(repeats))
        for which in (True, False)
    )
    yield Row("peak memory above the data, MB", ours, peer, 1.0)
    if size is QUICK:
        return
    with tempfile.TemporaryDirectory() as cache:
        first, again = (first_calls(cache, whole=True) for _ in range(2))
        note = f"{first:.1f} s with imports and the work itself"
        yield Row("compilation of everything, CPU s", first - again, 1.0, 12.0, note)
        first_calls(cache, whole=False)
        warm = min(first_calls(cache, whole=False) for _ in range(repeats))
        yield Row("first forests of a process, CPU s", warm, 1.0, 0.6)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small data, no verdict")
    parser.add_argument("--only", default="", help="groups of rows whose name has this word")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    size, repeats = (QUICK, 1) if options.quick else (FULL, options.repeats)
    groups = (
        boosting_rows, family_rows, binning_rows, forest_rows, rrf_rows, factor_rows, growth_rows,
        process_rows,
    )  # fmt: skip
    load = os.getloadavg()[0]
    print(f"load {load:.1f}; at most {repeats} runs of each in turn", flush=True)
    print(f"{'row':38}{'ours':>9}{'peer':>9}{'ratio':>8}{'limit':>7}")
    for group in groups:
        if options.only not in group.__name__:
            continue
        for row in group(size, repeats):
            ratio = row.ours / row.peer if row.peer else np.nan
            late = ratio > row.limit  # no peer, no ratio
            print(
                f"{row.name:38}{row.ours:9.2f}{row.peer:9.2f}{ratio:8.3f}{row.limit:7.2f}"
                f"  {'MISSED  ' if late else ''}{row.note}",
                flush=True,
            )


if __name__ == "__main__":
    main()
