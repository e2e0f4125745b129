"""Rubin's rules: by hand, against their definition, and where nothing is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeselect.models.linear.coefficients import pool


def pooled_naively(estimates, variances, n):
    """One coefficient, as Rubin (1987) and Barnard and Rubin (1999) have it."""
    m = len(estimates)
    q = sum(estimates) / m
    u = sum(variances) / m
    b = sum((e - q) ** 2 for e in estimates) / (m - 1)
    t = u + (1 + 1 / m) * b
    r = (1 + 1 / m) * b / u
    share = (1 + 1 / m) * b / t
    old = (m - 1) * (1 + 1 / r) ** 2
    observed = np.inf if n is None else (n + 1) / (n + 3) * n * (1 - share)
    df = 1 / (1 / old + 1 / observed)
    return q, t**0.5, df, r, (r + 2 / (df + 3)) / (r + 1)


def test_a_case_by_hand():
    # U = 2, B = 1, T = 2 + 4/3, r = 2/3, lambda = 2/5; 10 of the complete data's degrees of freedom
    found = pool(np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [3.0]]), 10.0)
    assert found.estimate == pytest.approx([2.0])
    assert found.std_error**2 == pytest.approx([10 / 3])
    assert found.riv == pytest.approx([2 / 3])
    df = 1 / (1 / 12.5 + 1 / (110 / 13 * 0.6))
    assert found.df == pytest.approx([df])
    assert found.fmi == pytest.approx([(2 / 3 + 2 / (df + 3)) / (5 / 3)])


@given(
    arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 3)), elements=st.floats(-9, 9)),
    st.sampled_from([None, 1.0, 7.0, 500.0]),
    st.integers(0, 9),
)
def test_against_the_definition(estimates, df_complete, seed):
    rng = np.random.default_rng(seed)
    estimates = estimates + 0.01 * rng.normal(size=estimates.shape)
    variances = rng.uniform(0.1, 2, size=estimates.shape)
    found = pool(estimates, variances, df_complete)
    for j in range(estimates.shape[1]):
        expected = pooled_naively(estimates[:, j].tolist(), variances[:, j].tolist(), df_complete)
        mine = [a[j] for a in (found.estimate, found.std_error, found.df, found.riv, found.fmi)]
        assert mine == pytest.approx(expected, rel=1e-9)
    assert ((found.fmi >= 0) & (found.fmi <= 1)).all()


@pytest.mark.parametrize(("df_complete", "df"), [(None, np.inf), (12.0, 12 * 13 / 15)])
def test_imputations_that_agree_lack_nothing(df_complete, df):
    # 0.1 has no exact mean: what is rounded is no difference between imputations.
    found = pool(np.full((3, 1), 0.1), np.full((3, 1), 0.25), df_complete)
    assert (found.riv[0], found.std_error[0]) == (0.0, 0.5)
    assert found.df == pytest.approx([df])
    assert found.fmi == pytest.approx([2 / (df + 3)])


def test_what_has_no_variance_has_no_error():
    found = pool(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([[np.nan, 1.0], [1.0, 1.0]]), 5.0)
    assert np.isnan(found.std_error).tolist() == [True, False]
    assert found.estimate.tolist() == [1.5, 1.5]
