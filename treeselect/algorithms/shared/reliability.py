"""How far gains can be trusted: the share of them that holds outside the bags.

What a unit gains on the rows that its splits were fitted to says little of what it tells: the more
values it has, the more there is to fit. A factor of many levels that is nothing but noise gains
more there than a true binary term. The share of its gain that is still there on other rows is what
makes units of all kinds comparable.
"""

from __future__ import annotations

import numpy as np

from treeselect.algorithms.shared.scoring import grown_forest
from treeselect.algorithms.shared.task import Task
from treeselect.engine.arrays import FloatArray
from treeselect.engine.ensembles.permutation import out_of_bag_gains
from treeselect.engine.growing.growth import Growth
from treeselect.engine.growing.nodes import group_gains
from treeselect.engine.rounding import slack

_TREES, _DEPTH, _LEAF = 100, 6, 5


def held_shares(task: Task) -> FloatArray:
    """Share of each unit's gain that holds outside the bags, relative to the largest.

    A forest of small trees is grown on all units, a third of which are tried at each node. The
    share is the out-of-bag gain of a unit by its gain in the bags; 0 where the former is negative,
    or no tree splits on the unit.

    Returns
    -------
    ndarray of float, shape (n_groups,)
        In [0, 1]; all 1 if nothing holds.
    """
    every = np.ones(len(task.problem.groups.names), dtype=np.bool_)
    grown = grown_forest(task.seeded("reliability"), every, _TREES, _growth)
    if grown is None:
        return every.astype(np.float64)
    inside = group_gains(grown.trees, grown.data).mean(axis=0)
    outside = out_of_bag_gains(
        grown.trees, grown.data, grown.target, grown.counts, grown.sampling, grown.seed,
        task.n_threads,
    ).mean  # fmt: skip
    used = inside > 0
    share = np.where(used, np.maximum(outside, 0.0) / np.where(used, inside, 1.0), 0.0)
    largest = share.max()
    return np.asarray(share / largest if largest > 0 else np.ones_like(share))


def screened(scale: FloatArray, shares: FloatArray | None) -> FloatArray:
    """Coefficients with which units may open, 0 for those that may not.

    The less a coefficient lets in, the more of a unit's gain must hold: a unit with a coefficient c
    may open if its share is at least ``1 - c``, so that with a coefficient of 1 each may.

    Parameters
    ----------
    scale : ndarray of float, shape (n_groups,)
        In [0, 1].
    shares : ndarray of float, shape (n_groups,), or None
        See :func:`held_shares`; without them all may open.
    """
    if shares is None:
        return scale
    return np.where(scale + shares >= 1.0 - slack(1.0), scale, 0.0)


def _growth(n: int) -> Growth:
    return Growth(_DEPTH, _LEAF, max(1, -(-n // 3)), 0.0)
