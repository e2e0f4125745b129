"""Text of fixed width, and the digits of numbers."""

from threading import Event, Thread

import pytest

from treeselect.printing import (
    chosen_digits,
    common_form,
    decimal_text,
    error_text,
    interval_text,
    number_text,
    p_text,
    percent_text,
    plain_score,
    score_text,
)
from treeselect.printing.numbers import counted, every
from treeselect.printing.text import aligned, table_lines

CASES = [
    # cells, padded cells
    (["1", "10", "9"], ["1", "10", "9"]),
    (["0.5", "12.25", "3"], ["0.5 ", "12.25", "3   "]),
    (["<0.0001", "0.0400", "–"], ["<0.0001", "0.0400", "–"]),
    (["0.1 to 0.2", "-1.25 to 10.5"], ["0.1  to  0.2", "-1.25 to 10.5"]),
    (["-0.5 (0.25)", "1.25 (2)"], ["-0.5  (0.25)", "1.25 (2)   "]),
    (["2", "(1.8)"], ["2", "(1.8)"]),
    (["1,234", "forced in"], ["1,234", "forced in"]),
    (["3 of 3", "12 of 12"], ["3 of  3", "12 of 12"]),
    (["1e-05", "0.5"], ["1e-05", "0.5  "]),
    (["–", "–", ""], ["–", "–", ""]),
    (["age", "sex"], None),
    (["", ""], None),
    (["5 terms", "2"], None),
    (["2020-01-01", "2"], None),
]


@pytest.mark.parametrize(("cells", "padded"), CASES)
def test_numbers_stand_with_their_points_below_each_other(cells, padded):
    assert aligned(cells) == padded


def test_counts_and_all_of_them_in_words():
    assert [counted(n, "row") for n in (0, 1, 1_234)] == ["0 rows", "1 row", "1,234 rows"]
    found = [every(n, "term") for n in (1, 2, 3, 1_234)]
    assert found == ["the only term", "both terms", "all 3 terms", "all 1,234 terms"]


LONG = (
    "How often in the last twelve months have you seen a doctor or another health professional"
    " about your own health?"
)


def test_long_labels_take_several_lines_and_names_are_not_broken():
    lines = table_lines(("Term", "Importance"), ((LONG, "0.5"), ("age", "12.25")))
    assert max(map(len, lines)) <= 88
    assert lines[3].endswith(" 0.5")
    assert lines[4] == "  professional about your own health?"
    assert lines[5].split() == ["age", "12.25"]
    name = "x" * 100
    lines = table_lines(("Term", "n"), ((name, "1"), ("a b", "2")))
    assert lines[3].split() == [name, "1"]
    assert lines[4].split() == ["a", "b", "2"]
    lines = table_lines(("Term", "w" * 90), (("random forest", "1"),))
    assert lines[3].startswith("random forest ")


NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (percent_text(0.325), "33%"),  # 0.33
        (interval_text(NAN, 1.0), "–"),
        (interval_text(NAN, 1.0, ".3f", "unknown"), "unknown"),
        (number_text(float("inf"), ".4g", "∞"), "∞"),
        (p_text(0.00009), "<0.0001"),
        (p_text(NAN), "–"),
    ],
)
def test_what_is_not_known_is_no_number(text, said):
    assert text == said


@pytest.mark.parametrize(
    ("errors", "form"),
    [
        ([3.63, 1.41], ".2f"),
        ([0.409, 0.00518, NAN, 0.0], ".5f"),
        ([250.0], ".0f"),
        ([1e-12, 2.0], ".4g"),
        ([1e9], ".4g"),
        ([], ".4g"),
        ([NAN], ".4g"),
    ],
)
def test_a_table_has_decimals_for_its_smallest_error(errors, form):
    assert common_form(errors, digits=3) == form


@pytest.mark.parametrize(
    ("digits", "said"),
    [
        (None, [">0.999", "<0.001", "0.853 (s.e. 0.012)", "1.000", "0.000", "0.00 to 1.00"]),
        (1, [">0.9", "<0.1", "0.9 (s.e. <0.1)", "1.0", "0.0", "0.0 to 1.0"]),
        (4, [">0.9999", "<0.0001", "0.8530 (s.e. 0.0120)", "1.0000", "0.0000", "0.0012 to 0.9980"]),
    ],
)
def test_nothing_is_rounded_to_what_it_is_not(digits, said):
    with chosen_digits(digits):
        assert [
            plain_score(0.99999), error_text(0.00001), score_text(0.853, 0.012),
            decimal_text(1.0, 3), decimal_text(-0.00001, 3, "+"), interval_text(0.0012, 0.998),
        ] == said  # fmt: skip


def test_a_choice_ends_with_its_texts_and_is_of_one_thread():
    with chosen_digits(1):
        with chosen_digits(5), chosen_digits(None):
            assert plain_score(0.5) == "0.50000"
        assert plain_score(0.5) == "0.5"
    with pytest.raises(ZeroDivisionError), chosen_digits(1):
        raise ZeroDivisionError
    assert plain_score(0.5) == "0.500"
    chosen, seen = Event(), []

    def other():
        chosen.wait()
        seen.append(plain_score(0.5))

    thread = Thread(target=other)
    thread.start()
    with chosen_digits(1):
        chosen.set()
        thread.join()
    assert seen == ["0.500"]
