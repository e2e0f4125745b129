"""Ranges of ControlBurn's options, and the base class of its strategies."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

from treeselect.algorithms.options import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    owner_of,
)
from treeselect.arguments.checks import described
from treeselect.engine.ensembles.bag_boosting import BAG_BOOSTING, BAGGING, DOUBLE
from treeselect.errors import MethodError

MAX_DEPTH = 16
"""Greatest depth of trees."""

KINDS = (BAG_BOOSTING, BAGGING, DOUBLE)
"""Kinds of forests with several units per tree."""

ROWS, GAUSSIAN = "rows", "gaussian"
"""Kinds of sketches."""

FUNCTION = "a function"
"""How a function starts in a model file."""

FIRST_PATH = 10
"""Least number of units at which the first of two solutions ends; with fewer units, it continues to
the end of the path, so that the last unit to enter gets an importance."""

MARGINS = "Margins aren't probabilities, so a refitted forest must predict."
PROVED = "Optimality can be proved only for all rows, or for a sample of rows."
TOO_WELL = "Without a penalty, its weights overfit the training rows."

_RANGES: dict[str, Callable[[object, str], None]] = {
    "lam": partial(check_number, above=0.0, optional=True),
    "forests": partial(check_integer, least=1, limit=1_000),
    "adaptive": check_flag,
    "tail": partial(check_integer, least=2, limit=10_000),
    "tolerance": partial(check_number, above=0.0),
    "min_trees": partial(check_integer, least=1, limit=10_000),
    "max_depth": partial(check_integer, least=1, most=MAX_DEPTH, optional=True),
    "loss": partial(check_choice, allowed=("family", "hinge")),
    "ridge": partial(check_number, least=0.0),
    "best_subset": check_flag,
    "time_limit": partial(check_number, above=0.0, limit=1e7),
    "sketch": partial(check_integer, least=2, optional=True),
    "sketch_kind": partial(check_choice, allowed=(ROWS, GAUSSIAN)),
    "max_features": partial(check_number, above=0.0, most=1.0),
    "tree_cost": partial(check_number, least=0.0),
    "refit": partial(check_choice, allowed=("forest", None)),
    "n_trees": partial(check_integer, least=1),
    "prune": check_flag,
    "refine": check_flag,
}


def check_ranges(record: object, *names: str) -> None:
    """Settle some options of a record; a MethodError if one is not in its range."""
    for name in names or _RANGES:
        _RANGES[name](record, name)


def check_function(record: object, option: str) -> None:
    """Raise a MethodError unless an option is a function, or was one before it went through a
    file."""
    value = getattr(record, option)
    was_one = isinstance(value, str) and value.startswith(FUNCTION)
    if not callable(value) and not was_one:
        raise MethodError(
            f"`{option}` of {owner_of(record)} must be a function of the weights"
            f"{', or None' if option == 'constraints' else ''}.\n  Found: {described(value)}."
        )


class Strategy:
    """A frozen record of validated options that is itself an option of a method.

    Options that can't be combined are fields of different strategies, so they can't be written
    together.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """The call that creates it, without defaults."""
        needed, changed = [], []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # children are dataclasses
            value = getattr(self, field.name)
            if field.default is dataclasses.MISSING:
                needed.append(_text(value))
            elif value is not field.default and value != field.default:
                changed.append(f"{field.name}={_text(value)}")
        return f"{type(self).__name__}({', '.join(needed + changed)})"


def _text(value: Any) -> str:
    """A value as it would be typed; a function by its name."""
    if callable(value):
        name = getattr(value, "__name__", "")
        return name if name.isidentifier() else "function"
    return repr(value)
