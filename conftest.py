"""What a test or an example leaves behind goes with it: figures, and methods that it registered."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

if importlib.util.find_spec("vignettes") is None:  # it is not installed with the package
    sys.path.append(str(Path(__file__).parent))  # the last, so that what is installed is tested


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")
    if (registry := sys.modules.get("treeselect.algorithms.registry")) is not None:
        registry._REGISTERED.clear()
