"""Which tests `make check` leaves to `make test`: those that ``slow.txt`` names.

``pytest --write-slow`` measures all tests and writes it, so that what is left takes `BUDGET`.
"""

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).with_name("slow.txt")
BUDGET = 22.0
"""CPU seconds of all tests that are not slow."""

_set_up: dict[str, float] = {}
"""CPU seconds of each fixture of a module or session in this process."""


def _cpu() -> float:
    return sum(os.times()[:4])


def name_of(nodeid: str) -> str:
    """All cases of a test have one name."""
    return nodeid.split("[")[0].replace(os.sep, "/")


def mark_slow(items: list[pytest.Item]) -> None:
    slow = set(FILE.read_text(encoding="utf-8").split())
    for item in items:
        if name_of(item.nodeid) in slow:
            item.add_marker("slow")


class Measuring:
    """Adds up what tests take. What tests share is divided among them."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.users: defaultdict[str, set[str]] = defaultdict(set)
        self.fixtures: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        start = _cpu()
        result = yield
        if fixturedef.scope != "function":
            _set_up[f"{fixturedef.baseid}:{fixturedef.argname}"] = _cpu() - start
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        start = _cpu()
        yield
        used = {
            f"{d.baseid}:{d.argname}"
            for defs in item._fixtureinfo.name2fixturedefs.values()
            for d in defs
        }
        shared = {name: _set_up[name] for name in used & set(_set_up)}
        item.user_properties.append(("seconds", json.dumps([_cpu() - start, shared])))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            own, shared = json.loads(dict(report.user_properties).get("seconds", "[0, {}]"))
            name = name_of(report.nodeid)
            self.seconds[name] += own
            self.fixtures |= shared
            for fixture in shared:
                self.users[fixture].add(name)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        total = Counter(self.seconds)
        for fixture, users in self.users.items():
            for name in users:
                total[name] += self.fixtures[fixture] / len(users)
        left, slow = BUDGET, []
        for name, seconds in sorted(total.items(), key=lambda own: own[1]):
            left -= seconds
            if left < 0 and name.startswith("tests/"):
                slow.append(name)
        FILE.write_text("\n".join(sorted(slow)) + "\n", encoding="utf-8")
