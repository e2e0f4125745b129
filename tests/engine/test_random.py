"""Random streams and bags."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import Stream
from tree_data import bag_of, from_python

from treeselect.engine import random
from treeselect.engine.forest.bagging import Sampling, bags_of

next_random = from_python(random.next_random)
random_below = from_python(random.random_below)
draw_bag = from_python(random.draw_bag)


def test_streams_have_reference_values_and_names():
    state = np.array([1234567], dtype=np.uint64)
    assert [int(next_random(state)) for _ in range(3)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423,
    ]  # fmt: skip
    assert len({random.stream_seed(*parts) for parts in ((1, "a"), ("1", "a"), (1, "b"))}) == 3
    state, twin = np.array([2**64 - 5], dtype=np.uint64), Stream(2**64 - 5)
    for bound in (1, 2, 7, 1000, 2**31):
        assert [random_below(state, bound) for _ in range(50)] == [
            twin.below(bound) for _ in range(50)
        ]


@given(seed=st.integers(-(2**64), 2**64), n_trees=st.integers(0, 120))
def test_each_tree_has_a_stream_of_its_own(seed, n_trees):
    seeds = random.tree_seeds(seed, n_trees)
    assert seeds.dtype == np.uint64
    assert len(set(seeds.tolist())) == n_trees
    assert seeds.tolist() == [random.stream_seed(seed, "tree", i) for i in range(n_trees)]


ROWS = np.array([1, 4, 5, 8])


def bag(replace, share, seed=3):
    counts = np.full(10, 9)
    spare = np.zeros(10, dtype=np.uint32)
    none = np.zeros(0, dtype=np.int64)
    draw_bag(np.array([seed], dtype=np.uint64), ROWS, none, replace, share, counts, spare)
    assert set(np.flatnonzero(counts)) <= set(ROWS)
    return counts


@pytest.mark.parametrize(("share", "size"), [(1.0, 4), (0.5, 2), (0.63, 3), (0.01, 1)])
def test_a_bag_has_the_share_that_is_asked_for(share, size):
    assert bag(True, share).sum() == size
    subsample = bag(False, share)
    assert subsample.sum() == size
    assert subsample.max() == 1


@given(
    st.integers(0, 2**64 - 1), st.booleans(), st.sampled_from([1.0, 0.63, 0.5, 0.01]),
    st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 2**32),
)  # fmt: skip
@settings(derandomize=True, max_examples=80)
def test_bags_of_whole_groups_are_those_of_the_twin(seed, replace, share, numbers, mask):
    groups = np.array(numbers)
    weight = np.array([mask >> i & 1 for i in range(len(groups))])
    weight[0] = 1
    sampling = Sampling(replace, share, groups)
    bags = bags_of(weight, sampling, np.zeros(1, dtype=np.uint64))
    counts = np.full(len(groups), 9)
    state, spare = np.array([seed], dtype=np.uint64), np.zeros(len(groups), dtype=np.uint32)
    draw_bag(state, bags.in_rows, bags.start, replace, share, counts, spare)
    assert counts.tolist() == bag_of(seed, weight, sampling).tolist()


@pytest.mark.parametrize("groups", [np.arange(10)[::-1].copy(), np.full(10, 3)])
def test_groups_of_single_rows_and_a_single_group_are_drawn_as_rows(groups):
    weight = np.zeros(10, dtype=np.int64)
    weight[ROWS] = 1
    bags = bags_of(weight, Sampling(groups=groups), np.zeros(1, dtype=np.uint64))
    assert bags.in_rows.tolist() == ROWS.tolist()
    assert len(bags.start) == 0
