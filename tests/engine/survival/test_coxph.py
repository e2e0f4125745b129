"""The partial likelihood at the coefficients of R's coxph(): its value, gradient and errors.

`coxph.R` in tests/reference wrote the figures from the sets beside the benchmarks, and says which
rows have which weights, entries and strata.
"""

from __future__ import annotations

import re
from pathlib import Path

import formulaic
import numpy as np
import pandas as pd
import pytest

from treeselect.engine.survival.cox import CoxRows
from treeselect.engine.survival.times import as_times

REFERENCE = Path(__file__).parents[2] / "reference"
SETS = Path(__file__).parents[3] / "benchmarks" / "data" / "survival"
COEFFICIENTS = pd.read_csv(REFERENCE / "coxph.csv")
FITS = pd.read_csv(REFERENCE / "coxph_fits.csv", keep_default_na=False)

pytestmark = pytest.mark.skipif(not SETS.is_dir(), reason="needs the repository")


def rows_of(fit):
    """The columns of a model of R, its response, weights and offset."""
    data = pd.read_csv(SETS / f"{fit.set}.csv").rename(columns={"cens": "event"})
    row = np.arange(1, len(data) + 1)
    data["weight"] = 1 + row % 3
    data["entry"] = np.where(row % 2 == 0, data["time"] // 4, 0)
    data["site"] = row % 4
    terms = fit.formula.split("~")[1]
    strata = re.findall(r"strata\((\w+)\)", terms)
    offset = 0.02 * data["age"] if "offset" in terms else 0.0 * data["time"]
    terms = re.sub(r"\+ (strata|offset)\([^)]*\)", "", terms)
    data = data.dropna(subset=[fit.cluster]) if fit.cluster else data
    x = formulaic.model_matrix(terms, data).iloc[:, 1:]
    data = data.loc[x.index]
    y = as_times(
        data["time"].to_numpy(),
        data["event"].to_numpy(),
        data["entry"].to_numpy() if "entry" in fit.formula else None,
        pd.factorize(data[strata[0]])[0] if strata else None,
    )
    weight = data["weight"].to_numpy(float) if fit.weights else np.ones(len(data))
    return x.to_numpy(float), y, weight, offset.loc[x.index].to_numpy()


EFRON = list(FITS[FITS["ties"] == "efron"].itertuples())


@pytest.mark.parametrize("fit", EFRON, ids=[f"{fit.set}-{fit.model}" for fit in EFRON])
def test_figures_are_those_of_r(fit):
    x, y, weight, offset = rows_of(fit)
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
