"""Inner products of centred kernels: the definition by centring matrices, weights and blocks."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.engine.linear.homotopy import (
    Blocks,
    Kernel,
    all_rows,
    inner_products,
    shuffled_blocks,
)


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


def naive(kernels):
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
        Kernel(x[:1]),
        Kernel(x / np.sqrt(3)),
        Kernel(nothing, labels, scale),
        Kernel(x[1:2], labels),
        Kernel(x[:2], labels, scale),
    ]


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
    np.testing.assert_allclose(found, naive(kernels), rtol=1e-10)
    assert (found > 0).all()


def test_whole_weights_are_copies_of_rows():
    kernels = some_kernels(1, 20)
    mass = np.random.default_rng(2).integers(1, 4, size=20)
    copied = [rows_of(kernel, np.repeat(np.arange(20), mass)) for kernel in kernels]
    found = inner_products(kernels, all_rows(mass * 1.0))
    np.testing.assert_allclose(found, naive(copied), rtol=1e-10)


@pytest.mark.parametrize("most", [300, 2**22])
def test_blocks_are_summed(monkeypatch, most):
    monkeypatch.setattr("treeselect.engine.linear.homotopy._MOST_ENTRIES", most)
    kernels = some_kernels(3, 31)
    blocks = shuffled_blocks(np.ones(31), 8, [5, 6])
    assert blocks.rows.shape == (8, 8)
    wanted = 0.0
    for rows, mass in zip(*blocks, strict=True):
        assert set(mass) <= {0.0, 1.0}
        wanted += naive([rows_of(kernel, rows[mass > 0]) for kernel in kernels])
    np.testing.assert_allclose(inner_products(kernels, blocks), wanted, rtol=1e-10)


def test_each_shuffling_has_each_row_once():
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


def test_of_two_factors_they_are_tschuprows_t():
    """With norms of 1: chi squared by the rows and the root of both degrees of freedom."""
    from scipy.stats.contingency import association

    rng = np.random.default_rng(4)
    a, b = rng.integers(3, size=60), rng.integers(4, size=60)
    nothing = np.empty((0, 60))
    kernels = [Kernel(nothing, c, 1 / np.sqrt(np.bincount(c)[c])) for c in (a, b)]
    found = inner_products(kernels, all_rows(np.ones(60)))
    table = np.bincount(4 * a + b, minlength=12).reshape(3, 4)
    t = association(table, method="tschuprow")
    assert found[0, 1] / np.sqrt(found[0, 0] * found[1, 1]) == pytest.approx(t**2, rel=1e-10)


def test_what_is_constant():
    assert Kernel(np.zeros((1, 4))).is_constant
    assert Kernel(np.empty((0, 4))).is_constant
    assert Kernel(np.empty((0, 4)), np.ones(4, dtype=int), np.ones(4)).is_constant
    assert not any(kernel.is_constant for kernel in some_kernels(0, 10))
    assert inner_products([], all_rows(np.ones(4))).shape == (0, 0)
