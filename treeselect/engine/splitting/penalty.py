"""The penalty of a split on a group that the ensemble has not used yet.

A split on column j is worth ``scale[j] * gain - cost[j]`` until its group is open and ``gain``
afterwards. The gain is the decrease of the tree's criterion per unit of the tree's weight: of the
mean squared deviation of its target (for a 0/1 target half the decrease of the Gini index), of
twice the quadratic approximation of the loss, or of the Gini index or entropy of its classes.

With ``uncentred`` the criterion of the children themselves is scaled, as the authors' R package
of regularised random forests does: the gain plus the node's own term, ``g**2 / a`` for a mean
(whose target the caller has centred), ``sum_k n_k**2 / n`` for classes. Of two classes that is
twice ``g**2 / a + a / 4`` for the mean of ``y - 1/2``: a mean may have a ``level`` of so much per
weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray
from treeselect.engine.cache import inner
from treeselect.engine.data.binning import BinnedData

_NEARLY = 1.0 - 1e-9
"""What is less than this share of something is less than it for all rounding."""


class SplitPenalty(NamedTuple):
    """Price of opening a group.

    Attributes
    ----------
    scale : ndarray of float, shape (n_columns,)
        Factor of the gain, in [0, 1].
    cost : ndarray of float, shape (n_columns,)
        Subtracted from it, at least 0, in units of the gain.
    uncentred : bool
        Whether the node's own term is added to the gain before it is scaled.
    level : float
        Part of the own term that is the same for all nodes, per unit of their weight.
    discounts : dict of (int, int) to float
        ``{(f, g): factor}``: opening group f multiplies the cost of group g by a factor in [0, 1]
        (the general price function of Xu et al. 2014, section 4.2).
    """

    scale: FloatArray
    cost: FloatArray
    uncentred: bool = False
    level: float = 0.0
    discounts: Mapping[tuple[int, int], float] = MappingProxyType({})


def no_penalty(n_columns: int) -> SplitPenalty:
    """Every group is free."""
    return SplitPenalty(np.ones(n_columns), np.zeros(n_columns))


class Prices(NamedTuple):
    """A penalty as the kernels take it.

    Attributes
    ----------
    scale, cost, uncentred, level
        As in :class:`SplitPenalty`; discounts for groups open from the start are taken off.
    price : ndarray of float, shape (n_columns,)
        What is left of the cost; changed when groups open.
    start : ndarray of int64, shape (n_groups + 1,)
        The discounts of group f are those from ``start[f]`` to ``start[f + 1] - 1``.
    group : ndarray of int64
        Group that gets cheaper.
    factor : ndarray of float64
        By how much.
    """

    scale: FloatArray
    cost: FloatArray
    price: FloatArray
    uncentred: bool
    level: float
    start: IntArray
    group: IntArray
    factor: FloatArray


def price_list(penalty: SplitPenalty, data: BinnedData, is_open: BoolArray) -> Prices:
    """Prices at the start of an ensemble in which some groups are open already."""
    listed = sorted((f, g, factor) for (f, g), factor in penalty.discounts.items())
    cost = penalty.cost.copy()
    for f, g, factor in listed:
        if is_open[f]:
            cost[data.group_of == g] *= factor
    first = np.array([f for f, _, _ in listed], dtype=np.int64)
    return Prices(
        scale=penalty.scale,
        cost=cost,
        price=cost.copy(),
        uncentred=penalty.uncentred,
        level=penalty.level,
        start=np.searchsorted(first, np.arange(data.n_groups + 1)).astype(np.int64),
        group=np.array([g for _, g, _ in listed], dtype=np.int64),
        factor=np.array([factor for _, _, factor in listed], dtype=np.float64),
    )


class Opening(NamedTuple):
    """Which groups are open, what opening another one costs, and which of two comes first.

    Attributes
    ----------
    prices : Prices
        Changed by discounts.
    is_open : ndarray of bool, shape (n_groups,)
        Groups that are free; a group is opened (set to True) by its first split.
    rank : ndarray of int64, shape (n_groups,)
        Which of two closed groups wins a tie: the lower rank. An open one always wins.
    stays : bool
        Whether a group that a tree has opened is free for the trees after it; otherwise each
        begins anew.
    """

    prices: Prices
    is_open: BoolArray
    rank: IntArray
    stays: bool


@inner
def reset_prices(prices):
    """Begin anew, for a tree that has its own used-set."""
    for j in range(prices.cost.shape[0]):
        prices.price[j] = prices.cost[j]


@inner
def open_group(opening, data, opened):
    """Open a group, and make cheaper what gets cheaper by it."""
    prices = opening.prices
    opening.is_open[opened] = True
    for t in range(prices.start[opened], prices.start[opened + 1]):
        group = prices.group[t]
        for j in range(data.group_start[group], data.group_start[group + 1]):
            prices.price[j] *= prices.factor[t]


@inner
def open_used(nodes, n_nodes, opening, data):
    """Open the groups of a grown tree, which may have opened them already."""
    for at in range(n_nodes):
        if nodes.column[at] < 0:
            continue
        group = np.int64(data.group_of[nodes.column[at]])
        if not opening.is_open[group]:
            open_group(opening, data, group)


@inner
def penalised_gain(opening, group, column, gain):
    """Worth of a split: ``gain`` if the group is open, ``scale * gain - cost`` if not."""
    if opening.is_open[group]:
        return gain
    return opening.prices.scale[column] * gain - opening.prices.price[column]


@inner
def least_gain(opening, group, column, worth):
    """Gain below which a split is certainly worth less than `worth`; 0 if that can't be said."""
    gain = worth
    if not opening.is_open[group]:
        scale = opening.prices.scale[column]
        if not scale > 0.0:
            return 0.0
        gain = (worth + opening.prices.price[column]) / scale
    return max(gain * _NEARLY, 0.0)
