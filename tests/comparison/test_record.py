"""What a comparison says, on made-up scores: sizes by the rule, differences, front, texts."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treeselect.comparing import Comparison
from treeselect.comparison.methods import told_apart
from treeselect.comparison.record import Run, pareto_front
from treeselect.errors import OptionError
from treeselect.resampling.agreement import stability_index
from treeselect.resampling.cross_validation import FoldPath, paired_difference

UNITS = ("a", "b", "panel", "d")
TERMS = (("a",), ("b",), ("hb", "wbc"), ("d",))

# Four folds by sizes 0 to 3. Of "slow" the mean is best at 3, .80; its deviation is .0816 and the
# standard error .0408; .77 at 2 is within, .70 at 1 is not.
SLOW = [[0.5, 0.6, 0.77, 0.7], [0.5, 0.7, 0.77, 0.9], [0.5, 0.7, 0.77, 0.8], [0.5, 0.8, 0.77, 0.8]]
# Of "plain" the mean is best at 1, .75, and the constant model is far below.
PLAIN = [[0.5, 0.7, 0.7, 0.7], [0.5, 0.8, 0.7, 0.7], [0.5, 0.7, 0.7, 0.7], [0.5, 0.8, 0.7, 0.7]]
SETS_SLOW = [[(), (0,), (0, 1), (0, 1, 2)]] * 3 + [[(), (0,), (0, 3), (3, 0, 2)]]
SETS_PLAIN = [[(), (2,), (2, 0), (2, 0, 3)]] * 4


def fold(scores, sets, seconds):
    units = tuple(np.array(s, dtype=np.int64) for s in sets)
    return FoldPath(np.array(scores), units, np.full(len(scores), seconds), ())


def run(label, scores, sets, *, sizes=(0, 1, 2, 3), seconds=1.0, options=None):
    folds = tuple(
        fold(s, u, seconds * (i + 1)) for i, (s, u) in enumerate(zip(scores, sets, strict=True))
    )
    return Run(label, label.title(), options or {}, sizes, folds)


FIXED = run("fixed", [[0.7]] * 4, [[(0, 1)]] * 3 + [[(0,)]], sizes=None, options={"lam": 0.1})


def comparison(*runs, **changes):
    made = Comparison(
        runs=runs or (run("slow", SLOW, SETS_SLOW), run("plain", PLAIN, SETS_PLAIN), FIXED),
        units=UNITS, terms_of_unit=TERMS, assessed=np.array([True, True, True, True]), rule="1se",
        place_of_fold=np.c_[[0] * 4, range(4)], n_train=np.array([75, 75, 75, 75]),
        n_test=np.array([25, 25, 25, 25]), repeats=1.0, response="y",
        family="binomial (`y` is 0 or 1)", score_name="AUC", score_words="",
        score_bounds=(0.0, 1.0), scheme="4-fold cross-validation",
        call="compare('y ~ .', data, methods=['slow', 'plain'])",
        data="a data frame of 100 rows and 5 columns", seed=1, notes=(),
    )  # fmt: skip
    return dataclasses.replace(made, **changes)


def test_each_at_its_size_or_all_at_one():
    glance = comparison().glance()
    assert glance["method"].tolist() == ["slow", "plain", "fixed"]
    assert glance["k"].tolist()[:2] == [2, 1]
    assert glance["k"].isna().tolist() == [False, False, True]
    np.testing.assert_allclose(glance["score"], [0.77, 0.75, 0.7])
    np.testing.assert_allclose(glance["standard_error"], [0, 0.1 / np.sqrt(12), 0], atol=1e-12)
    np.testing.assert_allclose(glance["n_selected"], [2, 1, 1.75])
    assert glance["seconds"].tolist() == [2.5, 2.5, 2.5]
    glance = comparison(rule="best").glance()
    assert glance["k"].tolist()[:2] == [3, 1]
    assert glance["k_1se"].tolist()[:2] == [2, 1]
    glance = comparison(rule=3).glance()
    assert glance["k"].tolist()[:2] == [3, 3]
    np.testing.assert_allclose(glance["score"], [0.8, 0.7, 0.7])
    same = comparison(run("one", PLAIN, SETS_PLAIN), run("two", PLAIN, SETS_PLAIN))
    assert same.best == "one"
    assert same.differences()["difference"].tolist() == [0]
    assert same.differences()["p_value"].tolist() == [1]


def test_tidy_has_its_columns_and_stability_is_the_index_over_the_folds():
    tidy = comparison().tidy()
    assert list(tidy) == [
        "method", "repeat", "fold", "k", "n_selected", "score", "seconds", "terms",
    ]  # fmt: skip
    assert len(tidy) == 4 * 4 + 4 * 4 + 4
    row = tidy[(tidy["method"] == "slow") & (tidy["fold"] == 4) & (tidy["k"] == 3)].iloc[0]
    assert row["terms"] == ("d", "a", "hb", "wbc")
    assert (row["n_selected"], row["score"], row["seconds"]) == (3, 0.8, 4)
    curves = comparison().curves().set_index(["method", "k"])
    sets = np.array([[1, 1, 0, 0]] * 3 + [[1, 0, 0, 1]], dtype=bool)
    assert curves.loc[("slow", 2), "stability"] == stability_index(sets)[0]
    assert curves.loc[("plain", 2), "stability"] == 1
    assert np.isnan(curves.loc[("plain", 0), "stability"])
    found = comparison(assessed=np.array([False, True, True, True]))
    sets = np.array([[1, 0, 0]] * 3 + [[0, 0, 1]], dtype=bool)
    curves = found.curves().set_index(["method", "k"])
    assert curves.loc[("slow", 2), "stability"] == stability_index(sets)[0]


def test_front_terms_and_differences_from_the_best_and_another():
    # "plain" at 1 unit and "slow" at 2 are not beaten; "fixed" has a worse score than "plain" with
    # more units, and is less stable.
    assert comparison().glance()["front"].tolist() == [True, True, False]
    curves = comparison().curves().set_index(["method", "k"])["front"]
    assert not curves["plain", 2]
    assert curves["slow", 0]
    terms = comparison().terms()
    assert terms["term"].tolist()[::3] == ["a", "b", "hb", "wbc", "d"]
    counts = terms.set_index(["term", "method"])
    assert counts.loc[("a", "slow"), "folds"] == 4
    assert counts.loc[("hb", "plain"), "folds"] == 4
    assert counts.loc[("d", "slow"), "frequency"] == 0.25
    assert counts.loc[("b", "fixed"), "frequency"] == 0.75
    table = comparison().differences()
    assert table["method"].tolist() == ["plain", "fixed"]
    assert table["reference"].tolist() == ["slow", "slow"]
    expected = paired_difference(np.array([-0.07, 0.03, -0.07, 0.03]), 25 / 75)
    np.testing.assert_allclose(
        table.loc[0, ["difference", "ci_low", "ci_high", "p_value"]].astype(float),
        [expected.mean, expected.low, expected.high, expected.p_value],
    )
    table = comparison().differences("plain", k=3)
    assert table["method"].tolist() == ["slow", "fixed"]
    assert table["k"].tolist()[:1] == [3]
    assert table["k"].isna().tolist() == [False, True]
    np.testing.assert_allclose(table["difference"], [0.1, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"reference": "slo"}, "Found: 'slo'. Did you mean `slow`?"),
        ({"k": 7}, "Found: 7."),
        ({"k": True}, "Found: True."),
        ({"k": "worst"}, "Found: 'worst'."),
    ],
)
def test_differences_refuse(arguments, found):
    with pytest.raises(OptionError, match=r"must be") as error:
        comparison().differences(**arguments)
    assert found in str(error.value)


def test_full_text(snapshot):
    assert comparison().summary().as_text() == snapshot


def test_full_text_at_one_size_with_notes(snapshot):
    found = comparison(rule=2, notes=("slow, in 3 of 4 folds: the search ran out of time.",))
    assert found.summary().as_text() == snapshot


def test_one_method_has_no_differences(snapshot):
    found = comparison(run("slow", SLOW, SETS_SLOW))
    assert len(found.differences()) == 0
    assert found.summary().as_text() == snapshot


def test_repr():
    assert repr(comparison()) == "<Comparison: 3 methods in 4 folds, AUC best for slow>"


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


def test_what_an_interval_does_not_tell_apart_is_alike():
    differences = pd.DataFrame({"method": ["b", "c", "d"], "ci_high": [-0.1, 0.1, np.nan]})
    assert told_apart(differences) == (["c", "d"], ["b"])
