"""From a method's name to the method: the only place that knows names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treeselect.algorithms.boruta import Boruta
from treeselect.algorithms.cfs import CFS
from treeselect.algorithms.controlburn import ControlBurn
from treeselect.algorithms.elimination import RecursiveElimination
from treeselect.algorithms.fcbf import FCBF
from treeselect.algorithms.foreign import ForeignSelector, foreign_selector
from treeselect.algorithms.gbfs import GBFS
from treeselect.algorithms.hsic_lasso import HSICLasso
from treeselect.algorithms.importance import ForestImportance
from treeselect.algorithms.lasso import Lasso
from treeselect.algorithms.mrmr import MRMR
from treeselect.algorithms.rboost import RBoost
from treeselect.algorithms.rrf import GRRF, RRF
from treeselect.algorithms.shared.base import SelectionMethod, changed_options, option_defaults
from treeselect.algorithms.shared.foreign_selectors import text_of
from treeselect.algorithms.stepwise import Stepwise
from treeselect.algorithms.svm import SVMRFE
from treeselect.algorithms.varselrf import VarSelRF
from treeselect.arguments.checks import is_one_of
from treeselect.arguments.scalars import described
from treeselect.errors import MethodError, did_you_mean, listing, near, quoted

if TYPE_CHECKING:
    import pandas as pd

METHODS: dict[str, type[Any]] = {
    kind.name: kind
    for kind in (
        ControlBurn, RRF, GRRF, RBoost, GBFS,
        ForestImportance, RecursiveElimination, Lasso, Boruta, MRMR, CFS, FCBF, HSICLasso, SVMRFE,
        VarSelRF, Stepwise,
    )
}  # fmt: skip


_FOREIGN = "selector"
"""Name of all selectors of others in model files, whatever they are called."""


def find_method(method: Any, options: Mapping[str, Any], k: object = None) -> SelectionMethod:
    """The method of that name, or the method itself, with some options replaced.

    Parameters
    ----------
    method : str, SelectionMethod or selector
        A selector of scikit-learn becomes a :class:`ForeignSelector`.
    options : mapping of str to object
    k : int, str or None
        How the number of units is chosen, by which a selector may go.

    Raises
    ------
    MethodError
        If the name or an option is unknown, or an option is not in its range.
    """
    if isinstance(method, str):
        kind = METHODS.get(method.lower())
        if kind is None:
            raise _unknown(method)
        _check_options(kind, options)
        built: SelectionMethod = kind(**options)
        return built
    is_own = type(method) in METHODS.values() or isinstance(method, ForeignSelector)
    found = method if is_own else foreign_selector(method)
    if options:
        is_foreign = isinstance(found, ForeignSelector)
        _check_options(type(found), options, inside=found.name if is_foreign else None)
        found = dataclasses.replace(found, **options)
    chosen: SelectionMethod = found.settled(k) if isinstance(found, ForeignSelector) else found
    return chosen


def method_text(method: Any) -> Any:
    """A method as it could be typed: a selector as the call that makes it, in words."""
    if isinstance(method, str):
        return str(method)  # numpy's text would say so
    if type(method) in METHODS.values():
        return method
    return _Typed(repr(method) if isinstance(method, ForeignSelector) else text_of(method))


def method_label(method: SelectionMethod) -> str:
    """A method with its options in a few words: ``rrf(n_trees=50)``, ``SelectKBest(k=5)``."""
    changed = changed_options(method)
    whole = changed.pop("selector", None)
    options = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    if whole is not None:
        return f"{whole}, {options}" if options else str(whole)
    return f"{method.name}({options})"


class _Typed(str):
    """Text that is its own representation."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def method_record(method: SelectionMethod) -> tuple[str, dict[str, Any]]:
    """Name and options of a method for a model file."""
    if isinstance(method, ForeignSelector):
        return _FOREIGN, method.record()
    return method.name, method.options()


def method_of_record(name: str, options: Mapping[str, Any]) -> SelectionMethod:
    """The method of such a record; without its code, if that was not of this package.

    Raises
    ------
    MethodError
        If there is no such method, or it has no such options.
    """
    if name != _FOREIGN:
        return find_method(str(name), options)
    _check_options(ForeignSelector, options)
    lost: SelectionMethod = ForeignSelector.lost(options)
    return lost


def methods() -> pd.DataFrame:
    """Table of the methods.

    Returns
    -------
    pandas.DataFrame
        One row per method: ``method``, ``title``, ``options`` (names and defaults), ``paper``.

    Examples
    --------
    >>> import treeselect
    >>> "controlburn" in treeselect.methods()["method"].tolist()
    True
    """
    import pandas as pd

    rows = [
        {
            "method": name,
            "title": kind.title,
            "options": ", ".join(f"{n}={v!r}" for n, v in _tuning_first(kind)),
            "paper": kind.paper,
        }
        for name, kind in METHODS.items()
    ]
    return pd.DataFrame(rows)


def _tuning_first(kind: type[Any]) -> list[tuple[str, Any]]:
    return sorted(option_defaults(kind).items(), key=lambda option: option[0] != kind.tuning_name)


def _unknown(name: str) -> Exception:
    close = near(name, METHODS)
    advice = did_you_mean(close) if close else f"Methods: {listing(METHODS, len(METHODS))}."
    selector = _selector_named(name)
    if selector is not None:
        advice += f"\n  That of scikit-learn is given as an object: `method={selector}(...)`."
    return MethodError(
        f"Can't find {quoted(name)}, named in `method`, among the methods.\n  {advice}"
    )


def _selector_named(name: str) -> str | None:
    """The selector of scikit-learn with that name, in any case."""
    from sklearn import feature_selection

    known = {n.lower(): n for n in dir(feature_selection) if n[:1].isupper()}
    found = known.get(name.lower())
    return found if hasattr(getattr(feature_selection, found or "", None), "get_support") else None


def _check_options(kind: type[Any], options: Mapping[str, Any], inside: str | None = None) -> None:
    known = list(option_defaults(kind) | {f.name: None for f in dataclasses.fields(kind)})
    for option in options:
        if not is_one_of(option, known):
            text = option if isinstance(option, str) else described(option)
            close = near(text, known)
            raise MethodError(
                f"{kind.__name__} has no option {quoted(text)}.\n"
                f"  {did_you_mean(close) if close else f'Options: {listing(known)}.'}"
                + (f" Those of {inside} are given where it is made." if inside else "")
            )
