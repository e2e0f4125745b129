"""Figures at the coefficients of R's coxph(): likelihood, errors, concordance and hazards."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from coxph_models import COEFFICIENTS, HAZARDS, every_model, needs_sets, rows_of

from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.curves import breslow, concordance

pytestmark = needs_sets


@every_model
def test_figures_are_those_of_r(fit):
    x, y, weight, offset, cluster = rows_of(fit)
    x = x.to_numpy()
    assert len(x) == fit.rows
    found = COEFFICIENTS[COEFFICIENTS["model"] == fit.model]
    rows = CoxRows(y, weight)
    eta = offset + x @ found["estimate"].to_numpy()
    assert weight @ rows.value(offset) == pytest.approx(-fit.loglik_null, rel=1e-9)
    assert weight @ rows.value(eta) == pytest.approx(-fit.loglik, rel=1e-9)
    information = x.T @ (weight[:, np.newaxis] * rows.curvature_times(eta, x))
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    np.testing.assert_allclose(errors, found["std_error"], rtol=1e-6)
    score = x.T @ (weight * rows.negative_gradient(eta))
    np.testing.assert_allclose(score * errors, 0.0, atol=1e-8)
    each = weight[:, np.newaxis] * rows.score_residuals(eta, x) @ np.linalg.inv(information)
    together = pd.DataFrame(each).groupby(cluster).sum().to_numpy()
    robust = np.sqrt((together**2).sum(axis=0))
    np.testing.assert_allclose(robust, found["robust_error"], rtol=1e-6)
    assert concordance(y, eta, weight).value == pytest.approx(fit.concordance, rel=1e-9)
    hazards = HAZARDS[HAZARDS["model"] == fit.model]
    stratum = pd.factorize(hazards["stratum"], sort=True)[0]
    hazard = breslow(y, eta, weight).cumulative_hazard(hazards["time"].to_numpy(), stratum)
    np.testing.assert_allclose(hazard, hazards["breslow"], rtol=1e-8)
