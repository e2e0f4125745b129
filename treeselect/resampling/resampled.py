"""The selection on each resample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from treeselect.engine.arrays import BoolArray, FloatArray
from treeselect.resampling.paths import StabilityPath

Scheme = Literal["bootstrap", "subsample", "complementary"]
SCHEMES = ("bootstrap", "subsample", "complementary")

_NOUNS = {
    "bootstrap": ("bootstrap resample", "bootstrap resamples"),
    "subsample": ("subsample", "subsamples"),
    "complementary": ("half-sample", "half-samples"),
}
"""One resample of each scheme, and several."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """Selections on resamples of the rows.

    Attributes
    ----------
    units : tuple of str, length n_groups
    fitted : ndarray of bool, shape (n_groups,)
        Units that the fit on all rows selected.
    assessed : ndarray of bool, shape (n_groups,)
        Units that can be selected or not: those that are neither forced in nor constant.
    selected : ndarray of bool, shape (n_resamples, n_groups)
    scheme : {"bootstrap", "subsample", "complementary"}
    k : int
        Number of units requested on each resample.
    seed : int
    library : str
        Data frame library of the tables.
    groups_name : str or bool
        Column of the clusters that were resampled as a whole; otherwise, whether an array of
        clusters was given.
    fixed_size : bool
        Whether no resample could select more than `k` units; False if the method's tuning
        parameter determined the number.
    asked : int or None
        Number of resamples requested, if the call was stopped before all were done.
    association : callable or None
        Strength of the association of two units in the data, in [0, 1]; None without the data.
    similarity : callable or None
        Association of all pairs of units, shape (n_groups, n_groups), in their order; None without
        the data.
    measured_index : float
        For a model without its data, the correlated index computed earlier; NaN if there is none.
    measured_places : tuple of (tuple of int, float)
        For a model without its data, the sets of interchangeable units found earlier: numbers of
        their units, and their lowest pairwise association.
    measured_associations : tuple of float
        For a model without its data, the associations in the rows of ``Stability.substitutes``.
    along : StabilityPath or None
        Selections at every number of units, if the paths were followed.
    labels : mapping of str to str
        Labels of units in print, by name; units without a label are absent.
    one : str
        One selectable item in print: "term", or "unit" where there are groups.
    """

    units: tuple[str, ...]
    fitted: BoolArray
    assessed: BoolArray
    selected: BoolArray
    scheme: Scheme
    k: int
    seed: int
    library: str = "pandas"
    groups_name: str | bool = False
    fixed_size: bool = True
    asked: int | None = None
    association: Callable[[str, str], float] | None = field(default=None, repr=False, compare=False)
    similarity: Callable[[], FloatArray] | None = field(default=None, repr=False, compare=False)
    measured_index: float = field(default=float("nan"), repr=False, compare=False)
    measured_places: tuple[tuple[tuple[int, ...], float], ...] = field(
        default=(), repr=False, compare=False
    )
    measured_associations: tuple[float, ...] = field(default=(), repr=False, compare=False)
    along: StabilityPath | None = field(default=None, repr=False, compare=False)
    labels: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    one: str = field(default="term", repr=False, compare=False)

    @property
    def words(self) -> str:
        """Number and kind of the resamples: ``"100 bootstrap resamples"``; for clustered rows
        ``"100 bootstrap resamples of whole ward clusters"``."""
        name = f"{self.groups_name} " if isinstance(self.groups_name, str) else ""
        whole = f" of whole {name}clusters" if self.groups_name else ""
        one, more = _NOUNS[self.scheme]
        return f"{self.n_resamples:,} {one if self.n_resamples == 1 else more}{whole}"

    @property
    def kept(self) -> BoolArray:
        """Units that are forced in, shape (n_groups,)."""
        return np.asarray(~self.assessed & self.selected.all(axis=0))

    @property
    def partial(self) -> bool:
        """Whether the call was stopped, so that only the finished resamples are here."""
        return self.asked is not None

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.selected)

    @property
    def frequency(self) -> FloatArray:
        """Selection frequency: share of resamples that selected each unit, shape (n_groups,)."""
        return np.asarray(self.selected.mean(axis=0))
