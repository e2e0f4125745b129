"""The first split of a tree on each column by itself: what a screen of many columns goes by."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import FloatArray, IntArray
from treeselect.engine.cache import kernel
from treeselect.engine.data.binning import BinnedData
from treeselect.engine.data.moments import pack_rows
from treeselect.engine.data.targets import Target
from treeselect.engine.growing.checks import check_data, check_target, check_weight
from treeselect.engine.growing.growth import Growth, Job, ground_of, workspace
from treeselect.engine.growing.in_order import score_column
from treeselect.engine.growing.rows import gather_rows
from treeselect.engine.splitting.bounds import start_bounds
from treeselect.engine.splitting.node_sums import sum_rows


def first_gains(data: BinnedData, target: Target, weight: IntArray, growth: Growth) -> FloatArray:
    """Gain of the best split of all rows on each column, shape (n_columns,); 0 if there is none.

    Parameters
    ----------
    data : BinnedData
    target : Target
    weight : ndarray of int64, shape (n_rows,)
        Copies of each row, 0 leaves it out.
    growth : Growth
        Its least weight and curvature of a leaf.
    """
    check_data(data)
    check_target(target, data.n_rows)
    check_weight(weight, data.n_rows)
    work = workspace(data, target, weight)
    work.counts[:] = 1
    gains = np.zeros(len(data.codes))
    score_first_splits(Job(data, target, weight, growth), work, gains)
    return gains


@kernel
def score_first_splits(job, work, gains):
    """Write the gains of :func:`first_gains`."""
    pack = pack_rows(job.target, job.weight, work.counts, work.moments, work.second, work.rows)
    ground = ground_of(job, pack)
    sum_rows(pack, work, 0, pack.n_in, work.total)
    start_bounds(work.bounds)
    gather_rows(pack, work, 0, pack.n_in)
    for j in range(gains.shape[0]):
        gain, code, _ = score_column(ground, work, work.total, 0, j, 0.0, 0, pack.n_in)
        if code >= 0:
            gains[j] = gain
