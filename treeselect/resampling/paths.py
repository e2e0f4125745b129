"""Selection frequencies along the path: by the number of units k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from treeselect.algorithms.task import Step, step_of_size
from treeselect.brief import brief
from treeselect.engine.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class StabilityPath:
    """Selection frequencies by the number of units requested.

    Attributes
    ----------
    counts : ndarray of int, shape (n_sizes, n_groups)
        Number of resamples whose set of at most ``sizes[i]`` units contains each unit.
    n_resamples : int
    n_kept : int
        Number of units that are forced in; they count towards the sizes.
    """

    counts: IntArray
    n_resamples: int
    n_kept: int

    __repr__ = brief

    @property
    def sizes(self) -> IntArray:
        """Numbers of units requested, from one more than are forced in, shape (n_sizes,)."""
        return self.n_kept + 1 + np.arange(len(self.counts))

    @property
    def frequency(self) -> FloatArray:
        """Selection frequencies, shape (n_sizes, n_groups)."""
        return np.asarray(self.counts / self.n_resamples)

    def table(self, units: Sequence[str]) -> pd.DataFrame:
        """A row for each size and each unit that any resample selected, in decreasing order of mean
        frequency along the path: columns ``k``, ``term``, ``frequency``."""
        import pandas as pd

        frequency = self.frequency
        mean = frequency.mean(axis=0)
        order = sorted(np.flatnonzero(mean > 0).tolist(), key=lambda g: (-mean[g], units[g]))
        n_sizes = len(self.counts)
        return pd.DataFrame(
            {
                "k": np.tile(self.sizes, len(order)),
                "term": np.repeat(np.array([units[g] for g in order], dtype=object), n_sizes),
                "frequency": frequency[:, order].T.ravel(),
            }
        )


@dataclass(frozen=True, slots=True)
class PathLines:
    """The stability paths of a figure.

    Attributes
    ----------
    sizes : tuple of int
    names : tuple of str
        In decreasing order of mean frequency along the path, those of the fit first.
    values : tuple of tuple of float
        Frequency of each unit at each size.
    selected : tuple of bool
        Whether the fit selected the unit.
    more : int
        Number of units that are not shown.
    """

    sizes: tuple[int, ...]
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    selected: tuple[bool, ...]
    more: int


def path_lines(
    path: StabilityPath, units: Sequence[str], fitted: BoolArray, most: int
) -> PathLines:
    """The paths of at most `most` units: those of the fit first, then the most frequent."""
    frequency = path.frequency
    mean = frequency.mean(axis=0)
    order = sorted(
        np.flatnonzero(mean > 0).tolist(), key=lambda g: (~fitted[g], -mean[g], units[g])
    )
    shown = order[:most]
    return PathLines(
        sizes=tuple(int(k) for k in path.sizes),
        names=tuple(units[g] for g in shown),
        values=tuple(tuple(frequency[:, g].tolist()) for g in shown),
        selected=tuple(bool(fitted[g]) for g in shown),
        more=len(order) - len(shown),
    )


def sets_by_size(steps: Sequence[Step], n_sizes: int, keep: BoolArray) -> tuple[IntArray, ...]:
    """Units in the set of each size, from one more than are forced in.

    If no set on the path has the size, the next larger set is cut by importance; beyond the end of
    the path, its last set is used.
    """
    sizes = range(int(keep.sum()) + 1, int(keep.sum()) + 1 + n_sizes)
    return tuple(np.flatnonzero(step_of_size(steps, size, keep).selected) for size in sizes)
