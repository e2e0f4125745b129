"""Deviance, AIC and the like, and how they are said."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.models.linear.statistics import fit_facts, fit_statistics
from treeselect.results.refitting import fit_terms


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    x = rng.normal(size=90)
    return pd.DataFrame(
        {
            "x": x,
            "number": x + rng.normal(size=90),
            "ill": rng.random(90) < 0.5,
            "visits": rng.poisson(2.0, size=90),
            "kind": rng.choice(list("abc"), size=90),
            "times": rng.integers(1, 4, size=90),
            "share": rng.random(90) + 0.5,
        }
    )


def statistics(rows, response, **more):
    fit = treeselect.select(f"{response} ~ x", rows, method="mrmr", k=1, seed=1, **more)
    data = fit.data.design
    own = fit_terms(data, ("x",))[2]
    asked = {"family": data.response.family.name, "are_copies": data.row_weights.are_copies}
    return fit_statistics(own, **asked), dict(fit_facts(own, **asked))


def test_least_squares_as_r_prints_them(rows):
    found, said = statistics(rows, "number")
    line = np.polyfit(rows["x"], rows["number"], 1)
    left = rows["number"] - np.polyval(line, rows["x"])
    assert found["sigma"] == pytest.approx(math.sqrt((left**2).sum() / 88))
    assert found["r2"] == pytest.approx(1 - left.var() / rows["number"].var())
    assert said["Residual s.e."].endswith(" on 88 degrees of freedom")
    assert said["R-squared"].startswith(f"{found['r2']:.3f}, adjusted ")


def test_copies_of_rows_fit_as_the_rows_written_out(rows):
    written_out = rows.loc[rows.index.repeat(rows["times"])].reset_index(drop=True)
    copies, _ = statistics(rows, "number", weights="times")
    assert copies == pytest.approx(statistics(written_out.drop(columns="times"), "number")[0])


@pytest.mark.parametrize(("response", "more"), [("ill", {}), ("visits", {"family": "poisson"})])
def test_deviances_and_aic(rows, response, more):
    found, said = statistics(rows, response, **more)
    assert (found["df_resid"], found["df_null"]) == (88, 89)
    assert found["null_deviance"] > found["deviance"]
    assert found["aic"] == pytest.approx(4 - 2 * found["ll"])
    assert said["Deviance"].endswith(f"; null {found['null_deviance']:,.2f} on 89 df")
    assert said["AIC"] == f"{found['aic']:,.2f}"


def test_classes_have_a_deviance(rows):
    found, said = statistics(rows, "kind")
    assert found["aic"] == pytest.approx(found["deviance"] + 8)
    assert set(said) == {"Deviance", "AIC"}


def test_relative_weights_have_no_aic(rows):
    found, said = statistics(rows, "ill", weights="share")
    assert "aic" not in found
    assert "AIC" not in said
    assert "Deviance" in said
