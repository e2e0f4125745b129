"""The arguments of a fit with changes: the work of ``SelectionResult.update()``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treeselect.algorithms.registry import find_method
from treeselect.arguments.checks import described
from treeselect.errors import FormulaError, OptionError, listing
from treeselect.formulas.guard import updated_formula
from treeselect.resampling.fit import Asked, Fit
from treeselect.results.fitting import ARGUMENTS


def updated_arguments(
    fit: Fit, formula: str | None, data: Any, changes: Mapping[str, Any]
) -> tuple[Any, str, dict[str, Any]]:
    """Data, formula and other arguments of the new call of ``select()``."""
    if fit.asked is None:
        raise OptionError(
            "`update()` needs the arguments of the fit, which its model file does not hold.\n"
            f"  Call `select()` again; the old call was {fit.call.text}."
        )
    asked = fit.asked
    if formula is None and data is None and not changes:
        raise OptionError(
            "`update()` needs a change: a formula, `data`, or an argument of `select()`.\n"
            '  For example `fit.update("~ . - age")` or `fit.update(k=3)`.'
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
    return used, new.pop("formula"), new


def _merged(asked: Asked, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the fit with the changes."""
    old = dict(asked.arguments)
    options = {name for name in old if name not in ("formula", *ARGUMENTS)}
    if "method" in changes:
        old = {name: value for name, value in old.items() if name not in options}
    else:
        own = {name: value for name, value in old.items() if name in options}
        tuning = find_method(old["method"], own).tuning_name
        if "k" in changes and changes["k"] is not None:
            old.pop(tuning, None)
        if tuning in changes:
            old.pop("k", None)
    return old | dict(changes)
