"""Text that a spreadsheet would run as a formula when it opens a CSV file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r]")  # noqa: RUF001 - read as the ASCII signs, too
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guarded(text: str) -> str:
    """Text with an apostrophe before it if a spreadsheet would run it; a number stays as it is.

    Examples
    --------
    >>> [guarded(text) for text in ("=1+1", "@SUM(A1)", "-0.5", "- none", "yes")]
    ["'=1+1", "'@SUM(A1)", '-0.5', "'- none", 'yes']
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def guard_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """A table with names and texts :func:`guarded`; numbers are unchanged."""
    done = frame.rename(columns=lambda name: guarded(str(name)))
    for j in range(done.shape[1]):
        column = done.iloc[:, j]
        if column.dtype.kind not in "biufc":
            texts = [guarded(v) if isinstance(v, str) else v for v in column.astype(object)]
            done.isetitem(j, texts)
    return done
