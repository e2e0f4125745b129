"""Agreement with R's survival and scikit-survival: `tests/reference` has the scripts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from coxph_models import COEFFICIENTS, HAZARDS, every_model, needs_sets, rows_of

from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.curves import (
    breslow,
    brier_scores,
    censoring_curve,
    concordance,
    integrated_brier_score,
    kaplan_meier,
    uno_concordance,
)
from treeselect.engine.survival.times import as_times

REFERENCE = Path(__file__).parents[2] / "reference"
DATA = pd.read_csv(REFERENCE / "survival_data.csv")
OF_R = pd.read_csv(REFERENCE / "survival.csv", dtype={"case": str})
OF_PYTHON = pd.read_csv(REFERENCE / "survival_python.csv")
X = DATA[["x", "z"]].to_numpy()
Z = DATA["z"].to_numpy()
ETA = X @ [0.7, -0.4]
ONES = np.ones(len(DATA))
WEIGHT = DATA["weight"].to_numpy()
NEAR = {"rtol": 1e-8, "atol": 1e-8}


def response(*, late=False, strata=False):
    """The rows as times."""
    start = DATA["start"].to_numpy() if late else None
    site = DATA["site"].to_numpy() if strata else None
    return as_times(DATA["stop"].to_numpy(), DATA["event"].to_numpy(), start, site)


def of_r(case, figure):
    """Numbers of R."""
    here = (OF_R["case"] == case) & (OF_R["figure"] == figure)
    return OF_R.loc[here, "value"].to_numpy()


def of_python(figure):
    """Numbers of scikit-survival."""
    here = (OF_PYTHON["package"] == "sksurv") & (OF_PYTHON["figure"] == figure)
    found = OF_PYTHON.loc[here, "value"].to_numpy()
    assert len(found)
    return found


@pytest.mark.parametrize("case", sorted(OF_R["case"].unique()))
def test_figures_are_those_of_r(case):
    late, strata, weighted = (c == "1" for c in case)
    y, weight = response(late=late, strata=strata), WEIGHT if weighted else ONES
    rows = CoxRows(y, weight)
    np.testing.assert_allclose(-weight @ rows.value(ETA), of_r(case, "loglik")[0], **NEAR)
    np.testing.assert_allclose(rows.negative_gradient(ETA), of_r(case, "martingale"), **NEAR)
    information = X.T @ (weight[:, np.newaxis] * rows.curvature_times(ETA, X))
    np.testing.assert_allclose(information.ravel(), of_r(case, "information"), **NEAR)
    site = of_r(case, "breslow_site").astype(int) if strata else 0
    hazard = breslow(y, ETA, weight).cumulative_hazard(of_r(case, "breslow_time"), site)
    np.testing.assert_allclose(hazard, of_r(case, "breslow_hazard"), **NEAR)
    np.testing.assert_allclose(concordance(y, Z, weight), of_r(case, "pairs"), **NEAR)


FIELDS = {
    "time": "time", "n.risk": "at_risk", "n.event": "events", "n.censor": "censored",
    "surv": "survival", "std.err": "standard_error", "lower": "lower", "upper": "upper",
}  # fmt: skip


@pytest.mark.parametrize("case", ["000", "100", "001", "101"])
def test_kaplan_and_meier_are_those_of_r(case):
    curve = kaplan_meier(response(late=case[0] == "1"), WEIGHT if case[2] == "1" else ONES)
    for theirs, ours in FIELDS.items():
        np.testing.assert_allclose(getattr(curve, ours), of_r(case, theirs), **NEAR)


def test_figures_are_those_of_scikit_survival():
    """Those of which R has none: scores, also with the censoring of other rows."""
    y, times = response(), np.arange(2.0, 13.0)
    survival = np.exp(-np.outer(np.exp(0.3 * Z), 0.08 * times))
    scores = brier_scores(y, survival, times, ONES)
    others, rest = {"censoring": censoring_curve(y[:60], ONES[:60])}, slice(60, None)
    found = {
        "censoring": censoring_curve(y, ONES).survival,
        "uno": uno_concordance(y, Z, ONES, tau=14.0).value,
        "uno_of_others": uno_concordance(y[rest], Z[rest], ONES[rest], tau=9.0, **others).value,
        "brier": scores, "integrated": integrated_brier_score(scores, times),
        "brier_of_others": brier_scores(y[rest], survival[rest], times, ONES[rest], **others),
    }  # fmt: skip
    for figure, ours in found.items():
        np.testing.assert_allclose(np.ravel(ours), of_python(figure), **NEAR, err_msg=figure)
    index, *pairs, _ = of_python("harrell")
    ours = concordance(y, Z, ONES)
    np.testing.assert_allclose([ours.value, *ours], [index, *pairs], **NEAR)


@needs_sets
@every_model
def test_figures_are_those_of_coxph(fit):
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
