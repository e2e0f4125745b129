"""Numbers that are stored as text: percent signs, decimal commas, currencies, codes among them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ENGLISH = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
_CONTINENTAL = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_CURRENCY = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|[€$£¥]"
_UNIT = (
    "%|‰|°|°C|°F|kg|g|mg|µg|km|m|cm|mm|l|dl|ml|h|min|s|years?|yrs?|y|months?|weeks?|days?|hours?"
)
_AROUND = re.compile(
    rf"(?:{_CURRENCY}|[<>≤≥~])?\s*([+-]?[\d.,]*\d[\d.,]*)\s*(?:{_CURRENCY}|{_UNIT})?"
)

_LEAST = 3
"""Fewest different numbers of a column of numbers."""

_MOST_CODES = 5
"""Most different texts that are no numbers."""


@dataclass(frozen=True, slots=True)
class NumberText:
    """What was found in a column of text that holds numbers.

    Attributes
    ----------
    is_plain : bool
        Whether the numbers stand for themselves, without signs around them.
    example : str
        One of the numbers, with its signs if there are any.
    codes : tuple of str
        Texts that are no numbers.
    commas : str
        What commas and points stand for: ``""`` as in English, ``"decimal"`` for decimal commas,
        ``"both"`` for decimal commas beside points between thousands.
    """

    is_plain: bool
    example: str
    codes: tuple[str, ...]
    commas: str

    def conversion(self, column: str) -> str:
        """Python code that makes numbers of the column; codes become missing."""
        text = f"data[{column!r}]"
        if self.is_plain:
            return f"pandas.to_numeric({text}, errors='coerce')"
        if self.commas == "both":
            text += ".str.replace('.', '')"
        if self.commas:
            text += ".str.replace(',', '.')"
        return (
            f"pandas.to_numeric({text}.str.replace(r'[^\\d.+-]', '', regex=True), errors='coerce')"
        )


def number_text(levels: Sequence[object]) -> NumberText | None:
    """Numbers among the levels of a column of text; None if they are not most of them.

    Examples
    --------
    >>> found = number_text(["12 %", "7 %", "30 %", "n/a"])
    >>> found.example, found.codes
    ('12 %', ('n/a',))
    >>> number_text(["a1", "b2", "c3", "d4"]) is None
    True
    """
    numbers: list[str] = []
    marked: list[str] = []
    codes: list[str] = []
    for level in levels:
        text = str(level).strip()
        if _PLAIN.fullmatch(text):
            numbers.append(text)
        elif (found := _AROUND.fullmatch(text)) and _is_number(found[1]):
            marked.append(text)
        else:
            codes.append(str(level))
            if len(codes) > _MOST_CODES:
                return None
    if len(numbers) + len(marked) < max(_LEAST, 3 * len(codes)):
        return None
    return NumberText(not marked, (marked or numbers)[0], tuple(codes), _commas(marked))


def _is_number(text: str) -> bool:
    return any(p.fullmatch(text) for p in (_PLAIN, _ENGLISH, _CONTINENTAL, _COMMA))


def _commas(texts: Iterable[str]) -> str:
    """What commas stand for; between groups of three digits, for thousands."""
    found = [match[1] for text in texts if (match := _AROUND.fullmatch(text))]
    if any(_CONTINENTAL.fullmatch(text) for text in found):
        return "both"
    with_comma = [text for text in found if "," in text]
    return "decimal" if any(not _ENGLISH.fullmatch(text) for text in with_comma) else ""
