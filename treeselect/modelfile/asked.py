"""What was given to ``select()``, in a model file: values that are text, numbers and lists."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from treeselect.algorithms.method import is_method
from treeselect.algorithms.registry import method_of_record, method_record
from treeselect.arguments.checks import NotGiven
from treeselect.modelfile.checks import check
from treeselect.modelfile.plain import plain, unplain
from treeselect.resampling.fit import Asked

_MOST = 10_000
"""Most items of a value in a file; longer ones are lost."""


def asked_record(asked: Asked | None) -> dict[str, Any] | None:
    """Arguments for JSON. ``trusted`` is never stored; what is not plain is named as lost."""
    if asked is None:
        return None
    kept: list[Any] = []
    method: list[Any] | None = None
    lost = list(asked.lost)
    for name, value in asked.arguments.items():
        if isinstance(value, NotGiven) or name == "trusted":
            continue
        if name == "method" and is_method(value):
            method = [plain(part) for part in method_record(value)]
        elif _is_plain(value, [_MOST]):
            kept.append([name, plain(value)])
        else:
            lost.append(name)
    return {"arguments": kept, "method": method, "lost": lost}


def asked_of(record: Mapping[str, Any] | None) -> Asked | None:
    """The arguments of a file; None for files of older versions."""
    if record is None:
        return None
    arguments = {name: unplain(value) for name, value in record["arguments"]}
    lost = tuple(record["lost"])
    check(
        all(isinstance(name, str) for name in (*arguments, *lost))
        and isinstance(arguments.get("formula"), str)
        and "trusted" not in arguments
        and "data" not in arguments,
        "the arguments",
    )
    if record["method"] is not None:
        arguments["method"] = method_of_record(*map(unplain, record["method"]))
    return Asked(arguments, None, lost)


def _is_plain(value: object, room: list[int]) -> bool:
    """Whether JSON holds a value as it is; `room` counts down the items."""
    room[0] -= 1
    if room[0] < 0:
        return False
    if isinstance(value, Mapping):
        return type(value) is dict and all(
            isinstance(k, str) and _is_plain(v, room) for k, v in value.items()
        )
    if type(value) in (list, tuple):
        return all(_is_plain(v, room) for v in value)  # type: ignore[attr-defined]
    if isinstance(value, float):
        return type(value) is float and not math.isnan(value)
    return value is None or type(value) in (str, int, bool)
