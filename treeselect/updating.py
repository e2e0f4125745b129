"""``update()``: the same selection with another formula or other arguments."""

from __future__ import annotations

import inspect
from typing import Any

from treeselect.algorithms.registry import find_method
from treeselect.arguments.checks import described
from treeselect.errors import FormulaError, OptionError, listing
from treeselect.formulas.guard import updated_formula
from treeselect.resampling.fit import Asked
from treeselect.result import SelectionResult
from treeselect.selection import select

_NOT_ASKED = ("formula", "data", "n_jobs", "progress", "method_options")
_NEW = inspect.signature(select).parameters


def update(
    fit: SelectionResult, formula: str | None = None, *, data: Any = None, **changes: Any
) -> SelectionResult:
    """Repeat a selection with another formula or other arguments, as R's ``update()``.

    Parameters
    ----------
    fit : SelectionResult
    formula : str, optional
        The new formula, in which ``.`` stands for the old right-hand side or, to the left of
        ``~``, for the old response: ``"~ . - age"``, ``". ~ . + x"``, ``"log(.) ~ ."``. The old
        right-hand side has all candidate terms of the fit and not only the selected ones. None
        keeps the formula.
    data : frame or path, optional
        Other data; by default the object that was given to :func:`treeselect.select`, with its
        present values. A model from a file or an unpickled one needs it.
    **changes
        Arguments of :func:`treeselect.select` with new values: ``k=3``, ``seed=2``,
        ``method="rrf"``, ``keep=["sex"]``, ``n_trees=50``. All others, the seed among them, are
        those of the fit. With a new `method`, options of the old one are dropped; a new `k`
        replaces a given tuning parameter, and the reverse. None restores the default of `weights`,
        `offset`, `groups`, `costs`, `keep`, `fold_groups`, `scoring` and `labels`.

    Returns
    -------
    SelectionResult
        Of a new call of :func:`treeselect.select`. Later steps such as ``resample()`` are not
        repeated; ``resamples=`` of the call is.

    Raises
    ------
    OptionError
        If `fit` is not a selection, its data or an argument are not known, or nothing changes.
    FormulaError
        If the formula can't be read.
    TreeselectError
        As in :func:`treeselect.select`.

    Examples
    --------
    >>> import treeselect
    >>> data = treeselect.datasets.load("titanic_correlated")
    >>> fit = treeselect.select("survived ~ sex + age + fare", data.assign(fare=data["age"]),
    ...     method="mrmr", k=2, seed=1)
    >>> treeselect.update(fit, "~ . - fare", k=1).selected
    ('sex',)
    """
    asked = _asked(fit)
    if formula is None and data is None and not changes:
        raise OptionError(
            "`update()` needs a change: a formula, `data`, or an argument of `select()`.\n"
            '  For example `update(fit, "~ . - age")` or `update(fit, k=3)`.'
        )
    arguments = _merged(asked, changes)
    if formula is not None:
        if not isinstance(formula, str):
            raise FormulaError(
                f"`formula` must be text such as `~ . - age`.\n  Found: {described(formula)}."
            )
        arguments["formula"] = updated_formula(str(asked.arguments["formula"]), formula)
    lost = [name for name in asked.lost if name not in changes]
    if lost:
        raise OptionError(
            "`update()` needs all arguments of the fit, and a model file does not hold all of"
            f" them.\n  Missing: {listing(lost)}. Give {'it' if len(lost) == 1 else 'them'} again."
        )
    used = asked.data if data is None else data
    if used is None:
        raise OptionError(
            "`data` must be given: the fit does not hold its data.\n"
            "  A model from a file, and a copy of a fit, hold the columns behind the terms at most."
        )
    new = {"n_jobs": fit.n_jobs, "progress": fit.progress} | arguments
    return select(new.pop("formula"), used, **new)


def _asked(fit: object) -> Asked:
    if not isinstance(fit, SelectionResult):
        raise OptionError(f"`fit` must be a result of `select()`.\n  Found: {described(fit)}.")
    if fit.asked is None:
        raise OptionError(
            "`update()` needs the arguments of the fit, which its model file does not hold.\n"
            f"  Call `select()` again; the old call was {fit.call.text}."
        )
    return fit.asked


def _merged(asked: Asked, changes: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the fit with the changes."""
    old = dict(asked.arguments)
    options = {name for name in old if name not in _NEW}
    if "method" in changes:
        old = {name: value for name, value in old.items() if name not in options}
    else:
        own = {name: value for name, value in old.items() if name in options}
        tuning = find_method(old["method"], own).tuning_name
        if "k" in changes and changes["k"] is not None:
            old.pop(tuning, None)
        if tuning in changes:
            old.pop("k", None)
    return old | changes
