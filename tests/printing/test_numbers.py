"""Numbers as every text has them."""

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
