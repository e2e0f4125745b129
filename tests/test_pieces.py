"""What is held at once changes no answer: all pieces of a large analysis are pieces of a small one,
too, if the limits of their size are."""

import importlib

import numpy as np
import pandas as pd
import pytest

import treeselect

LIMITS = {
    "algorithms.linear.penalised": ("_DENSE_CELLS",),
    "engine.columns": ("_AT_ONCE",),
    "engine.forest.dependence": ("_ROWS_AT_ONCE",),
    "engine.forest.leaf_values": ("_CELLS",),
    "engine.forest.out_of_bag": ("_AT_ONCE",),
    "engine.linear.additive": ("_CELLS", "_AT_ONCE"),
    "engine.linear.additive_search": ("_CELLS",),
    "engine.linear.basis": ("_TOGETHER",),
    "engine.linear.columns": ("_BLOCK",),
    "engine.linear.glm": ("_CELLS",),
    "engine.linear.homotopy": ("_MOST_ENTRIES",),
    "engine.sparse.forest": ("_AT_ONCE",),
    "engine.sparse.weights": ("_BLOCK",),
    "engine.survival.curves": ("_AT_ONCE",),
    "engine.tree.best_first": ("CHUNK",),
    "engine.tree.workspace": ("MOST_MEMORY",),
    "resampling.held_out": ("_AT_ONCE",),
    "results.incidence": ("_MOST_CELLS",),
}
"""Limits of what is held at a time, by module."""


def table():
    """Numbers, some missing, factors, one with many levels, and three kinds of responses."""
    rng, n = np.random.default_rng(0), 72
    x = pd.DataFrame(rng.standard_normal((n, 5)), columns=[f"x{j}" for j in range(5)])
    x.loc[::7, "x1"] = np.nan
    x = x.assign(few=rng.choice(list("abc"), n), many=rng.integers(0, 30, n).astype(str))
    eta = x["x0"] + 0.4 * x["x2"] ** 2 + (x["few"] == "a")
    time = rng.exponential(np.exp(-eta))
    return x.assign(
        number=eta + rng.standard_normal(n), label=(eta + rng.logistic(size=n) > 1).astype(int),
        time=np.minimum(time, 1.0), event=(time <= 1.0).astype(int), cluster=np.arange(n) // 3,
    )  # fmt: skip


def answers(frame, response, **options):
    others = {"number", "label", "time", "event", "cluster"} - set(response.split("~"))
    rest = " - ".join(sorted(name for name in others if name not in response))
    fit = treeselect.select(f"{response} ~ . - {rest}", frame, seed=1, n_jobs=1, **options)
    found = [fit.tidy().drop(columns="term"), fit.model.effects().select_dtypes("number")]
    numbers = [part.select_dtypes("number").to_numpy(np.float64).ravel() for part in found]
    score = fit.performance(2).mean
    return list(fit.selected), np.concatenate([*numbers, np.ravel(fit.predict(frame)), [score]])


CALLS = {
    "numbers": ("number", {"groups": {"both": ["x3", "x4"]}, "resamples": 2}),
    "classes": ("label", {"resamples": 2}),
    "times": ("Surv(time, event)", {"fold_groups": "cluster", "resamples": 2}),
    "lasso": ("label", {"method": "lasso", "k": 3, "resamples": 0}),
    "hsic": ("number", {"method": "hsic_lasso", "k": 3, "resamples": 0}),
    "sparse": ("number", {"method": "controlburn", "k": 3, "resamples": 0, "forests": 1}),
}


@pytest.mark.parametrize("call", CALLS)
def test_answers_are_those_of_one_piece(monkeypatch, call):
    response, options = CALLS[call]
    frame = table()
    selected, numbers = answers(frame, response, **options)
    for module, names in LIMITS.items():
        for name in names:
            monkeypatch.setattr(importlib.import_module(f"treeselect.{module}"), name, 1)
    again, others = answers(frame, response, **options)
    assert again == selected
    np.testing.assert_allclose(others, numbers, rtol=1e-6, atol=1e-9)
