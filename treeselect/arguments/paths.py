"""Paths from users, and the system's error messages."""

from __future__ import annotations

import os
from pathlib import Path

from treeselect.arguments.scalars import described
from treeselect.errors import OptionError


def file_path(path: object, *, name: str = "path", error: type[Exception] = OptionError) -> Path:
    """A path from the user.

    Parameters
    ----------
    path : str or os.PathLike of str
    name : str
        Name of the argument.
    error : type of Exception
        Type of the error to raise.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OptionError, or `error`
        If it is neither text nor a path, is empty, or is not a valid file name.
    """
    found = _text(path)
    if not isinstance(found, str):
        raise error(f"`{name}` must be text or a `pathlib.Path`.\n  Found: {described(path)}.")
    try:
        allowed = bool(found) and b"\0" not in os.fsencode(found)
    except UnicodeEncodeError:  # an unpaired surrogate
        allowed = False
    if not allowed:
        raise error(
            f"`{name}` must be a valid file name: not empty, without NUL and without unpaired"
            f" surrogates.\n  Found: {described(found)}."
        )
    return Path(found)


def _text(path: object) -> object:
    """The text of a path; None if reading it fails."""
    if not isinstance(path, os.PathLike):
        return path
    try:
        return path.__fspath__()
    except Exception:  # foreign code
        return None


def current_folder() -> str:
    """The current folder, which may have been deleted."""
    try:
        return os.getcwd()
    except OSError:
        return "(deleted)"


def reason(caught: OSError | MemoryError) -> str:
    """The system's message, as a sentence."""
    if isinstance(caught, MemoryError):
        return "There is not enough memory."
    said = caught.strerror or str(caught) or type(caught).__name__
    return said if said.endswith(".") else f"{said}."
