"""What only rounding tells apart decides nothing."""

import dataclasses

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from treeselect.algorithms.filters import coarsened
from treeselect.algorithms.linear.penalised import of_number
from treeselect.algorithms.task import Step, best_of_each_size, ranking, step_of_size
from treeselect.comparison.record import pareto_front
from treeselect.designs.families import BINOMIAL, area_under_curve
from treeselect.designs.scoring import with_scoring
from treeselect.engine.rounding import (
    at_least,
    falling,
    first_largest,
    first_smallest,
    largest_in_row,
    least_of_equals,
    levels,
)
from treeselect.resampling.choosing import best_size, one_standard_error_size
from treeselect.resampling.cross_validation import ScoreBySize, differences, paired_difference

TIED = np.array([0.1, 0.3, 0.3, 0.7, 0.1, 0.3, -0.2])
LAST_BITS = 4e-16


@st.composite
def tied_numbers(draw):
    """Numbers with ties, and the same as another processor could have them."""
    size = draw(st.sampled_from([1e-9, 1.0, 1e12]))
    values = draw(st.lists(st.integers(-20, 20), min_size=2, max_size=30))
    exact = np.array(values, dtype=np.float64) * 0.1 * size
    off = draw(st.lists(st.integers(-8, 8), min_size=len(exact), max_size=len(exact)))
    return exact, exact + np.array(off) * 1e-16 * np.abs(exact).max()


@given(tied_numbers())
@example((np.array([0.0, 0.0, -1e-10]), np.array([0.0, 1e-26, -1e-10])))
def test_the_same_order_levels_and_places(numbers):
    exact, other = numbers
    expected = np.unique(np.round(exact / max(np.abs(exact).max(), 1e-300), 6), return_inverse=True)
    for values in (exact, other):
        assert_array_equal(levels(values), expected[1])
        assert_array_equal(falling(values), np.argsort(-expected[1], kind="stable"))
        assert first_largest(values) == np.argmax(expected[1])
        assert first_smallest(values) == np.argmin(expected[1])
        assert_array_equal(np.unique(least_of_equals(values), return_inverse=True)[1], expected[1])
        assert np.abs(least_of_equals(values) - values).max() <= 3e-15 * np.abs(exact).max()
    assert at_least(exact, other)[exact != 0].all()  # each has its own size to go by
    assert_array_equal(largest_in_row(other[np.newaxis]), largest_in_row(exact[np.newaxis]))


def test_what_differs_is_told_apart_and_infinite_and_missing_numbers_have_their_places():
    assert_array_equal(levels(np.array([1.0, 1 + 1e-9, 0.0])), [1, 2, 0])
    odd = np.array([np.nan, 1.0, -np.inf, np.inf, np.nan, np.inf])
    assert_array_equal(levels(odd), [3, 1, 0, 2, 3, 2])
    assert_array_equal(falling(odd), [3, 5, 1, 2, 0, 4])
    assert first_largest(odd) == 3
    assert first_largest([np.nan, 1.0]) == 1
    assert first_largest([-np.inf, -np.inf]) == 0
    assert_array_equal(least_of_equals(odd), odd)
    assert levels(np.zeros(0)).shape == least_of_equals(np.zeros(0)).shape == (0,)
    assert_array_equal(levels(np.array([[0.3, 1.0], [0.1 + 0.2, 2.0]])), [[0, 1], [0, 2]])


@pytest.mark.parametrize("name", ["family", "roc_auc", "average_precision", "accuracy"])
def test_scores_by_rank_do_not_hang_on_the_last_bits(name):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=200).astype(float)
    exact = rng.choice([0.1, 0.3, 0.5, 0.5000001], size=200)
    other = exact + rng.choice([-1, 0, 1], size=200) * LAST_BITS
    weight = np.ones(200, dtype=np.int64)
    score = area_under_curve if name == "family" else with_scoring(BINOMIAL, name).score
    assert score(y, exact, weight) == score(y, other, weight)
    if name != "accuracy":
        assert score(y, exact, weight) != score(y, np.round(exact, 6), weight)
    assert np.isnan(area_under_curve(y, np.where(y > 0, np.nan, 0.5), weight))


def test_decisions_and_medians_do_not_hang_on_the_last_bits():
    shaken = TIED + np.array([0, 1, 0, 0, -1, 2, 0]) * LAST_BITS
    flat = np.zeros(7, dtype=bool)
    step = Step(1.0, ~flat, TIED, 0.5, error=0.3)
    later = dataclasses.replace(step, error=0.3 - LAST_BITS)
    scores = np.array([[0.5, 0.7, 0.7], [0.5, 0.9, 0.9], [0.6, 0.8, 0.8]])
    for off in (0.0, LAST_BITS):
        cv = ScoreBySize(scores + off * np.array([0, 0, 1]))
        assert best_size([0, 1, 2], cv) == 1
        alike = ScoreBySize(np.full((3, 3), 0.1) + off * np.array([-1, 0, 1]))
        assert one_standard_error_size([0, 1, 2], alike) == 0
    for values in (TIED, shaken):
        assert ranking(values, flat, np.arange(7)[::-1]).tolist() == [3, 5, 2, 1, 4, 0, 6]
        cut = step_of_size([dataclasses.replace(step, importance=values)], 3, flat)
        assert np.flatnonzero(cut.selected).tolist() == [1, 2, 3]
        assert coarsened(values, np.ones(7), 7).tolist() == [1, 2, 2, 3, 1, 2, 0]
        front = pareto_front(np.column_stack([values, np.array([5, 1, 2, 0, 5, 2, 9])]))
        assert front.tolist() == [True, False, True, True, True, True, True]
    assert best_of_each_size([step, later])[7] is step
    assert paired_difference(differences(shaken, TIED), 0.25).p_value == 1.0
    # Six values have a weight of one half at the third and the fourth, however sixths add up.
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, np.nan])
    for times in (1, 2, 3, 7):
        copies = np.repeat(values, times)
        filled, _ = of_number(copies, np.full(len(copies), 1 / len(copies)))
        assert filled[-1] == 3.5
