"""Data and fits that several test modules share."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from quick import quick_fit
from slow import Measuring, mark_slow

import treeselect
import treeselect.algorithms.forests.gbfs  # reads the most rounds, which some tests lower

# What hypothesis says of a slow test, it says of the machine: of the first example, which may have
# to compile a kernel, and of any on a busy one.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def functions_of_tests_reach_workers() -> None:
    """By value: packages are installed that have a module `tests` of their own."""
    for pickles in ("joblib.externals.cloudpickle", "cloudpickle"):
        with contextlib.suppress(ImportError):
            importlib.import_module(pickles).register_pickle_by_value(sys.modules["tests"])


collect_ignore = ["reference"]
"""Programs that need other packages, and wrote the files beside them."""

WITHOUT_FORESTS = (
    *("engine/test_columns.py", "engine/linear", "engine/sparse"),
    *("engine/test_losses.py", "designs/test_encoding.py"),
    *("designs/test_evaluation.py", "test_formula.py", "test_layout.py", "test_packaging.py"),
)
"""Tests that grow no forest: they need all but the kernel that takes longest to compile."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-slow", action="store_true", help="measure all tests for slow.txt")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--write-slow"):
        config.pluginmanager.register(Measuring())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The test that compiles all kernels comes first, and leaves them to the others. Of two
    processes, the second begins in the middle: there stand tests that can do without, meanwhile."""
    mark_slow(items)
    folder = Path(__file__).parent
    early = tuple(str(folder / name) for name in WITHOUT_FORESTS)
    first, middle, others = [], [], []
    for item in items:
        if item.name == "test_kernels_are_compiled_once_and_then_loaded":
            first.append(item)
        elif str(item.path).startswith(early):
            middle.append(item)
        else:
            others.append(item)
    before = max(len(items) // 2 - len(first), 0)
    items[:] = [*first, *others[:before], *middle, *others[before:]]


DRAWS = {"cross_validation.N_DRAWS": 40, "subgroups._N_DRAWS": 40, "decisions._N_DRAWS": 100}
"""Bootstrap samples behind intervals, fewer than usual."""

OF_ALL_DRAWS = ("test_learning.py", "test_decisions.py")
"""Where intervals are held to what they estimate."""


@pytest.fixture(scope="module", autouse=True)
def few_draws(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.path.name not in OF_ALL_DRAWS:
            for name, n in DRAWS.items():
                patch.setattr(f"treeselect.resampling.{name}", n)
        yield


@pytest.fixture(scope="session")
def mixed() -> pd.DataFrame:
    """400 rows: `signal` and the factor `site` matter, `copy` repeats `signal`, the rest is noise.

    Numbers and labels have missing values.
    """
    rng = np.random.default_rng(5)
    n = 400
    signal = rng.normal(size=n)
    site = rng.choice(["Bath", "Leeds", "York"], size=n)
    eta = 3 * signal + 4 * (site == "York") - 1.3
    frame = pd.DataFrame(
        {
            "died": rng.random(n) < 1 / (1 + np.exp(-eta)), "signal": signal, "copy": signal,
            "site": pd.Categorical(site), "noise": rng.normal(size=n),
            "colour": rng.choice(["blue", "red"], size=n), "flag": rng.random(n) < 0.5,
        }
    )  # fmt: skip
    frame["dose"] = eta + rng.normal(size=n)
    frame.loc[::11, "noise"] = np.nan
    frame.loc[::13, "site"] = np.nan
    return frame


@pytest.fixture(scope="session")
def fitted(mixed: pd.DataFrame) -> treeselect.SelectionResult:
    """A quick fit with two units and resamples."""
    return quick_fit("died ~ . - dose", mixed, k=2, forests=2, n_trees=20, resamples=10)


@pytest.fixture(scope="session")
def cross_validated(mixed: pd.DataFrame) -> treeselect.SelectionResult:
    """A quick fit of a numeric response whose size was chosen by cross-validation."""
    return treeselect.select(
        "dose ~ . - died", mixed, method="controlburn", seed=2, folds=3, forests=1, n_trees=20
    )
