"""Paths that users give, and what the system says of them."""

from __future__ import annotations

import os
from pathlib import Path

from treeselect.arguments.scalars import described
from treeselect.errors import OptionError


def file_path(path: object, *, name: str = "path", error: type[Exception] = OptionError) -> Path:
    """A path that the user gave.

    Parameters
    ----------
    path : str or os.PathLike of str
    name : str
        What the argument is called.
    error : type of Exception
        What is raised.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OptionError, or `error`
        If it is neither text nor a path, empty, or no name that a file can have.
    """
    found = _text(path)
    if not isinstance(found, str):
        raise error(f"`{name}` must be text or a `pathlib.Path`.\n  Found: {described(path)}.")
    try:
        allowed = bool(found) and b"\0" not in os.fsencode(found)
    except UnicodeEncodeError:  # half a character
        allowed = False
    if not allowed:
        raise error(
            f"`{name}` must be a name that a file can have: not empty, without NUL and without"
            f" half characters.\n  Found: {described(found)}."
        )
    return Path(found)


def _text(path: object) -> object:
    """What a path says that it is; nothing if it fails to say it."""
    if not isinstance(path, os.PathLike):
        return path
    try:
        return path.__fspath__()
    except Exception:  # code of others
        return None


def current_folder() -> str:
    """The folder that relative paths start from, which may have been deleted."""
    try:
        return os.getcwd()
    except OSError:
        return "(deleted)"


def reason(caught: OSError | MemoryError) -> str:
    """What the system said, as a sentence."""
    if isinstance(caught, MemoryError):
        return "There is not enough memory."
    said = caught.strerror or str(caught) or type(caught).__name__
    return said if said.endswith(".") else f"{said}."
