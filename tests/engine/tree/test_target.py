"""The packing of a gradient and a weight into one integer."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.engine.tree.target import unit_for


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e-17, 1.0, 1e17, 1e140])
def test_unit_and_its_square_are_finite_and_positive(size):
    """The square divides the gains; a tree with no gradient to speak of must not raise."""
    unit = unit_for.py_func(size * 100, 52)
    assert 0 < unit * unit < np.inf
    assert size * 100 * unit < 2.0**53
