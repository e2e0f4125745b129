"""Directions, steps and intervals, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from treeselect.models.probing import ResampledReadings
from treeselect.resampling.fit import (
    LEAST_RESAMPLES,
    Contrast,
    direction,
    effect_record,
    interaction_record,
    intervals,
    steps,
)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ([0.0, 1.0, 2.0], "up"),
        ([2.0, 1.0, 0.0], "down"),
        ([4.0, 1.0, 0.0, 1.0, 4.0], "mixed"),
        ([0.0, 10.0, 9.0], "up"),  # falls by a tenth of its rise
        ([0.0, 10.0, 8.9], "mixed"),  # falls at its end by more than that
        ([1.1, 0.0, 10.0], "mixed"),  # falls at its beginning
        ([0.0, 4.0, 3.5, 8.0, 7.5, 7.2, 6.9], "mixed"),  # falls add up: 1.1 of 8
        ([10.0, 11.0, 0.0], "down"),
        ([3.0, 3.0, 3.0], "flat"),
        ([0.1 + 0.2, 0.3], "flat"),
        ([5.0], "flat"),
        ([], "flat"),
    ],
)
def test_direction(curve, expected):
    assert direction(np.array(curve), np.ones(len(curve))) == expected


def test_a_few_rows_at_an_end_have_no_say():
    curve, share = np.array([9.0, 0.0, 1.0, 2.0, -3.0]), np.full(5, 0.32)
    share[[0, -1]] = 0.02
    assert direction(curve, share) == "up"
    share[[0, 2]] = 0.03, 0.31
    assert direction(curve, share) == "mixed"
    share[-1] = 0.9
    assert direction(curve[1:], share[1:]) == "mixed"


def test_directions_turn_with_the_sign_and_with_the_axis():
    rng = np.random.default_rng(0)
    turned = {"up": "down", "down": "up", "mixed": "mixed", "flat": "flat"}
    for _ in range(200):
        curve = np.cumsum(rng.normal(0.5, 1, size=6))
        share = np.ones(6)
        opposite = turned[direction(curve, share)]
        assert direction(-curve, share) == direction(curve[::-1], share) == opposite


def test_intervals_are_percentiles_of_what_is_known():
    n = 41
    values = np.arange(n, dtype=float)[:, np.newaxis, np.newaxis] * [[[1.0], [10.0], [1.0]]]
    values[:1, 1] = np.nan
    values[LEAST_RESAMPLES - 1 :, 2] = np.nan
    low, high, count = intervals(values)
    assert count.ravel().tolist() == [n, n - 1, LEAST_RESAMPLES - 1]
    np.testing.assert_allclose(
        low.ravel(), [1.0, 19.75, np.nan]
    )  # places 1 of 0..40, .975 of 1..40
    np.testing.assert_allclose(high.ravel(), [39.0, 390.25, np.nan])


def test_record_of_given_curves():
    ends = np.array([[0, 1], [-1, -1], [2, 3]])
    readings = [
        ResampledReadings(
            curve=np.array([[-1.0 * b], [1.0 * b]]),
            ends=np.array([[0.0], [float(b)], [1.0], [np.nan if b % 2 else 3.0]]),
            strengths=np.empty((0, 1)),
        )
        for b in range(41)
    ]
    found = effect_record(
        ["x", "x:f", "f"],
        [("up",), ("joint",), ("by level",)],
        [Contrast(0, "quartiles", "0", "1"), Contrast(1, "none"), Contrast(2, "levels", "a", "b")],
        ends,
        np.array([[0.0], [20.0], [1.0], [2.5]]),
        [2, 0, 0],
        readings,
    )
    np.testing.assert_array_equal(found.effect, [[20.0], [np.nan], [1.5]])
    np.testing.assert_allclose(found.low, [[1.0], [np.nan], [2.0]])
    np.testing.assert_allclose(found.high, [[39.0], [np.nan], [2.0]])
    assert found.count.tolist() == [41, 0, 21]
    low, high = found.band("x")
    np.testing.assert_allclose(np.hstack([low, high]), [[-39.0, -1.0], [1.0, 39.0]])
    assert found.band("f")[0].shape == (0, 1)


def test_steps_without_ends_are_missing():
    found = steps(np.array([[1.0, 2.0], [4.0, 1.0]]), np.array([[0, 1], [-1, -1]]))
    np.testing.assert_array_equal(found, [[3.0, -1.0], [np.nan, np.nan]])


def test_intervals_of_strengths_are_percentiles():
    resampled = [np.array([[b / 40], [np.nan if b < 22 else 0.5]]) for b in range(41)]
    found = interaction_record(
        [("x", "z"), ("x", "f")], np.array([[0.4, 0.1], [0.6, 0.2]]), resampled
    )
    np.testing.assert_allclose(found.low, [1 / 40, np.nan])
    np.testing.assert_allclose(found.high, [39 / 40, np.nan])
    assert found.count.tolist() == [41, 19]
    assert (found.strength.tolist(), found.size.tolist()) == ([0.4, 0.6], [0.1, 0.2])
