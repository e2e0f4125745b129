"""Is the selection stable? One of four answers, by rules, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
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


class Answer(Enum):
    """Would other samples select the same?"""

    STABLE = auto()
    BUT_FOR_PLACES = auto()
    PARTLY = auto()
    UNSTABLE = auto()

    @property
    def word(self) -> str:
        """What the verdict begins with: Stable, Partly stable or Unstable."""
        return _WORDS[self]


_WORDS = {
    Answer.STABLE: "Stable",
    Answer.BUT_FOR_PLACES: "Stable",
    Answer.PARTLY: "Partly stable",
    Answer.UNSTABLE: "Unstable",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """How often the units that are not kept were selected again.

    Attributes
    ----------
    inside, outside : tuple of str
        Units of the selection, and the others.
    count : dict of str to int
        In how many resamples each was selected.
    frequency : dict of str to float
        In which share of them.
    holders : frozenset of str
        Units that hold a place in turn with others (:mod:`treeselect.resampling.places`).
    """

    inside: tuple[str, ...]
    outside: tuple[str, ...]
    count: dict[str, int]
    frequency: dict[str, float]
    holders: frozenset[str]

    @property
    def steady(self) -> list[str]:
        """Selected units with a frequency of at least 0.8."""
        return [unit for unit in self.inside if at_least(self.frequency[unit], STEADY)]

    @property
    def lost(self) -> list[str]:
        """Selected units with a frequency below 0.5 that hold no place."""
        found = (unit for unit in self.inside if self.frequency[unit] < HALF)
        return [unit for unit in found if unit not in self.holders]

    @property
    def intruders(self) -> list[str]:
        """Units outside with a frequency of 0.5 or more that hold no place."""
        seen = (unit for unit in self.outside if self.count[unit])  # of thousands a few
        return [
            unit
            for unit in seen
            if at_least(self.frequency[unit], HALF) and unit not in self.holders
        ]

    @property
    def rarest(self) -> str:
        """The selected unit that was selected least often."""
        return min(self.inside, key=lambda unit: self.count[unit])

    @property
    def answer(self) -> Answer:
        """The selection is

        - unstable if half of its units or more are lost, or if of several none is steady and none
          holds a place;
        - stable if all are steady, and there are no intruders;
        - stable but for who holds a place, if those that are not steady hold one, and there are no
          intruders;
        - partly stable otherwise.
        """
        n_inside = len(self.inside)
        has_steady = bool(self.steady) or not self.holders.isdisjoint(self.inside)
        if 2 * len(self.lost) >= n_inside or (n_inside > 1 and not has_steady):
            return Answer.UNSTABLE
        unsteady = set(self.inside) - set(self.steady)
        if self.intruders or not unsteady <= self.holders:
            return Answer.PARTLY
        return Answer.BUT_FOR_PLACES if unsteady else Answer.STABLE


def standing(fit: Fit, stability: Stability) -> Standing:
    """How often the units of a fit were selected again."""
    free = dict(zip(stability.units, stability.assessed.tolist(), strict=True))
    inside = tuple(unit for unit in fit.groups if free[unit])
    return Standing(
        inside=inside,
        outside=tuple(unit for unit in free if free[unit] and unit not in inside),
        count=dict(zip(stability.units, stability.selected.sum(axis=0).tolist(), strict=True)),
        frequency=dict(zip(stability.units, stability.frequency.tolist(), strict=True)),
        holders=frozenset(unit for place in stability.places for unit in place.units),
    )


def verdict(fit: Fit, stability: Stability) -> str:
    """Whether other samples would say the same: a sentence, by the rules of
    :attr:`Standing.answer`.

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
    units = _judged(fit, stability)
    if units is None:
        return ""
    one, begin = noun(fit, 1), f"{units.answer.word}{_size_words(fit, stability)}"
    match units.answer:
        case Answer.UNSTABLE:
            many = 2 * len(units.lost) >= len(units.inside)
            return f"{begin}: {(_of_lost if many else _of_parts)(units, stability, one)}."
        case Answer.STABLE:
            n = len(units.inside)
            which = units.inside[0] if n == 1 else f"each of the {n} {one}s"
            return f"{begin}: {which} was selected {_often(stability)}."
        case Answer.BUT_FOR_PLACES:
            return f"{begin}, but for {_of_places(units, stability, one)}."
        case Answer.PARTLY:
            return f"{begin}: {_of_parts(units, stability, one)}."


def verdict_words(fit: Fit, stability: Stability) -> str:
    """The verdict in a word or a few, "Stable but for one place"; empty without one."""
    units = _judged(fit, stability)
    if units is None:
        return ""
    if units.answer is not Answer.BUT_FOR_PLACES:
        return units.answer.word
    n = len(stability.places)
    return f"{units.answer.word} but for {'one place' if n == 1 else f'{n} places'}"


def _judged(fit: Fit, stability: Stability) -> Standing | None:
    """The standing of the units, where it makes a verdict."""
    units = standing(fit, stability)
    enough = stability.n_resamples >= FEWEST and len(units.inside) > 0
    return units if enough and not each_selected_all(stability) else None


def _of_lost(units: Standing, stability: Stability, one: str) -> str:
    lost, n = units.lost, len(units.inside)
    which = lost[0] if n == 1 else f"{len(lost)} of {n} {one}s"
    were = "was" if len(lost) == 1 else "were"
    never = sum(units.count[unit] == 0 for unit in lost)
    if never == len(lost):
        return f"{which} {were} never selected again in {stability.words}"
    often = f"{which} {were} selected in less than half of {stability.words}"
    return f"{often}, {never} of them never" if never else often


def _of_places(units: Standing, stability: Stability, one: str) -> str:
    n = len(stability.places)
    held = "who holds one place" if n == 1 else f"who holds {n} places"
    n_others = len(set(units.inside) - units.holders)
    if n_others == 0:
        return held
    others = f"the other {one}" if n_others == 1 else f"each of the other {n_others} {one}s"
    return f"{held}: {others} was selected {_often(stability)}"


def _of_parts(units: Standing, stability: Stability, one: str) -> str:
    n, n_steady, rarest = len(units.inside), len(units.steady), units.rarest
    found = f"{units.count[rarest]:,}" if units.count[rarest] else "none"
    if n == 1:
        only = f"{rarest} was"
        said = f"{only} selected {_often(stability)}" if n_steady else f"{only} selected in {found}"
        said += "" if n_steady else f" of {stability.words}"
    else:
        which = f"{n_steady} of {n}" if n_steady else f"none of the {n}"
        were = "were" if n_steady > 1 else "was"
        said = f"{which} {one}s {were} selected {_often(stability)}"
        said += f", the least frequent, {rarest}, in {found}" if n_steady < n else ""
    if units.intruders:
        said += f"; {len(units.intruders)} outside the selection in at least half of them"
    return said


def _often(stability: Stability) -> str:
    return f"in at least {percent_text(STEADY)} of {stability.words}"


def agreement_note(fit: Fit, stability: Stability) -> str:
    """Why the index is 1.00 where the verdict is not "stable"; empty elsewhere."""
    units = _judged(fit, stability)
    if units is None or units.answer is Answer.STABLE or f"{stability.index:.2f}" != "1.00":
        return ""
    return "The resamples agree with each other, not with the fit."


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
    units = standing(fit, stability)
    if not units.inside:
        return ""
    count, rarest = units.count, units.rarest
    found = [u for u in units.outside if u not in units.holders and count[u] > count[rarest]]
    if not found:
        return ""
    found.sort(key=lambda unit: (-count[unit], unit))
    names = enumeration([f"{unit} ({count[unit]:,})" for unit in found])
    return (
        f"Not in the selection, but selected in more of {stability.words} than {rarest}"
        f" ({count[rarest]:,}), which is: {names}."
    )


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
