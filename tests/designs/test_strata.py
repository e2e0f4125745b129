"""What rows are spread by, and whether there is something to explain among them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from treeselect.designs.preparing import Request, prepare
from treeselect.designs.row_sample import labels_of, units_of, varies
from treeselect.designs.weights import row_weights

FRAME = pd.DataFrame(
    {
        "time": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "event": [0, 1, 0, 1, 0, 1],
        "label": ["a", "b", "a", "c", "c", "a"],
        "x": np.arange(6.0),
    }
)
ROWS = np.arange(6)


def problem(left, frame=FRAME):
    return prepare(Request(f"{left} ~ x"), frame).problem


@pytest.mark.parametrize(
    ("left", "labels"),
    [("Surv(time, event)", [0, 1, 0, 1, 0, 1]), ("label", [0, 1, 0, 2, 2, 0]), ("time", None)],
)
def test_rows_are_spread_by_event_or_class(left, labels):
    found = labels_of(problem(left), ROWS)
    assert (None if found is None else found.tolist()) == labels


def test_a_group_with_an_event_counts_by_the_rarer_kind():
    groups = np.array([0, 0, 1, 1, 2, 3])
    units = units_of(problem("Surv(time, event)"), row_weights(np.ones(6), groups))
    # Of two kinds that are as rare the first is taken for the rarest.
    assert units.of_row.tolist() == [0, 0, 1, 1, 2, 3]
    rare = units_of(
        problem("Surv(time, event)", FRAME.assign(event=[0, 1, 0, 0, 0, 1])),
        row_weights(np.ones(6), groups),
    )
    assert rare.stratum.tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize(
    ("left", "rows", "expected"),
    [
        ("Surv(time, event)", [0, 1], False),  # the censored row left before the event
        ("Surv(time, event)", [1, 2], True),
        ("Surv(time, event)", [0, 2, 4], False),
        ("Surv(time, event)", [5], False),
        ("label", [0, 2], False),
        ("label", [0, 1], True),
        ("time", [0, 0], False),
        ("time", [0, 1], True),
    ],
)
def test_what_there_is_to_explain(left, rows, expected):
    assert varies(problem(left), np.array(rows)) is expected
