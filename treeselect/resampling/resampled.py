"""What was selected on each resample."""

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
    "complementary": ("half of a complementary pair", "halves of complementary pairs"),
}
"""What is drawn, one of it and several."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """Selections on resamples of the rows.

    Attributes
    ----------
    units : tuple of str, length n_groups
    fitted : ndarray of bool, shape (n_groups,)
        What the fit on all rows selected.
    assessed : ndarray of bool, shape (n_groups,)
        Units that can be selected or not: those that are neither kept nor constant.
    selected : ndarray of bool, shape (n_resamples, n_groups)
    scheme : {"bootstrap", "subsample", "complementary"}
    k : int
        Units asked for on each resample.
    seed : int
    library : str
        In which tables are given.
    groups_name : str or bool
        Column whose groups of rows were drawn as a whole; else whether an array of them was given.
    fixed_size : bool
        Whether no resample could select more than `k` units; False if the method's tuning value
        decided how many.
    asked : int or None
        How many resamples were asked for, if the call was stopped before all were done.
    association : callable or None
        Strength of the association of two units in the data, in [0, 1]; None without the data.
    similarity : callable or None
        That of all pairs of units, shape (n_groups, n_groups), in their order; None without the
        data.
    measured_index : float
        The correlated index of a model without its data, as it was before; missing if it was not
        measured.
    measured_places : tuple of (tuple of int, float)
        Of a model without its data the places that were known before: numbers of their units, and
        the association of the two that are associated least.
    along : StabilityPath or None
        Selections for every number of units, if the paths were followed.
    labels : mapping of str to str
        What units are called in print, by name, as far as they have labels.
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
    along: StabilityPath | None = field(default=None, repr=False, compare=False)
    labels: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def words(self) -> str:
        """What was drawn: ``"100 bootstrap resamples"``, and of whole groups if it was."""
        name = f" of {self.groups_name}" if isinstance(self.groups_name, str) else ""
        whole = f" of whole groups{name}" if self.groups_name else ""
        one, more = _NOUNS[self.scheme]
        return f"{self.n_resamples:,} {one if self.n_resamples == 1 else more}{whole}"

    @property
    def kept(self) -> BoolArray:
        """Units that are in each selection by request, shape (n_groups,)."""
        return np.asarray(~self.assessed & self.selected.all(axis=0))

    @property
    def partial(self) -> bool:
        """Whether the call was stopped, and these are the resamples that were finished."""
        return self.asked is not None

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.selected)

    @property
    def frequency(self) -> FloatArray:
        """Share of resamples that selected each unit, shape (n_groups,)."""
        return np.asarray(self.selected.mean(axis=0))
