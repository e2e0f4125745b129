"""Losses: each agrees with itself, and the logistic one with its naive twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeselect.engine import losses


@given(st.lists(st.tuples(st.booleans(), st.floats(-800, 800)), min_size=1, max_size=40))
def test_logistic_loss_is_its_naive_twin(rows):
    y, eta = np.array(rows, dtype=np.float64).T
    naive = np.logaddexp(0.0, eta) - y * eta
    # A loss near 0 is a difference of two numbers of the size of eta.
    rounding = 4e-16 * (1 + np.abs(eta))
    assert (np.abs(losses.LogisticLoss().value(y, eta) - naive) <= rounding).all()


def test_sure_rows_and_constants_have_small_losses():
    eta = np.array([-40.0, -700.0])
    found = losses.LogisticLoss().value(np.zeros(2), eta)
    np.testing.assert_allclose(found, np.exp(eta), rtol=1e-15)
    y, weight, loss = np.arange(50) % 3 * 1.0, np.arange(50) % 4, losses.MultinomialLoss(3)
    slope = weight @ loss.negative_gradient(y, np.tile(loss.constant(y, weight), (50, 1)))
    np.testing.assert_allclose(slope, 0, atol=1e-12)


LOSSES = (losses.LogisticLoss(), losses.PoissonLoss(), losses.SquaredLoss())


def drawn(seed):
    """Responses of both kinds, whole or real weights, and a random stream."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    y = rng.permutation(np.arange(n) < rng.integers(1, n)).astype(float)
    return y, rng.integers(1, 4, n) if rng.random() < 0.5 else rng.random(n) + 0.1, rng


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 50.0]))
def test_an_offset_that_is_constant_but_for_rounding_is_a_constant(seed, size):
    y, weight, rng = drawn(seed)
    level = float(rng.normal() * size)
    offset = level + rng.integers(-4, 5, len(y)) * np.spacing(level)
    for loss in LOSSES:
        plain = loss.constant(y, weight)
        assert loss.constant(y, weight, offset) == pytest.approx(plain - level, abs=1e-11)


@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1.0, 30.0, 700.0]))
def test_at_the_best_constant_the_gradients_add_up_to_nothing(seed, spread):
    """Also where no exposure, the exponential of an offset, is a number."""
    y, weight, rng = drawn(seed)
    offset = 500 * rng.normal() + spread * rng.normal(size=len(y))
    for loss in LOSSES:
        slope = weight * loss.negative_gradient(y, loss.constant(y, weight, offset) + offset)
        assert abs(slope.sum()) <= 1e-9 * np.abs(slope).sum() + 1e-9


EVERY = [
    losses.MultinomialLoss(3) if kind is losses.MultinomialLoss else kind()
    for kind in losses.RowByRow.__subclasses__()
]


@pytest.mark.parametrize(
    ("loss", "y", "perfect"),
    [
        (losses.SquaredLoss(), [0.0, 1.0], [0.0, 1.0]),
        (losses.LogisticLoss(), [0.0, 1.0], [-40.0, 40.0]),
        (losses.PoissonLoss(), [0.0, 1.0, 5.0], np.log([1e-15, 1.0, 5.0])),
        (losses.MultinomialLoss(3), [0.0, 1.0, 2.0], 40 * np.eye(3)),
    ],
    ids=lambda case: type(case).__name__,
)
def test_the_least_loss_is_that_of_a_perfect_fit(loss, y, perfect):
    y, perfect = np.array(y), np.asarray(perfect)
    np.testing.assert_allclose(loss.least(y), loss.value(y, perfect), atol=1e-12)
    for shift in (-0.3, 0.3):
        moved = perfect + shift * np.arange(1, 4)[: perfect.shape[-1]]
        assert (loss.value(y, moved) >= loss.least(y) - 1e-12).all()


@pytest.fixture(params=EVERY, ids=lambda loss: type(loss).__name__)
def any_loss(request):
    """A loss, responses, linear predictors and the rows' shares."""
    loss, rng = request.param, np.random.default_rng(0)
    shape = (30, loss.n_outputs) if loss.n_outputs > 1 else 30
    y = rng.integers(0, max(loss.n_outputs, 2), 30).astype(float)
    share = rng.random(30)
    return loss, y, rng.normal(size=shape), share / share.sum()


def test_a_loss_and_its_derivatives_agree(any_loss):
    loss, y, eta, _ = any_loss
    rng, step = np.random.default_rng(1), 1e-5
    if isinstance(loss, losses.HingeLoss):
        eta = np.where(np.abs(np.abs(eta) - 1) < 0.01, 0.0, eta)  # away from the corner
    way = rng.normal(size=eta.shape)
    above, below = eta + step * way, eta - step * way
    by_row = (len(y), -1)
    change = (loss.value(y, above) - loss.value(y, below)) / (2 * step)
    slope = -(loss.negative_gradient(y, eta) * way).reshape(by_row).sum(axis=1)
    np.testing.assert_allclose(change, slope, atol=1e-7)
    turn = (loss.negative_gradient(y, below) - loss.negative_gradient(y, above)) / (2 * step)
    curved = loss.curvature_times(y, eta, way.reshape(-1, 1))[:, 0]
    np.testing.assert_allclose(turn.ravel(), curved, atol=1e-7)
    unit = np.eye(loss.n_outputs)[np.zeros(len(y), dtype=int)].reshape(-1, 1)
    first = loss.curvature_times(y, eta, unit).reshape(len(y), -1)[:, 0]
    np.testing.assert_allclose(loss.curvature(y, eta).reshape(len(y), -1)[:, 0], first, atol=1e-12)
    assert loss.curvature(y, eta).shape == eta.shape
    assert (loss.value(y, eta) >= loss.least(y) - 1e-12).all()


def test_cvxpy_is_told_the_same_loss(any_loss):
    import cvxpy

    loss, y, eta, share = any_loss
    for told in (loss, losses.GradientOnly(loss)):
        expression = told.modelled(y, cvxpy.Constant(eta), share)
        assert expression.is_convex()
        assert expression.value == pytest.approx(share @ loss.value(y, eta), rel=1e-12)
