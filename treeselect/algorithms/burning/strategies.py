"""Options with options of their own: ``Sketch(500)``, ``BestSubset(time_limit=10)``."""

from __future__ import annotations

import dataclasses
from typing import Any


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
