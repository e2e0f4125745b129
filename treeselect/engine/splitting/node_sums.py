"""Sums, value and own criterion of a node."""

from __future__ import annotations

import numpy as np

from treeselect.engine.cache import inner
from treeselect.engine.data.moments import moment_gradient, moment_weight
from treeselect.engine.data.targets import ENTROPY, has_outputs, has_pairs, is_vector
from treeselect.engine.splitting.histograms import clear


@inner
def sum_rows(pack, work, begin, end, total):
    """Sums of the rows ``work.rows[begin:end]`` into ``total``.

    ``total`` has the moments and the curvature, or the moments of each class.
    """
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
    if is_vector(pack.kind):
        for k in range(pack.n_classes):
            value[k] = (
                moment_gradient(total[k], pack.shift)
                / pack.unit
                / moment_weight(total[k], pack.shift)
            )
    elif has_outputs(pack.kind):
        everything = np.int64(0)
        for k in range(pack.n_classes):
            everything += moment_gradient(total[k], pack.shift)
        for k in range(pack.n_classes):
            value[k] = moment_gradient(total[k], pack.shift) / everything
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
    if is_vector(pack.kind):
        squares = 0.0
        for k in range(pack.n_classes):
            here = np.float64(moment_gradient(total[k], pack.shift))
            squares += here * here
        return squares / weight_of(pack, total) * pack.to_gain
    if has_outputs(pack.kind):
        squares = 0.0
        weight = 0.0
        for k in range(pack.n_classes):
            here = np.float64(moment_gradient(total[k], pack.shift))
            squares += here * here
            weight += here
        return squares / weight * pack.to_gain
    gradient = np.float64(moment_gradient(total[0], pack.shift))
    size = size_of(pack, total)
    if size <= 0:
        return 0.0
    share = level * size * (pack.unit / pack.second_unit) ** 2
    return (gradient * gradient / size + share) * pack.to_gain
