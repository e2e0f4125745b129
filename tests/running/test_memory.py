"""A process that selects again and again keeps nothing of what it did."""

from __future__ import annotations

import functools
import gc

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import TreeselectError

METHODS = {
    "controlburn": {"forests": 1, "n_trees": 3},
    "rrf": {"n_trees": 3},
    "gbfs": {"n_trees": 3},
    "mrmr": {},
    "lasso": {},
}
FORMULAS = [
    "{y} ~ {x} + {z} + {g}",
    "{y} ~ poly({x}, 2) + {z}:{g}",
    "{y} ~ nowhere",
    "{y} ~ {x} +* 2",
]


def select(number):
    """One call on data, names and a formula that no call had before."""
    rng = np.random.default_rng(number)
    names = {name: f"{name}{number}" for name in "yxzg"}
    frame = pd.DataFrame(
        {
            names["y"]: rng.normal(size=30),
            names["x"]: rng.normal(size=30),
            names["z"]: rng.normal(size=30),
            names["g"]: rng.choice(["a", "b"], size=30),
        }
    )
    method = list(METHODS)[number % len(METHODS)]
    formula = FORMULAS[number % len(FORMULAS)].format(**names)
    try:
        fit = treeselect.select(formula, frame, method=method, k=1, seed=1, **METHODS[method])
    except TreeselectError:
        assert "nowhere" in formula or "*" in formula
    else:
        fit.predict(frame)
        str(fit.summary())


def n_objects():
    gc.collect()
    return len(gc.get_objects())


def n_cached():
    """Entries of caches without a bound."""
    # By type: isinstance() asks what a weak reference stands for, which may be gone.
    caches = [o for o in gc.get_objects() if type(o) is functools._lru_cache_wrapper]
    return sum(c.cache_info().currsize for c in caches if c.cache_info().maxsize is None)


@pytest.mark.filterwarnings("ignore::treeselect.errors.TreeselectWarning")
def test_calls_leave_no_objects_behind():
    rounds = len(METHODS) * len(FORMULAS)
    for number in range(rounds):  # what is imported, compiled and known after the first calls
        select(number)
    objects, cached = n_objects(), n_cached()
    for number in range(rounds, 3 * rounds):
        select(number)
    assert n_objects() - objects < rounds  # less than one for every other call
    assert n_cached() == cached
