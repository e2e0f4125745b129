import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeselect.comparison.record import pareto_front

# Few values, so that there are ties, and some that are not known.
POINTS = arrays(float, st.tuples(st.integers(1, 8), st.just(3)),
                elements=st.sampled_from([0.0, 1.0, 2.0, np.nan]))  # fmt: skip


def dominates(a, b):
    known = [(x, y) for x, y in zip(a, b, strict=True) if not (np.isnan(x) or np.isnan(y))]
    return all(x >= y for x, y in known) and any(x > y for x, y in known)


@given(POINTS)
def test_front_is_what_nothing_dominates(points):
    expected = [not any(dominates(other, point) for other in points) for point in points]
    assert pareto_front(points).tolist() == expected


def test_equal_points_are_all_on_the_front():
    assert pareto_front(np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])).tolist() == [
        True,
        True,
        False,
    ]
