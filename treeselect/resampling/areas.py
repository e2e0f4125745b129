"""Areas under ROC curves at given times, of held-out rows with times to an event."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from treeselect.arguments.checks import described, numbers_in
from treeselect.designs.families import area_under_curve
from treeselect.engine.arrays import FloatArray, WeightArray
from treeselect.engine.rounding import at_least
from treeselect.engine.survival.curves import censoring_curve, inverse_of_observation
from treeselect.engine.survival.times import EVENT, START, STOP
from treeselect.errors import OptionError
from treeselect.quiet import own_filters
from treeselect.resampling.held_out import HeldOut


def auc_table(held: HeldOut, times: object, seed: int) -> pd.DataFrame:
    """One row per time (see ``Performance.auc``)."""
    if not held.family.has_times:
        raise OptionError("`auc()` needs times to an event; for classes use `roc()`.")
    known = held.with_risks
    if (known.y[:, START] > 0).any():
        raise OptionError(
            "`auc()` needs rows that are under observation from 0 on.\n  Found: late entry, for"
            " which the probability of being under observation is not known."
        )
    last = float(known.y[:, STOP].max())
    at = numbers_in([held.horizon] if times is None else times, lambda time: 0 < time < last)
    if not at:
        raise OptionError(
            "`times` must be numbers above 0 at which rows are still under observation.\n"
            f"  Found: {described(times)}. Observation ends at {last:g}."
        )
    found = uno_areas(known.y, known.risk, known.mass, np.array(at))
    drawn = [uno_areas(known.y, known.risk, mass, np.array(at)) for mass in known.drawn(200, seed)]
    with own_filters():
        warnings.simplefilter("ignore")  # a time at which samples have no case
        low, high = np.nanquantile(drawn, [0.025, 0.975], axis=0)
    later = np.less.outer(at, known.y[:, STOP])
    cases, controls = ~later @ (known.mass * known.y[:, EVENT]), later @ known.mass
    names = ("time", "cases", "controls", "auc", "ci_low", "ci_high")
    return pd.DataFrame(dict(zip(names, (at, cases, controls, found, low, high), strict=True)))


def uno_areas(
    y: FloatArray, risk: FloatArray, weight: WeightArray, times: FloatArray
) -> FloatArray:
    """Area under the ROC curve between rows with the event by each time and rows that are under
    observation after it; a case is divided by the probability of being still under observation at
    its time, so that rows censored before are made up for (Uno et al. 2007; Hung and Chiang
    2010)."""
    stop, dies = y[:, STOP], y[:, EVENT] > 0
    seen = inverse_of_observation(censoring_curve(y, weight), stop)
    found = []
    for time in times:
        case = dies & at_least(time, stop)
        mass = np.where(case, weight * seen, np.where(stop > time, weight, 0.0))
        found.append(area_under_curve(case.astype(np.float64), risk, mass))
    return np.array(found)
