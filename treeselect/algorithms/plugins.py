"""Methods of other packages: registered in a session, or declared as entry points.

A package declares a method as an entry point of the group ``treeselect.methods``. It is loaded
when its name, or the table of all methods, is requested.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from treeselect.algorithms.shared.method import Method, check_kind
from treeselect.arguments.scalars import described
from treeselect.errors import MethodError, quoted, said_by

GROUP = "treeselect.methods"

_REGISTERED: dict[str, type[Method]] = {}


def add(name: str, kind: type[Any], taken: Iterable[str]) -> None:
    """Keep a method under a name (see ``registry.register_method``)."""
    if not isinstance(name, str) or not name.isidentifier() or name != name.lower():
        raise MethodError(
            "`name` must be a word of lower-case letters, digits and underscores.\n"
            f"  Found: {described(name)}."
        )
    if not isinstance(kind, type):
        raise MethodError(
            f"`kind` must be a subclass of `treeselect.Method`.\n  Found: {described(kind)}."
        )
    check_kind(kind)
    known = _REGISTERED.get(name)
    if name in taken or (known is not None and known is not kind):
        raise MethodError(
            f"The name {quoted(name)} is already used by another method.\n"
            "  Choose a different name."
        )
    _try_defaults(kind)
    _REGISTERED[name] = kind


def _try_defaults(kind: type[Any]) -> None:
    """Raise a MethodError unless every option has a default."""
    needed = [
        field.name
        for field in dataclasses.fields(kind)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    ]
    if needed:
        raise MethodError(
            f"{kind.__name__} must have a default for every option.\n"
            f"  Found: no default for {quoted(needed[0])}."
        )


def find(name: str) -> type[Method] | None:
    """The class registered or declared under a name; None if there is none.

    Raises
    ------
    MethodError
        If a declared class can't be loaded.
    """
    if name not in _REGISTERED:
        announced = [point for point in _announced() if point.name == name]
        if announced:
            _REGISTERED[name] = _loaded(announced)
    return _REGISTERED.get(name)


def found(taken: Iterable[str]) -> dict[str, type[Method]]:
    """All of them by name, including declared ones.

    Raises
    ------
    MethodError
        If one of them can't be loaded, or if its name is already used.
    """
    for point in _announced():
        if point.name in taken:
            raise MethodError(
                f"{_package(point)} provides a method named {quoted(point.name)}, but that name is"
                " already used.\n  Uninstall the package, or ask its authors to rename the method."
            )
        find(point.name)
    return dict(_REGISTERED)


def names() -> list[str]:
    """Names of all of them, without loading any."""
    return list(dict.fromkeys([*_REGISTERED, *(point.name for point in _announced())]))


def name_of(kind: type[Any]) -> str | None:
    """The name under which a class is registered; None if it is not."""
    return next((name for name, known in _REGISTERED.items() if known is kind), None)


def _announced() -> list[metadata.EntryPoint]:
    return sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))


def _package(point: metadata.EntryPoint) -> str:
    name = "(name unknown)" if point.dist is None else quoted(point.dist.name)
    return f"The package {name}"


def _loaded(points: list[metadata.EntryPoint]) -> type[Method]:
    """The class that an entry point names."""
    first = points[0]
    if len({point.value for point in points}) > 1:
        packages = " and ".join(_package(point).removeprefix("The package ") for point in points)
        raise MethodError(
            f"The packages {packages} both provide a method named {quoted(first.name)}.\n"
            "  Uninstall one of them."
        )
    try:
        kind: Any = first.load()
        if not isinstance(kind, type):
            raise MethodError(f"Found: {described(kind)}, which isn't a class.")
        check_kind(kind)
        _try_defaults(kind)
    except Exception as error:  # third-party code can fail in any way
        raise MethodError(
            f"{_package(first)} provides the method {quoted(first.name)}, which can't be loaded.\n"
            f"  {said_by(error)}"
        ) from None
    return kind
