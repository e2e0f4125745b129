"""What the engine refuses, and what it gives where there is nothing to find."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tree_data import EVERYTHING, make_data

from treeselect.engine.columns import bin_columns
from treeselect.engine.forest.bagging import Sampling, bagged_forest
from treeselect.engine.forest.boosting import Boosting, boost
from treeselect.engine.losses import LogisticLoss, SquaredLoss
from treeselect.engine.tree.target import class_target, mean_target, newton_target
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, BREADTH_FIRST, DEPTH_FIRST, Growth
from treeselect.errors import DataError

N = 40
RNG = np.random.default_rng(0)
DATA = make_data(RNG.integers(1, 9, size=(3, N)), [False, True, False], [0, 1, 2])
Y = RNG.normal(size=N)
GROWTH = Growth(9, 1, EVERYTHING, 0.0)
BEST = GROWTH._replace(order=BEST_FIRST)


def forest(data=DATA, target=None, **changes):
    arguments = {
        "weight": np.ones(data.n_rows, dtype=np.int64), "n_trees": 2, "growth": GROWTH, "seed": 1,
        "rank": np.arange(data.n_groups),
    } | changes  # fmt: skip
    weight = arguments.pop("weight")
    return bagged_forest(
        data, mean_target(Y) if target is None else target, weight, **arguments
    ).trees


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: forest(weight=np.ones(N)), r"`weight` must be a contiguous array of int64 of"
         r" shape \(40,\).\n  Found: float64 of shape \(40,\)"),
        (lambda: forest(weight=np.ones(N - 1, dtype=np.int64)), r"Found: int64 of shape \(39,\)"),
        (lambda: forest(weight=[1] * N), "Found: list"),
        (lambda: forest(weight=np.zeros(N, dtype=np.int64)), "must sum to more than 0"),
        (lambda: forest(weight=np.full(N, 2**40)), "less than 1,099,511,627,776"),
        (lambda: forest(weight=-np.ones(N, dtype=np.int64)), "Found: -1 in row 0"),
        (lambda: forest(target=mean_target(np.arange(2.0 * N)[::2])), "float64 of shape"
         r" \(40,\), not contiguous"),
        (lambda: forest(target=mean_target(Y.astype(np.float32))), "Found: float32"),
        (lambda: forest(target=mean_target(np.where(Y > 0, np.nan, Y))), "must be finite"),
        (lambda: forest(target=newton_target(Y, -np.ones(N))), "`curvature` must be at least 0"),
        (lambda: forest(target=class_target(np.arange(N) % 3, 2)), "`label` must be below"),
        (lambda: forest(target=class_target(np.zeros(N), 1)), "`n_classes` must be from 2"),
        (lambda: forest(rank=np.arange(2)), "`rank`"),
        (lambda: forest(is_open=np.zeros(3)), "`is_open`"),
        (lambda: forest(penalty=SplitPenalty(np.ones(2), np.zeros(3))), "`scale`"),
        (lambda: forest(penalty=SplitPenalty(np.ones(3), np.zeros(3, dtype=int))), "`cost`"),
        (lambda: forest(penalty=SplitPenalty(np.ones(3), np.zeros(3), discounts={(0, 3): 0.5})),
         r"Found: 0.5 for \(0, 3\), of 3 groups"),
        (lambda: forest(penalty=SplitPenalty(np.ones(3), np.zeros(3), discounts={(0, 1): 2.0})),
         "`discounts` must be factors from 0 to 1"),
        (lambda: forest(growth=GROWTH._replace(max_depth=-1)), "`max_depth` must be at least 0"),
        (lambda: forest(growth=GROWTH._replace(min_weight=0)), "`min_weight` must be at least 1"),
        (lambda: forest(growth=GROWTH._replace(random_ties=True, order=BEST_FIRST)),
         "`random_ties`"),
        (lambda: forest(DATA._replace(codes=np.asfortranarray(DATA.codes))), "not contiguous"),
        (lambda: forest(DATA._replace(codes=DATA.codes.astype(int))), "`codes`"),
        (lambda: forest(DATA._replace(n_codes=np.full(3, 2, dtype=np.int32))),
         "`codes` must be below `n_codes`"),
        (lambda: forest(DATA._replace(group_of=np.array([0, 2, 1], dtype=np.int32))),
         "must not decrease"),
        (lambda: forest(DATA._replace(blocks=DATA.blocks[:, 1:].copy())), "`blocks`"),
        (lambda: forest(DATA._replace(codes=DATA.codes[:0])), "at least one column"),
        (lambda: bin_columns([], [], [], []), "at least one column"),
        (lambda: bin_columns([Y, Y[1:]], [np.zeros(1)] * 2, [0, 0], [0, 1]),
         r"of \[39, 40\] rows"),
        (lambda: boost(DATA, SquaredLoss(), Y, np.ones(N), 0.0, Boosting(2, 0.1, GROWTH),
                       seed=1, rank=np.arange(3)), "`order` must be BEST_FIRST"),
        (lambda: boost(DATA, SquaredLoss(), Y[1:], np.ones(N), 0.0, Boosting(2, 0.1, BEST),
                       seed=1, rank=np.arange(3)), "`y`"),
    ],
)  # fmt: skip
def test_what_is_refused(call, says):
    with pytest.raises(DataError, match=says):
        call()


ORDERS = [DEPTH_FIRST, BREADTH_FIRST, BEST_FIRST]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "target",
    [
        mean_target(np.full(N, 3.0)), newton_target(np.zeros(N), np.ones(N)),
        newton_target(Y, np.zeros(N)), class_target(np.zeros(N), 2),
        class_target(np.zeros(N), 2, entropy=True),
    ],
    ids=["mean", "newton", "no curvature", "gini", "entropy"],
)  # fmt: skip
def test_one_value_of_the_response_gives_a_stump(order, target):
    trees = forest(target=target, growth=GROWTH._replace(order=order))
    assert len(trees.nodes.column) == trees.n_trees


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("uncentred", [False, True])
def test_constant_columns_give_a_stump(order, uncentred):
    """R's RRF never returns on them."""
    constant = make_data(np.full((3, N), 4), [False, True, False], [0, 1, 2])
    penalty = SplitPenalty(np.full(3, 0.5), np.zeros(3), uncentred)
    for target in (mean_target(Y), class_target(Y > 0, 2)):
        growth = GROWTH._replace(order=order, all_open=True, n_candidates=2)
        trees = forest(
            constant, target, growth=growth, penalty=penalty, shared=True,
            sampling=Sampling(False, 0.63),
        )  # fmt: skip
        assert len(trees.nodes.column) == trees.n_trees


def test_a_constant_response_is_boosted_by_nothing():
    for loss, y in ((SquaredLoss(), np.full(N, 2.0)), (LogisticLoss(), np.ones(N))):
        weight = np.ones(N, dtype=np.int64)
        found = boost(
            DATA, loss, y, weight, 2.0, Boosting(3, 0.1, BEST._replace(max_leaves=4)), seed=1,
            rank=np.arange(3),
        )  # fmt: skip
        assert np.isfinite(found.eta).all()
        assert len(set(found.eta)) == 1


ENDLESS = """
import numpy as np
from treeselect.engine.columns import bin_columns, bin_edges
from treeselect.engine.forest.bagging import bagged_forest
from treeselect.engine.tree.workspace import UNBOUNDED, Growth
from treeselect.engine.tree.target import mean_target
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 100_000))
data = bin_columns(list(X), [bin_edges(c) for c in X], [0] * 30, np.arange(30))
print("ready", flush=True)
bagged_forest(
    data, mean_target(rng.normal(size=100_000)), np.ones(100_000, dtype=np.int64),
    n_trees=100_000, growth=Growth(UNBOUNDED, 1, 30, 0.0), seed=1, rank=np.arange(30), n_threads=2,
)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
def test_ctrl_c_stops_a_forest():
    """It would take hours: a forest that can't be stopped holds up the suite, and no slow machine
    fails."""
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert "KeyboardInterrupt" in error
