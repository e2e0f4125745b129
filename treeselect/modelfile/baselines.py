"""Baseline hazards to a model file and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeselect.designs.response import Response
from treeselect.engine.survival.curves import Baseline
from treeselect.modelfile.checks import check

_PARTS = ("time", "begin", "hazard", "level", "until")


def baseline_arrays(baseline: Baseline | None) -> dict[str, NDArray[Any]]:
    """The baseline hazard as arrays; empty if there is none."""
    if baseline is None:
        return {}
    return {f"baseline_{part}": getattr(baseline, part) for part in _PARTS}


def baseline_of_file(arrays: Mapping[str, NDArray[Any]], response: Response) -> Baseline | None:
    """The baseline hazard in a file; everything is checked, because the file may be hostile."""
    known = response.follow_up
    check(("baseline_time" in arrays) == (known is not None), "the baseline hazard")
    if known is None:
        return None
    time, begin, hazard, level, until = (arrays[f"baseline_{part}"] for part in _PARTS)
    n = len(known.levels)
    check(
        begin.shape == (n + 1,)
        and begin.dtype == np.int64
        and time.shape == hazard.shape
        and time.ndim == 1
        and level.shape == until.shape == (n,)
        and all(a.dtype == np.float64 for a in (time, hazard, level, until))
        and begin[0] == 0
        and begin[-1] == len(time)
        and bool((np.diff(begin) >= 0).all())
        and all(bool(np.isfinite(a).all()) for a in (time, hazard, level))
        and not np.isinf(until).any(),
        "the baseline hazard",
    )
    for own in map(slice, begin[:-1], begin[1:]):
        rising = np.diff(time[own]) > 0, np.diff(hazard[own]) >= 0, hazard[own] >= 0, time[own] >= 0
        check(all(bool(part.all()) for part in rising), "the baseline hazard")
    return Baseline(time, begin, hazard, level, until)
