"""Missing values of terms, and what they cost a linear model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeselect.designs.modeldata import ModelData
from treeselect.errors import TreeselectWarning, quoted

_SHARE = 0.05
"""A linear model that drops more than this share of the rows gives a warning."""

WAYS_OUT = (
    '`missing="indicator"` uses these rows, with an indicator of missing values;'
    " `select_imputed()` selects and pools over imputed data."
)


@dataclass(frozen=True, slots=True)
class Gaps:
    """Missing values of some terms.

    Attributes
    ----------
    counts : tuple of (str, int)
        Terms with missing values and in how many rows, most first.
    n_any : int
        Rows in which at least one of the terms is missing.
    n_rows : int
        Rows that are used.
    """

    counts: tuple[tuple[str, int], ...]
    n_any: int
    n_rows: int

    @property
    def words(self) -> str:
        """Terms with their counts."""
        return listing_of(self.counts)


def listing_of(counts: Sequence[tuple[str, int]]) -> str:
    """Terms with their numbers of missing values: `age` (177), `embarked` (2)."""
    shown = ", ".join(f"{quoted(name)} ({n:,})" for name, n in counts[:8])
    return shown + (f" and {len(counts) - 8} more" if len(counts) > 8 else "")


def gaps_of(data: ModelData, terms: Sequence[str]) -> Gaps:
    """Missing values of some terms in the rows with weight."""
    used = data.row_weights.used
    missing = {name: np.zeros(len(used), dtype=bool) for name in terms}
    pairs = zip(data.arrays.column_names, data.arrays.columns, data.arrays.n_levels, strict=True)
    for name, column, n_levels in pairs:
        if name in missing:
            missing[name] |= np.isnan(column) if n_levels is None else column == 0
    counts = {name: int((rows & used).sum()) for name, rows in missing.items()}
    found = sorted(((name, n) for name, n in counts.items() if n), key=lambda pair: -pair[1])
    every = np.zeros(len(used), dtype=bool)
    for rows in missing.values():
        every |= rows
    return Gaps(tuple(found), int((every & used).sum()), int(used.sum()))


def warn_of_gaps(
    data: ModelData,
    terms: Sequence[str],
    call: str,
    stacklevel: int,
    *,
    splits: bool = False,
) -> None:
    """Warn if a linear model of these terms drops more than a twentieth of the rows.

    Parameters
    ----------
    data : ModelData
    terms : sequence of str
    call : str
        The user's call.
    stacklevel : int
        That of the user's line, as seen from the caller.
    splits : bool
        Whether the call selects again, and so drops the rows of other terms than these.
    """
    gaps = gaps_of(data, terms)
    if gaps.n_any <= _SHARE * gaps.n_rows:
        return
    of = (
        "a selected term"
        if set(terms) != {spec.term.name for spec in data.spec.terms}
        else "a term"
    )
    n_rows = f"{gaps.n_any:,} of {gaps.n_rows:,}"
    drops = f"drops {n_rows} rows, in which {of} is missing."
    if splits:
        drops = (
            f"drops incomplete cases. For the terms of the fit these are {n_rows} rows, in which"
            f" {of} is missing; each split selects its own terms."
        )
    warnings.warn(
        TreeselectWarning(f"`{call}` {drops}\n  Missing values: {gaps.words}.\n  {WAYS_OUT}"),
        stacklevel=stacklevel + 1,
    )
