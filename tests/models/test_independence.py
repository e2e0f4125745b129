"""Columns that are linear combinations of others, in long matrices."""

import numpy as np
from numpy.testing import assert_array_equal

from treeselect.models.linear import data
from treeselect.models.linear.data import independent_columns


def test_long_matrices_are_judged_as_short_ones(monkeypatch):
    rng = np.random.default_rng(1)
    codes = rng.integers(6, size=1000)
    dummies = (codes[:, None] == np.arange(6)).astype(float)  # their sum is the intercept
    x, scale = rng.normal(size=(1000, 3)), np.array([1e-6, 1.0, 1e8])
    near = x[:, :1] + 1e-5 * rng.normal(size=(1000, 1))  # no combination, but close to one
    only_last = (np.arange(1000) == 999).astype(float)[:, None]
    matrix = np.hstack(
        [np.ones((1000, 1)), dummies, x * scale, near, x.sum(axis=1)[:, None], only_last,
         np.zeros((1000, 1)), x[:, 1:2] * 3]
    )  # fmt: skip
    whole = independent_columns(matrix)
    monkeypatch.setattr(data, "_BLOCK", 64)
    assert_array_equal(independent_columns(matrix), whole)
    assert_array_equal(np.flatnonzero(~whole), [6, 11, 13, 14])
