"""Which groups are tried at a node.

``work.order`` holds the groups that can split. Where all open groups are tried (RRF), they stand
first, and only the closed ones behind them are drawn from: no draw shuffles all groups. A group
without two different values takes no place and no random number: with it or without it, the trees
are the same.
"""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, WeightArray
from treeselect.engine.cache import inlined, inner, kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.random import random_below


def can_split(data: BinnedData, weight: WeightArray) -> BoolArray:
    """Groups with a column that has two different codes (missing is one) in rows with weight.

    Parameters
    ----------
    data : BinnedData
    weight : ndarray, shape (n_rows,)

    Returns
    -------
    ndarray of bool, shape (n_groups,)
    """
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

    Returns how many are open, -1 if the ranks are not different numbers from 0 on.
    """
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
    """Bring the candidates of a node to the front of the order; returns how many they are.

    The first `n_first` groups are candidates; `n_candidates` of the others are drawn.
    """
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
