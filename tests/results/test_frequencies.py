"""Which units figures of selection frequencies show."""

from __future__ import annotations

import pandas as pd
import pytest

from treeselect.results.tables import selected_first


@pytest.fixture(scope="module")
def table():
    """Of ten units the last three, which resamples never select, are in the fit."""
    return pd.DataFrame(
        {
            "term": list("abcdefghij"),
            "frequency": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0, 0, 0],
            "selected": [False] * 7 + [True] * 3,
        }
    )


@pytest.mark.parametrize(
    ("length", "most", "terms"),
    [(5, 8, "hijab"), (2, 8, "hij"), (2, 2, "hi"), (20, 50, "hijabcdefg")],
)
def test_the_selection_comes_first_and_is_never_left_out_for_others(table, length, most, terms):
    assert "".join(selected_first(table, length, most)["term"]) == terms


def test_of_an_empty_selection_the_most_frequent_units_are_shown(table):
    shown = selected_first(table.assign(selected=False), 3, 5)
    assert "".join(shown["term"]) == "abc"
