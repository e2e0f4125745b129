"""How far gains can be trusted: the share that holds out of bag.

The in-bag gain of a unit says little about its information: the more values it has, the more
its splits can fit. A noise factor with many levels gains more in the bag than a true binary
term. The share of the gain that holds out of bag makes units of all kinds comparable.
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
    """Share of each unit's gain that holds out of bag, relative to the largest share.

    A forest of small trees is grown on all units, a third of which are tried at each node. The
    share is the out-of-bag gain of a unit divided by its in-bag gain; 0 if the former is negative,
    or if no tree splits on the unit.

    Returns
    -------
    ndarray of float, shape (n_groups,)
        In [0, 1]; all 1 if no gain holds.
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
    """Coefficients of units that are not in use, set to 0 for those that may not enter.

    The smaller its coefficient, the more of a unit's gain must hold: a unit with coefficient c may
    enter if its share is at least ``1 - c``; at 1, any unit may.

    Parameters
    ----------
    scale : ndarray of float, shape (n_groups,)
        In [0, 1].
    shares : ndarray of float, shape (n_groups,), or None
        See :func:`held_shares`; if None, all may enter.
    """
    if shares is None:
        return scale
    return np.where(scale + shares >= 1.0 - slack(1.0), scale, 0.0)


def _growth(n: int) -> Growth:
    return Growth(_DEPTH, _LEAF, max(1, -(-n // 3)), 0.0)
