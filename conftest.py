"""What a test or an example leaves behind goes with it: figures, and methods that it registered."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
    if (registry := sys.modules.get("treeselect.algorithms.registry")) is not None:
        registry._REGISTERED.clear()
