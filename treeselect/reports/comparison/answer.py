"""The answer in one to three sentences, at the head of the page."""

from __future__ import annotations

from treeselect.comparison.verdict import Verdict, verdict
from treeselect.comparison.words import units_text
from treeselect.printing import decimal_text, enumeration, error_text, plain_score
from treeselect.reports.material import ContestMaterial
from treeselect.resampling.nouns import noun_of


def gather(material: ContestMaterial) -> tuple[str, ...]:
    """Which method is best, which do not differ detectably, and which are on the Pareto front."""
    found, ranked = material.found, material.ranked
    best = ranked.to_dict("records")[0]
    reached = (
        f"{plain_score(best['score'])}"
        f" (standard error {error_text(best['standard_error'])}), using"
        f" {units_text(best['n_selected'], found)}"
    )
    score, response = found.score_name, found.response
    if len(ranked) == 1:
        return (
            f"{best['method']} predicts {response} on held-out rows with a mean {score} of"
            f" {reached}.",
        )
    first = (
        f"Of {len(ranked)} methods, {best['method']} has the best mean {score} for predicting"
        f" {response} on held-out rows: {reached}."
    )
    said = verdict(ranked, material.differences)
    return first, _told_apart(said), *_front(said, noun_of(found.terms_of_unit, 2))


def _told_apart(said: Verdict) -> str:
    """Which methods differ detectably from the best."""
    if not said.worse:
        return "By the 95% intervals of the paired differences, no other method differs detectably."
    verb = "scores" if len(said.worse) == 1 else "score"
    if not said.alike:
        which = enumeration(said.worse) if len(said.worse) == 1 else "all other methods"
        return f"By the 95% intervals of the paired differences, {which} {verb} lower."
    does = "does" if len(said.alike) == 1 else "do"
    return (
        f"By the 95% intervals of the paired differences, {enumeration(said.alike)} {does} not"
        f" differ detectably from it; {enumeration(said.worse)} {verb} lower."
    )


def _front(said: Verdict, units: str) -> tuple[str, ...]:
    """The methods on the Pareto front, and which of them select fewest and are most stable."""
    what = f"the Pareto front of score, number of {units} and stability"
    if not said.front:
        return ()
    if len(said.front) == 1:
        return (f"{said.front[0]} is the only method on {what}.",)
    count = f"{said.fewest:.0f}" if said.fewest.is_integer() else f"{said.fewest:.1f}"
    verb = "selects" if len(said.smallest) == 1 else "select"
    text = f"On {what} are {enumeration(said.front)}:"
    text += f" {enumeration(said.smallest)} {verb} the fewest {units} ({count})"
    if said.stablest:
        verb = "is" if len(said.stablest) == 1 else "are"
        who = (
            f" and {verb}"
            if said.stablest == said.smallest
            else f", {enumeration(said.stablest)} {verb}"
        )
        text += f"{who} the most stable ({decimal_text(said.highest, 2)})"
    return (f"{text}.",)
