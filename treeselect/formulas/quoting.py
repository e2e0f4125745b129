"""Names and texts between quotation marks, taken out of a formula before anything reads it.

`` `a b` `` and ``'north'`` become identifiers of our own, so that no parser behind this one ever
sees a quotation mark or has to agree on where a quotation ends.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from treeselect.errors import FormulaError, listing, quoted
from treeselect.shown import is_broken

LONGEST_TEXT = 5_000
"""Most characters of one name, text between quotation marks, or expression."""

_PARTS = re.compile(
    r"""`[^`]*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[`'"]""",
    re.DOTALL,
)

_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U00[01][0-9a-fA-F]{5}|.)", re.DOTALL)

_ESCAPES = {
    r"\\": "\\", r"\'": "'", r"\"": '"', r"\n": "\n", r"\r": "\r", r"\t": "\t"
}  # fmt: skip

_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Unquoted:
    """A formula without quotations.

    Attributes
    ----------
    code : str
        The formula, an identifier in the place of each quotation.
    columns, words : mapping of str to str
        Name between backticks, or text between quotes, by identifier.
    prefix : str
        Beginning of all identifiers; it stands nowhere in the formula.
    """

    code: str
    columns: Mapping[str, str]
    words: Mapping[str, str]
    prefix: str
    _written: Mapping[str, str] = field(repr=False)

    def restore(self, code: str) -> str:
        """A part of the code as the user wrote it."""
        return re.sub(rf" ?({self.prefix}\d+_) ?", lambda found: self._written[found[1]], code)


def too_long(expression: str) -> FormulaError:
    """The error for an expression of too many characters."""
    return FormulaError(
        f"An expression in a formula must have at most {LONGEST_TEXT:,} characters.\n"
        f"  Found: {len(expression):,}, beginning {expression[:40]!r}."
    )


def unquote(formula: str) -> Unquoted:
    """Take names between backticks and texts between quotes out of a formula.

    Raises
    ------
    FormulaError
        If a quotation does not end, is too long, has a prefix as in ``f"..."``, or if text holds a
        backtick.
    """
    taken = set(re.findall(r"_q(\d+)_", formula))
    prefix = next(f"_q{i}_" for i in itertools.count() if str(i) not in taken)
    columns: dict[str, str] = {}
    words: dict[str, str] = {}
    written: dict[str, str] = {}
    known: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        part = match[0]
        if part not in known:
            name = f"{prefix}{len(known)}_"
            if part[0] == "`":
                columns[name] = _column(part, formula)
            else:
                words[name] = _word(part, formula, match.start())
            known[part] = name
            written[name] = part
        elif part[0] != "`":
            _check_prefix(part, formula, match.start())
        return f" {known[part]} "

    return Unquoted(_PARTS.sub(replace, formula), columns, words, prefix, written)


def _column(part: str, formula: str) -> str:
    if part == "`":
        raise FormulaError.at("A name in backticks must end with a backtick.", formula, part)
    _check_length(part, "name", formula)
    return part[1:-1]


def _word(part: str, formula: str, start: int) -> str:
    if len(part) == 1:
        raise FormulaError.at(
            f"Text in a formula must end with the quotation mark it begins with, {part}.",
            formula,
            part,
            "Put a column name that contains a quotation mark in backticks.",
        )
    _check_prefix(part, formula, start)
    _check_length(part, "text", formula)
    word = _ESCAPE.sub(lambda found: _unescaped(found[0], part, formula), part[1:-1])
    if is_broken(word):
        raise FormulaError.at(
            "Text in a formula must not contain an incomplete character (a lone surrogate).",
            formula,
            part,
        )
    if "`" in word:
        raise FormulaError.at(
            "Text in a formula must not contain a backtick, which encloses column names.",
            formula,
            part,
            "Rename the level, or add the computed column to `data` first.",
        )
    return word


def _unescaped(escape: str, part: str, formula: str) -> str:
    code = int(escape[2:], 16) if len(escape) > 2 else -1
    if escape not in _ESCAPES and not 0 <= code < 0x110000:
        raise FormulaError.at(
            f"Text in a formula must not contain the escape {quoted(escape)}.",
            formula,
            part,
            f"Write a literal backslash twice. Allowed: {listing(_ESCAPES)} and codes such as"
            r" `\x41` and `\u00e9`.",
        )
    return _ESCAPES[escape] if code < 0 else chr(code)


def _check_prefix(part: str, formula: str, start: int) -> None:
    if _WORD.match(formula[start - 1 : start]):
        raise FormulaError.at(
            "Quoted text in a formula must not follow a letter or digit: prefixes, as in f'...' and"
            " b'...', are not supported.",
            formula,
            part,
        )


def _check_length(part: str, kind: str, formula: str) -> None:
    if len(part) > LONGEST_TEXT:
        raise FormulaError.at(
            f"A quoted {kind} in a formula must have at most {LONGEST_TEXT:,} characters.",
            formula,
            part[:LONGEST_TEXT],
            f"Found: {len(part):,}.",
        )
