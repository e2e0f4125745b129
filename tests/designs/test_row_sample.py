"""Which rows are drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.designs.preparing import Request, prepare
from treeselect.designs.row_sample import labels_of, sampled, units_of, varies
from treeselect.designs.weights import row_weights
from treeselect.errors import DataError, OptionError


def drawn(y, rows, seed=1, groups=None, formula="y ~ x", **more):
    frame = pd.DataFrame({"y": y, "x": np.arange(len(y)) % 11, **more})
    return prepare(Request(formula, fold_groups=groups), frame, rows=rows, seed=seed)


@given(st.integers(0, 1000), st.integers(20, 200))
@settings(deadline=None, derandomize=True, max_examples=30)
def test_strata_have_their_shares(seed, rows):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], size=400, p=[0.7, 0.2, 0.1])
    found = drawn(y, rows, seed)
    assert found.rows.used == rows
    assert found.rows.not_drawn == 400 - rows
    assert (np.diff(found.response.rows) > 0).all()
    for level, n in zip(found.response.classes, found.response.counts, strict=True):
        # Largest remainders round by less than one row; the smallest class has at least two.
        assert abs(n - rows * (y == level).mean()) < 2
    np.testing.assert_array_equal(
        y[found.response.rows], np.array(found.response.classes)[found.response.y.astype(int)]
    )
    again = drawn(y, rows, seed)
    np.testing.assert_array_equal(found.response.rows, again.response.rows)
    assert not np.array_equal(drawn(y, rows, seed + 1).response.rows, found.response.rows)


def test_numbers_and_times_are_stratified():
    rng = np.random.default_rng(1)
    y = rng.lognormal(size=1_000)
    found = drawn(y, 200)
    assert found.sample.by == "10 quantile groups of y"
    edges = np.quantile(y, np.arange(1, 10) / 10)
    counts = np.bincount(np.searchsorted(edges, found.response.y), minlength=10)
    assert counts.min() == counts.max() == 20
    event = (rng.random(1_000) < 0.05).astype(int)
    found = drawn(y, 200, formula="Surv(y, event) ~ x", event=event)
    assert found.sample.by == "events"
    assert found.response.follow_up.n_events == round(200 * event.mean())


def test_clusters_are_drawn_as_a_whole():
    rng = np.random.default_rng(2)
    site = np.repeat(np.arange(100), 10)
    y = (rng.random(1_000) < np.repeat(rng.random(100), 10)).astype(int)
    found = drawn(y, 300, groups="site", site=site)
    sizes = np.unique(site[found.response.rows], return_counts=True)[1]
    assert (sizes == 10).all()
    assert 250 <= found.rows.used <= 350
    assert found.sample.groups == "site"
    with pytest.raises(OptionError, match="at least two clusters"):
        drawn(np.tile([0, 1], 300), 20, groups="site", site=np.repeat([0, 1], 300))


def test_rows_without_weight_or_response_are_never_drawn():
    y = np.where(np.arange(500) % 5 == 0, np.nan, np.arange(500) % 2)
    weight = (np.arange(500) % 3).astype(float) * 2.3
    frame = pd.DataFrame({"y": y, "x": np.arange(500) % 7, "w": weight})
    found = prepare(Request("y ~ x", weights="w"), frame, rows=50, seed=3)
    rows = found.response.rows
    assert (weight[rows] > 0).all()
    assert not np.isnan(y[rows]).any()
    assert (found.weight == weight[rows]).all()
    assert found.rows.used == 50
    assert found.rows.total == 500


def test_all_rows_are_no_sample():
    y = np.arange(100) % 2
    assert drawn(y, 100).sample is None
    assert drawn(y, None).sample is None
    assert drawn(y, 99).rows.not_drawn == 1


def test_a_sample_without_a_value_is_refused():
    with pytest.raises(DataError, match="Draw more with `rows=`"):
        drawn(np.where(np.arange(10_000) == 7, 1.0, 5.0), 20)
    found = drawn(np.arange(60) % 20, 30)
    place, _ = sampled(found.response, None, 30, 1)
    assert len(place) == 30


FRAME = pd.DataFrame(
    {
        "time": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "event": [0, 1, 0, 1, 0, 1],
        "label": ["a", "b", "a", "c", "c", "a"],
        "x": np.arange(6.0),
    }
)
ROWS = np.arange(6)


def problem(left, frame=FRAME):
    return prepare(Request(f"{left} ~ x"), frame).problem


@pytest.mark.parametrize(
    ("left", "labels"),
    [("Surv(time, event)", [0, 1, 0, 1, 0, 1]), ("label", [0, 1, 0, 2, 2, 0]), ("time", None)],
)
def test_rows_are_spread_by_event_or_class(left, labels):
    found = labels_of(problem(left), ROWS)
    assert (None if found is None else found.tolist()) == labels


def test_a_group_with_an_event_counts_by_the_rarer_kind():
    groups = np.array([0, 0, 1, 1, 2, 3])
    units = units_of(problem("Surv(time, event)"), row_weights(np.ones(6), groups))
    # Of two kinds that are as rare the first is taken for the rarest.
    assert units.of_row.tolist() == [0, 0, 1, 1, 2, 3]
    rare = units_of(
        problem("Surv(time, event)", FRAME.assign(event=[0, 1, 0, 0, 0, 1])),
        row_weights(np.ones(6), groups),
    )
    assert rare.stratum.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("left", "rows", "expected"),
    [
        ("Surv(time, event)", [0, 1], False),  # the censored row left before the event
        ("Surv(time, event)", [1, 2], True),
        ("Surv(time, event)", [0, 2, 4], False),
        ("Surv(time, event)", [5], False),
        ("label", [0, 2], False),
        ("label", [0, 1], True),
        ("time", [0, 0], False),
        ("time", [0, 1], True),
    ],
)
def test_what_there_is_to_explain(left, rows, expected):
    assert varies(problem(left), np.array(rows)) is expected
