"""Fits that take a moment and have all that is shown of one, and stabilities made by hand."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.algorithms.task import Exchange, Rival, Trace
from treeselect.resampling.stability import Stability

WITH_GAPS = pytest.mark.filterwarnings(
    "ignore:.* rows, in which:treeselect.errors.TreeselectWarning"
)
"""For data with missing values; the warning has tests in ``test_missing_terms.py``."""

FEW: dict[str, Any] = {"method": "controlburn", "forests": 1, "n_trees": 5, "resamples": 3}


def quick_fit(
    formula: str, data: pd.DataFrame, *, k: int, **options: Any
) -> treeselect.SelectionResult:
    """A fit of a few trees with a few resamples; `options` take the place of these."""
    return treeselect.select(formula, data, k=k, seed=1, **FEW | options)


def burnt(formula: str, data: pd.DataFrame, **options: Any) -> treeselect.SelectionResult:
    """A fit of a few trees by ControlBurn, without resamples."""
    return treeselect.select(formula, data, **FEW | {"seed": 1, "resamples": None} | options)


def by_mrmr(formula: str, data: pd.DataFrame, **options: Any) -> treeselect.SelectionResult:
    """A fit by the method that needs no trees for its path."""
    return treeselect.select(formula, data, **{"method": "mrmr", "seed": 1} | options)


def normal(
    seed: int, n: int, names: str | list[str], noise: float = 1.0, **slopes: float
) -> pd.DataFrame:
    """Standard normal columns, and `y`, which some of them move."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, len(names))), columns=list(names))
    moved = sum(slope * data[name] for name, slope in slopes.items())
    return data.assign(y=moved + noise * rng.normal(size=n))


def with_responses(data: pd.DataFrame, eta: Any, rng: Any) -> pd.DataFrame:
    """The columns and a response of each family with this linear predictor."""
    n = len(data)
    return data.assign(
        y=eta + 0.5 * rng.standard_normal(n),
        yes=(rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int),
        count=rng.poisson(np.exp(eta / 2)),
        three=np.array(list("xyz"))[np.digitize(eta + rng.logistic(size=n), [-1, 1])],
        time=rng.exponential(np.exp(-eta)) + 0.01, event=rng.random(n) < 0.8,
    )  # fmt: skip


def changed(fit: treeselect.SelectionResult, **changes: Any) -> treeselect.SelectionResult:
    """A fit with other values in its record."""
    return treeselect.SelectionResult(dataclasses.replace(fit._fit, **changes))


def trace_beside(selected: Any) -> Trace:
    """What a search that found some units could have seen beside them."""
    inside, outside = (np.flatnonzero(selected == part).tolist() for part in (True, False))
    rivals = [
        Rival(tuple(sorted((kept, other))), 0.125, 0.25) for kept in inside for other in outside
    ]
    return Trace((Exchange(outside[0], inside[0], -0.5, 0.25),) * 2, tuple(rivals), 8, 14)


def traced(mixed: pd.DataFrame) -> treeselect.SelectionResult:
    """A fit as a search leaves it."""
    fit = treeselect.select("died ~ . - dose", mixed, method="mrmr", k=2, seed=1)
    step = dataclasses.replace(fit.search.step, trace=trace_beside(fit.search.step.selected))
    return changed(fit, step=step, steps=fit._fit.steps[:-1])


def leaf_value(nodes: pd.DataFrame, row: Any) -> float:
    """Value of the leaf of one tree that a row reaches by what its table says."""
    nodes = nodes.set_index("node")
    node = 1
    while not pd.isna(nodes.loc[node, "split"]):
        here = nodes.loc[node]
        value = row[here["term"]]
        if isinstance(value, str):
            goes_left = here["split"].endswith(f"[{value}]")
        elif here["split"].endswith("is missing"):
            goes_left = np.isnan(value)
        else:
            goes_left = here["missing"] == "left" if np.isnan(value) else value <= here["threshold"]
        node = here["left"] if goes_left else here["right"]
    return nodes.loc[node, "value"]


def selections(*counted: tuple[str, int]) -> list[list[bool]]:
    """Selections as text, each so many times."""
    return [[c == "1" for c in text] for text, times in counted for _ in range(times)]


def stability_of(selected: Any, units: Any = None, *, kept: int = 0, **more: Any) -> Stability:
    """Stability of given selections, the first of which is that of the fit unless another is given;
    the first `kept` units are forced in."""
    selected = np.asarray(selected, dtype=bool)
    p = selected.shape[1]
    given: dict[str, Any] = {
        "units": tuple(units or (f"x{j}" for j in range(p))), "fitted": selected[0],
        "assessed": np.arange(p) >= kept, "selected": selected, "scheme": "bootstrap",
        "k": int(selected[0].sum()), "seed": 0,
    }  # fmt: skip
    given |= more
    sets = {name: np.array(given[name], dtype=bool) for name in ("fitted", "assessed")}
    return Stability(**given | sets)
