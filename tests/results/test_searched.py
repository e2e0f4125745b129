"""Exchanges and alternatives: tables, words, and what is true where there are few or none."""

import pandas as pd
import pytest
from round_numbers import EXCHANGES, RIVALS, with_trace

from treeselect.errors import OptionError
from treeselect.results.tables import search_notes, search_tables


@pytest.fixture(scope="module")
def made(fitted):
    return with_trace(fitted, EXCHANGES, RIVALS, n_judged=14)


def test_tables_of_exchanges_and_alternatives(made):
    expected = pd.DataFrame(
        {
            "exchange": [1, 2],
            "out": ["noise", "copy"],
            "into": ["copy", "signal"],
            "change": [-0.25, -0.021],
            "change_se": [0.0625, 0.004],
        }
    )
    pd.testing.assert_frame_equal(made.search.exchanges(), expected)
    found = made.search.alternatives()
    assert list(found.columns) == ["terms", "out", "into", "change", "change_se"]
    assert found["terms"].to_list() == [
        ("site", "copy"), ("signal", "flag"), ("flag", "noise"), ("copy", "noise"),
    ]  # fmt: skip
    assert found["out"].to_list() == [("signal",), ("site",), *[("signal", "site")] * 2]
    assert found["into"].to_list()[:3] == [("copy",), ("flag",), ("flag", "noise")]
    assert found["change"].to_list() == [rival[1] for rival in RIVALS]


def test_tables_of_nothing_or_without_a_search(fitted, made):
    nothing = with_trace(fitted)
    for empty, full in (
        (nothing.search.exchanges(), made.search.exchanges()),
        (nothing.search.alternatives(), made.search.alternatives()),
    ):
        assert len(empty) == 0
        pd.testing.assert_series_equal(empty.dtypes, full.dtypes)
    for table in (fitted.search.exchanges, fitted.search.alternatives):
        with pytest.raises(
            OptionError, match=r'no exchange search ended with this set\.\n.*method="exchange"'
        ):
            table()
    assert search_tables(fitted._fit) == ()
    assert search_notes(fitted._fit) == []


def test_full_text(made, snapshot):
    assert made.summary().as_text() == snapshot


@pytest.mark.parametrize(
    ("exchanges", "rivals", "counts", "n_notes", "said"),
    [
        ((), (), {"n_judged": 0}, 0, ""),
        ((), (), {"n_judged": 1}, 1, "The only other set of 2 terms .* error more than one"),
        ((), RIVALS[:1], {}, 2, "The only other set of 2 terms .* error at most one"),
        ((), (), {"n_judged": 7}, 1, "Of 7 other sets of 2 terms .* none has an out-of-bag"),
        ((), RIVALS[:1], {"n_judged": 1200}, 2, "Of 1,200 other sets .* 1 has an out-of-bag"),
        ((), RIVALS[:3], {"n_judged": 7}, 2, "3 have .* of the selection. Sets that the"),
        ((), RIVALS, {"n_judged": 7}, 2, r"4 have .* `fit.search.alternatives\(\)` lists them\."),
        ((), RIVALS, {"n_rivals": 60, "n_judged": 70}, 2, r"60 have .* lists the best 4\."),
        (
            EXCHANGES, (), {"n_judged": 0}, 1,
            "Changes in error are relative changes in out-of-bag error",
        ),
    ],
)  # fmt: skip
def test_what_is_said_is_true_of_any_number(fitted, exchanges, rivals, counts, n_notes, said):
    fit = with_trace(fitted, exchanges, rivals, **counts)
    notes = search_notes(fit._fit)
    assert len(notes) == n_notes
    if n_notes:
        assert pd.Series([notes[0]]).str.contains(said).all()
    assert len(search_tables(fit._fit)) == bool(exchanges) + bool(rivals)
