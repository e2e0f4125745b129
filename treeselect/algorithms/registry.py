"""From a method's name to the method: the only place that knows names."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treeselect.algorithms.base import SelectionMethod
from treeselect.algorithms.boruta import Boruta
from treeselect.algorithms.controlburn import ControlBurn
from treeselect.algorithms.elimination import RecursiveElimination
from treeselect.algorithms.gbfs import GBFS
from treeselect.algorithms.importance import ForestImportance
from treeselect.algorithms.lasso import Lasso
from treeselect.algorithms.mrmr import MRMR
from treeselect.algorithms.rboost import RBoost
from treeselect.algorithms.rrf import GRRF, RRF
from treeselect.algorithms.stepwise import Stepwise
from treeselect.algorithms.svm import SVMRFE
from treeselect.algorithms.varselrf import VarSelRF
from treeselect.errors import MethodError, did_you_mean, listing, near, quoted

if TYPE_CHECKING:
    import pandas as pd

METHODS: dict[str, type[Any]] = {
    kind.name: kind
    for kind in (
        ControlBurn, RRF, GRRF, RBoost, GBFS,
        ForestImportance, RecursiveElimination, Lasso, Boruta, MRMR, SVMRFE,
        VarSelRF, Stepwise,
    )
}  # fmt: skip


def find_method(method: str | SelectionMethod, options: Mapping[str, Any]) -> SelectionMethod:
    """The method of that name, or the method itself, with some options replaced.

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
    if type(method) not in METHODS.values():
        raise MethodError(
            f"`method` must be a name or a method such as ControlBurn().\n"
            f"  Found: {type(method).__name__}. Names: {listing(METHODS)}."
        )
    if not options:
        return method
    _check_options(type(method), options)
    changed: SelectionMethod = dataclasses.replace(method, **options)  # type: ignore[type-var]
    return changed


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
            "options": ", ".join(f"{f.name}={f.default!r}" for f in _tuning_first(kind)),
            "paper": kind.paper,
        }
        for name, kind in METHODS.items()
    ]
    return pd.DataFrame(rows)


def _tuning_first(kind: type[Any]) -> list[dataclasses.Field[Any]]:
    return sorted(dataclasses.fields(kind), key=lambda field: field.name != kind.tuning_name)


def _unknown(name: str) -> Exception:
    close = near(name, METHODS)
    advice = did_you_mean(close) if close else f"Methods: {listing(METHODS)}."
    return MethodError(f"Can't find the method {quoted(name)}.\n  {advice}")


def _check_options(kind: type[Any], options: Mapping[str, Any]) -> None:
    known = [f.name for f in dataclasses.fields(kind)]
    for option in options:
        if option not in known:
            close = near(option, known)
            raise MethodError(
                f"{kind.__name__} has no option {quoted(option)}.\n"
                f"  {did_you_mean(close) if close else f'Options: {listing(known)}.'}"
            )
