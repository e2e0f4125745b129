"""Forests of times: as wide apart as what they say of new rows."""

import numpy as np
import statsmodels.api as sm

from treeselect import datasets, select


def test_risks_of_new_rows_have_the_spread_that_their_times_show():
    every = datasets.simulate_survival(900, seed=3, censored=0.3)
    data, new = every.data[:450], every.data[450:]
    terms = "x01 + x02 + x03 + x04 + x05 + x07 + f01 + f02"
    fit = select(f"Surv(time, event) ~ {terms}", data, method="mrmr", k=8, seed=1)
    eta = np.asarray(fit.predict(new, type="link"))
    slope = sm.PHReg(new["time"], eta, status=new["event"], ties="efron").fit()
    assert abs(slope.params[0] - 1) < 3 * slope.bse[0]
    assert slope.params[0] > 4 * slope.bse[0]


def test_noise_alone_moves_no_risk_far():
    rng = np.random.default_rng(0)
    data = (
        datasets.simulate_survival(300, seed=3)
        .data[["x01"]]
        .assign(x01=rng.normal(size=300), time=rng.exponential(size=300), event=1)
    )
    fit = select("Surv(time, event) ~ x01", data, method="mrmr", k=1, seed=1)
    assert np.std(fit.predict(data, type="link")) < 0.2
