"""What resamples show, in sentences: how often terms were selected, which are interchangeable,
which sets were selected, and which pairs together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treeselect.printing import decimal_text, enumeration, percent_text
from treeselect.resampling.agreement import distinct_sets
from treeselect.resampling.fit import noun, quick_index
from treeselect.resampling.resampled import PAIR_LEVEL

if TYPE_CHECKING:
    from treeselect.resampling.fit import Fit
    from treeselect.resampling.stability import Stability

_MOST_UNITS = 8
"""Units in a sentence."""

_MOST_PAIRS = 3


def recurrence_sentence(groups: Sequence[str], stability: Stability, what: str = "terms") -> str:
    """How often resamples selected each unit of the fit.

    "In 100 bootstrap resamples, sex was always selected; age in 58."

    Parameters
    ----------
    groups : sequence of str
        Selected units, most important first; those that were forced in are left out.
    stability : Stability
    what : str
        "terms" or "units".

    Returns
    -------
    str
        Empty if every selected unit was forced in.
    """
    count = dict(zip(stability.units, stability.selected.sum(axis=0).tolist(), strict=True))
    free = dict(zip(stability.units, stability.assessed.tolist(), strict=True))
    found = sorted((name for name in groups if free[name]), key=lambda name: -count[name])
    if not found:
        return ""
    n = stability.n_resamples
    always = [name for name in found if count[name] == n]
    others = found[len(always) :]
    if n == 1:
        clauses = [_clause(always, "selected")] if always else []
        clauses += [_clause(others, "not selected")] if others else []
        return f"In {stability.words}, {'; '.join(clauses)}."
    clauses = [_clause(always, "always selected")] if always else []
    verb = "" if always else " was selected"
    for name in others[:_MOST_UNITS]:
        times = f"{count[name]:,}" if count[name] else "none"
        clauses.append(f"{name}{verb} in {times}")
        verb = ""
    rest = others[_MOST_UNITS:]
    if len(rest) == 1:
        clauses.append(f"{rest[0]} in {count[rest[0]] or 'none'}")
    elif rest:
        most = count[rest[0]]
        each = f"at most {most:,} each" if most else "none"
        clauses.append(f"the other {len(rest):,} selected {what} in {each}")
    return f"In {stability.words}, {'; '.join(clauses)}."


def _clause(names: Sequence[str], what: str) -> str:
    return f"{enumeration(names, _MOST_UNITS)} {'was' if len(names) == 1 else 'were'} {what}"


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
    first = stability.in_pandas.models(1).iloc[0]
    if n_models == 1 and n == 1:
        return ""
    if n_models == 1:
        which = "as in the fit" if own else f"not as in the fit: {_set_text(first['terms'])}"
        return f"All {n:,} resamples selected the same set, {which}."
    most = int(first["count"])
    n_first = int((distinct_sets(stability.selected)[1] == most).sum())
    text = f"The resamples selected {n_models:,} distinct sets"
    if most == 1:
        among = "one of them" if own else "not among them"
        return f"{text}, each once; the set of the fit is {among}."
    if own == most:
        among = "among the most frequent" if n_first > 1 else "the most frequent"
        return f"{text}; the set of the fit was {among} ({own:,} of {n:,})."
    times = f"in {own:,}" if own else "in none"
    if n_first > 1:
        tied = f"the {n_first:,} most frequent sets in {most:,} each"
        return f"{text}: the set of the fit {times} of {n:,}, {tied}."
    return (
        f"{text}: the set of the fit {times} of {n:,}, the most frequent set in {most:,}"
        f" ({_set_text(first['terms'])})."
    )


def _set_text(terms: Sequence[str]) -> str:
    return enumeration(terms, _MOST_UNITS) if len(terms) else "the empty set"


def has_pairs(stability: Stability) -> bool:
    """Whether two units that only some resamples selected were ever selected together; otherwise
    pairs add nothing to the frequencies."""
    count = stability.selected.sum(axis=0)
    varying = (count > 0) & (count < stability.n_resamples)
    return bool((stability.selected[:, varying].sum(axis=1) > 1).any())


def pair_sentence(stability: Stability) -> str:
    """Which pairs were selected together more or less often than by chance; empty if none was."""
    if not has_pairs(stability):
        return ""
    table = stability.in_pandas.pairs()
    clauses = []
    for sign, how in (("+", "more often"), ("-", "less often")):
        found = table[table["sign"] == sign]
        shown = [
            f"{row['term']} with {row['other']} ({percent_text(row['together'])}, expected"
            f" {percent_text(row['expected'])})"
            for row in found.head(_MOST_PAIRS).to_dict("records")
        ]
        more = len(found) - len(shown)
        if shown:
            tail = f" and {more:,} more pair{'s' if more > 1 else ''}" if more else ""
            clauses.append(f"{how} than by chance: {', '.join(shown)}{tail}")
    if not clauses:
        return ""
    text = "; ".join(clauses)
    return f"By chi-squared tests (p < {PAIR_LEVEL:g} each), selected together {text}."


def correlated_sentence(fit: Fit) -> str:
    """The stability index that allows for associated units; empty if computing it takes long."""
    index = quick_index(fit)
    if not np.isfinite(index):
        return ""
    return (
        f" Allowing for associations between {noun(fit)} (Sechidis et al.):"
        f" {decimal_text(index, 2)}."
    )
