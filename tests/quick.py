"""Fits that take a moment and have all that is shown of one."""

from __future__ import annotations

from typing import Any

import pandas as pd

import treeselect

FEW: dict[str, Any] = {"method": "controlburn", "forests": 1, "n_trees": 5, "resamples": 3}


def quick_fit(
    formula: str, data: pd.DataFrame, *, k: int, **options: Any
) -> treeselect.SelectionResult:
    """A fit of a few trees with a few resamples; `options` take the place of these."""
    return treeselect.select(formula, data, k=k, seed=1, **FEW | options)
