"""Counts, shares, scores, intervals, p-values and lists of names, as every text has them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_DIGITS: ContextVar[int | None] = ContextVar("digits", default=None)
"""What somebody chose for the texts that are being made, in this thread alone."""


@contextmanager
def chosen_digits(digits: int | None) -> Iterator[None]:
    """While texts are made: scores, importances, frequencies and indices, with what belongs to
    them, have so many decimals, and the largest effect and coefficients so many significant digits.

    Parameters
    ----------
    digits : int or None
        From :func:`treeselect.arguments.checks.check_digits`; None leaves what is chosen already.
    """
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
    """An effect or a coefficient. What stands before the point is whole where digits were chosen:
    37, not 4e+01.

    Examples
    --------
    >>> from treeselect.printing import chosen_digits, significant_text
    >>> significant_text(0.03649, 3), significant_text(36.49, 3, "+")
    ('0.0365', '+36.5')
    >>> with chosen_digits(1):
    ...     significant_text(0.03649, 3), significant_text(36.49, 3, "+")
    ('0.04', '+36')
    """
    text = f"{value:{sign}.{significant(usual)}g}"
    is_long = _DIGITS.get() is not None and "e+" in text and abs(value) < 1e6
    return f"{value:{sign}.0f}" if is_long else text


def count_text(n: float) -> str:
    """A count, with commas from a thousand on.

    Examples
    --------
    >>> from treeselect.printing import count_text
    >>> count_text(7129), count_text(22)
    ('7,129', '22')
    """
    return f"{n:,.0f}"


def percent_text(share: float, digits: int = 0) -> str:
    """A share as a percentage, without a space, as English has it.

    Examples
    --------
    >>> from treeselect.printing import percent_text
    >>> percent_text(0.8), percent_text(0.249, 1)
    ('80%', '24.9%')
    """
    return f"{share:.{digits}%}"


def number_text(value: float, form: str, missing: str = "–") -> str:
    """A number in some format, or a word where there is none.

    Examples
    --------
    >>> from treeselect.printing import number_text
    >>> number_text(0.5, ".2f"), number_text(float("nan"), ".2f")
    ('0.50', '–')
    """
    return format(value, form) if math.isfinite(value) else missing


def decimal_form(usual: int, sign: str = "") -> str:
    """The format of scores, importances, frequencies and indices, and of what belongs to them:
    so many decimals, unless somebody chose."""
    return f"{sign}.{_DIGITS.get() or usual}f"


def decimal_text(value: float, usual: int, sign: str = "", missing: str | None = None) -> str:
    """A number of such a kind, or a word where there is none.

    Where few decimals were chosen it is told from 0 and from 1 all the same.

    Examples
    --------
    >>> from treeselect.printing import chosen_digits, decimal_text
    >>> decimal_text(0.85, 2), decimal_text(-0.01, 3, "+")
    ('0.85', '-0.010')
    >>> with chosen_digits(1):
    ...     decimal_text(0.85, 2), decimal_text(0.97, 2), decimal_text(0.0004, 3)
    ('0.8', '>0.9', '<0.1')
    """
    digits, form = _DIGITS.get(), decimal_form(usual, sign)
    if digits is not None and math.isfinite(value):
        return _told_apart(value, digits, sign)
    return format(value, form) if missing is None else number_text(value, form, missing)


def _told_apart(value: float, digits: int, sign: str) -> str:
    """A number with decimals that were chosen: only 0 is printed as 0, and nothing below 1 as 1;
    a change too small to be seen has no sign."""
    text = f"{value:{sign}.{digits}f}"
    if sign or value <= 0:
        return text.lstrip("+-") if float(text) == 0 else text
    least = 10.0**-digits
    if float(text) == 0:
        return f"<{least:.{digits}f}"
    return f">{1 - least:.{digits}f}" if value < 1 <= float(text) else text


def interval_text(low: float, high: float, form: str = "", missing: str = "–") -> str:
    """An interval, by default of a frequency or an index, or a word where a limit is not known.

    Examples
    --------
    >>> from treeselect.printing import interval_text
    >>> interval_text(0.306, 0.832), interval_text(-0.01, 0.02, "+.3f")
    ('0.31 to 0.83', '-0.010 to +0.020')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return missing
    form = form or decimal_form(2)
    return f"{low:{form}} to {high:{form}}"


def common_form(values: Iterable[float], digits: int, most: int = 6) -> str:
    """A format with so many decimals that the smallest of some numbers has so many digits, for all
    of a table; where these would be too many, or numbers are huge, digits of each.

    Examples
    --------
    >>> from treeselect.printing import common_form
    >>> common_form([0.409, 0.00518], digits=3), common_form([1e-9, 1.0], digits=3)
    ('.5f', '.4g')
    """
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    if not sizes:
        return ".4g"
    decimals = max(0, digits - 1 - math.floor(math.log10(min(sizes))))
    return f".{decimals}f" if decimals <= most and max(sizes) < 1e6 else f".{digits + 1}g"


def score_text(mean: float, standard_error: float, name: str = "s.e.") -> str:
    """A mean score with its standard error: "0.853 (s.e. 0.012)". What is below 1, or above 0, is
    not rounded to it."""
    if mean == 1 and standard_error == 0:
        return "1 in each fold"
    return f"{plain_score(mean)} ({name} {error_text(standard_error)})"


def plain_score(score: float) -> str:
    """A score, by default with three decimals; one that is nearly 1 is not rounded to it."""
    near = _DIGITS.get() is None and 0.9995 <= score < 1
    return ">0.999" if near else decimal_text(score, 3)


def error_text(standard_error: float) -> str:
    """A standard error, by default with three decimals; a small one is not rounded to none."""
    small = _DIGITS.get() is None and 0 < standard_error < 0.0005
    return "<0.001" if small else decimal_text(standard_error, 3)


def p_text(p: float) -> str:
    """A p-value as it is printed."""
    if math.isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def enumeration(names: Sequence[str], most: int = 8, room: int = 240) -> str:
    """Names in a sentence: "a, b and c"; at most so many, and so many characters."""
    shown, taken = 0, 0
    while shown < min(most, len(names)) and (shown == 0 or taken + len(names[shown]) <= room):
        taken += len(names[shown])
        shown += 1
    if len(names) > shown:
        return f"{', '.join(names[:shown])} and {count_text(len(names) - shown)} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
