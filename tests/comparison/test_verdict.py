"""Who can't be told from the best, and who is on the front."""

from __future__ import annotations

import numpy as np
import pandas as pd

from treeselect.comparison.words import verdict

RANKED = pd.DataFrame(
    {
        "method": ["a", "b", "c", "d"],
        "n_selected": [4.0, 2.5, 2.5, 9.0],
        "stability": [0.5, 0.75, np.nan, 0.25],
        "front": [True, True, True, False],
    }
)
DIFFERENCES = pd.DataFrame({"method": ["b", "c", "d"], "ci_high": [-0.1, 0.1, np.nan]})


def test_what_an_interval_does_not_tell_apart_is_alike():
    found = verdict(RANKED, DIFFERENCES)
    assert found.alike == ("c", "d")
    assert found.worse == ("b",)


def test_the_smallest_and_the_stablest_are_looked_for_on_the_front():
    found = verdict(RANKED, DIFFERENCES)
    assert found.front == ("a", "b", "c")
    assert (found.fewest, found.smallest) == (2.5, ("b", "c"))
    assert (found.highest, found.stablest) == (0.75, ("b",))


def test_the_front_may_be_empty():
    found = verdict(RANKED.assign(front=False), DIFFERENCES)
    assert (found.front, found.smallest, found.stablest) == ((), (), ())
