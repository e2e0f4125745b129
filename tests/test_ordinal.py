"""Ordered classes: their scores, their order in the search, and the model of the selected terms."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeselect
from treeselect.designs.families import multinomial
from treeselect.models.linear.likelihood import proportional_odds

LEVELS = ["none", "mild", "severe"]


def ordered(seed=0, n=240, cuts=(0.4, 0.7)):
    """A latent response of x0, x1 and noise, cut into classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=[f"x{j}" for j in range(6)])
    latent = 1.5 * frame["x0"] - frame["x1"] + rng.logistic(size=n)
    codes = np.digitize(latent, np.quantile(latent, cuts))
    levels = np.array(LEVELS)
    return frame.assign(y=pd.Categorical(levels[codes], LEVELS, ordered=True))


@given(st.integers(3, 6), st.integers(0, 10_000))
def test_the_skill_score_is_that_of_ranked_probabilities(n_classes, seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.r_[np.arange(n_classes), rng.integers(n_classes, size=9)]).astype(float)
    weight = rng.integers(0, 3, size=len(y)) + 1
    prediction = rng.dirichlet(np.ones(n_classes), size=len(y))
    share = np.bincount(y.astype(int), weight, n_classes) / weight.sum()

    def ranked_score(rows):
        return sum(
            w * (sum(p[: k + 1]) - (label <= k)) ** 2
            for label, p, w in zip(y, rows, weight, strict=True)
            for k in range(n_classes - 1)
        )

    found = multinomial(n_classes, ordered=True).score(y, prediction, weight)
    assert found == pytest.approx(1 - ranked_score(prediction) / ranked_score([share] * len(y)))


@pytest.mark.parametrize("family", [multinomial(4, ordered=True), multinomial(4)])
def test_shares_of_classes_come_back_from_their_indicators(family):
    y = np.array([0.0, 3.0, 1.0, 2.0, 1.0])
    means = family.indicators(y).mean(axis=0, keepdims=True)
    assert family.shares(means)[0] == pytest.approx([0.2, 0.4, 0.2, 0.2])
    assert family.shares(family.indicators(y)) == pytest.approx(np.eye(4)[y.astype(int)])


def selected(frame, **options):
    return treeselect.select(
        "y ~ .", frame, **{"family": "ordinal", "seed": 1, "progress": False} | options
    )


def test_the_default_finds_what_moves_classes_and_distant_mistakes_are_worse():
    frame = ordered(n=120)
    turned = frame.assign(y=pd.Categorical(frame["y"], LEVELS[::-1], ordered=True))
    numbered = frame.assign(y=frame["y"].cat.codes)
    fits = [selected(frame), *(selected(each, k=2) for each in (turned, numbered))]
    assert set(fits[0].selected) == {"x0", "x1"}
    assert len({fit.selected for fit in fits}) == 1
    shares = [np.asarray(fit.predict(frame)) for fit in fits]
    assert shares[0].sum(axis=1) == pytest.approx(1)
    assert (shares[0] >= 0).all()
    assert shares[2] == pytest.approx(shares[0])
    assert shares[1][:, ::-1] == pytest.approx(shares[0], abs=1e-5)
    # A term that tells the middle from the ends tells little of the order.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=["order", "middle"])
    y = np.digitize(frame["order"] + rng.normal(size=300), [-0.6, 0.6])
    frame["middle"] = (y == 1) + 0.5 * rng.normal(size=300)
    frame["y"] = y
    first = {f: selected(frame, family=f, k=1).selected for f in ("ordinal", "multinomial")}
    assert first == {"ordinal": ("order",), "multinomial": ("middle",)}


def test_the_linear_model_is_that_of_proportional_odds_of_classes_with_rows(tmp_path):
    frame = ordered()
    fit = selected(frame, k=2, method="importance", n_trees=30, model="glm")
    glm, proportional = fit.refit("glm"), fit.refit("ordinal")
    assert glm.tidy().equals(proportional.tidy())
    assert len(glm.tidy()) == 2  # one coefficient of each column, thresholds apart
    assert np.asarray(fit.predict(frame)) == pytest.approx(np.asarray(glm.predict(frame)))
    fit.save(tmp_path / "model.treeselect")
    loaded = treeselect.load(tmp_path / "model.treeselect")
    assert loaded.family == "ordinal"
    assert np.asarray(loaded.predict(frame)) == pytest.approx(np.asarray(fit.predict(frame)))
    rng = np.random.default_rng(0)
    z, y = rng.normal(size=(90, 2)), np.repeat([0, 1, 3], 30)
    weight = np.ones(90)
    few, slopes = proportional_odds(z, np.repeat([0, 1, 2], 30), weight, 3)
    thresholds, same = proportional_odds(z, y, weight, 5)
    assert same == pytest.approx(slopes)
    assert thresholds == pytest.approx([*few, few[1], 100.0])


def test_texts_tell_the_order_and_name_it_where_it_is_not_used():
    fit = selected(ordered(), k=1, method="mrmr")
    text = " ".join(str(fit.summary()).split())
    assert "classes: none (96) < mild (72) < severe (72)" in text
    assert "3 ordered classes, the smallest with 72 rows" in str(fit.search.citation())
    text = str(selected(ordered(), family="auto", k=1, method="mrmr").summary())
    assert '`y` is ordered: `family="ordinal"` scores by the order.' in text


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["low", "high", "middle"] * 20, "text, in alphabetical order: `high`, `low`, `middle`"),
        ([0, 1] * 30, 'more than two classes.*`family="binomial"`'),
    ],
)
def test_classes_without_an_order_are_refused(y, message):
    frame = pd.DataFrame({"x": np.arange(60.0), "y": y})
    with pytest.raises(treeselect.errors.OptionError, match=r'(?s)`family="ordinal"`.*' + message):
        selected(frame, k=1, method="mrmr")
