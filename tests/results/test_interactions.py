"""Strengths of interactions: of terms that do and do not depend on each other; their intervals."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.engine.forest.dependence import beyond_both, strength
from treeselect.errors import OptionError, TreeselectWarning
from treeselect.models.probing import read_resampled_strengths, read_strengths
from treeselect.results.shapes import interaction_table, interval_note, pair_points


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.uniform(-1, 1, size=(150, 3)), columns=["x1", "x2", "add"])
    frame["f"] = rng.choice(["a", "b", "c"], 150)
    frame["y"] = frame.x1 * frame.x2 + frame["add"] + (frame.f == "a")
    return frame


def fit_of(data, formula, **options):
    given = {"method": "importance", "seed": 1, "k": 4, **options}
    return treeselect.select(formula, data, **given)


FORMULA = "y ~ x1 + x2 + add + f"


def by_pair(fit):
    table = interaction_table(fit._fit)
    table.index = [frozenset(pair) for pair in zip(table["term"], table["other"], strict=True)]
    return table


def test_a_true_interaction_is_stronger_than_none_in_files_too(data, tmp_path):
    told = fit_of(data, FORMULA).resample(20, effects=True)
    found = by_pair(told)
    assert (found["n_resamples"] == 20).all()
    assert ((found["low"] >= 0) & (found["low"] <= found["high"]) & (found["high"] <= 1)).all()
    true = found.loc[[frozenset({"x1", "x2"})]].iloc[0]
    none = found.loc[[frozenset({"x1", "add"})]].iloc[0]
    assert true["low"] > none["high"]
    assert "where there are at least 20" in interval_note(found)
    loaded = treeselect.load(told.save(tmp_path / "model"))
    pd.testing.assert_frame_equal(loaded.model.interactions(), told.model.interactions())
    table = fit_of(data, FORMULA).model.interactions()
    pd.testing.assert_frame_equal(
        table[["term", "other", "strength"]],
        told.model.interactions()[["term", "other", "strength"]],
    )
    assert table[["low", "high"]].isna().all(axis=None)
    assert (table["n_resamples"] == 0).all()
    assert interval_note(table) == ""


def test_few_resamples_give_no_intervals_and_shared_variables_no_pair(data):
    fit = fit_of(data.iloc[:60], "y ~ x1 + x2", k=2).resample(2, effects=True)
    with pytest.warns(TreeselectWarning, match=r"fewer than 20 .*`x1:x2 \(2\)`"):
        found = fit.model.interactions()
    assert found["n_resamples"].tolist() == [2]
    assert found["low"].isna().all()
    found = by_pair(fit_of(data, "y ~ x1 + x1:x2 + add", k=3))
    assert set(found.index) == {frozenset({"x1", "add"}), frozenset({"x1:x2", "add"})}
    nothing = fit_of(data, "y ~ x1 + x1:x2", k=2)
    assert len(nothing.model.interactions()) == 0
    with pytest.raises(
        OptionError, match="any two of the ten most important terms share a variable"
    ):
        nothing.plot("interactions")


def test_what_a_resample_can_not_know_is_missing(data):
    fit = fit_of(data, FORMULA)
    probes, every = pair_points(fit._fit), np.arange(len(data))
    terms = fit.selected

    def unknown(rows, model=fit.model.fitted):
        found = read_resampled_strengths(model, probes, fit.data.design.problem.data, rows)
        missing = [pair for pair, value in zip(probes.pairs, found, strict=True) if value != value]
        return {frozenset(terms[i] for i in pair) for pair in missing}

    of_f = {frozenset({"f", term}) for term in ("x1", "x2", "add")}
    assert unknown(every) == set()
    assert unknown(np.flatnonzero(data["f"] != "b")) == of_f
    assert unknown(every[:1]) == {frozenset(terms[i] for i in pair) for pair in probes.pairs}
    without = fit_of(data, "y ~ x1 + x2 + add + f", keep=["x1", "x2", "add"], k=3)
    assert unknown(every, without.model.fitted) == of_f


def test_strengths_are_those_of_the_whole_joint_shape_without_rounding(data):
    """A grid on which nothing is thinned: that of the table of the joint shape."""
    fit = fit_of(data.assign(b=data["x1"] > 0), "y ~ f + b", k=2)
    shape = fit.model.shape(*fit.selected)
    share, mean = shape["share"], shape["mean"]
    total = (share * (mean - (share * mean).sum()) ** 2).sum()
    expected = np.sqrt((share * shape["interaction"] ** 2).sum() / total)
    size = np.sqrt((share * shape["interaction"] ** 2).sum())
    np.testing.assert_allclose(
        read_strengths(fit.model.fitted, pair_points(fit._fit)), [[expected, size]]
    )
    first, second, share = np.array([0.1, 0.7, 1.3]) / 3, np.array([1 / 3, 0.2]), np.full(6, 1 / 6)
    mean = (first[:, None] + second).reshape(-1, 1)
    assert beyond_both(mean, share, (3, 2)).any()
    assert strength(mean, share, (3, 2)) == (0.0, 0.0)


def test_pairs_are_ranked_by_size_not_by_strength(data):
    """All of a small effect may be an interaction, and matters less than some of a large one."""
    rng = np.random.default_rng(3)
    frame = data.assign(small=rng.choice([-1.0, 1.0], 150), other=rng.choice([-1.0, 1.0], 150))
    frame["y"] = 10 * (frame.x1 > 0) + 4 * (frame.x1 > 0) * (frame.x2 > 0)
    frame["y"] += 0.8 * frame.small * frame.other
    found = fit_of(frame, "y ~ x1 + x2 + small + other").model.interactions()
    assert {found["term"][0], found["other"][0]} == {"x1", "x2"}
    assert found["size"].is_monotonic_decreasing
    own = {*zip(found["term"], found["other"], found["strength"], strict=True)}
    strength = {frozenset({term, other}): value for term, other, value in own}
    assert strength[frozenset({"small", "other"})] > strength[frozenset({"x1", "x2"})]
