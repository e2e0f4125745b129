"""Long GLMs, of which statsmodels starts at the end."""

import numpy as np
import pytest
from statsmodels.genmod.generalized_linear_model import GLM

import treeselect
from treeselect.models.linear import solving

MODELS = [("glm", "binomial"), ("glm", "poisson"), ("negative-binomial", "poisson")]


@pytest.mark.parametrize(("model", "family"), MODELS)
def test_a_long_refit_is_the_same_in_fewer_steps(model, family, monkeypatch):
    data = treeselect.datasets.load("titanic_correlated")
    left = {"binomial": "survived", "poisson": "pclass"}[family]
    fit = treeselect.select(f"{left} ~ sex + age", data, method="mrmr", k=2, seed=1, family=family)
    usual, asked = fit.refit(model), []
    own = GLM.fit
    monkeypatch.setattr(
        GLM, "fit", lambda glm, **how: asked.append(how["start_params"]) or own(glm, **how)
    )
    monkeypatch.setattr(solving, "_LONG", 100)
    long = fit.refit(model)
    np.testing.assert_allclose(long.tidy()["estimate"], usual.tidy()["estimate"], rtol=1e-6)
    assert str(long.summary()) == str(usual.summary())
    assert all(start is not None for start in asked)
    if model == "glm":
        assert long.result.fit_history["iteration"] < usual.result.fit_history["iteration"]


def test_where_there_is_no_end_statsmodels_starts_as_usual(monkeypatch):
    monkeypatch.setattr(solving, "_LONG", 100)
    data = treeselect.datasets.load("titanic_correlated")
    data["died"] = data["survived"] + (data["age"] > 30)
    data["site"] = np.where(data["died"] == 0, "a", "b")
    fit = treeselect.select("died ~ site", data, method="mrmr", k=1, seed=1, family="poisson")
    with pytest.warns(UserWarning, match="diverge"):
        fit.refit("glm")
