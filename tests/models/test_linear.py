"""Coefficients of linear models."""

import numpy as np

from treeselect.models.linear.coefficients import coefficient_table
from treeselect.models.linear.fit import LinearFit


def test_a_negative_variance_has_no_standard_error():
    covariance = np.diag([4.0, -1e-20])
    fit = LinearFit(None, "GLM", ("a", "b"), ("a", "b"), np.array([2.0, 1.0]), covariance, None, ())
    table = coefficient_table(fit)
    error = table.filter(like="error").iloc[:, 0]
    assert error[0] == 2.0
    assert np.isnan(error[1])


def test_an_exact_fit_has_statistics_without_bounds():
    fit = LinearFit(
        None, "GLM", ("a", "b"), ("a", "b"), np.array([2.0, 0.0]), np.zeros((2, 2)), None, ()
    )
    statistic = coefficient_table(fit)["statistic"]
    assert statistic[0] == np.inf
    assert np.isnan(statistic[1])
