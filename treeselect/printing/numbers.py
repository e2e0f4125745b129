"""Counts, shares, scores, intervals, p-values and lists of names, as every text has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from treeselect.engine.arrays import IntArray

_DIGITS: ContextVar[int | None] = ContextVar("digits", default=None)
"""The user's `digits=` for the texts being written in this thread."""


@contextmanager
def chosen_digits(digits: int | None) -> Iterator[None]:
    """In this context numbers have as many decimals, and coefficients significant digits."""
    if digits is None:
        yield
        return
    before = _DIGITS.set(digits)
    try:
        yield
    finally:
        _DIGITS.reset(before)


def significant(usual: int) -> int:
    """Significant digits of an effect or a coefficient."""
    return _DIGITS.get() or usual


def significant_text(value: float, usual: int, sign: str = "") -> str:
    """An effect or a coefficient, whose integer part is never rounded; zero has no sign."""
    text = signed(value, f"{sign}.{significant(usual)}g")
    is_long = _DIGITS.get() is not None and "e+" in text and abs(value) < 1e6
    return f"{value:{sign}.0f}" if is_long else text


def signed(value: float, form: str) -> str:
    """A number in some format; one that is printed as zero has no sign."""
    text = format(value, form)
    return text if any(digit in text for digit in "123456789") else text.lstrip("+-")


def count_text(n: float) -> str:
    """A count, with commas from a thousand on; of weights that are no copies in tenths."""
    return f"{n:,.1f}".removesuffix(".0")


def counted(n: int, one: str) -> str:
    """So many of something: "1 row", "80 rows"."""
    return f"{n:,} {one}{'' if n == 1 else 's'}"


def every(n: float, one: str) -> str:
    """All of so many: "the only term", "both terms", "all 7 terms"."""
    if n < 3:
        return f"the only {one}" if n == 1 else f"both {one}s"
    return f"all {count_text(n)} {one}s"


def span(counts: Sequence[int] | IntArray) -> str:
    """A count, or the smallest and the largest of several: "80 to 81"."""
    low, high = count_text(min(counts)), count_text(max(counts))
    return low if low == high else f"{low} to {high}"


def percent_text(share: float) -> str:
    """A share as a whole percentage, rounded as the two decimals of a table."""
    return f"{float(f'{share:.2f}'):.0%}"


def number_text(value: float, form: str, missing: str = "–") -> str:
    """A number in some format, or `missing` if it is not finite."""
    return signed(value, form) if math.isfinite(value) else missing


def decimal_form(usual: int, sign: str = "") -> str:
    """The format of scores, importances, frequencies, indices, and their errors and intervals:
    `usual` decimals unless the user chose others."""
    return chosen_form(sign) or f"{sign}.{usual}f"


def chosen_form(sign: str = "") -> str:
    """The format of as many decimals as the user chose; empty if none were."""
    digits = _DIGITS.get()
    return f"{sign}.{digits}f" if digits else ""


_LONGEST = 1e7
"""Numbers from here on are in scientific notation, such as a D2 of counts that explode."""


def decimal_text(value: float, usual: int, sign: str = "", missing: str | None = None) -> str:
    """A score, importance, frequency or index, or `missing` if it is not finite; with few decimals
    it is still distinguished from 0 and 1."""
    digits, form = _DIGITS.get(), decimal_form(usual, sign)
    if missing is not None and not math.isfinite(value):
        return missing
    if digits is None or not math.isfinite(value):
        return signed(value, form if abs(value) < _LONGEST else f"{sign}.3g")
    text, least = signed(value, form), 10.0**-digits
    if not sign and value > 0 == float(text):  # only 0 is printed as 0, and nothing below 1 as 1
        return f"<{least:.{digits}f}"
    return f">{1 - least:.{digits}f}" if not sign and 0 < value < 1 <= float(text) else text


def interval_text(low: float, high: float, form: str = "", missing: str = "–") -> str:
    """An interval, by default of a frequency or an index, or `missing` if a limit is not finite."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return missing
    form = form or decimal_form(2)
    return f"{signed(low, form)} to {signed(high, form)}"


def common_form(values: Iterable[float], digits: int) -> str:
    """One format for a table: enough decimals for the smallest number to have `digits` digits; if
    these are more than six, or some number is huge, `digits` + 1 significant digits of each."""
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes:
        return ".4g"
    decimals = max(0, digits - 1 - math.floor(math.log10(min(sizes))))
    return f".{decimals}f" if decimals <= 6 and max(sizes) < 1e6 else f".{digits + 1}g"


def score_text(mean: float, standard_error: float, name: str = "s.e.") -> str:
    """A mean score with its standard error: "0.853 (s.e. 0.012)". A score below 1 is not rounded
    to 1, nor a positive standard error to 0."""
    if mean == 1 and standard_error == 0:
        return "1 in each fold"
    return f"{plain_score(mean)} ({name} {error_text(standard_error)})"


def plain_score(score: float) -> str:
    """A score, by default with three decimals; a score below 1 is not rounded to 1."""
    near = _DIGITS.get() is None and 0.9995 <= score < 1
    return ">0.999" if near else decimal_text(score, 3)


def error_text(standard_error: float) -> str:
    """A standard error, by default with three decimals; a positive one is not rounded to 0."""
    small = _DIGITS.get() is None and 0 < standard_error < 0.0005
    return "<0.001" if small else decimal_text(standard_error, 3)


def p_text(p: float) -> str:
    if math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def enumeration(names: Sequence[str], most: int = 8, room: int = 240) -> str:
    """Names in a sentence: "a, b and c"; at most `most` names, and about `room` characters."""
    shown, taken = 0, 0
    while shown < min(most, len(names)) and (shown == 0 or taken + len(names[shown]) <= room):
        taken += len(names[shown])
        shown += 1
    if len(names) > shown:
        return f"{', '.join(names[:shown])} and {count_text(len(names) - shown)} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
