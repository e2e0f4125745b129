"""Strengths of interactions: of terms that do and do not depend on each other."""

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect.engine.forest.dependence import beyond_both, strength
from treeselect.errors import OptionError
from treeselect.results.shapes import interaction_table


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


def test_a_true_interaction_is_stronger_than_none(data):
    found = by_pair(fit_of(data, FORMULA))["strength"]
    assert found[frozenset({"x1", "x2"})] > 2 * found[frozenset({"x1", "add"})]


def test_terms_that_share_a_variable_are_no_pair(data):
    found = by_pair(fit_of(data, "y ~ x1 + x1:x2 + add", k=3))
    assert set(found.index) == {frozenset({"x1", "add"}), frozenset({"x1:x2", "add"})}
    nothing = fit_of(data, "y ~ x1 + x1:x2", k=2)
    assert len(nothing.model.interactions()) == 0
    with pytest.raises(
        OptionError, match="any two of the ten most important terms share a variable"
    ):
        nothing.plot("interactions")


def test_strengths_are_those_of_the_whole_joint_shape_without_rounding(data):
    """A grid on which nothing is thinned: that of the table of the joint shape."""
    fit = fit_of(data.assign(b=data["x1"] > 0), "y ~ f + b", k=2)
    shape = fit.model.shape(*fit.selected)
    share, mean = shape["share"], shape["mean"]
    total = (share * (mean - (share * mean).sum()) ** 2).sum()
    expected = np.sqrt((share * shape["interaction"] ** 2).sum() / total)
    size = np.sqrt((share * shape["interaction"] ** 2).sum())
    found = fit.model.interactions()[["strength", "size"]]
    np.testing.assert_allclose(found, [[expected, size]])
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
