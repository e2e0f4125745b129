"""Values that deserve a second look: codes, levels that are nearly alike, copies, few numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np

from treeselect.designs.evaluation import Values
from treeselect.designs.response import Response
from treeselect.engine.arrays import FloatArray
from treeselect.errors import quoted, shortened
from treeselect.formulas.terms import ParsedFormula
from treeselect.frames.number_text import number_text
from treeselect.frames.values import Labels, Numbers

_MOST = 6
"""Most columns that one kind of note names."""

_SENTINELS = (99.0, 999.0, 9999.0, 99999.0, -9.0, -99.0, -999.0, -9999.0)
"""Numbers that often stand for missing values."""

_FEW = 5
"""randomForest, too, warns of responses with at most so many different numbers; a column with fewer
has no end to be far from."""


_BEGIN = 8
"""First values of a column, which most columns have for themselves."""


def value_notes(formula: ParsedFormula, values: Mapping[str, Values]) -> list[str]:
    """Notes on the values of columns that are terms as they are."""
    plain = [term.name for term in formula.terms if term.is_plain]
    codes, alike, far = [], [], []
    for name in plain:
        column = values[name]
        if isinstance(column, Numbers):
            far += _far_code(name, column.values)
        elif isinstance(column, Labels) and all(isinstance(v, str) for v in column.levels):
            numbers = None if column.declared else number_text(column.levels)
            if numbers is not None and numbers.codes:
                listed = ", ".join(map(repr, numbers.codes))
                way = shortened(f"na={{{name!r}: [{listed}]}}")
                n = len(column.levels)
                codes.append(
                    f"{quoted(name)}, a factor with {n:,} levels because of {shortened(listed)}:"
                    f" `{way}`"
                )
            elif numbers is not None and not numbers.is_plain:
                codes.append(f"{quoted(name)}: `data[{name!r}] = {numbers.conversion(name)}`")
            alike += _alike(name, column.levels)
    found = [
        ("Numbers as text, modelled as a factor", codes),
        ("Levels that may be one", alike),
        ("Numbers far from all others, perhaps codes for missing values", far),
        ("Exact copies", _copies(plain, values)),
    ]
    return [f"{head}: {_some(texts)}." for head, texts in found if texts]


def response_notes(response: Response, family: str) -> list[str]:
    """Notes on the response.

    Parameters
    ----------
    response : Response
    family : str
        As the user gave it: a family that was chosen needs no note.
    """
    if response.classes and all(isinstance(level, str) for level in response.classes):
        alike = _alike(response.name, response.classes)
        return [f"Classes that may be one: {_some(alike)}."] if alike else []
    if family != "auto" or response.family.name != "gaussian":
        return []
    numbers, counts = np.unique(response.y, return_counts=True)
    if len(numbers) > _FEW or bool((numbers != np.floor(numbers)).any()):
        return []
    found = ", ".join(f"{v:g} ({n:,})" for v, n in zip(numbers, counts, strict=True))
    way = '`family="binomial"`' if len(numbers) == 2 else '`family="multinomial"`'
    return [
        f"The response {quoted(response.name)} has only {len(numbers)} values, {found}, and is"
        f" modelled as a number; for classes pass {way}."
    ]


def _some(texts: list[str]) -> str:
    more = f"; and {len(texts) - _MOST} more" if len(texts) > _MOST else ""
    return "; ".join(texts[:_MOST]) + more


def _alike(name: str, levels: Iterable[str]) -> list[str]:
    """Levels that differ only in case or blanks, and empty text."""
    by_word: dict[str, list[str]] = {}
    for level in levels:
        by_word.setdefault(" ".join(level.split()).casefold(), []).append(level)
    found = [
        f"{', '.join(repr(shortened(level)) for level in same)} of {quoted(name)}"
        for word, same in by_word.items()
        if len(same) > 1 and word
    ]
    if found:
        found = [
            f"{'; '.join(found[:3])} (`data[{name!r}].str.strip().str.lower()` makes them one)"
        ]
    if "" in by_word:
        found.append(f"empty text is a level of {quoted(name)} (`na={{{name!r}: ''}}`)")
    return found


def _far_code(name: str, values: FloatArray) -> list[str]:
    """A usual code at one end of a column, further away than the others are from each other."""
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values), np.fmax.reduce(values)
    for code, is_high in ((high, True), (low, False)):
        if code not in _SENTINELS:
            continue
        others = values[(values != code) & ~np.isnan(values)]
        if len(np.unique(others)) < _FEW:
            continue
        near, far = (others.max(), others.min()) if is_high else (others.min(), others.max())
        if near != far and abs(code - near) > abs(near - far):
            n = int((values == code).sum())
            return [
                f"{code:g} of {quoted(name)} in {n:,} row{'s' if n > 1 else ''}"
                f" (`na={{{name!r}: {code:g}}}`)"
            ]
    return []


def _copies(names: list[str], values: Mapping[str, Values]) -> list[str]:
    """Columns that are equal to another in every row."""
    alike: dict[bytes, list[str]] = {}  # by their first values: few columns are read as a whole
    for name in names:
        column = values[name]
        first = column.values if isinstance(column, Numbers) else ()
        alike.setdefault(np.ascontiguousarray(first[:_BEGIN]).tobytes(), []).append(name)
    likely = {name for some in alike.values() if len(some) > 1 for name in some}
    same: dict[bytes, list[str]] = {}
    for name in filter(likely.__contains__, names):
        column = values[name]
        if isinstance(column, Numbers):
            known = column.values[~np.isnan(column.values)]
            if not len(known) or (known[0] == known[-1] and bool((known == known[0]).all())):
                continue
            content = np.ascontiguousarray(column.values).tobytes()
        elif isinstance(column, Labels) and len(np.unique(column.codes)) > 1:
            content = column.codes.astype(np.int64).tobytes() + repr(column.levels).encode(
                "utf-8", "replace"
            )
        else:
            continue
        same.setdefault(hashlib.blake2b(content, digest_size=16).digest(), []).append(name)
    return [" = ".join(map(quoted, equal[:_MOST])) for equal in same.values() if len(equal) > 1]
