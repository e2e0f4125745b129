"""Packages that only some readers need."""

from __future__ import annotations

import importlib
from typing import Any

from treeselect.errors import MissingPackageError


def needed(package: str, extra: str, what: str) -> Any:
    """A package of an extra.

    Parameters
    ----------
    package : str
        Its module.
    extra : str
        The extra of treeselect that installs it.
    what : str
        What needs it, for the message.

    Raises
    ------
    MissingPackageError
        If it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingPackageError(
            f"{what} needs the package {package}, which can't be found.\n"
            f'  Install it: pip install "treeselect[{extra}]"'
        ) from None
