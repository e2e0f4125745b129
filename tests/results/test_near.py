"""Units that are nearly selected, the numbers of their maps, and which terms resemble which."""

import itertools

import numpy as np
import pandas as pd
import pytest
from quick import changed, quick_fit, stability_of

import treeselect
from treeselect.designs.modeldata import Associations
from treeselect.results.curves import curves, shape_map
from treeselect.results.describing import near_units
from treeselect.results.shapes import shape_table


def test_selected_units_come_first_then_frequent_or_next_ones(fitted, cross_validated):
    units = fitted.data.design.arrays.groups.names
    rng = np.random.default_rng(0)
    share = dict.fromkeys(units, 0.0) | {"copy": 0.6, "noise": 0.3, "colour": 0.05, "flag": 0.3}
    selected = np.column_stack([np.arange(20) < 20 * share[u] for u in units])
    fit = changed(fitted, resampled=stability_of(selected[rng.permutation(20)], units))
    assert near_units(fit._fit) == (*fit.groups, "copy", "flag", "noise")
    assert near_units(fit._fit, 3) == (*fit.groups, "copy")
    assert near_units(fit._fit, 1) == fit.groups[:1]
    fit = cross_validated
    names, near = np.array(fit.data.design.arrays.groups.names, dtype=object), near_units(fit._fit)
    larger = [set(names[step.selected]) for step in fit.search.steps if step.size > fit.k]
    assert near[: fit.k] == fit.groups
    assert fit.k < len(near) <= fit.k + 5
    entered = [next(i for i, units in enumerate(larger) if unit in units) for unit in near[fit.k :]]
    assert entered == sorted(entered)


def test_associations_are_those_of_pairs_over_rows_with_data(mixed):
    """Groups, a factor with missing values, and a term with several columns among them."""
    fit = quick_fit(
        "died ~ bs(noise, df=4) + site + copy + signal + colour", mixed, k=2, resamples=0,
        groups={"both": ["copy", "colour"]},
    )  # fmt: skip
    units = ("site", "both", "signal", "bs(noise, df=4)")
    values = Associations(fit._fit.design).among(units)
    measured = Associations(fit.data.design)
    np.testing.assert_array_equal(np.diag(values), 1.0)
    for (i, one), (j, other) in itertools.combinations(enumerate(units), 2):
        assert values[i, j] == values[j, i] == pytest.approx(measured.units(one, other))
    assert values[1, 2] == pytest.approx(1.0)  # a copy
    np.testing.assert_allclose(Associations(fit._fit.design).among(units[::-1]), values[::-1, ::-1])
    data = mixed.assign(died=mixed["died"].astype(object), copy=mixed["signal"])
    data.loc[200:, "copy"] = -data.loc[200:, "signal"]
    data.loc[200:, "died"] = None
    fit = treeselect.select("died ~ signal + copy", data, method="mrmr", k=1, seed=1)
    assert Associations(fit._fit.design).among(("signal", "copy"))[0, 1] == pytest.approx(1.0)


def test_every_pair_of_values_stands_at_its_place(fitted):
    found = shape_map(fitted._fit, "site", "signal")
    table = shape_table(fitted._fit, "site", "signal")
    assert found.x == ("Bath", "Leeds", "York", "missing")
    assert found.labels == ("site", "signal")
    assert [float(text) for text in found.y] == sorted(float(text) for text in found.y)
    assert np.isfinite(found.values).sum() == len(table)
    assert found.scale == "P(died = True)"
    column = found.values[:, found.x.index("York")]
    own = table.loc[table["site"] == "York"].sort_values("signal")["mean"]
    assert column[np.isfinite(column)].tolist() == own.to_list()


def test_a_class_without_a_name_is_drawn():
    x, z = np.meshgrid(np.arange(12.0), [0.0, 1.0])
    y = np.array(["", "mid", "top"])[np.minimum(x // 4 + z, 2).astype(int)]
    data = pd.DataFrame({"x": x.ravel(), "z": z.ravel(), "y": y.ravel()})
    fit = treeselect.select("y ~ x + z", data, method="importance", k=2, seed=1)._fit
    drawn = {curve.scale: curve.points for curve in curves(fit, "x")}
    assert set(drawn) == {"P(y = )", "P(y = mid)", "P(y = top)"}
    effects = [point.effect for point in drawn["P(y = )"]]
    assert effects == shape_table(fit, "x", None)["effect_"].to_list()
    table, found = shape_table(fit, "x", "z"), shape_map(fit, "x", "z")
    label = found.scale.removeprefix("P(y = ").removesuffix(")")
    assert sorted(found.values.ravel()) == sorted(table[f"mean_{label}"])


# --- which terms resemble which in the data ------------------------------------------------------


def test_neighbours_of_one_term(fitted):
    table = fitted.data.neighbours("copy", most=3)
    assert list(table) == ["term", "other", "measure", "association", "selected"]
    assert (table["term"] == "copy").all()
    assert table["other"][0] == "signal"
    assert table["association"].is_monotonic_decreasing
    assert table["selected"].to_list() == [name in fitted.selected for name in table["other"]]
    every = fitted.data.neighbours(most=2)
    assert every["term"].to_list() == [name for name in fitted.selected for _ in range(2)]
    others = set(fitted.data.neighbours("noise")["other"])
    assert others == {"signal", "copy", "site", "colour", "flag"}


def test_the_strongest_column_counts_and_unknown_factors_resemble_nothing(mixed):
    rng = np.random.default_rng(0)
    data = mixed.assign(a=rng.normal(size=400), b=mixed["signal"] ** 3)
    fit = treeselect.select(
        "dose ~ signal + a + b + noise", data, groups={"pair": ["a", "b"]}, k=1, seed=1,
        method="importance", n_trees=5,
    )  # fmt: skip
    measured = Associations(fit.data.design)
    assert measured.units("signal", "pair") == pytest.approx(1)
    assert measured.terms("signal", "a")[1] < 0.3
    assert measured.units("pair", "noise") == max(
        measured.terms("a", "noise")[1], measured.terms("b", "noise")[1]
    )
    data = pd.DataFrame({"y": [2.0, 1.0, 2.0, 3.0], "x": [-12.6, 6.2, -2.0, -5.1], "v": [None] * 4})
    data["v"] = data["v"].astype("string")
    fit = treeselect.select("y ~ x + v + x:v", data, k=1, method="mrmr", seed=1)
    assert (fit.data.neighbours("x:v")["association"] == 0).all()
    assert fit.data.neighbours("x")["association"].max() == 0
