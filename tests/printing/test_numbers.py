"""Numbers as every text has them."""

from __future__ import annotations

import pytest

from treeselect.printing import common_form, interval_text, number_text, p_text, percent_text

NAN = float("nan")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (percent_text(0.805), "80%"),
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
