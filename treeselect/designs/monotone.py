"""Monotone constraints: from names and directions to a sign for each coded column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treeselect.arguments.checks import read_mapping
from treeselect.arguments.scalars import described, finite
from treeselect.designs.families import Family
from treeselect.engine.arrays import Int8Array
from treeselect.engine.data.binning import FREE
from treeselect.errors import OptionError, did_you_mean, listing, near, quoted
from treeselect.formulas.terms import Term

if TYPE_CHECKING:
    from treeselect.designs.encoding import DesignSpec


def read_monotone(
    monotone: Mapping[str, int] | None, terms: Sequence[Term], family: Family
) -> dict[str, int]:
    """The direction of each constrained term, by the term's name.

    Raises
    ------
    OptionError
        If a name is no term, a direction is neither 1 nor -1, or the response has more than two
        classes.
    """
    given = read_mapping("monotone", monotone, "from terms to 1 or -1")
    known = {term.name: term for term in terms}
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
            raise _unknown(text, terms)
    if given and family.n_classes > 2:
        raise OptionError(
            "`monotone` needs a single prediction for each row, but a response of more than two"
            f" classes has a probability for each class.\n  Found: {family.n_classes} classes."
            " Model one class against the others, or leave `monotone` out."
        )
    return {str(name): 1 if finite(sign) == 1 else -1 for name, sign in given.items()}


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


def signs_of(spec: DesignSpec, columns: Sequence[str]) -> Int8Array:
    """The sign of each coded column, by the terms behind the columns; empty without constraints.

    Raises
    ------
    OptionError
        If a constrained term is not a single number.
    """
    for name in spec.monotone:
        term = spec[name]
        if term.column_levels == (None,) and not term.term.is_interaction:
            continue
        if term.term.is_interaction:
            found = "an interaction"
        elif term.n_levels is not None:
            found = f"a factor of {term.n_levels} levels"
        else:
            found = f"a transform of {len(term.column_levels)} columns"
        way = ""
        if term.term.is_plain:
            way = " Of an ordered factor, use the numbers of its levels as a column."
        raise OptionError(
            f"{quoted(name)} in `monotone` must be a numeric term of a single column.\n"
            f"  Found: {found}.{way}"
        )
    if not spec.monotone:
        return FREE
    return np.array([spec.monotone.get(name, 0) for name in columns], dtype=np.int8)


def monotone_notes(spec: DesignSpec) -> list[str]:
    """The constraints in words, and where they do not bind a variable."""
    if not spec.monotone:
        return []
    parts = [
        f"never {verb} with {listing(names)}"
        for verb, sign in (("decrease", 1), ("increase", -1))
        if (names := [name for name, own in spec.monotone.items() if own == sign])
    ]
    notes = [
        f"Monotone constraints: predictions of the final model {' and '.join(parts)}. All trees"
        " observe them; rows with a missing value may go to either side of a split."
    ]
    for name in spec.monotone:
        variables = set(spec[name].term.variables)
        others = [
            term.term.name
            for term in spec.terms
            if term.term.name != name and variables & set(term.term.variables)
        ]
        if free := [other for other in others if other not in spec.monotone]:
            notes.append(
                f"The variable of {quoted(name)} occurs in {listing(free)}, too, which"
                f" {'is' if len(free) == 1 else 'are'} not constrained: if"
                f" {'it is' if len(free) == 1 else 'they are'} selected, predictions need not be"
                " monotone in the variable."
            )
    return notes
