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

``work.order`` holds the groups that can split. Where all open groups are tried (RRF), they stand
first, and only the closed ones behind them are drawn from. A group without two different values
takes no place and no random number: with it or without it, the trees are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray, IntArray, WeightArray
from treeselect.engine.columns import BinnedData
from treeselect.engine.compiling import inlined, inner, kernel
from treeselect.engine.random import random_below

_NEARLY = 1.0 - 1e-9
"""What is less than this share of something is less than it for all rounding."""


class SplitPenalty(NamedTuple):
    """Price of opening a group: `scale`, in [0, 1], multiplies the gain and `cost` is subtracted,
    both (n_columns,). With `uncentred` the node's own term is added before; `level` is the part of
    it that is the same for all nodes, per weight. `discounts`, ``{(f, g): factor}``: opening group
    f multiplies the cost of group g by a factor in [0, 1] (Xu et al. 2014, section 4.2)."""

    scale: FloatArray
    cost: FloatArray
    uncentred: bool = False
    level: float = 0.0
    discounts: Mapping[tuple[int, int], float] = MappingProxyType({})


def no_penalty(n_columns: int) -> SplitPenalty:
    """Every group is free."""
    return SplitPenalty(np.ones(n_columns), np.zeros(n_columns))


class Prices(NamedTuple):
    """A penalty as the kernels take it. `price` is what is left of the cost, and changes when
    groups open; the discounts of group f, which group gets cheaper and by what factor, are those
    from ``start[f]`` to ``start[f + 1] - 1``."""

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
    """Which groups are open, what opening another one costs, and which of two closed ones wins a
    tie: the lower `rank`; an open one always wins. A group is opened by its first split, and if it
    `stays` so is free for the trees after it."""

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


def can_split(data: BinnedData, weight: WeightArray) -> BoolArray:
    """Groups with a column that has two different codes (missing is one) in rows with weight, shape
    (n_groups,)."""
    found = np.zeros(data.n_groups, dtype=np.bool_)
    mark_varying(data, np.flatnonzero(weight).astype(np.int64), found)
    return found


def n_able(data: BinnedData, weight: WeightArray) -> int:
    """Number of groups that can split, at least 1: shares and roots of the number of groups are
    those of this number."""
    return max(int(can_split(data, weight).sum()), 1)


@kernel
def mark_varying(data, rows, found):
    """Mark the groups with a column that varies; of most columns two rows tell."""
    for j in range(data.codes.shape[0]):
        group = data.group_of[j]
        if found[group]:
            continue
        first = np.int64(-1)
        for i in rows:
            code = np.int64(data.codes[j, i])
            if data.wide_at[j] >= 0:
                code = np.int64(data.wide[data.wide_at[j], i])
            if first < 0:
                first = code
            elif code != first:
                found[group] = True
                break


@inner
def start_order(work, is_open, all_open):
    """Order of the groups that can split at the start of a tree; returns how many open ones stand
    first."""
    n = 0
    if all_open:
        for g in work.able:
            if is_open[g]:
                work.order[n] = g
                work.place[g] = n
                n += 1
    first = n
    for g in work.able:
        if not (all_open and is_open[g]):
            work.order[n] = g
            work.place[g] = n
            n += 1
    return first


@inner
def start_ranks(work, rank, is_open):
    """List the groups that can split at the start of a tree: open ones, then closed ones by rank.
    Returns how many are open, -1 if the ranks are not different numbers from 0 on."""
    by_rank, ranked = work.by_rank, work.ranked
    for r in range(by_rank.shape[0]):
        by_rank[r] = -1
    n = 0
    for g in work.able:
        r = rank[g]
        if r < 0 or r >= by_rank.shape[0] or by_rank[r] >= 0:
            return -1
        by_rank[r] = g
        if is_open[g]:
            ranked[n] = g
            n += 1
    n_open = n
    for r in range(by_rank.shape[0]):
        g = by_rank[r]
        if g >= 0 and not is_open[g]:
            ranked[n] = g
            n += 1
    return n_open


@inner
def rank_first(ranked, n_open, group):
    """Bring a group that has been opened behind the other open ones; the rest keep their order."""
    at = n_open
    while ranked[at] != group:
        at += 1
    while at > n_open:
        ranked[at] = ranked[at - 1]
        at -= 1
    ranked[n_open] = group


@inner
def swap(work, a, b):
    """Let the groups at two places of the order change places."""
    work.order[a], work.order[b] = work.order[b], work.order[a]
    work.place[work.order[a]] = a
    work.place[work.order[b]] = b


@inlined
def draw_candidates(work, n_first, n_candidates):
    """Bring the candidates of a node to the front of the order; returns how many they are. The
    first `n_first` groups are candidates; `n_candidates` of the others are drawn."""
    n_groups = work.order.shape[0]
    n = min(n_candidates, n_groups - n_first)
    if n < n_groups - n_first:
        for c in range(n_first, n_first + n):
            swap(work, c, c + random_below(work.state, n_groups - c))
    return n_first + n


@inner
def wins_tie(opening, group, holder):
    """Whether `group` takes a tie from `holder`: open before closed, then by rank."""
    is_open = opening.is_open
    if is_open[group] != is_open[holder]:
        return is_open[group]
    return opening.rank[group] < opening.rank[holder]
