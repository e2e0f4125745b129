"""Quantiles of batches, beside those of the whole column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.engine import columns as room
from treeselect.engine.columns import Sketch, bin_edges, merged_all, sketch_of, sketched_edges


def naive_rank(values, weight, at):
    """Weight of the values up to `at`."""
    return float(weight[values <= at].sum())


@given(st.integers(0, 10_000), st.integers(1, 9), st.booleans())
@settings(deadline=None, derandomize=True, max_examples=40)
def test_edges_are_those_of_the_column_while_all_values_are_kept(seed, n_batches, weighted):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=3_000).round(int(rng.integers(0, 4)))
    values[rng.random(3_000) < 0.1] = np.nan
    weight = rng.integers(1, 5, size=3_000) if weighted else None
    cuts = np.sort(rng.integers(0, 3_000, size=n_batches - 1))
    found = merged_all(
        sketch_of(values[own], None if weight is None else weight[own])
        for own in np.split(np.arange(3_000), cuts)
    )
    assert found.rank_error == 0
    np.testing.assert_array_equal(sketched_edges(found), bin_edges(values, weight=weight))


@pytest.mark.parametrize("order", ["random", "sorted"])
def test_ranks_stay_within_the_stated_error(monkeypatch, order):
    monkeypatch.setattr(room, "MOST_EXACT", 512)
    monkeypatch.setattr(room, "MOST_KEPT", 256)
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.lognormal(size=60_000), np.zeros(5_000)])
    if order == "sorted":
        values.sort()
    weight = rng.random(len(values)) + 0.5
    found = merged_all(
        sketch_of(values[own], weight[own]) for own in np.array_split(np.arange(len(values)), 37)
    )
    digest, total = found.digest, weight.sum()
    assert 0 < found.rank_error < 8 / (2 * 256)  # one thinning of a batch, and one per level
    assert digest.total == pytest.approx(total)
    cumulated = np.cumsum(digest.weights)
    for at in np.quantile(values, np.linspace(0, 1, 41)):
        own = np.searchsorted(digest.values, at, side="right")
        rank = cumulated[own - 1] if own else 0.0
        # 1e-9: sums of 65,000 floats in another order.
        assert abs(rank - naive_rank(values, weight, at)) <= digest.error + 1e-9 * total


def test_a_sketch_of_nothing_has_no_edges():
    assert len(sketched_edges(Sketch())) == 0
    assert len(sketched_edges(sketch_of(np.array([np.nan, 3.0])))) == 0
