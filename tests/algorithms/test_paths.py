"""What paths that add or remove terms one by one have in common, whatever the method."""

import dataclasses
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from quick import normal
from tasks import in_families, names_of, sizes_of, task_of

from treeselect import (
    CFS,
    FCBF,
    MRMR,
    SVMRFE,
    ForestImportance,
    HSICLasso,
    Lasso,
    RecursiveElimination,
    Stepwise,
    VarSelRF,
)

FEW = {"n_trees": 60}
NESTED = (MRMR, FCBF, ForestImportance, RecursiveElimination, SVMRFE, VarSelRF)
METHODS = [
    MRMR(), MRMR(scheme="quotient"), FCBF(), CFS(), Lasso(), HSICLasso(), SVMRFE(),
    Stepwise(direction="forward"), RecursiveElimination(**FEW), VarSelRF(**FEW),
    *(ForestImportance(kind=kind, **FEW) for kind in ("unbiased", "mdi", "permutation")),
]  # fmt: skip
NO_STEP = (
    "mrmr(scheme='quotient')", "stepwise(direction='forward')", "varselrf(n_trees=60)"
)  # fmt: skip
"""Methods whose value leads past its step: values rise again, or end another search."""

EVERY = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.label)
FAMILIES = pytest.mark.parametrize("family", range(3), ids=["numbers", "classes", "counts"])


@pytest.fixture(scope="module")
def linear():
    """Numbers `a` and `b` and the factor `site` matter; `near` repeats `a`; the rest is noise."""
    rng = np.random.default_rng(8)
    data = pd.DataFrame(rng.normal(size=(300, 5)), columns=["a", "b", "n0", "n1", "n2"])
    data["site"] = rng.choice(["Bath", "Leeds", "York"], size=300)
    data["near"] = data["a"] + 0.05 * rng.normal(size=300)
    data["y"] = 2 * data["a"] - 1.7 * data["b"] + 3.5 * (data["site"] == "York")
    data["y"] += 0.5 * rng.normal(size=300)
    return data


@EVERY
@FAMILIES
def test_signal_comes_before_noise_and_a_tuning_value_leads_to_its_step(linear, method, family):
    task = in_families(task_of(linear.drop(columns="near"), method))[family]
    steps = method.path(task)
    assert sizes_of(steps)[:4] == [0, 1, 2, 3]
    assert names_of(task, steps[3].selected) == {"a", "b", "site"}
    assert names_of(task, steps[3].importance > 0) == {"a", "b", "site"}
    tunings = [step.tuning for step in steps]
    assert tunings[0] == np.inf
    assert tunings[1:] == sorted(tunings[1:], reverse=method.tuning_name != "share")
    scores = [step.train_score for step in steps[:4]]
    if not isinstance(method, VarSelRF):  # whose forests of few terms are grown to the end
        assert scores == sorted(scores)
    assert scores[0] == pytest.approx(0.0, abs=1e-9) or family == 1
    if isinstance(method, NESTED):
        assert all((small.selected <= large.selected).all() for small, large in pairwise(steps))
    if method.label in NO_STEP:
        return
    for step in steps[1:4]:
        # At its own gain, a set is as good as the smaller one.
        value = step.tuning - (1e-9 if isinstance(method, CFS) else 0.0)
        one = dataclasses.replace(method, **{method.tuning_name: value}).path(task)[-1]
        np.testing.assert_array_equal(one.selected, step.selected)
        np.testing.assert_allclose(one.importance, step.importance, atol=1e-6)
        assert one.train_score == pytest.approx(step.train_score, abs=1e-6)


@pytest.mark.parametrize("method", [MRMR(), MRMR(scheme="quotient"), FCBF(), Lasso(), HSICLasso()],
                         ids=lambda method: method.label)  # fmt: skip
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_what_repeats_a_term_waits(linear, method, noise):
    if isinstance(method, HSICLasso) and noise:
        return  # a copy with noise is worth a little more to it
    near = linear["a"] + noise * (linear["near"] - linear["a"]) / 0.05
    for task in in_families(task_of(linear.assign(near=near), method)):
        steps = method.path(task)
        three = names_of(task, steps[3].selected)
        assert three in ({"a", "b", "site"}, {"near", "b", "site"})
        assert not (
            isinstance(method, FCBF) and {"a", "near"} <= names_of(task, steps[-1].selected)
        )


@EVERY
def test_copies_share_places_across_seeds(linear, method):
    found = set()
    task = task_of(linear[["y", "a", "n0"]].assign(copy=linear["a"]), method, max_size=1)
    for seed in range(12):
        found |= names_of(task, method.path(dataclasses.replace(task, seed=seed))[1].selected)
    assert found == {"a", "copy"}


@pytest.mark.parametrize(
    ("method", "n", "sizes"),
    [
        (SVMRFE(step=0.5), 80, [*range(31), 40, 80]),
        (RecursiveElimination(step=0.3, n_trees=60), 50, [*range(31), 35, 50]),
        (VarSelRF(step=0.3, n_trees=60), 50, [*range(31), 35, 50]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_many_units_go_by_shares_and_thirty_one_by_one(method, n, sizes):
    data = normal(1, 120, [f"x{j}" for j in range(n)], 0, x0=1, x1=1)
    data["y"] = (data["y"] > 0).astype(int)
    task = task_of(data, method, max_size=n)
    steps = method.path(task)
    assert sizes_of(steps) == sizes
    assert names_of(task, steps[2].selected) == {"x0", "x1"}
    enough = method.path(dataclasses.replace(task, max_size=33))
    assert enough[-1].size == sizes[31] > 33
