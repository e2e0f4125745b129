"""Models as columns of tables that maketables makes, beside those of other packages."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError

HOSTILE = "a\x1b[31m & b"


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    x = rng.normal(size=120)
    return pd.DataFrame(
        {
            "ill": x + rng.normal(size=120) > 0, "x": x, HOSTILE: rng.normal(size=120),
            "site": rng.choice(["Bath", "York"], size=120),
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def fit(rows):
    return treeselect.select("ill ~ .", rows, method="mrmr", k=3, seed=1)


def test_p_values_that_are_not_valid_draw_no_stars(fit):
    glm, split = fit.refit("glm"), fit.inference(seed=1)
    table = glm.__maketables_coef_table__
    assert list(table) == ["b", "se", "t", "p", "ci95l", "ci95u"]
    assert table["b"].to_list() == glm.tidy()["estimate"].to_list()
    assert table["p"].isna().all()
    assert split.__maketables_coef_table__["p"].notna().all()
    assert glm.__maketables_stat__("selection") == "the same rows"
    assert split.__maketables_stat__("selection") == "other rows"
    assert glm.__maketables_stat__("N") == 120
    assert glm.__maketables_stat__("aic") == pytest.approx(glm.result.aic)
    assert glm.__maketables_stat__("nothing") is None
    assert glm.__maketables_depvar__ == "ill"


def test_what_has_coefficients_and_intervals(fit):
    wide, usual = (fit.inference(seed=1, level=level) for level in (0.99, 0.95))
    assert wide.__maketables_coef_table__.equals(usual.__maketables_coef_table__)
    with pytest.raises(OptionError, match="`repeats=1` gives coefficients"):
        fit.inference(repeats=2, seed=1).__maketables_coef_table__  # noqa: B018


def test_labels_go_with_the_coefficients(rows):
    labels = {"x": "Exposure", "site": "Hospital"}
    fit = treeselect.select("ill ~ x + site", rows, method="mrmr", k=2, seed=1, labels=labels)
    for model in (fit.refit("glm"), fit.inference(seed=1)):
        assert model.__maketables_var_labels__["x"] == "Exposure"
        assert set(model.__maketables_var_labels__) <= set(model.__maketables_coef_table__.index)


def test_several_fits_are_in_one_table(fit):
    maketables = pytest.importorskip("maketables")
    models = [fit.refit("glm"), fit.inference(seed=1)]
    for form in ("tex", "typst"):
        text = maketables.ETable(models).make(type=form)
        assert "site=York" in text
        assert "Terms selected on" in text
        assert "\x1b" not in text
