"""Monotone constraints: which terms they are on, and in which direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from treeselect.arguments.checks import read_mapping
from treeselect.arguments.scalars import described, finite
from treeselect.designs.columns import TermSpec
from treeselect.designs.families import Family
from treeselect.errors import OptionError, did_you_mean, listing, near, quoted
from treeselect.formulas.terms import Term


def read_monotone(
    monotone: Mapping[str, int] | None, terms: Sequence[TermSpec], family: Family
) -> dict[str, int]:
    """The direction of each constrained term, by the term's name.

    Raises
    ------
    OptionError
        If a name is no term, a term is not a single number, a direction is neither 1 nor -1, or the
        response has more than two classes.
    """
    given = read_mapping("monotone", monotone, "from terms to 1 or -1")
    known = {spec.term.name: spec for spec in terms}
    found: dict[str, int] = {}
    for name, direction in given.items():
        text = name if isinstance(name, str) else described(name)
        sign = None if isinstance(direction, bool | np.bool_) else finite(direction)
        if sign not in (1, -1):
            raise OptionError(
                f"The direction of {quoted(text)} in `monotone` must be 1 (predictions must not"
                " decrease with it) or -1 (must not increase).\n"
                f"  Found: {described(direction)}."
            )
        if name not in known:
            raise _unknown(text, [spec.term for spec in terms])
        _check_number(known[name])
        found[name] = 1 if sign == 1 else -1
    if found and family.n_classes > 2:
        raise OptionError(
            "`monotone` needs a single prediction for each row, but a response of more than two"
            f" classes has a probability for each class.\n  Found: {family.n_classes} classes."
            " Model one class against the others, or leave `monotone` out."
        )
    return found


def _check_number(spec: TermSpec) -> None:
    """Refuse what is not a single number."""
    if spec.column_levels == (None,) and not spec.term.is_interaction:
        return
    if spec.term.is_interaction:
        found = "an interaction"
    elif spec.n_levels is not None:
        found = f"a factor of {spec.n_levels} levels"
    else:
        found = f"a transform of {len(spec.column_levels)} columns"
    way = ""
    if spec.n_levels is not None and spec.term.is_plain:
        way = " Of an ordered factor, use the numbers of its levels as a column."
    raise OptionError(
        f"{quoted(spec.term.name)} in `monotone` must be a numeric term of a single column.\n"
        f"  Found: {found}.{way}"
    )


def _unknown(name: str, terms: Sequence[Term]) -> OptionError:
    behind = [term.name for term in terms if name in term.variables]
    if behind:
        return OptionError(
            f"{quoted(name)} in `monotone` must be a term of the formula.\n"
            f"  Found: a variable of {listing(behind)}. Name a term of one column; the constraint"
            " is then on the values of the term."
        )
    names = [term.name for term in terms]
    close = near(name, names)
    return OptionError(
        f"Can't find {quoted(name)}, named in `monotone`, among the terms.\n"
        f"  {did_you_mean(close) if close else f'Terms: {listing(names)}.'}"
    )


def monotone_notes(monotone: Mapping[str, int], terms: Sequence[Term]) -> list[str]:
    """The constraints in words, and where they do not bind a variable."""
    if not monotone:
        return []
    parts = [
        f"never {verb} with {listing(names)}"
        for verb, sign in (("decrease", 1), ("increase", -1))
        if (names := [name for name, own in monotone.items() if own == sign])
    ]
    notes = [
        f"Monotone constraints: predictions of the final model {' and '.join(parts)}. All trees"
        " grown on the response observe them; rows with a missing value may go to either side of a"
        " split."
    ]
    for constrained in (term for term in terms if term.name in monotone):
        name, variables = constrained.name, set(constrained.variables)
        free = [
            term.name
            for term in terms
            if term.name not in monotone and variables & set(term.variables)
        ]
        if free:
            notes.append(
                f"The variable of {quoted(name)} occurs in {listing(free)}, too, which"
                f" {'is' if len(free) == 1 else 'are'} not constrained: if"
                f" {'it is' if len(free) == 1 else 'they are'} selected, predictions need not be"
                " monotone in the variable."
            )
    return notes
