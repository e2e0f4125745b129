"""Edges and codes of columns; quantiles of batches, beside those of the whole column."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeselect.engine import columns as room
from treeselect.engine.columns import (
    MAX_BINS,
    Sketch,
    bin_columns,
    bin_edges,
    bin_numbers,
    edges_of_columns,
    merged,
    select_groups,
    sketch_of,
    sketched_edges,
)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=1, max_size=60))
@settings(derandomize=True)
def test_few_values_have_a_bin_each(values):
    values = np.array(values)
    edges = bin_edges(values)
    assert (np.diff(edges) > 0).all()
    codes = bin_numbers(values, edges)
    assert ((codes == 0) == np.isnan(values)).all()
    known = values[~np.isnan(values)]
    ranks = np.unique(known, return_inverse=True)[1]
    np.testing.assert_array_equal(codes[codes > 0], ranks + 1)


@pytest.mark.parametrize("n", [255, 1000, 20_000])
def test_many_values_follow_the_quantiles(n):
    values = np.random.default_rng(n).lognormal(size=n)
    edges = bin_edges(values)
    assert len(edges) < MAX_BINS
    counts = np.bincount(bin_numbers(values, edges))[1:]
    assert counts.max() <= 2.1 * n / MAX_BINS + 1


@pytest.mark.parametrize("seed", range(5))
def test_rows_count_by_their_weights_in_the_quantiles(seed):
    """Whole ones as copies, real ones by their shares, whatever their unit."""
    rng = np.random.default_rng(seed)
    values = rng.lognormal(size=900).round(3)
    values[::7] = np.nan
    weight = rng.integers(1, 5, size=900)
    copied = bin_edges(np.repeat(values, weight))
    assert len(copied) > 200
    for unit in (1, 0.1, 1 / 3, 1e7):
        np.testing.assert_array_equal(bin_edges(values, weight=weight * unit), copied)
    np.testing.assert_array_equal(bin_edges(values, weight=np.full(900, 0.3)), bin_edges(values))
    assert not np.array_equal(bin_edges(values), copied)


@given(st.integers(0, 1000), st.sampled_from([1, 2, 30, 300]), st.booleans())
@settings(derandomize=True, max_examples=30)
def test_edges_of_many_columns_are_those_of_each(seed, n_rows, weighted):
    rng = np.random.default_rng(seed)
    columns = [rng.choice([rng.normal(), np.nan, 0.0, -0.0], n_rows) for _ in range(3)]
    columns += [rng.normal(size=n_rows), np.full(n_rows, np.nan)]
    columns += [np.nextafter(1.0, rng.choice([0.0, 2.0, 1.0], n_rows))]
    weight = rng.random(n_rows) + 0.1 if weighted else None
    together = edges_of_columns(columns, weight)
    assert len(together) == len(columns)
    for column, edges in zip(columns, together, strict=True):
        np.testing.assert_array_equal(edges, bin_edges(column, weight=weight))
    assert edges_of_columns([], weight) == []


def test_edges_of_nothing_of_neighbours_and_of_heavy_values():
    values = np.concatenate([np.zeros(900), np.random.default_rng(0).normal(size=1000)])
    codes = bin_numbers(values, bin_edges(values))
    assert len(set(codes[:900])) == 1
    assert len(np.unique(codes)) > 100
    values = np.array([1.0, np.nextafter(1.0, 2.0)])
    assert bin_numbers(values, bin_edges(values)).tolist() == [1, 2]
    assert len(bin_edges(np.array([np.nan, np.nan]))) == 0
    assert bin_numbers(np.array([np.nan, 3.0]), np.empty(0)).tolist() == [0, 1]
    assert len(sketched_edges(Sketch())) == 0
    assert len(sketched_edges(sketch_of(np.array([np.nan, 3.0])))) == 0


def test_blocks_hold_the_codes_and_groups_can_be_selected():
    rng = np.random.default_rng(2)
    columns = [rng.normal(size=50) for _ in range(11)]
    group_of = np.array([0, 0, 1, 2, 2, 2, 3, 4, 5, 5, 6])
    data = bin_columns(columns, [bin_edges(c) for c in columns], [0] * 11, group_of)
    for j in range(11):
        byte = (data.blocks[j // 8] >> np.uint64(8 * (j % 8))) & np.uint64(255)
        np.testing.assert_array_equal(byte, data.codes[j])
    assert data.group_start.tolist() == [0, 2, 3, 6, 7, 8, 10, 11]
    part = select_groups(data, np.array([0, 1, 0, 1, 0, 1, 0], dtype=bool))
    np.testing.assert_array_equal(part.codes, data.codes[[2, 6, 8, 9]])
    assert part.group_start.tolist() == [0, 1, 2, 4]
    assert part.group_of.tolist() == [0, 1, 2, 2]


@given(st.integers(0, 2**32 - 1), st.integers(0, 253))
@settings(derandomize=True, max_examples=60)
def test_codes_count_the_edges_below(seed, n_edges):
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.normal(size=n_edges).round(2))
    values = np.concatenate([rng.normal(size=40), edges, [np.nan, -1e300, 1e300]])
    expected = np.searchsorted(edges, values, side="left") + 1
    expected[np.isnan(values)] = 0
    np.testing.assert_array_equal(bin_numbers(values, edges), expected)


def merged_all(sketches):
    return functools.reduce(merged, sketches, Sketch())


def naive_rank(values, weight, at):
    """Weight of the values up to `at`."""
    return float(weight[values <= at].sum())


@given(st.integers(0, 10_000), st.integers(1, 9), st.booleans())
@settings(derandomize=True, max_examples=40)
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
    assert digest.weights.sum() == pytest.approx(total)
    bound = 6 / (2 * 256) * total  # points are taken of a batch, and of pairs on five levels
    cumulated = np.cumsum(digest.weights)
    for at in np.quantile(values, np.linspace(0, 1, 41)):
        own = np.searchsorted(digest.values, at, side="right")
        rank = cumulated[own - 1] if own else 0.0
        assert abs(rank - naive_rank(values, weight, at)) <= bound
