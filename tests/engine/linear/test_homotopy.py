"""The exact path of a non-negative lasso; inner products of centred kernels."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from treeselect.engine.linear.homotopy import (
    Blocks,
    Homotopy,
    Kernel,
    all_rows,
    inner_products,
    shuffled_blocks,
    without_dependent,
)


def problem(seed, n_rows, n_columns, n_copies, n_free):
    """Columns with copies, sums and a constant among them; integer ones tie often."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-2, 3, size=(n_rows, n_columns)).astype(float)
    a = np.column_stack([a, a[:, :n_copies], a[:, :1] + a[:, -1:], np.zeros(n_rows)])
    a -= a.mean(axis=0)
    y = a[:, 0] + a[:, 1 % n_columns] + rng.normal(size=n_rows)
    prices = rng.integers(1, 4, size=a.shape[1]).astype(float)
    prices[:n_free] = 0.0
    return a.T @ a / n_rows, a.T @ (y - y.mean()) / n_rows, prices


def assert_optimal(w, pull, gram, near):
    excess = pull - gram @ w
    assert (w >= 0).all()
    assert excess.max() < near
    assert np.abs(excess[w > 1e-9]).max(initial=0.0) < near


@settings(max_examples=60)
@given(
    st.integers(0, 10_000), st.integers(5, 40), st.integers(2, 8), st.integers(0, 2),
    st.integers(0, 2),
)  # fmt: skip
def test_optimal_at_every_penalty(seed, n_rows, n_columns, n_copies, n_free):
    gram, linear, prices = problem(seed, n_rows, n_columns, n_copies, n_free)
    path = Homotopy(gram, linear, prices)
    top = path.segment(0).low
    for lam in (*(top * np.array([1.5, 1.0, 0.7, 0.3, 0.1, 0.02])), 1e-3):
        assert_optimal(path.at(lam), linear - lam * prices, gram, 1e-7)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 12))
def test_coordinates_without_a_price_may_be_sums_of_each_other(seed, rank, n_free):
    """More trees of kept terms than those can tell apart."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(30, rank)) @ rng.random((rank, n_free))
    a = np.column_stack([a, rng.normal(size=(30, 2))])
    y = a.sum(axis=1) + rng.normal(size=30)
    gram, linear = a.T @ a / 30, a.T @ y / 30
    prices = np.r_[np.zeros(n_free), 1.0, 2.0]
    path = Homotopy(gram, linear, prices)
    for lam in path.segment(0).low * np.array([1.5, 0.5, 0.1]):
        assert_optimal(path.at(lam), linear - lam * prices, gram, 1e-6)


def test_segments_join_with_free_and_constant_columns():
    rng = np.random.default_rng(1)
    a = np.column_stack([rng.random((20, 3)), np.zeros(20)])
    a = np.column_stack([a, a[:, 0], a[:, 1] + 2 * a[:, 2]])
    weights = np.array([1.0, 2.0, 3.0, 1.0, 0.5, 4.0])
    kept = without_dependent(a.T @ a, weights)
    assert len(kept) == np.linalg.matrix_rank(a[:, kept]) == 3
    found, rest = nnls(a[:, kept], a @ weights)
    assert rest < 1e-7
    assert (found > 0).all()
    path = Homotopy(*problem(3, 40, 8, 2, 1))
    segments = list(itertools.takewhile(bool, map(path.segment, itertools.count())))
    assert segments[0].high == np.inf
    assert segments[-1].low == 0.0
    for one, other in itertools.pairwise(segments):
        assert one.low == other.high
        assert len(set(one.active) ^ set(other.active)) == 1
        left = dict(zip(one.active, one.level - one.low * one.slope, strict=True))
        right = dict(zip(other.active, other.level - one.low * other.slope, strict=True))
        for j in set(left) | set(right):
            assert abs(left.get(j, 0.0) - right.get(j, 0.0)) < 1e-8
    path = Homotopy(np.eye(2), np.array([-1.0, 0.0]), np.ones(2))
    assert path.at(0.1).tolist() == [0.0, 0.0]
    assert path.segment(0).low == 0.0
    assert path.segment(1) is None
    gram = np.array([[0.8, 1e-17, 0.2], [1e-17, -1.7e-16, 1e-17], [0.2, 1e-17, 0.5]])
    path = Homotopy(gram, np.array([0.4, 1e-18, 0.3]), np.array([0.0, 0.0, 1.0]))
    w = path.at(0.05)
    assert w[0] > 0
    assert w[1] == 0


def definition(kernel):
    """The matrix of a kernel, entry by entry."""
    n = kernel.x.shape[1]
    matrix = np.ones((n, n))
    for i in range(n):
        for j in range(n):
            matrix[i, j] = np.exp(-0.5 * ((kernel.x[:, i] - kernel.x[:, j]) ** 2).sum())
            if kernel.labels is not None:
                matrix[i, j] *= kernel.labels[i] == kernel.labels[j]
            if kernel.scale is not None:
                matrix[i, j] *= kernel.scale[i] * kernel.scale[j]
    return matrix


def by_definition(kernels):
    n = kernels[0].x.shape[1]
    centring = np.eye(n) - np.ones((n, n)) / n
    centred = [centring @ definition(kernel) @ centring for kernel in kernels]
    return np.array([[(one * other).sum() for other in centred] for one in centred])


def some_kernels(seed, n):
    """One number, three together, levels by their sizes, levels alone, and all of it in one."""
    rng = np.random.default_rng(seed)
    x, labels = rng.normal(size=(3, n)), rng.integers(3, size=n)
    scale = 1 / np.sqrt(np.bincount(labels)[labels])
    nothing = np.empty((0, n))
    return [
        Kernel(x[:1]), Kernel(x / np.sqrt(3)), Kernel(nothing, labels, scale),
        Kernel(x[1:2], labels), Kernel(x[:2], labels, scale),
    ]  # fmt: skip


def rows_of(kernel, rows):
    """The same kernel for some rows, or for copies of rows."""
    return Kernel(
        kernel.x[:, rows],
        None if kernel.labels is None else kernel.labels[rows],
        None if kernel.scale is None else kernel.scale[rows],
    )


@pytest.mark.parametrize("most", [1, 50, 2**22])
def test_they_are_what_the_definition_says(monkeypatch, most):
    """Whatever the number of entries that are held at once."""
    monkeypatch.setattr("treeselect.engine.linear.homotopy._MOST_ENTRIES", most)
    kernels = some_kernels(0, 23)
    found = inner_products(kernels, all_rows(np.ones(23)))
    np.testing.assert_allclose(found, by_definition(kernels), rtol=1e-10)
    assert (found > 0).all()


def test_kernels_of_copies_shufflings_and_constants():
    kernels = some_kernels(1, 20)
    mass = np.random.default_rng(2).integers(1, 4, size=20)
    copied = [rows_of(kernel, np.repeat(np.arange(20), mass)) for kernel in kernels]
    found = inner_products(kernels, all_rows(mass * 1.0))
    np.testing.assert_allclose(found, by_definition(copied), rtol=1e-10)
    mass = np.arange(1.0, 32.0)
    blocks = shuffled_blocks(mass, 8, [5, 6])
    for half in (slice(0, 4), slice(4, 8)):
        there = blocks.mass[half] > 0
        assert sorted(blocks.rows[half][there]) == list(range(31))
        assert there.sum(axis=1).tolist() == [8, 8, 8, 7]
        np.testing.assert_array_equal(blocks.mass[half][there], mass[blocks.rows[half][there]])
    assert not np.array_equal(blocks.rows[:4], blocks.rows[4:])
    np.testing.assert_array_equal(blocks.rows, shuffled_blocks(mass, 8, [5, 6]).rows)
    assert isinstance(all_rows(mass), Blocks)
    assert all_rows(mass).rows.shape == (1, 31)
    assert Kernel(np.zeros((1, 4))).is_constant
    assert Kernel(np.empty((0, 4))).is_constant
    assert Kernel(np.empty((0, 4)), np.ones(4, dtype=int), np.ones(4)).is_constant
    assert not any(kernel.is_constant for kernel in some_kernels(0, 10))
    assert inner_products([], all_rows(np.ones(4))).shape == (0, 0)


@pytest.mark.parametrize("most", [300, 2**22])
def test_blocks_are_summed(monkeypatch, most):
    monkeypatch.setattr("treeselect.engine.linear.homotopy._MOST_ENTRIES", most)
    kernels = some_kernels(3, 31)
    blocks = shuffled_blocks(np.ones(31), 8, [5, 6])
    assert blocks.rows.shape == (8, 8)
    wanted = 0.0
    for rows, mass in zip(*blocks, strict=True):
        assert set(mass) <= {0.0, 1.0}
        wanted += by_definition([rows_of(kernel, rows[mass > 0]) for kernel in kernels])
    np.testing.assert_allclose(inner_products(kernels, blocks), wanted, rtol=1e-10)
