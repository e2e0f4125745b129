"""Counts of leaves in place of weights, values and gains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeselect
from treeselect.engine.growing.nodes import LEAF
from treeselect.modelfile.models import counts_of, with_counts


def grown(response, seed, weights=None):
    data = treeselect.datasets.load("titanic_correlated").head(300)
    data["w"] = 1.0 if weights is None else weights(np.random.default_rng(seed), len(data))
    fit = treeselect.select(f"{response} ~ . - w", data, method="mrmr", k=3, seed=seed, weights="w")
    return fit.model.fitted.joined()


def same(trees, others):
    return all(np.array_equal(a, b) for a, b in zip(trees.nodes, others.nodes, strict=True))


@given(seed=st.integers(0, 10**6), weighted=st.booleans())
def test_trees_of_zeros_and_ones_follow_from_their_leaves(seed, weighted):
    copies = (lambda rng, n: rng.integers(1, 4, size=n)) if weighted else None
    trees = grown("survived", seed, copies)
    counts = counts_of(trees)
    assert counts is not None
    none = trees.nodes._replace(
        value=trees.nodes.value * np.nan,
        gain=trees.nodes.gain * np.nan,
        weight=trees.nodes.weight * 0,
    )
    assert same(with_counts(trees._replace(nodes=none), counts), trees)


def test_trees_of_numbers_and_of_weights_that_are_no_counts_have_none():
    assert counts_of(grown("age", 1)) is None
    assert counts_of(grown("survived", 1, lambda rng, n: rng.uniform(0.5, 2, size=n))) is None


def test_a_node_is_the_sum_of_its_rows():
    trees = grown("survived", 2)
    counts = counts_of(trees)
    start = trees.start[:-1]
    leaves = trees.nodes.column == LEAF
    tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.start))[leaves]
    rows = np.bincount(tree, counts.weight)
    np.testing.assert_array_equal(trees.nodes.weight[start], rows)
    shares = np.bincount(tree, counts.ones) / rows
    np.testing.assert_array_equal(trees.nodes.value[start, 0], shares)


def test_nodes_with_the_same_child_are_refused():
    trees = grown("survived", 3)
    inner = np.flatnonzero(trees.nodes.column[: trees.start[1]] != LEAF)
    trees.nodes.left[inner[1]] = trees.nodes.left[inner[-1]]
    counts = counts_of(grown("survived", 3))
    with pytest.raises(ValueError, match=r"child|leads to"):
        with_counts(trees, counts)
