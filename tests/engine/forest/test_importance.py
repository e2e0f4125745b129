"""Importance by out-of-bag rows, and partial dependence: against naive twins, and known truths."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from naive import Stream, left_side
from tree_data import bag_of, grow_forest, make_data, problems

from treeselect.engine.columns import pack_blocks
from treeselect.engine.forest.bagging import ALL_ROWS, BOOTSTRAP, Sampling
from treeselect.engine.forest.dependence import partial_dependence
from treeselect.engine.forest.importance import out_of_bag_gains, permutation_importance
from treeselect.engine.forest.walk import predict_mean
from treeselect.engine.random import stream_seed, tree_seeds
from treeselect.engine.tree.target import (
    class_target,
    copies,
    mean_target,
    vector_target,
    weighted_mean_target,
)
from treeselect.engine.tree.workspace import UNBOUNDED, Growth


def small(kind):
    rng = np.random.default_rng(4)
    n = 90
    codes = rng.integers(0, 7, size=(5, n))
    data = make_data(codes, [False, True, False, False, True], [0, 1, 1, 2, 3])
    y = (codes[0] > 3) + 0.5 * (codes[1] == 2) + 0.3 * rng.normal(size=n)
    weight = rng.integers(0, 3, size=n)
    real = rng.random(n) * (weight > 0)
    if kind == "mean":
        return data, mean_target(y), weight, y[:, np.newaxis], weight.astype(float)
    if kind == "weighted":
        scaled = real / real[real > 0].mean()
        return data, weighted_mean_target(y, real), copies(real), y[:, np.newaxis], scaled
    if kind == "vector":
        several = np.column_stack([y, -2 * y + rng.normal(size=n)])
        return data, vector_target(several), weight, several, weight.astype(float)
    label = (y > 0.5) * 1 + (y > 1)
    return data, class_target(label, 3), weight, np.eye(3)[label], weight.astype(float)


def way(nodes, data, row, moved=None, group=None):
    """Nodes that a row passes; the columns of a group may have the values of another row."""
    at, path = 0, [0]
    while nodes.column[at] >= 0:
        j = nodes.column[at]
        here = moved if group is not None and data.group_of[j] == group else row
        code = data.codes[j, here : here + 1]
        left = left_side(code, nodes.code[at], nodes.missing_left[at], bool(data.is_factor[j]))
        at = int(nodes.left[at]) + (0 if left[0] else 1)
        path.append(at)
    return path


def add_gains(nodes, data, row, truth, share, into):
    """What the splits that a row passes gain in its truth, times a share, to their groups."""
    for a, b in pairwise(way(nodes, data, row)):
        change = (nodes.value[b] - nodes.value[a]) @ (truth[row] - nodes.value[0])
        into[data.group_of[nodes.column[a]]] += share * change


def each_tree(grown, sampling):
    """Nodes of each tree, its bag, and its out-of-bag rows, those of a group beside each other."""
    rows = grown.bags.in_rows
    for i, stream in enumerate(tree_seeds(grown.seed, grown.trees.n_trees)):
        drawn = bag_of(stream, grown.weight, sampling)
        yield grown.trees.one(i).nodes, drawn, rows[drawn[rows] == 0]


def forest(data, target, weight, sampling, n_trees=6, least=3):
    growth = Growth(UNBOUNDED, least, 2, 0.0)
    return grow_forest(data, target, weight, growth, n_trees, sampling, seed=5)


def naive_losses(grown, sampling, truth, row_weight):
    """What each tree loses by permuting each group."""
    data, n_trees = grown.data, grown.trees.n_trees
    permuting = tree_seeds(stream_seed(grown.seed, "permute"), n_trees)
    lost = np.zeros((n_trees, data.n_groups))
    for t, (nodes, _, outside) in enumerate(each_tree(grown, sampling)):
        total, stream = row_weight[outside].sum(), Stream(int(permuting[t]))
        for g in used_groups(nodes, data):
            shuffled = outside.copy()
            for r in range(len(shuffled) - 1):
                other = r + stream.below(len(shuffled) - r)
                shuffled[r], shuffled[other] = shuffled[other], shuffled[r]
            for i, other in zip(outside, shuffled, strict=True):
                errors = [
                    ((truth[i] - nodes.value[leaf]) ** 2).sum()
                    for leaf in (way(nodes, data, i)[-1], way(nodes, data, i, other, g)[-1])
                ]
                lost[t, g] += row_weight[i] * (errors[1] - errors[0]) / total
    return lost


def used_groups(nodes, data):
    return sorted(set(data.group_of[nodes.column[nodes.column >= 0]].tolist()))


@pytest.mark.parametrize("kind", ["mean", "weighted", "classes", "vector"])
@pytest.mark.parametrize(
    "sampling", [BOOTSTRAP, Sampling(False, 0.6), Sampling(groups=np.arange(90) % 20)]
)
def test_both_are_their_naive_twins(kind, sampling):
    data, target, weight, truth, row_weight = small(kind)
    grown = forest(data, target, weight, sampling)
    lost = naive_losses(grown, sampling, truth, row_weight)
    gained = np.zeros_like(lost)
    for t, (nodes, _, outside) in enumerate(each_tree(grown, sampling)):
        total = row_weight[outside].sum()
        for i in outside:
            add_gains(nodes, data, i, truth, row_weight[i] / total, gained[t])
    for expected, measure in ((lost, permutation_importance), (gained, out_of_bag_gains)):
        for n_threads in (1, 2):
            found = measure(grown._replace(n_threads=n_threads))
            np.testing.assert_allclose(found.mean, expected.mean(axis=0), atol=1e-9)
            np.testing.assert_allclose(
                found.standard_error, expected.std(axis=0, ddof=1) / np.sqrt(6), atol=1e-9
            )


def test_permuting_where_a_tree_uses_more_groups_than_a_word_has_bits():
    rng = np.random.default_rng(8)
    n, p = 240, 160
    data = make_data(rng.integers(0, 7, size=(p, n)), [False] * p, np.arange(p))
    y, weight = rng.normal(size=n), np.ones(n, dtype=np.int64)
    target = mean_target(y)
    grown = forest(data, target, weight, BOOTSTRAP, 1, least=1)
    for nodes, *_ in each_tree(grown, BOOTSTRAP):
        assert len(used_groups(nodes, data)) > 64
    expected = naive_losses(grown, BOOTSTRAP, y[:, np.newaxis], weight)
    found = permutation_importance(grown)
    np.testing.assert_allclose(found.mean, expected.mean(axis=0), atol=1e-9)


def grown_on(data, target, weight, n_trees=3, sampling=BOOTSTRAP):
    growth = Growth(UNBOUNDED, 1, 2, 0.0)
    return grow_forest(data, target, weight, growth, n_trees, sampling).trees


@given(problems(max_rows=40))
@settings(derandomize=True, max_examples=40)
def test_it_is_the_mean_prediction_with_columns_set(problem):
    data, gradient, weight, rng = problem
    trees = grown_on(data, class_target(gradient > 0, 2), weight)
    groups = [int(rng.integers(data.n_groups))]
    if data.n_groups > 1 and rng.random() < 0.5:
        groups.append((groups[0] + 1) % data.n_groups)
    before = [data.column(j).copy() for j in range(len(data.codes))]
    found = partial_dependence(lambda d: predict_mean(trees, d), data, weight, groups, max_points=6)
    for j, codes in enumerate(before):
        np.testing.assert_array_equal(data.column(j), codes)
    assert set(data.group_of[found.columns]) == set(groups)
    for point, mean in zip(found.points, found.mean, strict=True):
        changed = data._replace(codes=data.codes.copy(), wide=data.wide.copy())
        for j, code in zip(found.columns, point, strict=True):
            changed.column(int(j))[:] = code
        changed = changed._replace(blocks=pack_blocks(changed.codes))
        expected = np.average(predict_mean(trees, changed), axis=0, weights=weight)
        np.testing.assert_allclose(mean, expected, atol=1e-12)
    if len(groups) == 1:
        assert found.share.sum() == pytest.approx(1)
    assert len({tuple(point) for point in found.points}) == len(found.points)


def test_rows_of_weight_0_have_no_part():
    rng = np.random.default_rng(1)
    data = make_data(rng.integers(1, 5, size=(2, 60)), [False, True], [0, 1])
    weight = (np.arange(60) < 30) * 2
    trees = grown_on(data, mean_target(rng.normal(size=60)), weight, 1, ALL_ROWS)
    half = make_data(data.codes[:, :30], data.is_factor, data.group_of)
    a, b = (
        partial_dependence(lambda d: predict_mean(trees, d), d, w, [0])
        for d, w in ((data, weight), (half, np.ones(30)))
    )
    for x, y in zip(a, b, strict=True):
        np.testing.assert_allclose(x, y)
