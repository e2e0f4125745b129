"""Names, numbers and pairs as they are typed after a flag.

Signs inside brackets and quotation marks do not divide, so that terms such as ``poly(x, 2)`` can be
typed as they are. A name that contains a comma, an equals sign or a lone bracket is put between
double quotes, in which a double quote is doubled, as in CSV files.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from typing import Any

from treeselect.arguments.checks import described
from treeselect.errors import OptionError, quoted

_OPEN = dict(zip(")]}", "([{", strict=True))


def split(text: str, sign: str, most: int = -1) -> list[str] | None:
    """Parts of a text between the signs outside brackets and quotation marks; None if a bracket or
    quotation mark is not closed.

    Examples
    --------
    >>> split('age,poly(dose, 2),"a,b"', ",")
    ['age', 'poly(dose, 2)', '"a,b"']
    """
    parts: list[str] = []
    inside: list[str] = []
    start, mark = 0, ""
    for place, letter in enumerate(text):
        if mark:
            mark = "" if letter == mark else mark
        elif letter in '"`':
            mark = letter
        elif letter in "([{":
            inside.append(letter)
        elif letter in _OPEN:
            if not inside or inside.pop() != _OPEN[letter]:
                return None
        elif letter == sign and not inside and len(parts) != most:
            parts.append(text[start:place])
            start = place + 1
            if len(parts) == most:  # the rest is text of any kind
                break
    else:
        if inside or mark:
            return None
    return [*parts, text[start:]]


def name(text: str) -> str:
    """A name without the blanks and the double quotes around it.

    Examples
    --------
    >>> name(' "5\\"\\" nail" ')
    '5" nail'
    """
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] == '"':
        return bare[1:-1].replace('""', '"')
    return bare


def read_whole(text: str) -> int | str:
    """A whole number if it is one; otherwise the text, which later checks refuse."""
    try:
        return int(text)
    except ValueError:
        return text


def read_number(text: str) -> int | float | str:
    """A number if it is one; otherwise the text, which later checks refuse."""
    found = read_whole(text)
    if isinstance(found, str):
        with contextlib.suppress(ValueError):
            return float(text)
    return found


def read_value(text: str) -> Any:
    """The value of a method's option: a number, true, false, none, a list or quoted text as in
    JSON; otherwise the text itself.

    Examples
    --------
    >>> [read_value(text) for text in ("5", "0.3", "true", "none", "[1, 2]", '"5"', "gini")]
    [5, 0.3, True, 'none', [1, 2], '5', 'gini']
    """
    bare = text.strip()
    if bare.lower() in ("true", "false"):
        return bare.lower() == "true"
    if bare.startswith(("[", '"')):
        with contextlib.suppress(ValueError, RecursionError):
            return json.loads(bare)
    return read_number(bare)


def read_names(text: str) -> list[str] | str:
    """Comma-separated names; the text itself if a bracket or quotation mark is not closed."""
    parts = split(text, ",")
    return text if parts is None else [name(part) for part in parts]


def pairs(texts: Iterable[str], flag: str, form: str, example: str) -> dict[str, str]:
    """Names and what follows the first equals sign outside brackets and quotation marks.

    Parameters
    ----------
    texts : iterable of str
        Each as in ``wbc=White blood cells``.
    flag, form, example : str
        The flag, ``NAME=LABEL`` and an example, for the message.

    Raises
    ------
    OptionError
        If a text has another form, or a name is given twice.
    """
    return _once((_halves(text, flag, form, example) for text in texts), flag)


def numbers(texts: Iterable[str], flag: str, form: str, example: str) -> dict[str, Any]:
    """Names and the number that follows the last equals sign.

    Parameters and errors are those of :func:`pairs`.
    """
    found = []
    for text in texts:
        before, sign, after = text.rpartition("=")
        number = read_number(after)
        if not sign or not before.strip() or isinstance(number, str):
            raise _not_of(form, flag, text, example)
        found.append((name(before), number))
    return _once(found, flag)


def lists(texts: Iterable[str], flag: str, form: str, example: str) -> dict[str, list[str]]:
    """Names and the comma-separated names that follow.

    Parameters and errors are those of :func:`pairs`.
    """
    found = {}
    for key, text in pairs(texts, flag, form, example).items():
        members = read_names(text)
        if isinstance(members, str):
            raise _not_of(form, flag, f"{key}={text}", example)
        found[key] = members
    return found


def _halves(text: str, flag: str, form: str, example: str) -> tuple[str, str]:
    halves = split(text, "=", most=1)
    if halves is None or len(halves) == 1 or not halves[0].strip():
        raise _not_of(form, flag, text, example)
    return name(halves[0]), halves[1]


def _once(found: Iterable[tuple[str, Any]], flag: str) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for key, value in found:
        if key in known:
            raise OptionError(f"`{flag}` must name {quoted(key)} once.\n  Found: it twice.")
        known[key] = value
    return known


def _not_of(form: str, flag: str, text: str, example: str) -> OptionError:
    return OptionError(
        f"`{flag}` must be {form}.\n  Found: {described(text)}. Write, for example,"
        f" `{flag} {example}`. A name that contains a comma, an equals sign or a lone bracket needs"
        " double quotes around it."
    )
