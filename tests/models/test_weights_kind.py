"""Kinds of weights: what they change in selections, standard errors, summaries and files."""

import warnings

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.designs import row_sample
from treeselect.errors import OptionError, TreeselectWarning

FORMULAS = {
    "gaussian": "y ~ x + g",
    "binomial": "b ~ x + g",
    "poisson": "n ~ x + g",
    "multinomial": "m ~ x + g",
    "cox": "Surv(time, event) ~ x + g",
}
NUMBERS = ["estimate", "std_error", "p_value"]


@pytest.fixture(scope="module")
def survey():
    return pd.read_csv("tests/reference/survey_data.csv")


@pytest.fixture(scope="module")
def reference():
    return pd.read_csv("tests/reference/survey.csv")


def select(family, data, **options):
    """Both terms in the order of the formula, so that coefficients are those of R."""
    return treeselect.select(
        FORMULAS[family], data, family=family, method="mrmr", k=2, seed=1, **options
    )


def numbers(fit):
    table = fit.refit("glm").tidy()
    return table.set_index("column")[NUMBERS]


@pytest.mark.parametrize("units", ["rows", "sites"])
@pytest.mark.parametrize("family", list(FORMULAS))
def test_sampling_weights_give_the_errors_of_survey(family, units, survey, reference):
    clusters = {} if units == "rows" else {"fold_groups": "site"}
    fit = select(family, survey, weights="w", weights_kind="sampling", **clusters)
    model = fit.refit("glm")
    table = model.tidy()
    at = table["term"] == "x"
    here = reference[(reference["family"] == family) & (reference["kind"] == units)]
    expected = here[here["column"].str.endswith("x")]
    # R's glm stops at a relative change of the deviance of 1e-8
    np.testing.assert_allclose(table["estimate"][at], expected["estimate"], rtol=1e-6)
    np.testing.assert_allclose(table["std_error"][at], expected["std_error"], rtol=1e-5)
    if units == "rows" and family not in ("cox", "multinomial"):
        t = table["statistic"][at].item()
        from scipy import stats

        p = 2 * stats.t(expected["df"].item()).sf(abs(t))
        np.testing.assert_allclose(table["p_value"][at], p, rtol=1e-9)
    said = " ".join(str(model.summary()).split())
    assert "Case weights: `w`, sampling weights" in said
    assert "within chance" not in said  # counts vary as they may
    assert "AIC" not in said  # as in glance(): the likelihood is known up to scale
    assert "Standard errors are robust" in said


@pytest.mark.parametrize("family", list(FORMULAS))
def test_constant_weights_and_the_scale_of_relative_ones_change_nothing(family, survey):
    plain = select(family, survey)
    for kind, value in (("sampling", 5000), ("precision", 0.2), (None, 3)):
        fit = select(family, survey.assign(v=value), weights="v", weights_kind=kind)
        assert fit.path.equals(plain.path)
        pd.testing.assert_frame_equal(numbers(fit), numbers(plain), check_exact=True)
        said = " ".join(str(fit.summary()).split())
        assert "Case weights: `v`, all equal: they have no effect" in said
    # unless they are said to be counts
    twice = select(family, survey.assign(v=2), weights="v", weights_kind="frequency")
    assert (numbers(twice)["std_error"] < numbers(plain)["std_error"]).all()
    kind = "precision" if family == "poisson" else "sampling"
    one, seven = (
        select(family, survey.assign(w=unit * survey["w"]), weights="w", weights_kind=kind)
        for unit in (1, 7)
    )
    assert one.selected == seven.selected
    pd.testing.assert_frame_equal(numbers(one), numbers(seven), rtol=1e-7)


@pytest.mark.parametrize(
    ("family", "model"),
    [*((family, "glm") for family in FORMULAS if family != "cox"), ("binomial", "firth"),
     ("multinomial", "ordinal"), ("gaussian", "gam")],
)  # fmt: skip
def test_frequencies_are_copied_rows(family, model, survey):
    survey = survey.assign(m=pd.Categorical(survey["m"], ordered=True))
    count = 1 + np.arange(len(survey)) % 3
    by_count = select(family, survey.assign(v=count), weights="v", weights_kind="frequency")
    copied = select(family, survey.loc[np.repeat(np.arange(len(survey)), count)])
    assert by_count.selected == copied.selected
    once, each = by_count.refit(model), copied.refit(model)
    pd.testing.assert_frame_equal(once.tidy(), each.tidy(), rtol=1e-6)
    pd.testing.assert_frame_equal(once.drop1().tidy(), each.drop1().tidy(), rtol=1e-5)
    once, each = once.diagnostics(folds=2), each.diagnostics(folds=2)
    first = each.tidy().iloc[np.append(0, np.cumsum(count)[:-1])].reset_index(drop=True)
    for name in ("residual", "standardised", "leverage", "cooks_distance"):
        np.testing.assert_allclose(once.tidy()[name], first[name], rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(once.terms["gvif"], each.terms["gvif"], rtol=1e-5)


@pytest.mark.parametrize("clusters", [{}, {"fold_groups": "site"}])
def test_many_copies_of_several_classes_are_weights_of_the_likelihood(
    survey, monkeypatch, clusters
):
    count = 1 + (7 * np.arange(len(survey))) % 23
    copied = select("multinomial", survey.loc[np.repeat(np.arange(len(survey)), count)], **clusters)
    each = copied.refit("glm")
    monkeypatch.setattr(row_sample, "_MOST_COPIES", 1)  # copies remain together
    counts = {"weights": "v", "weights_kind": "frequency", **clusters}
    once = select("multinomial", survey.assign(v=count), **counts).refit("glm")
    assert len(once.result.model.endog) < count.sum() / 2
    pd.testing.assert_frame_equal(once.tidy(), each.tidy(), rtol=1e-8)
    pd.testing.assert_frame_equal(once.glance(), each.glance(), rtol=1e-6)


def test_large_whole_numbers_are_not_counts(survey):
    with pytest.warns(TreeselectWarning) as caught:
        fit = select("binomial", survey, weights="w")
    (said,) = caught
    assert said.filename == __file__
    for part in ("(`w`)", f"{survey['w'].mean():,.4g}", "weights_kind", "sampling", "precision"):
        assert part in str(said.message)
    named = select("binomial", survey, weights="w", weights_kind="sampling")
    pd.testing.assert_frame_equal(numbers(fit), numbers(named))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        counts = select("binomial", survey, weights="w", weights_kind="frequency")
        few = select("binomial", survey.assign(w=1 + survey["w"] % 3), weights="w")
    assert "frequency weights" in str(few.summary())
    # z of weights taken for counts grows with their mean
    assert (numbers(counts)["std_error"] < numbers(fit)["std_error"] / 3).all()
    found = named.inference(0.5, 1, seed=1)
    assert "sampling weights" in str(found.summary())
    assert (found.tidy()["std_error"] > numbers(counts)["std_error"].max()).any()


def test_files_selectors_and_calls_carry_the_kind(survey, tmp_path):
    fit = select("gaussian", survey, weights="w", weights_kind="sampling")
    assert 'weights="w", seed=1, weights_kind="sampling"' in fit._fit.call.text
    for include in (True, False):
        fit.save(tmp_path / "model.tsm", include_data=include)
        again = treeselect.load(tmp_path / "model.tsm")
        assert again.data.design.weights_kind == "sampling"
        model = (again if include else again.with_data(survey)).refit("glm")
        np.testing.assert_allclose(model.tidy()[NUMBERS], numbers(fit))
    selector = treeselect.TreeSelector("mrmr", k=1, weights_kind="sampling", random_state=1)
    selector.fit(survey[["x", "n"]], survey["y"], sample_weight=survey["w"].to_numpy())
    assert selector.result_.data.design.weights_kind == "sampling"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"weights_kind": "survey", "weights": "w"}, "`weights_kind` must be"),
        ({"weights_kind": "sampling"}, "`weights_kind` needs `weights`"),
        ({"weights_kind": "frequency", "weights": "y2"}, "must be whole numbers"),
    ],
)
def test_what_is_refused(asked, said, survey):
    with pytest.raises(OptionError, match=said):
        select("gaussian", survey.assign(y2=survey["y"].abs()), **asked)


def test_certain_probabilities_and_separating_levels_have_robust_errors(survey):
    """statsmodels has a second derivative of the logit that is infinite at fitted values of 1."""
    gain = np.where(survey.index < 5, 1e4, 0.0)
    data = survey.assign(b=np.where(survey.index < 5, 1, survey["b"]), x=survey["x"] + gain)
    with pytest.warns(TreeselectWarning, match="Fitted probabilities of 0 or 1"):
        glm = select("binomial", data, weights="w", weights_kind="sampling").refit("glm")
    model, fitted = glm.result.model, np.asarray(glm.result.fittedvalues)
    assert (fitted == 1).any()
    matrix, weights = model.exog, model.var_weights
    bread = np.linalg.inv((matrix.T * (weights * fitted * (1 - fitted))) @ matrix)
    scores = matrix * (weights * (model.endog - fitted))[:, None]
    n = len(scores)
    covariance = bread @ (scores.T @ scores) @ bread * n / (n - 1)
    np.testing.assert_allclose(glm.result.bse, np.sqrt(np.diag(covariance)), rtol=1e-6)
    # Their residuals are 0, and so would be the robust error of an infinite estimate.
    at = survey.index < 12
    data = survey.assign(g=survey["g"].where(~at, "only"), b=survey["b"].where(~at, 1))
    fit = select("binomial", data, weights="w", weights_kind="sampling")
    with pytest.warns(TreeselectWarning, match=r"estimates of `g\[T.only\]` diverge"):
        fit.refit("glm")
