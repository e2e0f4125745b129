"""Rows of a node: their sums, its value, their sides of a split, and what is gathered of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeselect.engine.compiling import inlined, inner
from treeselect.engine.tree.histogram import clear
from treeselect.engine.tree.target import (
    ENTROPY,
    has_outputs,
    has_pairs,
    is_vector,
    moment_gradient,
    moment_weight,
)


@inner
def sum_rows(pack, work, begin, end, total):
    """Sums of the rows ``work.rows[begin:end]``: the moments and the curvature, or the moments of
    each class."""
    clear(total)
    if work.words.shape[0] > 0:
        for r in range(begin, end):
            total[0] += work.leaf_moments[r]
        return
    for r in range(begin, end):
        i = work.rows[r]
        if is_vector(pack.kind):
            for k in range(pack.n_classes):
                total[k] += work.second[i * pack.n_classes + k]
        elif has_outputs(pack.kind):
            total[work.label[i]] += work.moments[i]
        else:
            total[0] += work.moments[i]
            if has_pairs(pack.kind):
                total[1] += work.second[i]


@inner
def weight_of(pack, total):
    """Weight of a node: its rows, counting copies."""
    if not has_outputs(pack.kind) or is_vector(pack.kind):
        return moment_weight(total[0], pack.shift)
    weight = np.int64(0)
    for k in range(pack.n_classes):
        weight += moment_weight(total[k], pack.shift)
    return weight


@inner
def size_of(pack, total):
    """Sum that a split's score is divided by: weight, curvature, or 1 where there are classes."""
    if has_outputs(pack.kind):
        return 1.0
    if has_pairs(pack.kind):
        return np.float64(total[1])
    return np.float64(moment_weight(total[0], pack.shift))


@inner
def write_value(pack, total, value):
    """Mean, Newton step (0 without curvature) or shares of the classes."""
    if has_outputs(pack.kind):
        unit, everything = pack.unit, weight_of(pack, total)
        if not is_vector(pack.kind):
            unit, everything = 1.0, np.int64(0)
            for k in range(pack.n_classes):
                everything += moment_gradient(total[k], pack.shift)
        for k in range(pack.n_classes):
            value[k] = moment_gradient(total[k], pack.shift) / unit / everything
    elif has_pairs(pack.kind):
        gradient = moment_gradient(total[0], pack.shift) / pack.unit
        value[0] = gradient / (total[1] / pack.second_unit) if total[1] > 0 else 0.0
    else:
        value[0] = (
            moment_gradient(total[0], pack.shift) / pack.unit
            / moment_weight(total[0], pack.shift)
        )  # fmt: skip


@inner
def own_term(pack, total, level):
    """A node's own part of the un-centred criterion, in units of the gain."""
    if pack.kind == ENTROPY:
        return 0.0
    if has_outputs(pack.kind):
        squares = 0.0
        weight = 0.0
        for k in range(pack.n_classes):
            here = np.float64(moment_gradient(total[k], pack.shift))
            squares += here * here
            weight += here
        if is_vector(pack.kind):
            weight = np.float64(weight_of(pack, total))
        return squares / weight * pack.to_gain
    gradient = np.float64(moment_gradient(total[0], pack.shift))
    size = size_of(pack, total)
    if size <= 0:
        return 0.0
    share = level * size * (pack.unit / pack.second_unit) ** 2
    return (gradient * gradient / size + share) * pack.to_gain


_ONE = np.uint64(1)

_SAMPLE, _ENOUGH = 32, 512
"""Rows looked at to see whether hardly any goes to one side, and rows that are worth a look."""


class Question(NamedTuple):
    """What a split asks of a row's code: see :func:`goes_left`."""

    code: int
    missing_left: bool
    is_factor: bool


BY_SIDE = Question(1, missing_left=False, is_factor=False)
"""Of rows whose sides are written down, 1 for the left and 2 for the right."""


@inner
def goes_left(code, split_code, missing_left, is_factor):
    """Side of a row: the one rule for growing and for predicting."""
    if is_factor:
        return code == split_code
    if code == 0:
        return missing_left
    return code <= split_code


@inner
def code_of(data, j, i):
    """Code of a row in a column."""
    if data.wide_at[j] >= 0:
        return np.int64(data.wide[data.wide_at[j], i])
    return np.int64(data.codes[j, i])


@inlined
def partition_node(data, column, code, missing_left, work, begin, end):
    """Order the rows of a node by a split: see :func:`partition`."""
    asked = Question(code, missing_left, data.is_factor[column])
    if data.wide_at[column] < 0:
        return partition(data.codes[column], asked, work.rows, work.spare, begin, end)
    codes = data.wide[data.wide_at[column]]
    for r in range(begin, end):
        i = work.rows[r]
        left = goes_left(np.int64(codes[i]), asked.code, asked.missing_left, asked.is_factor)
        work.side[i] = np.uint8(1 if left else 2)
    return partition(work.side, BY_SIDE, work.rows, work.spare, begin, end)


@inlined
def partition(codes, asked, rows, spare, begin, end):
    """Order ``rows[begin:end]`` in place, left rows first; returns where the right side begins.
    Each side keeps its order, that in memory, unless hardly any row goes to one side: then only
    these are moved. No answer depends on the order, since sums are exact."""
    # One comparison for all: left are the codes `low` to `low + span`.
    low = np.uint8(asked.code if asked.is_factor else (0 if asked.missing_left else 1))
    span = np.uint8(asked.code - low)
    n_sampled = 0
    if end - begin >= _ENOUGH:
        for k in range(_SAMPLE):
            i = rows[begin + k * ((end - begin) // _SAMPLE)]
            n_sampled += int(np.uint8(codes[i] - low) <= span)
        if n_sampled <= 1:
            return take_left(codes, low, span, rows, begin, end)
        if n_sampled >= _SAMPLE - 1:
            return take_right(codes, low, span, rows, begin, end)
    middle = np.uint64(begin)  # without a sign: no negative index to look for
    n_right = np.uint64(0)
    for r in range(begin, end):
        i = rows[r]
        left = np.uint64(np.uint8(codes[i] - low) <= span)
        # Written to both sides; the side that it does not belong to is overwritten.
        rows[middle] = i
        spare[n_right] = i
        middle += left
        n_right += _ONE - left
    for r in range(np.int64(n_right)):
        rows[np.int64(middle) + r] = spare[r]
    return np.int64(middle)


@inner
def take_left(codes, low, span, rows, begin, end):
    """Let the left rows change places with those at the front."""
    middle = begin
    for r in range(begin, end):
        i = rows[r]
        if np.uint8(codes[i] - low) <= span:
            rows[r] = rows[middle]
            rows[middle] = i
            middle += 1
    return middle


@inner
def take_right(codes, low, span, rows, begin, end):
    """Let the right rows change places with those at the back."""
    middle = end
    for r in range(end - 1, begin - 1, -1):
        i = rows[r]
        if np.uint8(codes[i] - low) > span:
            middle -= 1
            rows[r] = rows[middle]
            rows[middle] = i
    return middle


@inner
def partition_carried(column, asked, work, begin, end):
    """Order what rows of a node carry by a split, left rows first, each side in its order; returns
    where the right side begins."""
    low = np.uint8(asked.code if asked.is_factor else (0 if asked.missing_left else 1))
    span = np.uint8(asked.code - low)
    words, shift = work.words[column >> 3], np.uint64(8 * (column & 7))
    for r in range(begin, end):
        work.cells[r] = np.uint8(np.uint8(words[r] >> shift) - low) <= span
    for block in range(work.words.shape[0]):
        part_words(work.words[block], work.cells, work.spare_words, begin, end)
    return part_words(work.leaf_moments.view(np.uint64), work.cells, work.spare_words, begin, end)


@inner
def part_words(words, is_left, spare, begin, end):
    """Order words in place, those marked as left ones first; returns where the others begin."""
    middle = np.uint64(begin)
    n_right = np.uint64(0)
    for r in range(begin, end):
        word, left = words[r], np.uint64(is_left[r])
        words[middle] = word  # to both sides, as in `partition`
        spare[n_right] = word
        middle += left
        n_right += _ONE - left
    for r in range(np.int64(n_right)):
        words[np.int64(middle) + r] = spare[r]
    return np.int64(middle)


@inlined
def gather_rows(pack, work, begin, end):
    """Put what belongs to the rows of a node side by side."""
    for r in range(begin, end):
        i = work.rows[r]
        if is_vector(pack.kind):
            for k in range(pack.n_classes):
                work.leaf_second[r * pack.n_classes + k] = work.second[i * pack.n_classes + k]
            continue
        work.leaf_moments[r] = work.moments[i]
        if has_pairs(pack.kind):
            work.leaf_second[r] = work.second[i]
        elif has_outputs(pack.kind):
            work.leaf_label[r] = work.label[i]


@inner
def carry_rows(blocks, work, n_in):
    """Put the codes and moments of the rows of a bag side by side (see ``workspace.carries``)."""
    for r in range(n_in):
        work.leaf_moments[r] = work.moments[work.rows[r]]
    for block in range(work.words.shape[0]):
        for r in range(n_in):
            work.words[block, r] = blocks[block, work.rows[r]]
