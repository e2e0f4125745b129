"""Firth's logistic regression, beside R's brglm2 and the penalised likelihood."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError

CANCER = pd.read_csv("tests/reference/firth_data.csv")  # no NV without HG: it separates
EXPECTED = pd.read_csv("tests/reference/firth.csv").replace("(Intercept)", "Intercept")
EXPECTED = EXPECTED.set_index("column")


def fitted(data=CANCER, right="NV + PI + EH", **options):
    options = {"method": "mrmr", "k": right.count("+") + 1, "seed": 1} | options
    return treeselect.select(f"HG ~ {right}", data, **options)


@pytest.fixture(scope="module")
def model():
    return fitted().refit("firth")


def test_it_is_that_of_r(model):
    own, columns = model.tidy().set_index("column"), ["estimate", "std_error"]
    np.testing.assert_allclose(own.loc[EXPECTED.index, columns], EXPECTED[columns], rtol=1e-5)
    ends = model.confint().set_index("column")[["ci_low", "ci_high"]]
    np.testing.assert_allclose(ends.loc[EXPECTED.index], EXPECTED[ends.columns], rtol=1e-4)
    tests = model.drop1().tidy().set_index("term")
    assert np.isnan(tests.loc["NV", "aic"])
    for term in ("NV", "PI", "EH"):
        assert tests.loc[term, "statistic"] == pytest.approx(
            EXPECTED.loc[term, "statistic"], rel=1e-5
        )


def test_a_table_of_four_cells_has_half_a_row_more_in_each():
    found = fitted(right="NV").refit("firth").tidy().set_index("column")["estimate"]
    count = pd.crosstab(CANCER["NV"], CANCER["HG"]).to_numpy() + 0.5
    odds = count[:, 1] / count[:, 0]
    assert found["Intercept"] == pytest.approx(np.log(odds[0]), rel=1e-6)
    assert found["NV"] == pytest.approx(np.log(odds[1] / odds[0]), rel=1e-6)


def test_the_logistic_model_names_it_and_its_table_has_profile_intervals(model):
    fit = fitted()
    with pytest.warns(UserWarning, match="separate the classes"):
        plain = fit.refit("glm")
    assert '`refit("firth")` keeps the estimates finite, by a penalised likelihood.' in str(
        plain.summary()
    )
    table = model.regression_table(["selected"])
    ratio = table.tidy().set_index("term")["ci_high"]
    assert ratio["NV"] == pytest.approx(np.exp(EXPECTED.loc["NV", "ci_high"]), rel=1e-4)
    assert (
        "CI: penalised profile-likelihood confidence interval. P: penalised likelihood ratio tests"
        in " ".join(str(table).split())
    )
    wald = model.regression_table(["selected"], interval="wald").tidy().set_index("term")
    assert wald.loc["NV", "ci_high"] == pytest.approx(
        np.exp(EXPECTED.loc["NV", "estimate"] + 1.959964 * EXPECTED.loc["NV", "std_error"])
    )
    ten = model.regression_table(["selected"], per={"PI": 10}).tidy().set_index("term")
    assert ten.loc["PI", "ci_low"] == pytest.approx(
        np.exp(10 * EXPECTED.loc["PI", "ci_low"]), rel=1e-3
    )


def test_what_is_refused(model):
    with pytest.raises(OptionError, match="`interval` must be one of `wald`, `profile`"):
        model.regression_table(interval="exact")
    bent = fitted().refit("firth", splines={"PI": 3})
    assert np.isfinite(bent.tidy()["estimate"]).all()
    with pytest.raises(OptionError, match="`interval` must be 'wald' for splines"):
        bent.regression_table(interval="profile")
    numbers = treeselect.select("PI ~ EH", CANCER, method="mrmr", k=1)
    with pytest.raises(OptionError, match=r'`model="firth"` needs two classes'):
        numbers.refit("firth")
    data = CANCER.assign(site=np.arange(len(CANCER)) // 2, few=CANCER.index % 3)
    for right, name in (("NV + PI", "site"), ("PI + EH", "few")):
        together = fitted(data, right, fold_groups=name)
        with pytest.raises(OptionError, match="its errors are not robust"):
            together.refit("firth")
        with pytest.warns(UserWarning, match="separate the classes|need more clusters"):
            assert "firth" not in str(together.refit("glm").summary())
