"""Folds and scores that replace those of scikit-learn are the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from treeselect.designs.families import area_under_curve, r_squared
from treeselect.engine.rounding import levels
from treeselect.resampling.folds import _balanced, _shuffled


@pytest.mark.parametrize("seed", range(20))
def test_folds_are_those_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, folds = int(rng.integers(20, 60)), int(rng.integers(2, 7))
    y = np.append(rng.choice(4, n), np.repeat(np.arange(4), folds))
    for found, splitter in (
        (_shuffled(len(y), folds, np.random.RandomState(seed)), KFold),
        (_balanced(y, folds, np.random.RandomState(seed)), StratifiedKFold),
    ):
        expected = np.empty(len(y), dtype=np.int64)
        pairs = splitter(folds, shuffle=True, random_state=seed).split(y, y)
        for number, (_, held_out) in enumerate(pairs):
            expected[held_out] = number
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 300))
    y = np.append([0.0, 1.0], rng.choice([0.0, 1.0], n))
    ties = rng.choice(5, n + 2) / 7 if seed % 2 else rng.random(n + 2)
    weight = np.ones(n + 2) if seed % 3 else rng.random(n + 2)
    expected = roc_auc_score(y, levels(ties), sample_weight=weight)
    assert area_under_curve(y, ties, weight) == expected
    numbers = rng.normal(size=n + 2)
    expected = r2_score(numbers, ties, sample_weight=weight)
    assert r_squared(numbers, ties, weight) == expected
    assert r_squared(numbers, numbers, weight) == 1.0
