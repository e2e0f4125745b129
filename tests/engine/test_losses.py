"""The logistic loss and its naive twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treeselect.engine.losses import LogisticLoss


@given(st.lists(st.tuples(st.booleans(), st.floats(-800, 800)), min_size=1, max_size=40))
def test_logistic_loss_is_its_naive_twin(rows):
    y, eta = np.array(rows, dtype=np.float64).T
    naive = np.logaddexp(0.0, eta) - y * eta
    # A loss near 0 is a difference of two numbers of the size of eta.
    rounding = 4e-16 * (1 + np.abs(eta))
    assert (np.abs(LogisticLoss().value(y, eta) - naive) <= rounding).all()


def test_a_row_that_is_sure_and_right_has_a_small_loss():
    eta = np.array([-40.0, -700.0])
    found = LogisticLoss().value(np.zeros(2), eta)
    np.testing.assert_allclose(found, np.exp(eta), rtol=1e-15)
