"""Methods by name: those of this package, registered ones, and those of other packages."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import pandas as pd

from treeselect.algorithms.controlburn.controlburn import ControlBurn
from treeselect.algorithms.filters import CFS, FCBF, MRMR
from treeselect.algorithms.foreign import IN_FILES, ForeignSelector, foreign_selector
from treeselect.algorithms.forests.elimination import RecursiveElimination, VarSelRF
from treeselect.algorithms.forests.gbfs import GBFS
from treeselect.algorithms.forests.ranking import Boruta, ForestImportance
from treeselect.algorithms.forests.regularised import GRRF, RRF, RBoost
from treeselect.algorithms.linear.hsic import HSICLasso
from treeselect.algorithms.linear.penalised import SVMRFE, Lasso
from treeselect.algorithms.linear.stepwise import Stepwise
from treeselect.algorithms.method import (
    Method,
    MissingMethod,
    check_kind,
    check_told,
    is_method,
    plain_options,
    told,
)
from treeselect.algorithms.search.exchange import ExchangeSearch
from treeselect.arguments.checks import described, is_one_of
from treeselect.designs.estimators import text_of
from treeselect.errors import MethodError, listing, near_or, quoted, said_by

METHODS: dict[str, type[Method]] = {
    kind.name: kind
    for kind in (
        ExchangeSearch, ControlBurn, RRF, GRRF, RBoost, GBFS,
        ForestImportance, RecursiveElimination, Lasso, Boruta, MRMR, CFS, FCBF, HSICLasso, SVMRFE,
        VarSelRF, Stepwise,
    )
}  # fmt: skip
"""Methods of this package, by name."""

_OWN = {*METHODS.values(), ForeignSelector}

GROUP = "treeselect.methods"
"""Entry points that declare methods of other packages: loaded when their name is requested, or the
table of all methods."""

_REGISTERED: dict[str, type[Method]] = {}


def register_method(name: str, kind: type[Method]) -> None:
    """Register a method under a name, so that ``select`` and all other calls find it.

    Packages need not call this: they declare their methods as entry points of the group
    ``treeselect.methods``. Worker processes and model files receive the class itself, or find it
    again by its name.

    Parameters
    ----------
    name : str
        A word of lower-case letters, digits and underscores.
    kind : type
        A subclass of :class:`treeselect.Method` with a default for every option.

    Raises
    ------
    MethodError
        If another class has the name, or if the class is not a complete method.

    Examples
    --------
    >>> import treeselect
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Quick(treeselect.RRF):
    ...     n_trees: int = 20
    ...     name = "quick"
    >>> treeselect.register_method("quick", Quick)
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> treeselect.select("survived ~ .", data, method="quick", k=2, seed=1).k
    2
    """
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
    if name in METHODS or (known is not None and known is not kind):
        raise MethodError(
            f"The name {quoted(name)} is already used by another method.\n"
            "  Choose a different name."
        )
    _try_defaults(kind)
    _REGISTERED[name] = kind


def find_kind(name: str) -> type[Method] | None:
    """The class of methods with that name, in any case; None if there is none."""
    return METHODS.get(name.lower()) or _declared(name.lower())


def find_method(method: Any, options: Mapping[str, Any]) -> Method:
    """The method with that name, or the given method, with some options replaced."""
    if isinstance(method, str):
        kind = find_kind(method)
        if kind is None:
            raise _unknown(method)
        _check_options(kind, options)
        return kind(**options)
    found = method if is_method(method) else foreign_selector(method)
    check_kind(type(found))
    if options:
        _check_options(type(found), options)
        found = dataclasses.replace(found, **options)
    return found


def method_text(method: Any) -> Any:
    if isinstance(method, str):
        return str(method)  # a plain str, not numpy's
    return method if is_method(method) else _Typed(text_of(method))


class _Typed(str):
    """Text that is its own representation."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def method_record(method: Method) -> list[Any]:
    """Name and options of a method for a model file; for methods of other packages, also the
    description that replaces their code where it is missing.
    """
    name, options = method.record()
    if type(method) in _OWN:
        return [name, options]
    name = next((own for own, known in _REGISTERED.items() if known is type(method)), name)
    return [name, plain_options(options), told(method, name)]


def method_of_record(
    name: str, options: Mapping[str, Any], said: Mapping[str, Any] | None = None
) -> Method:
    """The method of such a record, or a stand-in if its code is missing.

    Only registered methods and entry points of installed packages are imported.
    """
    if said is None:
        if name == IN_FILES:
            _check_options(ForeignSelector, options)
            return ForeignSelector.lost(options)
        return find_method(str(name), options)
    check_told(said)
    try:
        return find_method(str(name), options)
    except Exception as error:  # third-party code can fail in any way, or have changed
        return MissingMethod(said, said_by(error))


def methods() -> pd.DataFrame:
    """Table of all methods, including those of other packages.

    Returns
    -------
    pandas.DataFrame
        One row per method: ``method``, ``title``, ``options`` (names and defaults, the tuning
        parameter first), ``paper``.

    Raises
    ------
    MethodError
        If a method of another package can't be loaded.

    Examples
    --------
    >>> import treeselect
    >>> "controlburn" in treeselect.methods()["method"].tolist()
    True
    """
    for point in _announced():
        if point.name in METHODS:
            raise MethodError(
                f"{_package(point)} provides a method named {quoted(point.name)}, but that name is"
                " already used.\n  Uninstall the package, or ask its authors to rename the method."
            )
        _declared(point.name)
    rows = []
    for name, method in ((name, kind()) for name, kind in (METHODS | _REGISTERED).items()):
        options = sorted(method.defaults().items(), key=lambda own: own[0] != method.tuning_name)
        said = ", ".join(f"{option}={value!r}" for option, value in options)
        rows.append((name, method.title, said, method.paper))
    return pd.DataFrame(rows, columns=["method", "title", "options", "paper"])


def _unknown(name: str) -> Exception:
    known = list(dict.fromkeys([*METHODS, *_REGISTERED, *(point.name for point in _announced())]))
    advice = near_or(name, known, f"Methods: {listing(known, len(known))}.")
    return MethodError(f"`method` must be a known method.\n  Found: {quoted(name)}. {advice}")


def _check_options(kind: type[Any], options: Mapping[str, Any]) -> None:
    known = list(kind.defaults() | dict(inspect.signature(kind).parameters))
    own = " Set those of the selector when you create it." if kind is ForeignSelector else ""
    for option in options:
        if not is_one_of(option, known):
            text = option if isinstance(option, str) else described(option)
            raise MethodError(
                f"{kind.__name__} has no option {quoted(text)}.\n  {_advice(text, known)}{own}"
            )


def _advice(option: str, known: list[str]) -> str:
    """A similar option, or the methods of this package that have the option."""
    having = [name for name, kind in METHODS.items() if option in kind.defaults()]
    if having:
        return f"Methods with this option: {listing(having, len(having))}."
    return near_or(option, known, f"Options: {listing(known)}.")


# --- methods of other packages --------------------------------------------------------------------


def _try_defaults(kind: type[Any]) -> None:
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


def _declared(name: str) -> type[Method] | None:
    """The class registered or declared under a name; None if there is none."""
    if name not in _REGISTERED:
        announced = [point for point in _announced() if point.name == name]
        if announced:
            _REGISTERED[name] = _loaded(announced)
    return _REGISTERED.get(name)


def _announced() -> list[metadata.EntryPoint]:
    return sorted(metadata.entry_points(group=GROUP), key=lambda point: (point.name, point.value))


def _package(point: metadata.EntryPoint) -> str:
    name = "(name unknown)" if point.dist is None else quoted(point.dist.name)
    return f"The package {name}"


def _loaded(points: list[metadata.EntryPoint]) -> type[Method]:
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
