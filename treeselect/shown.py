"""Safe display of user text: no effect on a terminal, a page or the order of what is read.

Names of columns, levels, classes, groups and files are arbitrary text. Returned frames contain them
unchanged; whatever is printed, drawn or written for readers passes through :func:`shown`.
"""

from __future__ import annotations

import re

_NONCHARACTERS = "".join(
    f"{chr(plane + 0xFFFE)}-{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)

_ACTS = (
    "\x00-\x1f\x7f-\x9f"  # escape sequences, bells, line ends
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction of writing: reorders what is read
    "\u2028\u2029\ufff9-\ufffb"  # line ends, interlinear notes
    "\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff"  # invisible
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
    "\ud800-\udfff"  # halves of characters, which no file in UTF-8 can hold
    f"\ufdd0-\ufdef{_NONCHARACTERS}"  # which XML does not allow
)
"""Listed here, not read from `unicodedata`, so that texts do not depend on Python's version."""

_JOINERS = "\u200c\u200d"
"""Scripts of Persia and India, and emoji, need them between their characters; elsewhere they are
only unseen."""

_LETTER = f"[^\x00-\x7f\u2000-\u206f{_ACTS}]"

HIDDEN = re.compile(f"[{_ACTS}]|(?<!{_LETTER})[{_JOINERS}]|[{_JOINERS}](?!{_LETTER})")
"""A character that is displayed escaped."""

_SAID = re.compile(f"(?!\n)(?:{HIDDEN.pattern})")


def shown(text: str) -> str:
    r"""Text with every control character escaped, as Python's ``repr`` writes it.

    Applying it twice changes nothing more. Nothing else is changed, not even backslashes: a name
    that literally contains ``\x1b`` looks like one that contains ESC.

    Examples
    --------
    >>> print(shown("a\x1b[31mb"), shown("x\ny"), shown("naïve"))
    a\x1b[31mb x\ny naïve
    """
    return HIDDEN.sub(_escape, text)


def said(text: str) -> str:
    """A message of several lines: as :func:`shown`, but line ends are kept."""
    return _SAID.sub(_escape, text)


def is_broken(text: str) -> bool:
    """Whether a text has an unpaired surrogate, which no file, table or page can store."""
    return _BROKEN.search(text) is not None


_BROKEN = re.compile("[\ud800-\udfff]")


def _escape(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n|%]")  # noqa: RUF001 - read as the ASCII signs, too
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guarded(text: str) -> str:
    """Text of a CSV file, with an apostrophe before it if a spreadsheet would run it as a formula
    (as OWASP advises: names are untrusted); a number stays as it is.

    Examples
    --------
    >>> [guarded(text) for text in ("=1+1", "@SUM(A1)", "-0.5", "- none", "yes")]
    ["'=1+1", "'@SUM(A1)", '-0.5', "'- none", 'yes']
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
