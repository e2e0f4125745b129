"""Efp scores and q-values: naive twins and hand-made cases."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeselect.resampling.error_bounds import efp_scores, q_values_of, size_bound, sizes_within


def naive_bound(q, p, n_pairs, power):
    """p times the moment of the share of pairs, each of which selects a unit twice by chance."""
    twice = (q / p) ** 2
    chances = [
        comb(n_pairs, c) * twice**c * (1 - twice) ** (n_pairs - c) for c in range(n_pairs + 1)
    ]
    return p * sum(chance * (c / n_pairs) ** power for c, chance in enumerate(chances))


def naive_efp(frequency, n_pairs, power, cutoff):
    """Sizes one by one, as long as the mean bound is at most the cutoff."""
    n_sizes, p = frequency.shape
    bounds, used = [], 0
    for k in range(n_sizes):
        bounds.append(naive_bound(frequency[k].sum(), p, n_pairs, power))
        if k and np.mean(bounds) > cutoff * (1 + 1e-12):
            bounds.pop()
            break
        used = k + 1
    efp = []
    for unit in range(p):
        parts = [max(2 * frequency[k, unit] - 1, 0) ** power for k in range(used)]
        score = sum(parts) / used
        efp.append(min(p, np.mean(bounds) / score) if score > 0 else p)
    return np.array(efp)


@given(st.integers(1, 30), st.integers(1, 12), st.sampled_from([1, 2, 3]), st.floats(0, 1))
@settings(deadline=None, derandomize=True)
def test_the_bound_is_a_binomial_moment(p, n_pairs, power, share):
    found = size_bound(np.array([share * p]), p, n_pairs, power)
    np.testing.assert_allclose(found, [naive_bound(share * p, p, n_pairs, power)], atol=1e-12)


@given(
    arrays(np.int64, (4, 5), elements=st.integers(0, 8)),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0.01, 0.3, 2.0]),
)
@settings(deadline=None, derandomize=True)
def test_efp_scores_are_those_of_the_naive_twin(counts, power, cutoff):
    frequency = np.sort(counts, axis=0) / 8  # sets of rising size
    found = efp_scores(frequency, 4, power, cutoff)
    np.testing.assert_allclose(found, naive_efp(frequency, 4, power, cutoff))


@given(
    arrays(np.float64, st.integers(1, 12), elements=st.sampled_from([0.01, 0.3, 0.31, 4.0, 12.0]))
)
@settings(deadline=None, derandomize=True)
def test_q_values_are_the_least_rate_at_which_a_unit_is_selected(efp):
    naive = [min(t / (efp <= t).sum() for t in efp if t >= own) for own in efp]
    np.testing.assert_allclose(q_values_of(efp), naive)


def test_units_that_nothing_selects_have_the_largest_scores():
    np.testing.assert_array_equal(efp_scores(np.zeros((3, 4)), 50, 2, 0.05), np.full(4, 4.0))
    np.testing.assert_array_equal(q_values_of(np.full(4, 4.0)), np.ones(4))


def test_more_pairs_lower_the_bound_of_powers_2_and_3_only():
    q = np.array([10.0])
    few, many = (size_bound(q, 100, n, 2)[0] for n in (10, 100))
    assert many < few
    assert size_bound(q, 100, 10, 1) == size_bound(q, 100, 100, 1)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_sizes_are_as_many_as_the_cutoff_allows(power):
    q = np.arange(1.0, 201)
    k = sizes_within(q, 200, 25, power, 0.05)
    assert size_bound(q[:k], 200, 25, power).mean() <= 0.05
    assert size_bound(q[: k + 1], 200, 25, power).mean() > 0.05
    assert sizes_within(q[:5], 200, 25, power, 1e-9) == 1  # one size is always looked at


def test_the_hand_made_case_of_the_paper_s_formula():
    """p = 4, B = 2, power 2: the bounds of q = 1 and 2 are (1/16 + 1/256) 2 and (1/4 + 1/16) 2."""
    frequency = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.75, 0.25, 0.0]])
    mean = ((1 / 16 + 1 / 256) * 2 + (1 / 4 + 1 / 16) * 2) / 2
    np.testing.assert_allclose(efp_scores(frequency, 2, 2, 1.0), [mean, mean / 0.125, 4, 4])
