"""Fits whose files have nearly all that a model file can have."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from quick import changed as with_parts

import treeselect
from treeselect.algorithms.task import Exchange, Rival, Trace

QUICK: dict[str, Any] = {"method": "controlburn", "forests": 1, "n_trees": 12, "seed": 3}

FORMULA = (
    "died ~ signal*site + bs(noise, 4, extrapolation='clip') + poly(dose, 2):colour + C(flag)"
    " + scale(dose) + hashed(colour, 3) + I(noise > 0) + `odd name`"
)


@pytest.fixture(scope="session")
def data(mixed):
    return mixed.assign(**{"odd name": np.arange(len(mixed)) % 7})


@pytest.fixture(scope="session")
def fit(data):
    return treeselect.select(FORMULA, data, k=6, resamples=3, **QUICK)


@pytest.fixture(scope="session")
def traced(mixed):
    """A fit as a search leaves it."""
    fit = treeselect.select("died ~ . - dose", mixed, method="mrmr", k=2, seed=1)
    own = fit.search.step.selected
    inside, outside = (np.flatnonzero(own == part).tolist() for part in (True, False))
    rivals = [
        Rival(tuple(sorted((kept, other))), 0.125, 0.25) for kept in inside for other in outside
    ]
    trace = Trace((Exchange(outside[0], inside[0], -0.5, 0.25),) * 2, tuple(rivals), 8, 14)
    step = dataclasses.replace(fit.search.step, trace=trace)
    return with_parts(fit, step=step, steps=fit._fit.steps[:-1])
