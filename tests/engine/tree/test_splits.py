"""Packing, histograms, splits and partitions against their naive twins."""

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_data import both_targets, from_python, problems

from treeselect.engine.columns import OTHER
from treeselect.engine.tree import bounds, histogram, target
from treeselect.engine.tree import node as partitions
from treeselect.engine.tree import split_outputs as class_splitting
from treeselect.engine.tree import splits as splitting
from treeselect.engine.tree.bounds import Bounds
from treeselect.engine.tree.node import Question
from treeselect.engine.tree.split_outputs import OutputSums
from treeselect.engine.tree.splits import Listed
from treeselect.engine.tree.target import (
    ENTROPY,
    GINI,
    MEAN,
    NEWTON,
    class_target,
    mean_target,
    unit_for,
)
from treeselect.engine.tree.workspace import Growth, Rule, scratch

COMMON = settings(derandomize=True, max_examples=60)
FREE = Bounds(False, 0, -np.inf, np.inf)


add_block = from_python(histogram.add_block)
add_column = from_python(histogram.add_column)
add_cells = from_python(histogram.add_cells)
add_cells_of_classes = from_python(histogram.add_cells_of_classes)
list_codes = from_python(histogram.list_codes)
list_wide_codes = from_python(histogram.list_wide_codes)
best_dense_split = from_python(splitting.best_dense_split)
best_listed_split = from_python(bounds.best_listed_split)
best_short_split = from_python(splitting.best_short_split)
sums_of_node = from_python(splitting.sums_of_node)
best_class_split = from_python(class_splitting.best_class_split)
partition = from_python(partitions.partition)
pack_rows = from_python(target.pack_rows)


def unpack(moments, packing):
    """Gradient and weight sums of sums of moments."""
    weight = moments & ((1 << packing.shift) - 1)
    return (moments >> packing.shift) / packing.unit, weight


class Packed:
    """Rows of a problem, packed."""

    def __init__(self, target, weight):
        n = len(weight)
        packed, second = np.zeros((2, n), dtype=np.int64)
        rows = np.zeros(n, dtype=np.uint32)
        ones = np.ones(n, dtype=np.int64)
        self.pack = pack_rows(target, weight, ones, packed, second, rows)
        self.rows = rows[: self.pack.n_in]
        self.inside = self.rows.astype(int)
        self.moments, self.second = packed[self.inside], second[self.inside]

    def column(self, codes, target):
        """Histogram of a column, and its codes."""
        is_wide = codes.dtype == np.uint16
        n_codes = 2**16 if is_wide else 256
        present, touched = np.zeros(n_codes + 1, dtype=np.int64), np.zeros(1040, dtype=np.uint64)
        cells = np.zeros(len(self.rows), dtype=np.uint16)
        n_present = (list_wide_codes if is_wide else list_codes)(
            codes, self.rows, touched, present, cells
        )
        np.testing.assert_array_equal(cells, codes[self.inside])
        assert not touched.any()
        histogram = np.zeros(n_codes * max(2, target.n_classes), dtype=np.int64)
        if target.kind >= GINI:
            labels = target.label[self.inside]
            add_cells_of_classes(cells, self.moments, labels, target.n_classes, histogram)
            return histogram, present, n_present
        second = self.second if target.kind == NEWTON else self.second[:0]
        add_cells(cells, self.moments, second, histogram)
        if not is_wide:  # the same without the list
            again = np.zeros_like(histogram)
            add_column(codes, self.rows, self.moments, second, again)
            np.testing.assert_array_equal(again, histogram)
        return histogram, present, n_present


@given(problems())
@COMMON
def test_histograms_are_sums_by_code(problem):
    data, gradient, weight, rng = problem
    target, naive_rows = both_targets(NEWTON, gradient, weight, rng)
    packed = Packed(target, weight)
    for block in range(len(data.blocks)):
        eight, pairs = np.zeros(8 * 256, dtype=np.int64), np.zeros(8 * 512, dtype=np.int64)
        for second, room in ((packed.second[:0], eight), (packed.second, pairs)):
            add_block(data.blocks[block], packed.rows, packed.moments, second, room)
        for j in range(8 * block, min(8 * block + 8, len(data.codes))):
            if data.wide_at[j] >= 0:
                continue
            one, present, n_present = packed.column(data.codes[j], target)
            k = j % 8
            np.testing.assert_array_equal(one[::2], eight[256 * k : 256 * k + 256])
            np.testing.assert_array_equal(one, pairs[512 * k : 512 * k + 512])
            sums, weights = naive.histogram(data.codes[j], gradient * weight, weight, packed.inside)
            g, w = unpack(one[::2], packed.pack)
            np.testing.assert_array_equal(g, sums)
            np.testing.assert_array_equal(w, weights)
            curvatures, _ = naive.histogram(
                data.codes[j], naive_rows.curvature, weight, packed.inside
            )
            np.testing.assert_array_equal(one[1::2] / packed.pack.second_unit, curvatures)
            codes = {0, *data.codes[j, packed.inside].tolist()}
            assert present[:n_present].tolist() == sorted(codes)


@given(problems(), st.sampled_from([MEAN, NEWTON, GINI, ENTROPY]))
@COMMON
def test_split_is_its_naive_twin_and_rows_are_partitioned_by_it(problem, kind):
    data, gradient, weight, rng = problem
    target, rows = both_targets(kind, gradient, weight, rng)
    packed = Packed(target, weight)
    pack, inside = packed.pack, packed.inside
    growth = Growth(9, int(rng.integers(1, 4)), 9, 0.0, min_curvature=0.5)
    rule = Rule(growth.min_weight, 0.5 * pack.second_unit)
    own = rows.take(inside)
    if kind >= GINI:
        total = np.zeros(target.n_classes, dtype=np.int64)
        np.add.at(total, own.label, packed.moments)
        size = 1.0
    else:
        total = np.array([packed.moments.sum(), packed.second.sum()])
        size = float(own.weight.sum() if kind == MEAN else total[1])
    node = sums_of_node(pack, total, 0.0)
    share = float(rng.choice([0.5, 1 - 1e-9, 1.1]))  # of the best score, that is of use
    outputs = OutputSums(kind, target.n_classes, total, pack.shift, pack.unit)
    for j in range(len(data.codes)):
        codes = data.column(j)
        other = OTHER if codes.dtype == np.uint8 else -1
        cells, present, n_present = packed.column(codes, target)
        for is_factor in (True, False):
            room = scratch(target.n_classes)
            listed = Listed(cells, present, n_present, is_factor, other)
            expected = naive.best_split(codes[inside], own, growth, is_factor=is_factor)
            if kind >= GINI:
                found = [best_class_split(listed, outputs, rule, room, FREE)]
            else:
                found = [best_listed_split(listed, node, rule, FREE)]
            if kind < GINI and n_present <= 256:
                again = cells.copy()
                found.append(best_short_split(listed._replace(histogram=again), node, rule, room))
                assert not again.any()
            if kind < GINI and codes.dtype == np.uint8:
                dense = (cells, int(data.n_codes[j]), is_factor)
                found.append(best_dense_split(*dense, node, rule, room))
                score = found[-1][0]
                enough = node._replace(least=score * share)
                passed = best_dense_split(*dense, enough, rule, room)
                assert passed == found[-1] or (share > 1.0 and passed[:2] == (0.0, -1))
            for score, code, missing_left in found:
                whole = own.weight.sum() if kind < GINI else own.gradient.sum()
                gain = score / size * pack.to_gain * whole
                if kind == ENTROPY:  # logarithms are rounded in more than one way
                    assert gain == pytest.approx(expected.gain, rel=1e-9, abs=1e-9)
                    continue
                assert gain == pytest.approx(expected.gain, rel=1e-14)
                assert (code, missing_left) == expected[1:]
            if expected.code < 0 or codes.dtype == np.uint16:
                continue
            ordered, spare = packed.rows.copy(), np.zeros_like(packed.rows)
            asked = Question(expected.code, expected.missing_left, is_factor)
            middle = partition(codes, asked, ordered, spare, 0, len(ordered))
            left = naive.left_side(codes[inside], expected.code, expected.missing_left, is_factor)
            np.testing.assert_array_equal(ordered[:middle], inside[left])
            np.testing.assert_array_equal(ordered[middle:], inside[~left])


@pytest.mark.parametrize("share", [0.0, 0.002, 0.01, 0.5, 0.97, 0.999, 1.0])
@pytest.mark.parametrize("n", [31, 600, 5000])
def test_rows_of_any_share_are_partitioned(share, n):
    rng = np.random.default_rng(n)
    codes = np.where(rng.random(2 * n) < share, 3, rng.integers(4, 200, 2 * n)).astype(np.uint8)
    rows = np.sort(rng.choice(2 * n, n + 7, replace=False)).astype(np.uint32)
    before, spare = rows.copy(), np.zeros_like(rows)
    level = Question(3, missing_left=False, is_factor=True)
    middle = partition(codes, level, rows, spare, 4, n + 4)
    np.testing.assert_array_equal(rows[:4], before[:4])
    np.testing.assert_array_equal(rows[n + 4 :], before[n + 4 :])
    inside = before[4 : n + 4]
    assert sorted(rows[4:middle]) == sorted(inside[codes[inside] == 3])
    assert sorted(rows[middle : n + 4]) == sorted(inside[codes[inside] != 3])


def test_packing_keeps_sums_exact_of_classes_and_zeros_too():
    rng = np.random.default_rng(0)
    gradient = rng.normal(size=5000)
    weight = rng.integers(1, 9, size=5000)
    packed = Packed(mean_target(gradient), weight)
    sums = np.array([packed.moments.sum(), packed.moments[::-1].sum()])
    g, w = unpack(sums, packed.pack)
    assert w.tolist() == [weight.sum()] * 2
    assert g[0] == g[1]
    unit = packed.pack.unit
    assert abs(g[0] - gradient @ weight) < 5000 / unit
    assert 2.0**40 < np.abs(gradient).max() * weight.sum() * unit < 2**53
    rng = np.random.default_rng(1)
    real = rng.random(500)
    packed = Packed(class_target(np.zeros(500), 2, weight=real), np.ones(500, dtype=np.int64))
    weight, n = unpack(np.array([packed.moments.sum()]), packed.pack)
    assert n[0] == 500
    assert weight[0] == pytest.approx(real.sum(), rel=1e-9)
    assert unit_for.py_func(0.0, 52) == 1.0


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-17, 1.0, 1e17, 1e140])
def test_unit_and_its_square_are_finite_and_positive(size):
    """The square divides the gains; a tree with no gradient to speak of must not raise."""
    unit = unit_for.py_func(size * 100, 52)
    assert 0 < unit * unit < np.inf
    assert size * 100 * unit < 2.0**53
