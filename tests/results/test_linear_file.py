"""A linear model in a file of its own: it predicts and prints what it did, without the data."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import coding
from treeselect.errors import DataError, ModelFileError, NewDataError
from treeselect.selection import _KINDS

pytestmark = pytest.mark.filterwarnings("ignore::treeselect.errors.TreeselectWarning")

QUICK = {"method": "lasso", "seed": 1, "progress": False, "resamples": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    n = 240
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": rng.gamma(2.0, size=n)})
    frame["site"] = rng.choice(["a", "b", "c"], n)
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["stage"] = pd.Categorical(rng.choice(["I", "II", "III"], n), ordered=True)
    frame["ward"] = np.arange(n) % 13
    frame.loc[:20, "site"], frame.loc[10:25, "x"] = None, np.nan
    eta = frame["z"] - 2 + (frame["sex"] == "m")
    frame["yes"] = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    frame["count"], frame["exposure"] = rng.poisson(np.exp(eta / 3)), rng.random(n)
    frame["time"], frame["event"] = rng.exponential(np.exp(-eta)) + 0.01, rng.random(n) < 0.7
    return frame.assign(y=np.exp(eta / 4) + rng.random(n))


CODED = "sex*z + poly(x, 2) + bs(z, 4, extrapolation='clip') + log(z) + I(z > 2) + C(site)"


@pytest.mark.parametrize(
    ("left", "right", "model", "options", "more"),
    [
        ("yes", CODED, "glm", {}, {}),
        ("yes", "C(ward)*z + C(stage > 'II')", "glm", {}, {}),
        ("yes", "sex + x + site", "gam", {}, {"missing": "indicator"}),
        ("yes", "sex + stage + x", "firth", {}, {"missing": "indicator"}),
        ("stage", "sex + z", "glm", {"family": "multinomial"}, {}),
        ("stage", "sex + z", "ordinal", {"family": "multinomial"}, {}),
        ("count", "sex + z", "negative-binomial", {"family": "poisson", "offset": "exposure"}, {}),
        ("yes", "z", "glm", {"fold_groups": "stage"}, {}),
        ("Surv(time, event)", "sex + z + strata(site)", "gam", {}, {}),
    ],
)
def test_what_is_loaded_predicts_and_prints_the_same(
    data, tmp_path, left, right, model, options, more
):
    one = treeselect.select(f"{left} ~ {right}", data, k=1, **QUICK, **options)
    k = len(one._fit.design.spec.terms)
    fit = treeselect.select(f"{left} ~ {right}", data, k=k, **QUICK, **options)
    glm = fit.refit(model, **more)
    path = glm.save(tmp_path / "m")
    found = treeselect.load(path)
    new = data.iloc[::3]
    np.testing.assert_array_equal(found.predict(new), glm.predict(new))
    if left.startswith("Surv"):
        asked = {"type": "survival", "times": [0.3, 1.0]}
        np.testing.assert_array_equal(found.predict(new, **asked), glm.predict(new, **asked))
    with_errors = (own.predict(new, "link", se=True) for own in (found, glm))
    np.testing.assert_allclose(*with_errors, rtol=1e-9)
    assert str(found.summary()) == str(glm.summary())
    for exponentiate in {False, bool(glm.ratio)}:
        asked = {"exponentiate": exponentiate, "reference": True}
        pd.testing.assert_frame_equal(found.tidy(**asked), glm.tidy(**asked))
        texts = (str(own.summary(exponentiate=exponentiate)) for own in (found, glm))
        assert len(set(texts)) == 1
    assert found.plot().get_xlabel() == glm.plot().get_xlabel()
    with pytest.raises(DataError, match="not in the file of a linear model"):
        found.drop1()
    with pytest.raises(ModelFileError, match=r"loaded from a file.\n  Copy that file"):
        found.save(tmp_path / "again")
    if "sex" in right:
        with pytest.raises(NewDataError, match="New: "):
            found.predict(new.assign(sex="other"))


def test_the_file_holds_no_rows_and_transforms_that_need_them_are_refused(data, tmp_path):
    fit = treeselect.select("yes ~ sex + z", data, k=2, **QUICK)
    path = fit.refit("glm").save(tmp_path / "m")
    found = coding.read_record(path, _KINDS)
    assert found.design.data is None
    assert {len(own.values) for own in found.example.values()} == {3}
    assert set(found.example["z"].values) <= set(np.quantile(data["z"], [0.25, 0.5, 0.75],
                                                             method="lower"))  # fmt: skip
    fit = treeselect.select("yes ~ sex + C(floor(z))", data, k=2, **QUICK)
    with pytest.raises(ModelFileError, match="can't be made again without the data"):
        fit.refit("glm").save(tmp_path / "other")
    assert not (tmp_path / "other").exists()
