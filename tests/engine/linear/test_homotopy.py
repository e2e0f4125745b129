"""The exact path: optimal everywhere, without gaps, whatever the columns."""

from __future__ import annotations

import itertools

import naive
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from treeselect.engine.linear.homotopy import Homotopy, without_dependent


def problem(seed, n_rows, n_columns, n_copies, n_free):
    """Columns with copies, sums and a constant among them; integer ones tie often."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-2, 3, size=(n_rows, n_columns)).astype(float)
    a = np.column_stack([a, a[:, :n_copies], a[:, :1] + a[:, -1:], np.zeros(n_rows)])
    a -= a.mean(axis=0)
    y = a[:, 0] + a[:, 1 % n_columns] + rng.normal(size=n_rows)
    prices = rng.integers(1, 4, size=a.shape[1]).astype(float)
    prices[:n_free] = 0.0
    return a.T @ a / n_rows, a.T @ (y - y.mean()) / n_rows, prices


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(5, 40), st.integers(2, 8), st.integers(0, 2),
    st.integers(0, 2),
)  # fmt: skip
def test_optimal_at_every_penalty(seed, n_rows, n_columns, n_copies, n_free):
    gram, linear, prices = problem(seed, n_rows, n_columns, n_copies, n_free)
    path = Homotopy(gram, linear, prices)
    top = path.segment(0).low
    for lam in (*(top * np.array([1.5, 1.0, 0.7, 0.3, 0.1, 0.02])), 1e-3):
        w = path.at(lam)
        excess = linear - gram @ w - lam * prices
        assert (w >= 0).all()
        assert excess.max() < 1e-7
        assert np.abs(excess[w > 1e-9]).max(initial=0.0) < 1e-7


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_it_is_its_naive_twin(seed):
    gram, linear, prices = problem(seed, 30, 5, 0, 1)
    gram += 0.05 * np.eye(len(gram))
    path = Homotopy(gram, linear, prices)
    lam = 0.3 * path.segment(0).low
    # The twin's first coordinate is free in sign: here one that is none of the others.
    larger = np.block([[np.eye(1), np.zeros((1, len(gram)))], [np.zeros((len(gram), 1)), gram]])
    twin = naive.non_negative_lasso(
        larger, np.append(0.0, linear), np.append(0.0, lam * prices), 5000
    )
    np.testing.assert_allclose(path.at(lam), twin[1:], atol=1e-7)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 12))
def test_coordinates_without_a_price_may_be_sums_of_each_other(seed, rank, n_free):
    """More trees of kept terms than those can tell apart."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(30, rank)) @ rng.random((rank, n_free))
    a = np.column_stack([a, rng.normal(size=(30, 2))])
    y = a.sum(axis=1) + rng.normal(size=30)
    gram, linear = a.T @ a / 30, a.T @ y / 30
    prices = np.r_[np.zeros(n_free), 1.0, 2.0]
    path = Homotopy(gram, linear, prices)
    for lam in path.segment(0).low * np.array([1.5, 0.5, 0.1]):
        w = path.at(lam)
        excess = linear - gram @ w - lam * prices
        assert (w >= 0).all()
        assert excess.max() < 1e-6
        assert np.abs(excess[w > 1e-9]).max(initial=0.0) < 1e-6


def test_what_fits_by_itself_fits_the_same():
    rng = np.random.default_rng(1)
    a = np.column_stack([rng.random((20, 3)), np.zeros(20)])
    a = np.column_stack([a, a[:, 0], a[:, 1] + 2 * a[:, 2]])
    weights = np.array([1.0, 2.0, 3.0, 1.0, 0.5, 4.0])
    kept = without_dependent(a.T @ a, weights)
    assert len(kept) == np.linalg.matrix_rank(a[:, kept]) == 3
    found, rest = nnls(a[:, kept], a @ weights)
    assert rest < 1e-7
    assert (found > 0).all()


def test_segments_join():
    path = Homotopy(*problem(3, 40, 8, 2, 1))
    segments = list(itertools.takewhile(bool, map(path.segment, itertools.count())))
    assert segments[0].high == np.inf
    assert segments[-1].low == 0.0
    for one, other in itertools.pairwise(segments):
        assert one.low == other.high
        assert len(set(one.active) ^ set(other.active)) == 1
        left = dict(zip(one.active, one.level - one.low * one.slope, strict=True))
        right = dict(zip(other.active, other.level - one.low * other.slope, strict=True))
        for j in set(left) | set(right):
            assert abs(left.get(j, 0.0) - right.get(j, 0.0)) < 1e-8


def test_nothing_to_select():
    path = Homotopy(np.eye(2), np.array([-1.0, 0.0]), np.ones(2))
    assert path.at(0.1).tolist() == [0.0, 0.0]
    assert path.segment(0).low == 0.0
    assert path.segment(1) is None


def test_a_free_column_that_is_constant_but_for_rounding_has_no_part():
    gram = np.array([[0.8, 1e-17, 0.2], [1e-17, -1.7e-16, 1e-17], [0.2, 1e-17, 0.5]])
    path = Homotopy(gram, np.array([0.4, 1e-18, 0.3]), np.array([0.0, 0.0, 1.0]))
    w = path.at(0.05)
    assert w[0] > 0
    assert w[1] == 0
