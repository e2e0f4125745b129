"""A case that fails, as small as it can be made while it fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hostility.families import FAMILIES
from hostility.working import run_all

_MOST = 600
"""Most plans that are tried."""


def minimised(family: str, plan: dict[str, Any], signature: str) -> dict[str, Any]:
    """The smallest plan that was found, by leaving out whatever is not needed."""
    asked: list[dict[str, Any]] = []
    answers = run_all(_tasks(asked, family), jobs=1)

    def same(candidate: dict[str, Any]) -> bool:
        asked.append(candidate)
        return next(answers)[1]["signature"] == signature  # type: ignore[no-any-return]

    try:
        return _shrunk(family, plan, same)
    finally:
        asked.clear()
        answers.close()  # type: ignore[attr-defined]


def _tasks(asked: list[dict[str, Any]], family: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    while asked:
        yield 0, family, asked.pop()


def _shrunk(
    family: str, plan: dict[str, Any], same: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    left = _MOST
    found = True
    while found and left > 0:
        found = False
        for candidate in FAMILIES[family].smaller(plan):
            left -= 1
            if left <= 0:
                break
            if candidate != plan and same(candidate):
                plan, found = candidate, True
                break
    return plan
