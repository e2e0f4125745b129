"""The families of cases by name; a case from its seed, family and number, and a smaller one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from hostility import attacks, calls, faults, files, tables

FAMILIES: dict[str, ModuleType] = {
    "calls": calls, "formulas": attacks, "files": files, "tables": tables, "faults": faults,
}  # fmt: skip

SHARES = (("calls", 10), ("formulas", 5), ("files", 2), ("tables", 2), ("faults", 1))
"""Of twenty cases so many."""


def plan_of(seed: int, family: str, number: int) -> dict[str, Any]:
    """The plan of a case."""
    return FAMILIES[family].draw(random.Random(f"{seed} {family} {number}"))  # type: ignore[no-any-return]


def family_of(number: int) -> str:
    """Family of a number, where all families are run."""
    place = number % 20
    for name, share in SHARES:
        if place < share:
            return name
        place -= share
    raise AssertionError


MOST = 600
"""Most plans that are tried."""


def minimised(
    family: str, plan: dict[str, Any], fails: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """The smallest plan that was found, by leaving out whatever is not needed."""
    left, found = MOST, True
    while found and left > 0:
        found = False
        for candidate in smaller(plan):
            left -= 1
            if left <= 0:
                break
            if candidate != plan and fails(candidate):
                plan, found = candidate, True
                break
    return plan


def smaller(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Plans without some rows, an item of a list, an option or a piece of a text."""
    columns = plan.get("columns", [])
    values = [column["values"] if isinstance(column, dict) else column for column in columns]
    n = max(map(len, values), default=0)
    for rows in (slice(0, n // 2), slice(n // 2, n), slice(0, n - 1), slice(1, n)) if n > 1 else ():
        cut = [
            {**c, "values": v[rows]} if isinstance(c, dict) else v[rows]
            for c, v in zip(columns, values, strict=True)
        ]
        yield {**plan, "columns": cut}
    for key, value in plan.items():
        if key == "formula" or not isinstance(value, str):
            for less in _less(value):
                yield {**plan, key: less}


def _less(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name in value:
            yield {k: v for k, v in value.items() if k != name}
    elif isinstance(value, str | list):
        size = len(value) // 2
        while size:
            for at in range(0, len(value), size):
                yield value[:at] + value[at + size :]
            size //= 2
