"""Results as JSON and back: what was written is read, and nothing else."""

import json
import math

import numpy as np
import pytest

from treeselect.running.coded import NOTHING, NUMBER, array, members, optional, record, units

PAIR = record(lambda *parts: parts, NUMBER, units(3))


@pytest.mark.parametrize(
    ("own", "value", "saved"),
    [
        (NUMBER, np.float64(0.1), 0.1), (NUMBER, 2, 2.0), (NOTHING, None, None),
        (optional(NUMBER), None, None), (optional(NUMBER), 0.0, 0.0), (array(), np.array(2.0), [2]),
        (array(2, 2), np.array([[1, np.nan], [0.1, -3]]), [1.0, None, 0.1, -3.0]),
        (array(2, known=True), np.array([1.5, 0]), [1.5, 0.0]),
        (units(3), np.array([2, 0]), [2, 0]),
        (units(3), np.array([1, 2, 0]), [1, 2, 0]), (units(3), np.empty(0, int), []),
        (units(3, 1), np.array([2]), [2]), (members(3), np.array([True, False, True]), [0, 2]),
        (members(1), np.array([True]), [0]), (PAIR, (1.5, np.array([2])), [1.5, [2]]),
    ],
    ids=range(15),
)  # fmt: skip
def test_what_was_written_is_read(own, value, saved):
    written = own.write(value)
    assert written == saved
    found = own.read(json.loads(json.dumps(written, allow_nan=False)))
    assert type(found) is (float if own is NUMBER else type(value))
    parts = zip(found, value, strict=True) if own is PAIR else [(found, value)]
    for one, other in parts:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("own", "saved"),
    [
        *((NUMBER, saved) for saved in (True, "1", None, [1.0], math.inf, math.nan)),
        (optional(NUMBER), "1"), *((array(2), saved) for saved in ([1.0], [1.0] * 3, "12", None)),
        (array(1), [True]), (array(1), ["1"]), (array(1, known=True), [None]),
        *((units(3), saved) for saved in ("01", None, [True], [1.0], [0, 0], [3], [-1], [0, None])),
        *((own(3, 1), [0, 1]) for own in (units, members)), (members(3), [3]), (members(3), [1, 1]),
        *((PAIR, saved) for saved in ([1.5], [1.5, [2], 0], [[2], 1.5], None)),
    ],
    ids=range(30),
)  # fmt: skip
def test_anything_else_is_refused(own, saved):
    with pytest.raises((ValueError, TypeError)):
        own.read(saved)


def test_a_record_is_written_as_a_whole():
    with pytest.raises(ValueError, match="shorter"):
        PAIR.write((1.5,))
