"""Incremental depth bagging and bag-boosting, and their schemes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_data import binned

from treeselect.engine.forest import bag_boosting
from treeselect.engine.forest.bagging import BOOTSTRAP, Sampling
from treeselect.engine.forest.walk import predict_sum
from treeselect.engine.losses import MultinomialLoss, PoissonLoss, SquaredLoss, mean_loss
from treeselect.engine.survival.cox import CoxLoss
from treeselect.engine.survival.times import as_times
from treeselect.errors import DataError

SQUARED = SquaredLoss()
RULES = bag_boosting.BagBoosting(
    tail=5, tolerance=1e-3, min_trees=10, max_trees=60, max_depth=9, min_weight=1, n_candidates=99
)


def data_and_response(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, n)).T
    return binned(x), x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * rng.normal(size=n)


def boost(data, y, weight=None, loss=SQUARED, seed=1, sampling=BOOTSTRAP, **changes):
    weight = np.ones(len(y), dtype=np.int64) if weight is None else weight
    return bag_boosting.bag_boost(
        data, loss, y, weight, loss.constant(y, weight), RULES._replace(**changes), seed=seed,
        rank=np.arange(4), sampling=sampling,
    )  # fmt: skip


def test_depth_grows_and_the_out_of_bag_loss_stops_it():
    data, y = data_and_response()
    bag = boost(data, y)
    assert bag.depths.tolist() == sorted(bag.depths)
    assert bag.depths[0] == 1
    assert 2 <= bag.depths[-1] < RULES.max_depth
    assert np.bincount(bag.depths)[1:].min() >= RULES.min_trees
    uses = bag.gains > 0
    assert (uses[bag.depths == 1].sum(axis=1) == 1).all()
    assert (uses.sum(axis=1) <= 2**bag.depths - 1).all()


@pytest.mark.parametrize("resampled", [False, True])
def test_noise_stops_early(resampled):
    """Copies of a row never stand on both sides, so noise stops a resample early, too."""
    data, _ = data_and_response()
    rng = np.random.default_rng(10 if resampled else 9)
    y = rng.normal(size=300)
    weight = np.bincount(rng.integers(0, 300, size=300), minlength=300) if resampled else None
    assert boost(data, y, weight).depths.max() <= 2


def test_constants_give_no_tree_and_bagging_grows_every_depth():
    data, y = data_and_response()
    a, b, c = (boost(data, y, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(a.gains, b.gains)
    assert not np.array_equal(a.gains[:5], c.gains[:5])
    bag = boost(data, np.ones(300))
    assert bag.leaves == []
    assert bag.gains.shape == (0, 4)
    weight = (np.arange(300) % 3 > 0).astype(np.int64)
    spoilt = np.where(weight > 0, y, 1e3)
    a, b = boost(data, y, weight), boost(data, spoilt, weight)
    np.testing.assert_array_equal(a.gains, b.gains)
    bag = boost(data, y, scheme=bag_boosting.BAGGING, max_depth=4)
    assert np.unique(bag.depths).tolist() == [1, 2, 3, 4]
    deep = np.flatnonzero(bag.depths == 4)
    fitted = y.mean() + np.mean([bag.values[t][bag.leaves[t], 0] for t in deep], axis=0)
    assert np.mean((y - fitted) ** 2) < 0.4 * y.var()  # each depth by itself, no residuals


@pytest.mark.parametrize("kind", ["one", "real"])
def test_a_bag_in_which_no_row_is_ever_at_risk_moves_nothing(kind):
    """All but four rows are censored before the first event: their curvature is 0."""
    data, _ = data_and_response(20)
    y = as_times(np.arange(1.0, 21.0), np.arange(20) >= 16)
    weight = np.ones(20, dtype=np.int64) if kind == "one" else np.linspace(0.5, 1.5, 20)
    bag = boost(data, y, weight, CoxLoss(), scheme=bag_boosting.BAGGING, max_depth=1, min_trees=60)
    assert 0 < len(bag.trees) < 60  # such bags have nothing to split, and their trees are left out
    assert np.isfinite(bag.improvements).all()  # but their predictions are in the means


def test_double_bag_boosting_repeats_a_depth_and_ends_where_trees_use_enough():
    data, y = data_and_response(2000)
    bag = boost(data, y, scheme=bag_boosting.DOUBLE)
    stages = [np.unique(bag.stages[bag.depths == d]) for d in np.unique(bag.depths)]
    assert max(len(own) for own in stages) > 1
    # What did not lower the out-of-bag loss is left out.
    assert (bag.improvements[np.unique(bag.stages)] > 0).all()
    assert (bag.improvements <= 0).any()
    every, few = boost(data, y), boost(data, y, most_groups=2)
    uses = (few.gains > 0).sum(axis=1)
    last = few.depths.max()
    assert last < every.depths.max()
    assert np.mean(uses[few.depths == last] > 2) > 0.5 >= np.mean(uses[few.depths == last - 1] > 2)


def test_single_feature_trees_take_turns():
    data, y = data_and_response(600)
    bag = boost(data, y, scheme=bag_boosting.SINGLE)
    assert ((bag.gains > 0).sum(axis=1) == 1).all()
    group = bag.gains.argmax(axis=1)
    for tree, leaf, value, own in zip(bag.trees, bag.leaves, bag.values, group, strict=True):
        used = tree.nodes.column[tree.nodes.column >= 0]
        assert (data.group_of[used] == own).all()
        np.testing.assert_array_equal(predict_sum(tree, data), value[leaf])
    first = bag.stages < data.n_groups  # each group once
    assert len(np.unique(group[first])) == first.sum()
    assert len(np.unique(bag.stages)) == len(bag.stages)  # a stage has one tree
    least = RULES.tolerance * y.var() / 2
    assert (bag.improvements[bag.stages] >= least).all()
    assert (np.delete(bag.improvements, bag.stages) < least).all()
    eta = y.mean() + sum(v[leaf, 0] for v, leaf in zip(bag.values, bag.leaves, strict=True))
    assert np.mean((y - eta) ** 2) < 0.7 * y.var()


@pytest.mark.parametrize(
    "loss", [SQUARED, PoissonLoss(), MultinomialLoss(3)], ids=lambda loss: type(loss).__name__
)
@pytest.mark.parametrize("scheme", bag_boosting.SCHEMES)
def test_the_loss_falls(loss, scheme):
    data, y = data_and_response()
    if loss.n_outputs > 1:
        y = np.digitize(y, [-0.5, 0.5]).astype(float)
    elif not loss.is_squared:
        y = np.random.default_rng(4).poisson(np.exp(y / 2)).astype(float)
    weight = np.ones(300, dtype=np.int64)
    bag = boost(data, y, weight, loss, scheme=scheme, max_depth=4)
    # Of single-feature trees the first round has a group that helps.
    assert bag.improvements[: data.n_groups if scheme == bag_boosting.SINGLE else 1].max() > 0
    if scheme == bag_boosting.BAGGING:
        return
    eta = start = np.zeros((300, loss.n_outputs)) + loss.constant(y, weight)
    for stage in np.unique(bag.stages):
        trees = np.flatnonzero(bag.stages == stage)
        eta = eta + np.mean([bag.values[t][bag.leaves[t]] for t in trees], axis=0)
    shaped = (eta, start) if loss.n_outputs > 1 else (eta[:, 0], start[:, 0])
    after, before = (mean_loss(loss.of(y, weight), one, weight) for one in shaped)
    assert after < (0.7 if loss.is_squared else 0.9) * before


def test_counts_real_weights_and_several_outputs_converge():
    data, y = data_and_response()
    classes = np.digitize(y, [-0.5, 0.5]).astype(float)
    with pytest.raises(DataError, match=r"whole numbers for trees of several"):
        boost(data, classes, np.full(300, 0.5), loss=MultinomialLoss(3))
    # The loss of counts may be near 0, or below, at the constant model: it is no scale itself.
    data, signal = data_and_response(600)
    y = np.random.default_rng(0).poisson(np.exp(1.0 + signal / 4)).astype(float)
    bag = boost(data, y, loss=PoissonLoss(), max_trees=200, max_depth=2)
    assert bag.converged
    assert len(bag.trees) < 150


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 3))
def test_adding_up_trees_is_its_naive_twin(seed, n, n_outputs):
    rng = np.random.default_rng(seed)
    sums = bag_boosting.no_sums(n, n_outputs)
    total, outside, n_outside = (array.copy() for array in sums)
    weight = rng.integers(0, 3, size=n)
    for _ in range(3):
        leaf = rng.integers(0, 4, size=n).astype(np.uint16)
        value, bag = rng.normal(size=(4, n_outputs)), rng.integers(0, 2, size=n)
        bag_boosting.add_tree(leaf, value, bag, weight, sums)
        is_outside = (bag == 0) & (weight > 0)
        total += value[leaf]
        outside[is_outside] += value[leaf][is_outside]
        n_outside += is_outside
    np.testing.assert_array_equal(sums.total, total)
    np.testing.assert_array_equal(sums.outside, outside)
    np.testing.assert_array_equal(sums.n_outside, n_outside)


def test_a_stage_stops_by_rows_of_other_groups():
    """A site effect is no news of other sites: with whole sites in the bags boosting ends."""
    rng = np.random.default_rng(3)
    site = np.repeat(np.arange(30), 10)
    data = binned(rng.normal(size=(4, 30)).T[site])
    y = rng.normal(size=30)[site] + rng.normal(size=300)
    apart, together = (
        boost(data, y, sampling=Sampling(groups=groups)).depths.max() for groups in (None, site)
    )
    assert together <= 2 < apart
