"""Places that associated units hold in turn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import treeselect
from treeselect.resampling.agreement import Place
from treeselect.resampling.stability import Stability

UNITS = ("age", "height", "sex", "weight", "wrist")


def stability_of(selected, fitted, alike):
    """`alike`: sets of units that are associated by 0.9; others are by 0.1."""
    selected = np.asarray(selected, dtype=bool)
    units = UNITS[: selected.shape[1]]

    def association(unit, other):
        return 0.9 if any({unit, other} <= own for own in alike) else 0.1

    return Stability(
        units=units,
        fitted=np.isin(units, fitted),
        assessed=np.ones(len(units), dtype=bool),
        selected=selected,
        scheme="bootstrap",
        k=2,
        seed=0,
        association=association,
    )


def rows(*counted):
    return [[c == "1" for c in text] for text, times in counted for _ in range(times)]


def test_one_place_by_hand():
    drawn = rows(("101", 50), ("011", 40), ("001", 10))
    stability = stability_of(drawn, ["age", "sex"], [{"age", "height"}])
    assert stability.places == (Place(("age", "height"), (50, 40), 90, 0.9),)


def test_what_must_come_in_is_no_substitute():
    """With one unit asked for, exactly one of any two that come and go is selected."""
    drawn = rows(("100", 50), ("010", 50))
    assert stability_of(drawn, ["age"], []).places == ()
    assert len(stability_of(drawn, ["age"], [{"age", "height"}]).places) == 1


@pytest.mark.parametrize(("both", "n"), [(20, 1), (21, 0)])
def test_a_place_needs_exactly_one_in_four_fifths(both, n):
    drawn = rows(("10", 50), ("01", 50 - both), ("11", both))
    assert len(stability_of(drawn, ["age"], [{"age", "height"}]).places) == n


def test_two_fitted_units_that_share_substitutes_are_one_place_or_none():
    body = {"age", "height", "weight"}
    both = rows(("10010", 40), ("01000", 30), ("01010", 30))
    assert stability_of(both, ["age", "weight"], [body]).places == ()
    apart = rows(("10000", 40), ("00010", 30), ("01000", 30))
    (place,) = stability_of(apart, ["age", "weight"], [body]).places
    assert place.units == ("age", "height", "weight")
    assert place.exactly_one == 100


def test_a_unit_that_is_associated_with_one_member_only_is_none():
    drawn = rows(("10000", 40), ("01000", 40), ("00010", 20))
    chain = [{"age", "height"}, {"height", "weight"}]
    (place,) = stability_of(drawn, ["age"], chain).places
    assert place.units == ("age", "height")


@given(
    arrays(bool, st.tuples(st.integers(1, 25), st.just(5))),
    arrays(bool, 5),
    st.lists(st.frozensets(st.sampled_from(UNITS), min_size=2), max_size=3),
)
@settings(derandomize=True, max_examples=60)
def test_what_is_said_of_a_place_is_true(selected, fitted, alike):
    stability = stability_of(
        selected, [u for u, own in zip(UNITS, fitted, strict=True) if own], alike
    )
    seen: set[str] = set()
    for place in stability.places:
        at = [UNITS.index(unit) for unit in place.units]
        one = selected[:, at].sum(axis=1) == 1
        assert place.exactly_one == one.sum() >= 0.8 * len(selected) - 1e-9
        assert place.counts == tuple(selected[:, at].sum(axis=0))
        assert all(
            stability.association(a, b) >= place.association >= 0.5
            for a in place.units
            for b in place.units
            if a != b
        )
        assert fitted[at].any()
        assert seen.isdisjoint(place.units)
        seen |= {*place.units}


def test_a_file_without_the_data_keeps_them(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    data = pd.DataFrame({"a": x + 0.1 * rng.normal(size=80), "b": x, "noise": rng.normal(size=80)})
    data["y"] = x + 0.1 * rng.normal(size=80)
    fit = treeselect.select("y ~ .", data, method="importance", k=1, seed=1, n_trees=5)
    drawn = np.zeros((20, 3), dtype=bool)
    units = fit.resample(2).stability.units
    drawn[:12, units.index("a")] = drawn[12:, units.index("b")] = True
    fit = dataclasses.replace(
        fit, resampled=dataclasses.replace(fit.resample(2).resampled, selected=drawn)
    )
    (place,) = fit.stability.places
    assert place.units == ("a", "b")
    loaded = treeselect.load(fit.save(tmp_path / "model"))
    assert loaded.stability.places == fit.stability.places
    assert str(loaded.summary()) == str(fit.summary())
