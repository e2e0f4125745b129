"""Names that have changed keep working for a while, with a warning that gives the new one.

Versions are semantic: what is public keeps its name and meaning until the next major version
(before 1.0, the next minor one), and an old name keeps working for at least one version more.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from treeselect.errors import OptionError, TreeselectDeprecationWarning

_F = TypeVar("_F", bound=Callable[..., Any])

REMOVALS: dict[str, str] = {}
"""Old names of the package, each with the version that removes it. A test compares these with the
version of the package, so that no name outlives its warning."""


def renamed_attribute(owner: str, old: str, new: str, *, since: str, until: str) -> property:
    """A property that reads `new` under its `old` name, with a warning.

    Parameters
    ----------
    owner : str
        The class, as in the warning.
    old, new : str
        Names of the attribute.
    since, until : str
        Versions: the first with the new name, and the first without the old one.

    Returns
    -------
    property

    Examples
    --------
    >>> class Bound:
    ...     informative = True
    ...     tells = renamed_attribute("Bound", "tells", "informative", since="0.1.0", until="9.0.0")
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     Bound().tells
    True
    >>> print(said[0].message)
    `Bound.tells` has been renamed to `Bound.informative` in 0.1.0; 9.0.0 removes the old name.
    """
    REMOVALS[f"{owner}.{old}"] = until
    text = _renamed(f"{owner}.{old}", f"{owner}.{new}", since, until)

    def read(self: Any) -> Any:
        warnings.warn(text, TreeselectDeprecationWarning, stacklevel=2)
        return getattr(self, new)

    read.__doc__ = f"Deprecated: renamed to `{new}` in {since}."
    return property(read)


def renamed_argument(old: str, new: str, *, since: str, until: str) -> Callable[[_F], _F]:
    """A decorator for a function that accepts a keyword under its `old` name, with a warning.

    Parameters
    ----------
    old, new : str
        Names of the keyword.
    since, until : str
        Versions: the first with the new name, and the first without the old one.

    Returns
    -------
    callable
        Its functions raise an ``OptionError`` if both names are given.

    Examples
    --------
    >>> @renamed_argument("ntree", "n_trees", since="0.1.0", until="9.0.0")
    ... def grow(n_trees=100):
    ...     return n_trees
    >>> grow(n_trees=5)
    5
    """

    def decorate(function: _F) -> _F:
        name = function.__name__
        REMOVALS[f"{name}({old}=)"] = until
        text = _renamed(f"{name}({old}=)", f"{name}({new}=)", since, until)

        @functools.wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:
            if old in keywords:
                if new in keywords:
                    raise OptionError(
                        f"`{old}` and `{new}` can't both be given: they are the same argument.\n"
                        f"  Omit `{old}`, the old name."
                    )
                warnings.warn(text, TreeselectDeprecationWarning, stacklevel=2)
                keywords[new] = keywords.pop(old)
            return function(*arguments, **keywords)

        return called  # type: ignore[return-value]

    return decorate


def _renamed(old: str, new: str, since: str, until: str) -> str:
    return f"`{old}` has been renamed to `{new}` in {since}; {until} removes the old name."
