"""The record of a search."""

from __future__ import annotations

from treeselect.algorithms.task import MOST_RIVALS, Rival, trace_of


def test_of_many_rivals_the_best_are_kept_and_all_counted():
    rivals = [Rival((unit,), unit / 1000, 0.5) for unit in range(2 * MOST_RIVALS)]
    trace = trace_of([], rivals, n_judged=200)
    assert trace.rivals == tuple(rivals[:MOST_RIVALS])
    assert (trace.n_rivals, trace.n_judged) == (2 * MOST_RIVALS, 200)
