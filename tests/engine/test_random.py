"""Random streams and bags."""

from __future__ import annotations

import numpy as np
import pytest
from tree_data import from_python

from treeselect.engine import random
from treeselect.engine.naive import Stream

next_random = from_python(random.next_random)
random_below = from_python(random.random_below)
draw_bag = from_python(random.draw_bag)


def test_splitmix64_reference_values():
    state = np.array([1234567], dtype=np.uint64)
    assert [int(next_random(state)) for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_random_below_covers_its_range_evenly():
    state = np.array([7], dtype=np.uint64)
    counts = np.bincount([random_below(state, 6) for _ in range(6000)], minlength=6)
    assert len(counts) == 6
    assert counts.min() > 850


def test_the_stream_of_the_naive_twins_is_the_same():
    state, twin = np.array([2**64 - 5], dtype=np.uint64), Stream(2**64 - 5)
    for bound in (1, 2, 7, 1000, 2**31):
        assert [random_below(state, bound) for _ in range(50)] == [
            twin.below(bound) for _ in range(50)
        ]


ROWS = np.array([1, 4, 5, 8])


def bag(replace, share, seed=3):
    counts = np.full(10, 9)
    spare = np.zeros(10, dtype=np.uint32)
    draw_bag(np.array([seed], dtype=np.uint64), ROWS, replace, share, counts, spare)
    assert set(np.flatnonzero(counts)) <= set(ROWS)
    return counts


@pytest.mark.parametrize(("share", "size"), [(1.0, 4), (0.5, 2), (0.63, 3), (0.01, 1)])
def test_a_bag_has_the_share_that_is_asked_for(share, size):
    assert bag(True, share).sum() == size
    subsample = bag(False, share)
    assert subsample.sum() == size
    assert subsample.max() == 1


def test_every_row_has_the_same_chance():
    for replace in (True, False):
        drawn = sum(bag(replace, 0.5, seed) for seed in range(2000))
        assert drawn[ROWS].min() > 900
        assert drawn[ROWS].sum() == 4000
