"""Is the selection stable? One of four answers, by rules, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treeselect.engine.rounding import at_least
from treeselect.printing import enumeration, percent_text
from treeselect.resampling.nouns import noun
from treeselect.resampling.places import LEAST_SHARE
from treeselect.results.recurrence import each_selected_all, sizes_of_resamples

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability

FEWEST = 10
"""Resamples below which there is no verdict."""

STEADY = LEAST_SHARE
"""Frequency from which on a unit is there again."""

HALF = 0.5
"""Frequency below which it is not."""


def verdict(fit: Fit, stability: Stability) -> str:
    """Whether other samples would say the same: a sentence.

    Of the selected units that are not kept, those with a frequency of at least 0.8 are steady, and
    those that are below 0.5 and hold no place in turn with others
    (:mod:`treeselect.resampling.places`) are lost. The selection is

    - unstable if half of them or more are lost;
    - stable if all are steady, and no unit outside has a frequency of 0.5 or more;
    - stable but for who holds a place, if those that are not steady hold one, and no unit outside
      that does not hold one has a frequency of 0.5 or more;
    - partly stable otherwise.

    Parameters
    ----------
    fit : Fit
    stability : Stability
        That of the fit.

    Returns
    -------
    str
        Empty if there are less than ten resamples, if nothing is selected that is not kept, or if
        each resample selected all that it could.
    """
    frequency = dict(zip(stability.units, stability.frequency.tolist(), strict=True))
    free = dict(zip(stability.units, stability.assessed.tolist(), strict=True))
    inside = [unit for unit in fit.groups if free[unit]]
    if stability.n_resamples < FEWEST or not inside or each_selected_all(stability):
        return ""
    places = stability.places
    holders = {unit for place in places for unit in place.units}
    steady = [unit for unit in inside if at_least(frequency[unit], STEADY)]
    lost = [unit for unit in inside if frequency[unit] < HALF and unit not in holders]
    outside = [unit for unit in stability.units if free[unit] and unit not in inside]
    intruders = [u for u in outside if at_least(frequency[u], HALF) and u not in holders]
    n, what = len(inside), noun(fit, len(inside))
    asked, among = _size_words(fit, stability), f"of {stability.words}"
    share = f"in at least {percent_text(STEADY)} {among}"
    if 2 * len(lost) >= n:
        never = sum(frequency[unit] == 0 for unit in lost)
        were = "was" if len(lost) == 1 else "were"
        if never == len(lost):
            how = f"{were} never selected again in {stability.words}"
        else:
            how = f"{were} selected in less than half {among}"
            how += f", {never} of them never" if never else ""
        which = f"the only {what}" if n == 1 else f"{len(lost)} of {n} {what}"
        return f"Unstable{asked}: {which} {how}."
    if len(steady) == n and not intruders:
        which = f"the only {what}" if n == 1 else f"each of the {n} {what}"
        return f"Stable{asked}: {which} was selected {share}."
    if not intruders and all(unit in holders for unit in inside if unit not in steady):
        n_others = len([unit for unit in inside if unit not in holders])
        held = "one place" if len(places) == 1 else f"{len(places)} places"
        if n_others == 0:
            return f"Stable{asked}, but for who holds {held}."
        others = (
            f"the other {noun(fit, 1)}"
            if n_others == 1
            else f"each of the other {n_others} {noun(fit, 2)}"
        )
        return f"Stable{asked}, but for who holds {held}: {others} was selected {share}."
    rarest = min(inside, key=lambda unit: frequency[unit])
    said = f"{len(steady)} of {n} {what} {'was' if len(steady) == 1 else 'were'} selected {share}"
    if len(steady) < n:
        said += f", the least frequent, {rarest}, in {_count(stability, rarest)}"
    if intruders:
        said += f"; {len(intruders)} outside the selection in at least half of them"
    return f"Partly stable{asked}: {said}."


def size_note(fit: Fit, stability: Stability) -> str:
    """That the size was chosen once; empty where it was given, or is chosen on each resample."""
    if fit.scores is None or not stability.fixed_size:
        return ""
    return (
        "k was chosen on all rows and not again on the resamples, which can't tell how it varies:"
        " `performance()` can, fold by fold."
    )


def outsiders_note(fit: Fit, stability: Stability) -> str:
    """Units outside the selection that are more frequent than one inside; those of a place are
    named with it."""
    count = dict(zip(stability.units, stability.selected.sum(axis=0).tolist(), strict=True))
    free = dict(zip(stability.units, stability.assessed.tolist(), strict=True))
    holders = {unit for place in stability.places for unit in place.units}
    inside = [unit for unit in fit.groups if free[unit]]
    if not inside:
        return ""
    rarest = min(inside, key=lambda unit: count[unit])
    found = [
        unit
        for unit in stability.units
        if free[unit] and unit not in inside and unit not in holders and count[unit] > count[rarest]
    ]
    if not found:
        return ""
    found.sort(key=lambda unit: (-count[unit], unit))
    names = enumeration([f"{unit} ({count[unit]:,})" for unit in found])
    return (
        f"Not in the selection, but selected in more of {stability.words} than {rarest}"
        f" ({count[rarest]:,}), which is: {names}."
    )


def _count(stability: Stability, unit: str) -> str:
    found = int(stability.selected[:, stability.units.index(unit)].sum())
    return f"{found:,}" if found else "none"


def _size_words(fit: Fit, stability: Stability) -> str:
    """Which sizes the resamples had."""
    if stability.fixed_size:
        here = f" ({fit.k} in the fit)" if stability.k != fit.k else ""
        return f", with k fixed at {stability.k}{here}"
    low, high = sizes_of_resamples(stability)
    return (
        f", with {low} to {high} {noun(fit)} on each resample"
        if low < high
        else f", with k = {low}"
    )
