"""Sets of a path that give way to larger ones, cut to their size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import treeselect
from treeselect import RRF
from treeselect.algorithms.search.revision import DrawnMethod, with_cuts
from treeselect.algorithms.task import Task, ranked_step


def task_of(*, max_size=2, every_size=True, **arguments):
    """Two columns that decide together, and three of noise."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(200, 5)), columns=["a", "b", "n1", "n2", "n3"])
    data["y"] = data["a"] + 0.7 * data["b"] + 0.3 * rng.normal(size=200)
    fit = treeselect.select("y ~ .", data, method=RRF(n_trees=1), k=2, seed=1, **arguments)
    problem = fit.data.design.problem_for(RRF())
    assert problem.groups.names == ("a", "b", "n1", "n2", "n3")
    return Task(
        problem, fit.data.design.row_weights, max_size=max_size, every_size=every_size, seed=1
    )


def step(tuning, **worth):
    named = np.array([worth.get(name, 0.0) for name in ("a", "b", "n1", "n2", "n3")])
    return ranked_step(tuning, named > 0, named, 0.5)


def names(found):
    return "".join(np.array(["a", "b", "1", "2", "3"])[found.selected])


NULL = step(0.0)
NOISE = step(0.1, n1=1.0)
WHOLE = step(0.4, a=0.5, b=0.3, n1=0.1, n2=0.05, n3=0.05)


def test_noise_gives_way_to_the_most_important_of_a_larger_set():
    found = with_cuts(task_of(), [NULL, NOISE, WHOLE])
    assert [(names(s), s.size) for s in found] == [("", 0), ("a", 1), ("ab123", 5)]
    one = found[1]
    assert (one.tuning, one.importance.tolist(), one.cut_from) == (0.4, [1, 0, 0, 0, 0], None)
    assert one.train_score > 0.5  # of a forest on it, not that of the larger one
    assert one.notes == (
        "Cut from 5 terms: forests on the most important one have a lower out-of-bag error than on"
        " the one the path has at this size.",
    )


def test_a_set_that_is_as_good_stays():
    true = step(0.2, a=1.0)
    poor = step(0.4, n1=0.5, a=0.3, b=0.2)
    found = with_cuts(task_of(), [NULL, true, poor])
    assert found[1] is true


def test_a_better_set_of_the_same_size_is_no_cut():
    found = with_cuts(task_of(), [NULL, NOISE, step(0.2, a=1.0)])
    assert (names(found[1]), found[1].tuning, found[1].notes) == ("a", 0.2, ())


def test_a_size_without_a_set_is_filled_if_the_next_larger_one_is_cut_badly():
    poor = step(0.3, n1=0.4, n2=0.3, n3=0.2, a=0.1)
    found = with_cuts(task_of(), [NULL, poor, WHOLE])
    assert [names(s) for s in found] == ["", "a", "ab", "a123", "ab123"]
    assert found[2].notes[0].endswith("than on the 2 cut from 4.")
    only = with_cuts(task_of(every_size=False), [NULL, poor, WHOLE])
    assert [names(s) for s in only] == ["", "ab", "a123", "ab123"]
    assert with_cuts(task_of(), [NULL, WHOLE]) == (NULL, WHOLE)


def test_units_that_are_forced_in_stay():
    task = task_of(keep=["n3"])
    kept = step(0.1, n3=1.0)
    found = with_cuts(task, [kept, step(0.2, n1=0.5, n3=0.5), WHOLE])
    assert [names(s) for s in found] == ["3", "a3", "ab123"]


def test_a_set_does_not_give_way_to_a_dearer_one():
    dear, equal = (
        task_of(max_size=1, costs={"a": cost, "b": 2.0, "n1": 2.0}) for cost in (3.0, 2.0)
    )
    assert with_cuts(dear, [NULL, NOISE, WHOLE])[1] is NOISE
    assert names(with_cuts(equal, [NULL, NOISE, WHOLE])[1]) == "a"


def test_methods_that_draw_nothing_keep_their_path():
    assert issubclass(treeselect.RBoost, DrawnMethod)
    assert not issubclass(treeselect.GBFS, DrawnMethod)  # its first unit is the best of all


@pytest.mark.parametrize(("method", "trees"), [("rrf", 20), ("rboost", 10)])
def test_few_of_very_many_terms_are_not_those_drawn_first(method, trees):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(200, 600))).add_prefix("x")
    data["y"] = data[["x7", "x77", "x577"]].sum(axis=1) + 0.5 * rng.normal(size=200)
    fit = treeselect.select(
        "y ~ .", data, method=method, k=3, n_trees=trees, seed=1, n_jobs=1, progress=False
    )
    assert set(fit.selected) == {"x7", "x77", "x577"}
