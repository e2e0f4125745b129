"""Cox's model of the selected terms; ratios of all families."""

import dataclasses
import warnings

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.errors import OptionError, TreeselectWarning

QUICK = {"method": "importance", "n_trees": 2, "seed": 1, "progress": False}


@pytest.fixture(scope="module")
def study():
    """90 rows: times, late entries, strata, clusters; a factor and numbers."""
    rng = np.random.default_rng(5)
    n = 90
    frame = pd.DataFrame({"x": rng.normal(size=n), "noise": rng.normal(size=n)})
    frame["site"] = rng.choice(["Bath", "York"], size=n)
    frame["dose"] = rng.choice(["low", "mid", "top"], size=n)
    rate = np.exp(-0.9 * frame["x"] + 0.5 * (frame["dose"] == "top"))
    frame["time"] = np.ceil(40 * rng.exponential(rate))
    frame["event"] = rng.random(n) < 0.7
    frame["entry"] = np.floor(frame["time"] * rng.random(n))
    frame["share"] = rng.uniform(0.2, 2.0, size=n)
    frame["copies"] = rng.integers(1, 4, size=n)
    frame["doctor"] = np.arange(n) // 2
    frame["count"] = rng.poisson(2.0, size=n)
    return frame


def select(left, right, data, k=2, **options):
    return treeselect.select(f"{left} ~ {right}", data, k=k, **QUICK | options)


NOW, LATE = "Surv(time, event)", "Surv(entry, time, event)"


@pytest.fixture(scope="module")
def times(study):
    return select(NOW, "x + dose", study)


def test_ratios_and_their_intervals_of_all_families(times, study):
    fit = times.refit("glm")
    plain, ratios = fit.tidy(), fit.tidy(exponentiate=True)
    for name in ("estimate", "ci_low", "ci_high"):
        np.testing.assert_allclose(ratios[name], np.exp(plain[name]))
    same = ["term", "column", "std_error", "statistic", "p_value"]
    pd.testing.assert_frame_equal(ratios[same], plain[same])
    first = fit.summary().content.rows[0]
    assert 1 < ratios["estimate"][0] < 10  # hence two decimals, in the interval too
    assert first[1] == f"{ratios['estimate'][0]:.2f}"
    assert first[2] == f"{ratios['ci_low'][0]:.2f} to {ratios['ci_high'][0]:.2f}"
    for left, family in (("event", "auto"), ("dose", "auto"), ("count", "poisson")):
        fit = select(left, "x + noise", study, family=family).refit("glm")
        np.testing.assert_allclose(
            fit.tidy(exponentiate=True)["estimate"], np.exp(fit.tidy()["estimate"])
        )
        assert fit.content.columns[1] == "Estimate"
    numbers = select("noise", "x + dose", study)
    for fit in (numbers.refit("glm"), numbers.inference()):
        with pytest.raises(OptionError, match="aren't on a log scale"):
            fit.tidy(exponentiate=True)
    with pytest.raises(OptionError, match="True or False"):
        fit.tidy(exponentiate="yes")


def test_the_full_text(study, snapshot):
    fit = select(LATE, "x + dose + strata(site)", study, weights="share").refit("glm")
    made = dataclasses.replace(fit.content, rows=())
    assert treeselect.printing.Summary(made).as_text() == snapshot


def test_likelihoods_without_a_maximum_and_constant_terms(study):
    data = study.assign(event=study["event"] & (study["dose"] != "mid"))
    with pytest.warns(
        TreeselectWarning, match=r"keeps increasing as the coefficient of `dose\[T.mid\]`"
    ):
        fit = select(NOW, "x + dose", data).refit("glm")
    assert any("diverges" in note for note in fit.content.notes)
    data = study.assign(place=(study["site"] == "York") + 5.0)
    fit = select(NOW, "x + place + strata(site)", data, k=2, keep=["place"]).refit("glm")
    assert fit.left_out == ("place",)
    assert any("constant within strata: `place`" in note for note in fit.content.notes)


def test_inference_is_by_cluster(times, study):
    one = times.inference()
    table = one.tidy(exponentiate=True)
    assert (table["ci_low"] > 0).all()
    assert "Hazard ratio" in one.summary().as_text()
    robust = times.update(fold_groups=study["doctor"].to_numpy()).inference()
    (split,) = robust.splits
    assert split.fit.n_groups == split.fit.df + 1 == 22
    several = times.inference(repeats=2)
    assert several.tidy().set_index("term")["p_value"].between(0, 1).all()
    with pytest.raises(OptionError, match="several splits"):
        several.tidy(exponentiate=True)


def test_few_events_are_told_of_and_frames_that_are_alike_pooled(study):
    data = study.assign(event=study["event"] & (np.arange(90) % 3 == 0))
    result = select(NOW, "x + dose", data)
    events = int(data["event"].sum())
    assert (
        f"There are {events} events for 3 coefficients" in result.refit("glm").summary().as_text()
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TreeselectWarning)
        text = result.inference(repeats=2).summary().as_text()
    assert "In one split there are" in text
    found = treeselect.select(f"{NOW} ~ x + dose", [study, study], k=2, **QUICK)
    pooled = found.pooled()
    single = found.fits[0].refit("glm").tidy()
    np.testing.assert_allclose(pooled.tidy()["estimate"], single["estimate"])
    np.testing.assert_allclose(pooled.tidy()["std_error"], single["std_error"])
    ratios = pooled.tidy(exponentiate=True)["estimate"]
    np.testing.assert_allclose(ratios, np.exp(single["estimate"]))
    assert pooled.summary().content.columns[1:3] == ("Hazard ratio", "95% interval")
    assert len(pooled.summary().content.columns) == len(pooled.summary().content.rows[0]) == 9
