"""Model frequencies: the distinct sets of units, and their counts."""

from __future__ import annotations

import numpy as np

from treeselect.engine.arrays import BoolArray, IntArray


def distinct_sets(selected: BoolArray) -> tuple[BoolArray, IntArray]:
    """The distinct sets, the most frequent first, and how often each was selected.

    Parameters
    ----------
    selected : ndarray of bool, shape (n_resamples, n_groups)

    Returns
    -------
    sets : ndarray of bool, shape (n_sets, n_groups)
        Equally frequent sets: the smaller first, then those of earlier units.
    counts : ndarray of int64, shape (n_sets,)

    Examples
    --------
    >>> import numpy as np
    >>> from treeselect.resampling.model_frequencies import distinct_sets
    >>> sets, counts = distinct_sets(np.array([[1, 0], [1, 1], [1, 0]], dtype=bool))
    >>> sets.astype(int).tolist(), counts.tolist()
    ([[1, 0], [1, 1]], [2, 1])
    """
    packed = np.packbits(selected, axis=1)  # rows of bytes: wide sets are compared quickly
    _, first, counts = np.unique(packed, axis=0, return_index=True, return_counts=True)
    sets = selected[first]
    place = np.arange(len(sets))[::-1]  # np.unique begins with the sets of the last units
    order = np.lexsort((place, sets.sum(axis=1), -counts))
    return sets[order], counts[order].astype(np.int64)
