"""Boosting: against LightGBM, in limit cases, and on more threads than one; SAMME."""

import lightgbm
import numpy as np
import pytest
from tree_data import assert_same, binned

from treeselect.engine.columns import BinnedData
from treeselect.engine.forest.boosting import Boosting, boost, reweight
from treeselect.engine.forest.walk import predict_sum
from treeselect.engine.losses import LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from treeselect.engine.tree.used_groups import SplitPenalty
from treeselect.engine.tree.workspace import BEST_FIRST, UNBOUNDED, Growth

N, P = 6000, 10
LEAVES = Growth(UNBOUNDED, 20, UNBOUNDED, 0.0, order=BEST_FIRST, max_leaves=15, min_curvature=1e-3)
PEER = {
    "num_leaves": 15, "learning_rate": 0.1, "min_data_in_leaf": 20, "max_bin": 255, "verbose": -1,
    "num_threads": 1, "min_sum_hessian_in_leaf": 1e-3, "min_data_in_bin": 1, "seed": 1,
    "deterministic": True, "force_col_wise": True,
}  # fmt: skip
BOTH = pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()], ids=["squared", "logistic"])


def response(loss, y):
    return y if loss.is_squared else (y > 0) * 1.0


def simulate(missing=0.0) -> tuple[np.ndarray, BinnedData, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, P))
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] + np.sin(3 * X[:, 3]) + rng.normal(size=N)
    X[rng.random(X.shape) < missing] = np.nan
    return X, binned(X), y


def ours(data, loss, y, n_trees=20, weight=None, growth=LEAVES, base=None, step=0.1, **options):
    weight = np.ones(N, dtype=np.int64) if weight is None else weight
    base, rules = (
        loss.constant(y, weight) if base is None else base,
        Boosting(n_trees, step, growth),
    )
    return boost(data, loss, y, weight, base, rules, seed=1, rank=np.arange(P), **options)


def assert_as_good(loss, y, *etas):
    first, second = (loss.value(y, eta).mean() for eta in etas)
    assert first == pytest.approx(second, rel=0.005)


@pytest.mark.parametrize("kind", ["squared", "with gaps", "binary", "classes", "counts"])
def test_training_loss_is_lightgbms(kind):
    X, data, y = simulate(0.2 if kind == "with gaps" else 0.0)
    rng, loss, base, offset, options = np.random.default_rng(0), SquaredLoss(), None, None, {}
    if kind == "binary":
        y, loss, options = (y > 0) * 1.0, LogisticLoss(), {"objective": "binary"}
    elif kind == "classes":
        score = np.stack([X[:, 0], X[:, 1] * X[:, 2], X[:, 3]], axis=1)
        y, loss = np.argmax(score + rng.gumbel(size=score.shape), axis=1) * 1.0, MultinomialLoss(3)
        options = {"objective": "multiclass", "num_class": 3}
    elif kind == "counts":
        offset = rng.normal(size=N) * 0.5
        y = rng.poisson(np.exp(0.5 * X[:, 0] + 0.3 * X[:, 1] * X[:, 2] + offset)) * 1.0
        loss, options = PoissonLoss(), {"objective": "poisson", "poisson_max_delta_step": 1e-9}
        base = loss.constant(y, np.ones(N), offset) + offset
        options["boost_from_average"] = False
    train = lightgbm.Dataset(X, y, init_score=base)
    peer = lightgbm.train(PEER | {"objective": "l2"} | options, train, 20)
    found = ours(data, loss, y, base=base)
    theirs = peer.predict(X, raw_score=True) + (0 if base is None else base)
    assert_as_good(loss, y, found.eta, theirs)
    assert found.trees.n_trees == 20 * loss.n_outputs


def test_first_use_prices_choose_what_lightgbms_do():
    X, data, y = simulate()
    price = 60.0
    peer = lightgbm.train(
        PEER | {"objective": "l2", "cegb_penalty_feature_coupled": [price] * P},
        lightgbm.Dataset(X, y), 20,
    )  # fmt: skip
    is_open = np.zeros(P, dtype=np.bool_)
    found = ours(
        data, SquaredLoss(), y, penalty=SplitPenalty(np.ones(P), np.full(P, price / N)),
        is_open=is_open,
    )  # fmt: skip
    used = np.flatnonzero(peer.feature_importance()).tolist()
    assert np.flatnonzero(is_open).tolist() == used == [0, 3]
    assert_as_good(SquaredLoss(), y, found.eta, peer.predict(X))


@pytest.mark.parametrize(
    "loss",
    [SquaredLoss(), LogisticLoss(), MultinomialLoss(3)],
    ids=lambda loss: type(loss).__name__,
)
def test_the_trees_sum_up_and_are_the_same_for_any_number_of_threads(loss):
    _, data, y = simulate(0.05)
    y = np.digitize(y, [-1, 1]).astype(float) if loss.n_outputs > 1 else response(loss, y)
    penalty = SplitPenalty(np.ones(P), np.full(P, 0.01))
    one = ours(data, loss, y, 5, penalty=penalty)
    eta = predict_sum(one.trees, data) + loss.constant(y, np.ones(N))
    np.testing.assert_allclose(eta.reshape(one.eta.shape), one.eta, atol=1e-12)
    for n_threads in (2, 3):
        more = ours(data, loss, y, 5, penalty=penalty, n_threads=n_threads)
        np.testing.assert_array_equal(more.eta, one.eta)
        assert_same(more.trees.nodes, one.trees.nodes)


@BOTH
def test_real_weights_that_are_whole_are_copies(loss):
    _, data, y = simulate()
    y = response(loss, y)
    weight = np.random.default_rng(0).integers(0, 3, size=N)
    growth = LEAVES._replace(min_weight=1, max_leaves=6, min_curvature=1e-9)
    whole = ours(data, loss, y, 4, weight, growth)
    real = ours(data, loss, y, 4, weight.astype(float), growth)
    np.testing.assert_allclose(whole.eta[weight > 0], real.eta[weight > 0], atol=1e-8)


def test_boosting_ends_when_it_is_told_to():
    _, data, y = simulate()
    seen = []

    def after_round(number, eta, trees):
        seen.append(number)
        moved[0] += predict_sum(trees[0], data)[:, 0]
        np.testing.assert_allclose(eta, moved[0] + y.mean(), atol=1e-12)
        return number == 4

    moved = [np.zeros(N)]
    found = ours(data, SquaredLoss(), y, 9, after_round=after_round)
    assert found.trees.n_trees == 4
    assert seen == [1, 2, 3, 4]


def test_two_classes_are_adaboost_and_more_vote_while_they_beat_guessing():
    """After the step the round's classifier is as good as guessing."""
    weight = np.array([1.0, 2.0, 3.0, 0.0, 4.0])
    wrong = np.array([True, False, False, True, False])
    found = reweight(weight, wrong, 2)
    assert found.error == pytest.approx(0.1)
    assert found.vote == pytest.approx(np.log(9))
    assert found.weight.sum() == pytest.approx(1)
    assert found.weight[wrong].sum() == pytest.approx(0.5)
    assert found.weight[3] == 0
    weight = np.ones(10)
    wrong = np.arange(10) < 6
    assert reweight(weight, wrong, 2).vote == 0
    found = reweight(weight, wrong, 4)
    assert found.vote == pytest.approx(np.log(4 / 6) + np.log(3))
    # Guessing among K classes is right in 1 / K.
    assert found.weight[wrong].sum() == pytest.approx(0.75)


@pytest.mark.parametrize("wrong", [np.zeros(4, dtype=bool), np.ones(4, dtype=bool)])
def test_no_error_and_nothing_but_errors_begin_anew(wrong):
    found = reweight(np.array([0.5, 0.3, 0.2, 0.0]), wrong, 3)
    np.testing.assert_allclose(found.weight, [1 / 3, 1 / 3, 1 / 3, 0])
    assert np.isfinite(found.vote)
    assert (found.vote > 0) == (not wrong.any())
