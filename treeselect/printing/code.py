"""Sentences with code between backticks, taken apart."""

from __future__ import annotations


def code_and_words(text: str) -> list[tuple[str, bool]]:
    """Pieces of a sentence, and whether each is code.

    Examples
    --------
    >>> from treeselect.printing.code import code_and_words
    >>> code_and_words("See `tidy()`.")
    [('See ', False), ('tidy()', True), ('.', False)]
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick without a partner is part of some name
        return [(text, False)]
    return [(part, i % 2 == 1) for i, part in enumerate(parts) if part]
