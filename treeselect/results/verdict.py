"""Is the selection stable? One of four verdicts, by fixed rules, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from treeselect.engine.rounding import at_least
from treeselect.printing import enumeration, percent_text
from treeselect.printing.numbers import counted, every, span
from treeselect.resampling.agreement import LEAST_SHARE
from treeselect.resampling.fit import Fit, noun
from treeselect.resampling.stability import Stability, each_selected_all

FEWEST = 10
"""Resamples below which there is no verdict."""

STEADY = LEAST_SHARE
"""A unit is consistently selected if its frequency is at least this."""

HALF = 0.5
"""A unit is rarely selected if its frequency is below this."""


class Answer(Enum):
    """What verdicts begin with, about terms or units."""

    STABLE = "Stable"
    BUT_FOR_PLACES = "Stable up to interchangeable {}s"
    PARTLY = "Partly stable"
    UNSTABLE = "Unstable"


@dataclass(frozen=True, slots=True)
class Standing:
    """How often the units that were not forced in were selected on the resamples."""

    inside: tuple[str, ...]  # selected and unselected units
    outside: tuple[str, ...]
    forced: tuple[str, ...]  # selected units that were forced in, which are in neither
    count: dict[str, int]  # number of resamples that selected each unit, and their share
    frequency: dict[str, float]
    interchangeable: frozenset[str]  # with others: see ``Stability.places``

    @property
    def consistent(self) -> list[str]:
        """Selected units with a frequency of at least 0.8."""
        return [unit for unit in self.inside if at_least(self.frequency[unit], STEADY)]

    @property
    def rare(self) -> list[str]:
        """Selected units with a frequency below 0.5 that are not interchangeable with others."""
        found = (unit for unit in self.inside if self.frequency[unit] < HALF)
        return [unit for unit in found if unit not in self.interchangeable]

    @property
    def intruders(self) -> list[str]:
        """Unselected units with a frequency of at least 0.5 that are not interchangeable."""
        return [unit for unit in self._others if at_least(self.frequency[unit], HALF)]

    @property
    def overtaking(self) -> list[str]:
        """Unselected units, not interchangeable, selected more often than :attr:`rarest`."""
        if not self.inside:
            return []
        least = self.count[self.rarest]
        found = [unit for unit in self._others if self.count[unit] > least]
        return sorted(found, key=lambda unit: (-self.count[unit], unit))

    @property
    def _others(self) -> list[str]:
        """Unselected units that some resample selected and that are not interchangeable."""
        return [u for u in self.outside if self.count[u] and u not in self.interchangeable]

    @property
    def rarest(self) -> str:
        """The selected unit that was selected least often."""
        return min(self.inside, key=lambda unit: self.count[unit])

    @property
    def answer(self) -> Answer:
        """The verdict: unstable if half of the units are rare, or several and none consistent or
        interchangeable; stable (up to interchangeable ones) if the others are consistent and there
        are no intruders; partly stable otherwise."""
        n_inside = len(self.inside)
        none_again = not self.consistent and self.interchangeable.isdisjoint(self.inside)
        if 2 * len(self.rare) >= n_inside or (n_inside > 1 and none_again):
            return Answer.UNSTABLE
        others = set(self.inside) - set(self.consistent)
        if self.intruders or not others <= self.interchangeable:
            return Answer.PARTLY
        return Answer.BUT_FOR_PLACES if others else Answer.STABLE


def standing(fit: Fit, stability: Stability) -> Standing:
    """How often the units of a fit were selected on its resamples."""
    free = dict(zip(stability.units, stability.assessed.tolist(), strict=True))
    inside = tuple(unit for unit in fit.groups if free[unit])
    return Standing(
        inside=inside,
        outside=tuple(unit for unit in free if free[unit] and unit not in inside),
        forced=tuple(unit for unit in fit.groups if not free[unit]),
        count=dict(zip(stability.units, stability.selected.sum(axis=0).tolist(), strict=True)),
        frequency=dict(zip(stability.units, stability.frequency.tolist(), strict=True)),
        interchangeable=frozenset(unit for place in stability.places for unit in place.units),
    )


def verdict(fit: Fit, stability: Stability) -> str:
    """How stable the selection is: a sentence, by the rules of :attr:`Standing.answer`. Empty if
    there are fewer than ten resamples, if all selected units were forced in, or if each resample
    selected every unit that it could."""
    units = _judged(fit, stability)
    if units is None:
        return ""
    one = noun(fit, 1)
    begin = f"{units.answer.value.format(one)}{_size_words(fit, stability)}"
    match units.answer:
        case Answer.UNSTABLE:
            many = 2 * len(units.rare) >= len(units.inside)
            return f"{begin}: {(_of_rare if many else _of_parts)(units, stability, one)}."
        case Answer.STABLE:
            which = units.inside[0] if len(units.inside) == 1 else f"each of the {_all(units, one)}"
            return f"{begin}: {which} was selected {_often(stability)}."
        case Answer.BUT_FOR_PLACES:
            return f"{begin}: {_of_places(units, stability, one)} was selected {_often(stability)}."
        case Answer.PARTLY:
            return f"{begin}: {_of_parts(units, stability, one)}."


def verdict_words(fit: Fit, stability: Stability) -> str:
    """The verdict in a few words, "Stable up to interchangeable terms"; empty without one."""
    units = _judged(fit, stability)
    return "" if units is None else units.answer.value.format(noun(fit, 1))


def _judged(fit: Fit, stability: Stability) -> Standing | None:
    """How often the units were selected, if that allows a verdict."""
    units = standing(fit, stability)
    enough = stability.n_resamples >= FEWEST and len(units.inside) > 0
    return units if enough and not each_selected_all(stability) else None


def _all(units: Standing, one: str) -> str:
    """ "4 terms"; "3 terms not forced in", where some were."""
    return f"{len(units.inside):,} {one}s{' not forced in' if units.forced else ''}"


def _of_rare(units: Standing, stability: Stability, one: str) -> str:
    rare = units.rare
    which = rare[0] if len(units.inside) == 1 else f"{len(rare):,} of {_all(units, one)}"
    were = "was" if len(rare) == 1 else "were"
    never = sum(units.count[unit] == 0 for unit in rare)
    if never == len(rare):
        return f"{which} {were} selected in none of {stability.words}"
    often = f"{which} {were} selected in fewer than half of {stability.words}"
    return f"{often}, {never:,} of them in none" if never else often


def _of_places(units: Standing, stability: Stability, one: str) -> str:
    """Who was consistently selected: the other units; without any, one unit of each place."""
    n_others, n = len(set(units.inside) - units.interchangeable), len(stability.places)
    if n_others == 0 and n == 1:
        return f"exactly one of {enumeration(stability.places[0].units)}"
    if n_others == 0:
        return f"exactly one {one} of each of {n:,} interchangeable sets"
    return f"the other {one}" if n_others == 1 else f"each of the other {n_others:,} {one}s"


def _of_parts(units: Standing, stability: Stability, one: str) -> str:
    n, n_again, rarest = len(units.inside), len(units.consistent), units.rarest
    found = f"{units.count[rarest]:,}" if units.count[rarest] else "none"
    if n == 1:
        often = _often(stability) if n_again else f"in {found} of {stability.words}"
        said = f"{rarest} was selected {often}"
    else:
        which = f"{n_again:,} of" if n_again else "none of the"
        were = "were" if n_again > 1 else "was"
        said = f"{which} {_all(units, one)} {were} selected {_often(stability)}"
        said += f", the least frequent, {rarest}, in {found}" if n_again < n else ""
    if n_out := len(units.intruders):
        said += f"; {counted(n_out, one)} outside the selection in at least half of them"
    return said


def _often(stability: Stability) -> str:
    return f"in at least {percent_text(STEADY)} of {stability.words}"


FIXED = "k was chosen on all rows and then fixed, so the resamples do not show how it varies"
"""Of resamples that do not repeat the choice of the number of units."""


def size_note(fit: Fit, stability: Stability) -> str:
    """That k was chosen once; empty if it was given, or is chosen on each resample."""
    was_chosen = isinstance(fit.choice.k, str) and stability.k == fit.k
    is_fixed = was_chosen and stability.fixed_size
    return f"{FIXED}; `performance()` shows k in each fold." if is_fixed else ""


def outsiders_note(fit: Fit, stability: Stability) -> str:
    """Unselected units selected more often than the rarest selected one."""
    units = standing(fit, stability)
    if not (found := units.overtaking):
        return ""
    count, rarest = units.count, units.rarest
    names = enumeration([f"{unit} ({count[unit]:,})" for unit in found])
    return (
        f"Not in the fit, but selected in more of {stability.words} than {rarest}"
        f" ({count[rarest]:,}): {names}."
    )


def _size_words(fit: Fit, stability: Stability) -> str:
    """How many units the resamples selected."""
    if stability.fixed_size:
        here = f", {fit.k:,} in the fit" if stability.k != fit.k else ""
        return f" (k fixed at {stability.k:,}{here})"
    return f" ({sizes_words(stability)} on each resample)"


# --- what recurs on the resamples ----------------------------------------------------------------


def kept_units(stability: Stability) -> frozenset[str]:
    """Units that `keep=` forces into each selection."""
    named = zip(stability.units, stability.kept, strict=True)
    return frozenset(unit for unit, is_kept in named if is_kept)


def sizes_words(stability: Stability) -> str:
    """How many units the resamples selected: "1 term", "2 to 4 terms"."""
    sizes = stability.selected.sum(axis=1)
    return f"{span(sizes)} {stability.one}{'' if (sizes == 1).all() else 's'}"


def could_vary(stability: Stability) -> bool:
    """Whether resamples could select different sets: not if all units must be selected, unless
    paths end before all are in."""
    n_kept, n_free = int(stability.kept.sum()), int(stability.assessed.sum())
    could = not stability.fixed_size or n_kept < stability.k < n_kept + n_free
    return could or stability.n_models > 1


# --- agreement of the resamples, in words --------------------------------------------------------


def place_sentences(stability: Stability) -> list[str]:
    """Which units are interchangeable, how often each was selected, and how associated they are."""
    said = []
    for place in stability.places:
        counted = zip(place.units, place.counts, strict=True)
        names = enumeration([f"{unit} ({count:,})" for unit, count in counted])
        strength = f"{np.floor(place.association * 100 + 1e-9) / 100:.2f}"
        pairwise = "association" if len(place.units) == 2 else "all pairwise associations"
        said.append(
            f"Interchangeable: exactly one of {names} was selected in {place.exactly_one:,} of"
            f" {stability.n_resamples:,} resamples ({pairwise} at least {strength})."
        )
    return said


def model_sentence(stability: Stability) -> str:
    """How many distinct sets the resamples selected, and how often the set of the fit."""
    n, n_models, own = stability.n_resamples, stability.n_models, stability.same_model
    if own == n:
        return f"{every(n, 'resample').capitalize()} selected the set of the fit."
    sets = "one set" if n_models == 1 else f"{n_models:,} distinct sets"
    return f"The {n:,} resamples selected {sets}; {own or 'none'} of them selected that of the fit."
