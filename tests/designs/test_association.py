"""Similarity of all units at once, against the association of each two."""

from __future__ import annotations

import numpy as np
import pytest

import treeselect
from treeselect.designs.modeldata import Associations


@pytest.mark.parametrize("weighted", [False, True])
def test_similarity_is_the_association_of_each_two(mixed, weighted):
    """Numbers with and without missing values, factors, a group, a constant, weights."""
    data = mixed.assign(rough=mixed["signal"].round(), flat=1.0, times=np.arange(len(mixed)) % 3)
    fit = treeselect.select(
        "died ~ . - times",
        data,
        method="mrmr",
        k=1,
        seed=1,
        groups={"blood panel": ["noise", "rough"]},
        weights="times" if weighted else None,
    )
    measured, units = Associations(fit.data.design), fit.data.design.arrays.groups.names
    expected = [[1.0 if a == b else measured.units(a, b) for b in units] for a in units]
    np.testing.assert_allclose(measured.similarity(), expected, atol=1e-12)
    assert measured.similarity().max() == 1.0
