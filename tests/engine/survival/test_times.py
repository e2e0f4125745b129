"""Times as an array, and who is at risk when."""

import numpy as np
import pytest
from drawn_times import SEEDS, survival_rows
from hypothesis import given
from naive_survival import at_risk

from treeselect.engine.survival.times import (
    EVENT,
    START,
    STOP,
    STRATUM,
    as_times,
    one_stratum,
    risk_sets,
    spans,
)


def test_rows_are_at_risk_from_the_beginning_at_times_equal_but_for_rounding():
    y = as_times(np.array([0, 3]), np.array([True, False]))
    assert y.dtype == np.float64
    assert y.tolist() == [[-1, 0, 1, 0], [-1, 3, 0, 0]]
    late = as_times([2.0, 3.0], [1, 0], [0.0, -1.0], [1, 0])
    assert late[:, START].tolist() == [0.0, -1.0]
    assert late[:, STRATUM].tolist() == [1.0, 0.0]
    assert one_stratum(late)[:, STRATUM].tolist() == [0.0, 0.0]
    y = as_times([0.1 + 0.2, 1.0], [1, 1], [0.0, 0.3])
    assert y[1, START] == y[0, STOP]


@given(SEEDS)
def test_risk_sets_are_those_of_the_definition(seed):
    y, weight, _ = survival_rows(seed, n_times=8 if seed % 2 else 200)
    marks = (y[:, EVENT] > 0) & (weight > 0)
    sets = risk_sets(y, marks, 4)
    stratum_of_time = np.repeat(np.arange(4), np.diff(sets.begin))
    found = list(zip(stratum_of_time, sets.time, strict=True))
    assert found == sorted({(s, t) for t, s in y[marks][:, [STOP, STRATUM]]})
    assert len(sets.begin) == 5
    stretches = spans(sets.first, sets.last, sets.stratum, sets.begin)
    numbers = np.random.default_rng(seed).random(len(y))
    inside = np.zeros((len(y), len(found)), dtype=bool)
    for t, (stratum, time) in enumerate(found):
        inside[:, t] = at_risk(y, time, stratum)
        assert (inside[:, t] == ((sets.first <= t) & (t <= sets.last))).all()
    assert (sets.at_risk == inside.any(axis=1)).all()
    np.testing.assert_allclose(stretches.over_rows(numbers), numbers @ inside, rtol=1e-12)
    of_times = np.random.default_rng(seed).random(len(found))
    np.testing.assert_allclose(stretches.over_times(of_times), inside @ of_times, rtol=1e-12)


@pytest.mark.parametrize("n_times", [1, 15, 16, 17, 150])
def test_sums_over_long_stretches(n_times):
    """All that there are of some times, the empty ones, too."""
    first, last = (ends.ravel() for ends in np.indices((n_times, n_times)))
    stratum, begin = np.zeros(len(first), dtype=np.int64), np.array([0, n_times])
    stretches = spans(first, last, stratum, begin)
    at = np.arange(n_times)
    inside = (first[:, np.newaxis] <= at) & (at <= last[:, np.newaxis])
    rng = np.random.default_rng(n_times)
    rows, times = rng.random(len(first)), rng.random(n_times)
    np.testing.assert_allclose(stretches.over_rows(rows), rows @ inside, rtol=1e-11)
    np.testing.assert_allclose(stretches.over_times(times), inside @ times, rtol=1e-11)
