"""Figures of a linear model: coefficients and effects, with their intervals."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import treeselect
from treeselect.errors import OptionError
from treeselect.results.linear_figures import linear_curves, spline_figures
from treeselect.results.linear_model import figure_of_coefficients

SURVEY = pd.read_csv("tests/reference/survey_data.csv")


def refitted(left="b", right="x + g", data=SURVEY, model="gam", **options):
    """The linear model of all terms."""
    k = right.count("+") + 1
    fit = treeselect.select(f"{left} ~ {right}", data, method="mrmr", k=k, seed=1, **options)
    return fit.refit(model, missing="indicator")


def curve_of(model, term):
    (found,) = linear_curves(model.fitted, model.predictor.design, term)
    return found


@pytest.mark.parametrize(("left", "term"), [("y", "x"), ("b", "g"), ("Surv(time, event)", "x")])
def test_an_effect_is_what_predictions_differ_by(left, term):
    model = refitted(left)
    points = curve_of(model, term).points
    new = (
        SURVEY.head(1)
        .drop(columns=term)
        .merge(
            pd.DataFrame({term: [p.label if p.value is None else p.value for p in points]}),
            how="cross",
        )
    )
    link = np.asarray(model.predict(new, type="link"))
    effect = np.array([p.effect for p in points])
    np.testing.assert_allclose(effect - effect[0], link - link[0], atol=1e-8)


def test_effects_are_centred_with_points_for_missing_values_and_classes():
    model = refitted("y", "g", model="glm")
    points = curve_of(model, "g").points
    assert sum(p.share * p.effect for p in points) == pytest.approx(0, abs=1e-12)
    means = SURVEY.groupby("g")["y"].mean()
    sizes = SURVEY["g"].value_counts()
    variance = model.result.mse_resid
    for p in points:
        assert p.effect == pytest.approx(means[p.label] - SURVEY["y"].mean())
        se = np.sqrt(variance * (1 / sizes[p.label] - 1 / len(SURVEY)))
        half = stats.t.ppf(0.975, model.result.df_resid) * se
        assert (p.low, p.high) == pytest.approx((p.effect - half, p.effect + half))
    data = SURVEY.assign(x=SURVEY["x"].mask(SURVEY["w"] > 38))
    points = curve_of(refitted("y", data=data), "x").points
    assert [p.is_missing for p in points] == [False] * (len(points) - 1) + [True]
    assert points[-1].share == pytest.approx(data["x"].isna().mean())
    assert [p.value for p in points[:-1]] == sorted(p.value for p in points[:-1])
    data = SURVEY.assign(g=SURVEY["g"].mask(SURVEY.index < 3, "rare"), b=SURVEY["b"])
    data.loc[:2, "b"] = 1
    with pytest.warns(treeselect.errors.TreeselectWarning, match="separate"):
        model = refitted(data=data, model="glm")
    assert "rare" not in [p.label for p in curve_of(model, "g").points]
    assert len(curve_of(model, "g").points) == 3
    model = refitted("m", "x + g")
    assert model.plot("g").get_xlabel() == "effect on the linear predictor of each class"
    plt.close("all")
    found = linear_curves(model.fitted, model.predictor.design, "x")
    assert [curve.of_class for curve in found] == sorted(SURVEY["m"].unique())[1:]


def test_coefficients_are_drawn_as_ratios_or_differences_and_plotted():
    model = refitted()
    figure = figure_of_coefficients(model)
    table = model.tidy(exponentiate=True).iloc[1:]
    assert [row.name for row in figure.rows] == table["column"].tolist()
    dots = np.array([[d.at, d.low, d.high] for row in figure.rows for d in row.dots])
    expected = table[["estimate", "ci_low", "ci_high"]].to_numpy()
    np.testing.assert_allclose(np.exp(dots), expected)
    assert figure.x.label == "Odds ratio (95% interval)"
    figure = figure_of_coefficients(refitted("y", model="glm"))
    assert (figure.x.kind, figure.x.label) == ("numbers", "Estimate (95% interval)")
    _, axes = plt.subplots()
    assert model.plot(ax=axes) is axes
    assert axes.get_xlabel() == "Odds ratio (95% interval)"
    drawn = model.plot("x")
    assert (drawn.get_ylabel(), drawn.get_xlabel()) == ("effect on the linear predictor", "x")
    assert model.plot("g").get_xlabel() == "effect on the linear predictor"
    plt.close("all")
    fit = treeselect.select("w ~ y", SURVEY, seed=1, n_trees=20)
    assert not fit.selected
    with pytest.raises(OptionError, match="nothing to plot"):
        fit.refit("glm").plot()


def test_splines_have_small_figures():
    model = refitted("y", "x + w + g")
    figures = spline_figures(model.fitted, model.predictor.design)
    assert [figure.key for figure in figures] == ["spline-1", "spline-2"]
    model = refitted("y", model="glm")
    assert spline_figures(model.fitted, model.predictor.design) == ()


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("z", "Terms: `x`, `x:g`"),
        (np.zeros(2), "Terms: `x`, `x:g`"),
        ("x:g", "a figure shows one variable"),
    ],
)
def test_what_can_not_be_drawn(term, message):
    model = refitted("y", "x + x:g", model="glm")
    with pytest.raises(OptionError, match=message):
        model.plot(term)
