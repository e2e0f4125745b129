"""What forests split: martingale residuals of the null model, which are log-rank scores."""

from __future__ import annotations

import numpy as np
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import given
from naive_survival import log_rank

from treeselect.engine.survival.cox import CoxRows


@given(SEEDS)
def test_the_residuals_of_a_side_are_the_numerator_of_the_log_rank_test(seed):
    """Where no events tie; where they do, Efron's residuals share them out."""
    y, weight, eta = survival_rows(seed, n_times=10**9)
    left = eta <= np.median(eta)
    residuals = CoxRows(y, weight).negative_gradient(np.zeros(len(y)))
    found = weight[left] @ residuals[left]
    assert found == pytest.approx(log_rank(y, weight, left).excess, rel=1e-9, abs=1e-9)
