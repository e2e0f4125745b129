"""The families of cases by name, and a case from its seed, family and number alone."""

from __future__ import annotations

import random
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
