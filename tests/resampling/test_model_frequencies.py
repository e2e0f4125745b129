"""Sets that differ and their counts, against plain counting."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeselect.resampling.agreement import distinct_sets


@given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 20))))
@settings(derandomize=True)
def test_sets_are_counted(selected):
    sets, counts = distinct_sets(selected)
    expected = Counter(map(tuple, selected.tolist()))
    assert dict(zip(map(tuple, sets.tolist()), counts.tolist(), strict=True)) == expected
    order = [(-n, sum(own), [not u for u in own]) for own, n in zip(sets, counts, strict=True)]
    assert order == sorted(order)


def test_equally_frequent_sets_begin_with_the_small_ones():
    selected = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=bool)
    sets, counts = distinct_sets(selected)
    assert sets.astype(int).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
    assert counts.tolist() == [1, 1, 1, 1]
