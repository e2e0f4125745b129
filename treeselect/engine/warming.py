"""A call of each kernel that few fits need, so that it is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.forest.bagging import Sampling, bagged_forest, drawn, first_gains
from treeselect.engine.forest.boosting import Boosting, boost
from treeselect.engine.forest.importance import out_of_bag_gains, permutation_importance
from treeselect.engine.forest.leaf_values import hazard_trees, in_order_of
from treeselect.engine.forest.out_of_bag import out_of_bag
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.linear.group_lasso import minimise_model
from treeselect.engine.losses import LogisticLoss, SquaredLoss
from treeselect.engine.survival.cox import CoxLoss, CoxRows
from treeselect.engine.survival.curves import uno_concordance
from treeselect.engine.survival.times import as_times
from treeselect.engine.tree.target import (
    class_target,
    mean_target,
    vector_target,
    weighted_mean_target,
)
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, BREADTH_FIRST, Growth


def grow_all() -> None:
    """Grow small forests of all kinds, read from them, and fit what else has kernels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 2000))
    factor = rng.integers(0, 5, size=2000).astype(np.uint8)
    columns, y, weight, rank = [*x[1:], factor], x[0], np.ones(2000, dtype=np.int64), np.arange(4)
    data, exact = (
        bin_columns(columns, [*(bin_edges(c, *most) for c in x[1:]), None], [0, 0, 0, 4], rank)
        for most in ((), (None,))
    )
    minimise_model(np.eye(2), np.ones(2), np.zeros(2), np.arange(3), np.ones(2), 1e-9)
    given: Any = {"seed": 1, "rank": rank}
    penalty = SplitPenalty(np.full(4, 0.5), np.zeros(4))
    targets = (mean_target(y), class_target(y > 0, 2), weighted_mean_target(y, abs(x[1])),
               vector_target(x.T[:, :2]))  # fmt: skip
    for target in targets:
        for order in (0, BREADTH_FIRST, BEST_FIRST):
            growth = Growth(5, 1, 2, 0.0, True, order, 8)
            forest = bagged_forest(
                data, target, weight, n_trees=2, growth=growth, penalty=penalty, shared=True,
                **given,
            )  # fmt: skip
            for measure in (out_of_bag, permutation_importance, out_of_bag_gains):
                measure(forest)
    grow = Growth(5, 1, 2, 0.0)
    grown = bagged_forest(
        data, mean_target(y), weight, n_trees=2, growth=grow, sampling=Sampling(False, 0.5), **given
    )  # fmt: skip
    first_gains(data, mean_target(y), weight, grow)
    drawn(grown.bags, 0, data.n_rows)
    predict_mean(
        bagged_forest(exact, mean_target(y), weight, n_trees=2, growth=grow, **given).trees, exact
    )
    in_order_of(grown.trees, np.ones(4, dtype=np.int8))
    hazard_trees(grown, weight, abs(y), abs(x[1]))
    boosting = Boosting(2, 0.1, Growth(5, 1, 9, 0.0, False, BEST_FIRST, 8))
    for loss, response in ((SquaredLoss(), y), (LogisticLoss(), (y > 0) * 1.0)):
        for n_threads in (1, 2):
            boost(data, loss, response, weight, 0.0, boosting, n_threads=n_threads, **given)
    for start in (None, abs(x[1])):
        times = as_times(abs(x[1]) + abs(x[2]), y > 0, start)
        rows = CoxRows(times, weight)
        rows.value(x[3])
        rows.derivatives(x[3])
        rows.score_residuals(x[3], x.T)
        uno_concordance(times, x[3], weight)
        boost(data, CoxLoss(), times, weight, 0.0, boosting, **given)
