"""Which groups are tried at a node.

``work.order`` holds all groups. Where all open groups are tried (RRF), they stand first, and only
the closed ones behind them are drawn from: no draw shuffles all groups.
"""

from __future__ import annotations

from treeselect.engine.cache import inlined, inner
from treeselect.engine.random import random_below


@inner
def start_order(work, is_open, all_open):
    """Order of the groups at the start of a tree; returns how many open ones stand first."""
    n = 0
    n_groups = is_open.shape[0]
    if all_open:
        for g in range(n_groups):
            if is_open[g]:
                work.order[n] = g
                work.place[g] = n
                n += 1
    first = n
    for g in range(n_groups):
        if not (all_open and is_open[g]):
            work.order[n] = g
            work.place[g] = n
            n += 1
    return first


@inner
def swap(work, a, b):
    """Let the groups at two places of the order change places."""
    work.order[a], work.order[b] = work.order[b], work.order[a]
    work.place[work.order[a]] = a
    work.place[work.order[b]] = b


@inlined
def draw_candidates(work, n_first, n_candidates, state):
    """Bring the candidates of a node to the front of the order; returns how many they are.

    The first `n_first` groups are candidates; `n_candidates` of the others are drawn.
    """
    n_groups = work.order.shape[0]
    n = min(n_candidates, n_groups - n_first)
    if n < n_groups - n_first:
        for c in range(n_first, n_first + n):
            swap(work, c, c + random_below(state, n_groups - c))
    return n_first + n


@inner
def wins_tie(group, holder, is_open, rank):
    """Whether `group` takes a tie from `holder`: open before closed, then by rank."""
    if is_open[group] != is_open[holder]:
        return is_open[group]
    return rank[group] < rank[holder]
