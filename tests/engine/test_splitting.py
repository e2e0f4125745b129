"""Histograms, splits and partitions against their naive twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from tree_data import SHIFT, problems

from treeselect.engine import naive
from treeselect.engine.histograms import add_block, add_column, add_small_column, list_present
from treeselect.engine.moments import Packing, choose_packing, pack_moments, unpack
from treeselect.engine.splitting import best_factor_split, best_number_split, partition

COMMON = settings(deadline=None, derandomize=True, max_examples=100)


def packed(data, gradient, weight):
    moments = np.zeros(data.n_rows, dtype=np.int64)
    rows = np.zeros(data.n_rows, dtype=np.uint32)
    n = pack_moments(
        gradient.astype(float), weight, np.ones_like(weight), SHIFT, 1.0, moments, rows
    )
    return moments, rows, n


@given(problems())
@COMMON
def test_histograms_are_sums_by_code(problem):
    data, gradient, weight, _ = problem
    moments, rows, n = packed(data, gradient, weight)
    for block in range(len(data.blocks)):
        eight = np.zeros(8 * 256, dtype=np.int64)
        add_block(data.blocks[block], moments, rows, 0, n, eight)
        for j in range(8 * block, min(8 * block + 8, len(data.codes))):
            one, small = np.zeros((2, 256), dtype=np.int64)
            present, listed = np.zeros((2, 256), dtype=np.int64)
            add_column(data.codes[j], moments, rows, 0, n, one)
            n_present = add_small_column(data.codes[j], moments, rows, 0, n, small, present)
            np.testing.assert_array_equal(one, small)
            np.testing.assert_array_equal(one, eight[256 * (j % 8) : 256 * (j % 8) + 256])
            sums, weights = naive.histogram(data.codes[j], gradient * weight, weight, rows[:n])
            g, w = unpack(one, Packing(SHIFT, 1.0))
            np.testing.assert_array_equal(g, sums)
            np.testing.assert_array_equal(w, weights)
            assert list_present(one, 0, data.n_codes[j], listed) == n_present
            np.testing.assert_array_equal(present[:n_present], np.unique(data.codes[j, rows[:n]]))
            np.testing.assert_array_equal(present[:n_present], listed[:n_present])


@given(problems())
@COMMON
def test_split_is_its_naive_twin_and_rows_are_partitioned_by_it(problem):
    data, gradient, weight, rng = problem
    moments, rows, n = packed(data, gradient, weight)
    min_weight = int(rng.integers(1, 4))
    inside = rows[:n].astype(int)
    total = moments[inside].sum()
    for j in range(len(data.codes)):
        histogram, present = np.zeros((2, 256), dtype=np.int64)
        n_present = add_small_column(data.codes[j], moments, rows, 0, n, histogram, present)
        for is_factor, kernel in ((True, best_factor_split), (False, best_number_split)):
            if n_present < 2:
                continue
            found = kernel(histogram, 0, present, n_present, total, SHIFT, min_weight)
            expected = naive.best_split(
                data.codes[j, inside],
                (gradient * weight)[inside],
                weight[inside],
                min_weight,
                is_factor=is_factor,
            )
            assert found == tuple(expected)
            if expected.code < 0:
                continue
            ordered, spare = rows.copy(), np.zeros_like(rows)
            middle = partition(
                data.codes[j], found[1], found[2], np.bool_(is_factor), ordered, spare, 0, n
            )
            left = naive.left_side(data.codes[j, inside], found[1], found[2], is_factor)
            np.testing.assert_array_equal(ordered[:middle], inside[left])
            np.testing.assert_array_equal(ordered[middle:n], inside[~left])


def test_packing_keeps_sums_exact_and_uses_the_room():
    rng = np.random.default_rng(0)
    gradient = rng.normal(size=5000)
    weight = rng.integers(1, 9, size=5000)
    shift, unit = choose_packing(gradient, int(weight.sum()))
    moments = np.zeros(5000, dtype=np.int64)
    rows = np.zeros(5000, dtype=np.uint32)
    pack_moments(gradient, weight, np.ones_like(weight), shift, unit, moments, rows)
    g, w = unpack(np.array([moments.sum(), moments[::-1].sum()]), Packing(shift, unit))
    assert w.tolist() == [weight.sum()] * 2
    assert g[0] == g[1]
    assert abs(g[0] - gradient @ weight) < 5000 / unit
    assert np.abs(gradient).max() * weight.sum() * unit < 2**53


def test_packing_of_zero_gradients():
    assert choose_packing(np.zeros(3), 3).unit == 1.0
